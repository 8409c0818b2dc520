//! The text of `save_model`: lines of `name=value`, a block for the model and one for each tree.

use super::{FORMAT, Parts, check_outputs, question, unsupported};
use crate::FormatError;
use crate::draft::{DraftNode, Split};
use crate::error::shown;
use rankwise_model::Model;

/// Follows the last tree.
const END: &str = "end of trees";

/// Reads the text.
pub(crate) fn from_text(bytes: &[u8]) -> Result<Model, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        FormatError::Line { format: FORMAT, line, problem: "not UTF-8".into() }
    })?;
    if !text.lines().any(|line| line.trim() == END) {
        let problem = format!("the file is cut off: no line '{END}'");
        return Err(FormatError::Line { format: FORMAT, line: text.lines().count(), problem });
    }
    let mut blocks = blocks(text);
    let head = blocks.next().unwrap_or_default();
    check_outputs(head.number("num_tree_per_iteration")?, head.flags.contains(&"average_output"))?;
    let n_features = head.number("max_feature_idx")?.map(|last| last.saturating_add(1));
    let parts = Parts {
        objective: head.text("objective").unwrap_or_default().split_whitespace().next().unwrap_or_default().to_owned(),
        // Spaces separate them; other white space may be part of a name.
        feature_names: head
            .text("feature_names")
            .unwrap_or_default()
            .split(' ')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        trees: blocks.map(|block| nodes(&block, n_features)).collect::<Result<_, _>>()?,
    };
    parts.model()
}

/// Lines of `name=value` that form a block.
#[derive(Default)]
struct Block<'a> {
    /// Its first line, from 1.
    line: usize,
    fields: Vec<(usize, &'a str, &'a str)>,
    /// Names without a value.
    flags: Vec<&'a str>,
}

/// The header, then the trees. What follows (importances, parameters) does not affect scores.
fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    let mut lines = text.lines().enumerate().peekable();
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let mut block = Block { line: lines.peek()?.0 + 1, ..Block::default() };
        while let Some((idx, line)) = lines.next() {
            let line = line.trim();
            is_over = line == END;
            match line.split_once('=') {
                Some((name, value)) => block.fields.push((idx + 1, name, value)),
                None => block.flags.push(line),
            }
            if is_over || lines.peek().is_some_and(|(_, next)| next.starts_with("Tree=")) {
                break;
            }
        }
        // The line that ends the trees may be alone.
        (!block.fields.is_empty()).then_some(block)
    })
}

impl<'a> Block<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.fields.iter().find(|(_, known, _)| *known == name).map(|(.., value)| *value)
    }

    fn error(&self, line: Option<usize>, problem: String) -> FormatError {
        FormatError::Line { format: FORMAT, line: line.unwrap_or(self.line), problem }
    }

    /// An error in the line of a field.
    fn field_error(&self, name: &str, problem: String) -> FormatError {
        let line = self.fields.iter().find(|(_, known, _)| *known == name).map(|(line, ..)| *line);
        self.error(line, problem)
    }

    /// The numbers of a field; there must be `n`.
    fn numbers<T>(&self, name: &str, n: usize, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, FormatError> {
        let field = self.fields.iter().find(|(_, known, _)| *known == name);
        let Some((line, _, value)) = field else {
            return if n == 0 { Ok(Vec::new()) } else { Err(self.error(None, format!("{name} is missing"))) };
        };
        let wrong = |word: &str| self.error(Some(*line), format!("'{}' in {name} is not a valid number", shown(word)));
        let numbers: Vec<T> = value
            .split_ascii_whitespace()
            .map(|word| parse(word).ok_or_else(|| wrong(word)))
            .collect::<Result<_, _>>()?;
        if numbers.len() != n {
            return Err(self.error(Some(*line), format!("{name} has {} numbers instead of {n}", numbers.len())));
        }
        Ok(numbers)
    }

    fn number(&self, name: &str) -> Result<Option<usize>, FormatError> {
        match self.text(name) {
            None => Ok(None),
            Some(_) => Ok(self.numbers(name, 1, |word| word.parse().ok())?.pop()),
        }
    }
}

/// The nodes of a tree: splits first, then leaves.
fn nodes(block: &Block<'_>, n_features: Option<usize>) -> Result<Vec<DraftNode>, FormatError> {
    let Some(n_leaves) = block.number("num_leaves")?.filter(|n| *n > 0) else {
        return Err(block.error(None, "num_leaves is missing".into()));
    };
    if block.number("num_cat")?.is_some_and(|n| n > 0) {
        return Err(unsupported("has categorical splits", "train it with numeric features only"));
    }
    if block.number("is_linear")?.is_some_and(|n| n > 0) {
        return Err(unsupported("has linear models in its leaves", "train it with linear_tree=false"));
    }
    let n_nodes = n_leaves - 1;
    let float = |word: &str| fast_float2::parse::<f64, _>(word).ok();
    let child = |word: &str| {
        let code: i64 = word.parse().ok()?;
        usize::try_from(if code < 0 { n_nodes as i64 + !code } else { code }).ok()
    };
    // Counts are integers, but LightGBM may write large ones with an exponent.
    let count = |word: &str| float(word).filter(|count| *count >= 0.0).map(|count| count as u64);
    let features = block.numbers("split_feature", n_nodes, |word| word.parse::<u32>().ok())?;
    if let Some(feature) = features.iter().find(|feature| super::is_beyond(**feature, n_features)) {
        return Err(block.field_error("split_feature", super::beyond(*feature, n_features)));
    }
    let thresholds = block.numbers("threshold", n_nodes, |word| float(word).filter(|value| !value.is_nan()))?;
    let decisions = block.numbers("decision_type", n_nodes, |word| word.parse::<u32>().ok())?;
    let lefts = block.numbers("left_child", n_nodes, child)?;
    let rights = block.numbers("right_child", n_nodes, child)?;
    let gains = block.numbers("split_gain", n_nodes, |word| float(word).filter(|gain| gain.is_finite()))?;
    let counts = block.numbers("internal_count", n_nodes, count)?;
    let values = block.numbers("leaf_value", n_leaves, float)?;
    // A tree without splits has no counts.
    let leaf_counts = if n_nodes == 0 { vec![0] } else { block.numbers("leaf_count", n_leaves, count)? };
    let mut nodes = Vec::with_capacity(n_nodes + n_leaves);
    for node in 0..n_nodes {
        let split = Split {
            feature: features[node],
            // An infinite threshold sends all values to one side.
            threshold: thresholds[node].clamp(f64::MIN, f64::MAX),
            missing_left: false,
            left: lefts[node],
            right: rights[node],
            gain: gains[node],
            count: counts[node],
        };
        nodes.push(DraftNode::Split(question(split, decisions[node])?));
    }
    nodes.extend(
        values.into_iter().zip(leaf_counts).map(|(value, count)| DraftNode::Leaf { value, cover: count as f64 }),
    );
    Ok(nodes)
}
