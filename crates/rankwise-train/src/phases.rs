//! Time per phase.

use std::time::Duration;

/// Wall time by phase; the phases do not overlap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Binning.
    pub bin: Duration,
    /// The objective.
    pub gradients: Duration,
    /// Summing histograms.
    pub histograms: Duration,
    /// Searching splits.
    pub splits: Duration,
    /// Partitioning rows into children.
    pub partition: Duration,
    /// Adding trees to the scores of training rows.
    pub scores: Duration,
    /// Scoring validation sets and computing metrics.
    pub validation: Duration,
    /// Everything.
    pub total: Duration,
}

impl Phases {
    /// Time outside of all phases.
    pub fn other(&self) -> Duration {
        let known =
            self.bin + self.gradients + self.histograms + self.splits + self.partition + self.scores + self.validation;
        self.total.saturating_sub(known)
    }
}
