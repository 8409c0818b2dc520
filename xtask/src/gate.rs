//! `cargo xtask test`: runs all checks that a change must pass, and lists what was skipped.
//!
//! Steps that cannot run on this machine are skipped, and so are parts of tests (`rankwise_testing::skip`). All skips
//! are listed at the end. With `--strict`, only those of `SkipKind::is_allowed` pass.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rankwise_testing::{SKIPS, Skip, SkipKind};

use crate::steps::{cargo, target_folder, tidy};
use crate::{counts, peers, python, tools};

/// The result of a step.
pub(crate) enum Outcome {
    Passed,
    Skipped(Skip),
}

impl Outcome {
    /// A step that could not run because something is not installed, or cannot be.
    pub(crate) fn missing(step: &str, why: impl Into<String>) -> Self {
        Self::Skipped(Skip { kind: SkipKind::Missing, what: step.into(), why: why.into() })
    }

    /// Reports that a step requested by name did not run.
    pub(crate) fn tell(&self) {
        if let Self::Skipped(skip) = self {
            println!("skipped: {skip}");
        }
    }
}

type Step = fn(&Path) -> anyhow::Result<Outcome>;

/// Quick steps first.
const STEPS: [(&str, Step); 11] = [
    ("fmt", |root| passed(cargo(root, &["fmt", "--all", "--check"], &[]))),
    ("tidy", |root| passed(tidy(root))),
    ("typos", tools::typos),
    ("clippy", |root| passed(cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]))),
    ("shear", tools::shear),
    ("deny", tools::deny),
    ("book", tools::book),
    ("tests", tests),
    ("counts", counts::run),
    ("peers", peers::run),
    ("python", python::test),
];

/// `cargo xtask test [--strict]`
pub(crate) fn run(root: &Path, is_strict: bool) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut report = Report::default();
    let mut preparation = None;
    for (name, step) in STEPS {
        let step_started = Instant::now();
        match name {
            // Download and unpack the peers while the expensive steps compile.
            "clippy" => preparation = Some(peers::prepare(root)),
            "peers" => drop(preparation.take()),
            _ => {}
        }
        let outcome = step(root).with_context(|| format!("step '{name}' failed"))?;
        report.add(name, step_started.elapsed(), outcome);
    }
    report.skips.extend(reported_skips(root)?);
    print!("{}", report.text(started.elapsed()));
    report.verdict(is_strict)
}

/// `cargo test --workspace`, with a file to which tests report skips.
fn tests(root: &Path) -> anyhow::Result<Outcome> {
    let file = skips_file(root)?;
    if Path::new(&file).exists() {
        std::fs::remove_file(&file).with_context(|| format!("cannot remove {file}"))?;
    }
    passed(cargo(root, &["test", "--workspace"], &[(SKIPS, &file)]))
}

/// The file to which tests append skips.
pub(crate) fn skips_file(root: &Path) -> anyhow::Result<String> {
    let path = target_folder(root).join("skips.tsv");
    Ok(path.to_str().context("the path of the repository is not UTF-8")?.to_owned())
}

fn reported_skips(root: &Path) -> anyhow::Result<Vec<Skip>> {
    let file = skips_file(root)?;
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context(file),
    };
    let parse = |line: &str| Skip::parse(line).with_context(|| format!("{file}: '{line}' is no report of a skip"));
    text.lines().map(parse).collect()
}

fn passed(done: anyhow::Result<()>) -> anyhow::Result<Outcome> {
    done.map(|()| Outcome::Passed)
}

/// The results of the steps.
#[derive(Default)]
struct Report {
    /// Passed steps with their times, and skipped steps.
    times: Vec<String>,
    n_passed: usize,
    skips: Vec<Skip>,
}

impl Report {
    fn add(&mut self, name: &str, time: Duration, outcome: Outcome) {
        match outcome {
            Outcome::Passed => {
                self.n_passed += 1;
                self.times.push(format!("{name} {}", seconds(time)));
            }
            Outcome::Skipped(skip) => {
                self.times.push(format!("{name} skipped"));
                self.skips.push(skip);
            }
        }
    }

    /// The list of skips, and the last line.
    fn text(&self, time: Duration) -> String {
        let n_steps = self.times.len();
        let steps = match n_steps - self.n_passed {
            0 => format!("all {n_steps} steps passed"),
            n_skipped => format!("{} of {n_steps} steps passed, {n_skipped} skipped", self.n_passed),
        };
        let mut by_kind: BTreeMap<SkipKind, usize> = BTreeMap::new();
        for skip in &self.skips {
            *by_kind.entry(skip.kind).or_default() += 1;
        }
        let kinds: Vec<String> = by_kind.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        let skips = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        let closing = format!("{steps} in {} ({}); skips: {skips}\n", seconds(time), self.times.join(", "));
        let listed = self.skips.iter().map(|skip| format!("skipped: {skip}\n"));
        listed.chain([closing]).collect::<Vec<_>>().concat()
    }

    fn verdict(&self, is_strict: bool) -> anyhow::Result<()> {
        let n_refused = self.skips.iter().filter(|skip| !skip.kind.is_allowed()).count();
        if is_strict && n_refused > 0 {
            bail!("--strict: something is missing for {n_refused} of the skips listed above; install it");
        }
        Ok(())
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcomes: Vec<Outcome>) -> Report {
        let mut report = Report::default();
        for outcome in outcomes {
            report.add("step", Duration::from_secs(2), outcome);
        }
        report
    }

    #[test]
    fn the_closing_line_counts_what_was_skipped() {
        let whole = report(vec![Outcome::Passed, Outcome::Passed]);
        assert_eq!(
            whole.text(Duration::from_secs(4)),
            "all 2 steps passed in 4 s (step 2 s, step 2 s); skips: nothing\n"
        );
        let mut partial = report(vec![Outcome::Passed, Outcome::missing("counts", "valgrind is not installed")]);
        partial.skips.push(Skip { kind: SkipKind::PublicData, what: "a test".into(), why: "no folder".into() });
        assert_eq!(
            partial.text(Duration::from_secs(4)),
            "skipped: counts (missing): valgrind is not installed\n\
             skipped: a test (public data): no folder\n\
             1 of 2 steps passed, 1 skipped in 4 s (step 2 s, step skipped); skips: public data 1, missing 1\n"
        );
    }

    #[test]
    fn strict_refuses_every_kind_that_is_not_allowed() {
        for kind in SkipKind::ALL {
            let skip = || Skip { kind, what: "a test".into(), why: "reason".into() };
            for report in [report(vec![Outcome::Skipped(skip())]), Report { skips: vec![skip()], ..Report::default() }]
            {
                assert!(report.verdict(false).is_ok());
                assert_eq!(report.verdict(true).is_ok(), kind.is_allowed(), "{kind:?}");
            }
        }
    }
}
