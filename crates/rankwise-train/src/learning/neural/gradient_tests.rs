//! Gradients against finite differences: of each layer, and of whole networks.

use rankwise_data::SimdLevel;
use rankwise_model::neural::{Architecture, Inputs, Network, Norm, Step, layers};

use super::batch::{Batch, Net};
use super::shard::{Randomness, Shard};
use super::tests::{Doc, dataset};
use super::{State, backward};

/// Numbers without a pattern.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|place| ((place * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
}

fn product(first: &[f32], second: &[f32]) -> f64 {
    first.iter().zip(second).map(|(first, second)| f64::from(*first) * f64::from(*second)).sum()
}

/// Compares a gradient with the differences of a function between two near points, coordinate by coordinate.
fn assert_gradient(function: impl Fn(&[f32]) -> f64, at: &[f32], gradient: &[f32]) {
    const STEP: f32 = 1.0 / 128.0;
    for place in 0..at.len() {
        let value = |step: f32| {
            let mut at = at.to_vec();
            at[place] += step;
            function(&at)
        };
        let difference = (value(STEP) - value(-STEP)) / f64::from(2.0 * STEP);
        let found = f64::from(gradient[place]);
        let error = (found - difference).abs();
        assert!(error < 2e-3 * (1.0 + difference.abs()), "{place}: {found} against {difference}");
    }
}

#[test]
fn a_linear_layer_has_its_gradients() {
    let (level, inputs, outputs, docs) = (SimdLevel::best(), 5, 3, 7);
    let (values, weights, bias) = (numbers(docs * inputs, 1), numbers(inputs * outputs, 2), numbers(outputs, 3));
    let slopes = numbers(docs * outputs, 4);
    let (mut of_weights, mut of_bias) = (vec![0.0; weights.len()], vec![0.0; bias.len()]);
    backward::linear(level, &values, &slopes, &mut of_weights, &mut of_bias);
    let transposed = rankwise_simd::matrix::transposed(&weights, outputs);
    let of_values = backward::inputs(level, &slopes, &transposed, outputs);
    assert_gradient(|values| product(&layers::linear(level, values, &weights, &bias), &slopes), &values, &of_values);
    assert_gradient(|weights| product(&layers::linear(level, &values, weights, &bias), &slopes), &weights, &of_weights);
    assert_gradient(|bias| product(&layers::linear(level, &values, &weights, bias), &slopes), &bias, &of_bias);
}

#[test]
fn a_norm_has_its_gradients() {
    let (width, docs) = (6, 4);
    let (values, scale, shift) = (numbers(docs * width, 1), numbers(width, 2), numbers(width, 3));
    let slopes = numbers(docs * width, 4);
    let forward = |values: &[f32], scale: &[f32], shift: &[f32]| {
        let mut values = values.to_vec();
        let inverses: Vec<f32> = values.chunks_exact_mut(width).map(layers::standardise).collect();
        let standard = values.clone();
        layers::scale(&mut values, scale, shift);
        (values, standard, inverses)
    };
    let (_, standard, inverses) = forward(&values, &scale, &shift);
    let (mut of_values, mut of_scale, mut of_shift) = (slopes.clone(), vec![0.0; width], vec![0.0; width]);
    backward::scale(&scale, &standard, &mut of_values, &mut of_scale, &mut of_shift);
    for ((slopes, row), inverse) in of_values.chunks_exact_mut(width).zip(standard.chunks_exact(width)).zip(inverses) {
        backward::standardise(row, inverse, slopes);
    }
    assert_gradient(|values| product(&forward(values, &scale, &shift).0, &slopes), &values, &of_values);
    assert_gradient(|scale| product(&forward(&values, scale, &shift).0, &slopes), &scale, &of_scale);
    assert_gradient(|shift| product(&forward(&values, &scale, shift).0, &slopes), &shift, &of_shift);
}

#[test]
fn attention_has_its_gradients() {
    let (level, width, heads) = (SimdLevel::best(), 6, 2);
    for docs in [1, 3, 70] {
        let (activations, slopes) = (numbers(docs * 3 * width, 1), numbers(docs * width, 2));
        let gradient = backward::attend(level, &activations, &slopes, width, heads);
        let function = |values: &[f32]| product(&layers::attend(level, values, width, heads), &slopes);
        assert_gradient(function, &activations, &gradient);
    }
}

/// Some queries, the first of which is a shard of its own.
fn docs() -> Vec<Doc> {
    let doc = |row: usize| {
        let features = (1..=5).map(|id| (id, numbers(400, 9)[row * 5 + id as usize])).collect();
        (format!("q{}", row / 12), (row % 3) as f32, format!("d{row}"), features)
    };
    (0..36).map(doc).collect()
}

/// Noise and dropout are the same in each pass, as their draws are. Steps go along random directions of each tensor.
fn assert_network_gradient(architecture: Architecture, randomness: Randomness) {
    let data = dataset(&docs());
    let steps = architecture.steps();
    let inputs: Vec<Vec<f32>> =
        (0..data.n_queries()).map(|query| numbers(data.query_rows(query).len() * architecture.inputs, query)).collect();
    let mut state = State::new(&architecture, 1);
    // Not those of the start, most of which are 0 or 1.
    let more = numbers(state.weights.len(), 5);
    state.weights.iter_mut().zip(more).for_each(|(weight, more)| *weight += 0.1 * more);
    let batch = || {
        let shard = |queries: Vec<usize>| Shard::new(&data, queries, &inputs, randomness);
        Batch { shards: vec![shard(vec![0]), shard(vec![2, 1])] }
    };
    let factor = |query: usize, n: usize| numbers(n, query + 20);
    let loss = |weights: &[f32]| {
        let mut batch = batch();
        batch.forward(&Net::new(SimdLevel::best(), &steps, weights), &mut state.running.clone());
        let of_shard = |shard: &Shard<'_>| -> f64 {
            let rows = shard.queries.iter().zip(shard.rows());
            rows.map(|(query, rows)| product(&shard.values[rows.clone()], &factor(*query, rows.len()))).sum()
        };
        batch.shards.iter().map(of_shard).sum::<f64>()
    };
    let mut batch = batch();
    let net = Net::new(SimdLevel::best(), &steps, &state.weights);
    batch.forward(&net, &mut state.running.clone());
    let gradient = batch
        .backward(&net, &|query, scores: &[f64], out: &mut [f32]| out.copy_from_slice(&factor(query, scores.len())));
    for tensor in architecture.tensors().into_iter().filter(|tensor| !tensor.is_running) {
        for seed in 0..2 {
            let direction = numbers(tensor.place.len(), seed + 40);
            // Small, so that few units pass 0 on the way.
            let step = 1e-4f32;
            let value = |sign: f32| {
                let mut weights = state.weights.clone();
                let moved = weights[tensor.place.clone()].iter_mut().zip(&direction);
                moved.for_each(|(weight, direction)| *weight += sign * step * direction);
                loss(&weights)
            };
            let difference = (value(1.0) - value(-1.0)) / f64::from(2.0 * step);
            let found = product(&gradient[tensor.place.clone()], &direction);
            let error = (found - difference).abs();
            assert!(error < 0.02 * (0.5 + difference.abs()), "{architecture:?} {}: {found} {difference}", tensor.name);
        }
    }
}

#[test]
fn every_network_has_its_gradient() {
    for network in [Network::Mlp, Network::Attention] {
        for norm in [Norm::None, Norm::Layer, Norm::Batch] {
            for (noise, dropout) in [(0.0, 0.0), (0.1, 0.3)] {
                let architecture = Architecture { network, inputs: 5, hidden: 8, layers: 2, heads: 2, norm };
                assert_network_gradient(architecture, Randomness { seed: 1, epoch: 0, noise, dropout });
            }
        }
    }
}

/// Without noise and dropout, training sees the scores of the model.
#[test]
fn training_sees_the_scores_of_the_model() {
    let data = dataset(&docs());
    for network in [Network::Mlp, Network::Attention] {
        for norm in [Norm::None, Norm::Layer] {
            let architecture = Architecture { network, inputs: 5, hidden: 8, layers: 2, heads: 4, norm };
            let (steps, state) = (architecture.steps(), State::new(&architecture, 3));
            let inputs: Vec<Vec<f32>> = (0..3).map(|query| numbers(12 * 5, query)).collect();
            let randomness = Randomness { seed: 1, epoch: 0, noise: 0.0, dropout: 0.0 };
            let mut batch = Batch { shards: vec![Shard::new(&data, vec![1], &inputs, randomness)] };
            batch.forward(&Net::new(SimdLevel::best(), &steps, &state.weights), &mut []);
            assert!(steps.iter().all(|step| !matches!(step, Step::Norm(scaler) if scaler.running().is_some())));
            let scales = vec![rankwise_model::FeatureScale::NONE; 5];
            let transform = rankwise_model::Transform::new(false, false, scales).unwrap();
            let makes = Inputs::new(transform, Vec::new()).unwrap();
            let ranker = rankwise_model::NeuralRanker::new(architecture, makes, state.weights, Vec::new()).unwrap();
            let mut scores = vec![0.0; 12];
            ranker.score_inputs(SimdLevel::best(), &inputs[1], &mut scores);
            for (found, expected) in batch.shards[0].values.iter().zip(scores) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}
