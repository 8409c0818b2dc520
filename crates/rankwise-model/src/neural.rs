//! Neural models: a network of layers over [`Inputs`] that are made from feature values.
//!
//! The steps of the network are in [`architecture`](Architecture), the layers in [`layers`]. Everything is f32, in a
//! fixed order of operations and without fused multiply-add, so that all machines give the same bits. A network with
//! attention first sorts the documents of a list by their inputs, so that sums over documents do not depend on the order
//! of the list.

mod architecture;
mod inputs;
pub mod layers;

use std::cmp::Ordering;

use rankwise_simd::SimdLevel;
use serde::{Deserialize, Serialize};

pub use self::architecture::{Architecture, Linear, Network, Norm, Scaler, Step, Tensor};
pub use self::inputs::{Inputs, MAX_INPUT};
use crate::file::{Body, Contents, file_fields, json};
use crate::{ModelError, Ranker};

/// The name of this kind in the model file.
pub(crate) const KIND: &str = "neural";
/// The first file version that can represent it.
pub(crate) const FIRST_VERSION: u64 = 8;
/// Documents that a network without attention scores at a time.
const DOCS_AT_A_TIME: usize = 256;

/// A network with its weights, and how values become its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct NeuralRanker {
    architecture: Architecture,
    inputs: Inputs,
    weights: Vec<f32>,
    running: Vec<f32>,
    steps: Vec<Step>,
}

impl NeuralRanker {
    /// `weights` and `running` (the means and variances of batch norm) are in the order of the steps, as
    /// [`Architecture::tensors`] says.
    pub fn new(
        architecture: Architecture,
        inputs: Inputs,
        weights: Vec<f32>,
        running: Vec<f32>,
    ) -> Result<Self, ModelError> {
        architecture.check()?;
        inputs.check()?;
        let refused = |problem: String| Err(ModelError::Content { problem });
        if architecture.inputs != inputs.width() {
            let (expected, found) = (architecture.inputs, inputs.width());
            return refused(format!("the network has {expected} inputs, but values make {found}"));
        }
        if weights.len() < architecture.least_weights() || (weights.len(), running.len()) != architecture.sizes() {
            return refused(format!("{} weights are not those of the network", weights.len()));
        }
        if weights.iter().chain(&running).any(|number| !number.is_finite()) {
            return refused("a weight is not a finite number".into());
        }
        let is_variance = |tensor: &Tensor| tensor.is_running && tensor.name.ends_with("variance");
        let mut variances = architecture.tensors().into_iter().filter(is_variance);
        if variances.any(|tensor| running[tensor.place].iter().any(|variance| *variance < 0.0)) {
            return refused("a variance is negative".into());
        }
        Ok(Self { steps: architecture.steps(), architecture, inputs, weights, running })
    }

    /// The kind and the sizes of the network.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// How values become inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The weights of all steps.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The means and variances of batch norm.
    pub fn running(&self) -> &[f32] {
        &self.running
    }

    /// Whether the score of a document depends on the other documents of its list.
    pub fn is_listwise(&self) -> bool {
        self.architecture.network == Network::Attention || self.inputs.transform.is_by_query()
    }

    /// The scores of the documents of a list, given their rounded values, one document after the other.
    pub(crate) fn score_list(&self, values: &[f64], scores: &mut [f64]) {
        let level = SimdLevel::from_env().unwrap_or_else(|_| SimdLevel::best());
        self.score_inputs(level, &self.inputs.rows(values), scores);
    }

    /// The scores of the documents of a list, given their inputs.
    pub fn score_inputs(&self, level: SimdLevel, inputs: &[f32], scores: &mut [f64]) {
        let n_inputs = self.architecture.inputs;
        let row = |doc: usize| &inputs[doc * n_inputs..][..n_inputs];
        let mut order: Vec<usize> = (0..scores.len()).collect();
        let at_a_time = match self.architecture.network {
            Network::Mlp => DOCS_AT_A_TIME,
            Network::Attention => {
                order.sort_by(|a, b| row(*a).partial_cmp(row(*b)).unwrap_or(Ordering::Equal));
                scores.len().max(1)
            }
        };
        for docs in order.chunks(at_a_time) {
            let rows: Vec<f32> = docs.iter().flat_map(|doc| row(*doc)).copied().collect();
            for (doc, score) in docs.iter().zip(self.run(level, rows, docs.len())) {
                scores[*doc] = finite(score);
            }
        }
    }

    /// Walks the steps.
    fn run(&self, level: SimdLevel, inputs: Vec<f32>, n_docs: usize) -> Vec<f32> {
        let (mut values, mut kept) = (inputs, Vec::new());
        for step in &self.steps {
            match step {
                // Documents without inputs still have biases.
                Step::Linear(linear) if linear.inputs == 0 => values = self.weights[linear.bias()].repeat(n_docs),
                Step::Linear(linear) => {
                    let (weights, bias) = (&self.weights[linear.weights()], &self.weights[linear.bias()]);
                    values = layers::linear(level, &values, weights, bias);
                }
                Step::Norm(scaler) => self.normalise(scaler, &mut values),
                Step::Relu => layers::relu(&mut values),
                Step::Dropout => {}
                Step::Attend { width, heads } => values = layers::attend(level, &values, *width, *heads),
                Step::Fork => kept.clone_from(&values),
                Step::Join => values.iter_mut().zip(&kept).for_each(|(value, kept)| *value += kept),
            }
        }
        values
    }

    fn normalise(&self, scaler: &Scaler, values: &mut [f32]) {
        match scaler.running() {
            None => values.chunks_exact_mut(scaler.width).for_each(|row| {
                layers::standardise(row);
            }),
            Some(running) => {
                let (means, variances) = self.running[running].split_at(scaler.width);
                let inverses: Vec<f32> = variances.iter().map(|value| layers::inverse_deviation(*value)).collect();
                for row in values.chunks_exact_mut(scaler.width) {
                    let numbers = row.iter_mut().zip(means).zip(&inverses);
                    numbers.for_each(|((value, mean), inverse)| *value = (*value - mean) * inverse);
                }
            }
        }
        layers::scale(values, &self.weights[scaler.scale()], &self.weights[scaler.shift()]);
    }

    /// Checks that inputs are made from this many features.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), ModelError> {
        self.inputs.transform.check(n_features)
    }

    pub(crate) fn body(&self) -> Body {
        let entry = |tensor: Tensor| {
            let from = if tensor.is_running { &self.running } else { &self.weights };
            json(&Entry { name: tensor.name, values: from[tensor.place].to_vec() })
        };
        Body {
            version: FIRST_VERSION,
            fields: vec![("network", json(&self.architecture)), ("inputs", json(&self.inputs))],
            list: ("tensors", self.architecture.tensors().into_iter().map(entry).collect()),
        }
    }
}

impl From<NeuralRanker> for Ranker {
    fn from(neural: NeuralRanker) -> Self {
        Self::Neural(neural)
    }
}

/// Weights may be so large that activations overflow.
fn finite(score: f32) -> f64 {
    if score.is_nan() { 0.0 } else { f64::from(score.clamp(f32::MIN, f32::MAX)) }
}

/// A tensor in the model file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    values: Vec<f32>,
}

file_fields! {
    File { network: Architecture, inputs: Inputs, }
    tensors: Entry
}

/// Reads the model file of a neural ranker.
pub(crate) fn read(bytes: &[u8]) -> Result<Contents, ModelError> {
    File::read(bytes, |architecture, inputs, entries| {
        architecture.check()?;
        let n_numbers = entries.iter().map(|entry| entry.values.len()).sum::<usize>();
        // Checked first, because steps of a damaged size would fill the memory.
        if n_numbers < architecture.least_weights() {
            return Err(ModelError::Content { problem: "the tensors are smaller than the network".into() });
        }
        let (mut weights, mut running) = (Vec::new(), Vec::new());
        let tensors = architecture.tensors();
        if tensors.len() != entries.len() {
            let problem = format!("there are {} tensors, but the network has {}", entries.len(), tensors.len());
            return Err(ModelError::Content { problem });
        }
        for (tensor, entry) in tensors.into_iter().zip(entries) {
            if (&tensor.name, tensor.place.len()) != (&entry.name, entry.values.len()) {
                let problem =
                    format!("tensor '{}' with {} values is not one of the network", entry.name, entry.values.len());
                return Err(ModelError::Content { problem });
            }
            if tensor.is_running { &mut running } else { &mut weights }.extend(entry.values);
        }
        Ok(NeuralRanker::new(architecture, inputs, weights, running)?.into())
    })
}

#[cfg(test)]
mod tests;
