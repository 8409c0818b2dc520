//! `--checkpoint`: when to save checkpoints, how to report failures, and where to resume.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rankwise::train::{Flow, Observer, Pass, Progress};
use rankwise::{CheckpointFolder, FoundCheckpoint};

use crate::args::Train;
use crate::failure::user_at;
use crate::output::Output;
use crate::progress::Watch;
use crate::record::FileKind;

/// The default interval between checkpoints.
const DEFAULT_PERIOD: Duration = Duration::from_secs(10);
/// Time-based saving takes at most a twentieth of the time, even on a slow disk.
const LEAST_PAUSES: u32 = 19;

/// How often to save: after a number of trees, after some time, or whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    trees: Option<usize>,
    period: Option<Duration>,
}

impl Schedule {
    /// Reads `50`, `30s` or `50,30s`.
    pub(crate) fn parse(typed: &str) -> Result<Self, String> {
        let mut schedule = Self { trees: None, period: None };
        for part in typed.split(',').map(str::trim) {
            let is_new = if let Some(seconds) = part.strip_suffix('s') {
                let seconds = seconds.parse::<u32>().ok().filter(|seconds| *seconds > 0);
                let period = seconds.map(|seconds| Duration::from_secs(seconds.into()));
                period.is_some() && std::mem::replace(&mut schedule.period, period).is_none()
            } else {
                let trees = part.parse::<usize>().ok().filter(|trees| *trees > 0);
                trees.is_some() && std::mem::replace(&mut schedule.trees, trees).is_none()
            };
            if !is_new {
                return Err("expected a number of trees, such as 50, of seconds, such as 30s, or both: 50,30s".into());
            }
        }
        Ok(schedule)
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self { trees: None, period: Some(DEFAULT_PERIOD) }
    }
}

/// Saves the checkpoints of a run.
pub(crate) struct Keeper {
    path: PathBuf,
    folder: CheckpointFolder,
    schedule: Schedule,
    saved_tree: usize,
    saved_at: Instant,
    save_took: Duration,
    has_failed: bool,
    output: Output,
}

impl Keeper {
    /// Opens the folder and finds the checkpoint to resume from.
    pub(crate) fn open(args: &Train, output: Output) -> anyhow::Result<Option<(Self, Option<FoundCheckpoint>)>> {
        let Some(path) = &args.checkpoint else { return Ok(None) };
        let mut folder = CheckpointFolder::open(path)?;
        let found = if args.resume {
            let found = folder.newest()?;
            tell_start(path, found.as_ref(), output);
            found
        } else if folder.is_empty()? {
            None
        } else {
            let message =
                "this folder already has a checkpoint; add --resume to continue from it, or use another folder";
            return Err(user_at(path, message));
        };
        let keeper = Self {
            path: path.clone(),
            folder,
            schedule: args.checkpoint_every.unwrap_or_default(),
            saved_tree: found.as_ref().map_or(0, |found| found.checkpoint.tree()),
            saved_at: Instant::now(),
            save_took: Duration::ZERO,
            has_failed: false,
            output,
        };
        Ok(Some((keeper, found)))
    }

    fn is_due(&self, tree: usize) -> bool {
        let enough_trees = self.schedule.trees.is_some_and(|trees| tree - self.saved_tree >= trees);
        let pause = |period: Duration| period.max(self.save_took * LEAST_PAUSES);
        enough_trees || self.schedule.period.is_some_and(|period| self.saved_at.elapsed() >= pause(period))
    }

    /// A checkpoint that cannot be saved does not stop the run: the previous one still exists, and the next may succeed.
    fn save(&mut self, progress: &Progress<'_>) {
        let Some(checkpoint) = progress.checkpoint() else { return };
        let started = Instant::now();
        match self.folder.save(progress.round, &checkpoint) {
            Ok(path) => {
                self.has_failed = false;
                self.output.wrote(&path, FileKind::Checkpoint);
            }
            Err(error) if !self.has_failed => {
                self.has_failed = true;
                let tree = progress.round;
                self.output.warn_always(&format!("cannot save the checkpoint of tree {tree}: {error}"));
            }
            Err(_) => {}
        }
        self.save_took = started.elapsed();
        self.saved_at = Instant::now();
        self.saved_tree = progress.round;
    }

    /// How to resume an interrupted run.
    pub(crate) fn advice(keeper: Option<&Self>) -> String {
        match keeper {
            Some(keeper) if keeper.has_failed => {
                format!(
                    "the last checkpoints could not be saved in {}; --resume continues from the newest that was",
                    keeper.path.display()
                )
            }
            Some(_) => "to resume, run the same command with --resume".into(),
            None => "use --checkpoint DIR to make training resumable".into(),
        }
    }
}

fn tell_start(path: &Path, found: Option<&FoundCheckpoint>, output: Output) {
    let Some(found) = found else {
        output.remark(&format!("{}: no checkpoint yet; starting from the first tree", path.display()));
        return;
    };
    for damaged in &found.damaged {
        output.warn(&format!("{}: damaged; using the previous checkpoint", damaged.display()));
    }
    output.remark(&format!("{}: resuming after tree {}", found.path.display(), found.checkpoint.tree()));
}

/// Shows progress and saves checkpoints.
pub(crate) struct WatchAndSave<'a> {
    pub(crate) watch: &'a mut Watch,
    pub(crate) keeper: Option<&'a mut Keeper>,
}

impl Observer for WatchAndSave<'_> {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        let flow = self.watch.after_round(progress);
        if let Some(keeper) = &mut self.keeper
            && progress.pass == Pass::Model
            && (flow == Flow::Stop || progress.is_last || keeper.is_due(progress.round))
        {
            keeper.save(progress);
        }
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_trees_seconds_or_both() {
        let schedule = |trees, seconds: Option<u64>| Ok(Schedule { trees, period: seconds.map(Duration::from_secs) });
        assert_eq!(Schedule::parse("50"), schedule(Some(50), None));
        assert_eq!(Schedule::parse("30s"), schedule(None, Some(30)));
        assert_eq!(Schedule::parse("30s, 50"), schedule(Some(50), Some(30)));
        for typed in ["", "0", "0s", "s", "x", "5,6", "5s,6s", "-1", "1.5", "5,", "50 s"] {
            assert!(Schedule::parse(typed).is_err(), "{typed}");
        }
    }
}
