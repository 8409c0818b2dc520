//! XGBoost models in JSON or UBJSON.
//!
//! All numbers are f32. A value goes left if it is *below* the threshold, that is, at most the f32 before it. Scores
//! start from `base_score`, converted to a margin for logistic objectives. XGBoost adds leaves in f32, we in f64, so
//! scores agree to the precision of f32.
//!
//! After early stopping, the attribute `best_iteration` has the best iteration, from 0. `XGBRanker.predict` uses the
//! trees up to it, `Booster.predict` uses all.

use rankwise_model::{AbsentFeature, Header, Model, Precision};

use crate::draft::{DraftNode, Split, ensemble, features_of};
use crate::error::shown;
use crate::value::{Field, Value, as_integer};
use crate::{BestIteration, FormatError, ImportedModel, ImportedTrees};

pub(crate) const FORMAT: &str = "XGBoost";

/// Objectives whose base score is a probability; for ranking and regression it is already a margin. For
/// `binary:logitraw`, version 3.2 treats it as a margin. Other versions were not tested, so that objective is rejected.
const LOGISTIC: [&str; 2] = ["binary:logistic", "reg:logistic"];
const PLAIN: [&str; 4] = ["rank:", "reg:squarederror", "reg:linear", "reg:pseudohubererror"];

/// Builds a model from the parsed file.
pub(crate) fn from_value(value: &Value, trees: ImportedTrees) -> Result<ImportedModel, FormatError> {
    let root = Field::root(FORMAT, value);
    let learner = root.get("learner")?;
    let objective = learner.get("objective")?.get("name")?.text()?;
    let booster = learner.get("gradient_booster")?;
    let name = booster.get("name")?.text()?;
    if name != "gbtree" {
        return Err(unsupported(format!("is a {} booster", shown(name)), "train it with booster=gbtree"));
    }
    let param = learner.get("learner_model_param")?;
    for (field, most) in [("num_class", 1), ("num_target", 1)] {
        if param.find(field).map(|field| field.integer()).transpose()?.is_some_and(|n| n > most) {
            return Err(unsupported("has several outputs per document".into(), "train it with one output"));
        }
    }
    let gbtree = booster.get("model")?;
    let mut drafts: Vec<Vec<DraftNode>> =
        gbtree.get("trees")?.list()?.map(|field| nodes(&field)).collect::<Result<_, _>>()?;
    let best_iteration = best_iteration(&learner, &gbtree, drafts.len());
    if let (Some(best), ImportedTrees::UpToBest) = (best_iteration, trees) {
        drafts.truncate(best.n_trees);
    }
    let features = features_of(&drafts);
    let base_score = base_score(objective, &param.get("base_score")?)?;
    let feature_names = names(&learner, &features)?;
    let ensemble = ensemble(base_score, drafts, &features)?;
    let header = Header {
        objective: objective.to_owned(),
        feature_names,
        ..Header::new(AbsentFeature::Missing, Precision::F32, features)
    };
    Ok(ImportedModel { model: Model::new(header, ensemble)?, best_iteration })
}

/// The best iteration, if there are trees after it. Attributes are free text, so an invalid one does not make the model
/// invalid.
fn best_iteration(learner: &Field<'_>, gbtree: &Field<'_>, all_trees: usize) -> Option<BestIteration> {
    let iteration = learner.find("attributes")?.find("best_iteration")?.integer().ok()?;
    let per_iteration = gbtree.find("gbtree_model_param").and_then(|param| param.find("num_parallel_tree"));
    let per_iteration = per_iteration.and_then(|field| field.integer().ok()).unwrap_or(1).max(1);
    let n_trees = iteration.checked_add(1)?.checked_mul(per_iteration)?;
    (n_trees < all_trees).then_some(BestIteration { iteration, n_trees, all_trees })
}

/// The score of a document before the first tree.
fn base_score(objective: &str, field: &Field<'_>) -> Result<f64, FormatError> {
    let score = f64::from(field.number()? as f32);
    if LOGISTIC.contains(&objective) {
        // As XGBoost computes it, in f32.
        let margin = -libm::log((1.0 / score as f32 - 1.0).into()) as f32;
        return Some(f64::from(margin))
            .filter(|m| m.is_finite())
            .ok_or_else(|| field.error("it is not between 0 and 1"));
    }
    if PLAIN.iter().any(|name| objective.starts_with(name)) {
        return Ok(score);
    }
    Err(unsupported(
        format!("has the objective {}", shown(objective)),
        "train it with a ranking, squared or logistic objective",
    ))
}

fn names(learner: &Field<'_>, features: &[u32]) -> Result<Vec<String>, FormatError> {
    let Some(list) = learner.find("feature_names") else { return Ok(Vec::new()) };
    let all = list.texts()?;
    // Names that XGBoost generates are only numbers.
    if all.iter().enumerate().all(|(idx, name)| *name == format!("f{idx}")) {
        return Ok(Vec::new());
    }
    let names: Option<Vec<String>> =
        features.iter().map(|id| all.get(*id as usize).map(|name| (*name).to_owned())).collect();
    names.ok_or_else(|| learner.error("it has fewer feature_names than features"))
}

fn nodes(field: &Field<'_>) -> Result<Vec<DraftNode>, FormatError> {
    let numbers = |name: &str| field.get(name)?.numbers();
    let (lefts, rights) = (numbers("left_children")?, numbers("right_children")?);
    let (indices, conditions) = (numbers("split_indices")?, numbers("split_conditions")?);
    let default_left = numbers("default_left")?;
    let n_nodes = lefts.len();
    if [rights, indices, conditions, default_left].iter().any(|list| list.len() != n_nodes) {
        return Err(field.error("its lists are not of one length"));
    }
    let optional = |name: &str| field.find(name).map_or(Ok(&[][..]), |field| field.numbers());
    if optional("split_type")?.iter().any(|kind| *kind != 0.0) {
        return Err(unsupported("has categorical splits".into(), "train it with numeric features only"));
    }
    let (gains, weights) = (optional("loss_changes")?, optional("sum_hessian")?);
    let at = |list: &[f64], node: usize| list.get(node).copied().filter(|number| number.is_finite()).unwrap_or(0.0);
    let node = |node: usize| {
        let cover = at(weights, node).max(0.0);
        if lefts[node] < 0.0 {
            return Ok(DraftNode::Leaf { value: f64::from(conditions[node] as f32), cover });
        }
        let place = |number: f64| as_integer(number).ok_or_else(|| field.error("a child is not a node"));
        Ok(DraftNode::Split(Split {
            feature: place(indices[node])? as u32,
            threshold: below(conditions[node] as f32),
            missing_left: default_left[node] != 0.0,
            left: place(lefts[node])?,
            right: place(rights[node])?,
            gain: at(gains, node),
            count: cover as u64,
        }))
    };
    (0..n_nodes).map(node).collect()
}

/// Values below a threshold are those up to the f32 before it. No value is below the smallest.
fn below(threshold: f32) -> f64 {
    if threshold <= -f32::MAX { f64::MIN } else { f64::from(threshold.next_down()) }
}

fn unsupported(what: String, advice: &str) -> FormatError {
    FormatError::Unsupported { format: FORMAT, what, advice: advice.into() }
}
