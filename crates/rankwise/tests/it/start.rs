//! Training from a start model: the result is the start model plus the new trees.

use rankwise::model::{AbsentFeature, Header, Model, Output, Precision, TreeEnsemble};
use rankwise::prelude::*;
use rankwise::train::{Checkpoint, Flow, Observer, Progress, StartError, TrainError, Training};

use crate::{dataset, ensemble, params, trees_of, web_docs};

type Settings<'a> = &'a [(&'a str, &'a str)];

const SETTINGS: [Settings<'static>; 9] = [
    &[("num_leaves", "15")],
    &[("bagging_fraction", "0.6"), ("bagging_freq", "1"), ("feature_fraction", "0.5")],
    &[("objective", "plackett-luce"), ("samples", "2")],
    &[("objective", "multiclass"), ("bagging_fraction", "0.6"), ("bagging_freq", "1")],
    &[("step", "line"), ("objective", "rmse")],
    &[("sample", "selective"), ("p_high", "20")],
    &[("sample", "negatives"), ("p_negatives", "40")],
    &[("sample", "goss"), ("learning_rate", "0.5")],
    &[("sample", "mvs"), ("bagging_fraction", "0.5")],
];

fn wanted(settings: Settings<'_>, num_trees: &str) -> TrainParams {
    params(&[&[("num_trees", num_trees), ("min_data_in_leaf", "5")], settings].concat())
}

fn contents(model: &Model) -> Vec<(Vec<u32>, Vec<u64>)> {
    let ids = |tree: &rankwise::model::Tree| {
        tree.parts().feature.iter().map(|slot| model.features()[*slot as usize]).collect()
    };
    let bits = |tree: &rankwise::model::Tree| tree.parts().leaf_value.iter().map(|value| value.to_bits()).collect();
    trees_of(model).iter().map(|tree| (ids(tree), bits(tree))).collect()
}

/// Sampling and random draws continue, so that a run in two parts equals one run.
#[test]
fn a_run_in_two_parts_is_the_run_in_one() {
    let (data, valid) = (dataset(&web_docs(900, 14, 1)), dataset(&web_docs(400, 14, 2)));
    for settings in SETTINGS {
        let whole = train(&wanted(settings, "9"), &data, &[], &mut Silent).unwrap();
        let first = train(&wanted(settings, "4"), &data, &[], &mut Silent).unwrap().model;
        let second = Training::new(&wanted(settings, "5"), &data).start(&first).run(&mut Silent).unwrap();
        assert_eq!(contents(&whole.model), contents(&second.model), "{settings:?}");
        assert_eq!(second.train_scores_canonical, whole.train_scores_canonical);
        assert_eq!(second.train_scores_canonical, rankwise::predict_canonical(&second.model, &data), "{settings:?}");
        assert_eq!(second.start_trees, trees_of(&first).len());
        let back = Model::from_json(second.model.to_json().as_bytes()).unwrap();
        assert_eq!(rankwise::predict_canonical(&back, &valid), rankwise::predict_canonical(&whole.model, &valid));
        let recorded = &back.params()["init_model"];
        assert!(
            recorded.contains(&format!("trees={} objective={} xxh3=", trees_of(&first).len(), first.objective())),
            "{recorded}"
        );
        assert!(!first.params().contains_key("init_model"));
    }
}

/// Whatever the loop does with trees and documents, the start model stays unchanged in the scores and in the result.
#[test]
fn runs_that_change_trees_or_documents_may_start_from_a_model() {
    let data = dataset(&web_docs(700, 11, 4));
    let first = train(&wanted(&[("objective", "rmse")], "6"), &data, &[], &mut Silent).unwrap().model;
    let kinds: [Settings<'static>; 6] = [
        &[("learner", "dart"), ("drop_rate", "0.5")],
        &[("learner", "rf"), ("bagging_fraction", "0.6"), ("bagging_freq", "1")],
        &[("sample", "goss")],
        &[("sample", "mvs"), ("bagging_fraction", "0.5")],
        &[("sample", "inliers")],
        &[("step", "exact")],
    ];
    for settings in kinds {
        let trained = Training::new(&wanted(settings, "8"), &data).start(&first).run(&mut Silent).unwrap();
        assert_eq!(contents(&trained.model)[..6], contents(&first)[..], "{settings:?}");
        assert!(trees_of(&trained.model).len() > 6, "{settings:?}");
        for (kept, scored) in
            trained.train_scores_canonical.iter().zip(rankwise::predict_canonical(&trained.model, &data))
        {
            assert!((kept - scored).abs() < 1e-9, "{settings:?}: {kept} and {scored}");
        }
    }
}

/// Even a model with another objective, on other data with other features, another precision and another scale.
#[test]
fn any_model_is_a_start_and_the_trained_model_scores_what_training_saw() {
    let (other, data) = (dataset(&web_docs(500, 20, 3)), dataset(&web_docs(700, 11, 4)));
    let valid = dataset(&web_docs(300, 11, 5));
    let first = train(&wanted(&[("objective", "rmse")], "6"), &other, &[], &mut Silent).unwrap().model;
    let header = Header { precision: Precision::F64, ..first.header().clone() };
    let first = Model::new(header, TreeEnsemble::new(0.3, Output::Sum, trees_of(&first).to_vec()).unwrap()).unwrap();
    let sets = [ValidSet { name: "valid", data: &valid }];
    for settings in [&[][..], &[("early_stopping_rounds", "3")], &[("objective", "xendcg")]] {
        let params = wanted(settings, "12");
        let trained = Training::new(&params, &data).valid(&sets).start(&first).run(&mut Silent).unwrap();
        let model = &trained.model;
        assert_eq!((model.precision(), ensemble(model).base_score()), (Precision::F64, 0.3));
        assert_eq!(contents(model)[..6], contents(&first)[..]);
        assert_eq!(
            trained.values[0].value.to_bits(),
            crate::ndcg10(&valid, &rankwise::predict_canonical(model, &valid)).to_bits()
        );
        assert!(
            trained.values[0].value >= crate::ndcg10(&valid, &rankwise::predict_canonical(&first, &valid)),
            "the start counts as well"
        );
    }
}

/// If nothing improves the start model, it stays unchanged.
#[test]
fn cutting_keeps_the_start() {
    let (data, valid) = (dataset(&web_docs(300, 5, 3)), dataset(&web_docs(300, 5, 9)));
    // Trained on the validation set, so it is hard to beat by training on other data.
    let first = train(&wanted(&[("num_leaves", "60")], "40"), &valid, &[], &mut Silent).unwrap().model;
    let sets = [ValidSet { name: "valid", data: &valid }];
    let params = wanted(&[("early_stopping_rounds", "3"), ("learning_rate", "1")], "50");
    let trained = Training::new(&params, &data).valid(&sets).start(&first).run(&mut Silent).unwrap();
    assert_eq!((trained.start_trees, trees_of(&trained.model).len(), trained.trees_grown), (40, 40, 3));
    assert_eq!(rankwise::predict_canonical(&trained.model, &valid), rankwise::predict_canonical(&first, &valid));
}

#[test]
fn a_start_shrinks_with_the_trees() {
    let data = dataset(&web_docs(500, 8, 3));
    let first = train(&wanted(&[], "5"), &data, &[], &mut Silent).unwrap().model;
    let params = wanted(&[("model_shrink_rate", "0.5"), ("learning_rate", "0.2")], "4");
    let trained = Training::new(&params, &data).start(&first).run(&mut Silent).unwrap();
    // Three factors of 1 - 0.5 * 0.2.
    let (was, is) = (trees_of(&first)[0].parts().leaf_value[0], trees_of(&trained.model)[0].parts().leaf_value[0]);
    assert!((is / was - 0.9f64.powi(3)).abs() < 1e-12, "{was} to {is}");
    for (kept, scored) in trained.train_scores_canonical.iter().zip(rankwise::predict_canonical(&trained.model, &data))
    {
        assert!((kept - scored).abs() < 1e-12, "{kept} and {scored}");
    }
}

#[derive(Default)]
struct Keeper(Vec<Vec<u8>>);

impl Observer for Keeper {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        self.0.extend(progress.checkpoint());
        Flow::Continue
    }
}

#[test]
fn checkpoints_know_the_start() {
    let (data, valid) = (dataset(&web_docs(500, 8, 3)), dataset(&web_docs(300, 8, 4)));
    let sets = [ValidSet { name: "valid", data: &valid }];
    let first = train(&wanted(&[], "5"), &data, &[], &mut Silent).unwrap().model;
    let params = wanted(&[("bagging_fraction", "0.5"), ("bagging_freq", "1")], "6");
    let training = || Training::new(&params, &data).valid(&sets);
    let mut keeper = Keeper::default();
    let whole = training().start(&first).run(&mut keeper).unwrap();
    let checkpoint = Checkpoint::read(&keeper.0[2]).unwrap();
    let resumed = training().start(&first).from_checkpoint(checkpoint.clone()).run(&mut Silent).unwrap();
    assert_eq!(resumed.model.to_json(), whole.model.to_json());
    let other = TreeEnsemble::new(1.0, Output::Sum, trees_of(&first).to_vec()).unwrap();
    let other = first.with_ranker(other).unwrap();
    for (start, said) in [(None, "init_model is none, was trees=5"), (Some(&other), "init_model is trees=5")] {
        let error = training().start(start).from_checkpoint(checkpoint.clone()).run(&mut Silent).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn starts_that_do_not_fit_are_refused() {
    let data = dataset(&web_docs(400, 8, 3));
    let first = train(&wanted(&[], "3"), &data, &[], &mut Silent).unwrap().model;
    let multiclass = train(&wanted(&[("objective", "multiclass")], "2"), &data, &[], &mut Silent).unwrap().model;
    let error = |model: &Model, settings: Settings<'_>| match Training::new(&wanted(settings, "2"), &data)
        .start(model)
        .run(&mut Silent)
        .unwrap_err()
    {
        TrainError::Start(error) => error,
        other => panic!("{other}"),
    };
    assert!(matches!(error(&multiclass, &[]), StartError::Output { .. }));
    assert!(matches!(error(&first, &[("objective", "multiclass")]), StartError::Output { .. }));
    let Output::ExpectedGain(mut gains) = ensemble(&multiclass).output().clone() else { panic!() };
    gains.gains[1] += 1.0;
    let other_gains = TreeEnsemble::new(0.0, Output::ExpectedGain(gains), trees_of(&multiclass).to_vec()).unwrap();
    let other_gains = multiclass.with_ranker(other_gains).unwrap();
    assert!(matches!(error(&other_gains, &[("objective", "multiclass")]), StartError::Labels { .. }));
    let with_header = |header: Header| Model::new(header, first.ranker().clone()).unwrap();
    let absent = with_header(Header { absent: AbsentFeature::Zero, ..first.header().clone() });
    assert!(matches!(error(&absent, &[]), StartError::Absent { model: "zero", data: "missing" }));
    let feature_names = first.features().iter().map(|id| format!("f{id}")).collect();
    let named = with_header(Header { feature_names, ..first.header().clone() });
    assert!(matches!(error(&named, &[]), StartError::Names { .. }));
}
