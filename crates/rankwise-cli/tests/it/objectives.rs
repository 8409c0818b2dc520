//! Objectives by name, and what they refuse.

use rankwise::objectives::ObjectiveKind;
use rankwise::params::ParamValue as _;

use crate::sandbox::Sandbox;

/// Every objective trains, its model scores, and says what it is.
#[test]
fn every_objective_makes_a_model() {
    let sandbox = Sandbox::with_data();
    // Probabilities, for the one that takes nothing else.
    let shares = |text: &str| -> String {
        let halved = |line: &str| {
            line.split_once(' ').map(|(label, rest)| (label.parse::<f64>().unwrap() / 4.0, rest.to_owned()))
        };
        text.lines().filter_map(halved).map(|(label, rest)| format!("{label} {rest}\n")).collect()
    };
    let shares = shares(&sandbox.text("train.txt"));
    sandbox.write("shares.txt", shares);
    for objective in ObjectiveKind::ALL.iter().map(ObjectiveKind::render) {
        let data = if objective == "logistic" { "shares.txt" } else { "train.txt" };
        let told = sandbox.json(&format!("train {data} --out m.json --objective {objective} --set num_trees=3"));
        assert!(told["trees"].as_u64().is_some_and(|trees| trees >= 3), "{objective}: {told}");
        assert_eq!(sandbox.json("inspect m.json")["objective"], objective);
        let scores = sandbox.ok("predict m.json vali.txt");
        assert!(scores.lines().all(|line| line.parse::<f64>().is_ok_and(f64::is_finite)), "{objective}");
    }
}

#[test]
fn what_an_objective_cannot_take_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("five.txt", "0 qid:1 1:1\n5 qid:1 1:2\n0 qid:1 1:3\n");
    sandbox.write("none.txt", "0 qid:1 1:1\n0 qid:1 1:2\n");
    sandbox.write("half.txt", "0 qid:1 1:1\n0.5 qid:1 1:2\n1.5 qid:1 1:3\n");
    for (line, said) in [
        ("five.txt --objective stochasticrank --set target=f1@5", "cannot optimise the metric 'f1@5'"),
        ("five.txt --objective stochasticrank --set target=p", "add one, as in p@10"),
        ("five.txt --objective stochasticrank --set target=err", "above the maximum label"),
        ("half.txt --objective softrank --set target=err --set gain=linear", "1.5"),
        ("none.txt --objective stochasticrank", "nothing to learn"),
        ("none.txt --objective select-with-order", "nothing to select"),
        ("five.txt --objective stochasticrank --set samples=0", "samples"),
        ("five.txt --objective stochasticrank --set sigma=0", "sigma"),
        ("five.txt --objective stochastic", "objective"),
        ("five.txt --set langevin=true --set diffusion_temperature=0", "diffusion_temperature"),
        (
            "five.txt --set learning_rate=0.1 --set model_shrink_rate=10",
            "the scores would shrink to 0; use less than 10",
        ),
        ("five.txt --set model_shrink_rate=1 --set model_shrink_mode=decreasing", "shrink to 0; use less than 1"),
        (
            "five.txt --set step=exact --set target=auc --objective rmse",
            "the exact step is not supported for target=auc",
        ),
        ("five.txt --set sample=selective --set p_low=5", "use sample=high-low"),
        ("five.txt --set sample=selective --set p_high=0", "no negative documents would be kept"),
        ("five.txt --set sample=high-low --set p_high=101", "p_high"),
        ("five.txt --set sample=selective --set bagging_fraction=0.5", "documents by rank; remove it"),
    ] {
        let before = sandbox.listing();
        let outcome = sandbox.run(&format!("train {line} --out m.json"));
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
        assert_eq!(sandbox.listing(), before, "{line}");
    }
}
