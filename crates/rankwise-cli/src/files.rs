//! Reading and writing what the commands share.

use std::io::Read as _;
use std::path::Path;

use rankwise::data::{Absent, Dataset};
use rankwise::io::{read_dataset, write_atomically};
use rankwise::model::Model;
use rankwise::params::ParamValue as _;

use crate::failure::user;

/// The first bytes of a file tell whether it is a model.
pub(crate) fn is_model(path: &Path) -> bool {
    let mut start = [0u8; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let first = start[..read.unwrap_or(0)].iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{')
}

/// Reads a native model file.
pub(crate) fn read_model(path: &Path) -> anyhow::Result<Model> {
    let place = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file; check its name and the current folder".into(),
            std::io::ErrorKind::IsADirectory => "this is a folder; name a file".into(),
            _ => error.to_string(),
        };
        user(format!("{place}: cannot open: {reason}"))
    })?;
    Model::from_json(&bytes).map_err(|error| match error {
        // Line and column follow the name without a space.
        rankwise::model::ModelError::Json { .. } => user(format!("{place}:{error}")),
        _ => user(format!("{place}: {error}")),
    })
}

/// Reads data for a model: what a feature left out of a line means is what it meant in training.
pub(crate) fn read_data_for(model: &Model, path: &Path) -> anyhow::Result<Dataset> {
    let absent = model.params.get("absent").and_then(|value| Absent::parse(value)).unwrap_or(Absent::Missing);
    Ok(read_dataset(path, absent)?)
}

/// Writes text in one piece.
pub(crate) fn write_text(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(write_atomically(path, |out| out.write_all(text.as_bytes()))?)
}

/// Refuses a place that cannot be written to before the work begins.
pub(crate) fn check_writable(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    let place = path.display();
    if path.is_dir() {
        return Err(user(format!("{place}: cannot write: this is a folder; name a file")));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(user(format!("{place}: cannot write: its folder does not exist; make the folder first")))
        }
        _ => Ok(()),
    }
}
