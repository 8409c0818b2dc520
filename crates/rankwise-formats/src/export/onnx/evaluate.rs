//! Runs the graphs of networks, to compare their scores with those of the model. Plain and slow: what each operator means,
//! rounded to the type of its result.

use std::collections::HashMap;

use super::FORMAT;
use super::graph::{Constant, Kind, Node, ReadGraph, read};
use crate::FormatError;

type Matrix = Constant;

/// The export of a neural model, read again.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkReading {
    graph: ReadGraph,
    columns: Vec<usize>,
}

fn error(problem: &str) -> FormatError {
    FormatError::Field { format: FORMAT, field: "graph".into(), problem: problem.into() }
}

impl NetworkReading {
    /// Reads an ONNX file that [`export`](crate::export()) wrote for a neural model.
    pub fn new(bytes: &[u8]) -> Result<Self, FormatError> {
        let graph = read(bytes)?;
        let first = graph.nodes.first().filter(|node| node.operator == "Gather" && node.inputs[0] == "values");
        let columns = first.and_then(|node| graph.places.get(&node.inputs[1]).cloned());
        Ok(Self { columns: columns.ok_or_else(|| error("it does not begin with columns of the values"))?, graph })
    }

    /// The columns that it reads.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The scores of the documents of one list, given the values of these columns, document by document; NaN is missing.
    pub fn scores(&self, values: &[f32]) -> Result<Vec<f64>, FormatError> {
        let columns = self.columns.len();
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let values = values.iter().map(|value| f64::from(*value)).collect();
        let mut results: HashMap<&str, Matrix> = HashMap::new();
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let result = if number == 0 {
                Matrix { kind: Kind::Float, rows, columns, values: Vec::clone(&values) }
            } else {
                self.result(node, &results)?
            };
            results.insert(&node.output, rounded(result));
        }
        let scores = results.remove("scores").ok_or_else(|| error("there are no scores"))?;
        Ok(scores.values)
    }

    fn result(&self, node: &Node, results: &HashMap<&str, Matrix>) -> Result<Matrix, FormatError> {
        let input = |place: usize| {
            let name = node.inputs.get(place).ok_or_else(|| error("an operator lacks an input"))?;
            let found = results.get(name.as_str()).or_else(|| self.graph.constants.get(name));
            found.ok_or_else(|| error("an operator reads what nobody wrote"))
        };
        let first = input(0)?;
        let each = |of: fn(f64) -> f64| Matrix {
            values: first.values.iter().map(|value| of(*value)).collect(),
            ..first.clone()
        };
        let axis = |name: &str| node.attributes.get(name).copied();
        Ok(match node.operator.as_str() {
            "Identity" => first.clone(),
            "Abs" => each(f64::abs),
            "Log" => each(libm::log),
            "Sqrt" => each(f64::sqrt),
            "Relu" => each(|value| if value > 0.0 { value } else { 0.0 }),
            "Sign" => each(|value| if value == 0.0 { 0.0 } else { value.signum() }),
            "IsNaN" => each(|value| f64::from(u8::from(value.is_nan()))),
            "Cast" => {
                let kind = axis("to").and_then(Kind::of_number).ok_or_else(|| error("a type is unknown"))?;
                Matrix { kind, ..first.clone() }
            }
            "Add" => both(first, input(1)?, |a, b| a + b),
            "Sub" => both(first, input(1)?, |a, b| a - b),
            "Mul" => both(first, input(1)?, |a, b| a * b),
            "Div" => both(first, input(1)?, |a, b| a / b),
            "Max" => both(first, input(1)?, f64::max),
            "Min" => both(first, input(1)?, f64::min),
            "Less" => both(first, input(1)?, |a, b| f64::from(u8::from(a < b))),
            "Greater" => both(first, input(1)?, |a, b| f64::from(u8::from(a > b))),
            "Where" => {
                let (yes, no) = (input(1)?, input(2)?);
                let kind = yes.kind;
                let rows = first.rows.max(yes.rows).max(no.rows);
                let columns = first.columns.max(yes.columns).max(no.columns);
                let at = |place: usize| {
                    let (row, column) = (place / columns, place % columns);
                    if first.at(row, column) == 1.0 { yes.at(row, column) } else { no.at(row, column) }
                };
                Matrix { kind, rows, columns, values: (0..rows * columns).map(at).collect() }
            }
            "MatMul" => product(first, input(1)?),
            "Transpose" => first.transposed(),
            "Softmax" => first.by_row(softmax),
            "ReduceMean" => {
                let mean = |row: &[f64]| vec![row.iter().sum::<f64>() / row.len() as f64];
                Matrix { columns: 1, ..first.by_row(mean) }
            }
            "ReduceMin" => first.over_rows(f64::min),
            "ReduceMax" => first.over_rows(f64::max),
            "Gather" => {
                let places = self.graph.places.get(&node.inputs[1]).ok_or_else(|| error("there are no places"))?;
                if places.iter().any(|place| *place >= first.columns) {
                    return Err(error("a place is outside its matrix"));
                }
                let pick = |row: &[f64]| places.iter().map(|place| row[*place]).collect();
                Matrix { columns: places.len(), ..first.by_row(pick) }
            }
            "Concat" => {
                let parts: Vec<&Matrix> = (0..node.inputs.len()).map(input).collect::<Result<_, _>>()?;
                let row = |row: usize| parts.iter().flat_map(move |part| part.row(row)).copied();
                let columns = parts.iter().map(|part| part.columns).sum();
                Matrix { columns, values: (0..first.rows).flat_map(row).collect(), ..*first }
            }
            other => return Err(error(&format!("operator {other} is unknown"))),
        })
    }
}

impl Matrix {
    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// The value at a place, where one row or column stands for all.
    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row.min(self.rows - 1) * self.columns + column.min(self.columns - 1)]
    }

    fn by_row(&self, of: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Self { values: (0..self.rows).flat_map(|row| of(self.row(row))).collect(), ..*self }
    }

    fn over_rows(&self, join: fn(f64, f64) -> f64) -> Self {
        let column = |column: usize| (0..self.rows).map(|row| self.at(row, column)).reduce(join).unwrap_or(0.0);
        Self { rows: 1, values: (0..self.columns).map(column).collect(), ..*self }
    }

    fn transposed(&self) -> Self {
        let values = (0..self.columns).flat_map(|column| (0..self.rows).map(move |row| self.at(row, column)));
        Self { rows: self.columns, columns: self.rows, values: values.collect(), ..*self }
    }
}

fn both(first: &Matrix, second: &Matrix, join: fn(f64, f64) -> f64) -> Matrix {
    let (rows, columns) = (first.rows.max(second.rows), first.columns.max(second.columns));
    let at = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        join(first.at(row, column), second.at(row, column))
    };
    Matrix { kind: first.kind, rows, columns, values: (0..rows * columns).map(at).collect() }
}

fn product(first: &Matrix, second: &Matrix) -> Matrix {
    let mut values = vec![0.0; first.rows * second.columns];
    for (row, sums) in values.chunks_exact_mut(second.columns).enumerate() {
        for (place, factor) in first.row(row).iter().enumerate() {
            sums.iter_mut().zip(second.row(place)).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    Matrix { kind: first.kind, rows: first.rows, columns: second.columns, values }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::MIN, f64::max);
    let shares: Vec<f64> = row.iter().map(|value| libm::exp(value - largest)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

fn rounded(mut matrix: Matrix) -> Matrix {
    if matrix.kind == Kind::Float {
        matrix.values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use rankwise_model::neural::{Architecture, Inputs, Network, Norm};
    use rankwise_model::{AbsentFeature, FeatureScale, Header, Model, NeuralRanker, Precision, Transform};

    use super::*;
    use crate::{ExportError, ExportOptions, Target, export};

    fn numbers(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|place| ((place * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
    }

    fn model(network: Network, norm: Norm, is_by_query: bool) -> Model {
        let heads = if network == Network::Mlp { 1 } else { 2 };
        let architecture = Architecture { network, inputs: 5, hidden: 6, layers: 2, heads, norm };
        let scale = FeatureScale { fill: 0.25, center: 0.1, factor: 1.5 };
        let inputs = Inputs::new(Transform::new(true, is_by_query, vec![scale; 3]).unwrap(), vec![0, 2]).unwrap();
        let (n_weights, n_running) = architecture.sizes();
        let running = numbers(n_running, 2).iter().map(|number| number.abs()).collect();
        let ranker = NeuralRanker::new(architecture, inputs, numbers(n_weights, 1), running).unwrap();
        Model::new(Header::new(AbsentFeature::Missing, Precision::F32, vec![3, 7, 9]), ranker).unwrap()
    }

    #[test]
    fn exported_networks_give_the_scores_of_the_model() {
        for network in [Network::Mlp, Network::Attention] {
            for norm in [Norm::None, Norm::Layer, Norm::Batch] {
                for is_by_query in [false, true] {
                    let model = model(network, norm, is_by_query);
                    let bytes = export(&model, Target::Onnx, &ExportOptions::default()).unwrap();
                    let reading = NetworkReading::new(&bytes).unwrap();
                    assert_eq!(reading.columns(), [3, 7, 9]);
                    let mut values = numbers(3 * 20, 8);
                    (values[4], values[6], values[9]) = (f32::NAN, 1e-20, -1e30);
                    let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
                    let mut expected = vec![0.0; 20];
                    model.score_list(&wide, &mut expected);
                    for (found, expected) in reading.scores(&values).unwrap().iter().zip(expected) {
                        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
                    }
                    assert!(reading.scores(&[]).unwrap().is_empty());
                }
            }
        }
    }

    #[test]
    fn what_an_export_cannot_do_is_an_error() {
        let model = model(Network::Mlp, Norm::None, false);
        let narrow = ExportOptions { n_columns: Some(9), ..ExportOptions::default() };
        assert!(matches!(export(&model, Target::Onnx, &narrow), Err(ExportError::Columns { needed: 10, .. })));
        for target in Target::ALL.into_iter().filter(|target| *target != Target::Onnx) {
            assert!(
                matches!(export(&model, target, &ExportOptions::default()), Err(ExportError::Model(_))),
                "{target}"
            );
        }
        let bytes = export(&model, Target::Onnx, &ExportOptions::default()).unwrap();
        let whole = NetworkReading::new(&bytes).unwrap();
        for len in 0..bytes.len() {
            // Only what follows the graph may be missing.
            assert!(NetworkReading::new(&bytes[..len]).map_or(len < bytes.len(), |read| read == whole), "{len}");
        }
    }
}
