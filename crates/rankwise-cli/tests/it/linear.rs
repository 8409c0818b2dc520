//! A linear model file, wherever a model is asked for.

use rankwise::model::{AbsentFeature, Header, LinearRanker, Model, Precision};
use serde_json::json;

use crate::sandbox::Sandbox;

/// Three of the features of `train.txt`, by hand.
pub(crate) fn linear(precision: Precision) -> Model {
    let header = Header::new(AbsentFeature::Missing, precision, vec![2, 5, 7]);
    Model::new(header, LinearRanker::new(0.25, vec![1.5, -0.125, 0.1]).unwrap()).unwrap()
}

/// A folder with data, a model of trees and a linear one.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("linear.json", linear(Precision::F32).to_json());
    sandbox
}

/// The values of the model's features in a line of LETOR, as it is written; NaN where the line does not name one.
fn values(model: &Model, line: &str) -> Vec<f64> {
    let value = |feature: &u32| {
        let named = line.split_whitespace().find_map(|pair| pair.strip_prefix(&format!("{feature}:")));
        named.map_or(f64::NAN, |value| value.parse().unwrap())
    };
    model.features().iter().map(value).collect()
}

#[test]
fn it_predicts_the_weighted_sum() {
    let sandbox = sandbox();
    for precision in [Precision::F32, Precision::F64] {
        let model = linear(precision);
        sandbox.write("m", model.to_json());
        sandbox.ok("predict m vali.txt --out scores.txt");
        let (data, scores) = (sandbox.text("vali.txt"), sandbox.text("scores.txt"));
        assert_eq!(data.lines().count(), scores.lines().count());
        for (line, score) in data.lines().zip(scores.lines()) {
            let expected = model.score(&values(&model, line));
            assert_eq!(score.parse::<f64>().unwrap().to_bits(), expected.to_bits(), "{line}");
        }
    }
    // The first feature is in the line, the second is not, the third is missing.
    sandbox.write("two.txt", "1 qid:1 2:4 7:nan\n0 qid:1 5:8 7:10\n");
    sandbox.ok("predict linear.json two.txt --out scores.txt");
    assert_eq!(sandbox.text("scores.txt"), "6.25\n0.25\n");
}

#[test]
fn it_is_evaluated_compared_and_blended() {
    let sandbox = sandbox();
    let value = |found: &serde_json::Value| found["metrics"]["ndcg@10"].as_f64().unwrap();
    let linear = value(&sandbox.json("eval vali.txt --model linear.json --metric ndcg@10"));
    let trees = value(&sandbox.json("eval vali.txt --model model.json --metric ndcg@10"));
    sandbox.ok("predict linear.json vali.txt --out scores.txt");
    assert_eq!(value(&sandbox.json("eval vali.txt --scores scores.txt --metric ndcg@10")), linear);
    let compared = sandbox.json("compare vali.txt --model model.json --model linear.json --metric ndcg@10");
    assert_eq!([0, 1].map(|system| value(&compared["systems"][system])), [trees, linear]);
    let blended = sandbox.json("blend model.json linear.json vali.txt --metric ndcg@10 --out mix.txt");
    let part = |name: &str| blended["values"][name].as_f64().unwrap();
    assert_eq!([part("first"), part("second")], [trees, linear]);
    assert!(part("blend") >= trees.max(linear), "{blended}");
    assert_eq!(sandbox.text("mix.txt").lines().count(), sandbox.text("vali.txt").lines().count());
}

#[test]
fn inspect_says_what_it_is() {
    let sandbox = sandbox();
    let text = sandbox.ok("inspect linear.json");
    for part in [
        "linear.json: model\n",
        "  linear       3 weights\n",
        "  features     3 used, ids 2 to 7\n",
        "  bias         0.25\n",
        "\nlargest weights\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let facts = sandbox.json("inspect linear.json");
    assert_eq!((&facts["kind"], &facts["ranker"], &facts["bias"]), (&json!("model"), &json!("linear"), &json!(0.25)));
    assert_eq!(facts["weights"][1], json!({ "feature": 5, "name": "5", "weight": -0.125 }));
    assert_eq!(sandbox.json("inspect model.json")["ranker"], json!("trees"));
}

#[test]
fn what_needs_trees_refuses_it() {
    let sandbox = sandbox();
    let before = sandbox.listing();
    for (line, command) in [
        ("refit linear.json train.txt --out out", "refit"),
        ("prune linear.json --valid vali.txt --out out", "prune"),
        ("train train.txt --init-model linear.json --out out", "train --init-model"),
        ("predict linear.json train.txt --trees 3 --out out", "--trees"),
    ] {
        let said = format!("linear.json: this model is linear and has no trees; `{command}` needs a model of trees");
        sandbox.run(line).expect_refused(line, &[&said]);
        assert_eq!(sandbox.listing(), before, "{line}");
    }
}

#[test]
fn it_is_exported_to_linear_formats_only() {
    let sandbox = sandbox();
    for target in ["solr", "linear"] {
        let said = sandbox.ok(&format!("convert linear.json --to {target} --out out.json --missing-as-zero"));
        assert!(said.contains(&format!("wrote a linear model of 3 features to out.json ({target}, ")), "{said}");
        let written: serde_json::Value = serde_json::from_str(&sandbox.text("out.json")).unwrap();
        let weights = if target == "solr" { &written["params"]["weights"] } else { &written };
        assert_eq!(weights["f5"], json!(-0.125), "{written}");
    }
    let refused = "convert linear.json --to lightgbm --out no.txt";
    sandbox.run(refused).expect_refused(refused, &["lightgbm has no linear models; export to solr or linear"]);
    let refused = "convert model.json --to linear --out no.txt";
    sandbox.run(refused).expect_refused(refused, &["linear is a format of linear models, but this model has trees"]);
}

/// Scales become part of the weights, and what cannot be written is refused.
#[test]
fn a_trained_one_is_exported_with_its_scales() {
    let sandbox = Sandbox::with_data();
    sandbox.train("m.json", "--set learner=linear --set absent=zero");
    for target in ["solr", "linear"] {
        let line = format!("convert m.json --to {target} --out out.json --check vali.txt");
        sandbox.run(&line).expect_refused(&line, &["counts as the mean of the feature, but"]);
        let said = sandbox.ok(&format!("{line} --missing-as-zero"));
        assert!(said.contains("scores agree within f32 precision"), "{said}");
    }
    sandbox.train("m.json", "--set learner=linear --set absent=zero --set scaling=none");
    sandbox.ok("convert m.json --to linear --out out.json --check vali.txt");
    for (settings, what) in [("scaling=query", "scaling=query"), ("log1p=true", "log1p=true")] {
        sandbox.train("m.json", &format!("--set learner=linear --set {settings}"));
        let line = "convert m.json --to linear --out no.json --missing-as-zero";
        sandbox
            .run(line)
            .expect_refused(line, &[&format!("the model was trained with {what}, which linear cannot express")]);
    }
}

#[test]
fn a_damaged_one_is_refused() {
    let sandbox = sandbox();
    let text = sandbox.text("linear.json");
    for (from, to, said) in [
        ("-0.125", "-0.25", "m: the model is damaged: its checksum is"),
        ("  1.5,\n", "", "m: there are 2 weights for 3 features; the model is damaged, so restore it from a copy"),
        ("-0.125", "NaN", "m:15:"),
        ("\"version\": 4", "\"version\": 1", "m: a linear model needs format version 4, the file has 1"),
    ] {
        assert!(text.contains(from), "{text}");
        sandbox.write("m", text.replace(from, to));
        for line in ["predict m train.txt", "eval train.txt --model m", "inspect m"] {
            sandbox.run(line).expect_refused(line, &[said]);
        }
    }
}
