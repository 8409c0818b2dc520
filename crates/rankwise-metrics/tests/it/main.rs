//! Metrics as users meet them: whole data sets, every rule, reference values.

mod golden;
mod rules;
