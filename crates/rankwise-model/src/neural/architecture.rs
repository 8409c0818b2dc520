//! What a network consists of: its steps, and where the weights of each are.
//!
//! ```text
//! mlp         (linear, norm, relu, dropout) x layers, linear to the score
//! attention   linear, block x layers, norm, linear to the score
//!             block = fork, norm, linear to queries, keys and values, attend, linear, dropout, join,
//!                     fork, norm, linear to twice the units, relu, dropout, linear, dropout, join
//! ```
//!
//! A fork keeps the activations, and the next join adds them (He et al. 2016). Blocks are those of Vaswani et al. (2017)
//! with the norm first, and without the positions of documents, so that the order of a list does not matter. Scoring,
//! training and exports all walk these steps.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// Units of the wide layer of a block, for each unit of the others.
const WIDENING: usize = 2;
/// More than any network has, so that no product of sizes overflows.
const MAX_UNITS: usize = 1 << 16;
const MAX_LAYERS: usize = 1 << 10;

/// The kind of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Each document by itself: a multi-layer perceptron.
    Mlp,
    /// The documents of a list together, by self-attention.
    Attention,
}

/// What keeps activations on one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// Nothing.
    None,
    /// The mean and deviation over the units of a document.
    Layer,
    /// The mean and deviation of a unit, as training found them.
    Batch,
}

/// The kind and the sizes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Its kind.
    pub network: Network,
    /// Number of inputs of a document.
    pub inputs: usize,
    /// Number of units of a layer.
    pub hidden: usize,
    /// Number of hidden layers, or of blocks.
    pub layers: usize,
    /// Number of attention heads; a divisor of `hidden`. 1 without attention.
    pub heads: usize,
    /// The normalisation.
    pub norm: Norm,
}

/// A weighted sum of inputs for each output, plus a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// The place of its first weight: those of the first input, for each output, then those of the second, ...
    at: usize,
}

impl Linear {
    /// Where its weights are among all weights of the network.
    pub fn weights(&self) -> Range<usize> {
        self.at..self.at + self.inputs * self.outputs
    }

    /// Where its biases are.
    pub fn bias(&self) -> Range<usize> {
        let end = self.weights().end;
        end..end + self.outputs
    }
}

/// Brings activations to one scale, then multiplies and shifts those of each unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaler {
    /// Number of units.
    pub width: usize,
    at: usize,
    /// For batch norm, the place of its means among the running means and variances.
    running_at: Option<usize>,
}

impl Scaler {
    /// Where its factors are among all weights of the network.
    pub fn scale(&self) -> Range<usize> {
        self.at..self.at + self.width
    }

    /// Where its shifts are.
    pub fn shift(&self) -> Range<usize> {
        self.at + self.width..self.at + 2 * self.width
    }

    /// For batch norm, where the means are among the running numbers of the network. The variances follow.
    pub fn running(&self) -> Option<Range<usize>> {
        self.running_at.map(|at| at..at + 2 * self.width)
    }
}

/// A step from inputs to scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A linear layer.
    Linear(Linear),
    /// Layer norm or batch norm.
    Norm(Scaler),
    /// Negative activations become 0.
    Relu,
    /// In training, some activations become 0.
    Dropout,
    /// Queries, keys and values of documents become weighted means of values.
    Attend {
        /// Number of units of queries, of keys, and of values.
        width: usize,
        /// Number of heads.
        heads: usize,
    },
    /// Keeps the activations.
    Fork,
    /// Adds the activations that were kept.
    Join,
}

/// A named part of the weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name in the model file.
    pub name: String,
    /// Whether it is a part of the running means and variances, not of the weights.
    pub is_running: bool,
    /// Where it is.
    pub place: Range<usize>,
}

/// The steps of a network, while they are made.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    n_weights: usize,
    n_running: usize,
}

impl Plan {
    fn linear(&mut self, inputs: usize, outputs: usize) {
        self.steps.push(Step::Linear(Linear { inputs, outputs, at: self.n_weights }));
        self.n_weights += (inputs + 1) * outputs;
    }

    fn norm(&mut self, norm: Norm, width: usize) {
        if norm == Norm::None {
            return;
        }
        let running_at = (norm == Norm::Batch).then_some(self.n_running);
        self.steps.push(Step::Norm(Scaler { width, at: self.n_weights, running_at }));
        self.n_weights += 2 * width;
        self.n_running += running_at.map_or(0, |_| 2 * width);
    }
}

impl Architecture {
    /// Checks the sizes.
    pub fn check(&self) -> Result<(), ModelError> {
        let Self { inputs, hidden, layers, heads, .. } = *self;
        let fits = (1..=MAX_UNITS).contains(&hidden)
            && (1..=MAX_LAYERS).contains(&layers)
            && u32::try_from(inputs).is_ok()
            && heads >= 1
            && hidden.is_multiple_of(heads);
        let problem = || format!("a network cannot have {hidden} units, {layers} layers and {heads} heads");
        if fits { Ok(()) } else { Err(ModelError::Content { problem: problem() }) }
    }

    /// At most as many weights as it has, quickly: what a file must at least hold.
    pub(super) fn least_weights(&self) -> usize {
        self.layers * self.hidden
    }

    fn plan(&self) -> Plan {
        let Self { network, inputs, hidden, layers, heads, norm } = *self;
        let mut plan = Plan::default();
        match network {
            Network::Mlp => {
                for layer in 0..layers {
                    plan.linear(if layer == 0 { inputs } else { hidden }, hidden);
                    plan.norm(norm, hidden);
                    plan.steps.extend([Step::Relu, Step::Dropout]);
                }
            }
            Network::Attention => {
                plan.linear(inputs, hidden);
                for _ in 0..layers {
                    plan.steps.push(Step::Fork);
                    plan.norm(norm, hidden);
                    plan.linear(hidden, 3 * hidden);
                    plan.steps.push(Step::Attend { width: hidden, heads });
                    plan.linear(hidden, hidden);
                    plan.steps.extend([Step::Dropout, Step::Join, Step::Fork]);
                    plan.norm(norm, hidden);
                    plan.linear(hidden, WIDENING * hidden);
                    plan.steps.extend([Step::Relu, Step::Dropout]);
                    plan.linear(WIDENING * hidden, hidden);
                    plan.steps.extend([Step::Dropout, Step::Join]);
                }
                plan.norm(norm, hidden);
            }
        }
        plan.linear(hidden, 1);
        plan
    }

    /// The steps from inputs to scores.
    pub fn steps(&self) -> Vec<Step> {
        self.plan().steps
    }

    /// Number of weights, and of running means and variances.
    pub fn sizes(&self) -> (usize, usize) {
        let plan = self.plan();
        (plan.n_weights, plan.n_running)
    }

    /// The parts of the weights, in the order of the model file.
    pub fn tensors(&self) -> Vec<Tensor> {
        let (mut tensors, mut n_linear, mut n_norms) = (Vec::new(), 0, 0);
        let mut push = |name: String, is_running, place| tensors.push(Tensor { name, is_running, place });
        for step in self.steps() {
            match step {
                Step::Linear(linear) => {
                    push(format!("linear{n_linear}.weights"), false, linear.weights());
                    push(format!("linear{n_linear}.bias"), false, linear.bias());
                    n_linear += 1;
                }
                Step::Norm(scaler) => {
                    push(format!("norm{n_norms}.scale"), false, scaler.scale());
                    push(format!("norm{n_norms}.shift"), false, scaler.shift());
                    if let Some(running) = scaler.running() {
                        let middle = running.start + scaler.width;
                        push(format!("norm{n_norms}.mean"), true, running.start..middle);
                        push(format!("norm{n_norms}.variance"), true, middle..running.end);
                    }
                    n_norms += 1;
                }
                _ => {}
            }
        }
        tensors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_cover_all_weights_once() {
        for network in [Network::Mlp, Network::Attention] {
            for norm in [Norm::None, Norm::Layer, Norm::Batch] {
                let architecture = Architecture { network, inputs: 5, hidden: 6, layers: 2, heads: 3, norm };
                architecture.check().unwrap();
                let (n_weights, n_running) = architecture.sizes();
                assert!(architecture.least_weights() <= n_weights);
                for (is_running, n) in [(false, n_weights), (true, n_running)] {
                    let tensors = architecture.tensors();
                    let places = tensors.iter().filter(|tensor| tensor.is_running == is_running);
                    let end = places.fold(0, |end, tensor| {
                        assert_eq!(tensor.place.start, end);
                        tensor.place.end
                    });
                    assert_eq!(end, n);
                }
                assert_eq!(n_running > 0, norm == Norm::Batch);
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let good =
            Architecture { network: Network::Attention, inputs: 5, hidden: 6, layers: 2, heads: 3, norm: Norm::None };
        for wrong in [
            Architecture { heads: 4, ..good },
            Architecture { heads: 0, ..good },
            Architecture { hidden: 0, ..good },
            Architecture { layers: usize::MAX, ..good },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
