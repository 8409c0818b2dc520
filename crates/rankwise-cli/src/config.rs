//! Parameters from a TOML file, and what it says about the form of the data.

use std::path::Path;

use rankwise::io::read_bytes;
use rankwise::params::ParamError;
use rankwise::train::TrainSpec;

use crate::data_args::DataArgs;
use crate::failure::user;

/// What to write instead of whatever is wrong.
const ADVICE: &str = "write `name = value` in each line, without sections";

/// Sets what the file says.
pub(crate) fn apply(path: &Path, spec: &mut TrainSpec, read: &mut DataArgs) -> anyhow::Result<()> {
    let place = path.display();
    let text = String::from_utf8(read_bytes(path, u64::MAX)?)
        .map_err(|_| user(format!("{place}: this is not text in UTF-8; {ADVICE}")))?;
    let at = |offset: usize| {
        let (line, column) = position(&text, offset);
        format!("{place}:{line}:{column}")
    };
    let entries = entries(&text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        user(format!("{}: {}; {ADVICE}", at(offset), error.message().trim()))
    })?;
    let mut pairs: Vec<(&Entry, String)> = Vec::new();
    for entry in &entries {
        let value = typed_form(&entry.value).ok_or_else(|| {
            let holds = match entry.value {
                toml::Value::Table(_) => "a table",
                toml::Value::Datetime(_) => "a date",
                _ => "a list of tables or dates",
            };
            user(format!("{}: '{}' holds {holds}; {ADVICE}", at(entry.offset), entry.name))
        })?;
        if !read.set(&entry.name, &value).map_err(|error| user(format!("{}: {error}", at(entry.offset))))? {
            pairs.push((entry, value));
        }
    }
    let set_first = |count: usize, spec: &mut TrainSpec| {
        spec.set_all(pairs[..count].iter().map(|(entry, value)| (entry.name.as_str(), value.as_str())))
    };
    set_first(pairs.len(), spec).map_err(|error| {
        // The first entry that makes it fail is the one to mend.
        let culprit = (0..pairs.len()).find(|idx| set_first(idx + 1, &mut TrainSpec::default()).is_err()).unwrap_or(0);
        user(format!("{}: {error}", at(pairs[culprit].0.offset)))
    })?;
    // The whole is checked once everything typed is known; what can be right with no other value is refused here, where
    // its place is known.
    for (entry, value) in &pairs {
        let mut alone = TrainSpec::default();
        alone.set(&entry.name, value)?;
        if let Err(error @ ParamError::OutOfRange { .. }) = alone.check() {
            return Err(user(format!("{}: {error}", at(entry.offset))));
        }
    }
    Ok(())
}

struct Entry {
    name: String,
    /// Where the name stands in the text.
    offset: usize,
    value: toml::Value,
}

/// What the file holds, from top to bottom.
fn entries(text: &str) -> Result<Vec<Entry>, toml::de::Error> {
    let mut values: toml::Table = text.parse()?;
    let places = toml::de::DeTable::parse(text)?;
    let mut entries: Vec<Entry> = places
        .get_ref()
        .keys()
        .filter_map(|key| {
            let (name, value) = values.remove_entry(key.get_ref().as_ref())?;
            Some(Entry { name, offset: key.span().start, value })
        })
        .collect();
    entries.sort_by_key(|entry| entry.offset);
    Ok(entries)
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
