//! Watching a run, and stopping it.

use std::borrow::Cow;

use rankwise_model::Output;

use crate::MetricValue;
use crate::checkpoint::State;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on with the next round.
    Continue,
    /// Keep what is trained and stop.
    Stop,
}

/// What a run is about to come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// A first model, which only shows which documents are outliers (`sample=inliers`).
    Outliers,
    /// The model itself.
    Model,
}

/// Where a run stands after a round. A round of boosting adds a tree for each output.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Which model the round is for.
    pub pass: Pass,
    /// Rounds so far.
    pub round: usize,
    /// Maximum number of rounds.
    pub num_rounds: usize,
    /// The metrics on the validation sets after this round.
    pub values: &'a [MetricValue],
    /// The round after which the first of them was best, counted from 1; 0 without validation.
    pub best_round: usize,
    /// Whether the pass ends with this round.
    pub is_last: bool,
    pub(crate) output: &'a Output,
    pub(crate) state: State<'a>,
}

impl Progress<'_> {
    /// The scores of the training documents after this round, in canonical order.
    pub fn train_scores_canonical(&self) -> Cow<'_, [f64]> {
        self.output.scores(&self.state.scores)
    }

    /// The run as bytes that [`Checkpoint::read`](crate::Checkpoint::read) takes: 8 for each document, and the trees. `None` in a
    /// pass that cannot be resumed.
    pub fn checkpoint(&self) -> Option<Vec<u8>> {
        (self.pass == Pass::Model).then(|| self.state.to_bytes())
    }
}

/// Watches a run, and may stop it.
pub trait Observer {
    /// Called after each round of every pass, on the thread that called for training.
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow;
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn after_round(&mut self, _: &Progress<'_>) -> Flow {
        Flow::Continue
    }
}

impl<F: FnMut(&Progress<'_>) -> Flow> Observer for F {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        self(progress)
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All rounds are done.
    Finished,
    /// The metric did not improve any more.
    EarlyStopping,
    /// No split was worth making.
    NothingToLearn,
    /// The observer said so.
    Interrupted,
}
