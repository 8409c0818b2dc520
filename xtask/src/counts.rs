//! `cargo xtask counts`: instruction counts of the hot loops, under valgrind.

use std::path::Path;

use anyhow::Context as _;
use rankwise_testing::{Skip, SkipKind};

use crate::gate::Outcome;
use crate::steps::{cargo, starts};
use crate::tools;

/// Compares the counts with the limits in `crates/rankwise/benches/counts.rs`.
pub(crate) fn run(root: &Path) -> anyhow::Result<Outcome> {
    if !starts("valgrind") {
        return Ok(Outcome::missing("counts", "valgrind is not installed"));
    }
    if !has_avx2() {
        let why = "the limits are for machines with AVX2".into();
        return Ok(Outcome::Skipped(Skip { kind: SkipKind::InstructionSet, what: "counts".into(), why }));
    }
    let runner = match tools::install(root, &tools::GUNGRAUN) {
        Ok(runner) => runner,
        Err(error) => return Ok(Outcome::missing("counts", format!("{error:#}"))),
    };
    let runner = runner.to_str().context("the path of the repository is not UTF-8")?;
    cargo(root, &["bench", "--quiet", "--package", "rankwise", "--bench", "counts"], &[("GUNGRAUN_RUNNER", runner)])?;
    Ok(Outcome::Passed)
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}
