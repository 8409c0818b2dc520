//! XGBoost's JSON, as written by `save_model`.
//!
//! Values are f32 and go left if they are *below* the threshold, so it is the next f32 after ours. XGBoost rejects
//! infinite values, so a split that sends all values to one side tests whether they are below the smallest f32. Leaves
//! are added in f32.

use rankwise_model::Model;
use serde_json::{Value, json};

use super::lowered::{Lowered, Node, Question, Split};
use super::number::{text_f32, to_f32};
use super::{ExportError, Target};

/// The parent of a root.
const NO_PARENT: i32 = i32::MAX;
/// The oldest version with this file layout.
const VERSION: [u32; 3] = [2, 0, 0];

pub(crate) fn write(lowered: &Lowered, model: &Model) -> Result<Vec<u8>, ExportError> {
    let n_columns = lowered.n_columns(Target::XgBoost)?;
    let names = column_names(model, n_columns)?;
    let types = vec!["float"; names.len()];
    let n_trees = lowered.trees.len();
    let trees: Vec<Value> =
        lowered.trees.iter().enumerate().map(|(idx, nodes)| tree(idx, nodes, n_columns)).collect::<Result<_, _>>()?;
    let base_score = to_f32(Target::XgBoost, "the base score", lowered.base_score)?;
    let model = json!({
        "gbtree_model_param": { "num_parallel_tree": "1", "num_trees": n_trees.to_string() },
        "iteration_indptr": (0..=n_trees).collect::<Vec<_>>(),
        "tree_info": vec![0; n_trees],
        "trees": trees,
    });
    let param = json!({
        "base_score": text_f32(base_score), "boost_from_average": "1", "num_class": "0",
        "num_feature": n_columns.to_string(), "num_target": "1",
    });
    let file = json!({
        "learner": {
            "attributes": {},
            "feature_names": names,
            "feature_types": types,
            "gradient_booster": { "model": model, "name": "gbtree" },
            "learner_model_param": param,
            // Its scores are the plain sums of trees, as for ranking, and it needs no parameters for pairs.
            "objective": { "name": "reg:squarederror", "reg_loss_param": { "scale_pos_weight": "1" } },
        },
        "version": VERSION,
    });
    Ok(format!("{file}\n").into_bytes())
}

/// A name for every column; empty if the model has no names.
fn column_names(model: &Model, n_columns: usize) -> Result<Vec<String>, ExportError> {
    if model.feature_names().is_empty() {
        return Ok(Vec::new());
    }
    let mut names: Vec<String> = (0..n_columns).map(|column| format!("f{column}")).collect();
    for (feature, name) in model.features().iter().copied().zip(model.feature_names()) {
        let refuse = |problem| Err(ExportError::Name { target: Target::XgBoost, feature, name: name.clone(), problem });
        if name.contains(['[', ']', '<']) {
            return refuse("names must not contain brackets");
        }
        let column = feature as usize;
        let made_up = name.strip_prefix('f').and_then(|number| number.parse::<usize>().ok());
        let is_taken = |other: usize| other != column && other < n_columns && format!("f{other}") == *name;
        if made_up.is_some_and(is_taken) {
            return refuse("this is its name for another column, by number");
        }
        names[column].clone_from(name);
    }
    Ok(names)
}

fn tree(idx: usize, nodes: &[Node], n_columns: usize) -> Result<Value, ExportError> {
    let n_nodes = nodes.len();
    let mut parents = vec![NO_PARENT; n_nodes];
    let (mut lefts, mut rights) = (vec![-1_i64; n_nodes], vec![-1_i64; n_nodes]);
    let (mut indices, mut conditions) = (vec![0; n_nodes], vec![0.0; n_nodes]);
    let (mut default_left, mut gains, mut weights) = (vec![0; n_nodes], vec![0.0; n_nodes], vec![0.0; n_nodes]);
    // XGBoost assumes that the right child directly follows the left, so nodes are numbered level by level.
    let mut order = vec![0];
    let mut number = 0;
    while number < order.len() {
        match &nodes[order[number]] {
            Node::Leaf { value, count } => {
                conditions[number] = f64::from(to_f32(Target::XgBoost, "a leaf", *value)?);
                weights[number] = *count as f64;
            }
            Node::Split(split) => {
                let Condition { below, missing_left, children } = Condition::new(split);
                let left = order.len();
                order.extend(children);
                (lefts[number], rights[number]) = (left as i64, left as i64 + 1);
                parents[left..left + 2].fill(number as i32);
                indices[number] = split.feature;
                conditions[number] = f64::from(below);
                default_left[number] = i32::from(missing_left);
                gains[number] = f64::from((split.gain as f32).clamp(-f32::MAX, f32::MAX));
                weights[number] = split.count as f64;
            }
        }
        number += 1;
    }
    Ok(json!({
        "base_weights": vec![0.0; n_nodes], "categories": [], "categories_nodes": [], "categories_segments": [],
        "categories_sizes": [], "default_left": default_left, "id": idx, "left_children": lefts, "loss_changes": gains,
        "parents": parents, "right_children": rights, "split_conditions": conditions, "split_indices": indices,
        "split_type": vec![0; n_nodes], "sum_hessian": weights,
        "tree_param": {
            "num_deleted": "0", "num_feature": n_columns.to_string(), "num_nodes": n_nodes.to_string(),
            "size_leaf_vector": "1",
        },
    }))
}

/// A split in XGBoost's form.
pub(crate) struct Condition {
    /// Values below this go left.
    pub(crate) below: f32,
    pub(crate) missing_left: bool,
    /// The left and right child, as indices into our list of nodes.
    pub(crate) children: [usize; 2],
}

impl Condition {
    pub(crate) fn new(split: &Split) -> Self {
        match split.question {
            Question::AtMost(last) => Self {
                below: (last as f32).next_up(),
                missing_left: split.missing_left,
                children: [split.left, split.right],
            },
            // No value is below the smallest one, so the sides are swapped.
            Question::IsThere => Self { below: -f32::MAX, missing_left: true, children: [split.right, split.left] },
        }
    }
}
