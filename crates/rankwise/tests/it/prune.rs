//! Pruning within a bound.

use rankwise::prelude::*;
use rankwise::train::{PruneError, prune};

use crate::{dataset, ndcg10, params, trees_of, web_docs, with_trees};

fn metric() -> MetricName {
    MetricName::parse("ndcg@10").unwrap()
}

#[test]
fn trees_are_dropped_within_the_bound_and_the_more_the_wider_it_is() {
    let (data, valid) = (dataset(&web_docs(3000, 20, 1)), dataset(&web_docs(3000, 20, 2)));
    let model = train(&params(&[("num_trees", "80"), ("num_leaves", "8")]), &data, &[], &mut Silent).unwrap().model;
    let rules = Rules::default();
    let before = ndcg10(&valid, &rankwise::predict_canonical(&model, &valid));
    let mut last = trees_of(&model).len();
    for max_loss in [0.0, 0.002, 0.02, 2.0] {
        let pruned = prune(&model, &valid, &metric(), &rules, max_loss).unwrap();
        let back = Model::from_json(pruned.model.to_json().as_bytes()).unwrap();
        let after = ndcg10(&valid, &rankwise::predict_canonical(&back, &valid));
        assert_eq!((pruned.before, pruned.after), (before, after));
        assert!(after >= before - max_loss, "{before} to {after}");
        assert!(trees_of(&back).len() <= last, "{} trees within {max_loss}", trees_of(&back).len());
        last = trees_of(&back).len();
        // Scores stay on their scale.
        let mean =
            |model: &Model| rankwise::predict_canonical(model, &valid).iter().sum::<f64>() / valid.n_rows() as f64;
        assert!((mean(&model) - mean(&back)).abs() < 1e-9);
        let recorded = back.params().get("pruned").map_or("", String::as_str);
        assert!(
            trees_of(&back).len() == 80
                || recorded.starts_with(&format!("max_loss={max_loss} metric=ndcg@10 trees=80"))
        );
    }
    assert_eq!(last, 1);
    // The kept trees with their weights approximate the model better than the same number of first trees.
    let some = prune(&model, &valid, &metric(), &rules, 0.02).unwrap().model;
    let first = with_trees(&model, trees_of(&model)[..trees_of(&some).len()].to_vec());
    let whole = rankwise::predict_canonical(&model, &valid);
    let distance = |model: &Model| -> f64 {
        let differences: Vec<f64> =
            rankwise::predict_canonical(model, &valid).iter().zip(&whole).map(|(a, b)| a - b).collect();
        let of_query = |query: usize| {
            let differences = &differences[valid.query_rows(query)];
            let mean = differences.iter().sum::<f64>() / differences.len() as f64;
            differences.iter().map(|difference| (difference - mean) * (difference - mean)).sum::<f64>()
        };
        (0..valid.n_queries()).map(of_query).sum()
    };
    assert!(trees_of(&some).len() < 70, "{} trees", trees_of(&some).len());
    assert!(distance(&some) < 0.5 * distance(&first), "{} {}", distance(&some), distance(&first));
}

#[test]
fn trees_that_say_the_same_are_one() {
    let data = dataset(&web_docs(600, 10, 1));
    let one = train(&params(&[("num_trees", "3")]), &data, &[], &mut Silent).unwrap().model;
    let twice = with_trees(&one, [trees_of(&one), trees_of(&one)].concat());
    let pruned = prune(&twice, &data, &metric(), &Rules::default(), 0.001).unwrap();
    assert!(trees_of(&pruned.model).len() <= 3);
    if trees_of(&pruned.model).len() == 3 {
        let whole: Vec<f64> = rankwise::predict_canonical(&twice, &data);
        for (found, expected) in rankwise::predict_canonical(&pruned.model, &data).iter().zip(whole) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_threads_or_order() {
    let docs = web_docs(900, 12, 5);
    let model = train(&params(&[("num_trees", "30")]), &dataset(&docs), &[], &mut Silent).unwrap().model;
    let pruned = |docs: &[crate::Doc], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| prune(&model, &dataset(docs), &metric(), &Rules::default(), 0.01).unwrap().model.to_json())
    };
    let backwards: Vec<crate::Doc> = docs.iter().rev().cloned().collect();
    assert_eq!(pruned(&docs, 1), pruned(&backwards, 3));
}

#[test]
fn what_cannot_be_pruned_is_refused() {
    let data = dataset(&web_docs(300, 6, 4));
    let rules = Rules::default();
    let model = |settings: &[(&str, &str)]| train(&params(settings), &data, &[], &mut Silent).unwrap().model;
    let plain = model(&[("num_trees", "2")]);
    for bound in [-1.0, f64::NAN] {
        assert!(matches!(prune(&plain, &data, &metric(), &rules, bound), Err(PruneError::Bound(_))));
    }
    let multiclass = model(&[("num_trees", "2"), ("objective", "multiclass")]);
    assert!(matches!(prune(&multiclass, &data, &metric(), &rules, 0.1), Err(PruneError::Outputs)));
    let bare = with_trees(&plain, Vec::new());
    assert_eq!(prune(&bare, &data, &metric(), &rules, 0.1).unwrap_err(), PruneError::NoTrees);
}
