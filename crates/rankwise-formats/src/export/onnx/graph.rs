//! A graph of operators on matrices: written as an ONNX file, and read again.

use std::collections::HashMap;

use super::wire::{self, Message, Part};
use super::{FORMAT, IR_VERSION, OPSET_VERSION, integer, integers, matrix};
use crate::FormatError;

/// The type of the numbers of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Double,
}

impl Kind {
    /// Its number in the format.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Float => 1,
            Self::Double => 11,
        }
    }

    pub(crate) fn of_number(number: u64) -> Option<Self> {
        [Self::Float, Self::Double].into_iter().find(|kind| kind.number() == number as i64)
    }
}

/// The tensor type of places.
const INT64: u64 = 7;

/// A matrix of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) kind: Kind,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
}

/// An operator with the names of what it reads and writes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) operator: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) output: String,
    pub(crate) attributes: HashMap<String, u64>,
}

/// A graph from `values` to `scores`.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    /// Adds an operator, and names its result.
    pub(crate) fn node(&mut self, operator: &str, inputs: &[&String], attributes: &[(&str, i64)]) -> String {
        let name = format!("{}{}", operator.to_lowercase(), self.nodes.len());
        self.node_named(operator, inputs, attributes, &name);
        name
    }

    pub(crate) fn node_named(&mut self, operator: &str, inputs: &[&String], attributes: &[(&str, i64)], name: &str) {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        node.text(2, name).text(3, name).text(4, operator);
        for (name, value) in attributes {
            // The one that is a list.
            let attribute = if *name == "axes" { integers(name, &[*value]) } else { integer(name, *value as u64) };
            node.message(5, &attribute);
        }
        self.nodes.push(node);
    }

    /// Adds a matrix.
    pub(crate) fn constant(&mut self, constant: Constant) -> String {
        let Constant { kind, rows, columns, values } = constant;
        let bytes: Vec<u8> = match kind {
            Kind::Float => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
            Kind::Double => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        self.tensor(&[rows as i64, columns as i64], kind.number() as u64, &bytes)
    }

    /// Adds a list of places.
    pub(crate) fn places(&mut self, places: &[i64]) -> String {
        let bytes: Vec<u8> = places.iter().flat_map(|place| place.to_le_bytes()).collect();
        self.tensor(&[places.len() as i64], INT64, &bytes)
    }

    fn tensor(&mut self, sizes: &[i64], kind: u64, bytes: &[u8]) -> String {
        let name = format!("constant{}", self.constants.len());
        let mut tensor = Message::default();
        tensor.integers(1, sizes).integer(2, kind).text(8, &name).bytes(9, bytes);
        self.constants.push(tensor);
        name
    }

    /// The file, for values with this number of columns.
    pub(crate) fn to_bytes(&self, n_columns: usize) -> Vec<u8> {
        let mut graph = Message::default();
        self.nodes.iter().for_each(|node| {
            graph.message(1, node);
        });
        graph.text(2, "rankwise");
        self.constants.iter().for_each(|constant| {
            graph.message(5, constant);
        });
        graph.message(11, &matrix("values", n_columns)).message(12, &matrix("scores", 1));
        let mut import = Message::default();
        import.text(1, "").integer(2, OPSET_VERSION);
        let mut model = Message::default();
        model.integer(1, IR_VERSION).text(2, "rankwise").message(7, &graph).message(8, &import);
        model.into_bytes()
    }
}

/// What a file has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadGraph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: HashMap<String, Constant>,
    pub(crate) places: HashMap<String, Vec<usize>>,
}

fn error(problem: &str) -> FormatError {
    FormatError::Field { format: FORMAT, field: "graph".into(), problem: problem.into() }
}

/// Reads a file with such a graph.
pub(crate) fn read(bytes: &[u8]) -> Result<ReadGraph, FormatError> {
    let graph = Part::all(bytes)?.find(7).ok_or_else(|| error("there is no graph"))?;
    let graph = Part::all(graph)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| error("a name is no text"));
    let mut read = ReadGraph { nodes: Vec::new(), constants: HashMap::new(), places: HashMap::new() };
    for node in graph.every(1) {
        let parts = Part::all(node)?;
        let mut attributes = HashMap::new();
        for attribute in parts.every(5) {
            let attribute = Part::all(attribute)?;
            let listed = wire::integers(attribute.find(8).unwrap_or_default())?.first().copied();
            let value = listed.or_else(|| attribute.number(3)).ok_or_else(|| error("an attribute has no value"))?;
            attributes.insert(text(attribute.find(1).unwrap_or_default())?, value);
        }
        read.nodes.push(Node {
            operator: text(parts.find(4).unwrap_or_default())?,
            inputs: parts.every(1).into_iter().map(text).collect::<Result<_, _>>()?,
            output: text(parts.find(2).unwrap_or_default())?,
            attributes,
        });
    }
    for tensor in graph.every(5) {
        let parts = Part::all(tensor)?;
        let name = text(parts.find(8).unwrap_or_default())?;
        let sizes = wire::integers(parts.find(1).unwrap_or_default())?;
        let (kind, bytes) = (parts.number(2).unwrap_or_default(), parts.find(9).unwrap_or_default());
        let wide = bytes.as_chunks::<8>().0;
        match (Kind::of_number(kind), &sizes[..]) {
            (None, [_]) if kind == INT64 => {
                read.places.insert(name, wide.iter().map(|bytes| u64::from_le_bytes(*bytes) as usize).collect());
            }
            (Some(kind), [rows, columns]) => {
                let values: Vec<f64> = match kind {
                    Kind::Float => wire::floats(bytes)?.into_iter().map(f64::from).collect(),
                    Kind::Double => wide.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
                };
                if rows.checked_mul(*columns) != Some(values.len() as u64) {
                    return Err(error("a constant has another size than its values"));
                }
                let (rows, columns) = (*rows as usize, *columns as usize);
                read.constants.insert(name, Constant { kind, rows, columns, values });
            }
            _ => return Err(error("a constant is no matrix")),
        }
    }
    Ok(read)
}
