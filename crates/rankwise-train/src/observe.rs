//! Observing a run, and stopping it.

use std::borrow::Cow;

use rankwise_model::Output;

use crate::MetricValue;
use crate::checkpoint::{Content, State};
use crate::learning::Snapshot;

/// Whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue with the next round.
    Continue,
    /// Stop, and keep the trees so far.
    Stop,
}

/// The purpose of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// A preliminary model that finds outliers (`sample=inliers`).
    Outliers,
    /// The model itself.
    Model,
}

/// The state of a run after a round. A round of boosting adds one tree per output.
#[derive(Clone)]
pub struct Progress<'a> {
    /// The pass that the round belongs to.
    pub pass: Pass,
    /// Rounds so far.
    pub round: usize,
    /// Maximum number of rounds.
    pub num_rounds: usize,
    /// The metrics on the validation sets after this round.
    pub values: &'a [MetricValue],
    /// The round after which the first metric was best, from 1; 0 without validation.
    pub best_round: usize,
    /// Whether the pass ends with this round.
    pub is_last: bool,
    pub(crate) run: InProgress<'a>,
}

/// The run that an observer looks at.
#[derive(Clone)]
pub(crate) enum InProgress<'a> {
    Boosting { output: &'a Output, state: Box<State<'a>> },
    Learning(&'a dyn Snapshot),
}

impl Progress<'_> {
    /// The scores of the training documents after this round, in canonical order.
    pub fn train_scores_canonical(&self) -> Cow<'_, [f64]> {
        match &self.run {
            InProgress::Boosting { output, state } => output.scores(&state.scores),
            InProgress::Learning(run) => run.train_scores().into(),
        }
    }

    /// The run as bytes for [`Checkpoint::read`](crate::Checkpoint::read): of boosting, the trees and 8 bytes per score.
    /// `None` in a pass that cannot be resumed.
    pub fn checkpoint(&self) -> Option<Vec<u8>> {
        let bytes = || match &self.run {
            InProgress::Boosting { state, .. } => Content::Boosting(State::clone(state)).to_bytes(),
            InProgress::Learning(run) => run.checkpoint().to_bytes(),
        };
        (self.pass == Pass::Model).then(bytes)
    }
}

/// Observes a run, and can stop it.
pub trait Observer {
    /// Called after each round of every pass, on the thread that started training.
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow;
}

/// Does nothing.
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

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All rounds are done.
    Finished,
    /// The metric stopped improving.
    EarlyStopping,
    /// No split was found.
    NothingToLearn,
    /// The observer stopped it.
    Interrupted,
}
