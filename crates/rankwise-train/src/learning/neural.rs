//! Neural rankers: a multi-layer perceptron, or self-attention over the documents of a query (Pang et al. 2020, Qin et
//! al. 2021), trained by Adam on the gradients of an objective.
//!
//! A round is an epoch: all queries in a random order, a batch at a time. A batch is cut into [`Shard`]s of whole
//! queries, which go forward and backward in parallel; their gradients are added in order. Noise and dropout depend on
//! seed, epoch and document. So a model depends neither on threads nor on the order of rows.

mod adam;
mod backward;
mod batch;
mod shard;

use rankwise_data::{Dataset, Draw, Purpose};
use rankwise_model::NeuralRanker;
use rankwise_model::neural::{Architecture, Inputs, Network as NetworkKind, Norm as NormKind, Step, Tensor};
use rankwise_objectives::{GradientSlices, Objective, QueryTask, Round, Scratch, gradients_of_query};
use rankwise_params::ParamError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::adam::Adam;
use self::batch::{Batch, Net};
use self::shard::{Randomness, Shard};
use super::inputs::Reader;
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, LearnerParams, Network, Norm, TrainError};

/// A shard ends with the query that brings it to this many documents.
const SHARD_DOCS: usize = 64;
/// Share by which the average of weights moves in a step. With 0.002, five folds of MQ2007 had NDCG@10 of 0.591 on their
/// validation parts, 0.589 without an average and three times slower steps.
const AVERAGE_FORGETS: f32 = 0.002;

/// A neural ranker in training.
pub(crate) struct Neural<'a> {
    task: Task<'a>,
    objective: &'a dyn Objective,
    reader: Reader,
    makes: Inputs,
    /// By set, the training data first; then by query: the inputs, document by document.
    inputs: Vec<Vec<Vec<f32>>>,
    architecture: Architecture,
    steps: Vec<Step>,
    state: State,
}

/// What changes in training.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    n_epochs: u32,
    weights: Vec<f32>,
    /// The moving average of the weights, which scores (Polyak and Juditsky 1992).
    average: Vec<f32>,
    /// Means and variances of batch norm.
    running: Vec<f32>,
    adam: Adam,
}

impl LearnerParams {
    fn architecture(&self, inputs: usize) -> Architecture {
        let (network, heads) = match self.network {
            Network::Mlp => (NetworkKind::Mlp, 1),
            Network::Attention => (NetworkKind::Attention, self.heads),
        };
        let norm = match self.norm {
            Norm::None => NormKind::None,
            Norm::Layer => NormKind::Layer,
            Norm::Batch => NormKind::Batch,
        };
        Architecture { network, inputs, hidden: self.hidden, layers: self.layers, heads, norm }
    }
}

impl<'a> Neural<'a> {
    pub(crate) fn new(task: Task<'a>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let objective = task.objective.expect("neural rankers have an objective");
        if objective.all_queries().is_some() {
            let problem =
                "learner=neural sees a few queries at a time, but this objective takes all at once; use another";
            return Err(ParamError::conflict("objective", problem).into());
        }
        let reader = Reader::new(&task, params.log1p.unwrap_or(true))?;
        let makes = Inputs::new(reader.transform.clone(), reader.missing(task.train))?;
        let architecture = params.architecture(makes.width());
        Ok(Self {
            inputs: task.sets().map(|set: &Dataset| reader.rows(set, |values| makes.rows(values))).collect(),
            reader,
            makes,
            steps: architecture.steps(),
            state: State::new(&architecture, task.params.boosting().seed),
            architecture,
            objective,
            task,
        })
    }

    fn params(&self) -> &'a LearnerParams {
        self.task.params.learner()
    }

    /// The training queries in the order of this epoch.
    fn order(&self) -> Vec<usize> {
        let data = self.task.train;
        let draw = Draw::new(self.task.params.boosting().seed, Purpose::QueryOrder, self.state.n_epochs);
        let mut order: Vec<(f64, usize)> =
            (0..data.n_queries()).map(|query| (data.query_draw(&draw, query), query)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, query)| query).collect()
    }

    /// The queries of a batch, with noise on their inputs.
    fn batch(&self, queries: &[usize]) -> Batch<'a> {
        let data = self.task.train;
        let randomness = Randomness {
            seed: self.task.params.boosting().seed,
            epoch: self.state.n_epochs,
            noise: self.params().input_noise,
            dropout: self.params().dropout,
        };
        let (mut groups, mut n_docs) = (vec![Vec::new()], 0);
        for query in queries {
            if n_docs >= SHARD_DOCS {
                groups.push(Vec::new());
                n_docs = 0;
            }
            groups.last_mut().expect("there is a group").push(*query);
            n_docs += data.query_rows(*query).len();
        }
        let shard = |queries: Vec<usize>| Shard::new(data, queries, &self.inputs[0], randomness);
        Batch { shards: groups.into_par_iter().map(shard).collect() }
    }

    /// Follows the gradient of a batch.
    fn learn(&mut self, queries: &[usize]) {
        let mut batch = self.batch(queries);
        let net = Net::new(self.task.simd, &self.steps, &self.state.weights);
        batch.forward(&net, &mut self.state.running);
        let round = Round { tree: self.state.n_epochs, seed: self.task.params.boosting().seed };
        let (objective, data) = (self.objective, self.task.train);
        let share = 1.0 / queries.len() as f32;
        let of_query = |query: usize, scores: &[f64], grad: &mut [f32]| {
            let mut hess = vec![0.0; grad.len()];
            let out = GradientSlices { grad: &mut *grad, hess: &mut hess };
            gradients_of_query(objective, QueryTask { data, query, round }, scores, out, &mut Scratch::default());
            for slope in grad {
                *slope *= share;
            }
        };
        let gradient = batch.backward(&net, &of_query);
        let params = self.params();
        self.state.adam.step(params.adam_rate, &gradient, &mut self.state.weights);
        // Biases and norms do not decay.
        let keep = (1.0 - params.adam_rate * params.weight_decay).max(0.0) as f32;
        for step in &self.steps {
            if let Step::Linear(linear) = step {
                self.state.weights[linear.weights()].iter_mut().for_each(|weight| *weight *= keep);
            }
        }
        self.state.follow();
    }

    fn ranker(&self) -> NeuralRanker {
        let State { average: weights, running, .. } = &self.state;
        NeuralRanker::new(self.architecture, self.makes.clone(), weights.clone(), running.clone())
            .expect("weights stay finite, and there are as many as the steps have")
    }
}

impl State {
    /// Weights are uniform within the bounds of Glorot and Bengio (2010); biases are 0.
    fn new(architecture: &Architecture, seed: u64) -> Self {
        let (n_weights, n_running) = architecture.sizes();
        let (mut weights, mut running) = (vec![0.0; n_weights], vec![0.0; n_running]);
        let draw = Draw::new(seed, Purpose::FirstWeights, 0);
        for step in architecture.steps() {
            match step {
                Step::Linear(linear) => {
                    let bound = (6.0 / (linear.inputs + linear.outputs) as f64).sqrt();
                    for place in linear.weights() {
                        weights[place] = (bound * (2.0 * draw.uniform(place as u64, 0) - 1.0)) as f32;
                    }
                }
                Step::Norm(scaler) => {
                    weights[scaler.scale()].fill(1.0);
                    if let Some(place) = scaler.running() {
                        running[place][scaler.width..].fill(1.0);
                    }
                }
                Step::Relu | Step::Dropout | Step::Attend { .. } | Step::Fork | Step::Join => {}
            }
        }
        Self { n_epochs: 0, adam: Adam::new(n_weights), average: weights.clone(), weights, running }
    }

    /// Moves the average towards the weights, faster at first.
    fn follow(&mut self) {
        let n_steps = self.adam.n_steps() as f32;
        let forget = AVERAGE_FORGETS.max(9.0 / (10.0 + n_steps));
        let numbers = self.average.iter_mut().zip(&self.weights);
        numbers.for_each(|(average, weight)| *average += forget * (weight - *average));
    }

    /// Whether a state could be one of this network.
    fn fits(&self, architecture: &Architecture) -> bool {
        let is_variance = |tensor: &Tensor| tensor.is_running && tensor.name.ends_with("variance");
        (self.weights.len(), self.running.len()) == architecture.sizes()
            && self.average.len() == self.weights.len()
            && self.weights.iter().chain(&self.average).chain(&self.running).all(|number| number.is_finite())
            && self.adam.fits(self.weights.len())
            && architecture
                .tensors()
                .into_iter()
                .filter(is_variance)
                .all(|tensor| self.running[tensor.place].iter().all(|variance| *variance >= 0.0))
    }
}

impl Learning for Neural<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        for queries in self.order().chunks(self.params().batch_queries) {
            self.learn(queries);
        }
        self.state.n_epochs += 1;
        Ok(Learnt::More)
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        let (ranker, n_inputs) = (self.ranker(), self.architecture.inputs);
        let of_query = |inputs: &Vec<f32>| {
            let mut scores = vec![0.0; inputs.len() / n_inputs];
            ranker.score_inputs(self.task.simd, inputs, &mut scores);
            scores
        };
        self.inputs[set].par_iter().map(of_query).collect::<Vec<_>>().concat()
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        Ok(Fitted { ranker: self.ranker().into(), features: self.reader.features.clone() })
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("numbers and lists always have a form")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: State = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        if !state.fits(&self.architecture) {
            return Err(CheckpointError::inconsistent());
        }
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod tests;
