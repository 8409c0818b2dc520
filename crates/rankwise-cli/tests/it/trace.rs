//! `rankwise train --trace`

use crate::sandbox::Sandbox;

fn first_query(sandbox: &Sandbox) -> String {
    let text = sandbox.text("train.txt");
    let field = text.split_whitespace().find(|field| field.starts_with("qid:")).unwrap();
    field["qid:".len()..].to_owned()
}

#[test]
fn a_query_is_followed_and_the_model_is_the_same() {
    let sandbox = Sandbox::with_model();
    let qid = first_query(&sandbox);
    assert_eq!(sandbox.train("traced.json", &format!("--trace {qid} --trace-out seen")), sandbox.bytes("model.json"));
    let said = sandbox.ok(&format!("train train.txt --out other.json --set num_trees=4 --trace {qid}"));
    assert!(said.contains(&format!("wrote other.trace-{qid}.tsv")), "{said}");
    let table = sandbox.text(&format!("seen/trace-{qid}.tsv"));
    let n_docs = sandbox.text("train.txt").lines().filter(|line| line.contains(&format!("qid:{qid} "))).count();
    assert_eq!(table.lines().count(), n_docs + 1);
    assert!(table.lines().next().unwrap().ends_with("\ttree_5\ttree_6"), "{table}");
    // The last ranking is the model's own.
    sandbox.ok("predict model.json train.txt --format run --out run.txt");
    let ranked: Vec<String> = sandbox
        .text("run.txt")
        .lines()
        .filter(|line| line.split_whitespace().next() == Some(&qid[..]))
        .map(|line| line.split_whitespace().nth(2).unwrap().to_owned())
        .collect();
    let traced: Vec<String> = table.lines().skip(1).map(|line| line.split('\t').next().unwrap().to_owned()).collect();
    assert_eq!(traced, ranked);
    assert!(sandbox.text(&format!("seen/trace-{qid}.svg")).starts_with("<svg "));
}

#[test]
fn what_cannot_be_traced_is_refused_before_training() {
    let sandbox = Sandbox::with_data();
    let qid = first_query(&sandbox);
    sandbox.write("file", "");
    let before = sandbox.listing();
    for (line, said) in [
        (
            "train train.txt --out m.json --trace nope".to_owned(),
            "--trace nope: no such query in the training data; the first queries are",
        ),
        (format!("train train.txt --out - --trace {qid}"), "set --trace-out to a folder for the traces"),
        (format!("train train.txt --out m.json --trace {qid} --trace {qid}"), "remove one of them"),
        (
            format!("train train.txt --out m.json --trace {qid} --trace-out file"),
            "file: cannot write: a file with this name exists; give a folder",
        ),
        ("train train.txt --out m.json --trace-out there".to_owned(), "--trace <QUERY>"),
    ] {
        let outcome = sandbox.run(&line);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
        assert_eq!(sandbox.listing(), before, "{line}");
    }
}
