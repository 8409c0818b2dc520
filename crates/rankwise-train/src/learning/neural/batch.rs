//! A batch on its way through a network: its shards in parallel, together where batch norm needs all documents.

use rankwise_data::SimdLevel;
use rankwise_model::neural::{Scaler, Step, layers};
use rankwise_simd::matrix::transposed;
use rayon::prelude::*;

use super::backward;
use super::shard::{Saved, Shard};

/// How much the means and variances of a batch move those that scoring uses.
const MOMENTUM: f32 = 0.1;

/// The network as it is during one batch.
pub(super) struct Net<'a> {
    pub(super) level: SimdLevel,
    pub(super) steps: &'a [Step],
    pub(super) weights: &'a [f32],
    /// The transposes of the weights of linear layers, at the same places.
    pub(super) transposed: Vec<f32>,
}

impl<'a> Net<'a> {
    pub(super) fn new(level: SimdLevel, steps: &'a [Step], weights: &'a [f32]) -> Self {
        let mut all = vec![0.0; weights.len()];
        for step in steps {
            if let Step::Linear(linear) = step {
                let place = linear.weights();
                all[place.clone()].copy_from_slice(&transposed(&weights[place], linear.outputs));
            }
        }
        Self { level, steps, weights, transposed: all }
    }

    /// Runs of steps that each shard takes alone, and the batch norm after each but the last.
    fn runs(&self) -> Vec<(std::ops::Range<usize>, Option<Scaler>)> {
        let (mut runs, mut start) = (Vec::new(), 0);
        for (number, step) in self.steps.iter().enumerate() {
            if let Step::Norm(scaler) = step
                && scaler.running().is_some()
            {
                runs.push((start..number, Some(*scaler)));
                start = number + 1;
            }
        }
        runs.push((start..self.steps.len(), None));
        runs
    }
}

/// The gradient of the loss by the scores of a query's documents: `(query, scores, gradient)`.
pub(super) type OfQuery<'a> = dyn Fn(usize, &[f64], &mut [f32]) + Sync + 'a;

/// Queries that go through the network together.
pub(super) struct Batch<'a> {
    pub(super) shards: Vec<Shard<'a>>,
}

impl Batch<'_> {
    /// From inputs to scores. Moves the running means and variances of batch norm.
    pub(super) fn forward(&mut self, net: &Net<'_>, running: &mut [f32]) {
        for (steps, norm) in net.runs() {
            self.shards.par_iter_mut().for_each(|shard| steps.clone().for_each(|number| shard.forward(net, number)));
            if let Some(scaler) = norm {
                self.normalise(net, &scaler, running);
            }
        }
    }

    /// From scores back to the gradient by the weights.
    pub(super) fn backward(&mut self, net: &Net<'_>, of_query: &OfQuery<'_>) -> Vec<f32> {
        self.shards.par_iter_mut().for_each(|shard| {
            shard.gradient = vec![0.0; net.weights.len()];
            follow(shard, of_query);
        });
        for (steps, norm) in net.runs().into_iter().rev() {
            if let Some(scaler) = norm {
                self.normalise_back(net, &scaler);
            }
            self.shards
                .par_iter_mut()
                .for_each(|shard| steps.clone().rev().for_each(|number| shard.backward(net, number)));
        }
        let mut gradient = vec![0.0; net.weights.len()];
        for shard in &self.shards {
            gradient.iter_mut().zip(&shard.gradient).for_each(|(sum, slope)| *sum += slope);
        }
        gradient
    }

    fn n_docs(&self) -> f64 {
        self.shards.iter().map(Shard::n_docs).sum::<usize>() as f64
    }

    /// For each unit, the mean over all documents of something that each shard adds up in its part of the batch.
    fn means(&self, width: usize, add: impl Fn(&Shard<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let of_shard = |shard: &Shard<'_>| {
            let mut sums = vec![0.0; width];
            add(shard, &mut sums);
            sums
        };
        let shards: Vec<Vec<f64>> = self.shards.par_iter().map(of_shard).collect();
        let mut means = vec![0.0; width];
        for shard in shards {
            means.iter_mut().zip(shard).for_each(|(mean, sum)| *mean += sum);
        }
        let n_docs = self.n_docs();
        for mean in &mut means {
            *mean /= n_docs;
        }
        means
    }

    /// Batch norm (Ioffe and Szegedy 2015, algorithm 1).
    fn normalise(&mut self, net: &Net<'_>, scaler: &Scaler, running: &mut [f32]) {
        let width = scaler.width;
        let means = self.means(width, |shard, sums| {
            for row in shard.values.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
            }
        });
        let variances = self.means(width, |shard, sums| {
            for row in shard.values.chunks_exact(width) {
                let numbers = sums.iter_mut().zip(row).zip(&means);
                numbers
                    .for_each(|((sum, value), mean)| *sum += (f64::from(*value) - mean) * (f64::from(*value) - mean));
            }
        });
        let found = means.iter().chain(&variances).map(|number| *number as f32);
        let place = scaler.running().expect("batch norm has running means");
        for (running, found) in running[place].iter_mut().zip(found).filter(|(_, found)| found.is_finite()) {
            *running += MOMENTUM * (found - *running);
        }
        let inverses: Vec<f32> = variances.iter().map(|variance| layers::inverse_deviation(*variance as f32)).collect();
        self.shards.par_iter_mut().for_each(|shard| {
            for row in shard.values.chunks_exact_mut(width) {
                let numbers = row.iter_mut().zip(&means).zip(&inverses);
                numbers.for_each(|((value, mean), inverse)| *value = (*value - *mean as f32) * inverse);
            }
            shard.saved.push(Saved::Norm { standard: shard.values.clone(), inverses: inverses.clone() });
            layers::scale(&mut shard.values, &net.weights[scaler.scale()], &net.weights[scaler.shift()]);
        });
    }

    /// The way back through batch norm.
    fn normalise_back(&mut self, net: &Net<'_>, scaler: &Scaler) {
        let width = scaler.width;
        self.shards.par_iter_mut().for_each(|shard| {
            let Some(Saved::Norm { standard, .. }) = shard.saved.last() else {
                unreachable!("batch norm saves a norm")
            };
            let out = &mut shard.gradient[scaler.scale().start..scaler.shift().end];
            let (of_scale, of_shift) = out.split_at_mut(width);
            backward::scale(&net.weights[scaler.scale()], standard, &mut shard.values, of_scale, of_shift);
        });
        let of_mean = self.means(width, |shard, sums| {
            for slopes in shard.values.chunks_exact(width) {
                sums.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += f64::from(*slope));
            }
        });
        let along = self.means(width, |shard, sums| {
            let Some(Saved::Norm { standard, .. }) = shard.saved.last() else {
                unreachable!("batch norm saves a norm")
            };
            for (slopes, row) in shard.values.chunks_exact(width).zip(standard.chunks_exact(width)) {
                let numbers = sums.iter_mut().zip(slopes).zip(row);
                numbers.for_each(|((sum, slope), value)| *sum += f64::from(*slope) * f64::from(*value));
            }
        });
        self.shards.par_iter_mut().for_each(|shard| {
            let Some(Saved::Norm { standard, inverses }) = shard.saved.pop() else {
                unreachable!("batch norm saves a norm")
            };
            for (slopes, row) in shard.values.chunks_exact_mut(width).zip(standard.chunks_exact(width)) {
                for unit in 0..width {
                    let others = of_mean[unit] as f32 + row[unit] * along[unit] as f32;
                    slopes[unit] = inverses[unit] * (slopes[unit] - others);
                }
            }
        });
    }
}

/// Replaces the scores of a shard by the gradient of the loss.
fn follow(shard: &mut Shard<'_>, of_query: &OfQuery<'_>) {
    let mut slopes = vec![0.0; shard.n_docs()];
    for (query, rows) in shard.queries.iter().zip(shard.rows()) {
        let scores: Vec<f64> = shard.values[rows.clone()].iter().map(|score| f64::from(*score)).collect();
        of_query(*query, &scores, &mut slopes[rows]);
    }
    shard.values = slopes;
}
