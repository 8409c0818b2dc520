//! Metrics as users meet them: whole datasets, every rule, reference values.

mod definitions;
mod golden;
mod line;
mod oracle;
mod rules;
