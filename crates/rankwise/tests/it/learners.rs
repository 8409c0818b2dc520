//! Learners that are not boosting, on data of all kinds.

use rankwise::data::DatasetBuilder;
use rankwise::metrics::Ties;
use rankwise::prelude::*;
use rankwise::train::{Learner, TrainError};

use crate::resume::LEARNERS;
use crate::{Doc, dataset, params, web_docs};

/// Over all orders of documents with equal scores, of which a few stumps leave many.
fn ndcg10(data: &Dataset, scores: &[f64]) -> f64 {
    let names = [MetricName::parse("ndcg@10").unwrap()];
    let rules = Rules { ties: Ties::Average, ..Rules::default() };
    Evaluator::new(data, &names, &rules).unwrap().evaluate_canonical(scores).unwrap().metrics[0].mean.unwrap()
}

fn trained(settings: &[(&str, &str)], docs: &[Doc]) -> Result<Trained, TrainError> {
    let settings = [&[("num_trees", "8")], settings].concat();
    let settings: Vec<_> = settings.into_iter().filter(|(name, _)| *name != "early_stopping_rounds").collect();
    train(&params(&settings), &dataset(docs), &[], &mut Silent)
}

#[test]
fn every_learner_is_in_the_list() {
    for learner in Learner::ALL.iter().filter(|learner| !learner.is_boosting()) {
        let name = learner.render();
        assert!(LEARNERS.iter().any(|settings| settings[0] == ("learner", &name)), "{name}");
    }
}

/// Also: the scores of the run have the bits of the model's.
#[test]
fn every_learner_learns() {
    let docs = web_docs(2000, 12, 1);
    let data = dataset(&docs);
    let random = ndcg10(&data, &vec![0.0; data.n_rows()]);
    for settings in LEARNERS {
        // A network needs more epochs than tests of checkpoints have.
        let more =
            |setting: &(&'static str, &'static str)| if setting.0 == "epochs" { ("epochs", "40") } else { *setting };
        let longer: Vec<_> = settings.iter().map(more).collect();
        let trained = trained(&longer, &docs).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
        let scores = rankwise::predict_canonical(&trained.model, &data);
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&scores), bits(&trained.train_scores_canonical), "{settings:?}");
        assert!(ndcg10(&data, &scores) > random + 0.03, "{settings:?}: {} {random}", ndcg10(&data, &scores));
        let back = Model::from_json(trained.model.to_json().as_bytes()).unwrap();
        assert_eq!(bits(&rankwise::predict_canonical(&back, &data)), bits(&scores), "{settings:?}");
    }
}

/// A model or a clear error, and finite scores.
#[test]
fn hostile_data_gives_finite_scores_or_an_error() {
    let docs = web_docs(400, 4, 5);
    let changed = |change: &dyn Fn(usize, &mut Doc)| -> Vec<Doc> {
        let mut docs = docs.clone();
        docs.iter_mut().enumerate().for_each(|(idx, doc)| change(idx, doc));
        docs
    };
    let all = |doc: &mut Doc, change: &dyn Fn(f32) -> f32| {
        doc.features.iter_mut().for_each(|(_, value)| *value = change(*value));
    };
    let cases: Vec<(&str, Vec<Doc>)> = vec![
        ("constant features", changed(&|_, doc| all(doc, &|_| 3.0))),
        ("one constant feature", changed(&|_, doc| doc.features[0].1 = 7.0)),
        ("tiny values", changed(&|_, doc| all(doc, &|value| value * 1e-30))),
        ("huge values", changed(&|_, doc| all(doc, &|value| value * 1e30))),
        (
            "both",
            changed(&|_, doc| {
                doc.features.iter_mut().for_each(|(id, value)| {
                    *value *= if *id % 2 == 0 { 1e-30 } else { 1e30 };
                });
            }),
        ),
        ("missing columns", changed(&|_, doc| all(doc, &|_| f32::NAN))),
        ("one missing column", changed(&|_, doc| doc.features[0].1 = f32::NAN)),
        ("one class", changed(&|_, doc| doc.label = 1.0)),
        ("no relevant documents", changed(&|_, doc| doc.label = 0.0)),
        (
            "infinite values",
            changed(&|idx, doc| doc.features[0].1 = if idx % 3 == 0 { f32::INFINITY } else { f32::NEG_INFINITY }),
        ),
        ("single documents", changed(&|idx, doc| doc.qid = idx.to_string())),
    ];
    for (name, docs) in &cases {
        let data = dataset(docs);
        for settings in LEARNERS {
            match trained(settings, docs) {
                Ok(trained) => {
                    let scores = rankwise::predict_canonical(&trained.model, &data);
                    assert!(scores.iter().all(|score| score.is_finite()), "{name}: {settings:?}");
                    assert!(Model::from_json(trained.model.to_json().as_bytes()).is_ok(), "{name}: {settings:?}");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.len() > 30, "{name}: {settings:?}: {text}");
                    assert!(!["tiny values", "huge values", "both"].contains(name), "{name}: {settings:?}: {text}");
                }
            }
        }
    }
}

/// Weights of queries reach every learner.
#[test]
fn weights_of_queries_count() {
    let docs = web_docs(600, 6, 3);
    let n_queries = dataset(&docs).n_queries();
    let weighted = |weight: &dyn Fn(usize) -> f32| {
        let mut builder = DatasetBuilder::default();
        for doc in &docs {
            let row = Row { qid: &doc.qid, label: doc.label, doc_id: &doc.doc_id, features: &doc.features };
            builder.push(&row).unwrap();
        }
        builder.query_weights((0..n_queries).map(weight).collect());
        builder.finish().unwrap()
    };
    for settings in LEARNERS {
        let settings: Vec<_> = [&[("num_trees", "5")], settings].concat();
        let settings: Vec<_> = settings.into_iter().filter(|(name, _)| *name != "early_stopping_rounds").collect();
        let model = |data: &Dataset| train(&params(&settings), data, &[], &mut Silent).unwrap();
        let (equal, half) = (weighted(&|_| 1.0), weighted(&|query| if query % 2 == 0 { 1.0 } else { 0.0 }));
        let scores = [&equal, &half].map(|data| model(data).train_scores_canonical);
        assert_ne!(scores[0], scores[1], "{settings:?}");
    }
}
