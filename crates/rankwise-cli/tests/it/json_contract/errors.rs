//! Errors under `--json`: one object on stderr with message, exit code, place and remedy.

use serde_json::{Value, json};

use super::cases::sandbox;
use super::only_object;
use super::schema::Schemas;

/// A command that fails, where, and a part of what to do.
struct Case {
    line: &'static str,
    place: Place,
    remedy: &'static str,
}

/// File, line and column; no line is 0.
type Place = Option<(&'static str, u64, u64)>;

const fn case(line: &'static str, place: Place, remedy: &'static str) -> Case {
    Case { line, place, remedy }
}

const CASES: &[Case] = &[
    case("train bad.txt --out m.json", Some(("bad.txt", 2, 11)), "write one, or nan if it is missing"),
    case("train train.txt --valid bad.txt --out m.json", Some(("bad.txt", 2, 11)), "write one, or nan"),
    case("inspect nosuch.txt", Some(("nosuch.txt", 0, 0)), "check the name"),
    case("predict damaged.json vali.txt --out s.txt", Some(("damaged.json", 1, 34)), ""),
    case("train train.txt --out m.json --config p.toml", Some(("p.toml", 2, 1)), ""),
    case("train train.txt --out m.json --valid vali.txt --metric ndgc@10", None, "did you mean 'ndcg@10'?"),
    case("train train.txt --out m.json --history h.csv", None, "add --valid DATA"),
    case("train train.txt --out m.json --valid vali.txt --history -", None, "give a file"),
    case("train train.txt --out m.json --valid vali.txt --history m.json", None, "use different names"),
    case("train train.txt --out train.txt", Some(("train.txt", 0, 0)), "use another name"),
    case("train train.txt --out no/where", Some(("no/where", 0, 0)), "create the folder first"),
    case("train train.txt --out m.json --checkpoint run", Some(("run", 0, 0)), "add --resume"),
    case("train train.txt vali.txt --set num_trees=0 --out m.json", None, ""),
    // A parameter is at fault, not the data.
    case("train train.txt --set target=recall@10 --out m.json", None, "use ndcg, dcg, map, mrr or err"),
    case("refit model.json vali.txt --set target=recall@10 --out r.json", None, "use ndcg, dcg, map, mrr or err"),
    case("train train.txt --set monotone_constraints=99:1 --out m.json", None, "correct the id, or remove 99:1"),
    case("train train.txt --set min_gain_to_split=100000 --out m.json", None, "change it"),
    case("train train.txt --init-model model.json --set absent=zero --out m.json", None, "remove that setting"),
    case("train train.txt --valid vali.txt --metric r-precision@5 --out m.json", None, "remove @k"),
    case("prune model.json --valid vali.txt --metric auc@5 --out p.json", None, "remove @k"),
    case("eval vali.txt --model model.json --metric auc@5", None, "remove @k"),
    case("blend model.json grades.json vali.txt --metric auc", None, "use ndcg, dcg"),
    case("synth --rows 100 --split 0.5,0.5 --out parts.d", None, "generate more rows, or use fewer parts"),
    case("eval vali.txt --scores short.txt", Some(("short.txt", 0, 0)), "give one score per row"),
    case(
        "eval --run other.run --qrels some.qrels",
        Some(("other.run", 1, 0)),
        "and whether the run belongs to some.qrels",
    ),
    case("refit lgb.txt vali.txt --out r.json", Some(("lgb.txt", 0, 0)), "set --objective"),
    case("convert-data vali.txt v.what", Some(("v.what", 0, 0)), "use .txt"),
    case("predict model.json vali.txt --out s.txt --tag x", None, "add --format run"),
];

/// Usage: what clap says, in other words than in text mode.
const USAGE: [(&str, &str, &str); 7] = [
    ("train", "required arguments were not provided", "add the missing arguments"),
    ("train train.txt --out m.json --vald v.txt", "unknown option '--vald'", "did you mean '--valid'?"),
    ("trian train.txt", "unrecognized subcommand 'trian'", "'train'"),
    ("train train.txt --out m.json --num-leaves 3", "is a training parameter", "--set num_leaves=VALUE"),
    ("synth --rows x --out y", "invalid value 'x'", "give an integer from 1 to 1073741824"),
    ("predict m.json train.txt --format x", "invalid value 'x'", "use one of scores, tsv, run"),
    ("eval train.txt --scores s.txt --run r.txt", "cannot be used with", "remove one of the two"),
];

#[test]
fn errors_follow_their_schema() {
    let sandbox = sandbox();
    sandbox.write("bad.txt", "1 qid:1 1:2\n0 qid:1 1:x\n");
    sandbox.write("damaged.json", "{\"format\": \"rankwise-model\", \"vers");
    sandbox.write("p.toml", "num_trees = 2\nnum_leafs = 3\n");
    sandbox.write("short.txt", "1\n2\n");
    sandbox.write("other.run", "9 Q0 d1 1 2.5 x\n");
    sandbox.ok("train train.txt --out n.json --set num_trees=2 --checkpoint run --checkpoint-every 1");
    let mut schemas = Schemas::new();
    for Case { line, place, remedy } in CASES {
        let outcome = sandbox.run(&format!("{line} --json"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{line}: {}", outcome.stderr);
        let object = only_object(&outcome.stderr);
        schemas.check("error", &object, line);
        let number = |number: u64| if number == 0 { Value::Null } else { number.into() };
        let place =
            place.map(|(file, line, column)| json!({ "file": file, "line": number(line), "column": number(column) }));
        let error = &object["error"];
        assert_eq!((&error["place"], &error["exit_code"]), (&json!(place), &json!(2)), "{line}: {object}");
        assert!(error["remedy"].as_str().unwrap_or_default().contains(remedy), "{line}: {object}");
        let in_text = sandbox.run(line).stderr;
        assert_eq!(error["message"], in_text.lines().last().unwrap().strip_prefix("error: ").unwrap(), "{line}");
    }
}

#[test]
fn usage_errors_follow_it_too() {
    let sandbox = sandbox();
    let mut schemas = Schemas::new();
    for (line, message, remedy) in USAGE {
        for line in [format!("{line} --json"), format!("--json {line}")] {
            let outcome = sandbox.run(&line);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{line}");
            let object = only_object(&outcome.stderr);
            schemas.check("error", &object, &line);
            assert!(object["error"]["message"].as_str().unwrap().contains(message), "{line}: {object}");
            assert!(object["error"]["remedy"].as_str().unwrap_or_default().contains(remedy), "{line}: {object}");
        }
    }
    schemas.check("error", &only_object(&sandbox.run("--json").stderr), "--json alone");
    assert!(sandbox.ok("train --help --json").contains("Usage: rankwise train"));
    assert!(sandbox.run("inspect nosuch.txt -- --json").stderr.starts_with("error: "));
}

/// What was warned of before the error is not lost.
#[test]
fn an_error_keeps_the_warnings_before_it() {
    let sandbox = sandbox();
    let outcome = sandbox.run("train odd.txt --out m.json --trace nosuch --json");
    let object = only_object(&outcome.stderr);
    Schemas::new().check("error", &object, "train");
    assert!(object["warnings"][0].as_str().unwrap().starts_with("odd.txt: 1 of 2 features (id 2) has the same value"));
    assert_eq!(object["error"]["place"], Value::Null);
}
