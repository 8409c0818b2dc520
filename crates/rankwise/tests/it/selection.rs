//! Trees that see only some of the documents.

use rankwise::prelude::*;

use crate::{dataset, ndcg10, params, web_docs};

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
    }
}

#[test]
fn a_part_of_the_documents_is_enough_to_learn_from() {
    let (data, test) = (dataset(&web_docs(6000, 60, 1)), dataset(&web_docs(4000, 60, 2)));
    let value = |settings: &[(&str, &str)]| {
        let common = [("num_trees", "40"), ("num_leaves", "16"), ("min_data_in_leaf", "10")];
        let trained = train(&params(&[&common, settings].concat()), &data, &[], &mut Silent).unwrap();
        assert!(trained.model.trees.iter().all(|tree| tree.parts().leaf_count.iter().sum::<u64>() <= 6000));
        ndcg10(&test, &predict(&trained.model, &test))
    };
    let whole = value(&[]);
    for settings in [&[("sample", "selective")][..], &[("sample", "high-low"), ("p_high", "10"), ("p_low", "10")]] {
        let part = value(settings);
        assert!(part > whole - 0.03, "{settings:?}: {part}, all documents {whole}");
    }
}
