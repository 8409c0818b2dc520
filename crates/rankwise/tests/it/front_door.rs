//! The first steps of a library user.

use std::path::Path;

use rankwise::Error;
use rankwise::io::{Format, write_dataset};
use rankwise::prelude::*;

use crate::{Doc, dataset, params, web_docs};

const N_FEATURES: usize = 12;

/// Documents that have every feature by its number from 0, with some missing values.
fn dense_docs() -> Vec<Doc> {
    let mut docs = web_docs(600, N_FEATURES, 5);
    for doc in &mut docs {
        for (feature, _) in &mut doc.features {
            *feature -= 1;
        }
        doc.features.retain(|(feature, value)| !value.is_nan() && *feature < N_FEATURES as u32);
    }
    docs
}

fn value(doc: &Doc, feature: usize) -> f32 {
    doc.features.iter().find(|(id, _)| *id == feature as u32).map_or(f32::NAN, |(_, value)| *value)
}

/// The same rows, made by each constructor.
fn constructed(docs: &[Doc]) -> Vec<(&'static str, Dataset)> {
    let labels: Vec<f32> = docs.iter().map(|doc| doc.label).collect();
    let qids: Vec<&str> = docs.iter().map(|doc| doc.qid.as_str()).collect();
    let ids: Vec<&str> = docs.iter().map(|doc| doc.doc_id.as_str()).collect();
    let rows: Vec<f32> = docs.iter().flat_map(|doc| (0..N_FEATURES).map(|feature| value(doc, feature))).collect();
    let wide: Vec<f64> = rows.iter().copied().map(f64::from).collect();
    let columns: Vec<Vec<f32>> =
        (0..N_FEATURES).map(|feature| docs.iter().map(|doc| value(doc, feature)).collect()).collect();
    let ends = docs.iter().scan(0, |end, doc| {
        *end += doc.features.len();
        Some(*end)
    });
    let indptr: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let (indices, sparse): (Vec<u32>, Vec<f32>) = docs.iter().flat_map(|doc| doc.features.iter().copied()).unzip();
    vec![
        ("dense", Dataset::from_dense(&rows, N_FEATURES).labels(&labels).qids(&qids).doc_ids(&ids).build().unwrap()),
        ("f64", Dataset::from_dense(&wide, N_FEATURES).labels(&labels).qids(&qids).doc_ids(&ids).build().unwrap()),
        ("columns", Dataset::from_columns(&columns).labels(&labels).qids(&qids).doc_ids(&ids).build().unwrap()),
        (
            "csr",
            Dataset::from_csr(&indptr, &indices, &sparse).labels(&labels).qids(&qids).doc_ids(&ids).build().unwrap(),
        ),
    ]
}

#[test]
fn the_same_rows_from_memory_and_from_a_file_train_the_same_model() {
    let docs = dense_docs();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    write_dataset(&dataset(&docs), &path, Format::Letor).unwrap();
    let params = params(&[("num_trees", "20"), ("min_data_in_leaf", "5"), ("subsample", "0.7"), ("bagging_freq", "1")]);
    let model = |data: &Dataset| train(&params, data, &[], &mut Silent).unwrap().model.to_json();
    let from_file = Dataset::read(&path).unwrap();
    let expected = model(&from_file);
    for (name, data) in constructed(&docs) {
        assert_eq!(data.fingerprint(), from_file.fingerprint(), "{name}");
        assert_eq!(model(&data), expected, "{name}");
        let mut reversed = docs.clone();
        reversed.reverse();
        let (_, other) = constructed(&reversed).into_iter().find(|(other, _)| *other == name).unwrap();
        assert_eq!(model(&other), expected, "{name}, reversed");
    }
}

#[test]
fn scores_stand_in_input_order_everywhere() {
    let mut docs = web_docs(500, 10, 3);
    docs.reverse();
    let data = dataset(&docs);
    let model =
        train(&params(&[("num_trees", "10"), ("min_data_in_leaf", "5")]), &data, &[], &mut Silent).unwrap().model;
    let scores = predict(&model, &data);
    assert_ne!(scores, rankwise::predict_canonical(&model, &data), "the two orders differ here");
    for (doc, score) in docs.iter().zip(&scores) {
        let alone = dataset(std::slice::from_ref(doc));
        assert_eq!(predict(&model, &alone), [*score]);
    }
    let expected = crate::ndcg10(&data, &rankwise::predict_canonical(&model, &data));
    assert_eq!(evaluate(&data, &scores, "ndcg@10").unwrap().mean("ndcg@10"), Some(expected));
    let other: Vec<f64> = docs.iter().map(|doc| f64::from(doc.label)).collect();
    let compared = compare(&data, &[("model", &scores), ("labels", &other)], "ndcg@10").unwrap();
    let pair = compared.pair("model", "labels", "ndcg@10").unwrap();
    assert!((pair.difference - (expected - 1.0)).abs() < 0.2 && pair.wins == 0, "{compared}");
    assert_eq!(compared.comparison.systems[0][0].mean.map(|mean| (mean * 1e9).round()), Some((expected * 1e9).round()));
    let metric: MetricName = "ndcg@10".parse().unwrap();
    let blend = rankwise::blend(&data, [&scores, &other], &metric, &Rules::default()).unwrap();
    assert_eq!(blend.alone[0], expected);
    let best = rankwise::best_feature(&data, &metric, &Rules::default()).unwrap().unwrap();
    assert_eq!(evaluate(&data, &best.scores(&data), "ndcg@10").unwrap().mean("ndcg@10"), Some(best.value));
}

#[test]
fn models_are_saved_whole_and_loaded_whoever_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&web_docs(300, 8, 1));
    let model =
        train(&params(&[("num_trees", "3"), ("min_data_in_leaf", "5")]), &data, &[], &mut Silent).unwrap().model;
    for name in ["model.json", "model.json.gz"] {
        let path = folder.path().join(name);
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model, "{name}");
    }
    let theirs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rankwise-formats/tests/data");
    let mut n_loaded = 0;
    for entry in std::fs::read_dir(theirs).unwrap() {
        let path = entry.unwrap().path();
        n_loaded += usize::from(Model::load(&path).is_ok());
    }
    assert!(n_loaded >= 4, "LightGBM, XGBoost, CatBoost, RankLib: {n_loaded}");

    let missing = Model::load(folder.path().join("nosuch.json")).unwrap_err();
    assert!(matches!(missing, Error::Io(_)), "{missing}");
    let path = folder.path().join("bad.json");
    std::fs::write(&path, "{\"format\": 7").unwrap();
    let bad = Model::load(&path).unwrap_err();
    assert!(bad.to_string().starts_with(&format!("{}:1:", path.display())), "{bad}");
    let nowhere = model.save(folder.path().join("no/where.json")).unwrap_err();
    assert!(nowhere.to_string().contains("no/where.json: cannot write"), "{nowhere}");
}

#[test]
fn named_columns_are_refused_by_a_model_of_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    std::fs::write(&path, "qid,price,clicks\nq,1,2\nq,3,4\n").unwrap();
    let numbers = Dataset::from_dense(&[1.0, 2.0, 3.0, 4.0], 2).labels(&[0, 1]).qids(&["q", "q"]);
    let params = params(&[("num_trees", "1"), ("min_data_in_leaf", "1"), ("min_sum_hessian_in_leaf", "0")]);
    let model = |data: &Dataset| train(&params, data, &[], &mut Silent).unwrap().model;
    let by_number = model(&numbers.clone().build().unwrap());
    assert!(matches!(Dataset::read_for(&path, &by_number), Err(Error::NamedColumns { .. })));
    let by_name = model(&numbers.feature_names(&["price", "clicks"]).build().unwrap());
    let data = Dataset::read_for(&path, &by_name).unwrap();
    assert_eq!(data.n_rows(), 2, "labels are not needed");
}

#[test]
fn errors_carry_facts_and_no_flags() {
    let data = dataset(&web_docs(100, 4, 1));
    let run = || -> Result<(), Error> {
        let params = TrainSpec::default().early_stopping_rounds(5).check()?;
        train(&params, &data, &[], &mut Silent)?;
        Ok(())
    };
    let error = run().unwrap_err();
    let expected = "parameter 'early_stopping_rounds': early stopping needs a validation set; add one with `valid`";
    assert_eq!(error.to_string(), expected);
    let error = evaluate(&data, &[1.0], "ndcg@10").unwrap_err();
    assert_eq!(error.to_string(), format!("there are 1 scores for {} documents; give one per document", data.n_rows()));
    let error = compare(&data, &[("a", vec![0.0; data.n_rows()]), ("b", vec![0.0])], "map").unwrap_err();
    assert!(error.to_string().starts_with("system 'b': there are 1 scores"), "{error}");
    let error = evaluate(&data, &[], "ndcg@10,").unwrap_err();
    assert!(error.to_string().starts_with("unknown metric ''; give a metric (ndcg|"), "{error}");
}
