//! RankLib's XML: an ensemble of trees, nodes inside their parents.
//!
//! Values are f32 and go left if they are at most the threshold. Features have numbers from 1; one that a document does not have
//! is 0. There is no base score: the first tree's leaves have it. Leaves are added in f32.

use std::fmt::Write as _;

use rankwise_model::{Model, Precision};

use super::lowered::{Lowered, Node, Question};
use super::nested::check_depths;
use super::number::{text_f32, to_f32};
use super::{ExportError, Target, reading};
use crate::FormatError;
use crate::draft::{DraftNode, Split};

const FORMAT: &str = "RankLib";

pub(crate) fn write(lowered: &Lowered) -> Result<Vec<u8>, ExportError> {
    let lowered = lowered.with_folded_base();
    lowered.check_features(Target::RankLib, 1)?;
    check_depths(&lowered, Target::RankLib)?;
    // The first line tells RankLib which of its rankers this is.
    let mut out = format!("## LambdaMART\n## No. of trees = {}\n\n<ensemble>\n", lowered.trees.len());
    for (idx, nodes) in lowered.trees.iter().enumerate() {
        let _ = writeln!(out, "\t<tree id=\"{}\" weight=\"1.0\">\n\t\t<split>", idx + 1);
        node(nodes, 0, &mut "\t\t\t".into(), &mut out)?;
        out.push_str("\t\t</split>\n\t</tree>\n");
    }
    out.push_str("</ensemble>\n");
    Ok(out.into_bytes())
}

/// What stands between the tags of a node.
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

pub(crate) fn read(bytes: &[u8]) -> Result<Model, FormatError> {
    let text = String::from_utf8_lossy(bytes);
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.starts_with("##"));
    // Tags and what stands between them, each with its line.
    let words = lines().flat_map(|(line, text)| {
        let parts = text.split_inclusive('>').flat_map(|part| {
            let (text, tag) = part.split_at(part.find('<').unwrap_or(part.len()));
            [text.trim(), tag.trim()]
        });
        parts.filter(|part| !part.is_empty()).map(move |part| (line + 1, part))
    });
    let mut words = Words { words: words.collect::<Vec<_>>().into_iter(), line: 0 };
    words.expect("<ensemble>")?;
    let mut trees = Vec::new();
    while words.next()?.starts_with("<tree ") {
        let mut nodes = Vec::new();
        words.expect("<split>")?;
        words.node(&mut nodes)?;
        words.expect("</split>")?;
        words.expect("</tree>")?;
        trees.push(nodes);
    }
    reading::model(&trees, Precision::F32, 0.0)
}

struct Words<'a> {
    words: std::vec::IntoIter<(usize, &'a str)>,
    line: usize,
}

impl<'a> Words<'a> {
    fn error(&self, problem: String) -> FormatError {
        FormatError::Line { format: FORMAT, line: self.line, problem }
    }

    fn next(&mut self) -> Result<&'a str, FormatError> {
        let (line, word) = self.words.next().ok_or_else(|| self.error("the file ends too early".into()))?;
        self.line = line;
        Ok(word)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), FormatError> {
        let found = self.next()?;
        if found == wanted { Ok(()) } else { Err(self.error(format!("'{found}' where {wanted} should be"))) }
    }

    /// A number, and the tag behind it.
    fn number(&mut self, end: &str) -> Result<f32, FormatError> {
        let word = self.next()?;
        let number = word.parse().map_err(|_| self.error(format!("'{word}' is no number")))?;
        self.expect(end)?;
        Ok(number)
    }

    /// Gives the place of the node.
    fn node(&mut self, nodes: &mut Vec<DraftNode>) -> Result<usize, FormatError> {
        let place = nodes.len();
        nodes.push(DraftNode::Leaf { value: 0.0, count: 0 });
        if self.next()? == "<output>" {
            nodes[place] = DraftNode::Leaf { value: self.number("</output>")?.into(), count: 0 };
            return Ok(place);
        }
        // Whole numbers of features are exact in f32 as far as they go.
        let feature = self.number("</feature>")? as u32;
        self.expect("<threshold>")?;
        let threshold = self.number("</threshold>")?;
        self.expect("<split pos=\"left\">")?;
        let left = self.node(nodes)?;
        self.expect("</split>")?;
        self.expect("<split pos=\"right\">")?;
        let right = self.node(nodes)?;
        self.expect("</split>")?;
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
}
