//! Atomic writes: a reader of the target sees the old content or the new, never a part of it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Action, IoError, is_stream};

const OUTPUT_BUFFER_BYTES: usize = 256 << 10;
/// File names have at most 255 bytes; this leaves space for a number and an extension.
const MAX_STEM_BYTES: usize = 200;
/// The default of the zstd library.
const ZSTD_LEVEL: i32 = 3;

/// Writes to a temporary file in the same folder, then renames it to the target once it is safely on disk. If anything
/// fails, the old file stays unchanged and the temporary one is removed. Names that end in `.gz` or `.zst` are
/// compressed. `-` is standard output; devices and pipes are written to directly.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), IoError> {
    let done = if is_stream(path) { write_plain(io::stdout().lock(), write) } else { write_path(path, write) };
    done.map_err(|source| write_error(path, source))
}

/// Checks, before long work begins, whether [`write_atomically`] could write to the path. It takes the same steps, up
/// to the temporary file, and removes that again. Streams, devices and pipes are assumed to be writable.
pub fn check_writable(path: &Path) -> Result<(), IoError> {
    let check = || match Target::of(path)? {
        Target::Direct => Ok(()),
        Target::Replace { target, folder, .. } => Temporary::create(&folder, &target).map(drop),
    };
    if is_stream(path) {
        return Ok(());
    }
    check().map_err(|source| write_error(path, source))
}

/// Creates a folder, and the folders above it that are missing.
pub fn create_folders(path: &Path) -> Result<(), IoError> {
    let missing_parent = |source: io::Error| match source.kind() {
        ErrorKind::NotFound => not_accepted(),
        _ => source,
    };
    fs::create_dir_all(path).map_err(|source| write_error(path, missing_parent(source)))
}

/// Creates a folder in one that exists. Returns whether it is new.
pub fn create_folder(path: &Path) -> Result<bool, IoError> {
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(source) => Err(write_error(path, explained(source, &parent_of(path)))),
    }
}

fn write_error(path: &Path, source: io::Error) -> IoError {
    IoError::File { path: path.into(), action: Action::Write, source }
}

/// An error of creating something in a folder. For some folders, such as /proc, the system says "not found" although they exist.
fn explained(error: io::Error, folder: &Path) -> io::Error {
    if error.kind() == ErrorKind::NotFound && folder.is_dir() { not_accepted() } else { error }
}

fn not_accepted() -> io::Error {
    io::Error::other("its folder accepts no new files; use another folder")
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// How a path is written to.
enum Target {
    /// Directly: a device or a pipe.
    Direct,
    /// Through a new file in the folder that replaces the target.
    Replace { target: PathBuf, folder: PathBuf, permissions: Option<fs::Permissions> },
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        let old = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        match &old {
            Some(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            // Renaming would replace /dev/null by a file.
            Some(metadata) if !metadata.is_file() => return Ok(Self::Direct),
            _ => {}
        }
        let ends_like_a_folder =
            path.as_os_str().as_encoded_bytes().last().is_none_or(|last| is_separator((*last).into()));
        if ends_like_a_folder {
            return Err(ErrorKind::IsADirectory.into());
        }
        // A link stays a link; its target is replaced.
        let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_path_buf() };
        let folder = parent_of(&target);
        Ok(Self::Replace { target, folder, permissions: old.map(|metadata| metadata.permissions()) })
    }
}

fn write_path(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (target, folder, permissions) = match Target::of(path)? {
        Target::Direct => return write_encoded(path, OpenOptions::new().write(true).open(path)?, write).map(drop),
        Target::Replace { target, folder, permissions } => (target, folder, permissions),
    };
    let (temporary, file) = Temporary::create(&folder, &target)?;
    let file = write_encoded(path, file, write)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    drop(file);
    temporary.rename_to(&target)?;
    // Some systems cannot sync a folder; the file itself is safe by now.
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Writes through the encoder that the file name selects.
fn write_encoded(path: &Path, file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let buffered = BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, file);
    let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let buffered = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            let mut encoder = GzEncoder::new(buffered, Compression::default());
            write_plain(&mut encoder, write)?;
            encoder.finish()?
        }
        Some("zst") => {
            let mut encoder = zstd::Encoder::new(buffered, ZSTD_LEVEL)?;
            write_plain(&mut encoder, write)?;
            encoder.finish()?
        }
        _ => {
            let mut buffered = buffered;
            write(&mut buffered)?;
            buffered
        }
    };
    buffered.into_inner().map_err(io::IntoInnerError::into_error)
}

fn write_plain(output: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, output);
    write(&mut buffered)?;
    buffered.flush()
}

/// Temporary files currently being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files currently being written. For a process that is about to exit early.
pub fn remove_unfinished_files() {
    if let Ok(paths) = UNFINISHED.lock() {
        for path in &*paths {
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that is removed unless it is renamed first.
struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    fn create(folder: &Path, target: &Path) -> io::Result<(Self, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let stem = short_stem(target);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".{stem}.{}.{number}.tmp", std::process::id());
            let path = folder.join(OsString::from(name));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    if let Ok(mut paths) = UNFINISHED.lock() {
                        paths.push(path.clone());
                    }
                    return Ok((Self { path: Some(path) }, file));
                }
                // Left behind by a killed process with the same id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(explained(error, folder)),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
            forget(path);
        }
        self.path = None;
        Ok(())
    }
}

fn forget(path: &Path) {
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.retain(|unfinished| unfinished != path);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing can be done if this fails, and the error to report is the one that led here.
            let _ = fs::remove_file(path);
            forget(path);
        }
    }
}

fn short_stem(target: &Path) -> String {
    let mut stem = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    stem.truncate(stem.floor_char_boundary(MAX_STEM_BYTES));
    stem
}
