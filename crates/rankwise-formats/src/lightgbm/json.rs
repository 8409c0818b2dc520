//! The JSON of `dump_model`: trees of nested objects.

use rankwise_model::Model;

use super::{DEFAULT_LEFT, FORMAT, IS_CATEGORICAL, Parts, check_outputs, question, unsupported};
use crate::FormatError;
use crate::draft::{DraftNode, Split, nested};
use crate::value::{Field, Value, as_integer};

/// Builds a model from the parsed file.
pub(crate) fn from_value(value: &Value) -> Result<Model, FormatError> {
    let root = Field::root(FORMAT, value);
    let per_iteration = root.find("num_tree_per_iteration").map(|field| field.integer()).transpose()?;
    let is_average = root.find("average_output").map(|field| field.number()).transpose()?;
    check_outputs(per_iteration, is_average == Some(1.0))?;
    let objective = root.find("objective").map(|field| field.text()).transpose()?.unwrap_or_default();
    let names = root.find("feature_names").map_or(Ok(Vec::new()), |field| field.texts())?;
    let trees = root.get("tree_info")?;
    let n_features =
        root.find("max_feature_idx").map(|field| field.integer()).transpose()?.map(|last| last.saturating_add(1));
    let trees = trees
        .list()?
        .map(|tree| nested(tree.get("tree_structure")?, |field| node(field, n_features)))
        .collect::<Result<_, _>>()?;
    let objective = objective.split_whitespace().next().unwrap_or_default().to_owned();
    let names = names.into_iter().map(str::to_owned).collect();
    Parts { objective, feature_names: names, trees }.model()
}

/// A node, and its children if it is a split.
fn node<'a>(field: &Field<'a>, n_features: Option<usize>) -> Result<(DraftNode, Option<[Field<'a>; 2]>), FormatError> {
    let optional = |name: &str| field.find(name).map(|field| field.number()).transpose();
    let count = |name: &str| optional(name).map(|count| count.and_then(as_integer).unwrap_or(0) as u64);
    if field.find("split_feature").is_some() {
        let children = [field.get("left_child")?, field.get("right_child")?];
        let split = split(field, optional("split_gain")?, count("internal_count")?)?;
        if super::is_beyond(split.feature, n_features) {
            return Err(field.get("split_feature")?.error(super::beyond(split.feature, n_features)));
        }
        return Ok((DraftNode::Split(split), Some(children)));
    }
    if field.find("leaf_coeff").is_some() {
        return Err(unsupported("has linear models in its leaves", "train it with linear_tree=false"));
    }
    Ok((DraftNode::Leaf { value: field.get("leaf_value")?.number()?, cover: count("leaf_count")? as f64 }, None))
}

fn split(field: &Field<'_>, gain: Option<f64>, count: u64) -> Result<Split, FormatError> {
    let is_categorical = field.get("decision_type")?.text()? != "<=";
    let missing = field.get("missing_type")?;
    let missing_type = match missing.text()? {
        "None" => 0,
        "Zero" => 1,
        "NaN" => 2,
        _ => return Err(missing.error("it is not known")),
    };
    let default_left = field.get("default_left")?.number()? != 0.0;
    let flags = if is_categorical { IS_CATEGORICAL } else { 0 } | if default_left { DEFAULT_LEFT } else { 0 };
    // The threshold of a categorical split is a string.
    let threshold = if is_categorical { 0.0 } else { field.get("threshold")?.number()? };
    let split = Split {
        feature: field.get("split_feature")?.integer()? as u32,
        threshold: threshold.clamp(f64::MIN, f64::MAX),
        missing_left: false,
        left: 0,
        right: 0,
        gain: gain.filter(|gain| gain.is_finite()).unwrap_or(0.0),
        count,
    };
    question(split, flags | missing_type << 2)
}
