//! Developer commands: `cargo xtask test`, `tidy`, `docs`, `book`, `counts`, `peers`,
//! `python`, `wheel`, `fuzz`, `help`.
//!
//! This program knows the layout of the repository and nothing of ranking. [`tidy`] describes the checks of `tidy`.
#![forbid(unsafe_code)]

mod counts;
mod gate;
mod peers;
mod python;
mod steps;
mod tidy;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  test    everything that must hold before a change goes in: formatting, tidy, spelling, lints, dependencies, the
          book, all tests, counts, peers, the Python package; lists what was skipped. With --strict it fails on skips,
          except for public data without RANKWISE_DATA, instruction sets that the machine lacks, and devices
  tidy    the checks of our own: crate table, manifests, sources, links, sizes
  docs    write docs/parameters.md and python/rankwise/_params.py anew from the declarations in the code
  book    build the book of docs/ into target/book
  counts  count the instructions of the hot loops and hold them against their limits (needs valgrind)
  peers   compare metrics, imported and exported models and Parquet files with other programs' (needs python3 and
          installs the programs)
  python  build the Python package, install it into an environment of its own, and run its tests
  wheel   build the wheel for distribution into target/wheels/release, and try it in a fresh environment (installs
          maturin and zig)
  fuzz    feed damaged inputs to every reader, or to TARGET: fuzz [TARGET] [--runs N | --time SECONDS] [--seed S];
          with --guided right after TARGET by libFuzzer (needs cargo-bolero)
  help    this text
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = root();
    let done = match args[..] {
        ["test"] => gate::run(&root, false),
        ["test", "--strict"] => gate::run(&root, true),
        ["tidy"] => steps::tidy(&root),
        ["docs"] => steps::docs(&root),
        ["book"] => tools::book(&root).map(|outcome| outcome.tell()),
        ["counts"] => counts::run(&root).map(|outcome| outcome.tell()),
        ["python"] => python::test(&root).map(|outcome| outcome.tell()),
        ["wheel"] => python::wheel(&root),
        ["peers"] => peers::run(&root).map(|outcome| outcome.tell()),
        ["fuzz", ref more @ ..] => steps::fuzz(&root, more),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository: the parent of this program's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_path_buf()
}
