//! `--checkpoint` and `--resume`: nothing is lost, whatever ends the process.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// What a run may carry from tree to tree: samples, validation with a best tree and patience, weights, drawn ties.
const SETTINGS: [&str; 5] = [
    "--set num_leaves=15",
    "--set bagging_fraction=0.5 --set bagging_freq=3 --set feature_fraction=0.6",
    "--valid vali.txt --metric ndcg@5,dcg@3 --set early_stopping_rounds=15 --set learning_rate=0.05",
    "--objective rmse --set sample=query-bagging --set bagging_fraction=0.5 --valid vali.txt --valid train.txt",
    "--valid vali.txt --ties random --seed 7 --set grow=levelwise --set feature_fraction_bynode=0.5",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_data();
    let text = sandbox.text("train.txt");
    let mut qids: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    qids.dedup();
    let weights: String = (0..qids.len()).map(|query| format!("{}\n", 1 + query % 3)).collect();
    sandbox.write("train.txt.query_weight", weights);
    sandbox
}

fn line(out: &str, more: &str) -> String {
    format!("train train.txt --out {out} --set num_trees=40 --set min_data_in_leaf=10 --quiet {more}")
}

/// Draws by a fixed rule; what they meet is up to the machine.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Runs, and kills the process after a while. Says whether the kill came before the end.
fn killed_after(sandbox: &Sandbox, line: &str, time: Duration) -> bool {
    let mut command = sandbox.command(line.split_whitespace());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let is_killed = output.status.signal() == Some(9);
    assert!(is_killed || output.status.success(), "{line}: {output:?}");
    is_killed
}

/// Kills training at random moments, goes on each time with another number of threads, and compares the model in the
/// end. `RANKWISE_KILLS=200` makes it 200 kills.
#[test]
fn whenever_it_is_killed_a_run_comes_to_the_same_bytes() {
    const KILLS_PER_RUN: usize = 4;
    let n_kills: usize = std::env::var("RANKWISE_KILLS").map_or(12, |typed| typed.parse().unwrap());
    let sandbox = sandbox();
    let mut draws = Draws(20_261_115);
    let (mut n_killed, mut n_runs, mut n_left_over) = (0, 0, 0);
    let mut references: Vec<Option<(Vec<u8>, Duration)>> = vec![None; SETTINGS.len()];
    while n_killed < n_kills {
        let which = n_runs % SETTINGS.len();
        let settings = SETTINGS[which];
        let (reference, whole_time) = references[which].get_or_insert_with(|| {
            sandbox.ok(&line("whole.json", settings));
            let started = Instant::now();
            sandbox.ok(&line("m.json", &format!("{settings} --checkpoint timed --checkpoint-every 1")));
            std::fs::remove_dir_all(sandbox.path("timed")).unwrap();
            (sandbox.bytes("whole.json"), started.elapsed())
        });
        n_runs += 1;
        let folder = format!("run{n_runs}");
        let start = |threads: u64| {
            let more = format!("--checkpoint {folder} --checkpoint-every 1 --resume --threads {threads}");
            line("m.json", &format!("{settings} {more}"))
        };
        // Half of the whole time: the later ones begin where the earlier ones ended.
        let limit = (whole_time.as_micros() as u64) / 2;
        for _ in 0..KILLS_PER_RUN {
            let time = Duration::from_micros(draws.below(limit));
            n_killed += usize::from(killed_after(&sandbox, &start(1 + draws.below(3)), time));
            n_left_over += temporaries(&sandbox, &folder);
        }
        sandbox.ok(&start(2));
        assert_eq!(sandbox.bytes("m.json"), *reference, "run {n_runs}: {settings}");
        assert_eq!(temporaries(&sandbox, &folder), 0, "left behind in {folder}");
    }
    println!("{n_killed} kills in {n_runs} runs; {n_left_over} while a checkpoint was written");
}

/// The half-written files in a folder.
fn temporaries(sandbox: &Sandbox, folder: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(sandbox.path(folder)) else { return 0 };
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "tmp")).count()
}

/// A run that has stopped after some of its trees: its folder holds the checkpoints of trees 9 and 12.
fn half_run(sandbox: &Sandbox, settings: &str) {
    let more = format!("{settings} --checkpoint run --checkpoint-every 3 --set num_trees=12");
    sandbox.ok(&line("m.json", "").replace("--set num_trees=40", &more));
}

fn checkpoint_files(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path("run")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_finished_run_can_be_carried_further() {
    let sandbox = sandbox();
    half_run(&sandbox, SETTINGS[1]);
    assert_eq!(checkpoint_files(&sandbox), ["tree-0000009.checkpoint", "tree-0000012.checkpoint"]);
    let whole = sandbox.ok(&line("whole.json", SETTINGS[1]).replace("--quiet ", ""));
    assert!(whole.contains("grew 40 trees"), "{whole}");
    let resume = format!("{} --checkpoint run --resume --set engine=plain", SETTINGS[1]);
    let said = sandbox.json(&line("m.json", &resume));
    assert_eq!((&said["resumed_from"], &said["stopped"]), (&12.into(), &"finished".into()), "{said}");
    assert_eq!(sandbox.bytes("m.json"), sandbox.bytes("whole.json"));
    // Once more: there is nothing left to do, and the same comes out.
    let said = sandbox.json(&line("again.json", &resume));
    assert_eq!(said["resumed_from"], 40);
    assert_eq!(sandbox.bytes("again.json"), sandbox.bytes("whole.json"));
}

#[test]
fn a_damaged_checkpoint_gives_way_to_the_one_before() {
    let sandbox = sandbox();
    sandbox.ok(&line("whole.json", SETTINGS[3]));
    let resume = line("m.json", &format!("{} --checkpoint run --resume", SETTINGS[3])).replace("--quiet ", "");
    half_run(&sandbox, SETTINGS[3]);
    let newest = "run/tree-0000012.checkpoint";
    let whole = sandbox.bytes(newest);
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    for damaged in [Vec::new(), whole[..whole.len() / 2].to_vec(), flipped(whole.len() / 3), flipped(whole.len() - 1)] {
        std::fs::remove_dir_all(sandbox.path("run")).unwrap();
        half_run(&sandbox, SETTINGS[3]);
        sandbox.write(newest, damaged);
        let outcome = sandbox.run(&resume);
        assert!(outcome.stderr.contains(&format!("warning: {newest}: damaged; using the")), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("run/tree-0000009.checkpoint: resuming after tree 9"), "{}", outcome.stderr);
        outcome.expect_ok(&resume);
        assert_eq!(sandbox.bytes("m.json"), sandbox.bytes("whole.json"));
    }
    for name in checkpoint_files(&sandbox) {
        sandbox.write(&format!("run/{name}"), "rankwise-checkpoint\n");
    }
    let problem =
        ["run: all checkpoints are damaged (the newest, tree-0000040.checkpoint: it is cut off); remove them"];
    sandbox.refused(&resume.split_whitespace().collect::<Vec<_>>(), &problem);
}

#[test]
fn runs_that_differ_are_refused() {
    let sandbox = sandbox();
    let settings = "--valid vali.txt";
    half_run(&sandbox, settings);
    let resume = |more: &str| line("n.json", &format!("--checkpoint run --resume {more}"));
    let refused = |line: String, parts: &[&str]| sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), parts);
    let file = "run/tree-0000012.checkpoint: the checkpoint is from a run ";
    let other = "--valid vali.txt --set num_leaves=7 --seed 3";
    refused(
        resume(other),
        &[file, "with other parameters: seed is 3, was 0, num_leaves is 7, was auto; use the same parameters"],
    );
    refused(resume(""), &[file, "with other validation sets: 0 now, 1 then; use the same data"]);
    refused(resume("--valid train.txt"), &[file, "with other data in validation set 1: "]);
    let other_data = resume(settings).replace("train train.txt", "train vali.txt");
    refused(other_data, &[file, "on other training data: ", "or another folder to start again"]);
    let fewer = resume(settings).replace("num_trees=40", "num_trees=5");
    refused(fewer, &[file, "with 12 trees, but num_trees is 5; set num_trees=12 or more"]);
    let again = line("n.json", &format!("--checkpoint run {settings}"));
    refused(
        again,
        &["run: this folder already has a checkpoint; add --resume to continue from it, or use another folder"],
    );

    let mut newer = sandbox.bytes("run/tree-0000012.checkpoint");
    newer["rankwise-checkpoint\n".len()] = 9;
    sandbox.write("run/tree-0000012.checkpoint", newer);
    refused(
        resume(settings),
        &["run/tree-0000012.checkpoint: the checkpoint has format version 9", "a newer rankwise"],
    );
}

#[test]
fn folders_and_options_that_make_no_sense_are_refused() {
    let sandbox = sandbox();
    sandbox.all_refused(&[
        (
            "train train.txt --out m.json --checkpoint train.txt",
            &["train.txt: cannot write: a file with this name exists"],
        ),
        ("train train.txt --out m.json --checkpoint no/where", &["no/where: cannot write: its folder does not exist"]),
        ("train train.txt --out m.json --resume", &["--checkpoint <DIR>"]),
        ("train train.txt --out m.json --checkpoint-every 5", &["--checkpoint <DIR>"]),
        ("train train.txt --out m.json --checkpoint run --checkpoint-every soon", &["a number of trees, such as 50"]),
        // The folder that was made for it goes again.
        ("train nosuch.txt --out m.json --checkpoint run", &["nosuch.txt: cannot open"]),
    ]);
}

#[test]
fn the_first_start_of_a_job_that_is_always_resumed() {
    let sandbox = sandbox();
    let resume = line("m.json", "--checkpoint run --resume").replace("--quiet ", "");
    let outcome = sandbox.run(&resume);
    assert!(outcome.stderr.contains("run: no checkpoint yet; starting from the first tree"), "{}", outcome.stderr);
    outcome.expect_ok(&resume);
    sandbox.ok(&line("whole.json", ""));
    assert_eq!(sandbox.bytes("m.json"), sandbox.bytes("whole.json"));
}

/// Sends a signal to a run of many trees once it has saved some, and lets it end.
fn stopped_by(sandbox: &Sandbox, signal: &str, more: &str) -> (Option<i32>, String) {
    let long = line("m.json", more).replace("num_trees=40", "num_trees=100000").replace("--quiet ", "");
    let mut command = sandbox.command(long.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    while !sandbox.path("run").is_dir() || checkpoint_files(sandbox).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_run_that_is_asked_to_stop_saves_its_last_tree() {
    let sandbox = sandbox();
    for (signal, exit_code) in [("-INT", 130), ("-TERM", 143)] {
        let (code, said) = stopped_by(&sandbox, signal, "--checkpoint run --checkpoint-every 2");
        assert_eq!(code, Some(exit_code), "{signal}");
        assert!(said.ends_with("wrote m.json\nto resume, run the same command with --resume\n"), "{said}");
        let trees = sandbox.json("inspect m.json")["trees"].as_u64().unwrap();
        assert_eq!(checkpoint_files(&sandbox).last(), Some(&format!("tree-{trees:07}.checkpoint")));
        let num_trees = format!("num_trees={}", trees + 20);
        let resume = line("m.json", "--checkpoint run --resume").replace("num_trees=40", &num_trees);
        sandbox.ok(&resume);
        sandbox.ok(&line("whole.json", "").replace("num_trees=40", &num_trees));
        assert_eq!(sandbox.bytes("m.json"), sandbox.bytes("whole.json"), "{signal}");
        std::fs::remove_dir_all(sandbox.path("run")).unwrap();
    }
}
