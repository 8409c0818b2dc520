//! Feeds damaged inputs to all readers: none may panic or use much memory.
//!
//! * [`targets`] lists what is fuzzed: a name, seeds, and the call that reads. A new reader needs a new entry there.
//! * [`seeds`] makes valid, typical inputs, which are then damaged. Without them, hardly any input would pass the first
//!   check of a reader.
//! * [`mutate`] damages them, with knowledge of lines and words; [`drive`] runs a target and monitors it.
//! * `guided` runs the targets with libFuzzer, through bolero.
//!
//! `cargo test` runs every target briefly, `cargo xtask fuzz` as long as you like. Every input is a function of the
//! seed and its number, so failures are reproducible.
#![forbid(unsafe_code)]

mod drive;
#[cfg(all(test, fuzzing))]
mod guided;
mod mutate;
mod seeds;
mod targets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use peak_alloc::PeakAlloc;

use self::drive::Budget;
use self::targets::{TARGETS, Target};

/// Counts allocations. It does not see those of C code (the zstd decoder).
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const USAGE: &str = "cargo xtask fuzz [TARGET] [--runs N | --time SECONDS | --input FILE] [--seed S]";

fn main() -> ExitCode {
    let report = std::panic::take_hook();
    // Do not print panics of a decoder that the reader turns into errors.
    std::panic::set_hook(Box::new(move |panic| {
        if !rankwise::io::is_decoding() {
            report(panic);
        }
    }));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (mut chosen, mut input, mut seed_folder) = (None, None, None);
    let mut budget = Budget { runs: 1_000_000, time: None, seed: 0 };
    while let Some(arg) = args.next() {
        let mut number = || -> anyhow::Result<u64> {
            args.next().and_then(|typed| typed.parse().ok()).with_context(|| format!("{arg} needs a number; {USAGE}"))
        };
        match arg.as_str() {
            "--runs" => budget.runs = number()?,
            "--time" => budget = Budget { runs: u64::MAX, time: Some(Duration::from_secs(number()?)), ..budget },
            "--seed" => budget.seed = number()?,
            "--input" => input = Some(PathBuf::from(args.next().context(USAGE)?)),
            "--write-seeds" => seed_folder = Some(PathBuf::from(args.next().context(USAGE)?)),
            name => chosen = Some(find(name)?),
        }
    }
    if let Some(path) = input {
        let target = chosen.with_context(|| format!("--input needs a target; {USAGE}"))?;
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        drive::read_watched(target, &bytes).map_err(anyhow::Error::msg)?;
        println!("{}: {} is survived", target.name, path.display());
        return Ok(());
    }
    if let Some(folder) = seed_folder {
        let target = chosen.with_context(|| format!("--write-seeds needs a target; {USAGE}"))?;
        return write_seeds(target, &folder);
    }
    let chosen: Vec<&Target> = chosen.map_or_else(|| TARGETS.iter().collect(), |target| vec![target]);
    for target in chosen {
        println!("{}", drive::drive(target, budget)?);
    }
    Ok(())
}

/// Writes the seeds of a target to a folder, for engines that need files.
fn write_seeds(target: &Target, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (idx, seed) in (target.seeds)().iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{idx}")), seed)?;
    }
    Ok(())
}

fn find(name: &str) -> anyhow::Result<&'static Target> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => Ok(target),
        None => bail!("there is no target '{name}'; choose among {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A few seconds in total; `cargo xtask fuzz` runs longer.
    const SHORT: Budget = Budget { runs: 10_000, time: None, seed: 0 };

    /// Memory is counted for the whole process, so these tests run one at a time.
    static TURN: Mutex<()> = Mutex::new(());

    #[test]
    fn every_reader_survives_a_short_run() {
        let _turn = TURN.lock();
        for target in &TARGETS {
            drive::drive(target, SHORT).unwrap();
        }
    }

    /// Models that are small as files and large in memory.
    #[test]
    fn dense_models_of_a_megabyte_stay_within_the_limit() {
        let _turn = TURN.lock();
        let many = |start: &str, part: &str, end: &str| {
            let n_parts = (mutate::MAX_BYTES - start.len() - end.len()) / part.len();
            format!("{start}{}{end}", part.repeat(n_parts)).into_bytes()
        };
        let catboost = "{\"features_info\":{},\"oblivious_trees\":[";
        let leaves = (1..18).map(|_| "{\"split_type\":\"FloatFeature\",\"float_feature_index\":0,\"border\":0},");
        let deep = format!(
            "{{\"features_info\":{{\"float_features\":[{{\"flat_feature_index\":0}}]}},\"oblivious_trees\":[{{\"splits\":[{}],\
             \"leaf_values\":[{}]}}]}}",
            leaves.collect::<String>().trim_end_matches(','),
            vec!["0"; 1 << 17].join(",")
        );
        for (name, input, is_model) in [
            ("lightgbm", many("tree\n", "Tree=\nnum_leaves=1\nleaf_value=0\n", "end of trees\n"), true),
            ("lightgbm", many("tree\n", "=\n", "end of trees\n"), false),
            ("lightgbm-json", many("{\"name\":\"tree\",\"tree_info\":[0", ",[]", "]}"), false),
            ("xgboost", many("{\"learner\":[{}", ",{\"\":0}", "]}"), false),
            ("xgboost", many("{\"learner\":[0", ",0", "]}"), false),
            ("xgboost", many("{\"learner\":[\"\"", ",\"\"", "]}"), false),
            ("xgboost-ubj", many("{i\u{1}a[Z", "T", "]}"), false),
            ("xgboost-ubj", many("{i\u{1}a[", "{i\0T}", "]}"), false),
            ("catboost", many(catboost, "{\"leaf_values\":[0]},", "{\"leaf_values\":[0]}]}"), true),
            ("catboost", deep.into_bytes(), true),
            ("ranklib", many("<ensemble>", "<tree><split><output>0</output></split></tree>", "</ensemble>"), true),
            ("ranklib", many("<ensemble><tree>", "<split>", ""), false),
        ] {
            let (is_accepted, _) = drive::read_watched(find(name).unwrap(), &input).unwrap();
            assert_eq!(is_accepted, is_model, "{name}: {}", String::from_utf8_lossy(&input[..100]));
        }
    }

    /// Found by fuzzing: growing the buffer by one byte at the limit of a line took 128 MB.
    #[test]
    fn a_line_without_end_in_a_small_file_stays_within_the_limit() {
        let _turn = TURN.lock();
        // The second one begins with a whole line, which shifts the steps in which the buffer grows.
        for text in ["", "0 qid:1\n"] {
            let input = seeds::compressed_line(text, 80 << 20);
            assert!(input.len() < 1 << 20);
            for name in ["letor", "scores", "qrels", "run"] {
                let is_accepted = drive::read_watched(find(name).unwrap(), &input).unwrap().0;
                assert!(!is_accepted, "{name}");
            }
        }
    }
}
