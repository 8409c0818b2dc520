//! Learning from pairs of rows: `train --pairs`, `DATA.pairs`, and what is said of pairs and labels that do not do.

use std::fmt::Write as _;

use crate::sandbox::{Sandbox, reordered, shuffled};

/// A folder with `t.txt` and `v.txt`, whose labels are all 0, and pairs by a mix of two features in `my.pairs` and `v.txt.pairs`.
fn with_pairs() -> Sandbox {
    let sandbox = Sandbox::new();
    for (data, pairs, salt) in [("t.txt", "my.pairs", 1u32), ("v.txt", "v.txt.pairs", 7)] {
        let (mut rows, mut preferences) = (String::new(), String::new());
        let value = |row: u32, feature: u32| {
            let number = (row * 3 + feature + salt * 1000).wrapping_mul(2_654_435_761);
            f64::from(number >> 12) / f64::from(1 << 20)
        };
        let worth = |row: u32| value(row, 0) + 0.5 * value(row, 1);
        for row in 0..300u32 {
            let features = (0..3).map(|feature| format!("{}:{}", feature + 1, value(row, feature)));
            let _ = writeln!(rows, "0 qid:{} {}", row / 10, features.collect::<Vec<_>>().join(" "));
            let other = row / 10 * 10 + (row + 3) % 10;
            let (winner, loser) = if worth(row) > worth(other) { (row, other) } else { (other, row) };
            let _ = writeln!(preferences, "{winner}\t{loser}");
        }
        sandbox.write(data, rows);
        sandbox.write(pairs, preferences);
    }
    sandbox
}

const SMALL: &str = "--set num_trees=20 --set num_leaves=7 --set min_data_in_leaf=5";

#[test]
fn pairs_teach_an_order_without_any_label() {
    let sandbox = with_pairs();
    for objective in ["ranknet", "hinge"] {
        let line = format!("train t.txt --pairs my.pairs --objective {objective} --out {objective}.json {SMALL}");
        let said = sandbox.json(&format!("{line} --valid v.txt --metric pair-accuracy,pair-logit"));
        let accuracy = said["valid"]["pair-accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.85, "{objective}: {accuracy}");
        let measured = sandbox.json(&format!("eval v.txt --model {objective}.json --metric pair-accuracy"));
        assert_eq!(measured["metrics"]["pair-accuracy"], said["valid"]["pair-accuracy"]);
        // Labels that say nothing are no reason to warn.
        let outcome = sandbox.run(&line);
        assert!(!outcome.stderr.contains("only one distinct label"), "{}", outcome.stderr);
    }
}

#[test]
fn neither_the_order_of_pairs_nor_the_place_of_their_file_matters() {
    let sandbox = with_pairs();
    let model = sandbox.train_on("t.txt", "a.json", "--objective ranknet --pairs my.pairs");
    let pairs = sandbox.text("my.pairs");
    sandbox.write("mixed.pairs", reordered(&pairs, &shuffled(pairs.lines().count())));
    assert_eq!(model, sandbox.train_on("t.txt", "b.json", "--objective ranknet --pairs mixed.pairs"));
    let certain: String = pairs.lines().map(|line| format!("{line} 1 1\n")).collect();
    sandbox.write("certain.pairs", certain);
    assert_eq!(model, sandbox.train_on("t.txt", "c.json", "--objective ranknet --pairs certain.pairs"));
    sandbox.write("t.txt.pairs", &pairs);
    assert_eq!(model, sandbox.train_on("t.txt", "d.json", "--objective ranknet"));
    // The bins keep them, with their probabilities.
    let likely: String = pairs.lines().map(|line| format!("{line} 2 0.8\n")).collect();
    sandbox.write("t.txt.pairs", likely);
    let model = sandbox.train_on("t.txt", "e.json", "--objective ranknet");
    sandbox.ok("convert-data t.txt t.rwcache");
    assert_eq!(model, sandbox.train_on("t.rwcache", "f.json", "--objective ranknet"));
    sandbox.ok("convert-data t.txt t.csv");
    assert_eq!(sandbox.text("t.csv.pairs").lines().next().map(|line| line.ends_with("\t2\t0.8")), Some(true));
    sandbox.refused(
        &"train t.txt --out x.json --pairs my.pairs".split(' ').collect::<Vec<_>>(),
        &["my.pairs: t.txt.pairs gives pairs too; keep one of them"],
    );
    sandbox.refused(
        &"train t.rwcache --out x.json --pairs my.pairs".split(' ').collect::<Vec<_>>(),
        &["t.rwcache: a cache of binned data has its own pairs; remove --pairs"],
    );
}

#[test]
fn tables_need_no_label_where_there_are_pairs() {
    let sandbox = Sandbox::new();
    let rows: String = (0..40).map(|row| format!("{},{}\n", row / 4, (row * 7) % 40)).collect();
    sandbox.write("d.csv", format!("qid,f1\n{rows}"));
    sandbox.write("p", (0..10).map(|query| format!("{} {}\n", 4 * query, 4 * query + 3)).collect::<String>());
    let line = "train d.csv --objective ranknet --out m.json --set min_data_in_leaf=1";
    sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &["d.csv: no label column"]);
    sandbox.ok(&format!("{line} --pairs p"));
}

#[test]
fn other_objectives_say_that_they_pass_over_pairs() {
    let sandbox = Sandbox::with_data();
    sandbox.write("p", "0 1\n");
    for (objective, is_told) in [("lambdamart", true), ("yetirank", true), ("rmse", true), ("ranknet", false)] {
        let outcome =
            sandbox.run(&format!("train train.txt --pairs p --objective {objective} --out m.json --set num_trees=2"));
        let note = format!(
            "note: objective {objective} ignores the pairs of the data; use ranknet or hinge to learn from them"
        );
        assert_eq!(outcome.stderr.contains(&note), is_told, "{}", outcome.stderr);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
}

#[test]
fn pairs_that_make_no_sense_are_refused_by_line() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:3\n");
    let line = "train d.txt --objective ranknet --out m.json --set min_data_in_leaf=1 --pairs p";
    let not_a_pair = "is invalid; expected the row numbers of winner and loser, counted from 0, then optionally a weight of at least 0 and a probability from 0 to 1";
    for (content, parts) in [
        ("0 1\n0 7\n", ["p:2:1: there is no row 7; pairs count rows from 0, so the last one is 2", ""]),
        (
            "0 1\n1 0\n0 2\n",
            [
                "p:3:1: its rows belong to the queries \"a\" and \"b\"; both must be of the same query (pairs count rows from 0)",
                "",
            ],
        ),
        ("1 1\n", ["p:1:1: row 1, counted from 0, is both winner and loser", ""]),
        ("0 1\n0 1 -2\n", ["p:2:1: \"0 1 -2\"", not_a_pair]),
        ("0 1 nan\n", ["p:1:1: \"0 1 nan\"", not_a_pair]),
        ("0 1 1 1.5\n", ["p:1:1: \"0 1 1 1.5\"", not_a_pair]),
        ("0 1 1 1 1\n", ["p:1:1:", not_a_pair]),
        ("-1 0\n", ["p:1:1:", not_a_pair]),
        ("0 1 0\n1 0 0\n", ["d.txt: all pairs have weight 0, so objective 'ranknet' has nothing to learn", ""]),
    ] {
        sandbox.write("p", content);
        sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &parts);
    }
    let gone = line.replace("--pairs p", "--pairs q");
    sandbox.refused(&gone.split(' ').collect::<Vec<_>>(), &["q: cannot open: no such file"]);
    // No pairs at all: whoever names a file of pairs wants them, not the labels.
    sandbox.write("p", "\n");
    sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &["p: there are no pairs; write one pair per line"]);
}

#[test]
fn labels_that_do_not_suit_an_objective_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("graded.txt", "2 qid:a 1:1\n0 qid:a 1:2\n1 qid:a 1:3\n");
    sandbox.write("large.txt", "40 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("one.txt", "1 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:2\n");
    sandbox.write("weightless.txt", "1 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("weightless.txt.weight", "0\n0\n");
    let exponential = "label 40 in query 'a' is too large for exponential gain (at most 31); use --gain linear";
    sandbox.all_refused(&[
        ("train large.txt --out m.json", &["large.txt: ", exponential]),
        ("train large.txt --out m.json --objective lambdaloss", &["large.txt: ", exponential]),
        ("train large.txt --out m.json --objective yetirank --set yetirank_mode=metric", &[exponential]),
        (
            "train large.txt --out m.json --set target=err",
            &["label 40 in query 'a' is above the maximum label of err and pfound, 4; increase --err-max-grade"],
        ),
        (
            "train graded.txt --out m.json --set target=err --gain linear",
            &["label 2 in query 'a' has the gain 2", "use gains as probabilities, from 0 to 1"],
        ),
        (
            "train graded.txt --out m.json --set target=map --set lambda_form=xgboost",
            &["label 2 in query 'a' is not 0 or 1", "use another lambda_form and set relevant_from"],
        ),
        (
            "train graded.txt --out m.json --set target=mrr --relevant-from 3",
            &["no query has both relevant and irrelevant documents", "target=mrr", "relevant_from"],
        ),
        (
            "train graded.txt --out m.json --set target=recall@5",
            &["objective 'lambdamart' cannot optimise the metric 'recall@5'", "ndcg, dcg, map, mrr or err"],
        ),
        ("train graded.txt --out m.json --set target=p", &["cannot optimise the metric 'p'", "add one, as in p@10"]),
        ("train one.txt --out m.json --objective ranknet", &["objective 'ranknet' has nothing to learn"]),
        ("train one.txt --out m.json --objective hinge", &["objective 'hinge' has nothing to learn"]),
        ("train one.txt --out m.json --objective yetirank", &["objective 'yetirank' has nothing to learn"]),
        ("train one.txt --out m.json --objective lambdaloss", &["objective 'lambdaloss' has nothing to learn"]),
        ("train graded.txt --out m.json --set noise=gauss", &["noise", "none", "gumbel"]),
        ("train graded.txt --out m.json --set variant=3", &["variant", "2++"]),
        ("train graded.txt --out m.json --set decay=0", &["decay"]),
    ]);
    for objective in ["lambdamart", "lambdaloss", "ranknet", "hinge", "yetirank"] {
        let line = format!("train weightless.txt --out m.json --objective {objective}");
        sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &["all documents have weight 0; give some of them"]);
        // Large labels are fine where no power of two is taken.
        sandbox.ok(&format!(
            "train large.txt --out m.json --set min_data_in_leaf=1 --gain linear --objective {objective}"
        ));
    }
    sandbox.ok("train large.txt --out m.json --set min_data_in_leaf=1 --set label_gain=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40");
}

/// Every objective learns, and makes the same model whatever the number of threads and the order of rows.
#[test]
fn objectives_learn_and_repeat_themselves() {
    let sandbox = Sandbox::with_data();
    let text = sandbox.text("train.txt");
    sandbox.write("mixed.txt", reordered(&text, &shuffled(text.lines().count())));
    sandbox.write("zero.txt", "0\n".repeat(sandbox.text("vali.txt").lines().count()));
    for (at, settings) in [
        "target=map",
        "target=mrr",
        "target=err@10",
        "target=p@5",
        "target=dcg@10 --set lambda_form=paper",
        "target=ndcg@10 --set lambda_form=xgboost",
        "noise=gumbel --set samples=3",
        "objective=lambdaloss",
        "objective=lambdaloss --set variant=1 --set noise=gumbel",
        "objective=ranknet",
        "objective=hinge",
        "objective=yetirank",
        "objective=yetirank --set yetirank_mode=metric --set target=ndcg@10",
    ]
    .into_iter()
    .enumerate()
    {
        let model = format!("m{at}.json");
        let first = sandbox.train_on("train.txt", &model, &format!("--set {settings}"));
        let second = sandbox.train_on("mixed.txt", "other.json", &format!("--threads 3 --set {settings}"));
        assert!(first == second, "{settings}");
        let measured = sandbox.json(&format!("compare vali.txt --model {model} --scores zero.txt --metric ndcg@10"));
        let value = |system: usize| measured["systems"][system]["metrics"]["ndcg@10"].as_f64().unwrap();
        assert!(value(0) > value(1) + 0.05, "{settings}: {} against {}", value(0), value(1));
    }
}
