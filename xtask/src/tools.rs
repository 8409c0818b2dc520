//! External programs that the checks run, in pinned versions, installed into `target/tools` on first use.
//!
//! They are compiled without optimisation: they run for seconds, and an optimised build would take minutes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::gate::Outcome;
use crate::steps::{cargo, target_folder};

/// A program from crates.io.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Additional arguments of `cargo install`.
    pub(crate) build: &'static [&'static str],
}

/// Must be the version of gungraun in the workspace's manifest; otherwise the runner reports it and the step fails.
pub(crate) const GUNGRAUN: Tool = Tool { name: "gungraun-runner", version: "0.20.0", build: &[] };
const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", build: &[] };
/// Later versions parse with rust-analyzer's crates, which take much longer to compile.
const SHEAR: Tool = Tool { name: "cargo-shear", version: "1.5.1", build: &[] };
/// Without its server and watcher, which are not needed here, it takes a minute of one core to compile.
const MDBOOK: Tool =
    Tool { name: "mdbook", version: "0.5.4", build: &["--no-default-features", "--features", "search"] };
/// From PyPI, where packages contain the compiled program.
const TYPOS: &str = "1.51.1";

const CHEAP_BUILD: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

/// Licences, duplicate and banned crates, and the sources of crates, with `deny.toml`. Advisories are not checked: a
/// new one would fail an unrelated change, and they need the network each time.
pub(crate) fn deny(root: &Path) -> anyhow::Result<Outcome> {
    let program = match install(root, &DENY) {
        Ok(program) => program,
        Err(error) => return Ok(Outcome::missing("deny", format!("{error:#}"))),
    };
    call(root, &program, &["--log-level", "warn", "check", "bans", "licenses", "sources"])
}

/// Dependencies that no source uses.
pub(crate) fn shear(root: &Path) -> anyhow::Result<Outcome> {
    match install(root, &SHEAR) {
        Ok(program) => call(root, &program, &[]),
        Err(error) => Ok(Outcome::missing("shear", format!("{error:#}"))),
    }
}

/// The book in `docs/`, built into `target/book`. `tidy` checks its links; the program's tests check commands and
/// outputs.
pub(crate) fn book(root: &Path) -> anyhow::Result<Outcome> {
    match install(root, &MDBOOK) {
        Ok(program) => call(root, &program, &["build"]),
        Err(error) => Ok(Outcome::missing("book", format!("{error:#}"))),
    }
}

/// Misspelt words, with `typos.toml`.
pub(crate) fn typos(root: &Path) -> anyhow::Result<Outcome> {
    let folder = target_folder(root).join("tools").join(format!("typos-{TYPOS}"));
    let program = folder.join("bin").join("typos");
    if !program.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&folder);
        eprintln!("> pip install typos=={TYPOS}");
        let done = pip.arg(format!("typos=={TYPOS}")).status();
        if !done.is_ok_and(|status| status.success()) {
            return Ok(Outcome::missing("typos", "pip cannot install it; its messages are above"));
        }
    }
    call(root, &program, &["--config", "typos.toml"])
}

/// Installs a program unless this version is already there; returns its path.
pub(crate) fn install(root: &Path, tool: &Tool) -> anyhow::Result<PathBuf> {
    let folder = target_folder(root).join("tools");
    let program = folder.join("bin").join(tool.name);
    let stamp = folder.join(format!("{}-version", tool.name));
    if !program.exists() || std::fs::read_to_string(&stamp).unwrap_or_default() != tool.version {
        let utf8 = |path: &Path| path.to_str().map(str::to_owned).context("the path of the repository is not UTF-8");
        // A common build folder, because the programs share many dependencies.
        let (place, build) = (utf8(&folder)?, utf8(&folder.join("build"))?);
        let args = ["install", tool.name, "--version", tool.version, "--locked", "--force", "--root", &place];
        let env: Vec<(&str, &str)> = CHEAP_BUILD.into_iter().chain([("CARGO_TARGET_DIR", build.as_str())]).collect();
        cargo(root, &[&args, tool.build].concat(), &env)?;
        std::fs::write(&stamp, tool.version).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(program)
}

fn call(root: &Path, program: &Path, args: &[&str]) -> anyhow::Result<Outcome> {
    let name = program.file_name().unwrap_or_default().display().to_string();
    eprintln!("> {name} {}", args.join(" "));
    let status = Command::new(program)
        .args(args)
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !status.success() {
        bail!("{name}: {status}; its messages are above");
    }
    Ok(Outcome::Passed)
}
