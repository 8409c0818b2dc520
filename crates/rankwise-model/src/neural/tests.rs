use proptest::prelude::*;

use super::*;
use crate::file::tests::changed;
use crate::{AbsentFeature, FeatureScale, Header, Model, Precision, Transform};

/// Numbers without a pattern.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|place| ((place * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
}

fn ranker(network: Network, norm: Norm, seed: usize) -> NeuralRanker {
    let heads = if network == Network::Mlp { 1 } else { 2 };
    let architecture = Architecture { network, inputs: 5, hidden: 4, layers: 2, heads, norm };
    let scale = FeatureScale { fill: 0.25, center: 0.1, factor: 1.5 };
    let transform = Transform::new(true, false, vec![scale; 3]).unwrap();
    let (n_weights, n_running) = architecture.sizes();
    let running = numbers(n_running, seed + 1).iter().map(|number| number.abs()).collect();
    let inputs = Inputs::new(transform, vec![0, 2]).unwrap();
    NeuralRanker::new(architecture, inputs, numbers(n_weights, seed), running).unwrap()
}

/// Both networks with each norm.
fn rankers() -> Vec<NeuralRanker> {
    let networks = [Network::Mlp, Network::Attention].into_iter();
    let all = networks.flat_map(|network| [Norm::None, Norm::Layer, Norm::Batch].map(|norm| ranker(network, norm, 3)));
    all.collect()
}

fn model(ranker: NeuralRanker) -> Model {
    Model::new(Header::new(AbsentFeature::Missing, Precision::F64, vec![3, 7, 9]), ranker).unwrap()
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// The network as its definition reads, in f64.
fn plain(neural: &NeuralRanker, inputs: &[f32]) -> Vec<f64> {
    let weight = |place: usize| f64::from(neural.weights[place]);
    let mut rows: Vec<Vec<f64>> =
        inputs.chunks(5).map(|row| row.iter().map(|input| f64::from(*input)).collect()).collect();
    let mut kept = rows.clone();
    for step in &neural.steps {
        match step {
            Step::Linear(linear) => {
                let of_row = |row: &Vec<f64>| {
                    let output = |output: usize| {
                        let at = |input: usize| weight(linear.weights().start + input * linear.outputs + output);
                        (0..linear.inputs).map(|input| row[input] * at(input)).sum::<f64>()
                            + weight(linear.bias().start + output)
                    };
                    (0..linear.outputs).map(output).collect()
                };
                rows = rows.iter().map(of_row).collect();
            }
            Step::Norm(scaler) => {
                for row in &mut rows {
                    let n = row.len() as f64;
                    let mean = row.iter().sum::<f64>() / n;
                    let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
                    for (unit, value) in row.iter_mut().enumerate() {
                        let running = scaler.running().map(|place| &neural.running[place]);
                        let (mean, variance) = running.map_or((mean, variance), |running| {
                            (f64::from(running[unit]), f64::from(running[scaler.width + unit]))
                        });
                        let standard = (*value - mean) / (variance + 1e-5).sqrt();
                        *value = standard * weight(scaler.scale().start + unit) + weight(scaler.shift().start + unit);
                    }
                }
            }
            Step::Relu => rows.iter_mut().flatten().for_each(|value| *value = value.max(0.0)),
            Step::Dropout => {}
            Step::Attend { width, heads } => {
                let of_head = width / heads;
                let attention = |doc: &Vec<f64>, unit: usize| {
                    let units = unit / of_head * of_head..(unit / of_head + 1) * of_head;
                    let share = |other: &Vec<f64>| {
                        let product: f64 = units.clone().map(|unit| doc[unit] * other[width + unit]).sum();
                        (product / (of_head as f64).sqrt()).exp()
                    };
                    let total: f64 = rows.iter().map(share).sum();
                    rows.iter().map(|other| share(other) * other[2 * width + unit]).sum::<f64>() / total
                };
                rows = rows.iter().map(|doc| (0..*width).map(|unit| attention(doc, unit)).collect()).collect();
            }
            Step::Fork => kept.clone_from(&rows),
            Step::Join => {
                rows.iter_mut().flatten().zip(kept.iter().flatten()).for_each(|(value, kept)| *value += kept);
            }
        }
    }
    rows.into_iter().flatten().collect()
}

#[test]
fn scores_are_those_of_the_definition() {
    for ranker in rankers() {
        for n_docs in [0, 1, 2, 9, 70] {
            let inputs = numbers(5 * n_docs, 8);
            let mut scores = vec![0.0; n_docs];
            ranker.score_inputs(SimdLevel::best(), &inputs, &mut scores);
            for (found, expected) in scores.iter().zip(plain(&ranker, &inputs)) {
                assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }
}

#[test]
fn instructions_do_not_change_a_bit() {
    for ranker in rankers() {
        let inputs = numbers(5 * 70, 8);
        let scores = |level| {
            let mut scores = vec![0.0; 70];
            ranker.score_inputs(level, &inputs, &mut scores);
            bits(&scores)
        };
        assert!(SimdLevel::available().into_iter().all(|level| scores(level) == scores(SimdLevel::PORTABLE)));
    }
}

#[test]
fn attention_is_listwise_and_a_document_alone_is_a_list() {
    let listwise: Vec<bool> = rankers().iter().map(NeuralRanker::is_listwise).collect();
    assert_eq!(listwise, [false, false, false, true, true, true]);
    for ranker in rankers() {
        let model = model(ranker);
        let (values, mut score) = ([0.5, f64::NAN, -2.0], [0.0]);
        model.score_list(&values, &mut score);
        assert_eq!(model.score(&values), score[0]);
        let mut scores = [0.0; 2];
        model.score_list(&[0.5, f64::NAN, -2.0, 3.0, 1.0, 1.0], &mut scores);
        assert_eq!(scores[0] == score[0], !model.is_listwise());
    }
}

#[test]
fn a_model_comes_back_bit_for_bit() {
    for ranker in rankers() {
        let model = model(ranker);
        let text = model.to_json();
        assert!(text.contains("\"version\": 8,") && text.contains("\"kind\": \"neural\""), "{text}");
        let back = Model::from_json(text.as_bytes()).unwrap();
        assert_eq!((&back, back.to_json()), (&model, text));
    }
}

#[test]
fn damage_is_noticed_and_named() {
    let text = model(ranker(Network::Attention, Norm::Batch, 3)).to_json();
    let read = |from: &str, to: &str| {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from}");
        Model::from_json(damaged.as_bytes()).unwrap_err()
    };
    for (from, to) in [
        ("\"hidden\":4", "\"hidden\":65536"),
        ("\"hidden\":4", "\"hidden\":6"),
        ("\"hidden\":4", "\"hidden\":0"),
        ("\"layers\":2", "\"layers\":1"),
        ("\"layers\":2", "\"layers\":1000000000000"),
        ("\"heads\":2", "\"heads\":3"),
        ("\"heads\":2", "\"heads\":0"),
        ("\"inputs\":5", "\"inputs\":3"),
        ("\"missing\":[0,2]", "\"missing\":[0,3]"),
        ("\"missing\":[0,2]", "\"missing\":[0]"),
        ("\"norm\":\"batch\"", "\"norm\":\"layer\""),
        ("norm0.scale", "norm9.scale"),
        ("\"version\": 8", "\"version\": 7"),
    ] {
        assert!(matches!(read(from, to), ModelError::Content { .. }), "{from} to {to}");
    }
    assert!(matches!(read("\"heads\":2", "\"heads\":1"), ModelError::Checksum { .. }));
    assert!(matches!(read("\"network\":\"attention\"", "\"network\":\"lstm\""), ModelError::Json { .. }));
    assert!(matches!(read("\"fill\":0.25", "\"fill\":1e999"), ModelError::Json { .. }));
}

#[test]
fn what_is_no_network_is_refused() {
    let good = ranker(Network::Attention, Norm::Batch, 3);
    let new = |weights: Vec<f32>, running: Vec<f32>| {
        NeuralRanker::new(*good.architecture(), good.inputs().clone(), weights, running)
    };
    let (weights, running) = (good.weights().to_vec(), good.running().to_vec());
    assert!(new(weights.clone(), running.clone()).is_ok());
    assert!(new(weights[1..].to_vec(), running.clone()).is_err() && new(weights.clone(), Vec::new()).is_err());
    for (place, number) in [(0, f32::NAN), (5, f32::INFINITY)] {
        let with = |numbers: &[f32]| {
            let mut numbers = numbers.to_vec();
            numbers[place] = number;
            numbers
        };
        assert!(new(with(&weights), running.clone()).is_err() && new(weights.clone(), with(&running)).is_err());
    }
    assert!(new(weights, running.iter().map(|number| -number).collect()).is_err());
    let header = Header::new(AbsentFeature::Missing, Precision::F64, vec![3, 7]);
    assert!(matches!(Model::new(header, good), Err(ModelError::Content { .. })));
}

proptest! {
    /// The order of the documents of a list does not matter, bit for bit, also with equal documents and zeros of both
    /// signs.
    #[test]
    fn scores_do_not_depend_on_the_order_of_documents(
        docs in prop::collection::vec(prop::sample::select(vec![-1.5, -0.0, 0.0, 0.3, 2.0, f64::NAN]), 0..40),
        order in any::<u64>(),
    ) {
        let n_docs = docs.len() / 3;
        let docs = &docs[..3 * n_docs];
        let mut places: Vec<usize> = (0..n_docs).collect();
        places.sort_by_key(|place| (*place as u64 + 1).wrapping_mul(order | 1) >> 7);
        let moved: Vec<f64> = places.iter().flat_map(|place| &docs[3 * place..3 * place + 3]).copied().collect();
        for ranker in rankers() {
            let model = model(ranker);
            let (mut scores, mut of_moved) = (vec![0.0; n_docs], vec![0.0; n_docs]);
            model.score_list(docs, &mut scores);
            model.score_list(&moved, &mut of_moved);
            let expected: Vec<f64> = places.iter().map(|place| scores[*place]).collect();
            prop_assert_eq!(bits(&of_moved), bits(&expected));
        }
    }

    #[test]
    fn scores_are_finite(values in prop::collection::vec(any::<f64>(), 9..10), factor in any::<f32>()) {
        prop_assume!(factor.is_finite());
        for ranker in rankers() {
            let weights = ranker.weights().iter().map(|weight| (weight * factor).clamp(f32::MIN, f32::MAX)).collect();
            let running = ranker.running().to_vec();
            let ranker = NeuralRanker::new(*ranker.architecture(), ranker.inputs().clone(), weights, running).unwrap();
            let mut scores = [0.0; 3];
            model(ranker).score_list(&values, &mut scores);
            prop_assert!(scores.iter().all(|score| score.is_finite()));
        }
    }

    /// Changed bytes give the same model or an error, never a panic and never another model.
    #[test]
    fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let model = model(ranker(Network::Attention, Norm::Batch, 3));
        if let Ok(read) = Model::from_json(&changed(&model, &changes)) {
            prop_assert_eq!(read, model);
        }
    }

    #[test]
    fn any_number_survives(bits in any::<u32>()) {
        let number = f32::from_bits(bits);
        prop_assume!(number.is_finite());
        let good = ranker(Network::Mlp, Norm::None, 3);
        let mut weights = good.weights().to_vec();
        weights[2] = number;
        let model = model(NeuralRanker::new(*good.architecture(), good.inputs().clone(), weights, Vec::new()).unwrap());
        let back = Model::from_json(model.to_json().as_bytes()).unwrap();
        let Ranker::Neural(neural) = back.ranker() else { panic!() };
        prop_assert_eq!(neural.weights()[2].to_bits(), bits);
    }
}
