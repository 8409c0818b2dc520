//! Shared by the searches, `auto` and `tune`: their data, and the folder of finished steps.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rankwise::io::create_folders;
use rankwise::tune::StepStore;

use crate::data_paths::{DataPaths, ValidArgs};
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;

/// The training data and the validation data.
pub(crate) fn find_data(
    command: &str,
    data: &[PathBuf],
    valid: &ValidArgs,
) -> anyhow::Result<(DataPaths, Option<DataPaths>)> {
    let (mut data, mut valid) = (data.to_vec(), valid.clone());
    if data.is_empty() {
        let missing =
            || user(format!("no training data; put it before the options: rankwise {command} DATA --out MODEL"));
        data.push(valid.give_back().ok_or_else(missing)?);
    }
    if valid.0.len() > 1 {
        return Err(user("--valid: there can be only one validation set here; write all its files after one --valid"));
    }
    let valid = valid.0.first().map(|typed| DataPaths::find(typed)).transpose()?;
    Ok((DataPaths::find(&data)?, valid))
}

/// Finished steps in a folder.
pub(crate) struct StepFolder {
    folder: PathBuf,
    /// What a step is called in file names.
    noun: &'static str,
    has_failed: AtomicBool,
    output: Output,
}

impl StepFolder {
    /// Opens the folder, or creates it.
    pub(crate) fn open(folder: &Path, noun: &'static str, resumes: bool, output: Output) -> anyhow::Result<Self> {
        create_folders(folder)?;
        let store = Self { folder: folder.to_owned(), noun, has_failed: AtomicBool::new(false), output };
        if !resumes && store.has_steps(folder) {
            let message = "this folder already has models; add --resume to use them, or use another folder";
            return Err(user_at(folder, message));
        }
        Ok(store)
    }

    /// Whether any step is there. An interrupted search may lack the first ones.
    fn has_steps(&self, folder: &Path) -> bool {
        let is_step = |name: &str| {
            let number = name.strip_prefix(self.noun).and_then(|rest| rest.strip_prefix('-'));
            number.is_some_and(|rest| rest.strip_suffix(".json").is_some())
        };
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| is_step(&name.to_string_lossy()))
    }

    /// The file of a step with this number in its name.
    pub(crate) fn path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{}-{number:04}.json", self.noun))
    }

    /// Steps are counted from 1 in file names; trials too, and 0 is the default.
    fn path_of(&self, step: usize) -> PathBuf {
        self.path(if self.noun == "step" { step + 1 } else { step })
    }
}

impl StepStore for StepFolder {
    fn load(&self, step: usize) -> Option<String> {
        // A file that cannot be read is trained again, and replaced.
        std::fs::read_to_string(self.path_of(step)).ok()
    }

    fn save(&self, step: usize, content: &str) {
        let saved = self.output.write_text(&self.path_of(step), FileKind::Checkpoint, content);
        if let Err(error) = saved
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            self.output.warn_always(&format!("cannot save {} {}: {error}", self.noun, step + 1));
        }
    }
}
