//! Metrics as users meet them: whole data sets, every rule, reference values.

mod definitions;
mod golden;
mod line;
mod oracle;
mod rules;
