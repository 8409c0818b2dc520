//! Same data, parameters and seed: the same bytes, for any number of threads and any order of the input.

use rankwise::data::{Draw, Purpose};
use rankwise::objectives::ObjectiveKind;
use rankwise::prelude::*;
use rankwise::train::{Learner, Sample, StepKind};
use rankwise::trees::Growth;

use crate::resume::LEARNERS;
use crate::{Doc, dataset, ensemble, params, trees_of, web_docs};

/// Everything that could depend on order, several at a time: growth policies, samples by document and by query, sampled
/// features, regularisation, constraints, gradient steps, objectives with random numbers, several outputs, noise.
pub(crate) const SETTINGS: [&[(&str, &str)]; 19] = [
    &[("num_leaves", "15")],
    &[
        ("bagging_fraction", "0.6"),
        ("bagging_freq", "2"),
        ("feature_fraction", "0.5"),
        ("feature_fraction_bynode", "0.7"),
    ],
    &[
        ("grow", "levelwise"),
        ("sample", "query-bagging"),
        ("bagging_fraction", "0.5"),
        ("lambda_l1", "0.1"),
        ("lambda_l2", "1"),
    ],
    &[("grow", "oblivious"), ("num_leaves", "16"), ("structure", "gradient"), ("max_bin", "31")],
    &[("monotone_constraints", "3:1,5:-1"), ("leaf_estimation", "gradient"), ("bin_construct_sample_cnt", "500")],
    &[("objective", "multiclass"), ("bagging_fraction", "0.6"), ("bagging_freq", "2"), ("feature_fraction", "0.5")],
    &[("objective", "plackett-luce"), ("target", "map"), ("samples", "5")],
    &[("objective", "p-listmle"), ("samples", "2")],
    &[("objective", "xendcg"), ("feature_fraction", "0.5")],
    &[("objective", "stochasticrank"), ("target", "ndcg@5"), ("mu", "0.1"), ("samples", "3")],
    &[("langevin", "true"), ("model_shrink_rate", "0"), ("lambda_l2", "0.5")],
    &[("sample", "high-low"), ("p_high", "10"), ("p_low", "20"), ("sample_every", "2")],
    &[("sample", "goss"), ("learning_rate", "0.5"), ("objective", "multiclass")],
    &[("sample", "mvs"), ("subsample", "0.4"), ("structure", "gradient")],
    &[("sample", "negatives"), ("p_negatives", "30"), ("sample_every", "2")],
    &[("sample", "inliers"), ("outlier_trees", "5"), ("objective", "rmse")],
    &[("step", "exact"), ("bagging_fraction", "0.6"), ("bagging_freq", "2")],
    &[("step", "line"), ("objective", "ranknet")],
    &[("leaves_schedule", "1:4,3:20"), ("leaf_smoothing", "5"), ("prune", "true"), ("min_gain_to_split", "0.2")],
];

/// Learners that reduce the factors of earlier trees: training scores equal those of the model up to rounding.
pub(crate) const RESCALED: [&[(&str, &str)]; 3] = [
    &[("learner", "dart"), ("drop_rate", "0.4"), ("skip_drop", "0.2")],
    &[("learner", "dart"), ("drop_rate", "0.4"), ("skip_drop", "0"), ("objective", "multiclass"), ("sample", "goss")],
    &[("learner", "rf"), ("sample", "query-bagging"), ("bagging_fraction", "0.5"), ("feature_fraction", "0.5")],
];

/// Documents with duplicates: some rows occur two or three times.
pub(crate) fn docs_with_twins(with_ids: bool) -> Vec<Doc> {
    let mut docs = web_docs(1500, 24, 7);
    let twins: Vec<Doc> = docs.iter().step_by(7).chain(docs.iter().step_by(21)).cloned().collect();
    docs.extend(twins);
    for doc in docs.iter_mut().filter(|_| !with_ids) {
        doc.doc_id.clear();
    }
    docs
}

/// The settings of other learners, for runs without a validation set.
fn without_early_stopping() -> impl Iterator<Item = &'static [(&'static str, &'static str)]> {
    LEARNERS.into_iter().filter(|settings| settings.iter().all(|(name, _)| *name != "early_stopping_rounds"))
}

fn shuffled(docs: &[Doc], seed: u64) -> Vec<Doc> {
    let draw = Draw::new(seed, Purpose::Split, 0);
    let mut keyed: Vec<(f64, &Doc)> = (0..).zip(docs).map(|(idx, doc)| (draw.uniform(idx, 0), doc)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, doc)| doc.clone()).collect()
}

fn model_json(docs: &[Doc], settings: &[(&str, &str)], threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let all: Vec<(&str, &str)> =
            [("num_trees", "8"), ("min_data_in_leaf", "5")].iter().chain(settings).copied().collect();
        let params = params(&all);
        let model = train(&params, &dataset(docs), &[], &mut Silent).unwrap().model;
        if params.boosting().learner.is_boosting() {
            assert_eq!(trees_of(&model).len(), params.boosting().num_trees * ensemble(&model).output().n_outputs());
        }
        model.to_json()
    })
}

#[test]
fn threads_and_order_do_not_show() {
    for with_ids in [true, false] {
        let docs = docs_with_twins(with_ids);
        for settings in SETTINGS.into_iter().chain(RESCALED).chain(without_early_stopping()) {
            let reference = model_json(&docs, settings, 1);
            for threads in [2, 3, 8] {
                assert!(reference == model_json(&docs, settings, threads), "{threads} threads, {settings:?}");
            }
            for seed in 0..3 {
                let docs = shuffled(&docs, seed);
                assert!(reference == model_json(&docs, settings, 2), "shuffled by {seed}, {settings:?}");
            }
        }
    }
}

/// Every objective, sample, learner, step and growth policy on its own.
#[test]
fn every_choice_has_one_answer() {
    let choices = [
        ("objective", ObjectiveKind::ALL.iter().map(ObjectiveKind::render).collect::<Vec<_>>()),
        ("sample", Sample::ALL.iter().map(Sample::render).collect()),
        ("learner", Learner::ALL.iter().map(Learner::render).collect()),
        ("step", StepKind::ALL.iter().map(StepKind::render).collect()),
        ("grow", Growth::ALL.iter().map(Growth::render).collect()),
    ];
    let docs = docs_with_twins(true);
    // Labels as probabilities, for the only objective that requires them.
    let shares: Vec<Doc> = docs.iter().map(|doc| Doc { label: doc.label / 4.0, ..doc.clone() }).collect();
    for (name, value) in choices.iter().flat_map(|(name, values)| values.iter().map(move |value| (*name, value))) {
        let docs = if value == "logistic" { &shares } else { &docs };
        // A forest needs a sample of documents or features, and some samples need a fraction.
        let share = if ["bagging", "query-bagging", "mvs"].contains(&value.as_str()) { "0.6" } else { "1" };
        let settings = [(name, value.as_str()), ("feature_fraction", "0.5"), ("bagging_fraction", share)];
        let one = model_json(docs, &settings, 1);
        // If the order of documents is part of the input, it affects the result.
        let is_given_an_order = value == "select-with-order";
        let other_order = if is_given_an_order { docs.clone() } else { shuffled(docs, 1) };
        for threads in [3, 8] {
            assert!(one == model_json(&other_order, &settings, threads), "{threads} threads, {name}={value}");
        }
    }
}

/// Validation metrics decide where a model ends.
#[test]
fn validation_and_early_stopping_have_one_answer() {
    let (docs, valid) = (docs_with_twins(true), web_docs(900, 24, 9));
    let settings = [("num_trees", "60"), ("early_stopping_rounds", "4"), ("learning_rate", "0.4")];
    let run = |threads: usize, valid: &[Doc]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let valid = dataset(valid);
            let sets = [ValidSet { name: "valid", data: &valid }];
            let trained = train(&params(&settings), &dataset(&docs), &sets, &mut Silent).unwrap();
            (trained.trees_grown, trained.values[0].value.to_bits(), trained.model.to_json())
        })
    };
    let one = run(1, &valid);
    assert!(one.0 < 60, "it should stop early: {} trees", one.0);
    for threads in [2, 3, 8] {
        assert!(run(threads, &shuffled(&valid, 1)) == one, "{threads} threads");
    }
}

#[test]
fn data_and_seed_do_show() {
    let docs = docs_with_twins(false);
    let sampled = SETTINGS[1];
    let trees = |docs: &[Doc], settings: &[(&str, &str)]| {
        let json = model_json(docs, settings, 2);
        json[json.find("\"trees\"").unwrap()..].to_owned()
    };
    let reference = trees(&docs, sampled);
    let other_seed: Vec<(&str, &str)> = sampled.iter().copied().chain([("seed", "4")]).collect();
    assert_ne!(reference, trees(&docs, &other_seed));
    assert_ne!(reference, trees(&docs[1..], sampled));
}

/// The saved model has the same metrics as during training.
#[test]
fn a_saved_model_scores_as_it_did_in_training() {
    let (docs, valid) = (docs_with_twins(true), web_docs(600, 24, 9));
    let (data, valid) = (dataset(&docs), dataset(&valid));
    for settings in SETTINGS {
        let sets = [ValidSet { name: "valid", data: &valid }];
        let trained = train(&params(settings), &data, &sets, &mut Silent).unwrap();
        let back = Model::from_json(trained.model.to_json().as_bytes()).unwrap();
        let scores = rankwise::predict_canonical(&back, &valid);
        assert_eq!(trained.values[0].value.to_bits(), crate::ndcg10(&valid, &scores).to_bits(), "{settings:?}");
        assert!(trained.trees_grown >= trees_of(&back).len() && !trees_of(&back).is_empty());
    }
}

/// The scores kept by the loop, for rows inside and outside the samples, are those of the model.
#[test]
fn training_scores_are_the_models() {
    let data = dataset(&docs_with_twins(true));
    for settings in SETTINGS {
        let trained = train(&params(settings), &data, &[], &mut Silent).unwrap();
        assert_eq!(trained.train_scores_canonical, rankwise::predict_canonical(&trained.model, &data), "{settings:?}");
    }
}
