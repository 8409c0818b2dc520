//! Metrics through the public interface: whole datasets, all rules, reference values.

mod definitions;
mod golden;
mod line;
mod oracle;
mod rules;
