//! Parameters from a TOML file, and what it says about the form of the data.

use std::path::Path;

use rankwise::io::{LayoutSpec, Place, read_bytes};
use rankwise::params::ParamGroup as _;
use rankwise::train::TrainSpec;

use crate::failure::{user_at, user_in};

/// Sets what the file says.
pub(crate) fn apply(path: &Path, spec: &mut TrainSpec, layout: &mut LayoutSpec) -> anyhow::Result<()> {
    let text = String::from_utf8(read_bytes(path, u64::MAX)?)
        .map_err(|_| user_at(path, "this is not text in UTF-8; write `name = value` in each line"))?;
    let form_of_data = |name: &str, value: &str| layout.set(name, value).map_err(|error| error.to_string());
    rankwise::config::apply_with(&text, spec, form_of_data).map_err(|error| {
        let (line, column) = (Some(error.line as u64), Some(error.column as u64));
        user_in(Place { path: path.into(), line, column }, error.problem)
    })
}
