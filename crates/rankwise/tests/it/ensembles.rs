//! Learners that change the factors of earlier trees.

use rankwise::prelude::*;

use crate::{dataset, ndcg10, params, trees_of, web_docs};

const LEARNERS: [&[(&str, &str)]; 5] = [
    &[("learner", "dart"), ("drop_rate", "0.3"), ("skip_drop", "0.2")],
    &[("learner", "dart"), ("drop_rate", "0.3"), ("skip_drop", "0.2"), ("xgboost_dart_mode", "true")],
    &[("learner", "dart"), ("uniform_drop", "true"), ("objective", "multiclass"), ("max_drop", "2")],
    &[("learner", "random-forest"), ("bagging_fraction", "0.6"), ("bagging_freq", "1"), ("feature_fraction", "0.7")],
    &[("learner", "random-forest"), ("objective", "multiclass"), ("sample", "query-bagging"), ("subsample", "0.5")],
];

/// The model has the factors of its last tree, or of its best one.
#[test]
fn a_model_scores_as_it_did_in_training() {
    let (data, valid) = (dataset(&web_docs(1500, 20, 1)), dataset(&web_docs(700, 20, 2)));
    for settings in LEARNERS {
        let params = params(&[&[("num_trees", "40"), ("min_data_in_leaf", "5")], settings].concat());
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
        let trained = train(&params, &data, &[], &mut Silent).unwrap();
        let scores = rankwise::predict_canonical(&trained.model, &data);
        assert!(scores.iter().zip(&trained.train_scores_canonical).all(|(a, b)| close(*a, *b)), "{settings:?}");

        let sets = [ValidSet { name: "valid", data: &valid }];
        let cut = train(&params, &data, &sets, &mut Silent).unwrap();
        let value = ndcg10(&valid, &rankwise::predict_canonical(&cut.model, &valid));
        assert!(close(value, cut.values[0].value), "{settings:?}: {value} and {}", cut.values[0].value);
        assert!(!trees_of(&cut.model).is_empty());
    }
}

#[test]
fn without_drops_dart_is_plain_boosting() {
    let data = dataset(&web_docs(1500, 20, 1));
    let trees = |settings: &[(&str, &str)]| {
        let json = train(&params(settings), &data, &[], &mut Silent).unwrap().model.to_json();
        json[json.find("\"base_score\"").unwrap()..].to_owned()
    };
    let plain = trees(&[("num_trees", "8")]);
    assert_eq!(plain, trees(&[("num_trees", "8"), ("learner", "dart"), ("skip_drop", "1")]));
    assert_eq!(plain, trees(&[("num_trees", "8"), ("learner", "dart"), ("drop_rate", "0")]));
    assert_ne!(plain, trees(&[("num_trees", "8"), ("learner", "dart"), ("drop_rate", "1"), ("skip_drop", "0")]));
}

/// If all earlier trees are dropped, each learns from the initial scores. All trees are then like those of the first
/// round, and are averaged.
#[test]
fn where_all_are_dropped_trees_are_averaged() {
    let data = dataset(&web_docs(1500, 20, 1));
    // An objective that is hardly affected by the rounding of scores when trees are subtracted.
    let common = [("objective", "rmse"), ("num_leaves", "5")];
    let all = [("learner", "dart"), ("drop_rate", "1"), ("skip_drop", "0"), ("max_drop", "0"), ("num_trees", "6")];
    let model = train(&params(&[&common[..], &all].concat()), &data, &[], &mut Silent).unwrap().model;
    let once = train(&params(&[&common[..], &[("num_trees", "1")]].concat()), &data, &[], &mut Silent).unwrap().model;
    let whole = &trees_of(&once)[0].parts().leaf_value;
    for tree in trees_of(&model) {
        assert_eq!(tree.parts().threshold, trees_of(&once)[0].parts().threshold);
        assert!(tree.parts().leaf_value.iter().zip(whole).all(|(part, whole)| (6.0 * part - whole).abs() < 1e-9));
    }
}

/// A forest with squared error is the mean of its trees; each predicts the mean label of a leaf.
#[test]
fn a_forest_predicts_means_and_ranks() {
    let (data, test) = (dataset(&web_docs(3000, 20, 1)), dataset(&web_docs(2000, 20, 2)));
    let common = [("learner", "rf"), ("bagging_fraction", "0.6"), ("bagging_freq", "1"), ("feature_fraction", "0.7")];
    for objective in ["rmse", "lambdamart"] {
        let settings = [&common[..], &[("objective", objective), ("num_trees", "30")]].concat();
        let model = train(&params(&settings), &data, &[], &mut Silent).unwrap().model;
        let scores = rankwise::predict_canonical(&model, &test);
        if objective == "rmse" {
            let largest = data.labels().iter().copied().fold(0.0, f32::max);
            assert!(scores.iter().all(|score| *score >= -1e-6 && *score <= f64::from(largest) + 1e-6));
        }
        let (value, blind) = (ndcg10(&test, &scores), ndcg10(&test, &vec![0.0; test.n_rows()]));
        assert!(value > blind + 0.1, "{objective}: {value}, without a model {blind}");
    }
}
