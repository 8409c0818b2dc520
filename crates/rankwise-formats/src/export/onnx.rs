//! ONNX. Trees are a graph with one `TreeEnsembleRegressor` (domain ai.onnx.ml, version 3), from `values` to `scores`.
//!
//! Values are f32 and go left if they are at most the threshold; each node says where NaN goes. Column i has feature i.
//! Leaves are added in f32, then the base score. Networks are graphs of standard operators ([`network`]).

mod evaluate;
mod graph;
mod network;
mod wire;

use rankwise_model::{Model, Precision};

use super::lowered::{Lowered, Node, Question};
use super::number::to_f32;
use super::{ExportError, Target, reading};
use crate::FormatError;
use crate::draft::{DraftNode, Split};
pub use evaluate::NetworkReading;
pub(crate) use network::write as write_network;
use wire::{Message, Part};

const FORMAT: &str = "ONNX";
const OPERATOR: &str = "TreeEnsembleRegressor";
const DOMAIN: &str = "ai.onnx.ml";
/// Version of the tree operators.
const DOMAIN_VERSION: u64 = 3;
/// Version of the standard operators; the file version dates from the same time.
const OPSET_VERSION: u64 = 15;
const IR_VERSION: u64 = 8;
/// The tensor type f32.
const FLOAT: u64 = 1;

/// The attribute lists: one entry for each node of all trees.
#[derive(Default)]
struct Lists {
    trees: Vec<i64>,
    numbers: Vec<i64>,
    features: Vec<i64>,
    values: Vec<f32>,
    modes: Vec<&'static str>,
    true_nodes: Vec<i64>,
    false_nodes: Vec<i64>,
    missing_true: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaf_numbers: Vec<i64>,
    leaf_values: Vec<f32>,
}

pub(crate) fn write(lowered: &Lowered) -> Result<Vec<u8>, ExportError> {
    let n_columns = lowered.n_columns(Target::Onnx)?;
    let lists = Lists::new(lowered)?;
    let base_score = to_f32(Target::Onnx, "the base score", lowered.base_score)?;
    let n_leaves = lists.leaf_values.len();
    let mut node = Message::default();
    node.text(1, "values").text(2, "scores").text(3, "trees").text(4, OPERATOR);
    for attribute in [
        integer("n_targets", 1),
        integers("nodes_treeids", &lists.trees),
        integers("nodes_nodeids", &lists.numbers),
        integers("nodes_featureids", &lists.features),
        floats("nodes_values", &lists.values),
        texts("nodes_modes", &lists.modes),
        integers("nodes_truenodeids", &lists.true_nodes),
        integers("nodes_falsenodeids", &lists.false_nodes),
        integers("nodes_missing_value_tracks_true", &lists.missing_true),
        integers("target_treeids", &lists.leaf_trees),
        integers("target_nodeids", &lists.leaf_numbers),
        integers("target_ids", &vec![0; n_leaves]),
        floats("target_weights", &lists.leaf_values),
        floats("base_values", &[base_score]),
        text("aggregate_function", "SUM"),
        text("post_transform", "NONE"),
    ] {
        node.message(5, &attribute);
    }
    node.text(7, DOMAIN);
    let mut graph = Message::default();
    graph.message(1, &node).text(2, "rankwise");
    graph.message(11, &matrix("values", n_columns)).message(12, &matrix("scores", 1));
    let mut model = Message::default();
    model.integer(1, IR_VERSION).text(2, "rankwise").message(7, &graph);
    for (domain, version) in [(DOMAIN, DOMAIN_VERSION), ("", OPSET_VERSION)] {
        let mut import = Message::default();
        import.text(1, domain).integer(2, version);
        model.message(8, &import);
    }
    Ok(model.into_bytes())
}

impl Lists {
    fn new(lowered: &Lowered) -> Result<Self, ExportError> {
        let mut lists = Self::default();
        for (tree, nodes) in lowered.trees.iter().enumerate() {
            for (number, node) in nodes.iter().enumerate() {
                lists.trees.push(tree as i64);
                lists.numbers.push(number as i64);
                match node {
                    Node::Split(split) => {
                        lists.features.push(split.feature.into());
                        lists.values.push(match split.question {
                            Question::AtMost(last) => last as f32,
                            Question::IsThere => f32::INFINITY,
                        });
                        lists.modes.push("BRANCH_LEQ");
                        lists.true_nodes.push(split.left as i64);
                        lists.false_nodes.push(split.right as i64);
                        lists.missing_true.push(split.missing_left.into());
                    }
                    Node::Leaf { value, .. } => {
                        lists.features.push(0);
                        lists.values.push(0.0);
                        lists.modes.push("LEAF");
                        lists.true_nodes.push(0);
                        lists.false_nodes.push(0);
                        lists.missing_true.push(0);
                        lists.leaf_trees.push(tree as i64);
                        lists.leaf_numbers.push(number as i64);
                        lists.leaf_values.push(to_f32(Target::Onnx, "a leaf", *value)?);
                    }
                }
            }
        }
        Ok(lists)
    }
}

/// An attribute of the given type, with its value in a field of its own.
fn attribute(name: &str, kind: u64, fill: impl FnOnce(&mut Message)) -> Message {
    let mut attribute = Message::default();
    attribute.text(1, name);
    fill(&mut attribute);
    attribute.integer(20, kind);
    attribute
}

fn integer(name: &str, value: u64) -> Message {
    attribute(name, 2, |message| {
        message.integer(3, value);
    })
}

fn text(name: &str, value: &str) -> Message {
    attribute(name, 3, |message| {
        message.text(4, value);
    })
}

fn floats(name: &str, values: &[f32]) -> Message {
    attribute(name, 6, |message| {
        message.floats(7, values);
    })
}

fn integers(name: &str, values: &[i64]) -> Message {
    attribute(name, 7, |message| {
        message.integers(8, values);
    })
}

fn texts(name: &str, values: &[&str]) -> Message {
    attribute(name, 8, |message| {
        for value in values {
            message.text(9, value);
        }
    })
}

/// An f32 tensor: one row per document, and this many columns.
fn matrix(name: &str, n_columns: usize) -> Message {
    let (mut rows, mut columns) = (Message::default(), Message::default());
    rows.text(2, "documents");
    columns.integer(1, n_columns as u64);
    let mut shape = Message::default();
    shape.message(1, &rows).message(1, &columns);
    let mut tensor = Message::default();
    tensor.integer(1, FLOAT).message(2, &shape);
    let mut kind = Message::default();
    kind.message(1, &tensor);
    let mut info = Message::default();
    info.text(1, name).message(2, &kind);
    info
}

/// Reads the attributes of the only node.
pub(crate) fn read(bytes: &[u8]) -> Result<Model, FormatError> {
    let error = |problem: &str| FormatError::Field { format: FORMAT, field: OPERATOR.into(), problem: problem.into() };
    let graph = Part::all(bytes)?.find(7).ok_or_else(|| error("there is no graph"))?;
    let node = Part::all(graph)?.find(1).ok_or_else(|| error("there is no node"))?;
    let attributes = Part::all(node)?.every(5);
    let find = |name: &str| {
        for attribute in &attributes {
            let parts = Part::all(attribute)?;
            if parts.find(1) == Some(name.as_bytes()) {
                return Ok(parts);
            }
        }
        Err(error(&format!("there is no {name}")))
    };
    let integers = |name: &str| wire::integers(find(name)?.find(8).unwrap_or_default());
    let floats = |name: &str| wire::floats(find(name)?.find(7).unwrap_or_default());
    let (trees, numbers, features) =
        (integers("nodes_treeids")?, integers("nodes_nodeids")?, integers("nodes_featureids")?);
    let (values, missing) = (floats("nodes_values")?, integers("nodes_missing_value_tracks_true")?);
    let (lefts, rights) = (integers("nodes_truenodeids")?, integers("nodes_falsenodeids")?);
    let (leaf_trees, leaf_numbers) = (integers("target_treeids")?, integers("target_nodeids")?);
    let weights = floats("target_weights")?;
    let modes = find("nodes_modes")?.every(9);
    let base_score = floats("base_values")?.first().copied().unwrap_or(0.0);
    let n_nodes = trees.len();
    let lengths = [numbers.len(), features.len(), values.len(), missing.len(), lefts.len(), rights.len(), modes.len()];
    if lengths.iter().any(|length| *length != n_nodes) {
        return Err(error("its lists are not of one length"));
    }
    let leaves: std::collections::BTreeMap<(u64, u64), f32> =
        leaf_trees.into_iter().zip(leaf_numbers).zip(weights).collect();
    let mut drafts: Vec<Vec<DraftNode>> = Vec::new();
    for node in 0..n_nodes {
        if trees[node] as usize == drafts.len() {
            drafts.push(Vec::new());
        }
        let nodes = drafts.last_mut().ok_or_else(|| error("the first tree has another number than 0"))?;
        if numbers[node] as usize != nodes.len() {
            return Err(error("its nodes are not in order"));
        }
        nodes.push(if modes[node] == b"LEAF" {
            let value = leaves.get(&(trees[node], numbers[node])).ok_or_else(|| error("a leaf has no value"))?;
            DraftNode::Leaf { value: f64::from(*value), cover: 0.0 }
        } else {
            DraftNode::Split(Split {
                feature: features[node] as u32,
                threshold: f64::from(values[node].clamp(-f32::MAX, f32::MAX)),
                missing_left: missing[node] != 0,
                left: lefts[node] as usize,
                right: rights[node] as usize,
                gain: 0.0,
                count: 0,
            })
        });
    }
    reading::model(drafts, Precision::F32, f64::from(base_score))
}
