//! Shared by targets that nest nodes in their parents.

use serde::Deserialize as _;

use super::lowered::{Lowered, Node};
use super::{ExportError, Target};
use crate::FormatError;
use crate::value::Value;

/// JSON readers stop at 1,000 nested brackets, and each level of the dump has two.
const MAX_DEPTH: usize = 400;

/// Rejects trees that are too deep for readers.
pub(crate) fn check_depths(lowered: &Lowered, target: Target) -> Result<(), ExportError> {
    for (tree, nodes) in lowered.trees.iter().enumerate() {
        let mut depths = vec![0; nodes.len()];
        for (place, node) in nodes.iter().enumerate() {
            if let Node::Split(split) = node {
                depths[split.left] = depths[place] + 1;
                depths[split.right] = depths[place] + 1;
            }
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(ExportError::Depth { target, tree, depth, most: MAX_DEPTH });
        }
    }
    Ok(())
}

/// Reads JSON that we wrote, of any depth.
pub(crate) fn read_json(format: &'static str, bytes: &[u8]) -> Result<Value, FormatError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    Value::deserialize(&mut reader).map_err(|error| FormatError::Line {
        format,
        line: error.line(),
        problem: error.to_string(),
    })
}

/// A name as a JSON string.
pub(crate) fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
