//! Why a model ranks documents as it does.
//!
//! * [`Shap`] divides the score of a document among its features.
//! * [`difference`] divides the difference of two scores.
//! * [`counterfactuals`] finds the smallest changes with which a document overtakes another.
#![forbid(unsafe_code)]

mod counterfactual;
mod difference;
mod error;
mod ranges;
mod shap;

pub use counterfactual::{Change, Counterfactual, counterfactuals};
pub use difference::difference;
pub use error::ExplainError;
pub use ranges::Ranges;
pub use shap::{Shap, ShapBuffers};
