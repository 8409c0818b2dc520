//! Data arguments: a file, several files, folders or patterns.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use rankwise::io::find_data_files;

/// The files of one dataset.
#[derive(Clone, Debug)]
pub(crate) struct DataPaths {
    files: Vec<PathBuf>,
    /// The prefix of messages about the data as a whole.
    place: PathBuf,
}

impl DataPaths {
    /// Finds the files that were typed.
    pub(crate) fn find(typed: &[PathBuf]) -> anyhow::Result<Self> {
        let files = find_data_files(typed)?;
        let place = match typed {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()).into(),
            [] => PathBuf::new(),
        };
        Ok(Self { files, place })
    }

    /// [`Self::find`] for an option that takes one path.
    pub(crate) fn find_one(typed: &Path) -> anyhow::Result<Self> {
        Self::find(&[typed.to_path_buf()])
    }

    /// The data, unless nothing was typed.
    pub(crate) fn if_any(&self) -> Option<&Self> {
        (!self.files.is_empty()).then_some(self)
    }

    /// The prefix of messages about the data as a whole: the file or folder, or the first of several.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The files, in the order in which they are read.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files as inputs of a command.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }
}

/// The values of `--valid`: each occurrence names the files of one validation set.
#[derive(Clone, Debug)]
pub(crate) struct ValidArgs(pub(crate) Vec<Vec<PathBuf>>);

const VALID: &str = "valid";

impl FromArgMatches for ValidArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = matches.get_occurrences::<PathBuf>(VALID);
        Ok(Self(typed.into_iter().flatten().map(|set| set.cloned().collect()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ValidArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(VALID)
                .long(VALID)
                .value_name("DATA")
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .action(ArgAction::Append)
                .help(
                    "Validation set: one or more files, folders or patterns. `train` takes several sets, by repeating \
                     it; the model keeps the trees up to the best iteration on the first",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl ValidArgs {
    /// `train --valid V DATA` names the training data last. It looks like a validation set of two files, so the second is used
    /// as training data if there is no other.
    pub(crate) fn give_back(&mut self) -> Option<PathBuf> {
        let last = self.0.last_mut().filter(|set| set.len() == 2)?;
        last.pop()
    }
}
