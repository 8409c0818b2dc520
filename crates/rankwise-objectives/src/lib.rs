//! Scores and labels in, gradients out.
//!
//! An [`Objective`] looks at one query at a time: labels, scores, nothing else. It never sees features, trees or
//! weights; [`gradients`] runs it over all queries and applies the weights, which mean the same for every objective:
//! the gradient and Hessian of a document are multiplied by its own weight and by that of its query.
//!
//! Signs: a gradient is the derivative of a loss, so a document with a *negative* gradient is to be moved up.
// `unsafe` only where `kernel/` calls code that was compiled for instructions found on this machine.
#![deny(unsafe_code)]

mod checks;
mod driver;
mod error;
mod kernel;
mod lambdaloss;
mod lambdamart;
mod lists;
mod objective;
mod pair_columns;
mod pairwise;
mod params;
mod perturb;
mod rmse;
mod stochastic;
mod swap;
mod target;
mod words;
mod yetirank;

pub use driver::gradients;
pub use error::ObjectiveError;
pub use lambdamart::LambdaMart;
pub use objective::{GradientSlices, Noise, Objective, QueryDocs, Round, Scratch};
pub use pairwise::{PairLoss, Pairwise};
pub use params::{
    Estimator, LambdaForm, LambdaLossVariant, NoiseKind, ObjectiveKind, ObjectiveParams, ObjectiveSpec, YetiRankMode,
};
pub use rmse::Rmse;
pub use stochastic::{ScaleFreeMetric, SelectWithOrder, StochasticRank};
pub use yetirank::YetiRank;
