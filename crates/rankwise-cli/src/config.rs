//! Training parameters and data options from a TOML file.

use std::path::Path;

use rankwise::io::{LayoutSpec, Place, read_bytes};
use rankwise::params::ParamGroup as _;
use rankwise::train::TrainSpec;

use crate::failure::{user_at, user_in};
use crate::options;

/// Applies the settings of the file.
pub(crate) fn apply(path: &Path, spec: &mut TrainSpec, layout: &mut LayoutSpec) -> anyhow::Result<()> {
    let text = String::from_utf8(read_bytes(path, u64::MAX)?)
        .map_err(|_| user_at(path, "not UTF-8 text; save the file as UTF-8"))?;
    let form_of_data = |name: &str, value: &str| {
        let is_known = layout.set(name, value).map_err(|error| error.to_string())?;
        if !is_known {
            options::check_parameter(name)?;
        }
        Ok(is_known)
    };
    rankwise::config::apply_with(&text, spec, form_of_data).map_err(|error| {
        let (line, column) = (Some(error.line as u64), Some(error.column as u64));
        user_in(Place { path: path.into(), line, column }, error.problem)
    })
}
