//! A folder of checkpoints: the newest and the one before it, each in a file named after its tree.
//!
//! A file appears only when it is complete and on disk, and only then is the oldest one removed. So there is a valid
//! one at any time, and a second one in case the disk damages the first.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rankwise_io::{Action, IoError, Place, check_writable, create_folder, write_atomically};
use rankwise_train::{Checkpoint, CheckpointError};

const PREFIX: &str = "tree-";
const ENDING: &str = ".checkpoint";

/// The checkpoint folder of one run.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    /// Held while the folder is in use. The system releases it when the process ends, in whatever way.
    _lock: File,
    is_made_here: bool,
    /// The file read or written last.
    last: Option<PathBuf>,
}

/// The newest valid checkpoint.
#[derive(Debug)]
pub struct FoundCheckpoint {
    /// Its file.
    pub path: PathBuf,
    /// Its content.
    pub checkpoint: Checkpoint,
    /// Newer files that are damaged.
    pub damaged: Vec<PathBuf>,
}

/// A folder or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointFolderError {
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Another run uses the folder; two runs would remove each other's files.
    #[error("{}: another process saves its checkpoints here; wait for it or use another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// All checkpoints are damaged.
    #[error(
        "{}: all checkpoints are damaged (the newest, {newest}: {problem}); remove them, or use another folder, to start again",
        path.display()
    )]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// The name of the newest file.
        newest: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The newest checkpoint cannot be used.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CheckpointError,
    },
}

impl CheckpointFolderError {
    /// The file or folder to fix.
    pub fn place(&self) -> Place {
        match self {
            Self::Io(error) => error.place(),
            Self::InUse { path } | Self::Damaged { path, .. } | Self::Checkpoint { path, .. } => Place::file(path),
        }
    }
}

impl CheckpointFolder {
    /// Creates the folder if missing, locks it for this process, checks that it is writable, and removes incomplete
    /// files of killed processes. A folder that was created here is removed at the end if it is still empty.
    pub fn open(path: &Path) -> Result<Self, CheckpointFolderError> {
        let is_made_here = create_folder(path)?;
        let lock = File::open(path).map_err(|source| io_error(path, Action::Open, source))?;
        // Not all file systems support locks.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(CheckpointFolderError::InUse { path: path.into() });
        }
        let folder = Self { path: path.into(), _lock: lock, is_made_here, last: None };
        check_writable(&folder.file_of(0))?;
        folder.entries()?.iter().filter(|path| is_left_over(path)).try_for_each(|path| remove(path))?;
        Ok(folder)
    }

    /// Whether there is no checkpoint, not even a damaged one.
    pub fn is_empty(&self) -> Result<bool, IoError> {
        Ok(self.files()?.is_empty())
    }

    /// The newest valid checkpoint; `None` if there are no files. It is an error if all are damaged.
    pub fn newest(&mut self) -> Result<Option<FoundCheckpoint>, CheckpointFolderError> {
        let mut damaged = Vec::new();
        let mut first_problem = None;
        for (_, path) in self.files()?.into_iter().rev() {
            let bytes = fs::read(&path).map_err(|source| io_error(&path, Action::Read, source))?;
            match Checkpoint::read(&bytes) {
                Ok(checkpoint) => {
                    self.last = Some(path.clone());
                    return Ok(Some(FoundCheckpoint { path, checkpoint, damaged }));
                }
                Err(CheckpointError::Damaged { problem }) => {
                    let newest = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    let folder = self.path.clone();
                    first_problem.get_or_insert(CheckpointFolderError::Damaged { path: folder, newest, problem });
                    damaged.push(path);
                }
                Err(source) => return Err(CheckpointFolderError::Checkpoint { path, source }),
            }
        }
        first_problem.map_or(Ok(None), Err)
    }

    /// Saves the checkpoint of a tree. Of the others, keeps only the last one known to be valid. Returns the file.
    pub fn save(&mut self, tree: usize, checkpoint: &[u8]) -> Result<PathBuf, IoError> {
        let path = self.file_of(tree);
        write_atomically(&path, |out| out.write_all(checkpoint))?;
        let keep = [Some(path.clone()), self.last.replace(path.clone())];
        let files = self.files()?;
        let mut old =
            files.iter().map(|(_, file)| file).filter(|file| !keep.iter().flatten().any(|kept| kept == *file));
        old.try_for_each(|file| remove(file))?;
        Ok(path)
    }

    fn file_of(&self, tree: usize) -> PathBuf {
        self.path.join(format!("{PREFIX}{tree:07}{ENDING}"))
    }

    /// The checkpoint files with their tree numbers, ascending.
    fn files(&self) -> Result<Vec<(usize, PathBuf)>, IoError> {
        let tree_of = |path: &Path| -> Option<usize> {
            path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(ENDING)?.parse().ok()
        };
        let mut files: Vec<(usize, PathBuf)> =
            self.entries()?.into_iter().filter_map(|path| Some((tree_of(&path)?, path))).collect();
        files.sort();
        Ok(files)
    }

    fn entries(&self) -> Result<Vec<PathBuf>, IoError> {
        let paths = || fs::read_dir(&self.path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
        paths().map_err(|source| io_error(&self.path, Action::Read, source))
    }
}

impl Drop for CheckpointFolder {
    fn drop(&mut self) {
        if self.is_made_here {
            // Fails if the folder is not empty, as intended.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Whether this is a temporary file of a process that was killed while saving.
fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.strip_prefix('.').is_some_and(|name| name.starts_with(PREFIX)) && path.extension() == Some(OsStr::new("tmp"))
}

fn remove(path: &Path) -> Result<(), IoError> {
    fs::remove_file(path).map_err(|source| io_error(path, Action::Write, source))
}

fn io_error(path: &Path, action: Action, source: io::Error) -> IoError {
    IoError::File { path: path.into(), action, source }
}
