//! `rankwise synth`

use crate::sandbox::Sandbox;

#[test]
fn a_seed_decides_every_byte() {
    let sandbox = Sandbox::new();
    for preset in ["web", "long", "wide"] {
        let make = |seed: u32, out: &str, more: &str| {
            sandbox.ok(&format!("synth --rows 300 --preset {preset} --seed {seed} --out {out} {more}"));
            sandbox.bytes(out)
        };
        let first = make(5, "a.txt", "");
        assert_eq!(first.split(|byte| *byte == b'\n').count(), 301, "{preset}");
        assert_eq!(make(5, "b.txt", "--threads 3"), first, "{preset}");
        assert_ne!(make(6, "c.txt", ""), first, "{preset}");
    }
}

#[test]
fn without_a_seed_it_is_zero() {
    let sandbox = Sandbox::new();
    let none = sandbox.ok("synth --rows 50 --out -");
    assert_eq!(sandbox.ok("synth --rows 50 --seed 0 --out -"), none);
}

#[test]
fn presets_have_their_own_numbers_of_features() {
    let sandbox = Sandbox::new();
    // A wide row has few of its features, so that some of the 2,000 may occur in no row.
    for (more, features) in [
        ("", 136..=136),
        ("--preset wide", 1900..=2000),
        ("--features 5", 5..=5),
        ("--preset long --features 3", 3..=3),
    ] {
        sandbox.ok(&format!("synth --rows 400 {more} --out d.txt"));
        let found = sandbox.json("inspect d.txt")["features"].as_u64().unwrap();
        assert!(features.contains(&found), "{more}: {found}");
    }
}

#[test]
fn split_keeps_queries_whole() {
    let sandbox = Sandbox::new();
    let said = sandbox.ok("synth --rows 3000 --features 4 --split 0.6,0.2,0.2 --out parts");
    let mut seen = std::collections::BTreeMap::new();
    let mut n_rows = 0;
    for part in ["train.txt", "vali.txt", "test.txt"] {
        for line in sandbox.text(&format!("parts/{part}")).lines() {
            let qid = line.split_whitespace().nth(1).unwrap().to_owned();
            assert_eq!(*seen.entry(qid).or_insert(part), part);
            n_rows += 1;
        }
    }
    assert_eq!(n_rows, 3000);
    assert_eq!(said.lines().count(), 3, "{said}");

    let two = sandbox.json("synth --rows 600 --features 4 --split 0.5,0.5 --out two");
    assert_eq!(
        two["outputs"],
        serde_json::json!([{ "path": "two/train.txt", "kind": "data" }, { "path": "two/vali.txt", "kind": "data" }])
    );
    assert_eq!(two["rows"], 600);
    let rows = |part: &str| sandbox.text(&format!("two/{part}")).lines().count();
    let files = two["files"].as_array().unwrap();
    assert_eq!([&files[0]["rows"], &files[1]["rows"]], [rows("train.txt"), rows("vali.txt")]);
    assert_eq!([&files[0]["path"], &files[1]["path"]], ["two/train.txt", "two/vali.txt"]);
    assert!(!sandbox.path("two/test.txt").exists());
}

#[test]
fn every_part_of_a_split_has_a_query() {
    let sandbox = Sandbox::new();
    // By chance alone, the second part would be empty.
    let said = sandbox.ok("synth --rows 900 --features 6 --seed 2 --split 0.6,0.2,0.2 --out d");
    let counts = ["train.txt", "vali.txt", "test.txt"].map(|part| {
        let text = sandbox.text(&format!("d/{part}"));
        let queries: std::collections::BTreeSet<&str> =
            text.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
        let (n_docs, n_queries) = (text.lines().count(), queries.len());
        let noun = if n_queries == 1 { "query" } else { "queries" };
        assert!(said.contains(&format!("wrote {n_docs} documents of {n_queries} {noun} to d/{part}\n")), "{said}");
        (n_docs, n_queries)
    });
    assert!(counts.iter().all(|(n_docs, n_queries)| *n_docs > 0 && *n_queries > 0), "{counts:?}");
    assert_eq!(counts.iter().map(|(n_docs, _)| n_docs).sum::<usize>(), 900);
    sandbox.all_refused(&[(
        "synth --rows 200 --features 6 --split 0.6,0.2,0.2 --out few",
        &["error: --split '0.6,0.2,0.2': there are fewer queries (2) than parts (3); generate more rows, or use fewer parts"],
    )]);
    sandbox.ok("synth --rows 200 --features 6 --split 0.8,0.2 --out few");
}

#[test]
fn compressed_and_printed_data_hold_the_same() {
    let sandbox = Sandbox::new();
    let printed = sandbox.run("synth --rows 200 --features 6 --out -");
    for (name, magic) in [("d.txt", &b""[..]), ("d.txt.gz", &[0x1f, 0x8b]), ("d.txt.zst", &[0x28, 0xb5, 0x2f, 0xfd])] {
        sandbox.ok(&format!("synth --rows 200 --features 6 --out {name}"));
        assert!(sandbox.bytes(name).starts_with(magic), "{name}");
    }
    assert_eq!(sandbox.text("d.txt"), printed.stdout);
    let fingerprint = |name: &str| sandbox.json(&format!("inspect {name}"))["fingerprint"].clone();
    assert_eq!(fingerprint("d.txt.gz"), fingerprint("d.txt"));
    assert_eq!(fingerprint("d.txt.zst"), fingerprint("d.txt"));
    assert!(sandbox.bytes("d.txt.gz").len() < sandbox.bytes("d.txt").len());
}
