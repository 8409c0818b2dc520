//! `rankwise blend`

use crate::sandbox::Sandbox;

/// Two weak models that see different features.
fn two_models() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("synth --rows 6000 --features 12 --seed 3 --out d.txt");
    for (name, seed) in [("a.json", 1), ("b.json", 2)] {
        let settings = "--set num_trees=4 --set num_leaves=8 --set feature_fraction=0.3";
        sandbox.ok(&format!("train d.txt --out {name} {settings} --seed {seed}"));
    }
    sandbox
}

#[test]
fn the_mix_is_better_than_both_and_what_eval_measures() {
    let sandbox = two_models();
    for metric in ["ndcg@10", "map", "mrr@5"] {
        let found = sandbox.json(&format!("blend a.json b.json d.txt --metric {metric} --out mix.txt"));
        let value = |name: &str| found["values"][name].as_f64().unwrap();
        assert!(value("blend") >= value("first").max(value("second")), "{found}");
        for (option, name) in [("--model a.json", "first"), ("--model b.json", "second"), ("--scores mix.txt", "blend")]
        {
            let measured = sandbox.json(&format!("eval d.txt {option} --metric {metric}"));
            let measured = measured["metrics"][metric].as_f64().unwrap();
            assert!((measured - value(name)).abs() < 1e-12, "{name}: {measured} and {found}");
        }
        // Nothing on a grid of mixes is better.
        let [a, b] = ["a.json", "b.json"].map(|model| {
            sandbox.ok(&format!("predict {model} d.txt --out s.txt"));
            sandbox.text("s.txt").lines().map(|line| line.parse::<f64>().unwrap()).collect::<Vec<_>>()
        });
        for step in 1..10 {
            let ratio = f64::from(step * step) * 0.05;
            let mixed: String = a.iter().zip(&b).map(|(a, b)| format!("{}\n", a + ratio * b)).collect();
            sandbox.write("grid.txt", mixed);
            let measured = sandbox.json(&format!("eval d.txt --scores grid.txt --metric {metric}"));
            assert!(measured["metrics"][metric].as_f64().unwrap() <= value("blend") + 1e-9, "{ratio}");
        }
    }
    let told = sandbox.ok("blend a.json b.json d.txt");
    assert!(told.contains("score = a.json + ") && told.contains("evaluate on others"), "{told}");
}

#[test]
fn scores_and_models_mix_and_useless_ones_are_left_out() {
    let sandbox = two_models();
    sandbox.ok("predict a.json d.txt --out a.txt");
    let wrong: String =
        sandbox.text("a.txt").lines().map(|line| format!("{}\n", -line.parse::<f64>().unwrap())).collect();
    sandbox.write("wrong.txt", wrong);
    let found = sandbox.json("blend a.json wrong.txt d.txt");
    assert_eq!(found["values"]["blend"], found["values"]["first"], "{found}");
    assert!(sandbox.ok("blend a.txt wrong.txt d.txt").contains("no combination is better than a.txt alone"));
}

#[test]
fn what_cannot_be_mixed_is_refused() {
    let sandbox = two_models();
    sandbox.write("flat.txt", "1\n".repeat(6000));
    sandbox.write("short.txt", "1\n2\n");
    for (line, said) in [
        ("blend a.json flat.txt d.txt", "flat.txt: all documents of each query have the same score"),
        ("blend a.json short.txt d.txt", "short.txt: 2 scores for 6,000 rows of d.txt"),
        ("blend a.json b.json d.txt --metric auc", "error: --metric auc: not supported by blend; use ndcg, dcg"),
        ("blend a.json b.json d.txt --metric nope", "unknown metric 'nope'; give a metric ("),
        ("blend a.json missing.json d.txt", "missing.json: cannot open"),
        ("blend a.json b.json d.txt --out a.json", "a.json: cannot write: this file is also an input"),
    ] {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.code, Some(2), "{line}");
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
    }
}
