//! Neural models as graphs of standard operators, from `values` to `scores`: a row for each document of one list.
//!
//! ```text
//! values -> columns of the features -> inputs, in f64 as we make them -> layers in f32 -> scores
//! ```
//!
//! Layers follow the steps of the network. Attention has a softmax over all rows, so a list must be scored on its own.

use rankwise_model::neural::layers::{EPSILON, inverse_deviation};
use rankwise_model::neural::{Inputs, MAX_INPUT, Scaler, Step};
use rankwise_model::{Model, NeuralRanker, Precision};

use super::graph::{Constant, Graph, Kind};
use crate::export::lowered::LAST_FEATURE;
use crate::export::{ExportError, ExportOptions, Target};

/// Below this size, the logarithm of 1 + x is computed from its series, as 1 + x would lose digits.
const SMALL: f64 = 1e-5;

/// Writes the graph, with the number of columns of its input.
pub(crate) fn write(model: &Model, neural: &NeuralRanker, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let target = Target::Onnx;
    if model.precision() == Precision::F64 && !options.allow_rounding {
        return Err(ExportError::Rounding { target });
    }
    if let Some(feature) = model.features().iter().find(|feature| **feature > LAST_FEATURE) {
        return Err(ExportError::Feature { target, feature: *feature, first: 0, last: LAST_FEATURE });
    }
    let needed = model.features().last().map_or(1, |last| last + 1);
    let n_columns = options.n_columns.unwrap_or(needed);
    if !(needed..=LAST_FEATURE + 1).contains(&n_columns) {
        return Err(ExportError::Columns { given: n_columns, needed, most: LAST_FEATURE + 1 });
    }
    let mut writer = Writer { graph: Graph::default() };
    let columns: Vec<i64> = model.features().iter().map(|feature| i64::from(*feature)).collect();
    let values = writer.gather(&"values".into(), &columns);
    let inputs = writer.inputs(&values, neural.inputs());
    writer.steps(inputs, neural);
    Ok(writer.graph.to_bytes(n_columns as usize))
}

struct Writer {
    graph: Graph,
}

/// The name of an intermediate result.
type Name = String;

impl Writer {
    fn node(&mut self, operator: &'static str, inputs: &[&Name]) -> Name {
        self.graph.node(operator, inputs, &[])
    }

    fn row(&mut self, kind: Kind, values: Vec<f64>) -> Name {
        self.graph.constant(Constant { kind, rows: 1, columns: values.len(), values })
    }

    fn number(&mut self, kind: Kind, value: f64) -> Name {
        self.row(kind, vec![value])
    }

    /// Columns of a matrix, by their places.
    fn gather(&mut self, matrix: &Name, places: &[i64]) -> Name {
        let places = self.graph.places(places);
        self.graph.node("Gather", &[matrix, &places], &[("axis", 1)])
    }

    fn cast(&mut self, matrix: &Name, kind: Kind) -> Name {
        self.graph.node("Cast", &[matrix], &[("to", kind.number())])
    }

    /// No smaller and no larger than some numbers.
    fn clamp(&mut self, matrix: &Name, kind: Kind, size: f64) -> Name {
        let (low, high) = (self.number(kind, -size), self.number(kind, size));
        let above = self.node("Max", &[matrix, &low]);
        self.node("Min", &[&above, &high])
    }

    /// What [`Inputs::rows`] computes.
    fn inputs(&mut self, values: &Name, inputs: &Inputs) -> Name {
        let transform = inputs.transform();
        let is_missing = self.node("IsNaN", &[values]);
        let zero = self.number(Kind::Double, 0.0);
        let wide = self.cast(values, Kind::Double);
        // Infinite values have been rounded to f32.
        let present = self.node("Where", &[&is_missing, &zero, &wide]);
        let present = self.clamp(&present, Kind::Double, f64::from(f32::MAX));
        let logged = if transform.is_log() { self.logged(&present) } else { present };
        let within = if transform.is_by_query() { self.within(&logged, &is_missing) } else { logged };
        let of_scales =
            |number: fn(&rankwise_model::FeatureScale) -> f64| transform.scales().iter().map(number).collect();
        let centres = self.row(Kind::Double, of_scales(|scale| scale.center));
        let factors = self.row(Kind::Double, of_scales(|scale| scale.factor));
        let fills = self.row(Kind::Double, of_scales(|scale| f64::from(scale.fill)));
        let centred = self.node("Sub", &[&within, &centres]);
        let scaled = self.node("Mul", &[&centred, &factors]);
        let filled = self.node("Where", &[&is_missing, &fills, &scaled]);
        let limited = self.clamp(&filled, Kind::Double, f64::from(MAX_INPUT));
        let narrow = self.cast(&limited, Kind::Float);
        if inputs.missing().is_empty() {
            return narrow;
        }
        let flags = self.cast(&is_missing, Kind::Float);
        let places: Vec<i64> = inputs.missing().iter().map(|place| i64::from(*place)).collect();
        let flags = self.gather(&flags, &places);
        self.graph.node("Concat", &[&narrow, &flags], &[("axis", 1)])
    }

    /// sign(x) ln(1 + |x|), also for small x.
    fn logged(&mut self, values: &Name) -> Name {
        let size = self.node("Abs", &[values]);
        let (one, half, third) =
            (self.number(Kind::Double, 1.0), self.number(Kind::Double, 0.5), self.number(Kind::Double, 1.0 / 3.0));
        let more = self.node("Add", &[&size, &one]);
        let log = self.node("Log", &[&more]);
        // x - x^2 (1/2 - x / 3)
        let part = self.node("Mul", &[&size, &third]);
        let part = self.node("Sub", &[&half, &part]);
        let square = self.node("Mul", &[&size, &size]);
        let part = self.node("Mul", &[&square, &part]);
        let series = self.node("Sub", &[&size, &part]);
        let small = self.number(Kind::Double, SMALL);
        let is_small = self.node("Less", &[&size, &small]);
        let log = self.node("Where", &[&is_small, &series, &log]);
        let sign = self.node("Sign", &[values]);
        self.node("Mul", &[&sign, &log])
    }

    /// The place of values in the range of the list.
    fn within(&mut self, values: &Name, is_missing: &Name) -> Name {
        let (most, least) = (self.number(Kind::Double, f64::MAX), self.number(Kind::Double, f64::MIN));
        let (half, zero, one) =
            (self.number(Kind::Double, 0.5), self.number(Kind::Double, 0.0), self.number(Kind::Double, 1.0));
        let low = self.node("Where", &[is_missing, &most, values]);
        let low = self.graph.node("ReduceMin", &[&low], &[("axes", 0), ("keepdims", 1)]);
        let high = self.node("Where", &[is_missing, &least, values]);
        let high = self.graph.node("ReduceMax", &[&high], &[("axes", 0), ("keepdims", 1)]);
        let [values, low, high] = [values, &low, &high].map(|name| self.node("Mul", &[name, &half]));
        let width = self.node("Sub", &[&high, &low]);
        let has_width = self.node("Greater", &[&width, &zero]);
        let divisor = self.node("Where", &[&has_width, &width, &one]);
        let above = self.node("Sub", &[&values, &low]);
        let share = self.node("Div", &[&above, &divisor]);
        self.node("Where", &[&has_width, &share, &zero])
    }

    fn steps(&mut self, inputs: Name, neural: &NeuralRanker) {
        let (mut values, mut kept) = (inputs, Name::new());
        let weights = |place: std::ops::Range<usize>| neural.weights()[place].iter().map(|value| f64::from(*value));
        for step in neural.architecture().steps() {
            values = match step {
                Step::Linear(linear) => {
                    let matrix = self.graph.constant(Constant {
                        kind: Kind::Float,
                        rows: linear.inputs,
                        columns: linear.outputs,
                        values: weights(linear.weights()).collect(),
                    });
                    let bias = self.row(Kind::Float, weights(linear.bias()).collect());
                    let product = self.node("MatMul", &[&values, &matrix]);
                    self.node("Add", &[&product, &bias])
                }
                Step::Norm(scaler) => {
                    let standard = self.standard(&values, &scaler, neural);
                    let scale = self.row(Kind::Float, weights(scaler.scale()).collect());
                    let shift = self.row(Kind::Float, weights(scaler.shift()).collect());
                    let scaled = self.node("Mul", &[&standard, &scale]);
                    self.node("Add", &[&scaled, &shift])
                }
                Step::Relu => self.node("Relu", &[&values]),
                Step::Attend { width, heads } => self.attend(&values, width, heads),
                Step::Join => self.node("Add", &[&values, &kept]),
                Step::Fork => {
                    kept.clone_from(&values);
                    values
                }
                Step::Dropout => values,
            };
        }
        self.graph.node_named("Identity", &[&values], &[], "scores");
    }

    /// Activations with mean 0 and deviation 1.
    fn standard(&mut self, values: &Name, scaler: &Scaler, neural: &NeuralRanker) -> Name {
        if let Some(running) = scaler.running() {
            let (means, variances) = neural.running()[running].split_at(scaler.width);
            let means = self.row(Kind::Float, means.iter().map(|mean| f64::from(*mean)).collect());
            let inverses = variances.iter().map(|variance| f64::from(inverse_deviation(*variance))).collect();
            let inverses = self.row(Kind::Float, inverses);
            let centred = self.node("Sub", &[values, &means]);
            return self.node("Mul", &[&centred, &inverses]);
        }
        let mean_of_row = [("axes", 1), ("keepdims", 1)];
        let mean = self.graph.node("ReduceMean", &[values], &mean_of_row);
        let centred = self.node("Sub", &[values, &mean]);
        let squares = self.node("Mul", &[&centred, &centred]);
        let variance = self.graph.node("ReduceMean", &[&squares], &mean_of_row);
        let epsilon = self.number(Kind::Float, f64::from(EPSILON));
        let variance = self.node("Add", &[&variance, &epsilon]);
        let deviation = self.node("Sqrt", &[&variance]);
        self.node("Div", &[&centred, &deviation])
    }

    fn attend(&mut self, values: &Name, width: usize, heads: usize) -> Name {
        let of_head = width / heads;
        let factor = self.number(Kind::Float, f64::from(1.0 / (of_head as f32).sqrt()));
        let mut results = Vec::new();
        for head in 0..heads {
            let part = |number: usize| {
                let first = number * width + head * of_head;
                (first..first + of_head).map(|place| place as i64).collect::<Vec<i64>>()
            };
            let [queries, keys, values] = [0, 1, 2].map(|number| self.gather(values, &part(number)));
            let keys = self.node("Transpose", &[&keys]);
            let products = self.node("MatMul", &[&queries, &keys]);
            let products = self.node("Mul", &[&products, &factor]);
            let shares = self.graph.node("Softmax", &[&products], &[("axis", 1)]);
            results.push(self.node("MatMul", &[&shares, &values]));
        }
        let results: Vec<&Name> = results.iter().collect();
        self.graph.node("Concat", &results, &[("axis", 1)])
    }
}
