//! The commands, as steps that run one after another and stop at the first failure.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::tidy;

/// Tells the test of the generated page to write it.
const UPDATE_DOCS: &str = "RANKWISE_UPDATE_DOCS";

enum Work {
    Cargo(&'static [&'static str]),
    Tidy,
}

/// Everything that must hold before a change goes in, the quick steps first.
const TEST_STEPS: [(&str, Work); 4] = [
    ("fmt", Work::Cargo(&["fmt", "--all", "--check"])),
    ("clippy", Work::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    ("tidy", Work::Tidy),
    ("tests", Work::Cargo(&["test", "--workspace"])),
];

/// `cargo xtask test`
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut times = Vec::new();
    for (name, work) in &TEST_STEPS {
        let step_started = Instant::now();
        let done = match work {
            Work::Cargo(args) => cargo(root, args, &[]),
            Work::Tidy => tidy(root),
        };
        done.with_context(|| format!("step '{name}' failed"))?;
        times.push(format!("{name} {}", seconds(step_started.elapsed())));
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
