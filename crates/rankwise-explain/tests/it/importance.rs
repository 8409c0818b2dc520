//! Importance and dependence on data whose labels are known functions of features.

use rankwise_data::{Dataset, Documents, Draw, Purpose};
use rankwise_eval::IntervalSpec;
use rankwise_explain::{
    Explainer, ModelDocs, PermutationImportance, PermutationSpec, Shap, ShapBuffers, dependence, permutation_importance,
};
use rankwise_metrics::{MetricName, Rules};
use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision, Tree, TreeParts};

const QUERIES: usize = 60;
const DOCS: usize = 10;
const FEATURES: usize = 4;

/// Labels follow feature 0, less so feature 1. Feature 2 is noise, feature 3 a number of the query.
fn data() -> Dataset {
    let draw = Draw::new(5, Purpose::SynthDocument, 0);
    let values: Vec<f32> = (0..QUERIES * DOCS * FEATURES)
        .map(|place| {
            let (row, feature) = (place / FEATURES, place % FEATURES);
            if feature == 3 { (row / DOCS % 7) as f32 } else { draw.uniform(row as u64, feature as u32) as f32 }
        })
        .collect();
    let label = |row: &[f32]| (4.0 * (0.7 * row[0] + 0.3 * row[1])).floor();
    let labels: Vec<f32> = values.chunks(FEATURES).map(label).collect();
    Dataset::from_dense(&values, FEATURES).labels(&labels).group_sizes(&[DOCS; QUERIES]).build().unwrap()
}

/// A stump for each feature, with a value of 1 on the right.
fn stumps(weights: [f64; FEATURES]) -> Model {
    let stump = |(feature, weight): (usize, f64)| {
        let parts = TreeParts {
            feature: vec![feature as u32],
            threshold: vec![if feature == 3 { 2.5 } else { 0.5 }],
            missing_left: vec![true],
            left: vec![!0],
            right: vec![!1],
            gain: vec![1.0],
            count: vec![10],
            leaf_value: vec![0.0, weight],
            leaf_count: vec![5, 5],
            ..TreeParts::default()
        };
        Tree::new(parts).unwrap()
    };
    crate::models::model(FEATURES as u32, weights.into_iter().enumerate().map(stump).collect())
}

fn importance(model: &Model, data: &Dataset, n_threads: usize) -> Vec<PermutationImportance> {
    let (metric, rules) = (MetricName::parse_list("ndcg@10").unwrap().remove(0), Rules::default());
    let intervals = IntervalSpec { seed: 3, ..IntervalSpec::default() };
    let spec = PermutationSpec { metric: &metric, rules: &rules, repeats: 3, intervals };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    pool.install(|| permutation_importance(model, &ModelDocs::new(model, data), &spec, || {})).unwrap()
}

#[test]
fn features_that_matter_lose_most() {
    let data = data();
    let found = importance(&stumps([1.0, 0.4, 0.1, 0.2]), &data, 1);
    assert_eq!(found.iter().map(|one| one.feature).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let loss = |feature: usize| found[feature].loss.unwrap();
    assert!(loss(0) > 2.0 * loss(1) && loss(1) > 0.005, "{found:?}");
    assert!(loss(2) < 0.3 * loss(1), "{found:?}");
    let interval = found[0].interval.unwrap();
    assert!(interval.low > 0.0 && interval.low < loss(0) && loss(0) < interval.high, "{found:?}");
    // Adding the same to all documents of a query changes nothing.
    assert_eq!((found[3].loss, found[3].is_between_queries), (Some(0.0), true));
    assert!(!found[0].is_between_queries);
}

#[test]
fn unused_features_are_left_out() {
    let model = crate::models::model(FEATURES as u32, stumps([1.0; 4]).tree_ensemble().unwrap().trees()[1..3].to_vec());
    let found = importance(&model, &data(), 1);
    assert_eq!(found.iter().map(|one| one.feature).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let data = data();
    let model = stumps([1.0, 0.4, 0.1, 0.2]);
    let expected = importance(&model, &data, 1);
    assert_eq!(importance(&model, &data, 3), expected);
    let docs = ModelDocs::new(&model, &data);
    let shap = Explainer::new(&model).unwrap();
    let sizes = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| (shap.mean_sizes(&docs).unwrap(), shap.values(&docs).unwrap()))
    };
    assert_eq!(sizes(1), sizes(4));
}

#[test]
fn datasets_are_explained_as_rows_are() {
    let data = data();
    let model = stumps([1.0, 0.4, 0.1, 0.2]);
    let docs = ModelDocs::new(&model, &data);
    let explainer = Explainer::new(&model).unwrap();
    let values = explainer.values(&docs).unwrap();
    let mut one = vec![0.0; FEATURES];
    Shap::new(&model).unwrap().values(&docs.rows(77..78), &mut one, &mut ShapBuffers::default());
    assert_eq!(values[77 * FEATURES..78 * FEATURES], one);
    assert_eq!(explainer.values_of(&docs, &[3, 77]).unwrap()[1], one);
    let mean = values.chunks(FEATURES).map(|doc| doc[0].abs()).sum::<f64>() / (QUERIES * DOCS) as f64;
    assert!((explainer.mean_sizes(&docs).unwrap()[0] - mean).abs() < 1e-12);
}

#[test]
fn documents_take_the_place_of_counts() {
    let data = data();
    let header = Header::new(AbsentFeature::Missing, Precision::F32, (0..FEATURES as u32).collect());
    let model = Model::new(header, LinearRanker::new(0.5, vec![1.0, -2.0, 0.0, 0.25]).unwrap()).unwrap();
    assert!(Explainer::new(&model).is_err());
    assert!(Explainer::against(&model, Vec::new()).is_err());
    let docs = ModelDocs::new(&model, &data);
    let rows = docs.sample(20, 0);
    assert!(rows.len() == 20 && rows.is_sorted() && rows != docs.sample(20, 1));
    let background: Vec<Vec<f64>> = rows.iter().map(|row| docs.values(*row)).collect();
    let explainer = Explainer::against(&model, background.clone()).unwrap();
    let found = explainer.values_of(&docs, &[5]).unwrap().remove(0);
    let doc = docs.values(5);
    for feature in 0..FEATURES {
        let mean = background.iter().map(|other| other[feature]).sum::<f64>() / 20.0;
        let expected = [1.0, -2.0, 0.0, 0.25][feature] * (doc[feature] - mean);
        assert!((found[feature] - expected).abs() < 1e-12);
    }
    let sum = explainer.expected()[0] + found.iter().sum::<f64>();
    assert!((sum - model.score(&doc)).abs() < 1e-12);
}

#[test]
fn dependence_follows_the_model() {
    let data = data();
    let model = stumps([1.0, 0.4, 0.1, 0.2]);
    let docs = ModelDocs::new(&model, &data);
    let rows = docs.sample(100, 0);
    let found = dependence(&model, &docs, 0, &rows, 9);
    assert_eq!(found.len(), 9);
    let (first, last) = (found[0], found[8]);
    assert!(first.value < 0.1 && last.value > 0.9);
    assert!((last.score - first.score - 1.0).abs() < 1e-9, "the stump's step");
    assert!(last.climb > 1.0 && first.climb < -1.0, "{found:?}");
    let documents: &Documents = &data;
    assert_eq!(documents.n_rows(), QUERIES * DOCS);
}
