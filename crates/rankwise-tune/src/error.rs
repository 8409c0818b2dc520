//! Why a search or cross-validation cannot be done.

use rankwise_data::DataError;
use rankwise_eval::EvalError;
use rankwise_metrics::MetricError;
use rankwise_model::ModelError;
use rankwise_params::ParamError;
use rankwise_train::TrainError;

use crate::space::SpaceError;
use crate::store::StepFileError;

/// A search or cross-validation that cannot be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TuneError {
    /// Models with several scores per document cannot be combined.
    #[error(
        "objective 'multiclass' gives a document several scores, and only models with one can be combined; choose another"
    )]
    SeveralScores,
    /// Dropout changes the weights of trees that were grown before, so that no number of rounds can be chosen afterwards.
    #[error("`learner` dart cannot be combined with other models, because each round changes earlier trees; use gbdt")]
    Dropout,
    /// Only gradient-boosted trees are combined into one tree ensemble.
    #[error("`learner` {learner} is not gradient boosting, and only boosted trees are combined here; use gbdt")]
    NotBoosting {
        /// The learner.
        learner: String,
    },
    /// A parameter is invalid.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A part of the data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A metric cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Systems cannot be compared.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Models cannot be combined.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Too few queries for the folds.
    #[error("{queries} cannot be divided into {folds} folds; use at most as many folds as queries", queries = counted(*queries))]
    TooManyFolds {
        /// The requested number of folds.
        folds: usize,
        /// The number of queries.
        queries: usize,
    },
    /// Too few folds.
    #[error("{given}; use at least {least}{because}", given = folds_of(*given))]
    TooFewFolds {
        /// The given number.
        given: usize,
        /// The smallest useful number.
        least: usize,
        /// Why, after the number.
        because: &'static str,
    },
    /// A fold without queries.
    #[error("fold {fold} has no queries; each fold needs at least one")]
    EmptyFold {
        /// The fold, counted from 1.
        fold: usize,
    },
    /// Early stopping without a validation fold.
    #[error(
        "early stopping needs validation data, which must not be the fold that is measured; set `rotate`, or remove \
         `early_stopping_rounds`"
    )]
    NoValidationFold,
    /// A validation fold that cannot choose.
    #[error(
        "fold {fold}: no query of the validation fold has a relevant document and a weight above 0, so '{metric}' cannot \
         tell models apart; use fewer folds, or another seed"
    )]
    NoRelevantInFold {
        /// The fold that is measured, counted from 1.
        fold: usize,
        /// The metric.
        metric: String,
    },
    /// The systems are measured differently.
    #[error("'{system}' has other metrics or rules than the first system; use the same for all")]
    OtherMetrics {
        /// The system.
        system: String,
    },
    /// Training failed in a fold.
    #[error("{system}, fold {fold}: {source}")]
    Fold {
        /// The system.
        system: String,
        /// The fold, counted from 1.
        fold: usize,
        /// Why.
        source: Box<TrainError>,
    },
    /// The time was over before the first round of training.
    #[error("the time was over before the first tree was grown; allow more time")]
    NoTime,
    /// No model could be trained.
    #[error("no model could be trained; {problem}")]
    NothingTrained {
        /// Why, for the first model.
        problem: String,
    },
    /// No model distinguishes the documents of a validation query.
    #[error(
        "every model gives the documents of each validation query the same score, so nothing can be chosen; check that \
         features of the validation data differ within queries"
    )]
    NoDifference,
    /// A chosen model could not be trained on all data.
    #[error("a model that could be trained without the validation data cannot be trained with it; leave out `refit`")]
    Refit,
    /// A saved step cannot be used.
    #[error("step {step}: {source}")]
    Step {
        /// The step, counted from 1.
        step: usize,
        /// Why.
        source: StepFileError,
    },
    /// A search space that cannot be used.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A search of nothing.
    #[error("there are no {what}; use at least 1")]
    None {
        /// What there should be some of.
        what: &'static str,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

fn counted(queries: usize) -> String {
    if queries == 1 { "1 query".into() } else { format!("{queries} queries") }
}

fn folds_of(given: usize) -> String {
    if given == 1 { "there is 1 fold".into() } else { format!("there are {given} folds") }
}
