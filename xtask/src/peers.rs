//! `cargo xtask peers`: compares the program with other programs, with the scripts in `peers/`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use rankwise_testing::SKIPS;

use crate::gate::{Outcome, skips_file};
use crate::steps::{cargo, starts, target_folder};

/// All share one environment, created by `peers/environment.py`.
const SCRIPTS: [&str; 9] = [
    "peers/metrics.py",
    "peers/import.py",
    "peers/exact.py",
    "peers/export.py",
    "peers/objectives.py",
    "peers/listwise.py",
    "peers/refit.py",
    "peers/linear.py",
    "peers/parquet.py",
];

/// The exit code of a script if the peers cannot be installed.
pub(crate) const UNAVAILABLE: i32 = 77;

/// An installation in the background. Dropping it waits for its end, because two installations at a time would disturb
/// each other.
pub(crate) struct Preparation(Option<Child>);

/// Starts to install the peers. If that fails, the step itself tries again and reports the reason.
pub(crate) fn prepare(root: &Path) -> Preparation {
    let mut install = Command::new("python3");
    install.arg(root.join("peers/environment.py")).current_dir(root);
    Preparation(install.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
}

impl Drop for Preparation {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // The step will show whether it succeeded.
            let _ = child.wait();
        }
    }
}

/// Runs all scripts with the program.
pub(crate) fn run(root: &Path) -> anyhow::Result<Outcome> {
    if !starts("python3") {
        return Ok(Outcome::missing("peers", "there is no python3"));
    }
    // Build in the same way as the tests: building the package alone would select other features of its dependencies,
    // and compile them again.
    cargo(root, &["build", "--quiet", "--workspace", "--tests"], &[])?;
    let program = target_folder(root).join("debug").join("rankwise");
    for script in SCRIPTS {
        eprintln!("> python3 {script}");
        let status = Command::new("python3")
            .arg(root.join(script))
            .arg(&program)
            .env(SKIPS, skips_file(root)?)
            .current_dir(root)
            .status()
            .context("cannot start python3")?;
        match status.code() {
            Some(0) => {}
            Some(UNAVAILABLE) => {
                return Ok(Outcome::missing("peers", "they cannot be installed; see the messages above"));
            }
            _ => bail!("{script}: {status}; its messages are above"),
        }
    }
    Ok(Outcome::Passed)
}
