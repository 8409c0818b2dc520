//! Parameters from a file.

use std::path::Path;

use rankwise::io::read_bytes;
use rankwise::train::TrainSpec;

use crate::failure::user;

/// Sets what the file says.
pub(crate) fn apply(path: &Path, spec: &mut TrainSpec) -> anyhow::Result<()> {
    let place = path.display();
    let text = String::from_utf8(read_bytes(path, u64::MAX)?)
        .map_err(|_| user(format!("{place}: this is not text in UTF-8; write `name = value` in each line")))?;
    rankwise::config::apply(&text, spec).map_err(|error| user(format!("{place}:{error}")))
}
