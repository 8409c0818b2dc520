//! XGBoost's dump: a JSON list of trees, with nodes nested in their parents and features by name.
//!
//! Values are f32 and go to `yes` if they are below the condition. A dump has no base score, so the leaves of the first
//! tree include it. The direction of missing values is written, but the Elasticsearch plugin treats them as 0, and so
//! do we here. Leaves are added in f32.

use std::fmt::Write as _;

use rankwise_model::{Model, Precision};

use super::lowered::{Lowered, Node};
use super::names::Names;
use super::nested::{check_depths, quoted, read_json};
use super::number::{text_f32, to_f32};
use super::xgboost::Condition;
use super::{ExportError, Target, reading};
use crate::FormatError;
use crate::draft::{DraftNode, Split};
use crate::value::Field;

pub(crate) fn write(lowered: &Lowered, names: &Names) -> Result<Vec<u8>, ExportError> {
    let lowered = lowered.with_folded_base();
    check_depths(&lowered, Target::XgBoostDump)?;
    let mut out = String::from("[\n");
    for (idx, nodes) in lowered.trees.iter().enumerate() {
        if idx > 0 {
            out.push_str(",\n");
        }
        node(nodes, 0, 0, names, &mut out)?;
    }
    out.push_str("\n]\n");
    Ok(out.into_bytes())
}

/// A node, given its index and depth, with its subtree.
fn node(nodes: &[Node], place: usize, depth: usize, names: &Names, out: &mut String) -> Result<(), ExportError> {
    match nodes[place] {
        Node::Leaf { value, .. } => {
            let value = text_f32(to_f32(Target::XgBoostDump, "a leaf", value)?);
            let _ = write!(out, "{{\"nodeid\":{place},\"leaf\":{value}}}");
        }
        Node::Split(split) => {
            let Condition { below, missing_left, children: [yes, no] } = Condition::new(&split);
            let missing = if missing_left { yes } else { no };
            let (name, condition) = (quoted(names.of(split.feature)), text_f32(below));
            let _ = write!(
                out,
                "{{\"nodeid\":{place},\"depth\":{depth},\"split\":{name},\"split_condition\":{condition},\
                 \"yes\":{yes},\"no\":{no},\"missing\":{missing},\"children\":["
            );
            node(nodes, yes, depth + 1, names, out)?;
            out.push(',');
            node(nodes, no, depth + 1, names, out)?;
            out.push_str("]}");
        }
    }
    Ok(())
}

pub(crate) fn read(bytes: &[u8], names: &Names) -> Result<Model, FormatError> {
    let value = read_json("XGBoost", bytes)?;
    let mut trees = Vec::new();
    for root in Field::root("XGBoost", &value).list()? {
        let mut nodes = Vec::new();
        read_node(&root, names, &mut nodes)?;
        trees.push(nodes);
    }
    reading::model(trees, Precision::F32, 0.0)
}

/// Returns the index of the node.
fn read_node(field: &Field<'_>, names: &Names, nodes: &mut Vec<DraftNode>) -> Result<usize, FormatError> {
    let place = nodes.len();
    if let Some(leaf) = field.find("leaf") {
        nodes.push(DraftNode::Leaf { value: f64::from(leaf.number()? as f32), cover: 0.0 });
        return Ok(place);
    }
    nodes.push(DraftNode::Leaf { value: 0.0, cover: 0.0 });
    let name = field.get("split")?;
    let feature = names.find(name.text()?).ok_or_else(|| name.error("no feature has this name"))?;
    let condition = field.get("split_condition")?.number()? as f32;
    let [yes, no] = ["yes", "no"].map(|side| field.get(side)?.integer());
    let (yes, no) = (yes?, no?);
    let (mut left, mut right) = (None, None);
    for child in field.get("children")?.list()? {
        let number = child.get("nodeid")?.integer()?;
        let place = read_node(&child, names, nodes)?;
        left = if number == yes { Some(place) } else { left };
        right = if number == no { Some(place) } else { right };
    }
    let (Some(left), Some(right)) = (left, right) else { return Err(field.error("it lacks a child")) };
    nodes[place] = DraftNode::Split(Split {
        feature,
        // Below the condition means at most the f32 before it.
        threshold: if condition == -f32::MAX { f64::MIN } else { condition.next_down().into() },
        missing_left: 0.0 < condition,
        left,
        right,
        gain: 0.0,
        count: 0,
    });
    Ok(place)
}
