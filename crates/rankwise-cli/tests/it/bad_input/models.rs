//! Rows about other programs' models: real files with one thing wrong.

use super::Row;
use super::content::Content::{Bytes, Made, Text};

macro_rules! written {
    ($name:literal) => {
        include_bytes!(concat!("../../../../rankwise-formats/tests/data/", $name))
    };
}

const LIGHTGBM: &[u8] = written!("lightgbm-regression.txt");
const LIGHTGBM_JSON: &[u8] = written!("lightgbm-regression.json");
const XGBOOST: &[u8] = written!("xgboost-logistic.json");
const XGBOOST_UBJ: &[u8] = written!("xgboost-squarederror.ubj");
const CATBOOST: &[u8] = written!("catboost-rmse-min.json");
const RANKLIB: &[u8] = written!("ranklib.xml");

/// The file with something else in place of the first `from`.
fn changed(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = file.windows(from.len()).position(|part| part == from.as_bytes()).expect("something meaning");
    [&file[..at], to.as_bytes(), &file[at + from.len()..]].concat()
}

/// LightGBM's text with another value in the first line of a name.
fn with_line(name: &str, value: &str) -> Vec<u8> {
    let text = std::str::from_utf8(LIGHTGBM).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name}="))).expect("a line of this name");
    changed(LIGHTGBM, line, &format!("{name}={value}"))
}

/// LightGBM's dump of a tree that is a list.
fn deep(depth: usize) -> Vec<u8> {
    let node = "{\"split_feature\":0,\"decision_type\":\"<=\",\"missing_type\":\"NaN\",\"default_left\":true,\
        \"threshold\":0.5,\"right_child\":{\"leaf_value\":1},\"left_child\":";
    let nodes = format!("{}{{\"leaf_value\":0}}{}", node.repeat(depth), "}".repeat(depth));
    format!("{{\"name\":\"tree\",\"tree_info\":[{{\"tree_structure\":{nodes}}}]}}").into()
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    ("m.txt", Made(|| LIGHTGBM[..LIGHTGBM.len() / 4].to_vec()), "m.txt:37: the file is cut off: no line 'end of trees'"),
    ("m.txt", Text("tree\nversion=v4\nend of trees\n"), "m.txt: the LightGBM model has no trees; train it for at least one round"),
    ("m.txt", Made(|| with_line("left_child", "0 -1 -2 -3")), "m.txt: tree 0: node 0 has two parents; the file is damaged, so save the model again"),
    ("m.txt", Made(|| with_line("left_child", "7000 -1 -2 -3")), "m.txt: tree 0: no node 7000"),
    ("m.txt", Made(|| with_line("left_child", "-9000 -1 -2 -3")), "m.txt: tree 0: no node 9003"),
    ("m.txt", Made(|| with_line("threshold", "0.5 nan 1 2")), "m.txt:17: 'nan' in threshold is not a valid number"),
    ("m.txt", Made(|| with_line("threshold", "0.5 1")), "m.txt:17: threshold has 2 numbers instead of 4"),
    ("m.txt", Made(|| with_line("num_leaves", "1000000000")), "m.txt:15: split_feature has 4 numbers instead of 999999999"),
    ("m.txt", Made(|| with_line("num_cat", "2")), "m.txt: the LightGBM model has categorical splits, which is not supported; train it with numeric features only"),
    ("m.txt", Made(|| with_line("num_tree_per_iteration", "3")), "m.txt: the LightGBM model has several outputs per document"),
    ("m.txt", Made(|| changed(LIGHTGBM, "max_feature_idx", "average_output\nmax_feature_idx")), "m.txt: the LightGBM model is a random forest"),
    ("m.txt", Made(|| changed(LIGHTGBM, "threshold=", "threshold=\u{1}")), "m.txt:17: '\\u{1}"),
    ("m.json", Made(|| LIGHTGBM_JSON[..500].to_vec()), "m.json:1: EOF while parsing ... at column 500"),
    ("m.json", Made(|| changed(LIGHTGBM_JSON, "\"<=\"", "\"==\"")), "m.json: the LightGBM model has categorical splits"),
    ("m.json", Made(|| changed(LIGHTGBM_JSON, "\"threshold\": ", "\"threshold\": null, \"x\": ")), "m.json: tree_info.0.tree_structure ... : it has no 'threshold'"),
    ("m.json", Made(|| deep(500)), "m.json:1: JSON is nested more than 127 levels deep ... save the LightGBM model in its other format (LightGBM: text"),
    ("m.json", Made(|| XGBOOST[..XGBOOST.len() / 2].to_vec()), "m.json:1: EOF while parsing ... at column"),
    ("m.json", Made(|| changed(XGBOOST, "\"left_children\":[1,", "\"left_children\":[0,")), "m.json: tree 0: node 0 has two parents"),
    ("m.json", Made(|| changed(XGBOOST, "\"left_children\":[1,", "\"left_children\":[77,")), "m.json: tree 0: no node 77"),
    ("m.json", Made(|| changed(XGBOOST, "\"left_children\":[1,", "\"left_children\":[")), "m.json: learner.gradient_booster.model.trees.0: its lists are not of one length"),
    ("m.json", Made(|| changed(XGBOOST, "\"split_conditions\":[", "\"split_conditions\":[1e999,")), "m.json:1: number out of range at column"),
    ("m.json", Made(|| changed(XGBOOST, "\"split_type\":[0", "\"split_type\":[1")), "m.json: the XGBoost model has categorical splits"),
    ("m.json", Made(|| changed(XGBOOST, "\"gbtree\"", "\"dart\"")), "m.json: the XGBoost model is a dart booster, which is not supported; train it with booster=gbtree"),
    ("m.json", Text("[{\"nodeid\": 0, \"leaf\": 1}]"), "m.json: this is an XGBoost dump, which is not supported because it lacks the base score; save the model with save_model"),
    ("m.ubj", Made(|| XGBOOST_UBJ[..XGBOOST_UBJ.len() / 2].to_vec()), "m.ubj: byte 1857: a list is longer than the file"),
    ("m.ubj", Bytes(b"{L\x7f\xff\xff\xff\xff\xff\xff\xff"), "m.ubj: byte 10: the file is cut off"),
    ("m.json", Made(|| CATBOOST[..CATBOOST.len() / 2].to_vec()), "m.json:1 ... : EOF while parsing"),
    ("m.json", Made(|| changed(CATBOOST, "FloatFeature", "OnlineCtr")), "m.json: the CatBoost model has categorical splits"),
    ("m.json", Made(|| changed(CATBOOST, "\"leaf_values\": [", "\"leaf_values\": [0.5,")), "m.json: oblivious_trees.0: 4 splits lead to 17 leaves"),
    ("m.json", Made(|| changed(CATBOOST, "\"float_feature_index\": ", "\"float_feature_index\": 9")), "m.json: \
        oblivious_trees.0.splits.0.float_feature_index: no such feature"),
    ("m.cbm", Bytes(b"CBM1\x10\0\0\0"), "m.cbm: this is CatBoost's binary format, which is not supported; save the model with save_model(path, format=\"json\")"),
    ("m.xml", Made(|| RANKLIB[..RANKLIB.len() / 2].to_vec()), "m.xml:25: syntax error: tag not closed"),
    ("m.xml", Made(|| changed(RANKLIB, "</ensemble>", "")), "m.xml:53: not one complete ensemble"),
    ("m.xml", Made(|| changed(RANKLIB, "<threshold> 0.25", "<threshold> NaN")), "m.xml:12: 'NaN' is not a number"),
    ("m.xml", Made(|| changed(RANKLIB, "pos=\"right\"", "pos=\"left\"")), "m.xml: ... : a split has two children on one side"),
    ("m.xml", Text("<ensemble></ensemble>"), "m.xml: the RankLib model has no trees"),
];
