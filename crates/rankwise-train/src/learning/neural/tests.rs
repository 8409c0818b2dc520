//! Tests of training as a whole; those of the gradients are in `gradient_tests.rs`.

use rankwise_data::synth::{Preset, SynthSpec};
use rankwise_data::{DatasetBuilder, Row, SimdLevel};
use rankwise_params::ParamValue as _;

use super::*;
use crate::learning::tests::with_task;
use crate::{Checkpoint, Flow, Progress, SetBoosting as _, SetLearner as _, TrainSpec, Trained, Training, ValidSet};

/// Qid, label, document id and features.
pub(super) type Doc = (String, f32, String, Vec<(u32, f32)>);

/// Documents of the web preset, some of them twice.
fn docs(rows: usize, seed: u64) -> Vec<Doc> {
    let synth = SynthSpec { preset: Preset::Web, rows, features: Some(6), seed }.check().unwrap();
    let mut docs = Vec::new();
    for query in (0..synth.n_queries()).map(|query| synth.query(query)) {
        let doc = |doc: rankwise_data::synth::SynthDoc| (query.qid.clone(), doc.label, String::new(), doc.features);
        docs.extend(query.docs.into_iter().map(doc));
    }
    docs.extend(docs.iter().step_by(9).cloned().collect::<Vec<Doc>>());
    docs
}

pub(super) fn dataset<'a>(docs: impl IntoIterator<Item = &'a Doc>) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (qid, label, doc_id, features) in docs {
        builder.push(&Row { qid, label: *label, doc_id, features }).unwrap();
    }
    builder.finish().unwrap()
}

fn spec(network: Network, norm: Norm) -> TrainSpec {
    let spec = TrainSpec::default().learner(crate::Learner::Neural).network(network).norm(norm);
    spec.hidden(8).heads(2).layers(2).epochs(3).dropout(0.2).input_noise(0.1).batch_queries(4)
}

/// Both architectures with each norm.
fn specs() -> Vec<TrainSpec> {
    let all = Network::ALL.iter().flat_map(|network| Norm::ALL.iter().map(|norm| spec(*network, *norm)));
    all.collect()
}

fn trained(spec: &TrainSpec, data: &Dataset) -> Trained {
    Training::new(&spec.clone().check().unwrap(), data).run(&mut crate::Silent).unwrap()
}

#[test]
fn a_model_depends_neither_on_threads_nor_on_instructions_nor_on_order() {
    let docs = docs(400, 5);
    let (data, reversed) = (dataset(&docs), dataset(docs.iter().rev()));
    for spec in specs() {
        let expected = trained(&spec, &data).model.to_json();
        assert_eq!(trained(&spec, &reversed).model.to_json(), expected);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| trained(&spec, &data).model.to_json()), expected, "{threads} threads");
        }
        for level in SimdLevel::available() {
            let params = spec.clone().check().unwrap();
            let trained = Training::new(&params, &data).simd(level).run(&mut crate::Silent).unwrap();
            assert_eq!(trained.model.to_json(), expected, "{level:?}");
        }
        let other = trained(&spec.clone().seed(7), &data).model.to_json();
        assert_ne!(other, expected);
    }
}

/// Saves the run after some rounds, and stops.
struct StopAfter(usize, Option<Vec<u8>>);

impl crate::Observer for StopAfter {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.round < self.0 {
            return Flow::Continue;
        }
        self.1 = progress.checkpoint();
        Flow::Stop
    }
}

#[test]
fn a_resumed_run_ends_as_an_uninterrupted_one() {
    let (data, other) = (dataset(&docs(300, 5)), dataset(&docs(200, 6)));
    let valid = [ValidSet { name: "valid", data: &other }];
    for spec in specs() {
        let params = spec.check().unwrap();
        let training = Training::new(&params, &data).valid(&valid);
        let whole = training.clone().run(&mut crate::Silent).unwrap();
        for rounds in 1..3 {
            let mut stop = StopAfter(rounds, None);
            training.clone().run(&mut stop).unwrap();
            let checkpoint = Checkpoint::read(&stop.1.unwrap()).unwrap();
            let resumed = training.clone().from_checkpoint(checkpoint).run(&mut crate::Silent).unwrap();
            assert_eq!(resumed.model.to_json(), whole.model.to_json());
            assert_eq!(resumed.train_scores_canonical, whole.train_scores_canonical);
        }
    }
}

/// Damaged states are refused, or are states of finite numbers.
#[test]
fn a_state_is_not_trusted() {
    let data = dataset(&docs(100, 5));
    with_task(spec(Network::Attention, Norm::Batch), &data, |task| {
        let mut neural = Neural::new(task).unwrap();
        neural.round().unwrap();
        let saved = neural.save();
        let scores = neural.scores(0);
        neural.round().unwrap();
        assert_ne!(neural.scores(0), scores);
        neural.load(&saved).unwrap();
        assert_eq!((neural.scores(0), neural.save()), (scores, saved.clone()));
        for len in (0..saved.len()).step_by(97) {
            assert!(neural.load(&saved[..len]).is_err());
        }
        for place in (0..saved.len()).step_by(11) {
            let mut damaged = saved.clone();
            damaged[place] ^= 0xff;
            if neural.load(&damaged).is_ok() {
                assert!(neural.fitted().is_ok() && neural.scores(0).iter().all(|score| score.is_finite()));
            }
        }
    });
}

/// Queries with labels 0 and 1 where one feature tells them apart, and another is what a test asks for.
fn odd_docs(value: impl Fn(usize) -> f32) -> Vec<Doc> {
    let doc = |row: usize| {
        let label = f32::from(u8::from(row.is_multiple_of(3)));
        let features = vec![(1, label + (row % 5) as f32 * 0.1), (2, value(row))];
        (format!("q{}", row / 6), label, format!("d{row}"), features)
    };
    (0..60).map(doc).collect()
}

#[test]
fn odd_features_give_finite_models() {
    type Value = fn(usize) -> f32;
    let values: [(&str, Value); 6] = [
        ("constant", |_| 3.0),
        ("missing", |_| f32::NAN),
        ("tiny", |row| row as f32 * 1e-30),
        ("huge", |row| (row as f32 - 20.0) * 1e30),
        ("mixed", |row| if row % 2 == 0 { 1e-30 } else { 1e30 }),
        ("largest", |row| if row % 2 == 0 { f32::MIN } else { f32::MAX }),
    ];
    for (name, value) in values {
        let data = dataset(&odd_docs(value));
        for spec in specs() {
            for (scaling, log1p) in [("standard", true), ("none", false), ("query", false)] {
                let scaling = crate::Scaling::parse(scaling).unwrap();
                let trained = trained(&spec.clone().scaling(scaling).log1p(Some(log1p)), &data);
                assert!(trained.train_scores_canonical.iter().all(|score| score.is_finite()), "{name}");
                let back = rankwise_model::Model::from_json(trained.model.to_json().as_bytes()).unwrap();
                assert_eq!(back, trained.model);
            }
        }
    }
}

#[test]
fn data_without_anything_to_learn_from_is_an_error() {
    let params = spec(Network::Mlp, Norm::Layer).check().unwrap();
    let error = |docs: &[Doc]| Training::new(&params, &dataset(docs)).run(&mut crate::Silent).unwrap_err();
    let mut docs = odd_docs(|_| 1.0);
    for doc in &mut docs {
        doc.3 = vec![(1, 2.0)];
    }
    assert_eq!(error(&docs), TrainError::ConstantFeatures);
    for doc in &mut docs {
        doc.3.clear();
    }
    assert_eq!(error(&docs), TrainError::NoFeatures);
    let mut docs = odd_docs(|row| row as f32);
    for doc in &mut docs {
        doc.1 = 1.0;
    }
    assert!(matches!(error(&docs), TrainError::Objective(_)));
}

/// Steps so large that activations overflow leave weights finite.
#[test]
fn huge_steps_leave_weights_finite() {
    let data = dataset(&docs(200, 5));
    for spec in specs() {
        let trained = trained(&spec.adam_rate(10.0).epochs(10).weight_decay(1e6), &data);
        assert!(trained.train_scores_canonical.iter().all(|score| score.is_finite()));
    }
}

/// The share of pairs with different labels that the scores order.
fn ordered(data: &Dataset, scores: &[f64]) -> f64 {
    let (mut right, mut all) = (0, 0);
    for query in data.queries() {
        for a in query.rows.clone() {
            for b in query.rows.clone().filter(|b| data.labels()[a] > data.labels()[*b]) {
                right += usize::from(scores[a] > scores[b]);
                all += 1;
            }
        }
    }
    right as f64 / all as f64
}

#[test]
fn every_network_and_norm_learns() {
    let data = dataset(&odd_docs(|row| (row * 7 % 11) as f32));
    for spec in specs() {
        let trained = trained(&spec.epochs(60).adam_rate(0.01), &data);
        let found = ordered(&data, &trained.train_scores_canonical);
        assert!(found > 0.95, "{found} {:?}", trained.model.params());
    }
}

/// A document with weight 0 changes nothing, and neither does a query with weight 0 but for batch norm, which sees it.
#[test]
fn weights_count() {
    let docs = odd_docs(|row| (row % 7) as f32);
    let weighted = |weight: f32| {
        let labels: Vec<f32> = docs.iter().map(|doc| doc.1).collect();
        let values: Vec<f32> = docs.iter().flat_map(|doc| [doc.3[0].1, doc.3[1].1]).collect();
        let weights: Vec<f32> = (0..docs.len()).map(|row| if row < 6 { weight } else { 1.0 }).collect();
        let sizes = vec![6; docs.len() / 6];
        Dataset::from_dense(&values, 2).labels(&labels).weights(&weights).group_sizes(&sizes).build().unwrap()
    };
    let weights_of = |data: &Dataset| {
        let trained = trained(&spec(Network::Attention, Norm::Layer), data);
        let rankwise_model::Ranker::Neural(neural) = trained.model.ranker() else { panic!() };
        neural.weights().to_vec()
    };
    assert_ne!(weights_of(&weighted(1.0)), weights_of(&weighted(5.0)));
}
