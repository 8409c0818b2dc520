//! Compares gradients with direct sums, differences and reference values.

mod differences;
mod labels;
mod lambdamart;
mod multiclass;
mod pairwise;
mod plackett_luce;
mod queries;
mod rmse;
mod smooth;
mod stochastic;
mod targets;
mod xendcg;
mod yetirank;

use rankwise_data::{Dataset, DatasetBuilder, Row};
use rankwise_objectives::{ObjectiveParams, ObjectiveSpec, Round};

/// One document: query, label, score.
type Doc = (u8, f32, f64);

fn dataset(docs: &[Doc]) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (idx, (qid, label, _)) in docs.iter().enumerate() {
        let (qid, doc_id) = (format!("q{qid}"), format!("d{idx:03}"));
        builder.push(&Row { qid: &qid, label: *label, doc_id: &doc_id, features: &[] }).unwrap();
    }
    builder.finish().unwrap()
}

fn params(change: impl FnOnce(&mut ObjectiveSpec)) -> ObjectiveParams {
    let mut spec = ObjectiveSpec::default();
    change(&mut spec);
    spec.check().unwrap()
}

/// Gradients and Hessians in input order.
fn gradients(docs: &[Doc], bind: impl Fn(&Dataset) -> Box<dyn rankwise_objectives::Objective>) -> (Vec<f32>, Vec<f32>) {
    let data = dataset(docs);
    gradients_of(&data, &docs.iter().map(|(_, _, score)| *score).collect::<Vec<_>>(), bind)
}

fn gradients_of(
    data: &Dataset,
    scores: &[f64],
    bind: impl Fn(&Dataset) -> Box<dyn rankwise_objectives::Objective>,
) -> (Vec<f32>, Vec<f32>) {
    let objective = bind(data);
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    let scores = data.from_input_order(scores);
    rankwise_objectives::gradients(&*objective, data, Round::default(), &scores, (&mut grad, &mut hess));
    (data.to_input_order(&grad), data.to_input_order(&hess))
}
