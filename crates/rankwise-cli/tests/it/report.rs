//! `--report` and `--plots`: what a page says, that it says what the command prints, and how it looks in a browser.

mod browser;

use std::fmt::Write as _;

use browser::Browser;
use serde_json::json;

use crate::sandbox::Sandbox;

const COMPARE: &str = "compare vali.txt --model model.json --scores scores.txt --metric ndcg@5,map";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("scores.txt", (0..900).map(|row| format!("{}\n", (row * 31) % 17)).collect::<String>());
    sandbox
}

/// What a reader of a page sees, without its markup.
fn words(html: &str) -> String {
    let body = html.split_once("<body>").unwrap().1;
    let mut out = String::new();
    for piece in body.split('<') {
        let text = piece.split_once('>').map_or(piece, |(_, text)| text);
        out.push_str(text);
        out.push(' ');
    }
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    out.replace("&amp;", "&").replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_comparison_says_what_is_printed() {
    let sandbox = sandbox();
    let printed = sandbox.ok(COMPARE);
    let outcome = sandbox.run(&format!("{COMPARE} --report report.html"));
    assert!(outcome.stderr.contains("wrote report.html"), "{}", outcome.stderr);
    // Neither its text nor its JSON changes.
    assert_eq!(outcome.expect_ok("compare"), printed);
    let page = words(&sandbox.text("report.html"));
    assert!(page.contains("model.json is better than scores.txt"), "{page}");
    for line in printed.lines().filter(|line| line.starts_with("model.json ") || line.starts_with("scores.txt ")) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&line), "no '{line}' in {page}");
    }
    let object = sandbox.json(COMPARE);
    for test in object["tests"].as_array().unwrap() {
        let difference = format!("{:+.4}", test["difference"].as_f64().unwrap());
        assert!(page.contains(&difference), "{difference}");
    }
    for query in object["tests"][0]["best"].as_array().unwrap() {
        let shown =
            format!("Query {} : {:+.4}", query["query"].as_str().unwrap(), query["difference"].as_f64().unwrap());
        assert!(page.contains(&shown), "no '{shown}' in {page}");
    }
    let rules = printed.lines().find_map(|line| line.strip_prefix("rules: ")).unwrap();
    for rule in rules.split(", ") {
        assert!(page.contains(rule), "no '{rule}' in {page}");
    }
    for part in
        ["fingerprint", "ndcg@5 by list length", "share found up to each rank", "Features by importance", "seed 0"]
    {
        assert!(page.contains(part), "no '{part}' in {page}");
    }
    // Running it again gives the same bytes.
    let first = sandbox.bytes("report.html");
    sandbox.ok(&format!("{COMPARE} --report report.html"));
    assert_eq!(sandbox.bytes("report.html"), first);
}

#[test]
fn files_are_listed_in_json_and_plots_are_pictures() {
    let sandbox = sandbox();
    let object = sandbox.json(&format!("{COMPARE} --report r.html --plots out/plots"));
    let outputs = object["outputs"].as_array().unwrap();
    assert_eq!(outputs[0], json!({ "path": "r.html", "kind": "report" }));
    assert!(outputs.len() > 8 && outputs[1..].iter().all(|output| output["kind"] == "plot"), "{outputs:?}");
    for output in &outputs[1..] {
        let path = output["path"].as_str().unwrap();
        let bytes = sandbox.bytes(path);
        match path.rsplit_once('.').unwrap().1 {
            "svg" => assert!(bytes.starts_with(b"<svg xmlns=") && bytes.ends_with(b"</svg>\n"), "{path}"),
            "png" => assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{path}"),
            other => panic!("{other}"),
        }
    }
    // Without the flags, nothing changes but times and files.
    let mut plain = sandbox.json(COMPARE);
    let mut object = object;
    for field in ["seconds", "outputs"] {
        (object[field], plain[field]) = (json!(null), json!(null));
    }
    assert_eq!(object, plain);
}

#[test]
fn every_command_that_measures_writes_a_page() {
    let sandbox = sandbox();
    sandbox.write("some.run", "1 Q0 d1 1 2.5 x\n1 Q0 d2 2 1.5 x\n2 Q0 d9 1 2.5 x\n");
    sandbox.write("some.qrels", "1 0 d1 1\n1 0 d2 0\n1 0 d7 2\n2 0 d3 1\n");
    let cases: [(&str, &[&str]); 8] = [
        (
            "eval vali.txt --model model.json --metric ndcg@5,auc",
            &["model.json : ndcg@5 0.", "best possible order", "over 7"],
        ),
        ("eval vali.txt --model model.json --feature 1", &["has the best ndcg@10 of 2 systems: 0.", "feature 1"]),
        (
            "eval --run some.run --qrels some.qrels --metric map",
            &["some.run : map 0.", "missing_queries", "1 relevant document not returned"],
        ),
        (
            "compare vali.txt --model model.json --scores scores.txt --scores other.txt --ties average --one-sided",
            &["model.json has the best ndcg@10, but no significant lead", "ties average"],
        ),
        (
            "train train.txt --valid vali.txt --out m.json --set num_trees=12 --metric ndcg@5,map",
            &["ndcg@5 0.", "on vali.txt with", "Learning curves", "kept:", "max_depth", "All "],
        ),
        ("train train.txt --out m.json --set num_trees=1", &["A model of 1 tree, without validation", "learning_rate"]),
        (
            "auto train.txt --valid vali.txt --out m.json --steps 2 --set num_trees=5",
            &["Expected ndcg@10 0.", "random order", "What was tried"],
        ),
        ("eval train.txt --model model.json --empty skip", &["fingerprint"]),
    ];
    sandbox.write("other.txt", "1\n".repeat(900));
    for (line, parts) in cases {
        let outcome = sandbox.run(&format!("{line} --report page.html"));
        assert!((outcome.stdout.clone() + &outcome.stderr).contains("wrote page.html"), "{line}: {outcome:?}");
        outcome.expect_ok(line);
        let page = words(&sandbox.text("page.html"));
        for part in parts {
            assert!(page.contains(part), "{line}: no '{part}' in {page}");
        }
        if let Some(browser) = Browser::find() {
            browser.approve(&sandbox.path("page.html"));
        }
    }
}

#[test]
fn bad_places_are_refused_before_the_work() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.write("junk.txt", "junk\n");
    let missing = "no/r.html: cannot write: its folder does not exist; create the folder first";
    for command in [
        "compare junk.txt --model model.json --scores scores.txt",
        "eval junk.txt --model model.json",
        "train junk.txt --out m.json",
        "auto junk.txt --out m.json",
    ] {
        for (option, part) in [
            ("--report no/r.html", missing),
            ("--report folder", "folder: cannot write: this is a folder; give a file"),
            ("--report -", "--report -: standard output is used for the result; give a file name"),
            ("--report junk.txt", "cannot write: this file is also an input; use another name"),
            ("--plots -", "--plots -: plots are several files; give a folder"),
            ("--plots junk.txt", "junk.txt: cannot write: a file with this name exists; give a folder"),
        ] {
            let line = format!("{command} {option}");
            sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &[part]);
        }
    }
    sandbox.all_refused(&[
        ("eval vali.txt --model model.json --report x --per-query x", &["--report and --per-query are the same file"]),
        ("train train.txt --out x --report x", &["--report and --out are the same file; use different names"]),
    ]);
}

/// Queries, documents and features that are called whatever anybody can think of.
#[test]
fn hostile_names_are_shown_as_text() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(10_000);
    let names = [
        "<script>document.title='owned'</script>",
        "<img src=x onerror=alert(1)>",
        "\"'><svg/onload=alert(2)>",
        "</title></style></script><b>bold",
        "\u{202e}gnitirw\u{202c}\u{200f}",
        "שאלה ראשונה",
        "سؤال",
        "&lt;b&gt;&amp;",
        &long,
        "javascript:alert(3)",
        "{{7*7}}${7*7}",
        "emoji 👩‍👩‍👧‍👦 Zalgo Z̸̢̛͙͎̀a",
    ];
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut csv = format!("label,qid,doc,{},{}\n", quoted(names[0]), quoted(&long));
    for (query, name) in names.iter().enumerate() {
        for doc in 0..8 {
            let doc_name = format!("{}-{doc}", names[(query + doc) % names.len()]);
            let (label, first) = ((doc * 7 + query) % 3, doc * 7 % 5);
            let _ = writeln!(csv, "{label},{},{},{first},{}", quoted(name), quoted(&doc_name), query + doc);
        }
    }
    sandbox.write("data.csv", csv);
    let run = |args: &[&str]| sandbox.run_args(&[args, &["--doc-column", "doc"]].concat()).expect_ok(args[0]);
    let models = ["<b>a&amp;.json", "b' onload='x.json"];
    for (seed, name) in ["seed=1", "seed=2"].into_iter().zip(models) {
        run(&[
            "train",
            "data.csv",
            "--out",
            name,
            "--set",
            "num_trees=3",
            "--set",
            "min_data_in_leaf=2",
            "--set",
            seed,
        ]);
    }
    run(&["compare", "data.csv", "--model", models[0], "--model", models[1], "--report", "r.html"]);
    run(&["eval", "data.csv", "--model", models[0], "--report", "e.html"]);
    for page in ["r.html", "e.html"] {
        let html = sandbox.text(page);
        for tag in ["<script", "<img", "<b>", "<svg/", "{202e}g</bdi>"] {
            assert!(!html.contains(tag), "{page}: {tag}");
        }
        assert!(!html.contains('\u{202e}') && !html.contains('\u{200f}'));
        assert!(html.len() < 400_000, "{}", html.len());
        let text = words(&html);
        for shown in
            ["<script>document.title='owned'</script>", "\\u{202e}gnitirw", "שאלה ראשונה", "&lt;b&gt;&amp;", "xxx…xxx"]
        {
            assert!(text.contains(shown), "{page}: no {shown}");
        }
        if let Some(browser) = Browser::find() {
            browser.approve(&sandbox.path(page));
        }
    }
}

/// The page of a large comparison is small and opens quickly.
#[test]
fn twenty_thousand_queries_fit_into_a_small_page() {
    const QUERIES: usize = 20_000;
    let sandbox = Sandbox::new();
    let rows = || (0..QUERIES).flat_map(|query| (0..6).map(move |doc| (query, doc)));
    let mix = |a: usize, b: usize| (a.wrapping_mul(2_654_435_761) ^ b.wrapping_mul(40_503)) % 1009;
    let data: String =
        rows().map(|(query, doc)| format!("{} qid:query-{query:05} 1:{}\n", mix(query, doc) % 4, doc + 1)).collect();
    sandbox.write("data.txt", data);
    for (name, salt) in [("a.txt", 1), ("b.txt", 3)] {
        let score = |(query, doc): (usize, usize)| mix(query, doc) % 4 * salt + mix(query + salt, doc + 7) % 9;
        sandbox.write(name, rows().map(|row| format!("{}\n", score(row))).collect::<String>());
    }
    sandbox.ok("compare data.txt --scores a.txt --scores b.txt --test t --report r.html");
    let size = sandbox.bytes("r.html").len();
    assert!(size < 5_000_000, "{size}");
    // Much smaller in fact: what does not grow with the queries must not.
    assert!(size < 400_000, "{size}");
    if let Some(browser) = Browser::find() {
        let seen = browser.look(&sandbox.path("r.html"), 390, "light");
        assert!(seen.problems.is_empty(), "{:#?}", seen.problems);
        assert!(seen.milliseconds < 2000.0, "{seen:?}");
        println!("{size} bytes, {} ms", seen.milliseconds);
    }
}

#[test]
fn a_single_query_has_a_page_too() {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "1 qid:1 1:2\n0 qid:1 1:3\n0 qid:1 1:1\n");
    sandbox.write("none.txt", "0 qid:1 1:2\n0 qid:1 1:3\n");
    sandbox.write("a.txt", "1\n2\n3\n");
    sandbox.write("b.txt", "3\n2\n1\n");
    sandbox.write("c.txt", "3\n2\n");
    for line in [
        "compare one.txt --scores a.txt --scores b.txt",
        "eval one.txt --scores a.txt",
        "eval none.txt --scores c.txt",
        "eval none.txt --scores c.txt --empty skip",
    ] {
        sandbox.ok(&format!("{line} --report r.html --plots plots"));
        let html = sandbox.text("r.html");
        assert!(!html.contains("NaN") && !html.contains("inf "), "{line}");
        if let Some(browser) = Browser::find() {
            browser.approve(&sandbox.path("r.html"));
        }
    }
}
