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

/// What builds wheels that run on other machines; zig links against an old C library.
const WHEEL_TOOLS: [&str; 2] = ["maturin==1.16.0", "ziglang==0.17.0"];
/// The oldest C library that wheels run on.
const PLATFORM: &str = "manylinux_2_28";
/// The largest wheel, in bytes.
const MAX_WHEEL: u64 = 15_000_000;
/// Trains and scores in a fresh environment, where there is nothing but the wheel.
const TRIAL: &str = "\
import rankwise
data = rankwise.make_ranking(2000, n_features=10)
model = rankwise.train({'num_trees': 10}, data)
print(rankwise.__version__, rankwise.evaluate(data, model.predict(data)))
";

/// Builds the wheel for distribution into `target/wheels`, and tries it in a fresh environment.
pub(crate) fn wheel(root: &Path) -> anyhow::Result<()> {
    let tools = environment(root, "wheel-tools")?;
    call(root, &tools, &[&["-m", "pip", "install", "--quiet"][..], &WHEEL_TOOLS].concat())?;
    let folder = target_folder(root).join("wheels").join("release");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let options =
        ["-m", "maturin", "build", "--release", "--zig", "--compatibility", PLATFORM, "--out", utf8(&folder)?];
    call(root, &tools, &options)?;
    let wheel = only_wheel(&folder)?;
    let size = wheel.metadata().with_context(|| format!("cannot read {}", wheel.display()))?.len();
    if size > MAX_WHEEL {
        bail!("{} has {size} bytes; the limit is {MAX_WHEEL}", wheel.display());
    }
    let fresh = environment(root, "wheel-trial")?;
    call(root, &fresh, &["-m", "pip", "install", "--quiet", utf8(&wheel)?])?;
    call(root, &fresh, &["-c", TRIAL])?;
    println!("{} ({:.1} MB)", wheel.display(), size as f64 / 1e6);
    Ok(())
}

/// A new virtual environment in the target folder. Returns its interpreter.
fn environment(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(root).join(name);
    call(root, Path::new("python3"), &["-m", "venv", "--clear", utf8(&folder)?])?;
    Ok(folder.join("bin").join("python"))
}

/// Builds a wheel, and returns its path.
fn build(root: &Path, python: &Path, folder: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    call(root, python, &["-m", "maturin", "build", "--quiet", "--profile", profile, "--out", utf8(folder)?])?;
    only_wheel(folder)
}

fn only_wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut wheels = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(wheels.next().context("maturin built no wheel")??.path())
}

fn utf8(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("the path of the repository is not UTF-8")
}

fn call(root: &Path, python: &Path, args: &[&str]) -> anyhow::Result<()> {
    eprintln!("> python {}", args.join(" ").lines().next().unwrap_or_default());
    let program = target_folder(root).join("debug").join("rankwise");
    // Tools of the environment find each other.
    let found = std::env::var_os("PATH").unwrap_or_default();
    let folders = python.parent().map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&found));
    let folders = std::env::join_paths(folders).context("PATH cannot be extended")?;
    let status =
        Command::new(python).args(args).env("RANKWISE_BIN", program).env("PATH", folders).current_dir(root).status();
    let status = status.with_context(|| format!("cannot start {}", python.display()))?;
    if !status.success() {
        bail!("python {}: {status}; its messages are above", args[1]);
    }
    Ok(())
}
