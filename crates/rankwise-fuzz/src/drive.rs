//! Runs a target on one input after another, and stops at the first failure.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use xxhash_rust::xxh3::xxh3_64;

use crate::MEMORY;
use crate::mutate::{MAX_BYTES, Mutator};
use crate::targets::Target;

/// Maximum memory for an input of up to [`MAX_BYTES`].
const MAX_MEMORY: usize = 100 << 20;
/// Reading the clock takes as long as a short input.
const RUNS_PER_LOOK: u64 = 64;

/// When to stop: after a number of inputs or a time, whichever comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) runs: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) seed: u64,
}

/// What was run.
#[derive(Debug)]
pub(crate) struct Report {
    name: &'static str,
    runs: u64,
    time: Duration,
    n_bytes: u64,
    most_memory: usize,
    /// Inputs that the reader accepted.
    n_accepted: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs_f64();
        write!(
            f,
            "{}: {} inputs of {} bytes on average in {seconds:.1} s ({:.0}/s), {:.1} % accepted, at most {:.1} MB each",
            self.name,
            self.runs,
            self.n_bytes / self.runs.max(1),
            self.runs as f64 / seconds,
            100.0 * self.n_accepted as f64 / self.runs.max(1) as f64,
            self.most_memory as f64 / (1 << 20) as f64
        )
    }
}

/// Runs a target. A failing input is saved, and the error names its file.
pub(crate) fn drive(target: &Target, budget: Budget) -> anyhow::Result<Report> {
    // Readers use the threads of a pool. For small inputs, it is fastest to use only the current thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    pool.install(|| drive_here(target, budget))
}

fn drive_here(target: &Target, budget: Budget) -> anyhow::Result<Report> {
    let mutator = Mutator::new((target.seeds)(), budget.seed);
    let started = Instant::now();
    let mut report =
        Report { name: target.name, runs: 0, time: Duration::ZERO, n_bytes: 0, most_memory: 0, n_accepted: 0 };
    let is_over = |runs: u64| {
        let has_time = budget.time.is_none_or(|time| !runs.is_multiple_of(RUNS_PER_LOOK) || started.elapsed() < time);
        runs >= budget.runs || !has_time
    };
    while !is_over(report.runs) {
        let input = mutator.input(report.runs);
        match catch_unwind(AssertUnwindSafe(|| read_watched(target, &input))) {
            Ok(Ok((is_accepted, memory))) => {
                report.n_accepted += u64::from(is_accepted);
                report.most_memory = report.most_memory.max(memory);
            }
            Ok(Err(problem)) => bail!(failed(target, &input, &problem)?),
            Err(_) => bail!(failed(target, &input, "panics")?),
        }
        report.n_bytes += input.len() as u64;
        report.runs += 1;
    }
    report.time = started.elapsed();
    Ok(report)
}

/// Reads an input; returns whether it was accepted and how much memory that took. Too much memory is an error.
pub(crate) fn read_watched(target: &Target, input: &[u8]) -> Result<(bool, usize), String> {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let is_accepted = (target.read)(input);
    let memory = MEMORY.peak_usage().saturating_sub(before);
    if memory > MAX_MEMORY { Err(format!("takes {} MB", memory >> 20)) } else { Ok((is_accepted, memory)) }
}

/// Saves the input and says how to run it again.
fn failed(target: &Target, input: &[u8], problem: &str) -> anyhow::Result<String> {
    debug_assert!(input.len() <= MAX_BYTES);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    std::fs::create_dir_all(&folder)?;
    let path = folder.canonicalize()?.join(format!("{}-{:016x}.input", target.name, xxh3_64(input)));
    std::fs::write(&path, input)?;
    let (name, path) = (target.name, path.display());
    Ok(format!("{name} {problem} on an input of {} bytes: cargo xtask fuzz {name} --input {path}", input.len()))
}
