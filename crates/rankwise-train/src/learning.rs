//! Learners that are not gradient boosting. Each implements [`Learning`]; one loop ([`run`]) runs them all.

mod adaboost;
mod adarank;
mod coordinate_ascent;
mod goal;
mod inputs;
mod lbfgs;
mod linear;
mod neural;
mod rankboost;
mod ranksvm;
mod run;
mod votes;

use rankwise_data::{Dataset, SimdLevel};
use rankwise_model::Ranker;
use rankwise_objectives::Objective;

pub(crate) use self::run::{Prepared, run};
use crate::checkpoint::Content;
use crate::{CheckpointError, Learner, TrainError, TrainParams};

/// What a learner is given.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) params: &'a TrainParams,
    /// The training data.
    pub(crate) train: &'a Dataset,
    /// The validation sets.
    pub(crate) valid: &'a [&'a Dataset],
    /// The objective, for learners that follow its gradients; `None` for the others.
    pub(crate) objective: Option<&'a dyn Objective>,
    pub(crate) simd: SimdLevel,
}

impl<'a> Task<'a> {
    /// The training data, then the validation sets.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &'a Dataset> {
        std::iter::once(self.train).chain(self.valid.iter().copied())
    }
}

/// What a round did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learnt {
    /// The ranker changed.
    More,
    /// Nothing is left to learn, and nothing changed.
    Nothing,
}

/// A ranker with the features that it reads.
pub(crate) struct Fitted {
    pub(crate) ranker: Ranker,
    /// Ascending feature ids; the ranker refers to features by their places in this list.
    pub(crate) features: Vec<u32>,
}

/// A learner that works in rounds. Results do not depend on the number of threads or on the instruction set.
pub(crate) trait Learning {
    /// Learns one more round, on the threads of the current pool.
    fn round(&mut self) -> Result<Learnt, TrainError>;

    /// The scores of the documents of a set after the rounds so far, in canonical order: 0 is the training data, 1 the
    /// first validation set, ... They have the bits of the scores of [`Self::fitted`].
    fn scores(&self, set: usize) -> Vec<f64>;

    /// The ranker after the rounds so far.
    fn fitted(&self) -> Result<Fitted, TrainError>;

    /// Everything that later rounds and [`Self::fitted`] depend on beyond the task, as bytes.
    fn save(&self) -> Vec<u8>;

    /// Goes to a saved state of the same task. The bytes are not trusted.
    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError>;
}

/// A run as its observers see it.
pub(crate) trait Snapshot {
    /// The scores of the training documents, in canonical order.
    fn train_scores(&self) -> Vec<f64>;

    /// The content of a checkpoint.
    fn checkpoint(&self) -> Content<'_>;
}

/// Prepares the learner of the parameters.
fn start<'a>(task: Task<'a>) -> Result<Box<dyn Learning + 'a>, TrainError> {
    match task.params.boosting().learner {
        Learner::Gbdt | Learner::Dart | Learner::RandomForest => unreachable!("these are boosting"),
        Learner::Linear => Ok(Box::new(linear::Linear::new(task)?)),
        Learner::RankSvm => Ok(Box::new(ranksvm::RankSvm::new(task)?)),
        Learner::AdaRank => Ok(Box::new(adarank::AdaRank::new(task)?)),
        Learner::CoordinateAscent => Ok(Box::new(coordinate_ascent::CoordinateAscent::new(task)?)),

        Learner::AdaBoost => Ok(Box::new(adaboost::AdaBoost::new(&task)?)),
        Learner::RankBoost => rankboost::start(&task),

        Learner::Neural => Ok(Box::new(neural::Neural::new(task)?)),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rankwise_data::Share;

    use super::*;
    use crate::TrainSpec;

    /// Calls `test` with the task of training on the data.
    pub(crate) fn with_task<R>(spec: TrainSpec, data: &Dataset, test: impl FnOnce(Task<'_>) -> R) -> R {
        let params = spec.check().unwrap();
        let share = Share::alone(data);
        let objective = params.objective().bind_share(&share, params.rules(), SimdLevel::best()).ok();
        test(Task {
            params: &params,
            train: data,
            valid: &[],
            objective: objective.as_deref(),
            simd: SimdLevel::best(),
        })
    }
}
