//! Metrics as users meet them: whole data sets, every rule, reference values.

mod definitions;
mod golden;
mod oracle;
mod rules;
