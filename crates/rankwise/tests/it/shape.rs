//! Parameters that shape trees: the schedule of leaves, documents per leaf, gains.

use rankwise::prelude::*;
use rankwise::train::Training;

use crate::{dataset, ensemble, params, trees_of, web_docs};

type Settings<'a> = &'a [(&'a str, &'a str)];

fn model(settings: Settings<'_>) -> Model {
    let data = dataset(&web_docs(1500, 12, 1));
    train(&params(&[&[("num_trees", "9"), ("min_data_in_leaf", "1")], settings].concat()), &data, &[], &mut Silent)
        .unwrap()
        .model
}

#[test]
fn trees_grow_with_the_schedule_also_onto_a_start() {
    let data = dataset(&web_docs(1500, 12, 1));
    let schedule = [("leaves_schedule", "2:4,5:16"), ("num_leaves", "3")];
    let leaves = |model: &Model| trees_of(model).iter().map(rankwise::model::Tree::n_leaves).collect::<Vec<_>>();
    assert_eq!(leaves(&model(&schedule)), [3, 3, 4, 4, 4, 16, 16, 16, 16]);
    assert_eq!(leaves(&model(&[("grow", "levelwise"), schedule[0], schedule[1]])), [3, 3, 4, 4, 4, 16, 16, 16, 16]);
    assert_eq!(leaves(&model(&[("grow", "oblivious"), ("leaves_schedule", "0:4,5:8")]))[4..6], [4, 8]);
    let part = |num_trees: &'static str| {
        params(&[("num_trees", num_trees), ("min_data_in_leaf", "1"), schedule[0], schedule[1]])
    };
    let first = train(&part("4"), &data, &[], &mut Silent).unwrap().model;
    let second = Training::new(&part("5"), &data).start(&first).run(&mut Silent).unwrap().model;
    assert_eq!(leaves(&second), [3, 3, 4, 4, 4, 16, 16, 16, 16]);
}

/// Small leaves are allowed, but count little: a single document counts a twenty-first of its full value.
#[test]
fn smoothed_leaves_may_be_small() {
    let wild = [("num_leaves", "60"), ("min_data_in_leaf", "0"), ("min_sum_hessian_in_leaf", "0")];
    let data = dataset(&web_docs(1500, 12, 1));
    let first_tree = |more: Settings<'_>| {
        let settings = [&[("num_trees", "1")], &wild[..], more].concat();
        trees_of(&train(&params(&settings), &data, &[], &mut Silent).unwrap().model)[0].parts().clone()
    };
    let (plain, smooth) = (first_tree(&[]), first_tree(&[("leaf_smoothing", "20")]));
    let alone: Vec<usize> = (0..plain.leaf_count.len()).filter(|leaf| plain.leaf_count[*leaf] == 1).collect();
    assert!(!alone.is_empty());
    for leaf in alone {
        let (before, after) = (plain.leaf_value[leaf], smooth.leaf_value[leaf]);
        assert!((after * 21.0 - before).abs() <= 1e-12 * before.abs(), "{before} to {after}");
    }
}

#[test]
fn cutting_leaves_no_split_below_the_bound_without_one_above_it() {
    let gains = |settings: Settings<'_>| {
        let model = model(settings);
        let leaves = ensemble(&model).n_leaves();
        (trees_of(&model).iter().flat_map(|tree| tree.parts().gain.clone()).collect::<Vec<f64>>(), leaves)
    };
    let settings = [("min_gain_to_split", "0.5"), ("num_leaves", "31")];
    let (all, n_all) = gains(&[settings[1]]);
    let (before, n_before) = gains(&settings);
    let (after, n_after) = gains(&[settings[0], settings[1], ("prune", "true")]);
    assert!(all.iter().any(|gain| *gain <= 0.5) && before.iter().all(|gain| *gain > 0.5));
    assert!(n_before < n_all && n_after < n_all, "{n_before} {n_after} {n_all}");
    assert!(after.iter().any(|gain| *gain <= 0.5), "a poor split that leads to a good one stays");
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (settings, said) in [
        (&[("leaves_schedule", "0:8"), ("grow", "oblivious"), ("max_depth", "3")][..], "leaves_schedule"),
        (&[("prune", "true"), ("grow", "oblivious")], "prune"),
        (&[("leaves_schedule", "0:1")], "leaves_schedule"),
        (&[("leaf_smoothing", "-1")], "leaf_smoothing"),
        (&[("leaf_smoothing", "inf")], "leaf_smoothing"),
    ] {
        let mut spec = TrainSpec::default();
        let error = spec.set_all(settings.iter().copied()).and_then(|()| spec.check().map(drop)).unwrap_err();
        assert!(error.to_string().contains(said), "{settings:?}: {error}");
    }
    assert!(TrainSpec::default().set("leaves_schedule", "8").is_err());
}
