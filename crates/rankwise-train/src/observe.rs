//! Watching a run, and stopping it.

use std::borrow::Cow;

use rankwise_model::Output;

use crate::MetricValue;
use crate::checkpoint::State;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Grow the next tree.
    Continue,
    /// Keep what is trained and stop.
    Stop,
}

/// Where a run stands after a tree.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Trees grown.
    pub tree: usize,
    /// Most trees there will be.
    pub num_trees: usize,
    /// The metrics on the validation sets after this tree.
    pub values: &'a [MetricValue],
    /// The tree after which the first of them was best, counted from 1; 0 without validation.
    pub best_tree: usize,
    /// Whether the run ends with this tree.
    pub is_last: bool,
    pub(crate) output: &'a Output,
    pub(crate) state: State<'a>,
}

impl Progress<'_> {
    /// The scores of the training documents after this tree, in canonical order.
    pub fn train_scores(&self) -> Cow<'_, [f64]> {
        self.output.scores(&self.state.scores)
    }

    /// The run as bytes that [`Checkpoint::read`](crate::Checkpoint::read) takes: 8 for each document, and the trees.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.state.to_bytes()
    }
}

/// Sees each tree.
pub trait Observer {
    /// Called after each tree.
    fn after_tree(&mut self, progress: &Progress<'_>) -> Flow;

    /// Called after each tree of a first model that only shows which documents are outliers.
    fn in_first_pass(&mut self, _tree: usize, _num_trees: usize) -> Flow {
        Flow::Continue
    }
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn after_tree(&mut self, _: &Progress<'_>) -> Flow {
        Flow::Continue
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All trees are grown.
    Finished,
    /// The metric did not improve any more.
    EarlyStopping,
    /// No split was worth making.
    NothingToLearn,
    /// The observer said so.
    Interrupted,
}
