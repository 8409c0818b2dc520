//! Commands that are a single call of a program, and helpers to call programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::tidy;

/// Makes the tests of generated files write them.
const UPDATE_DOCS: &str = "RANKWISE_UPDATE_DOCS";

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
    println!("docs/parameters.md and python/rankwise/_params.py are up to date");
    Ok(())
}

/// `cargo xtask fuzz`
pub(crate) fn fuzz(root: &Path, more: &[&str]) -> anyhow::Result<()> {
    const RUN: [&str; 6] = ["run", "--quiet", "--release", "--package", "rankwise-fuzz", "--"];
    let [target, "--guided", limits @ ..] = more else {
        return cargo(root, &[&RUN, more].concat(), &[]);
    };
    // libFuzzer, through bolero, works without a nightly compiler if no sanitizer is used.
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

pub(crate) fn cargo(root: &Path, args: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
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

/// The cargo that runs this program.
pub(crate) fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Cargo's build folder.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Whether a program exists and starts.
pub(crate) fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
