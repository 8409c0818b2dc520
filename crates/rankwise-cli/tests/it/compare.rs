//! `rankwise compare`

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, reordered, shuffled};

/// Three queries of two documents, one with nothing to find.
const DATA: &str = "1 qid:a 1:1\n0 qid:a 1:1\n0 qid:b 1:1\n1 qid:b 1:1\n0 qid:c 1:1\n2 qid:d 1:1\n0 qid:d 1:1\n";

fn small() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", DATA);
    // Right for all queries; wrong for the query b; wrong for all.
    sandbox.write("right.txt", "2\n1\n1\n2\n0\n5\n4\n");
    sandbox.write("half.txt", "2\n1\n2\n1\n0\n5\n4\n");
    sandbox.write("wrong.txt", "1\n2\n2\n1\n0\n4\n5\n");
    sandbox
}

/// Two models and a file of scores on data of a few dozen queries.
fn models() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.ok("synth --rows 6000 --features 8 --seed 3 --out test.txt");
    sandbox.ok("train train.txt --out small.json --set num_trees=1 --set num_leaves=4");
    sandbox.ok("predict small.json test.txt --out s.txt");
    sandbox
}

fn test(found: &Value, place: usize) -> &Value {
    &found["tests"][place]
}

#[test]
fn the_object_has_its_shape() {
    let sandbox = small();
    let found = sandbox.json("compare d.txt --scores right.txt --scores half.txt --metric NDCG@2,dcg");
    let low = 1.0 / 3f64.log2();
    let means = |system: usize| found["systems"][system]["metrics"].clone();
    assert_eq!(found["systems"][0]["name"], "right.txt");
    assert_eq!(means(0).as_object().unwrap().keys().collect::<Vec<_>>(), ["NDCG@2", "dcg"]);
    assert!((means(1)["NDCG@2"].as_f64().unwrap() - (2.0 + low) / 4.0).abs() < 1e-12, "{found}");
    assert_eq!(found["tests"].as_array().unwrap().len(), 2);
    let first = test(&found, 0);
    assert_eq!(
        (&first["a"], &first["b"], &first["metric"]),
        (&json!("right.txt"), &json!("half.txt"), &json!("NDCG@2"))
    );
    assert_eq!((&first["wins"], &first["ties"], &first["losses"]), (&json!(1), &json!(3), &json!(0)));
    assert!((first["difference"].as_f64().unwrap() - (1.0 - low) / 4.0).abs() < 1e-12, "{found}");
    // One difference that is not 0: both of its signs are as extreme.
    assert_eq!(
        (&first["p_value"], &first["p_value_holm"], &first["significant"]),
        (&json!(1.0), &json!(1.0), &json!(false))
    );
    assert_eq!((&first["best"][0]["query"], &first["worst"]), (&json!("b"), &json!([])));
    assert_eq!((&found["queries"], &found["queries_without_relevant"]), (&json!(4), &json!(1)));
    assert_eq!(
        (&found["test"], &found["alternative"], &found["alpha"]),
        (&json!("fisher"), &json!("two-sided"), &json!(0.05))
    );
    assert_eq!(found["convention"]["gain"], "exp");
}

#[test]
fn systems_are_those_of_eval_in_the_order_typed() {
    let sandbox = models();
    let found = sandbox.json(
        "compare test.txt --model model.json --scores s.txt --model small.json --metric ndcg@5,dcg --names new,scores,old",
    );
    let names: Vec<&str> = (0..3).map(|system| found["systems"][system]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["new", "scores", "old"]);
    for (system, option) in ["--model model.json", "--scores s.txt", "--model small.json"].into_iter().enumerate() {
        let alone = sandbox.json(&format!("eval test.txt {option} --metric ndcg@5,dcg"));
        assert_eq!(found["systems"][system]["metrics"], alone["metrics"], "{option}");
    }
    // The scores are those of the small model, so the two never differ.
    let same = test(&found, 2);
    assert_eq!(
        (&same["a"], &same["b"], &same["p_value"], &same["difference"]),
        (&json!("scores"), &json!("old"), &json!(1.0), &json!(0.0))
    );
    // Holm: the smallest of three p-values three times.
    let p: Vec<f64> = (0..3).map(|place| test(&found, place)["p_value"].as_f64().unwrap()).collect();
    let corrected: Vec<f64> = (0..3).map(|place| test(&found, place)["p_value_holm"].as_f64().unwrap()).collect();
    assert_eq!(p[0], p[1]);
    assert!((corrected[0] - (3.0 * p[0]).min(1.0)).abs() < 1e-12 && corrected[2] == 1.0, "{p:?} {corrected:?}");
    // Swapped, the difference has the other sign and the p-value is the same.
    let swapped = sandbox.json("compare test.txt --model small.json --model model.json --metric ndcg@5");
    let (forth, back) = (test(&found, 1), test(&swapped, 0));
    assert_eq!(forth["difference"].as_f64().unwrap(), -back["difference"].as_f64().unwrap());
    assert_eq!((&forth["p_value"], &forth["wins"]), (&back["p_value"], &back["losses"]));
}

#[test]
fn every_test_says_the_same_for_any_threads_asked_for_and_any_order_of_rows() {
    let sandbox = models();
    let data = sandbox.text("test.txt");
    sandbox.write("shuffled.txt", reordered(&data, &shuffled(data.lines().count())));
    for options in
        ["--test fisher", "--test t", "--test wilcoxon", "--test bootstrap --permutations 2000", "--one-sided --seed 5"]
    {
        let line = format!("compare test.txt --model model.json --model small.json --metric ndcg@10,dcg@3 {options}");
        let one = sandbox.ok(&format!("{line} --threads 1"));
        assert_eq!(sandbox.ok(&format!("{line} --threads 2")), one, "{options}");
        assert_eq!(sandbox.ok(&format!("{line} --threads 8")), one, "{options}");
        assert_eq!(sandbox.ok(&line.replace("test.txt", "shuffled.txt")), one, "{options}");
        let p = test(&sandbox.json(&line), 0)["p_value"].as_f64().unwrap();
        assert!(p > 0.0 && p < 1.0, "{options}: {p}");
    }
}

#[test]
fn the_text_says_what_was_found() {
    let sandbox = small();
    let text = sandbox.ok("compare d.txt --scores right.txt --scores half.txt --scores wrong.txt");
    for part in [
        "system      ndcg@10     95 % interval\n",
        "p (Holm)",
        "right.txt - half.txt",
        "at significance level 0.05, corrected for 3 pairs:\n",
        "  no significant difference between right.txt and half.txt, wrong.txt\n",
        "  no significant difference between half.txt and wrong.txt\n",
        "  right.txt - wrong.txt\n    gains: a +0.3691, b +0.3691, d +0.3691\n    losses: none\n",
        "test: fisher, all permutations, two-sided\n",
        "over 4 queries; 1 without relevant documents\nrules: gain exp",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
    let text = sandbox.ok("compare d.txt --scores right.txt --scores half.txt --one-sided --alpha 0.5 --top 0");
    for part in [
        "50 % interval",
        "at significance level 0.5:\n  right.txt is better than half.txt\n",
        "is the first of a pair better",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
    assert!(!text.contains("gains") && !text.contains("Holm"), "{text}");
    let text = sandbox.ok("compare d.txt --scores half.txt --scores right.txt --one-sided --alpha 0.5");
    assert!(text.contains("half.txt is not shown to be better than right.txt"), "{text}");
}

#[test]
fn each_mean_says_over_how_many_queries_it_is() {
    let sandbox = small();
    let line = "compare d.txt --scores right.txt --scores half.txt --empty skip";
    let text = sandbox.ok(line);
    assert!(text.contains("\nmean over 3 of 4 queries; 1 without relevant documents skipped\n"), "{text}");
    let found = sandbox.json(line);
    assert_eq!(found["systems"][1]["means"]["ndcg@10"]["left_out"]["without_relevant"], 1);
    // Runs that answer different queries.
    sandbox.write("qrels.txt", "a 0 x 1\nb 0 x 1\nc 0 x 1\n");
    sandbox.write("all.run", "a Q0 x 1 1 t\nb Q0 x 1 1 t\nc Q0 x 1 1 t\n");
    sandbox.write("some.run", "a Q0 x 1 1 t\nb Q0 y 1 1 t\n");
    let text = sandbox.ok("compare --qrels qrels.txt --run all.run --run some.run --missing-queries skip");
    assert!(text.contains("\nall.run: over 3 queries; 0 without relevant documents\n"), "{text}");
    assert!(text.contains("\nsome.run: mean over 2 of 3 queries; 1 without results skipped\n"), "{text}");
}

#[test]
fn tables_fit_a_terminal() {
    let sandbox = small();
    for (file, name) in [("right.txt", "a_system_with_a_long_name.txt"), ("half.txt", "another_with_a_long_name.txt")] {
        std::fs::copy(sandbox.path(file), sandbox.path(name)).unwrap();
    }
    let line =
        "compare d.txt --scores a_system_with_a_long_name.txt --scores another_with_a_long_name.txt --scores wrong.txt";
    let text = sandbox.ok(line);
    assert!(
        text.lines().take_while(|line| !line.starts_with("at significance level")).all(|line| line.len() <= 80),
        "{text}"
    );
    assert!(text.contains("\na_system_with_a_long_name.txt - another_with_a_long_name.txt\n     +0.0923  ["), "{text}");
    // Short names stay in the table.
    let text = sandbox.ok("compare d.txt --scores right.txt --scores half.txt --names a,b");
    assert!(text.contains("\npair   difference "), "{text}");
}

#[test]
fn a_baseline_is_compared_with_each_of_the_others() {
    let sandbox = small();
    let found =
        sandbox.json("compare d.txt --scores right.txt --scores half.txt --scores wrong.txt --baseline half.txt");
    let pairs: Vec<(&str, &str)> = (0..2)
        .map(|place| (test(&found, place)["a"].as_str().unwrap(), test(&found, place)["b"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("right.txt", "half.txt"), ("wrong.txt", "half.txt")]);
    assert_eq!(found["tests"].as_array().unwrap().len(), 2);
}

#[test]
fn queries_that_are_skipped_are_left_out_and_counted() {
    let sandbox = small();
    let line = "compare d.txt --scores right.txt --scores wrong.txt --empty skip";
    let found = sandbox.json(line);
    assert_eq!((&test(&found, 0)["left_out"], &test(&found, 0)["wins"]), (&json!(1), &json!(3)));
    assert_eq!(found["systems"][0]["queries"]["ndcg@10"], 3);
    let text = sandbox.ok(line);
    assert!(text.contains("queries skipped, because at least one of the two systems has no value: 1\n"), "{text}");
}

#[test]
fn weights_count_in_means_and_tests() {
    let sandbox = small();
    sandbox.write("d.txt.query_weight", "1\n8\n1\n0\n");
    let line = "compare d.txt --scores right.txt --scores wrong.txt";
    let found = sandbox.json(line);
    // The query d weighs nothing.
    assert_eq!((&test(&found, 0)["left_out"], &test(&found, 0)["wins"]), (&json!(1), &json!(2)));
    let low = 1.0 / 3f64.log2();
    assert!((test(&found, 0)["difference"].as_f64().unwrap() - 0.9 * (1.0 - low)).abs() < 1e-12, "{found}");
    let text = sandbox.ok(&format!("{line} --test wilcoxon"));
    assert!(text.contains("weights are used in means and intervals, but not in this test"), "{text}");
}

#[test]
fn one_query_has_no_interval_and_some_tests_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 qid:a 1:1\n0 qid:a 1:1\n");
    sandbox.write("x.txt", "1\n2\n");
    sandbox.write("y.txt", "2\n1\n");
    for (kind, p) in [("fisher", json!(1.0)), ("wilcoxon", json!(1.0)), ("t", json!(null)), ("bootstrap", json!(null))]
    {
        let line = format!("compare d.txt --scores x.txt --scores y.txt --test {kind}");
        let found = sandbox.json(&line);
        let pair = test(&found, 0);
        assert_eq!((&pair["p_value"], &pair["p_value_holm"], &pair["interval"]), (&p, &p, &json!(null)), "{kind}");
        let text = sandbox.ok(&line);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!(
            text.contains("this test needs at least two queries to compare x.txt with y.txt"),
            p.is_null(),
            "{text}"
        );
    }
}

#[test]
fn every_query_gets_a_line() {
    let sandbox = small();
    sandbox.ok("compare d.txt --scores right.txt --scores half.txt --names x,y --metric ndcg@1,dcg@1 --empty skip --per-query q.tsv");
    let expected = "qid\tdocuments\tweight\tndcg@1:x\tndcg@1:y\tdcg@1:x\tdcg@1:y\n\
                    a\t2\t1\t1\t1\t1\t1\nb\t2\t1\t1\t0\t1\t0\nc\t1\t1\t\t\t\t\nd\t2\t1\t1\t1\t3\t3\n";
    assert_eq!(sandbox.text("q.tsv"), expected);
}

#[test]
fn runs_are_compared_by_qrels_and_beside_models() {
    let sandbox = Sandbox::new();
    sandbox.write("q.txt", "a 0 x 1\na 0 y 0\nb 0 x 0\nb 0 y 2\nc 0 z 1\n");
    sandbox.write("right.run", "a Q0 x 1 9 r\na Q0 y 2 8 r\nb Q0 y 1 3 r\nb Q0 x 2 1 r\nc Q0 z 1 1 r\n");
    // Wrong for a, and without an answer for c.
    sandbox.write("wrong.run", "a Q0 y 1 9 w\na Q0 x 2 8 w\nb Q0 y 1 3 w\nb Q0 x 2 1 w\n");
    let line = "compare --qrels q.txt --run right.run --run wrong.run --metric mrr,arp";
    let found = sandbox.json(line);
    let mrr = test(&found, 0);
    assert_eq!((&mrr["difference"], &mrr["wins"], &mrr["ties"]), (&json!(0.5), &json!(2), &json!(1)));
    assert_eq!(found["convention"]["missing_queries"], "count");
    let skipped = sandbox.json(&format!("{line} --missing-queries skip"));
    assert_eq!((&test(&skipped, 0)["wins"], &test(&skipped, 0)["left_out"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&skipped["systems"][0]["queries"]["mrr"], &skipped["systems"][1]["queries"]["mrr"]),
        (&json!(3), &json!(2))
    );
    // Where less is better, less wins.
    let arp = test(&found, 1);
    assert!(arp["difference"].as_f64().unwrap() < 0.0 && arp["wins"].as_u64() > arp["losses"].as_u64(), "{arp}");
    assert!(sandbox.ok(line).contains("arp (lower is better)"));

    let models = models();
    models.ok("predict model.json test.txt --format run --out m.run");
    let found = models.json("compare test.txt --run m.run --model small.json --model model.json");
    assert_eq!((&test(&found, 1)["p_value"], &test(&found, 1)["wins"]), (&json!(1.0), &json!(0)), "{found}");
}

#[test]
fn files_of_one_name_are_told_apart_by_their_folders() {
    let sandbox = small();
    std::fs::create_dir(sandbox.path("old")).unwrap();
    sandbox.write("old/right.txt", sandbox.text("half.txt"));
    let found = sandbox.json("compare d.txt --scores right.txt --scores old/right.txt");
    assert_eq!((&test(&found, 0)["a"], &test(&found, 0)["b"]), (&json!("right.txt"), &json!("old/right.txt")));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = small();
    sandbox.write("short.txt", "1\n2\n");
    sandbox.write("nan.txt", "2\nnan\n1\n2\n0\n5\n4\n");
    let two = "compare d.txt --scores right.txt --scores half.txt";
    let many = format!("compare d.txt {}", "--scores right.txt ".repeat(21));
    let refused = |line: &str, parts: &[&str]| sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), parts);
    refused("compare d.txt", &["nothing to compare; give 2 to 20 systems with --model, --scores or --run"]);
    refused("compare d.txt --scores right.txt", &["one system cannot be compared; give 2 to 20 systems"]);
    refused(&many, &["21 systems cannot be compared; give 2 to 20 systems"]);
    refused("compare d.txt --scores right.txt --scores right.txt", &["two systems are named 'right.txt'", "--names"]);
    refused(&format!("{two} --names x,x"), &["two systems are named 'x'"]);
    refused(&format!("{two} --names x"), &["--names: 1 name for 2 systems; give one name per system"]);
    refused(&format!("{two} --names x,"), &["--names: \"\" is not a valid name"]);
    refused(&format!("{two} --baseline z"), &["unknown baseline 'z'; the systems are 'right.txt', 'half.txt'"]);
    refused(&format!("{two} --test anova"), &["invalid value 'anova'", "fisher, t, wilcoxon, bootstrap"]);
    refused(
        &format!("{two} --test t --permutations 10"),
        &["--permutations: the test t uses no random draws; remove the option"],
    );
    for number in ["0", "-1", "x", "1000000001"] {
        refused(
            &format!("{two} --permutations {number}"),
            &["for '--permutations <N>': expected an integer from 1 to 1000000000"],
        );
    }
    for level in ["0", "1", "-0.1", "nan", "x"] {
        refused(&format!("{two} --alpha {level}"), &["for '--alpha <LEVEL>': expected a number between 0 and 1"]);
    }
    refused(&format!("{two} --top -1"), &["for '--top <N>': expected an integer of at least 0"]);
    refused(&format!("{two} --metric ndgc"), &["unknown metric 'ndgc'; did you mean 'ndcg'?"]);
    refused(&format!("{two} --per-query -"), &["--per-query -: standard output is used for the comparison"]);
    refused(&format!("{two} --per-query right.txt"), &["right.txt: cannot write: this file is also an input"]);
    refused("compare d.txt --scores right.txt --scores short.txt", &["short.txt: 2 scores for 7 rows of d.txt"]);
    refused("compare d.txt --scores right.txt --scores nan.txt", &["nan.txt:2"]);
    refused("compare d.txt --scores right.txt --scores nosuch.txt", &["nosuch.txt: cannot open"]);
    refused("compare - --scores right.txt --scores -", &["-: standard input can be read only once"]);
    refused(&format!("{two} --metric auc"), &["auc is computed over all documents at once", "query-auc"]);
    refused(&format!("{two} --metric ndcg@5,mrr@"), &["metric 'mrr@': invalid cutoff"]);
    refused(&format!("{two} --qrels q.txt"), &["--qrels is for runs, in place of DATA", "or remove --qrels"]);
    refused("compare --scores right.txt --scores half.txt", &["<DATA>"]);
    sandbox.write("q.txt", "a 0 x 1\n");
    sandbox.write("a.run", "a Q0 x 1 1 t\n");
    sandbox.write("z.run", "z Q0 x 1 1 t\n");
    refused(
        "compare --qrels q.txt --run a.run --scores right.txt",
        &["--scores needs labelled documents, and --qrels is only for runs; give DATA instead of --qrels"],
    );
    refused("compare --qrels q.txt --run a.run --run z.run", &["z.run:1:"]);
    // All queries are skipped.
    sandbox.write("none.txt", "0 qid:a 1:1\n0 qid:b 1:1\n");
    sandbox.write("x.txt", "1\n2\n");
    refused(
        "compare none.txt --scores x.txt --scores short.txt --empty skip",
        &["'x.txt' and 'short.txt' have no query in common with a value of ndcg@10"],
    );
}
