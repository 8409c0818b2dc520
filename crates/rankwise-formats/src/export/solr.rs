//! Solr's `MultipleAdditiveTreesModel`, as JSON for its model store.
//!
//! Values are f32 and go left if they are at most the threshold *plus 0.000001*, added in f32. So the written threshold
//! is one that gives ours after the addition. The value of an absent feature is 0, or the feature's default. Leaves are
//! added in f32.

use std::fmt::Write as _;

use rankwise_model::{Model, Precision};

use super::lowered::{Lowered, Node, Question};
use super::names::Names;
use super::nested::{check_depths, quoted, read_json};
use super::number::{text_f32, to_f32};
use super::{ExportError, ExportOptions, Target, reading};
use crate::FormatError;
use crate::draft::{DraftNode, Split};
use crate::value::Field;

const CLASS: &str = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel";
/// The number that Solr adds to thresholds.
const SLACK: f32 = 1e-6;

pub(crate) fn write(lowered: &Lowered, names: &Names, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let lowered = lowered.with_folded_base();
    check_depths(&lowered, Target::Solr)?;
    let features: Vec<String> = names.all().map(|name| format!("{{\"name\":{}}}", quoted(name))).collect();
    let mut out = format!(
        "{{\n\"class\":\"{CLASS}\",\n\"name\":\"rankwise\",\n\"features\":[{}],\n\"params\":{{\"trees\":[\n",
        features.join(",")
    );
    for (idx, nodes) in lowered.trees.iter().enumerate() {
        out.push_str(if idx > 0 { ",\n" } else { "" });
        out.push_str("{\"weight\":\"1\",\"root\":");
        Writer { tree: idx, nodes, names, options }.node(0, &mut out)?;
        out.push('}');
    }
    out.push_str("\n]}\n}\n");
    Ok(out.into_bytes())
}

struct Writer<'a> {
    tree: usize,
    nodes: &'a [Node],
    names: &'a Names,
    options: &'a ExportOptions,
}

impl Writer<'_> {
    /// A node with its subtree. Numbers are strings, which Solr parses as f32.
    fn node(&self, place: usize, out: &mut String) -> Result<(), ExportError> {
        match self.nodes[place] {
            Node::Leaf { value, .. } => {
                let _ = write!(out, "{{\"value\":\"{}\"}}", text_f32(to_f32(Target::Solr, "a leaf", value)?));
            }
            Node::Split(split) => {
                let last = match split.question {
                    Question::AtMost(last) => last as f32,
                    Question::IsThere => f32::MAX,
                };
                let (written, is_exact) = before_slack(last);
                if !is_exact && !self.options.allow_rounding {
                    let (target, tree, threshold) = (Target::Solr, self.tree, f64::from(last));
                    return Err(ExportError::Threshold { target, tree, threshold });
                }
                let (name, threshold) = (quoted(self.names.of(split.feature)), text_f32(written));
                let _ = write!(out, "{{\"feature\":{name},\"threshold\":\"{threshold}\",\"left\":");
                self.node(split.left, out)?;
                out.push_str(",\"right\":");
                self.node(split.right, out)?;
                out.push('}');
            }
        }
        Ok(())
    }
}

/// The number that gives the threshold after adding the slack, or comes nearest to it, and whether it is exact.
fn before_slack(threshold: f32) -> (f32, bool) {
    let guess = (f64::from(threshold) - f64::from(SLACK)) as f32;
    let distance = |candidate: &f32| (f64::from(candidate + SLACK) - f64::from(threshold)).abs();
    let candidates = [guess, guess.next_down(), guess.next_up()];
    let best = candidates.into_iter().filter(|candidate| candidate.is_finite());
    let best = best.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(threshold);
    (best, best + SLACK == threshold)
}

pub(crate) fn read(bytes: &[u8], names: &Names) -> Result<Model, FormatError> {
    let value = read_json("Solr", bytes)?;
    let mut trees = Vec::new();
    for tree in Field::root("Solr", &value).get("params")?.get("trees")?.list()? {
        let weight = tree.get("weight")?.number()? as f32;
        let mut nodes = Vec::new();
        read_node(&tree.get("root")?, weight, names, &mut nodes)?;
        trees.push(nodes);
    }
    reading::model(trees, Precision::F32, 0.0)
}

/// Returns the index of the node.
fn read_node(field: &Field<'_>, weight: f32, names: &Names, nodes: &mut Vec<DraftNode>) -> Result<usize, FormatError> {
    let place = nodes.len();
    nodes.push(DraftNode::Leaf { value: 0.0, cover: 0.0 });
    let Some(name) = field.find("feature") else {
        let value = field.get("value")?.number()? as f32;
        nodes[place] = DraftNode::Leaf { value: f64::from(weight * value), cover: 0.0 };
        return Ok(place);
    };
    let feature = names.find(name.text()?).ok_or_else(|| name.error("no feature has this name"))?;
    let threshold = field.get("threshold")?.number()? as f32 + SLACK;
    let left = read_node(&field.get("left")?, weight, names, nodes)?;
    let right = read_node(&field.get("right")?, weight, names, nodes)?;
    nodes[place] = DraftNode::Split(Split {
        feature,
        threshold: threshold.into(),
        missing_left: 0.0 <= threshold,
        left,
        right,
        gain: 0.0,
        count: 0,
    });
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_taken_off_exactly_or_as_well_as_can_be() {
        for threshold in [0.0, 0.5, -0.5, 1.0, 1e-3, 2e-6, 100.0, -7e7, 1e30, f32::MAX] {
            let (written, is_exact) = before_slack(threshold);
            assert!(is_exact && written + SLACK == threshold, "{threshold}");
        }
        // Floats near -0.000001 are further apart than this.
        let (written, is_exact) = before_slack(1e-20);
        assert!(!is_exact);
        assert_eq!(written + SLACK, 0.0);
    }
}
