//! Tests of all parts together.

mod boosters;
mod docs;
mod engines;
mod ensembles;
mod examples;
mod explain;
mod f64_features;
mod front_door;
mod langevin;
mod learners;
mod learning;
mod members;
mod one_answer;
mod peer_example;
mod prune;
mod refit;
mod resume;
mod second_engine;
mod selection;
mod shape;
mod start;
mod step;

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{DatasetBuilder, Row};
use rankwise::model::{Tree, TreeEnsemble};
use rankwise::prelude::*;

/// A document with everything that belongs to it, independent of any order.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "`doc_id` is what the field is called everywhere")]
struct Doc {
    qid: String,
    doc_id: String,
    label: f32,
    features: Vec<(u32, f32)>,
}

/// The tree ensemble of a model.
fn ensemble(model: &Model) -> &TreeEnsemble {
    model.tree_ensemble().unwrap()
}

/// The trees of a model.
fn trees_of(model: &Model) -> &[Tree] {
    ensemble(model).trees()
}

/// The model with other trees.
fn with_trees(model: &Model, trees: Vec<Tree>) -> Model {
    model.with_ranker(ensemble(model).with_trees(trees).unwrap()).unwrap()
}

/// Documents of the web preset.
fn web_docs(rows: usize, features: usize, seed: u64) -> Vec<Doc> {
    let synth = SynthSpec { preset: Preset::Web, rows, features: Some(features), seed }.check().unwrap();
    let mut docs = Vec::new();
    for query in 0..synth.n_queries() {
        let query = synth.query(query);
        docs.extend(query.docs.into_iter().map(|doc| Doc {
            qid: query.qid.clone(),
            doc_id: doc.doc_id,
            label: doc.label,
            features: doc.features,
        }));
    }
    docs
}

fn dataset(docs: &[Doc]) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for doc in docs {
        let row = Row { qid: &doc.qid, label: doc.label, doc_id: &doc.doc_id, features: &doc.features };
        builder.push(&row).unwrap();
    }
    builder.finish().unwrap()
}

fn params(settings: &[(&str, &str)]) -> TrainParams {
    let mut spec = TrainSpec::default();
    spec.set_all(settings.iter().copied()).unwrap();
    spec.check().unwrap()
}

fn ndcg10(data: &Dataset, scores: &[f64]) -> f64 {
    let names = [MetricName::parse("ndcg@10").unwrap()];
    Evaluator::new(data, &names, &Rules::default()).unwrap().evaluate_canonical(scores).unwrap().metrics[0]
        .mean
        .unwrap()
}
