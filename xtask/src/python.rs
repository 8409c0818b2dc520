//! `cargo xtask python` and `wheel`: the Python package, built and tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::gate::Outcome;
use crate::peers::UNAVAILABLE;
use crate::steps::{cargo, starts, target_folder};

/// Builds a wheel as the tests are built, installs it into an environment, and runs its tests there: those in
/// `python/tests`, the examples in its documentation, and a check of its types.
pub(crate) fn test(root: &Path) -> anyhow::Result<Outcome> {
    if !starts("python3") {
        return Ok(Outcome::missing("python", "there is no python3"));
    }
    let status = Command::new("python3").arg(root.join("peers/environment.py")).current_dir(root).status();
    match status.context("cannot start python3")?.code() {
        Some(0) => {}
        Some(UNAVAILABLE) => return Ok(Outcome::missing("python", "what it needs cannot be installed; see above")),
        _ => bail!("peers/environment.py failed; its messages are above"),
    }
    let python = target_folder(root).join("peers").join("bin").join("python");
    let folder = target_folder(root).join("wheels").join("test");
    let wheel = build(root, &python, &folder, "dev")?;
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    call(root, &python, &[&install[..], &[utf8(&wheel)?]].concat())?;
    // The tests compare with the program.
    cargo(root, &["build", "--quiet", "--workspace", "--tests"], &[])?;
    call(root, &python, &["-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests"])?;
    call(
        root,
        &python,
        &["-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "--doctest-modules", "rankwise"],
    )?;
    call(root, &python, &["-m", "mypy", "--strict", "--no-incremental", "python/rankwise"])?;
    Ok(Outcome::Passed)
}

/// Builds a wheel, and returns its path.
fn build(root: &Path, python: &Path, folder: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    call(root, python, &["-m", "maturin", "build", "--quiet", "--profile", profile, "--out", utf8(folder)?])?;
    let mut wheels = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(wheels.next().context("maturin built no wheel")??.path())
}

fn utf8(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("the path of the repository is not UTF-8")
}

fn call(root: &Path, python: &Path, args: &[&str]) -> anyhow::Result<()> {
    eprintln!("> python {}", args.join(" "));
    let program = target_folder(root).join("debug").join("rankwise");
    let status = Command::new(python).args(args).env("RANKWISE_BIN", program).current_dir(root).status();
    let status = status.with_context(|| format!("cannot start {}", python.display()))?;
    if !status.success() {
        bail!("python {}: {status}; its messages are above", args[1]);
    }
    Ok(())
}
