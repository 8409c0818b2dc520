//! All targets, on random models and values at their thresholds.

use rankwise_formats::{Arithmetic, ExportError, ExportOptions, Reading, Target, export, import, read_back};
use rankwise_model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};

use crate::random::{self, Kind, Shapes};

const ALLOWED: ExportOptions = ExportOptions {
    allow_rounding: true,
    missing_as_zero: true,
    n_columns: None,
    names: std::collections::BTreeMap::new(),
};

fn model(precision: Precision, kind: Kind, seed: u64) -> Model {
    let shapes = Shapes { n_trees: 12, max_leaves: 16, n_features: 5, n_thresholds: 40, precision, kind };
    let model = random::model(&shapes, seed);
    // RankLib numbers features from 1.
    let features = model.features().iter().map(|feature| feature + 1).collect();
    Model::new(Header { features, ..model.header().clone() }, model.ranker().clone()).unwrap()
}

/// Trees over feature 4, with the base score of the random models.
fn of_trees(trees: Vec<Tree>) -> Model {
    let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![4]);
    Model::new(header, TreeEnsemble::new(0.125, Output::Sum, trees).unwrap()).unwrap()
}

/// The model with a name for its only feature.
fn named(model: &Model, name: &str) -> Model {
    Model::new(Header { feature_names: vec![name.into()], ..model.header().clone() }, model.ranker().clone()).unwrap()
}

/// The values of a document for the features that the export uses, which may not be all.
fn values_for(reading: &Reading, model: &Model, row: &[f64]) -> Vec<f64> {
    let value = |feature: &u32| row[model.features().binary_search(feature).unwrap()];
    reading.model.features().iter().map(value).collect()
}

/// How much rounding to f32 can change: the leaves, and each sum.
fn bound(model: &Model, row: &[f64]) -> f64 {
    let row: Vec<f64> = row.iter().map(|value| model.precision().round(*value)).collect();
    let size = |tree: &Tree| tree.parts().leaf_value[tree.leaf(&row)].abs();
    let ensemble = model.tree_ensemble().unwrap();
    let size: f64 = ensemble.base_score().abs() + ensemble.trees().iter().map(size).sum::<f64>();
    size * (ensemble.n_trees() + 2) as f64 / f64::from(1 << 24)
}

/// Exports the model once and compares the scores of all rows; `given` adapts values to the target.
fn check_rows(model: &Model, target: Target, rows: &[f64], given: impl Fn(f64) -> f64) {
    let bytes = export(model, target, &ALLOWED).unwrap();
    let reading = read_back(&bytes, target, model, &ALLOWED).unwrap();
    for row in rows.chunks(model.features().len()) {
        let row: Vec<f64> = row.iter().map(|value| given(*value)).collect();
        let (ours, theirs) = (model.score(&row), reading.score(&values_for(&reading, model, &row)));
        match reading.arithmetic {
            Arithmetic::F64 => assert_eq!(ours.to_bits(), theirs.to_bits(), "{target} {row:?}"),
            Arithmetic::F32(_) => {
                assert!((ours - theirs).abs() <= bound(model, &row), "{target} {row:?}: {ours} {theirs}");
            }
        }
    }
}

/// LightGBM replaces values near zero by zero.
fn plain(value: f64) -> f64 {
    if value.abs() < 1.1e-35 { 0.0 } else { value }
}

#[test]
fn scores_are_the_models_for_every_target() {
    for seed in 0..40 {
        for kind in [Kind::Any, Kind::Whole, Kind::Oblivious] {
            let model = model(Precision::F32, kind, seed);
            let rows = random::values(&model, 60, seed);
            // No finite f64 threshold is above infinity, so infinite values are clamped here; `standalone` tests C
            // itself with them.
            let finite = |value: f64| value.clamp(-1e300, 1e300);
            check_rows(&model, Target::C, &rows, finite);
            check_rows(&model, Target::LightGbm, &rows, |value| plain(finite(value)));
            for target in [Target::XgBoost, Target::Onnx] {
                check_rows(&model, target, &rows, |value| value);
            }
            for target in [Target::RankLib, Target::XgBoostDump, Target::Solr] {
                let zero = |value: f64| if value.is_nan() { 0.0 } else { value };
                check_rows(&model, target, &rows, zero);
            }
        }
    }
}

#[test]
fn f64_models_are_exact_in_f64_and_for_f32_values_elsewhere() {
    for seed in 0..40 {
        let model = model(Precision::F64, Kind::Any, seed);
        let rows = random::values(&model, 60, seed);
        check_rows(&model, Target::C, &rows, |value| value);
        check_rows(&model, Target::LightGbm, &rows, plain);
        for target in [Target::XgBoost, Target::Onnx] {
            check_rows(&model, target, &rows, |value| f64::from(value.clamp(-1e30, 1e30) as f32));
        }
    }
}

#[test]
fn an_export_is_imported_and_exported_to_the_same_bytes() {
    for target in [Target::LightGbm, Target::XgBoost] {
        for seed in 0..20 {
            // A second export has the same splits; those without effect were removed by the first.
            let first = export(&model(Precision::F32, Kind::Any, seed), target, &ALLOWED).unwrap();
            let second = export(&import(&first).unwrap(), target, &ALLOWED).unwrap();
            let third = export(&import(&second).unwrap(), target, &ALLOWED).unwrap();
            assert_eq!(second, third, "{target} {seed}");
        }
    }
}

/// A tree with one split and the given direction of missing values.
fn stump(threshold: f64, missing_left: bool) -> Model {
    let parts = TreeParts {
        feature: vec![0],
        threshold: vec![threshold],
        missing_left: vec![missing_left],
        left: vec![!0],
        right: vec![!1],
        gain: vec![1.0],
        count: vec![2],
        leaf_value: vec![-1.5, 2.25],
        leaf_count: vec![1, 1],
        ..TreeParts::default()
    };
    of_trees(vec![Tree::new(parts).unwrap()])
}

#[test]
fn what_a_target_cannot_express_is_refused_unless_it_is_allowed() {
    let strict = ExportOptions::default();
    let refused = |model: &Model, target| export(model, target, &strict).unwrap_err();
    for target in [Target::RankLib, Target::Solr, Target::XgBoostDump] {
        // 0 goes right and missing values left, or vice versa, or the split only tests for missing values.
        for model in [stump(-1.5, true), stump(1.0, false), stump(f64::from(f32::MAX), false)] {
            assert_eq!(refused(&model, target), ExportError::Missing { target, tree: 0, feature: 4 });
            assert!(export(&model, target, &ALLOWED).is_ok());
        }
        for model in [stump(-1.5, false), stump(1.0, true), stump(f64::from(f32::MAX), true)] {
            assert!(export(&model, target, &strict).is_ok(), "{target}");
        }
    }
    let model = stump(0.5, true);
    let with_header = |header: Header| Model::new(header, model.ranker().clone()).unwrap();
    let wide = with_header(Header { precision: Precision::F64, ..model.header().clone() });
    for target in [Target::XgBoost, Target::Onnx, Target::RankLib, Target::Solr, Target::XgBoostDump] {
        assert_eq!(refused(&wide, target), ExportError::Rounding { target });
    }
    assert!(export(&wide, Target::LightGbm, &strict).is_ok() && export(&wide, Target::C, &strict).is_ok());
    for threshold in [0.0, -0.0, 1e-40] {
        assert!(matches!(refused(&stump(threshold, true), Target::LightGbm), ExportError::NearZero { tree: 0, .. }));
    }
    assert!(export(&stump(1e-30, true), Target::LightGbm, &strict).is_ok());
    let target = Target::Solr;
    let threshold = f64::from(1e-20_f32);
    assert_eq!(refused(&stump(threshold, true), target), ExportError::Threshold { target, tree: 0, threshold });

    let from_zero = with_header(Header { features: vec![0], ..model.header().clone() });
    assert!(matches!(refused(&from_zero, Target::RankLib), ExportError::Feature { feature: 0, first: 1, .. }));
    let from_end = with_header(Header { features: vec![u32::MAX], ..model.header().clone() });
    for target in [Target::LightGbm, Target::XgBoost, Target::Onnx, Target::C, Target::RankLib] {
        assert!(matches!(refused(&from_end, target), ExportError::Feature { feature: u32::MAX, .. }), "{target}");
    }
    let trees = model.tree_ensemble().unwrap().trees().to_vec();
    let large = model.with_ranker(TreeEnsemble::new(1e39, Output::Sum, trees).unwrap()).unwrap();
    for target in [Target::XgBoost, Target::Onnx, Target::RankLib, Target::Solr, Target::XgBoostDump] {
        assert!(matches!(refused(&large, target), ExportError::Range { .. }), "{target}");
    }
}

#[test]
fn names_are_the_users_or_the_models_or_numbers() {
    let model = stump(0.5, true);
    let has = |model: &Model, options: &ExportOptions, wanted: &str| {
        let bytes = export(model, Target::XgBoostDump, options).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains(&format!("\"split\":{wanted},")), "{text}");
        let reading = read_back(&bytes, Target::XgBoostDump, model, options).unwrap();
        assert_eq!(reading.model.features(), [4]);
    };
    has(&model, &ExportOptions::default(), "\"f4\"");
    let model = named(&model, "title \"BM25\"");
    has(&model, &ExportOptions::default(), "\"title \\\"BM25\\\"\"");
    let mut options = ExportOptions { names: [(4, "bm25".to_owned())].into(), ..ExportOptions::default() };
    has(&model, &options, "\"bm25\"");
    assert!(matches!(export(&model, Target::LightGbm, &options), Err(ExportError::NamesUnused { .. })));
    options.names = [(5, "bm25".to_owned())].into();
    assert_eq!(export(&model, Target::Solr, &options), Err(ExportError::Nameless { feature: 4 }));
    // A space would split LightGBM's names.
    assert!(matches!(export(&model, Target::LightGbm, &ExportOptions::default()), Err(ExportError::Name { .. })));
    let model = named(&model, "f2");
    assert!(matches!(export(&model, Target::XgBoost, &ExportOptions::default()), Err(ExportError::Name { .. })));
    let model = named(&model, "f4");
    assert!(export(&model, Target::XgBoost, &ExportOptions::default()).is_ok());
}

#[test]
fn columns_are_as_many_as_the_data_has() {
    let model = stump(0.5, true);
    let with = |n| ExportOptions { n_columns: Some(n), ..ExportOptions::default() };
    let text = |target| String::from_utf8(export(&model, target, &with(9)).unwrap()).unwrap();
    assert!(text(Target::LightGbm).contains("\nmax_feature_idx=8\n") && text(Target::LightGbm).contains(" Column_8\n"));
    assert!(text(Target::XgBoost).contains("\"num_feature\":\"9\""));
    assert!(text(Target::C).contains("#define RANKWISE_N_VALUES 9\n"));
    assert!(export(&model, Target::Onnx, &with(5)).is_ok());
    let refused = ExportError::Columns { given: 4, needed: 5, most: 1_000_000 };
    assert_eq!(export(&model, Target::Onnx, &with(4)), Err(refused));
    let target = Target::RankLib;
    assert_eq!(export(&model, target, &with(9)), Err(ExportError::ColumnsUnused { target }));
}

/// A tree as deep as it has nodes.
fn chain(depth: usize) -> Model {
    let n = depth as i32;
    let parts = TreeParts {
        feature: vec![0; depth],
        threshold: (0..n).map(|node| f64::from(n - node)).collect(),
        missing_left: vec![true; depth],
        left: (1..=n).map(|node| if node < n { node } else { !n }).collect(),
        right: (0..n).map(|leaf| !leaf).collect(),
        gain: vec![0.0; depth],
        count: vec![1; depth],
        leaf_value: (0..=n).map(f64::from).collect(),
        leaf_count: vec![1; depth + 1],
        ..TreeParts::default()
    };
    of_trees(vec![Tree::new(parts).unwrap()])
}

#[test]
fn deep_trees_are_written_and_read_or_refused() {
    for target in Target::ALL {
        check_rows(&chain(400), target, &[-1.0, 0.5, 17.0, 399.5, 1000.0], |value| value);
        let is_nested = [Target::RankLib, Target::Solr, Target::XgBoostDump].contains(&target);
        let deep = export(&chain(20_000), target, &ALLOWED);
        assert_eq!(matches!(deep, Err(ExportError::Depth { depth: 20_000, .. })), is_nested, "{target}");
        assert_eq!(deep.is_ok(), !is_nested, "{target}");
    }
}

#[test]
fn models_without_trees_give_their_base_score() {
    for target in Target::ALL {
        check_rows(&of_trees(Vec::new()), target, &[0.5], |value| value);
        let constants = of_trees(vec![Tree::constant(3.0, 1), Tree::constant(-0.5, 1)]);
        check_rows(&constants, target, &[0.5], |value| value);
    }
}
