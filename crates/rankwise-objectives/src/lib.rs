//! Computes gradients from scores and labels.
//!
//! An [`Objective`] looks at one query at a time: labels, scores and random numbers, and weights if its loss over the
//! whole list needs those of other documents. It never sees features or trees. [`gradients`] runs it over all queries
//! and applies the weights in the same way for every objective: it multiplies the gradient and Hessian of a document by
//! its own weight and by that of its query.
//!
//! Signs: a gradient is the derivative of a loss, so a document with a *negative* gradient should move up.
// `unsafe` only where `kernel/` calls code that was compiled for instructions available on this machine.
#![deny(unsafe_code)]

mod approx_ndcg;
mod checks;
mod driver;
mod error;
mod kernel;
mod lambdaloss;
mod lambdamart;
mod listmle;
mod lists;
mod logistic;
mod multiclass;
mod objective;
mod pair_columns;
mod pairwise;
mod params;
mod perturb;
mod plackett_luce;
mod query_rmse;
mod rmse;
mod softmax;
mod stochastic;
mod swap;
mod target;
mod words;
mod xendcg;
mod yetirank;

pub use approx_ndcg::ApproxNdcg;
pub use driver::{QueryTask, gradients, gradients_of, gradients_of_query, loss};
pub use error::ObjectiveError;
pub use lambdamart::LambdaMart;
pub use listmle::ListMle;
pub use logistic::Logistic;
pub use multiclass::Multiclass;
pub use objective::{
    AllAtOnce, AllDocs, AllQueries, Classes, GradientSlices, Noise, Objective, QueryDocs, Round, Scratch,
};
pub use pairwise::{PairLoss, Pairwise};
pub use params::{
    Estimator, LambdaForm, LambdaLossVariant, NoiseKind, ObjectiveKind, ObjectiveParams, ObjectiveSpec, SetObjective,
    YetiRankMode,
};
pub use plackett_luce::PlackettLuce;
pub use query_rmse::QueryRmse;
pub use rmse::Rmse;
pub use softmax::Softmax;
pub use stochastic::{ScaleFreeMetric, SelectWithOrder, StochasticRank};
pub use xendcg::XeNdcg;
pub use yetirank::YetiRank;
