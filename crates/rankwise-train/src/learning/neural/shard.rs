//! A part of a batch: some queries, whose documents go through the steps of a network and back.

use std::ops::Range;

use rankwise_data::{Dataset, DocKeys, Draw, Purpose};
use rankwise_model::neural::{Step, layers};

use super::backward;
use super::batch::Net;

/// What the random numbers of documents depend on, and how large they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Randomness {
    pub(super) seed: u64,
    pub(super) epoch: u32,
    /// Deviation of the noise on inputs.
    pub(super) noise: f64,
    /// Share of the activations that are dropped.
    pub(super) dropout: f64,
}

/// The difference between the keys of two draws for one document: as keys are hashes, they collide with those of other
/// documents only by chance.
const SAMPLE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Draws of one step at most.
const DRAWS_OF_STEP: u64 = 1 << 20;
/// Activations that one draw decides on: a draw has 128 bits, and each takes 16.
const UNITS_OF_DRAW: usize = 8;

/// What the way back needs from the way there.
#[derive(Debug)]
pub(super) enum Saved {
    Nothing,
    /// The activations before the step, or after it for those that only become 0.
    Values(Vec<f32>),
    /// Standardised activations, and the inverses of the deviations.
    Norm {
        standard: Vec<f32>,
        inverses: Vec<f32>,
    },
    /// What each activation was multiplied by.
    Factors(Vec<f32>),
}

/// Some queries on their way.
pub(super) struct Shard<'a> {
    data: &'a Dataset,
    /// Indices of the queries.
    pub(super) queries: Vec<usize>,
    /// The rows of each query within the shard.
    bounds: Vec<usize>,
    randomness: Randomness,
    /// The activations, or on the way back the gradient by them: a row for each document.
    pub(super) values: Vec<f32>,
    /// Those at the last fork; on the way back, the gradient at the last join.
    kept: Vec<f32>,
    /// By step.
    pub(super) saved: Vec<Saved>,
    /// The gradient by the weights.
    pub(super) gradient: Vec<f32>,
}

impl<'a> Shard<'a> {
    /// Starts with the inputs of the queries, plus noise.
    pub(super) fn new(data: &'a Dataset, queries: Vec<usize>, inputs: &[Vec<f32>], randomness: Randomness) -> Self {
        let (mut bounds, mut values) = (vec![0], Vec::new());
        let draw = Draw::new(randomness.seed, Purpose::InputNoise, randomness.epoch);
        for query in &queries {
            let rows = data.query_rows(*query);
            bounds.push(bounds[bounds.len() - 1] + rows.len());
            let start = values.len();
            values.extend_from_slice(&inputs[*query]);
            if randomness.noise > 0.0 {
                add_noise(&draw, data.doc_keys(rows), randomness.noise, &mut values[start..]);
            }
        }
        Self { data, queries, bounds, randomness, values, kept: Vec::new(), saved: Vec::new(), gradient: Vec::new() }
    }

    pub(super) fn n_docs(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    /// The rows of each query within the shard.
    pub(super) fn rows(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.bounds.array_windows().map(|[start, end]| *start..*end)
    }

    /// Takes a step, other than batch norm.
    pub(super) fn forward(&mut self, net: &Net<'_>, number: usize) {
        let saved = match &net.steps[number] {
            Step::Linear(linear) => {
                let (weights, bias) = (&net.weights[linear.weights()], &net.weights[linear.bias()]);
                let out = layers::linear(net.level, &self.values, weights, bias);
                Saved::Values(std::mem::replace(&mut self.values, out))
            }
            Step::Norm(scaler) => {
                let inverses = self.values.chunks_exact_mut(scaler.width).map(layers::standardise).collect();
                let standard = self.values.clone();
                layers::scale(&mut self.values, &net.weights[scaler.scale()], &net.weights[scaler.shift()]);
                Saved::Norm { standard, inverses }
            }
            Step::Relu => {
                layers::relu(&mut self.values);
                Saved::Values(self.values.clone())
            }
            Step::Dropout => self.drop_out(number),
            Step::Attend { width, heads } => {
                let of_query = |rows: Range<usize>| {
                    layers::attend(
                        net.level,
                        &self.values[rows.start * 3 * width..rows.end * 3 * width],
                        *width,
                        *heads,
                    )
                };
                let out = self.rows().flat_map(of_query).collect();
                Saved::Values(std::mem::replace(&mut self.values, out))
            }
            Step::Fork => {
                self.kept.clone_from(&self.values);
                Saved::Nothing
            }
            Step::Join => {
                self.add_kept();
                Saved::Nothing
            }
        };
        self.saved.push(saved);
    }

    /// Takes the last step back.
    pub(super) fn backward(&mut self, net: &Net<'_>, number: usize) {
        let saved = self.saved.pop().expect("each step has saved something");
        match (&net.steps[number], saved) {
            (Step::Linear(linear), Saved::Values(inputs)) => {
                let (weights, bias) = (linear.weights(), linear.bias());
                let out = &mut self.gradient[weights.start..bias.end];
                let (of_weights, of_bias) = out.split_at_mut(weights.len());
                backward::linear(net.level, &inputs, &self.values, of_weights, of_bias);
                // Nothing comes before the first step.
                if number > 0 {
                    self.values = backward::inputs(net.level, &self.values, &net.transposed[weights], linear.outputs);
                }
            }
            (Step::Norm(scaler), Saved::Norm { standard, inverses }) => {
                let out = &mut self.gradient[scaler.scale().start..scaler.shift().end];
                let (of_scale, of_shift) = out.split_at_mut(scaler.width);
                backward::scale(&net.weights[scaler.scale()], &standard, &mut self.values, of_scale, of_shift);
                let rows = self.values.chunks_exact_mut(scaler.width).zip(standard.chunks_exact(scaler.width));
                rows.zip(inverses).for_each(|((slopes, row), inverse)| backward::standardise(row, inverse, slopes));
            }
            (Step::Relu, Saved::Values(out)) => {
                self.values.iter_mut().zip(out).for_each(|(slope, out)| *slope = if out > 0.0 { *slope } else { 0.0 });
            }
            (Step::Dropout, Saved::Factors(factors)) => {
                self.values.iter_mut().zip(factors).for_each(|(slope, factor)| *slope *= factor);
            }
            (Step::Attend { width, heads }, Saved::Values(activations)) => {
                let of_query = |rows: Range<usize>| {
                    let activations = &activations[rows.start * 3 * width..rows.end * 3 * width];
                    let slopes = &self.values[rows.start * width..rows.end * width];
                    backward::attend(net.level, activations, slopes, *width, *heads)
                };
                self.values = self.rows().flat_map(of_query).collect();
            }
            (Step::Join, _) => self.kept.clone_from(&self.values),
            (Step::Fork, _) => self.add_kept(),
            (_, saved) => debug_assert!(matches!(saved, Saved::Nothing), "{saved:?}"),
        }
    }

    fn add_kept(&mut self) {
        self.values.iter_mut().zip(&self.kept).for_each(|(value, kept)| *value += kept);
    }

    /// Drops activations, and multiplies the others, so that the mean stays.
    fn drop_out(&mut self, number: usize) -> Saved {
        let Randomness { seed, epoch, dropout, .. } = self.randomness;
        if dropout == 0.0 {
            return Saved::Nothing;
        }
        let draw = Draw::new(seed, Purpose::UnitDropout, epoch);
        let (least, factor) = ((dropout * 65536.0) as u32, (1.0 / (1.0 - dropout)) as f32);
        let width = self.values.len() / self.n_docs().max(1);
        let mut factors = vec![0.0; self.values.len()];
        let mut rows = factors.chunks_exact_mut(width);
        for query in &self.queries {
            let docs = self.data.query_rows(*query);
            let keys = self.data.doc_keys(docs.clone());
            for (doc, row) in (0..docs.len()).zip(rows.by_ref()) {
                let (key, ordinal) = keys.of(doc);
                for (block, units) in row.chunks_mut(UNITS_OF_DRAW).enumerate() {
                    let sample = number as u64 * DRAWS_OF_STEP + block as u64;
                    let words = draw.bits(key.wrapping_add(SAMPLE_STEP.wrapping_mul(sample)), ordinal);
                    for (unit, out) in units.iter_mut().enumerate() {
                        let bits = words[unit / 2] >> (unit % 2 * 16) & 0xffff;
                        *out = if bits >= least { factor } else { 0.0 };
                    }
                }
            }
        }
        self.values.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);
        Saved::Factors(factors)
    }
}

fn add_noise(draw: &Draw, keys: DocKeys<'_>, deviation: f64, rows: &mut [f32]) {
    // There is no query without documents.
    let n_inputs = rows.len() / keys.n_docs();
    for (doc, row) in rows.chunks_exact_mut(n_inputs).enumerate() {
        let (key, ordinal) = keys.of(doc);
        for (pair, inputs) in row.chunks_mut(2).enumerate() {
            let normals = draw.normals(key.wrapping_add(SAMPLE_STEP.wrapping_mul(pair as u64)), ordinal);
            inputs.iter_mut().zip(normals).for_each(|(input, normal)| *input += (deviation * normal) as f32);
        }
    }
}
