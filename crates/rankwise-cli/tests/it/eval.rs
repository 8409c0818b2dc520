//! `rankwise eval`

use serde_json::json;

use crate::sandbox::Sandbox;

/// One query whose order is right, one that is wrong, one with nothing to find, one with a tie.
const DATA: &str = "1 qid:a 1:1\n0 qid:a 1:1\n0 qid:b 1:1\n1 qid:b 1:1\n0 qid:c 1:1\n2 qid:d 1:1\n0 qid:d 1:1\n";
const SCORES: &str = "2\n1\n2\n1\n0\n5\n5\n";

fn data() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", DATA);
    sandbox.write("s.txt", SCORES);
    sandbox
}

#[test]
fn a_models_scores_measure_as_the_model_does_bit_for_bit() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("predict model.json vali.txt --out s.txt");
    for rules in ["", "--gain linear --ties average", "--ties random --seed 3", "--convention xgboost", "--ties docid"]
    {
        let line = format!("vali.txt --metric ndcg@1,ndcg@10,ndcg,dcg@5 {rules}");
        let model = sandbox.json(&format!("eval {line} --model model.json --per-query model.tsv"));
        let scores = sandbox.json(&format!("eval {line} --scores s.txt --per-query scores.tsv"));
        for part in ["metrics", "queries", "queries_without_relevant", "convention"] {
            assert_eq!(model[part], scores[part], "{rules}");
        }
        assert_eq!(sandbox.text("model.tsv"), sandbox.text("scores.tsv"), "{rules}");
    }
}

#[test]
fn the_object_has_its_shape_and_metrics_as_typed() {
    let sandbox = data();
    let found = sandbox.json("eval d.txt --scores s.txt --metric NDCG@2,dcg");
    assert_eq!(found["metrics"].as_object().unwrap().keys().collect::<Vec<_>>(), ["NDCG@2", "dcg"]);
    assert_eq!((&found["queries"], &found["queries_without_relevant"]), (&json!(4), &json!(1)));
    let convention = json!({ "gain": "exp", "discount": "log2", "ties": "worst", "empty": "zero" });
    assert_eq!(found["convention"], convention);
    let low = 1.0 / 3f64.log2();
    let expected = (1.0 + low + 0.0 + low) / 4.0;
    assert!((found["metrics"]["NDCG@2"].as_f64().unwrap() - expected).abs() < 1e-12, "{found}");
    assert!(["load", "measure"].iter().all(|phase| found["seconds"][phase].as_f64().unwrap() >= 0.0), "{found}");
    let default = sandbox.json("eval d.txt --scores s.txt");
    assert_eq!(default["metrics"].as_object().unwrap().keys().collect::<Vec<_>>(), ["ndcg@10"]);
}

#[test]
fn a_feature_is_measured_as_a_ranker() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "label,qid,price,stars\n1,a,5,1\n0,a,7,0\n0,a,,2\n2,b,3,9\n0,b,1,10\n");
    sandbox.write("price.txt", "5\n7\n-1e30\n3\n1\n");
    sandbox.write("stars.txt", "1\n0\n2\n9\n10\n");
    let metrics = |system: &str| sandbox.json(&format!("eval d.csv --metric ndcg@2,mrr {system}"))["metrics"].clone();
    assert_eq!(metrics("--feature price"), metrics("--scores price.txt"));
    assert_eq!(metrics("--feature 0"), metrics("--scores price.txt"));
    assert_eq!(metrics("--feature stars"), metrics("--scores stars.txt"));
    assert_ne!(metrics("--feature stars"), metrics("--feature price"));
    sandbox.write("d.txt", "1 qid:a 110:5\n0 qid:a 110:7\n2 qid:b 110:3\n");
    assert!(sandbox.ok("eval d.txt --feature 110").contains("over 2 queries"));
    sandbox.all_refused(&[
        (
            "eval d.csv --feature size",
            &["--feature size: no such feature in d.csv; the features are \"price\", \"stars\""],
        ),
        ("eval d.txt --feature 11", &["--feature 11: no such feature in d.txt; its only feature is 110"]),
        ("eval d.csv --feature price --scores price.txt", &["cannot be used with"]),
        ("eval d.csv", &["--feature <FEATURE>"]),
    ]);
}

#[test]
fn several_models_and_features_make_a_table() {
    let sandbox = Sandbox::with_model();
    sandbox.train("other.json", "--objective rmse");
    let line = "eval vali.txt --metric ndcg@10,map --model model.json --model other.json --feature 3";
    let text = sandbox.ok(line);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["system", "ndcg@10", "map"], "{text}");
    assert_eq!((rows[1][0], rows[2][0], &rows[3][..2]), ("model.json", "other.json", &["feature", "3"][..]), "{text}");
    assert!(text.contains("\nover ") && text.contains("\nrules: gain exp"), "{text}");
    let said = sandbox.json(line);
    for (idx, system) in ["--model model.json", "--model other.json", "--feature 3"].iter().enumerate() {
        let alone = sandbox.json(&format!("eval vali.txt --metric ndcg@10,map {system}"));
        assert_eq!(said["systems"][idx]["metrics"], alone["metrics"], "{system}");
        assert_eq!(said["queries"], alone["queries"]);
    }
    assert_eq!(said["systems"][2]["name"], "feature 3");
    sandbox.refused(
        &["eval", "vali.txt", "--model", "model.json", "--model", "other.json", "--per-query", "q.tsv"],
        &["--per-query: eval supports one system only; use compare"],
    );
}

#[test]
fn rules_decide_ties_and_empty_queries() {
    let sandbox = data();
    let low = 1.0 / 3f64.log2();
    let ndcg = |rules: &str| sandbox.json(&format!("eval d.txt --scores s.txt {rules}"))["metrics"]["ndcg@10"].as_f64();
    let cases = [
        ("--ties best", (1.0 + low + 1.0) / 4.0),
        ("--ties input", (1.0 + low + 1.0) / 4.0),
        ("--ties average", (1.0 + low + f64::midpoint(1.0, low)) / 4.0),
        ("--empty one", (1.0 + low + 1.0 + low) / 4.0),
        ("--empty skip", (1.0 + low + low) / 3.0),
        ("--gain table:0,0,1 --empty skip", low),
    ];
    for (rules, expected) in cases {
        let found = ndcg(rules).unwrap();
        assert!((found - expected).abs() < 1e-12, "{rules}: {found} for {expected}");
    }
    let dcg = sandbox.json("eval d.txt --scores s.txt --metric dcg --gain linear")["metrics"]["dcg"].as_f64().unwrap();
    assert!((dcg - (1.0 + low + 2.0 * low) / 4.0).abs() < 1e-12, "{dcg}");
}

#[test]
fn a_convention_gives_all_rules_and_says_so() {
    let sandbox = data();
    let said = |rules: &str| sandbox.ok(&format!("eval d.txt --scores s.txt {rules}"));
    for name in ["lightgbm", "xgboost", "catboost", "sklearn", "ranklib", "ranx"] {
        let text = said(&format!("--convention {name}"));
        assert!(
            text.contains("rules: gain ") && text.contains("over 4 queries; 1 without relevant documents"),
            "{text}"
        );
    }
    assert_ne!(said("--convention lightgbm"), said("--convention trec_eval --ties worst"));
    assert!(said("--convention xgboost --ties best").contains("ties best"));
}

#[test]
fn a_mean_says_how_many_queries_it_leaves_out() {
    let sandbox = data();
    let line = "eval d.txt --scores s.txt --metric ndcg@10,arp --empty skip";
    let text = sandbox.ok(line);
    let expected = "\nmean over 3 of 4 queries; 1 without relevant documents skipped\n";
    assert!(text.contains(expected) && !text.contains("over 4 queries"), "{text}");
    let found = sandbox.json(line);
    let left_out = json!({ "without_relevant": 1, "without_results": 0, "without_value": 0 });
    assert_eq!(found["means"]["ndcg@10"], json!({ "queries": 3, "left_out": left_out }));
    assert_eq!((&found["queries"], &found["queries_without_relevant"]), (&json!(4), &json!(1)));
    // Where means differ in their queries, each says its own.
    let text = sandbox.ok("eval d.txt --scores s.txt --metric ndcg@10,arp");
    assert!(text.contains("\nndcg@10: over 4 queries; 1 without relevant documents\n"), "{text}");
    assert!(text.contains("\narp: mean over 3 of 4 queries; 1 without relevant documents skipped\n"), "{text}");
}

#[test]
fn every_query_gets_a_line() {
    let sandbox = data();
    sandbox.ok("eval d.txt --scores s.txt --metric ndcg@1,dcg@1 --empty skip --per-query q.tsv");
    let expected = "qid\tdocuments\tweight\tndcg@1\tdcg@1\na\t2\t1\t1\t1\nb\t2\t1\t0\t0\nc\t1\t1\t\t\nd\t2\t1\t0\t0\n";
    assert_eq!(sandbox.text("q.tsv"), expected);
}

#[test]
fn scores_and_data_may_come_from_standard_input() {
    let sandbox = data();
    let expected = sandbox.ok("eval d.txt --scores s.txt");
    assert_eq!(sandbox.run_with_input("eval d.txt --scores -", "s.txt").expect_ok("scores"), expected);
    assert_eq!(sandbox.run_with_input("eval - --scores s.txt", "d.txt").expect_ok("data"), expected);
}

#[test]
fn nothing_to_measure_is_no_number() {
    let sandbox = data();
    sandbox.write("c.txt", "0 qid:c 1:1\n");
    sandbox.write("cs.txt", "1\n");
    assert_eq!(sandbox.json("eval c.txt --scores cs.txt --empty skip")["metrics"]["ndcg@10"], json!(null));
}

#[test]
fn means_have_intervals() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("synth --rows 6000 --features 8 --seed 3 --out test.txt");
    let line = "eval test.txt --model model.json --metric ndcg@10,auc";
    let found = sandbox.json(line);
    let (mean, interval) = (&found["metrics"]["ndcg@10"], &found["intervals"]["ndcg@10"]);
    let [low, high] = ["low", "high"].map(|end| interval[end].as_f64().unwrap());
    assert!(low < mean.as_f64().unwrap() && mean.as_f64().unwrap() < high && high - low < 0.3, "{found}");
    assert_eq!((&interval["method"], &found["confidence"]), (&json!("bca"), &json!(0.95)));
    // One number over all documents has none, nor has the mean of a single query.
    assert_eq!(found["intervals"]["auc"], json!(null));
    for threads in ["1", "8"] {
        assert_eq!(sandbox.json(&format!("{line} --threads {threads}"))["intervals"], found["intervals"]);
    }
    let text = sandbox.ok(line);
    assert!(text.contains(&format!("[{low:.4}, {high:.4}]\n")) && text.contains("95 % interval"), "{text}");
    sandbox.write("one.txt", "1 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("s.txt", "1\n2\n");
    assert_eq!(sandbox.json("eval one.txt --scores s.txt")["intervals"]["ndcg@10"], json!(null));
}

/// Every metric, on lines in two orders: only `--ties input` may tell them apart, and `dcg-rr`, whose documents stand in the
/// order of their positions.
#[test]
fn the_order_of_lines_shows_only_where_asked() {
    let sandbox = Sandbox::new();
    let labels = [3, 0, 1, 1, 0, 2, 0, 0, 1, 0, 4, 0, 2, 2, 0, 1, 0, 0, 0, 3];
    let line = |idx: usize| format!("{} qid:{} 1:{idx} # d{}\n", labels[idx], idx % 3, idx * 7 % 20);
    let score = |idx: usize| format!("{}\n", (idx * 5 % 4) as f64 / 4.0 - 0.25);
    let order: Vec<usize> = (0..labels.len()).rev().step_by(2).chain((0..labels.len()).step_by(2)).collect();
    for (name, rows) in [("a", (0..labels.len()).collect::<Vec<_>>()), ("b", order)] {
        sandbox.write(&format!("{name}.txt"), rows.iter().map(|idx| line(*idx)).collect::<String>());
        sandbox.write(&format!("{name}.txt.position"), rows.iter().map(|idx| format!("{idx}\n")).collect::<String>());
        sandbox.write(&format!("{name}.scores"), rows.iter().map(|idx| score(*idx)).collect::<String>());
    }
    let metrics = "ndcg@5,ndcg,dcg,map,map@3,mrr,err,p@3,recall@3,hits@1,f1@3,r-precision,auc,query-auc,pfound,rbp,bpref,dcg-rr,\
                   pair-accuracy,kendall-tau,arp,lrap,pair-logit";
    let metrics = metrics.replace(' ', "");
    for ties in ["worst", "best", "average", "docid", "random"] {
        let value = |name: &str| {
            let line = format!(
                "eval {name}.txt --scores {name}.scores --metric {metrics} --ties {ties} --per-query {name}.tsv"
            );
            (sandbox.json(&line)["metrics"].clone(), sandbox.text(&format!("{name}.tsv")))
        };
        assert_eq!(value("a"), value("b"), "{ties}");
    }
}
