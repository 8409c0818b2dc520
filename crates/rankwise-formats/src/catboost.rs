//! CatBoost models in JSON.
//!
//! A value goes right if it is above the border, as f32. In an oblivious tree, the results of the splits are the bits
//! of the leaf index, lowest bit first. Scores start from the bias.

use rankwise_model::{AbsentFeature, Header, Model, Precision};

use crate::FormatError;
use crate::draft::{DraftNode, Split, ensemble, features_of, nested};
use crate::value::{Field, Value};

pub(crate) const FORMAT: &str = "CatBoost";

/// A numeric feature.
struct Feature {
    /// Its index among all features.
    id: u32,
    name: String,
    missing_left: bool,
}

/// Builds a model from the parsed file.
pub(crate) fn from_value(value: &Value) -> Result<Model, FormatError> {
    let root = Field::root(FORMAT, value);
    // Before the leaves, because it explains how many there are.
    let base_score = bias(&root)?;
    let known = features(&root.get("features_info")?)?;
    let drafts: Vec<Vec<DraftNode>> = match root.find("oblivious_trees") {
        Some(trees) => trees.list()?.map(|field| oblivious(&field, &known)).collect::<Result<_, _>>()?,
        None => root
            .get("trees")?
            .list()?
            .map(|field| nested(field, |field| node(field, &known)))
            .collect::<Result<_, _>>()?,
    };
    let features = features_of(&drafts);
    let name_of = |id: &u32| known.iter().find(|feature| feature.id == *id).map(|feature| feature.name.clone());
    // Names that CatBoost generates are only numbers.
    let is_named = known.iter().any(|feature| !feature.name.is_empty() && feature.name != feature.id.to_string());
    let names: Option<Vec<String>> = features.iter().map(name_of).collect();
    let ensemble = ensemble(base_score, drafts, &features)?;
    let header = Header {
        objective: objective(&root),
        feature_names: names.filter(|_| is_named).unwrap_or_default(),
        ..Header::new(AbsentFeature::Missing, Precision::F32, features)
    };
    Ok(Model::new(header, ensemble)?)
}

/// The objective, if the file has one.
fn objective(root: &Field<'_>) -> String {
    let params = root.find("model_info").and_then(|info| info.find("params"));
    let name = params.and_then(|params| params.find("loss_function")).and_then(|loss| loss.find("type"));
    name.and_then(|name| name.text().ok().map(str::to_owned)).unwrap_or_default()
}

/// The file has `[scale, [bias]]`.
fn bias(root: &Field<'_>) -> Result<f64, FormatError> {
    let Some(field) = root.find("scale_and_bias") else { return Ok(0.0) };
    let mut parts = field.list()?;
    let (Some(scale), Some(bias)) = (parts.next(), parts.next()) else {
        return Err(field.error("not a scale and a bias"));
    };
    if scale.number()? != 1.0 {
        return Err(unsupported("scales the sum of its trees", "call set_scale_and_bias with a scale of 1"));
    }
    match bias.numbers()? {
        [] => Ok(0.0),
        [bias] if bias.is_finite() => Ok(*bias),
        _ => Err(unsupported("has several outputs per document", "train it with one output")),
    }
}

fn features(info: &Field<'_>) -> Result<Vec<Feature>, FormatError> {
    let Some(list) = info.find("float_features") else { return Ok(Vec::new()) };
    let feature = |field: Field<'_>| {
        let missing_left = match field.find("nan_value_treatment").map(|field| field.text()).transpose()? {
            Some("AsTrue") => false,
            None | Some("AsIs" | "AsFalse") => true,
            Some(_) => return Err(field.error("unknown nan_value_treatment")),
        };
        let id = field.get("flat_feature_index")?.integer()? as u32;
        let name = field.find("feature_id").map(|field| field.text()).transpose()?.unwrap_or_default().to_owned();
        Ok(Feature { id, name, missing_left })
    };
    list.list()?.map(feature).collect()
}

/// A split without its children.
fn split(field: &Field<'_>, known: &[Feature]) -> Result<Split, FormatError> {
    let kind = field.get("split_type")?.text()?;
    if kind != "FloatFeature" {
        return Err(unsupported("has categorical splits", "train it with numeric features only"));
    }
    let idx = field.get("float_feature_index")?;
    let feature = known.get(idx.integer()?).ok_or_else(|| idx.error("no such feature"))?;
    // The largest f32 separates missing values from all others. Infinite values, which count as the largest f32 here,
    // belong on the side of missing values. The cost is that the largest f32 itself goes there, too.
    let border = (field.get("border")?.number()? as f32).clamp(-f32::MAX, f32::MAX.next_down());
    Ok(Split {
        feature: feature.id,
        threshold: border.into(),
        missing_left: feature.missing_left,
        left: 0,
        right: 0,
        gain: 0.0,
        count: 0,
    })
}

/// An oblivious tree, with the same split in all nodes of a level: nodes level by level, then the leaves.
fn oblivious(field: &Field<'_>, known: &[Feature]) -> Result<Vec<DraftNode>, FormatError> {
    let splits: Vec<Split> = match field.find("splits") {
        Some(list) => list.list()?.map(|field| split(&field, known)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let values = field.get("leaf_values")?.numbers()?;
    let weights = field.find("leaf_weights").map_or(Ok(&[][..]), |field| field.numbers())?;
    if u32::try_from(splits.len()).ok().and_then(|depth| 1usize.checked_shl(depth)) != Some(values.len()) {
        return Err(field.error(format!("{} splits lead to {} leaves", splits.len(), values.len())));
    }
    let n_nodes = values.len() - 1;
    let mut nodes = Vec::with_capacity(n_nodes + values.len());
    // The last split is the highest bit, so it comes first.
    for (level, split) in splits.iter().rev().enumerate() {
        for node in (1 << level) - 1..(2 << level) - 1 {
            nodes.push(DraftNode::Split(Split { left: 2 * node + 1, right: 2 * node + 2, ..*split }));
        }
    }
    let leaf = |(leaf, value): (usize, &f64)| DraftNode::Leaf { value: *value, cover: cover(weights.get(leaf)) };
    nodes.extend(values.iter().enumerate().map(leaf));
    Ok(nodes)
}

/// A node of a tree of nested objects.
fn node<'a>(field: &Field<'a>, known: &[Feature]) -> Result<(DraftNode, Option<[Field<'a>; 2]>), FormatError> {
    if let Some(question) = field.find("split") {
        let children = [field.get("left")?, field.get("right")?];
        return Ok((DraftNode::Split(split(&question, known)?), Some(children)));
    }
    let weight = field.find("weight").map(|field| field.number()).transpose()?;
    Ok((DraftNode::Leaf { value: field.get("value")?.number()?, cover: cover(weight.as_ref()) }, None))
}

fn cover(weight: Option<&f64>) -> f64 {
    weight.copied().filter(|weight| weight.is_finite()).map_or(0.0, |weight| weight.max(0.0))
}

fn unsupported(what: &str, advice: &str) -> FormatError {
    FormatError::Unsupported { format: FORMAT, what: what.into(), advice: advice.into() }
}
