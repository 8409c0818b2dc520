//! The commands, as steps that run one after another and stop at the first failure.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::tidy;

/// Tells the test of the generated page to write it.
const UPDATE_DOCS: &str = "RANKWISE_UPDATE_DOCS";

/// The version of gungraun in the workspace's manifest; where the two differ, the runner says so and the step fails.
const GUNGRAUN: &str = "0.20.0";

/// What `cargo xtask peers` runs; all share one environment.
const PEER_SCRIPTS: [&str; 7] = [
    "peers/metrics.py",
    "peers/import.py",
    "peers/export.py",
    "peers/objectives.py",
    "peers/listwise.py",
    "peers/refit.py",
    "peers/parquet.py",
];

enum Work {
    Cargo(&'static [&'static str]),
    Tidy,
    Counts,
    Peers,
}

/// Whether a step could be made on this machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Skipped,
}

/// Everything that must hold before a change goes in, the quick steps first.
const TEST_STEPS: [(&str, Work); 6] = [
    ("fmt", Work::Cargo(&["fmt", "--all", "--check"])),
    ("clippy", Work::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    ("tidy", Work::Tidy),
    ("tests", Work::Cargo(&["test", "--workspace"])),
    ("counts", Work::Counts),
    ("peers", Work::Peers),
];

/// `cargo xtask test`
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut times = Vec::new();
    for (name, work) in &TEST_STEPS {
        let step_started = Instant::now();
        let done = match work {
            Work::Cargo(args) => cargo(root, args, &[]).map(|()| Outcome::Done),
            Work::Tidy => tidy(root).map(|()| Outcome::Done),
            Work::Counts => counts(root),
            Work::Peers => peers(root),
        };
        times.push(match done.with_context(|| format!("step '{name}' failed"))? {
            Outcome::Skipped => format!("{name} skipped"),
            Outcome::Done => format!("{name} {}", seconds(step_started.elapsed())),
        });
    }
    println!("all {} steps passed in {} ({})", times.len(), seconds(started.elapsed()), times.join(", "));
    Ok(())
}

/// `cargo xtask tidy`
pub(crate) fn tidy(root: &Path) -> anyhow::Result<()> {
    eprintln!("> tidy");
    let report = tidy::check(root)?;
    for finding in &report.findings {
        eprintln!("{finding}");
    }
    match report.n_errors() {
        0 => {
            println!(
                "tidy: {} crates and {} files are in order; remarks: {}",
                report.n_crates,
                report.n_files,
                report.findings.len()
            );
            Ok(())
        }
        n_errors => bail!("tidy: errors found, listed above: {n_errors}"),
    }
}

/// `cargo xtask docs`
pub(crate) fn docs(root: &Path) -> anyhow::Result<()> {
    cargo(root, &["test", "--quiet", "--package", "rankwise", "--test", "it", "docs::"], &[(UPDATE_DOCS, "1")])?;
    println!("docs/parameters.md is up to date");
    Ok(())
}

/// `cargo xtask fuzz`
pub(crate) fn fuzz(root: &Path, more: &[&str]) -> anyhow::Result<()> {
    const RUN: [&str; 6] = ["run", "--quiet", "--release", "--package", "rankwise-fuzz", "--"];
    let [target, "--guided", limits @ ..] = more else {
        return cargo(root, &[&RUN, more].concat(), &[]);
    };
    // libFuzzer, by way of bolero, works without a nightly compiler as long as no sanitizer is asked for.
    let folder = root.join("target").join("fuzz");
    let place = |name: &str| folder.join(name).join(target).to_str().map(str::to_owned);
    let (Some(corpus), Some(crashes)) = (place("corpus"), place("crashes")) else {
        bail!("the path of the repository is not UTF-8");
    };
    std::fs::create_dir_all(&crashes).context("cannot make a folder for inputs that are not survived")?;
    cargo(root, &[&RUN[..], &[target, "--write-seeds", &corpus]].concat(), &[])?;
    let test = format!("guided::{}", target.replace('-', "_"));
    let bolero = ["bolero", "test", "--package", "rankwise-fuzz", &test, "--sanitizer", "NONE", "--profile", "release"];
    let limits: &[&str] = match limits {
        [] => &["-T", "60s"],
        ["--time", seconds] => &["-T", &format!("{seconds}s")],
        ["--runs", runs] => &["--runs", runs],
        _ => bail!("after --guided, give --time SECONDS or --runs N"),
    };
    cargo(root, &[&bolero[..], &["--corpus-dir", &corpus, "--crashes-dir", &crashes], limits].concat(), &[])
        .context("is cargo-bolero there? `cargo install cargo-bolero` gets it")
}

/// `cargo xtask counts`
pub(crate) fn counts(root: &Path) -> anyhow::Result<Outcome> {
    if let Some(lacking) = lacking_for_counts() {
        println!("counts: skipped, since {lacking}");
        return Ok(Outcome::Skipped);
    }
    let tools = root.join("target").join("tools");
    let runner = tools.join("bin").join("gungraun-runner");
    let stamp = tools.join("gungraun-version");
    if !runner.exists() || std::fs::read_to_string(&stamp).unwrap_or_default() != GUNGRAUN {
        let folder = tools.to_str().context("the path of the repository is not UTF-8")?;
        cargo(
            root,
            &["install", "gungraun-runner", "--version", GUNGRAUN, "--locked", "--force", "--root", folder],
            &[],
        )?;
        std::fs::write(&stamp, GUNGRAUN).context("cannot write the version of the runner")?;
    }
    let runner = runner.to_str().context("the path of the repository is not UTF-8")?;
    cargo(root, &["bench", "--quiet", "--package", "rankwise", "--bench", "counts"], &[("GUNGRAUN_RUNNER", runner)])?;
    Ok(Outcome::Done)
}

/// `cargo xtask peers`
pub(crate) fn peers(root: &Path) -> anyhow::Result<Outcome> {
    /// What the script exits with where its peers cannot be installed.
    const UNAVAILABLE: i32 = 77;
    let has_python = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_python {
        println!("peers: skipped, since there is no python3");
        return Ok(Outcome::Skipped);
    }
    cargo(root, &["build", "--quiet", "--package", "rankwise-cli"], &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    for script in PEER_SCRIPTS {
        eprintln!("> python3 {script}");
        let status = Command::new("python3")
            .arg(root.join(script))
            .arg(target.join("debug").join("rankwise"))
            .current_dir(root)
            .status()
            .context("cannot start python3")?;
        match status.code() {
            Some(0) => {}
            Some(UNAVAILABLE) => {
                println!("peers: skipped, since they cannot be installed");
                return Ok(Outcome::Skipped);
            }
            _ => bail!("{script}: {status}; its messages are above"),
        }
    }
    Ok(Outcome::Done)
}

/// What this machine lacks; the limits are for the instructions that most machines have.
fn lacking_for_counts() -> Option<&'static str> {
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_valgrind {
        return Some("valgrind is not installed");
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return None;
    }
    Some("the limits are for machines with AVX2")
}

fn cargo(root: &Path, args: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    let shown = format!("cargo {}", args.join(" "));
    eprintln!("> {shown}");
    let status = Command::new(cargo_program())
        .args(args)
        .envs(env.iter().copied())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}; its messages are above");
    }
    Ok(())
}

/// The cargo that runs us.
pub(crate) fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}
