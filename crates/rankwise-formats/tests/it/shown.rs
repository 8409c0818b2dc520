//! A small model in each export format.

use rankwise_formats::{ExportOptions, Target, export};
use rankwise_model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};

/// Feature 1 up to 0.5, then feature 3 up to 2; and a constant. Missing values go where 0 goes, so every target can
/// express it.
fn model() -> Model {
    let parts = TreeParts {
        feature: vec![0, 1],
        threshold: vec![0.5, 2.0],
        missing_left: vec![true, true],
        left: vec![1, !0],
        right: vec![!2, !1],
        gain: vec![3.0, 1.0],
        count: vec![10, 6],
        leaf_value: vec![-1.0, 0.25, 1.5],
        leaf_count: vec![2, 4, 4],
        ..TreeParts::default()
    };
    let header =
        Header { objective: "lambdamart".into(), ..Header::new(AbsentFeature::Missing, Precision::F32, vec![1, 3]) };
    let trees = vec![Tree::new(parts).unwrap(), Tree::constant(0.1, 10)];
    Model::new(header, TreeEnsemble::new(0.5, Output::Sum, trees).unwrap()).unwrap()
}

fn text(target: Target) -> String {
    String::from_utf8(export(&model(), target, &ExportOptions::default()).unwrap()).unwrap()
}

#[test]
fn lightgbm() {
    let expected = "tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=3
objective=lambdarank
feature_names=Column_0 Column_1 Column_2 Column_3
feature_infos=[-inf:inf] [-inf:inf] [-inf:inf] [-inf:inf]
tree_sizes=SIZES

Tree=0
num_leaves=3
num_cat=0
split_feature=1 3
split_gain=3.0 1.0
threshold=0.5000000298023224 2.0000001192092896
decision_type=10 10
left_child=1 -1
right_child=-3 -2
leaf_value=-0.5 0.75 2.0
leaf_weight=0 0 0
leaf_count=2 4 4
internal_value=0 0
internal_weight=0 0
internal_count=10 6
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
split_feature=
split_gain=
threshold=
decision_type=
left_child=
right_child=
leaf_value=0.1
leaf_weight=0
leaf_count=10
internal_value=
internal_weight=
internal_count=
is_linear=0
shrinkage=1


end of trees

feature_importances:

parameters:
end of parameters

pandas_categorical:null
";
    let trees = &expected[expected.find("Tree=0").unwrap()..expected.find("end of trees").unwrap()];
    let first = trees.find("Tree=1").unwrap();
    let sizes = format!("{first} {}", trees.len() - first);
    assert_eq!(text(Target::LightGbm), expected.replace("SIZES", &sizes));
}

#[test]
fn xgboost_has_thresholds_that_values_are_below() {
    let json: serde_json::Value = serde_json::from_str(&text(Target::XgBoost)).unwrap();
    let tree = &json["learner"]["gradient_booster"]["model"]["trees"][0];
    let above = |value: f32| f64::from(value.next_up());
    let leaf = f64::from;
    let expected = serde_json::json!([above(0.5), above(2.0), leaf(1.5_f32), leaf(-1.0_f32), leaf(0.25_f32)]);
    assert_eq!(tree["split_conditions"], expected);
    assert_eq!(tree["left_children"], serde_json::json!([1, 3, -1, -1, -1]));
    assert_eq!(tree["right_children"], serde_json::json!([2, 4, -1, -1, -1]));
    assert_eq!(json["learner"]["learner_model_param"]["base_score"], "0.5");
    assert_eq!(json["learner"]["learner_model_param"]["num_feature"], "4");
}

#[test]
fn xgboost_dump() {
    let expected = r#"[
{"nodeid":0,"depth":0,"split":"f1","split_condition":0.5000000596046448,"yes":1,"no":4,"missing":1,"children":[{"nodeid":1,"depth":1,"split":"f3","split_condition":2.000000238418579,"yes":2,"no":3,"missing":2,"children":[{"nodeid":2,"leaf":-0.5},{"nodeid":3,"leaf":0.75}]},{"nodeid":4,"leaf":2.0}]},
{"nodeid":0,"leaf":0.10000000149011612}
]
"#;
    assert_eq!(text(Target::XgBoostDump), expected);
}

#[test]
fn ranklib() {
    let expected = "## LambdaMART
## No. of trees = 2

<ensemble>
\t<tree id=\"1\" weight=\"1.0\">
\t\t<split>
\t\t\t<feature> 1 </feature>
\t\t\t<threshold> 0.5 </threshold>
\t\t\t<split pos=\"left\">
\t\t\t\t<feature> 3 </feature>
\t\t\t\t<threshold> 2.0 </threshold>
\t\t\t\t<split pos=\"left\">
\t\t\t\t\t<output> -0.5 </output>
\t\t\t\t</split>
\t\t\t\t<split pos=\"right\">
\t\t\t\t\t<output> 0.75 </output>
\t\t\t\t</split>
\t\t\t</split>
\t\t\t<split pos=\"right\">
\t\t\t\t<output> 2.0 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
\t<tree id=\"2\" weight=\"1.0\">
\t\t<split>
\t\t\t<output> 0.10000000149011612 </output>
\t\t</split>
\t</tree>
</ensemble>
";
    assert_eq!(text(Target::RankLib), expected);
}

#[test]
fn solr() {
    let found: serde_json::Value = serde_json::from_str(&text(Target::Solr)).unwrap();
    let trees = serde_json::json!([
        { "weight": "1", "root": {
            "feature": "f1", "threshold": "0.49999898672103882",
            "left": {
                "feature": "f3", "threshold": "1.9999990463256836",
                "left": { "value": "-0.5" }, "right": { "value": "0.75" },
            },
            "right": { "value": "2.0" },
        } },
        { "weight": "1", "root": { "value": "0.10000000149011612" } },
    ]);
    assert_eq!(found["class"], "org.apache.solr.ltr.model.MultipleAdditiveTreesModel");
    assert_eq!(found["features"], serde_json::json!([{ "name": "f1" }, { "name": "f3" }]));
    let thresholds = |trees: &serde_json::Value| {
        let root = &trees[0]["root"];
        [root, &root["left"]].map(|node| node["threshold"].as_str().unwrap().parse::<f32>().unwrap() + 1e-6)
    };
    // What counts is the threshold after Solr's addition.
    assert_eq!(thresholds(&found["params"]["trees"]), [0.5, 2.0]);
    assert_eq!(found["params"]["trees"][1], trees[1]);
    assert_eq!(found["params"]["trees"][0]["root"]["left"]["left"], trees[0]["root"]["left"]["left"]);
}

#[test]
fn c_is_tables_and_a_function() {
    let source = text(Target::C);
    for part in [
        "#define RANKWISE_N_VALUES 4\n",
        "#define RANKWISE_N_TREES 2\n",
        "static const int feature[] = {\n    1, 3\n};\n",
        "static const double threshold[] = {\n    0.5000000298023224, 2.0000001192092896\n};\n",
        "static const int left[] = {\n    1, -1\n};\n",
        "static const double leaf[] = {\n    -1.0, 0.25, 1.5, 0.1\n};\n",
        "static const int root[] = {\n    0, -4\n};\n",
        "static const double base_score = 0.5;\n",
        "double rankwise_score(const double *values)\n",
    ] {
        assert!(source.contains(part), "no\n{part}in\n{source}");
    }
}
