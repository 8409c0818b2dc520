//! Explanations against their definitions.

mod counterfactual;
mod difference;
mod importance;
mod models;
mod shap;
