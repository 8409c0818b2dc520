//! C99 source code: tables of nodes and leaves, and one function that walks them.
//!
//! Doubles throughout; no libraries, no allocation, no recursion. Leaves are added in the order of the trees, starting
//! from the base score, so the scores are bit-identical to ours for any doubles.

use std::fmt::Write as _;

use rankwise_model::{Model, Precision};

use super::lowered::{Lowered, Node, Question};
use super::number::text;
use super::{ExportError, Target, reading};
use crate::FormatError;
use crate::draft::{DraftNode, Split};

const FORMAT: &str = "C";
/// Table entries per line.
const LINE_ENTRIES: usize = 12;

/// The kinds of nodes in the table `rule`.
const MISSING_RIGHT: u8 = 0;
const MISSING_LEFT: u8 = 1;
/// All values go left, missing ones go right.
const IS_THERE: u8 = 2;

pub(crate) fn write(lowered: &Lowered) -> Result<Vec<u8>, ExportError> {
    let n_columns = lowered.n_columns(Target::C)?;
    let tables = Tables::new(lowered);
    let mut out = format!(
        "/* A ranking model, written by Rankwise: {} trees, {} leaves.\n\
         \n   rankwise_score(values) gives a document's score. values[i] is the value of feature i, for i from 0 to\n   \
         RANKWISE_N_VALUES - 1; NaN is a missing value. Do not compile with -ffast-math, which forgets NaN. */\n\n\
         #define RANKWISE_N_VALUES {n_columns}\n#define RANKWISE_N_TREES {}\n\n\
         double rankwise_score(const double *values);\n\n\
         /* Nodes: what is asked, and the nodes or leaves (-1 - leaf) that the answers lead to. */\n",
        tables.roots.len(),
        tables.leaves.len(),
        tables.roots.len(),
    );
    table(&mut out, "int", "feature", tables.splits.iter().map(|split| split.feature.to_string()));
    table(&mut out, "double", "threshold", tables.splits.iter().map(|split| text(split.threshold)));
    out.push_str("/* 0: missing values go right, 1: left, 2: right, and all others left. */\n");
    table(&mut out, "unsigned char", "rule", tables.splits.iter().map(|split| split.rule.to_string()));
    table(&mut out, "int", "left", tables.splits.iter().map(|split| split.left.to_string()));
    table(&mut out, "int", "right", tables.splits.iter().map(|split| split.right.to_string()));
    table(&mut out, "double", "leaf", tables.leaves.iter().map(|value| text(*value)));
    table(&mut out, "int", "root", tables.roots.iter().map(i64::to_string));
    let _ = writeln!(out, "static const double base_score = {};\n", text(lowered.base_score));
    out.push_str(FUNCTION);
    Ok(out.into_bytes())
}

const FUNCTION: &str = "\
double rankwise_score(const double *values)
{
    double score = base_score;
    int tree;
    for (tree = 0; tree < RANKWISE_N_TREES; tree++) {
        int node = root[tree];
        while (node >= 0) {
            const double value = values[feature[node]];
            int goes_left;
            if (value != value)
                goes_left = rule[node] == 1;
            else
                goes_left = rule[node] == 2 || value <= threshold[node];
            node = goes_left ? left[node] : right[node];
        }
        score += leaf[-1 - node];
    }
    return score;
}
";

/// All trees, one after another.
#[derive(Default)]
struct Tables {
    splits: Vec<Row>,
    leaves: Vec<f64>,
    roots: Vec<i64>,
}

struct Row {
    feature: u32,
    threshold: f64,
    rule: u8,
    left: i64,
    right: i64,
}

impl Tables {
    fn new(lowered: &Lowered) -> Self {
        let mut tables = Self::default();
        for nodes in &lowered.trees {
            let mut codes = Vec::with_capacity(nodes.len());
            let (mut n_splits, mut n_leaves) = (tables.splits.len() as i64, tables.leaves.len() as i64);
            for node in nodes {
                let (code, next) = match node {
                    Node::Split(_) => (n_splits, &mut n_splits),
                    Node::Leaf { .. } => (-1 - n_leaves, &mut n_leaves),
                };
                codes.push(code);
                *next += 1;
            }
            tables.roots.push(codes[0]);
            for node in nodes {
                match node {
                    Node::Leaf { value, .. } => tables.leaves.push(*value),
                    Node::Split(split) => tables.splits.push(Row {
                        feature: split.feature,
                        threshold: if let Question::AtMost(last) = split.question { last } else { 0.0 },
                        rule: match (split.question, split.missing_left) {
                            (Question::IsThere, _) => IS_THERE,
                            (_, true) => MISSING_LEFT,
                            (_, false) => MISSING_RIGHT,
                        },
                        left: codes[split.left],
                        right: codes[split.right],
                    }),
                }
            }
        }
        tables
    }
}

/// A table. C has no empty arrays, so an empty table gets an unused entry.
fn table(out: &mut String, kind: &str, name: &str, entries: impl Iterator<Item = String>) {
    let mut entries: Vec<String> = entries.collect();
    if entries.is_empty() {
        entries.push("0".into());
    }
    let lines: Vec<String> = entries.chunks(LINE_ENTRIES).map(|entries| entries.join(", ")).collect();
    let _ = writeln!(out, "static const {kind} {name}[] = {{\n    {}\n}};", lines.join(",\n    "));
}

/// Reads the tables.
pub(crate) fn read(bytes: &[u8]) -> Result<Model, FormatError> {
    let text = String::from_utf8_lossy(bytes);
    let missing = |what: &str| FormatError::Line { format: FORMAT, line: 1, problem: format!("there is no {what}") };
    let after = |start: &str, end: char| {
        let at = text.find(start)? + start.len();
        text[at..].split(end).next()
    };
    let numbers = |name: &str| {
        let body = after(&format!(" {name}[] = {{"), '}').ok_or_else(|| missing(name))?;
        body.split(',').map(|word| word.trim().parse::<f64>().map_err(|_| missing(name))).collect::<Result<Vec<_>, _>>()
    };
    let (features, thresholds, rules) = (numbers("feature")?, numbers("threshold")?, numbers("rule")?);
    let (lefts, rights, leaves) = (numbers("left")?, numbers("right")?, numbers("leaf")?);
    let base_score =
        after("base_score = ", ';').and_then(|word| word.parse().ok()).ok_or_else(|| missing("base_score"))?;
    let mut trees = Vec::new();
    for root in numbers("root")? {
        let mut nodes = Vec::new();
        // Cyclic tables would never end; no tree has more nodes than the tables.
        let mut open = vec![(root, None)];
        while let Some((code, edge)) = open.pop() {
            let place = nodes.len();
            if place > leaves.len() + lefts.len() {
                return Err(missing("end of a tree"));
            }
            if code < 0.0 {
                let value = *leaves.get((-1.0 - code) as usize).ok_or_else(|| missing("leaf of this number"))?;
                nodes.push(DraftNode::Leaf { value, cover: 0.0 });
            } else {
                let at = |list: &[f64]| list.get(code as usize).copied().ok_or_else(|| missing("node of this number"));
                let rule = at(&rules)? as u8;
                nodes.push(DraftNode::Split(Split {
                    feature: at(&features)? as u32,
                    threshold: if rule == IS_THERE { f64::MAX } else { at(&thresholds)? },
                    missing_left: rule == MISSING_LEFT,
                    left: 0,
                    right: 0,
                    gain: 0.0,
                    count: 0,
                }));
                open.push((at(&rights)?, Some((place, true))));
                open.push((at(&lefts)?, Some((place, false))));
            }
            if let Some((parent, is_right)) = edge
                && let DraftNode::Split(split) = &mut nodes[parent]
            {
                let split: &mut Split = split;
                *(if is_right { &mut split.right } else { &mut split.left }) = place;
            }
        }
        trees.push(nodes);
    }
    reading::model(trees, Precision::F64, base_score)
}
