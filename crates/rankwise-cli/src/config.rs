//! Parameters from a TOML file.

use std::path::Path;

use rankwise::train::TrainSpec;

use crate::failure::user;

/// Sets what the file says.
pub(crate) fn apply(path: &Path, spec: &mut TrainSpec) -> anyhow::Result<()> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| user(format!("{place}: cannot read: {error}")))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let (line, column) = position(&text, error.span().map_or(0, |span| span.start));
        user(format!("{place}:{line}:{column}: {}; write `name = value` in each line", error.message().trim()))
    })?;
    let pairs: Vec<(String, String)> = table
        .into_iter()
        .map(|(name, value)| {
            let typed = typed_form(&value).ok_or_else(|| {
                user(format!("{place}: '{name}' is a table; write parameters as `name = value`, without sections"))
            })?;
            Ok((name, typed))
        })
        .collect::<anyhow::Result<_>>()?;
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    spec.set_all(pairs).map_err(|error| user(format!("{place}: {error}")))
}

/// A value as it would be typed after `--set`.
fn typed_form(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        toml::Value::Array(entries) => Some(entries.iter().map(typed_form).collect::<Option<Vec<_>>>()?.join(",")),
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

/// Line and column of a byte, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
