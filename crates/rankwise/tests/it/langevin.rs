//! Langevin boosting: its purpose, and its trace in the model.

use rankwise::data::DatasetBuilder;
use rankwise::prelude::*;

use crate::{dataset, ensemble, params, trees_of, web_docs};

/// Two queries whose NDCG@3 has two local optima: x1 > x3 > x2 with 0.90306, and x1 > x2 > x3, the best, with 0.91700.
fn two_optima() -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (qid, label, feature) in [("1", 3.0, 1), ("1", 2.0, 2), ("1", 1.0, 3), ("2", 3.0, 3), ("2", 2.0, 1)] {
        let features: Vec<(u32, f32)> = (1..=3).map(|id| (id, f32::from(u8::from(id == feature)))).collect();
        builder.push(&Row { qid, label, doc_id: "", features: &features }).unwrap();
    }
    builder.finish().unwrap()
}

/// The scores of the three kinds of documents after each tree. Shrinking does not change the order, so the first trees
/// of the final model give the same order as at that time.
fn iterates(model: &Model) -> Vec<[f64; 3]> {
    let mut scores = [ensemble(model).base_score(); 3];
    let kind = |one: usize| model.features().iter().map(|id| f64::from(u8::from(*id as usize == one + 1))).collect();
    let values: [Vec<f64>; 3] = [0, 1, 2].map(kind);
    let trees = trees_of(model).iter();
    trees
        .map(|tree| {
            for (score, values) in scores.iter_mut().zip(&values) {
                *score += tree.parts().leaf_value[tree.leaf(values)];
            }
            scores
        })
        .collect()
}

/// The setting of the synthetic experiment in the StochasticRank paper. The last iterate is at the global optimum in at
/// least 16 of 20 runs, and so are at least four of five of the last 500 iterates.
#[test]
fn stochasticrank_finds_the_global_optimum() {
    let data = two_optima();
    let is_best = |scores: &[f64; 3]| scores[0] > scores[1] && scores[1] > scores[2];
    let (mut n_last, mut n_iterates) = (0, 0);
    for seed in 1..=20 {
        let settings = [
            ("objective", "stochasticrank"),
            ("target", "ndcg@3"),
            ("langevin", "true"),
            ("diffusion_temperature", "1000"),
            ("model_shrink_rate", "0.001"),
            ("num_trees", "1000"),
            ("grow", "leafwise"),
            ("max_depth", "3"),
            ("min_data_in_leaf", "1"),
            ("learning_rate", "0.1"),
            ("seed", &seed.to_string()),
        ];
        let iterates = iterates(&train(&params(&settings), &data, &[], &mut Silent).unwrap().model);
        assert_eq!(iterates.len(), 1000);
        n_last += usize::from(is_best(&iterates[999]));
        n_iterates += iterates[500..].iter().filter(|scores| is_best(scores)).count();
    }
    assert!(n_last >= 16 && n_iterates >= 8000, "{n_last} of 20 runs, {n_iterates} of 10,000 iterates");
}

/// The leaves of a shrunk model include all later factors: its scores are those at the end of training.
#[test]
fn a_shrunk_model_scores_as_it_did_in_training() {
    let (data, valid) = (dataset(&web_docs(1500, 20, 1)), dataset(&web_docs(700, 20, 2)));
    for (mode, rate) in [("constant", "0.3"), ("decreasing", "0.2")] {
        for objective in ["lambdamart", "rmse"] {
            let settings = [
                ("objective", objective),
                ("model_shrink_rate", rate),
                ("model_shrink_mode", mode),
                ("num_trees", "30"),
                ("min_gain_to_split", "0.5"),
                ("bagging_fraction", "0.3"),
                ("bagging_freq", "1"),
            ];
            let trained = train(&params(&settings), &data, &[], &mut Silent).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
            let scores = rankwise::predict_canonical(&trained.model, &data);
            assert!(
                scores.iter().zip(&trained.train_scores_canonical).all(|(a, b)| close(*a, *b)),
                "{mode} {objective}"
            );

            let sets = [ValidSet { name: "valid", data: &valid }];
            let cut = train(&params(&settings), &data, &sets, &mut Silent).unwrap();
            let value = crate::ndcg10(&valid, &rankwise::predict_canonical(&cut.model, &valid));
            assert!(close(value, cut.values[0].value), "{mode} {objective}: {value} and {}", cut.values[0].value);
        }
    }
}

#[test]
fn noise_shows_and_fades_as_it_cools() {
    let data = dataset(&web_docs(1500, 20, 1));
    let scores = |more: &[(&str, &str)]| {
        let common = [("num_trees", "10"), ("model_shrink_rate", "0"), ("objective", "rmse")];
        train(&params(&[&common, more].concat()), &data, &[], &mut Silent).unwrap().train_scores_canonical
    };
    let plain = scores(&[]);
    let distance = |temperature: &str| {
        let noisy = scores(&[("langevin", "true"), ("diffusion_temperature", temperature)]);
        noisy.iter().zip(&plain).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    };
    let (hot, cold) = (distance("1e2"), distance("1e12"));
    assert!(hot > 1000.0 * cold && cold > 0.0, "{hot} and {cold}");
}
