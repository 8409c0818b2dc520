//! Refitting leaf values to other data.

use rankwise::model::{Model, Tree};
use rankwise::prelude::*;
use rankwise::train::{TrainError, refit};

use crate::{Doc, dataset, ensemble, ndcg10, params, trees_of, web_docs};

type Settings<'a> = &'a [(&'a str, &'a str)];

const SETTINGS: [Settings<'static>; 5] = [
    &[("num_leaves", "15")],
    &[("lambda_l2", "2"), ("lambda_l1", "0.05"), ("learning_rate", "0.3")],
    &[("objective", "rmse"), ("leaf_estimation", "gradient")],
    &[("objective", "multiclass")],
    &[("objective", "plackett-luce"), ("samples", "2"), ("seed", "5")],
];

fn trained(settings: Settings<'_>, data: &Dataset) -> (TrainParams, Model) {
    let params = params(&[&[("num_trees", "7"), ("min_data_in_leaf", "5")], settings].concat());
    let model = train(&params, data, &[], &mut Silent).unwrap().model;
    (params, model)
}

fn all_values(model: &Model) -> Vec<f64> {
    trees_of(model).iter().flat_map(|tree| tree.parts().leaf_value.clone()).collect()
}

#[test]
fn on_its_own_data_a_model_gets_its_own_values() {
    let data = dataset(&web_docs(900, 14, 1));
    for settings in SETTINGS {
        let (_, model) = trained(settings, &data);
        let params = TrainSpec::of_model(&model).unwrap().check().unwrap();
        for decay in [0.0, 0.4, 1.0] {
            let again = refit(&params, &model, &data, decay).unwrap();
            for (old, new) in all_values(&model).iter().zip(all_values(&again)) {
                assert!((old - new).abs() <= 1e-5 * old.abs().max(1e-2), "{settings:?}: {old} to {new}");
            }
            let structure = |model: &Model| {
                let of_tree = |tree: &Tree| (tree.parts().feature.clone(), tree.parts().threshold.clone());
                trees_of(model).iter().map(of_tree).collect::<Vec<_>>()
            };
            assert_eq!(structure(&model), structure(&again));
        }
        assert_eq!(all_values(&model), all_values(&refit(&params, &model, &data, 1.0).unwrap()));
    }
}

/// For squared loss, leaf values are means of residuals: computed here document by document, in plain arithmetic.
#[test]
fn values_are_those_of_an_oracle() {
    let (first, second) = (dataset(&web_docs(700, 10, 1)), dataset(&web_docs(300, 10, 2)));
    let (params, model) = trained(&[("objective", "rmse"), ("learning_rate", "0.1"), ("lambda_l2", "1.5")], &first);
    let decay = 0.3;
    let new = refit(&params, &model, &second, decay).unwrap();
    let mut scores = vec![ensemble(&model).base_score(); second.n_rows()];
    let mut n_empty = 0;
    for (old, new) in trees_of(&model).iter().zip(trees_of(&new)) {
        let value = |row: usize, slot: usize| match second.column_of(model.features()[slot]) {
            Some(column) => f64::from(column.get(row)),
            None => f64::NAN,
        };
        let leaf_of = |row: usize| {
            let values: Vec<f64> = (0..model.features().len()).map(|slot| value(row, slot)).collect();
            old.leaf(&values)
        };
        let leaves: Vec<usize> = (0..second.n_rows()).map(leaf_of).collect();
        for leaf in 0..old.n_leaves() {
            let rows: Vec<usize> = (0..second.n_rows()).filter(|row| leaves[*row] == leaf).collect();
            let left: f64 = rows.iter().map(|row| f64::from(second.labels()[*row]) - scores[*row]).sum();
            let before = old.parts().leaf_value[leaf];
            let expected = if rows.is_empty() {
                n_empty += 1;
                before
            } else {
                decay * before + (1.0 - decay) * 0.1 * left / (rows.len() as f64 + 1.5)
            };
            let found = new.parts().leaf_value[leaf];
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}, of {} rows", rows.len());
        }
        for (score, leaf) in scores.iter_mut().zip(leaves) {
            *score += new.parts().leaf_value[leaf];
        }
    }
    assert!(n_empty > 0, "some leaf should stay without rows");
    assert_eq!(scores, rankwise::predict_canonical(&new, &second));
    assert_ne!(new.trained_on(), model.trained_on());
    assert!(new.params()["refit"].starts_with("decay=0.3 trees=7"), "{:?}", new.params());
}

/// A model is adapted to new data with other preferences.
#[test]
fn a_model_moves_to_new_data_for_any_threads_and_order() {
    let docs = web_docs(1500, 12, 4);
    // What was best is now worst.
    let turned: Vec<Doc> = docs.iter().map(|doc| Doc { label: 4.0 - doc.label, ..doc.clone() }).collect();
    let (params, model) = trained(&[("objective", "rmse"), ("learning_rate", "0.5")], &dataset(&docs));
    let new_data = dataset(&turned);
    let moved = refit(&params, &model, &new_data, 0.1).unwrap();
    let (before, after) = (
        ndcg10(&new_data, &rankwise::predict_canonical(&model, &new_data)),
        ndcg10(&new_data, &rankwise::predict_canonical(&moved, &new_data)),
    );
    assert!(after > before + 0.1, "{before} to {after}");
    let backwards: Vec<Doc> = turned.into_iter().rev().collect();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(|| refit(&params, &model, &dataset(&backwards), 0.1).unwrap());
        assert_eq!(again.to_json(), moved.to_json());
    }
}

#[test]
fn what_cannot_be_refitted_is_refused() {
    let data = dataset(&web_docs(300, 6, 4));
    let (params, model) = trained(&[], &data);
    for decay in [-0.1, 1.5, f64::NAN] {
        assert!(matches!(refit(&params, &model, &data, decay), Err(TrainError::Param(_))), "{decay}");
    }
    let (bound, _) = trained(&[("monotone_constraints", "3:1")], &data);
    assert!(matches!(refit(&bound, &model, &data, 0.5), Err(TrainError::NotRefittable { .. })));
    let (dart, dropped) = trained(&[("learner", "dart")], &data);
    assert!(matches!(refit(&dart, &dropped, &data, 0.5), Err(TrainError::NotRefittable { .. })));
    let (multiclass, _) = trained(&[("objective", "multiclass")], &data);
    assert!(matches!(refit(&multiclass, &model, &data, 0.5), Err(TrainError::Start(_))));
}

/// Models of earlier builds do not record how their trees were grown: the defaults were LightGBM's then.
#[test]
fn models_without_recorded_growth_have_the_old_defaults() {
    let data = dataset(&web_docs(900, 14, 1));
    let (_, model) = trained(&[("num_leaves", "15")], &data);
    let mut header = model.header().clone();
    for name in ["grow", "lambda_l2", "learning_rate"] {
        assert!(header.params.remove(name).is_some(), "{name}");
    }
    let old = TrainSpec::of_model(&Model::new(header, model.ranker().clone()).unwrap()).unwrap().check().unwrap();
    assert_eq!((old.boosting().learning_rate, old.trees().l2(), old.trees().leaves_of(0)), (0.1, 0.0, 15));
    let new = TrainSpec::of_model(&model).unwrap().check().unwrap();
    assert_eq!((new.boosting().learning_rate, new.trees().l2()), (0.07, 0.0));
}
