//! The scores of LightGBM, XGBoost and CatBoost for rows at the thresholds of their models. `peers/import.py --golden`
//! rewrites files and scores.

use rankwise_formats::{Source, import};
use rankwise_model::{AbsentFeature, Model, Precision};
use serde_json::Value;

use crate::{bytes, text};

/// The tolerance of scores, relative to the larger of the score and 1.
fn tolerance(name: &str) -> f64 {
    match name.split('-').next() {
        Some("lightgbm") => 0.0,
        // Sums in another order.
        Some("catboost") => 1e-12,
        // Sums of f32.
        Some("xgboost") => 2e-6,
        _ => panic!("whose is {name}?"),
    }
}

fn score(model: &Model, row: &Value) -> f64 {
    let value = |id: &u32| row[*id as usize].as_f64().unwrap_or(f64::NAN);
    model.score(&model.features().iter().map(value).collect::<Vec<_>>())
}

#[test]
fn scores_are_those_of_the_libraries() {
    let golden: Value = serde_json::from_slice(&bytes("golden.json")).unwrap();
    let rows = golden["rows"].as_array().unwrap();
    let files = golden["scores"].as_object().unwrap();
    assert_eq!((files.len(), rows.len()), (13, 24));
    for (name, expected) in files {
        let model = import(&bytes(name)).unwrap();
        let expected: Vec<f64> = expected.as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        assert_eq!(expected.len(), rows.len(), "{name}");
        let different = expected.iter().filter(|score| **score != expected[0]).count();
        assert!(different > rows.len() / 2, "{name} tells nothing apart");
        for (idx, (row, theirs)) in rows.iter().zip(expected).enumerate() {
            let ours = score(&model, row);
            let limit = tolerance(name) * theirs.abs().max(1.0);
            assert!((ours - theirs).abs() <= limit, "{name}, row {idx}: {ours} here, {theirs} there");
        }
    }
}

#[test]
fn what_the_files_say_of_the_model_is_kept() {
    let named = import(&bytes("lightgbm-lambdarank.txt")).unwrap();
    assert_eq!(
        (named.objective(), named.absent(), named.precision()),
        ("lambdarank", AbsentFeature::Zero, Precision::F64)
    );
    let all = ["price", "clicks", "age", "title_match", "stock", "freshness"];
    for (id, name) in named.named_features() {
        assert_eq!(name, all[id as usize]);
    }
    assert!(!named.feature_names().is_empty());
    for (name, objective) in [("xgboost-names.ubj", "rank:pairwise"), ("catboost-yetirank.json", "YetiRank")] {
        let model = import(&bytes(name)).unwrap();
        assert_eq!((model.objective(), model.absent()), (objective, AbsentFeature::Missing), "{name}");
        assert_eq!(
            model.named_features(),
            model.features().iter().map(|id| (*id, all[*id as usize].to_owned())).collect::<Vec<_>>()
        );
    }
    // Names that a library generates only repeat the ids.
    for name in
        ["lightgbm-regression.txt", "lightgbm-regression.json", "xgboost-logistic.json", "catboost-rmse-min.json"]
    {
        assert_eq!(import(&bytes(name)).unwrap().feature_names(), [] as [String; 0], "{name}");
    }
}

#[test]
fn both_forms_of_a_lightgbm_model_are_one_model() {
    for name in ["lightgbm-regression", "lightgbm-lambdarank"] {
        let [text, json] = ["txt", "json"].map(|suffix| import(&bytes(&format!("{name}.{suffix}"))).unwrap());
        assert_eq!((text.features(), text.feature_names()), (json.features(), json.feature_names()));
        let [ours, theirs] = [&text, &json].map(|model| model.tree_ensemble().unwrap().trees());
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            // One of them prints gains with more digits.
            let (ours, theirs) = (ours.parts(), theirs.parts());
            assert_eq!((&ours.threshold, &ours.leaf_value), (&theirs.threshold, &theirs.leaf_value));
            assert_eq!((&ours.left, &ours.missing_left), (&theirs.left, &theirs.missing_left));
            assert_eq!((&ours.count, &ours.leaf_count), (&theirs.count, &theirs.leaf_count));
        }
    }
}

#[test]
fn a_file_is_known_by_its_content() {
    for (name, source) in [
        ("lightgbm-regression.txt", Source::LightGbmText),
        ("lightgbm-regression.json", Source::LightGbmJson),
        ("xgboost-logistic.json", Source::XgBoostJson),
        ("xgboost-squarederror.ubj", Source::XgBoostUbj),
        ("catboost-rmse-min.json", Source::CatBoost),
        ("ranklib.xml", Source::RankLib),
    ] {
        assert_eq!(Source::of(&bytes(name)), source, "{name}");
    }
    assert_eq!(Source::of(b"{\"format\": \"rankwise-model\"}"), Source::Native);
    assert!(import(text("ranklib.xml").as_bytes()).is_ok());
}
