//! Errors in files are reported with their place; nothing panics.

use rankwise_formats::{FormatError, import};

use crate::{bytes, text};

/// The error for a file in which the first `from` is replaced by `to`.
fn message(name: &str, from: &str, to: &str) -> String {
    let whole = text(name);
    assert!(whole.contains(from), "{name} holds no {from}");
    import(whole.replacen(from, to, 1).as_bytes())
        .map(|_| ())
        .expect_err(&format!("{name}: {from} -> {to}"))
        .to_string()
}

/// The value of the first line `name=value`.
fn line<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(&format!("{name}="))).unwrap()
}

#[test]
fn lightgbm_text() {
    let name = "lightgbm-regression.txt";
    let whole = text(name);
    let left = line(&whole, "left_child");
    let thresholds = line(&whole, "threshold");
    let cases = [
        (left, "left_child=0 1 2 3", "tree 0: node 0 has two parents"),
        (left, "left_child=9 1 2 3", "tree 0: no node 9"),
        (left, "left_child=1 2", "left_child has 2 numbers instead of 4"),
        (left, "left_child=x", "'x' in left_child is not a valid number"),
        (left, "", "left_child is missing"),
        (thresholds, "threshold=nan 1 2 3", "'nan' in threshold is not a valid number"),
        (line(&whole, "leaf_value"), "leaf_value=1 2 3 4 inf", "is not a finite number"),
        ("num_leaves=5", "num_leaves=99999999999", "numbers instead of 99999999998"),
        ("num_leaves=5", "num_leaves=0", "num_leaves is missing"),
        ("num_cat=0", "num_cat=1", "has categorical splits"),
        ("is_linear=0", "is_linear=1", "has linear models in its leaves"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "has several outputs per document"),
        ("max_feature_idx", "average_output\nmax_feature_idx", "is a random forest"),
        ("end of trees", "", "the file is cut off: no line 'end of trees'"),
    ];
    for (from, to, part) in cases {
        let message = message(name, from, to);
        assert!(message.contains(part), "'{message}' should say '{part}'");
    }
    let head = whole.split("Tree=0").next().unwrap();
    let empty = import(format!("{head}end of trees\n").as_bytes()).unwrap_err();
    assert_eq!(empty, FormatError::Empty { format: "LightGBM" });
}

#[test]
fn xgboost() {
    let name = "xgboost-logistic.json";
    let cases = [
        ("\"left_children\":[1,", "\"left_children\":[0,", "tree 0: node 0 has two parents"),
        ("\"left_children\":[1,", "\"left_children\":[99,", "tree 0: no node 99"),
        ("\"left_children\":[1,", "\"left_children\":[1.5,", "trees.0: a child is not a node"),
        ("\"left_children\":[1,", "\"left_children\":[", "trees.0: its lists are not of one length"),
        ("\"left_children\":[1,", "\"left_children\":[\"1\",", "left_children: it is not a list of numbers"),
        ("\"split_type\":[0,", "\"split_type\":[1,", "has categorical splits"),
        ("\"name\":\"gbtree\"", "\"name\":\"dart\"", "is a dart booster"),
        ("binary:logistic", "multi:softmax", "has the objective multi:softmax"),
        ("\"num_class\":\"0\"", "\"num_class\":\"3\"", "has several outputs per document"),
        ("\"trees\":[", "\"trees\":7,\"x\":[", "trees: it is not a list"),
    ];
    for (from, to, part) in cases {
        let message = message(name, from, to);
        assert!(message.contains(part), "'{message}' should say '{part}'");
    }
}

#[test]
fn catboost() {
    let name = "catboost-rmse-min.json";
    let cases = [
        ("FloatFeature", "OneHotFeature", "has categorical splits"),
        ("\"float_feature_index\"", "\"float_feature_indes\"", "it has no 'float_feature_index'"),
        ("\"leaf_values\"", "\"leaf_valuez\"", "oblivious_trees.0: it has no 'leaf_values'"),
        ("\"splits\"", "\"splitz\"", "oblivious_trees.0: 0 splits lead to"),
        ("AsFalse", "AsBefore", "unknown nan_value_treatment"),
    ];
    for (from, to, part) in cases {
        let message = message(name, from, to);
        assert!(message.contains(part), "'{message}' should say '{part}'");
    }
}

/// Too deep for JSON: the message says what to do instead.
#[test]
fn deep_trees() {
    let leaf = "{\"leaf_value\":0}";
    let nodes = |depth: usize| {
        let node = "{\"split_feature\":0,\"decision_type\":\"<=\",\"missing_type\":\"NaN\",\"default_left\":true,\
            \"threshold\":0.5,\"right_child\":{\"leaf_value\":1},\"left_child\":";
        format!("{}{leaf}{}", node.repeat(depth), "}".repeat(depth))
    };
    let dump = |depth: usize| format!("{{\"name\":\"tree\",\"tree_info\":[{{\"tree_structure\":{}}}]}}", nodes(depth));
    assert_eq!(import(dump(100).as_bytes()).unwrap().tree_ensemble().unwrap().depth(), 100);
    let error = import(dump(200).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("save the LightGBM model in its other format (LightGBM: text"), "{error}");
}

#[test]
fn forms_that_are_not_read_say_which_are() {
    for (start, part) in [
        (&b"CBM1\x90\0"[..], "save_model(path, format=\"json\")"),
        (b"booster[0]:\n0:[f1<0.5] yes=1,no=2", "save_model(\"model.json\")"),
        (b"[\n  { \"nodeid\": 0, \"depth\": 0", "save_model(\"model.json\")"),
        (b"## Coordinate Ascent\n1:0.5 2:0.5", "MART"),
    ] {
        let message = import(start).unwrap_err().to_string();
        assert!(message.contains(part), "'{message}' should say '{part}'");
    }
}

/// A truncated file is rejected, unless it was already complete.
#[test]
fn cut_off_files_are_refused() {
    for name in [
        "lightgbm-regression.txt",
        "lightgbm-regression.json",
        "xgboost-logistic.json",
        "xgboost-squarederror.ubj",
        "catboost-lossguide.json",
        "ranklib.xml",
    ] {
        let whole = bytes(name);
        let end = whole
            .windows(12)
            .position(|part| part == b"end of trees")
            .map_or(whole.trim_ascii_end().len(), |at| at + 12);
        for length in 0..end {
            assert!(import(&whole[..length]).is_err(), "{length} bytes of {name}");
        }
        assert!(import(&whole).is_ok(), "{name}");
    }
}
