//! `rankwise eval --run`: systems that were made elsewhere.

use serde_json::json;

use crate::sandbox::Sandbox;

/// Three judged queries: one answered with a tie, a document that nobody judged and one missing; one without anything
/// relevant; one that the run does not answer. And a query that nobody judged.
const QRELS: &str = "q 0 a 1\nq 0 b 0\nq 0 c 2\nq 0 z 1\nq 0 n -1\ne 0 a 0\ne 0 b 0\nm 0 a 1\n";
const RUN: &str =
    "q Q0 a 1 1.0 t\nq Q0 b 2 2.0 t\nq Q0 c 3 2.0 t\nx Q0 a 1 1.0 t\nq Q0 u 4 3.0 t\nq Q0 n 5 0.5 t\ne Q0 a 1 1.0 t\n";

fn files() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("qrels.txt", QRELS);
    sandbox.write("run.txt", RUN);
    sandbox
}

/// What pytrec_eval 0.5 says of the same files.
#[test]
fn trec_evals_values_come_out() {
    let sandbox = files();
    let metrics = [
        ("map", 1.0 / 3.0),
        ("ndcg", 0.540_585_767_945_010_2),
        ("recip_rank", 0.5),
        ("P_5", 0.4),
        ("recall_5", 2.0 / 3.0),
        ("success_1", 0.0),
        ("success_5", 1.0),
        ("Rprec", 1.0 / 3.0),
        ("bpref", 1.0 / 3.0),
        ("ndcg_cut_5", 0.540_585_767_945_010_2),
        ("map_cut_5", 1.0 / 3.0),
    ];
    let names: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
    let line = format!("eval --run run.txt --qrels qrels.txt --metric {} --convention trec_eval", names.join(","));
    let found = sandbox.json(&format!("{line} --per-query q.tsv"));
    for (name, expected) in metrics {
        // The mean is over the two queries that are in both files; the other one's values are 0.
        let value = found["metrics"][name].as_f64().unwrap();
        assert!((value - expected / 2.0).abs() < 1e-12, "{name}: {value}");
    }
    assert_eq!((&found["queries"], &found["queries_without_relevant"]), (&json!(3), &json!(1)));
    assert_eq!(
        (&found["queries_without_results"], &found["convention"]["missing_queries"]),
        (&json!(1), &json!("skip"))
    );
    let table = sandbox.text("q.tsv");
    let cells: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(cells.iter().map(|row| row[0]).collect::<Vec<_>>(), ["qid", "e", "m", "q"]);
    assert_eq!(cells.iter().map(|row| row[1]).collect::<Vec<_>>(), ["documents", "2", "1", "4"]);
    assert!(cells[2][3..].iter().all(|cell| cell.is_empty()), "{table}");
}

#[test]
fn queries_without_results_count_unless_left_out() {
    let sandbox = files();
    let mean = |rules: &str| {
        let line = format!("eval --run run.txt --qrels qrels.txt --metric recall {rules}");
        sandbox.json(&line)["metrics"]["recall"].as_f64().unwrap()
    };
    assert!((mean("") - 2.0 / 9.0).abs() < 1e-12);
    assert!((mean("--missing-queries skip") - 1.0 / 3.0).abs() < 1e-12);
    assert!((mean("--empty skip") - 1.0 / 3.0).abs() < 1e-12);
    assert!((mean("--empty skip --missing-queries skip") - 2.0 / 3.0).abs() < 1e-12);
    let text = sandbox.ok("eval --run run.txt --qrels qrels.txt");
    assert!(text.contains("over 3 queries; 1 without relevant documents, 1 without results\n"), "{text}");
    assert!(text.contains("ties worst, empty zero, missing_queries count"), "{text}");
    let text = sandbox.ok("eval --run run.txt --qrels qrels.txt --convention trec_eval");
    let expected = "\nmean over 2 of 3 queries; 1 without results skipped; 1 without relevant documents counted\n";
    assert!(text.contains(expected), "{text}");
    let found = sandbox.json("eval --run run.txt --qrels qrels.txt --missing-queries skip --empty skip");
    assert_eq!(found["means"]["ndcg@10"]["queries"], 1);
    let left_out = json!({ "without_relevant": 1, "without_results": 1, "without_value": 0 });
    assert_eq!(found["means"]["ndcg@10"]["left_out"], left_out);
}

#[test]
fn what_does_not_meet_is_told_with_its_place() {
    let sandbox = files();
    let stderr = |line: &str| sandbox.run(line).stderr;
    let said = stderr("eval --run run.txt --qrels qrels.txt");
    assert!(
        said.contains("warning: run.txt:4: ignored 1 query without judgements; the first is in this line"),
        "{said}"
    );
    assert!(said.contains("warning: run.txt: 1 judged query has no results in the run and counts as"), "{said}");
    assert_eq!(stderr("eval --run run.txt --qrels qrels.txt --quiet"), "");
    sandbox.write("other.txt", "q 0 y 1\n");
    assert!(stderr("eval --run run.txt --qrels other.txt").contains("none of its documents are judged"));
}

/// The run of a model, measured by the data it was made from, is the model.
#[test]
fn a_models_run_measures_as_the_model_does() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("predict model.json vali.txt --format run --out run.txt");
    let metrics =
        "ndcg@10,map,mrr,p@5,recall@20,err,pfound,rbp,f1,r-precision,bpref,query-auc,auc,lrap,kendall-tau,arp";
    for rules in ["", "--ties average", "--ties docid", "--ties random --seed 3", "--convention catboost --gain exp"] {
        let line = format!("eval vali.txt --metric {metrics} {rules}");
        let model = sandbox.json(&format!("{line} --model model.json"));
        let run = sandbox.json(&format!("{line} --run run.txt"));
        for metric in metrics.split(',') {
            let [model, run] = [&model, &run].map(|found| found["metrics"][metric].as_f64().unwrap());
            assert!((model - run).abs() < 1e-12, "{metric} {rules}: {model} {run}");
        }
    }
}

#[test]
fn files_may_be_compressed_and_lines_in_any_order() {
    let sandbox = files();
    let expected = sandbox.ok("eval --run run.txt --qrels qrels.txt --metric ndcg,map,bpref --quiet");
    let turned = |text: &str| text.lines().rev().map(|line| format!("{line}\r\n")).collect::<String>();
    sandbox.write("run2.txt", turned(RUN));
    sandbox.write("qrels2.txt.zst", zstd::encode_all(turned(QRELS).as_bytes(), 1).unwrap());
    let line = "eval --run run2.txt --qrels qrels2.txt.zst --metric ndcg,map,bpref --quiet";
    assert_eq!(sandbox.ok(line), expected);
    let from_stdin = "eval --run - --qrels qrels.txt --metric ndcg,map,bpref --quiet";
    assert_eq!(sandbox.run_with_input(from_stdin, "run.txt").expect_ok("run"), expected);
}
