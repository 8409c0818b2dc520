//! Scores and labels in, gradients out.
//!
//! An [`Objective`] looks at one query at a time: labels, scores, random numbers, and weights where a loss over the whole list
//! needs those of the other documents. It never sees features or trees. [`gradients`] runs it over all queries and applies the
//! weights, which mean the same for every objective: the gradient and Hessian of a document are multiplied by its own weight and by
//! that of its query.
//!
//! Signs: a gradient is the derivative of a loss, so a document with a *negative* gradient is to be moved up.
// `unsafe` only where `kernel/` calls code that was compiled for instructions found on this machine.
#![deny(unsafe_code)]

mod approx_ndcg;
mod checks;
mod driver;
mod error;
mod kernel;
mod lambdamart;
mod listmle;
mod logistic;
mod multiclass;
mod objective;
mod params;
mod plackett_luce;
mod query_rmse;
mod rmse;
mod softmax;
mod xendcg;

pub use approx_ndcg::ApproxNdcg;
pub use driver::gradients;
pub use error::ObjectiveError;
pub use lambdamart::LambdaMart;
pub use listmle::ListMle;
pub use logistic::Logistic;
pub use multiclass::Multiclass;
pub use objective::{Classes, GradientSlices, Noise, Objective, QueryDocs, Round, Scratch};
pub use params::{ObjectiveKind, ObjectiveParams, ObjectiveSpec};
pub use plackett_luce::PlackettLuce;
pub use query_rmse::QueryRmse;
pub use rmse::Rmse;
pub use softmax::Softmax;
pub use xendcg::XeNdcg;
