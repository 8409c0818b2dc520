//! Refits the leaf values of a model to other data; its splits stay.
//!
//! ```text
//! round by round, from the base scores on:
//!     g, h   gradients and Hessians of the objective at the scores so far
//!     leaf   decay old + (1 - decay) learning_rate newton(sum of g, sum of h)       over the rows in the leaf
//!     scores += the new leaf of each row
//! ```
//!
//! Leaves without rows, or with Hessian 0, keep their values.

use rankwise_data::{Dataset, Documents, Share, SimdLevel};
use rankwise_model::{Header, Model, TrainedOn, Tree};
use rankwise_objectives::Round;
use rankwise_params::{ParamError, ParamValue as _};
use rankwise_trees::Derivative;

use crate::params::{Preset, RECORDS};
use crate::start::{self, Start};
use crate::training::{output_of, row_weights};
use crate::values::Values;
use crate::{Learner, TrainError, TrainParams, TrainSpec};

/// Refits the leaf values of a model: `decay` times the old value plus `1 - decay` times the value that is optimal on
/// this data.
pub fn refit(params: &TrainParams, model: &Model, data: &Dataset, decay: f64) -> Result<Model, TrainError> {
    if !(0.0..=1.0).contains(&decay) {
        let problem = format!("invalid decay {decay}; use a number from 0 to 1");
        return Err(ParamError::conflict("decay", problem).into());
    }
    if params.trees().monotone_constraints.features().next().is_some() {
        let because = "new leaf values could violate them";
        return Err(TrainError::NotRefittable { setting: "monotone_constraints".into(), because });
    }
    let learner = params.boosting().learner;
    let weights = match learner {
        Learner::Gbdt => None,
        Learner::Dart => Some("its trees have individual weights"),
        Learner::RandomForest => Some("its trees are averaged"),
        _ => Some("its values do not follow from gradients"),
    };
    if let Some(because) = weights {
        return Err(TrainError::NotRefittable { setting: format!("learner={}", learner.render()), because });
    }
    let start = Start::new(model)?;
    let ensemble = start.ensemble;
    let objective = params.objective().bind(data, params.rules(), SimdLevel::from_env()?)?;
    start::check(start, data.into(), &output_of(&*objective))?;
    let values = Values::new(model, data, 0..data.n_rows());
    let weights = row_weights(params, data);
    let base_scores = ensemble.base_scores();
    let mut scores: Vec<f64> =
        base_scores.into_iter().flat_map(|score| std::iter::repeat_n(score, data.n_rows())).collect();
    let (mut grad, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    let mut trees = Vec::with_capacity(ensemble.n_trees());
    for (round, of_round) in ensemble.trees().chunks(ensemble.n_outputs()).enumerate() {
        let round = Round { tree: round as u32, seed: params.boosting().seed };
        rankwise_objectives::gradients(&*objective, data, round, &scores, (&mut grad, &mut hess));
        for (output, tree) in of_round.iter().enumerate() {
            let plane = output * data.n_rows()..(output + 1) * data.n_rows();
            let divisors = match params.trees().leaf_estimation {
                Derivative::Newton => &hess[plane.clone()],
                Derivative::Gradient => &weights[..],
            };
            let leaves = values.leaves(tree);
            let sums = sums_by_leaf(tree.n_leaves(), &leaves, (&grad[plane.clone()], divisors));
            let refitted = with_values(tree, |leaf, old| match sums[leaf] {
                Sums { hess, .. } if hess + params.trees().l2() <= 0.0 => old,
                Sums { count: 0, .. } => old,
                Sums { grad, hess, count } => {
                    let new = params.boosting().learning_rate * params.trees().leaf_value(count, (grad, hess));
                    decay * old + (1.0 - decay) * new
                }
            });
            let new_values = &refitted.parts().leaf_value;
            scores[plane].iter_mut().zip(&leaves).for_each(|(score, leaf)| *score += new_values[*leaf as usize]);
            trees.push(refitted);
        }
    }
    let mut header = Header { trained_on: trained_on(data), ..model.header().clone() };
    header.params.insert("refit".into(), format!("decay={decay} {}", start::model_fingerprint(start)));
    Ok(Model::new(header, ensemble.with_trees(trees)?)?)
}

impl TrainSpec {
    /// The parameters that a model was trained with.
    pub fn of_model(model: &Model) -> Result<Self, ParamError> {
        if model.params().contains_key("auto") {
            let problem = "this model combines several with different parameters; use a model of one training run";
            return Err(ParamError::conflict("objective", problem));
        }
        // Models record how their trees were grown since the defaults are not those of LightGBM any more.
        let is_new = ["grow", "lambda_l2"].iter().all(|name| model.params().contains_key(*name));
        let mut spec = if is_new { Self::default() } else { Self::preset(Preset::Lightgbm) };
        spec.set("objective", model.objective())?;
        let settings = model.params().iter().filter(|(name, _)| !RECORDS.contains(&name.as_str()));
        spec.set_all(settings.map(|(name, value)| (name.as_str(), value.as_str())))?;
        Ok(spec)
    }
}

/// The data that a model is trained on, as its file records it.
pub fn trained_on(data: &Documents) -> TrainedOn {
    trained_on_all(&Share::alone(data))
}

/// The data of all members.
pub(crate) fn trained_on_all(share: &Share<'_>) -> TrainedOn {
    TrainedOn {
        fingerprint: format!("{:032x}", share.all_fingerprint()),
        rows: share.all_rows() as u64,
        queries: share.all_queries() as u64,
    }
}

/// The tree with new leaf values, computed from leaf index and old value.
fn with_values(tree: &Tree, value: impl Fn(usize, f64) -> f64) -> Tree {
    let mut parts = tree.parts().clone();
    for (leaf, slot) in parts.leaf_value.iter_mut().enumerate() {
        *slot = value(leaf, *slot).clamp(f64::MIN, f64::MAX);
    }
    Tree::new(parts).expect("finite values keep the shape")
}

#[derive(Clone, Copy, Default)]
struct Sums {
    grad: f64,
    hess: f64,
    count: usize,
}

/// In canonical order.
fn sums_by_leaf(n_leaves: usize, leaves: &[u32], (grad, hess): (&[f32], &[f32])) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); n_leaves];
    for ((leaf, grad), hess) in leaves.iter().zip(grad).zip(hess) {
        let sums = &mut sums[*leaf as usize];
        sums.grad += f64::from(*grad);
        sums.hess += f64::from(*hess);
        sums.count += 1;
    }
    sums
}
