//! Trees that see only some of the documents.

use rankwise::prelude::*;
use rankwise::train::{Flow, Observer, Pass, Progress, StopReason};

use crate::{dataset, ndcg10, params, trees_of, web_docs};

fn trees(data: &Dataset, settings: &[(&str, &str)]) -> String {
    let common = [("num_trees", "6"), ("min_data_in_leaf", "5")];
    let json = train(&params(&[&common, settings].concat()), data, &[], &mut Silent).unwrap().model.to_json();
    json[json.find("\"base_score\"").unwrap()..].to_owned()
}

#[test]
fn keeping_all_is_no_selection_and_nothing_from_below_is_selective() {
    let data = dataset(&web_docs(2000, 20, 1));
    for objective in ["lambdamart", "rmse", "multiclass", "stochasticrank", "ranknet"] {
        let with = |more: &[(&'static str, &'static str)]| {
            let all: Vec<(&str, &str)> = [("objective", objective)].into_iter().chain(more.iter().copied()).collect();
            trees(&data, &all)
        };
        let plain = with(&[]);
        assert_eq!(plain, with(&[("sample", "selective"), ("p_high", "100")]), "{objective}");
        assert_eq!(plain, with(&[("sample", "high-low"), ("p_high", "60"), ("p_low", "40")]), "{objective}");
        let selective = with(&[("sample", "selective"), ("p_high", "10")]);
        assert_eq!(selective, with(&[("sample", "high-low"), ("p_high", "10"), ("p_low", "0")]), "{objective}");
        assert_ne!(plain, selective, "{objective}");
        assert_eq!(plain, with(&[("sample", "negatives"), ("p_negatives", "100")]), "{objective}");
        assert_ne!(selective, with(&[("sample", "negatives"), ("p_negatives", "10")]), "{objective}");
        let none_misplaced =
            [("sample", "inliers"), ("outlier_trees", "2"), ("outlier_high", "0"), ("outlier_low", "0")];
        assert_eq!(plain, with(&none_misplaced), "{objective}");
    }
}

/// Bad documents that look like a good one are misplaced after every tree.
#[test]
fn outliers_are_found_and_left_out() {
    let mut docs = web_docs(3000, 20, 1);
    let best = docs.iter().position(|doc| doc.label >= 3.0).unwrap();
    let worst: Vec<usize> = (0..docs.len()).filter(|idx| docs[*idx].label == 0.0).step_by(40).collect();
    for idx in &worst {
        // The features of a good document, and the label of a bad one.
        docs[*idx].features = docs[best].features.clone();
    }
    let trained = |settings: &[(&str, &str)]| {
        let common = [("num_trees", "10"), ("min_data_in_leaf", "5"), ("objective", "rmse")];
        train(&params(&[&common, settings].concat()), &dataset(&docs), &[], &mut Silent).unwrap()
    };
    let outliers = trained(&[("sample", "inliers"), ("outlier_trees", "30")]).outliers.unwrap();
    assert!(outliers > 0 && outliers < docs.len() / 4, "{outliers}, {} planted", worst.len());
    assert_eq!(trained(&[]).outliers, None);
}

struct StopEarly;

impl Observer for StopEarly {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        assert_eq!((progress.pass, progress.num_rounds), (Pass::Outliers, 9));
        assert_eq!(progress.checkpoint(), None);
        if progress.round == 4 { Flow::Stop } else { Flow::Continue }
    }
}

/// If training is stopped during the search for outliers, the result is the preliminary model.
#[test]
fn the_first_pass_can_be_stopped() {
    let data = dataset(&web_docs(600, 10, 1));
    let settings = [("sample", "inliers"), ("outlier_trees", "9"), ("num_trees", "20")];
    let trained = train(&params(&settings), &data, &[], &mut StopEarly).unwrap();
    assert_eq!((trained.stopped, trees_of(&trained.model).len()), (StopReason::Interrupted, 4));
    assert_eq!(trained.outliers, None);
}

#[test]
fn a_part_of_the_documents_is_enough_to_learn_from() {
    let (data, test) = (dataset(&web_docs(6000, 60, 1)), dataset(&web_docs(4000, 60, 2)));
    let value = |settings: &[(&str, &str)]| {
        let common = [("num_trees", "40"), ("num_leaves", "16"), ("min_data_in_leaf", "10")];
        let trained = train(&params(&[&common, settings].concat()), &data, &[], &mut Silent).unwrap();
        assert!(trees_of(&trained.model).iter().all(|tree| tree.parts().leaf_count.iter().sum::<u64>() <= 6000));
        ndcg10(&test, &rankwise::predict_canonical(&trained.model, &test))
    };
    let whole = value(&[]);
    for settings in [
        &[("sample", "selective")][..],
        &[("sample", "high-low"), ("p_high", "10"), ("p_low", "10")],
        &[("sample", "inliers"), ("outlier_high", "10"), ("outlier_low", "10")],
        &[("sample", "goss")],
        &[("sample", "mvs"), ("bagging_fraction", "0.3")],
    ] {
        let part = value(settings);
        assert!(part > whole - 0.03, "{settings:?}: {part}, all documents {whole}");
    }
    // Random negative documents are easier than highly ranked ones.
    let drawn = value(&[("sample", "negatives"), ("p_negatives", "40")]);
    assert!(drawn > whole - 0.06, "{drawn}, all documents {whole}");
}
