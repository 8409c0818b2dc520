//! A custom objective: `cargo run --release -p rankwise --example own_objective`.
//!
//! An objective sees the labels and scores of one query and writes the gradients and Hessians of its loss. It need not
//! care about weights, threads, trees, validation or the model file.

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::objectives::{self, GradientSlices, Objective, QueryDocs};
use rankwise::prelude::*;

/// -log of the probability that the first document is relevant, if it is drawn from the softmax of the scores.
struct FirstIsRelevant;

impl Objective for FirstIsRelevant {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut objectives::Scratch) {
        let highest = docs.scores.iter().copied().fold(f64::MIN, f64::max);
        let power = |doc: usize| libm::exp(docs.scores[doc] - highest);
        let is_relevant = |doc: usize| docs.labels[doc] > 0.0;
        let all: f64 = (0..docs.labels.len()).map(power).sum();
        let relevant: f64 = (0..docs.labels.len()).filter(|doc| is_relevant(*doc)).map(power).sum();
        for doc in 0..docs.labels.len() {
            let chance = power(doc) / all;
            let among_relevant = if is_relevant(doc) { power(doc) / relevant } else { 0.0 };
            // There is nothing to learn from a query without relevant documents.
            out.grad[doc] = if relevant > 0.0 { (chance - among_relevant) as f32 } else { 0.0 };
            out.hess[doc] = (chance * (1.0 - chance)) as f32;
        }
    }
}

fn main() -> Result<(), rankwise::Error> {
    let web = |seed: u64| SynthSpec { preset: Preset::Web, rows: 5_000, features: Some(30), seed }.check();
    let (data, valid) = (web(1)?.dataset(), web(2)?.dataset());
    let metric = MetricName::parse_list("mrr")?;
    let params = TrainSpec::default().num_trees(100).early_stopping_rounds(10).metric(metric).check()?;
    let sets = [ValidSet { name: "valid", data: &valid }];
    let trained = Training::new(&params, &data)
        .valid(&sets)
        .own_objective("first-is-relevant", &FirstIsRelevant)
        .run(&mut Silent)?;
    let n_trees = trained.model.tree_ensemble()?.n_trees();
    println!("{}: {n_trees} trees, mrr {:.4}", trained.model.objective(), trained.values[0].value);

    println!("{}", evaluate(&valid, &predict(&trained.model, &valid), "ndcg@10")?);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
