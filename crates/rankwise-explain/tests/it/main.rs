//! Explanations against their definitions.

mod counterfactual;
mod difference;
mod models;
mod shap;
