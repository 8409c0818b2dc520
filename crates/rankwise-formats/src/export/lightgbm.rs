//! LightGBM's text format: lines of `name=value`, a block for the model and one for each tree.
//!
//! Values are compared as f64, and every node says that NaN is missing and where it goes. Leaves are added in f64, in
//! the order of the trees. There is no base score, so the first tree includes it. LightGBM replaces values near zero by
//! zero before comparing, so no threshold can be between them and zero.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rankwise_model::Model;

use super::lowered::{Lowered, Node, Question, Split};
use super::number::{line, text};
use super::{ExportError, ExportOptions, RenamedFeature, Target};
use crate::lightgbm::NEAR_ZERO;

/// Bits 2 and 3 of a decision type have the value 2: NaN is missing.
const NAN_IS_MISSING: u8 = 8;
const DEFAULT_LEFT: u8 = 2;

pub(crate) fn write(lowered: &Lowered, model: &Model, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let lowered = lowered.with_folded_base();
    if !options.allow_rounding {
        check_near_zero(&lowered)?;
    }
    let n_columns = lowered.n_columns(Target::LightGbm)?;
    let names = column_names(model, n_columns)?;
    let trees: Vec<String> = lowered.trees.iter().enumerate().map(|(idx, nodes)| tree(idx, nodes)).collect();
    let objective = if model.objective().contains("lambda") { "lambdarank" } else { "regression" };
    let infos = vec!["[-inf:inf]"; n_columns].join(" ");
    let sizes = line(&trees, |tree| tree.len().to_string());
    let mut out = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={}\nobjective={objective}\n\
         feature_names={names}\nfeature_infos={infos}\ntree_sizes={sizes}\n\n",
        n_columns - 1
    );
    out.extend(trees);
    out.push_str("end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\npandas_categorical:null\n");
    Ok(out.into_bytes())
}

/// Rejects thresholds between values that LightGBM replaces by zero.
fn check_near_zero(lowered: &Lowered) -> Result<(), ExportError> {
    for (tree, nodes) in lowered.trees.iter().enumerate() {
        for node in nodes {
            if let Node::Split(Split { question: Question::AtMost(threshold), .. }) = node
                && (-NEAR_ZERO..NEAR_ZERO).contains(threshold)
            {
                return Err(ExportError::NearZero { tree, threshold: *threshold });
            }
        }
    }
    Ok(())
}

/// The names of all columns, separated by spaces.
fn column_names(model: &Model, n_columns: usize) -> Result<String, ExportError> {
    let mut names: Vec<String> = (0..n_columns).map(|column| format!("Column_{column}")).collect();
    let mut written = BTreeSet::new();
    for (feature, name) in model.features().iter().copied().zip(model.feature_names()) {
        let refused = |problem: &'static str| {
            let (target, name) = (Target::LightGbm, name.clone());
            Err(ExportError::Name { target, feature, name, problem })
        };
        if name.is_empty() || name.contains(|c: char| "\",:[]{}".contains(c)) {
            return refused("names must not contain quotes, commas, colons or brackets");
        }
        let name = written_name(name);
        if !written.insert(name.clone()) {
            return refused("another feature has the same name once spaces are replaced by _");
        }
        names[feature as usize] = name;
    }
    Ok(names.join(" "))
}

/// Like LightGBM itself, writes `_` for a space, because spaces separate names.
fn written_name(name: &str) -> String {
    name.replace(char::is_whitespace, "_")
}

/// The features whose names change.
pub(crate) fn renamed(model: &Model) -> Vec<RenamedFeature> {
    let names =
        model.feature_names().iter().map(|name| RenamedFeature { name: name.clone(), written: written_name(name) });
    names.filter(|renamed| renamed.name != renamed.written).collect()
}

/// The block of a tree. Splits and leaves are numbered separately, from 0.
fn tree(idx: usize, nodes: &[Node]) -> String {
    let mut splits: Vec<&Split> = Vec::new();
    let mut leaves: Vec<(f64, u64)> = Vec::new();
    // The number of each node as a child: leaf 0 is -1.
    let mut codes: Vec<i64> = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Split(split) => {
                codes.push(splits.len() as i64);
                splits.push(split);
            }
            Node::Leaf { value, count } => {
                codes.push(!(leaves.len() as i64));
                leaves.push((*value, *count));
            }
        }
    }
    let decision = |split: &&Split| (NAN_IS_MISSING + if split.missing_left { DEFAULT_LEFT } else { 0 }).to_string();
    let threshold = |split: &&Split| match split.question {
        Question::AtMost(last) => text(last),
        Question::IsThere => text(f64::INFINITY),
    };
    let of_splits = |value: &dyn Fn(&&Split) -> String| line(&splits, value);
    let zeros = |n: usize| vec!["0"; n].join(" ");
    let mut out = format!("Tree={idx}\nnum_leaves={}\nnum_cat=0\n", leaves.len());
    let mut field = |name: &str, value: String| {
        let _ = writeln!(out, "{name}={value}");
    };
    field("split_feature", of_splits(&|split| split.feature.to_string()));
    field("split_gain", of_splits(&|split| text(split.gain)));
    field("threshold", of_splits(&threshold));
    field("decision_type", of_splits(&decision));
    field("left_child", of_splits(&|split| codes[split.left].to_string()));
    field("right_child", of_splits(&|split| codes[split.right].to_string()));
    field("leaf_value", line(&leaves, |(value, _)| text(*value)));
    field("leaf_weight", zeros(leaves.len()));
    field("leaf_count", line(&leaves, |(_, count)| count.to_string()));
    field("internal_value", zeros(splits.len()));
    field("internal_weight", zeros(splits.len()));
    field("internal_count", of_splits(&|split| split.count.to_string()));
    field("is_linear", "0".into());
    field("shrinkage", "1".into());
    out.push_str("\n\n");
    out
}
