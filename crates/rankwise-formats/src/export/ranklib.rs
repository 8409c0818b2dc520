//! RankLib's XML: an ensemble of trees, with nodes nested in their parents.
//!
//! Values are f32 and go left if they are at most the threshold. Features are numbered from 1; absent features are 0.
//! There is no base score, so the leaves of the first tree include it. Leaves are added in f32.

use std::fmt::Write as _;

use super::lowered::{Lowered, Node, Question};
use super::nested::check_depths;
use super::number::{text_f32, to_f32};
use super::{ExportError, Target};

pub(crate) fn write(lowered: &Lowered) -> Result<Vec<u8>, ExportError> {
    let lowered = lowered.with_folded_base();
    lowered.check_features(Target::RankLib, 1)?;
    check_depths(&lowered, Target::RankLib)?;
    // The first line tells RankLib the kind of ranker.
    let mut out = format!("## LambdaMART\n## No. of trees = {}\n\n<ensemble>\n", lowered.trees.len());
    for (idx, nodes) in lowered.trees.iter().enumerate() {
        let _ = writeln!(out, "\t<tree id=\"{}\" weight=\"1.0\">\n\t\t<split>", idx + 1);
        node(nodes, 0, &mut "\t\t\t".into(), &mut out)?;
        out.push_str("\t\t</split>\n\t</tree>\n");
    }
    out.push_str("</ensemble>\n");
    Ok(out.into_bytes())
}

/// The content of a node.
fn node(nodes: &[Node], place: usize, indent: &mut String, out: &mut String) -> Result<(), ExportError> {
    match nodes[place] {
        Node::Leaf { value, .. } => {
            let value = text_f32(to_f32(Target::RankLib, "a leaf", value)?);
            let _ = writeln!(out, "{indent}<output> {value} </output>");
        }
        Node::Split(split) => {
            let last = match split.question {
                Question::AtMost(last) => last as f32,
                Question::IsThere => f32::MAX,
            };
            let _ = writeln!(out, "{indent}<feature> {} </feature>", split.feature);
            let _ = writeln!(out, "{indent}<threshold> {} </threshold>", text_f32(last));
            for (side, child) in [("left", split.left), ("right", split.right)] {
                let _ = writeln!(out, "{indent}<split pos=\"{side}\">");
                indent.push('\t');
                node(nodes, child, indent, out)?;
                indent.pop();
                let _ = writeln!(out, "{indent}</split>");
            }
        }
    }
    Ok(())
}
