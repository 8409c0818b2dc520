//! Parameters from a TOML file.

use rankwise_train::TrainSpec;

/// The remedy for invalid files.
const ADVICE: &str = "write one `name = value` per line, with text in quotes and without sections";

/// An error with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct ConfigError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// Sets the parameters in the text.
pub fn apply(text: &str, spec: &mut TrainSpec) -> Result<(), ConfigError> {
    apply_with(text, spec, |_, _| Ok(false))
}

/// Sets the parameters in the text, except those that `takes` handles: it gets each name and value, and returns whether
/// it handled them, or an error.
pub fn apply_with(
    text: &str,
    spec: &mut TrainSpec,
    mut takes: impl FnMut(&str, &str) -> Result<bool, String>,
) -> Result<(), ConfigError> {
    let at = |offset: usize, problem: String| {
        let (line, column) = position(text, offset);
        ConfigError { line, column, problem }
    };
    let entries = entries(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        at(
            offset,
            value_problem(text, offset).unwrap_or_else(|| match error.message().trim() {
                "duplicate key" => "this parameter is set twice; keep one of the lines".into(),
                // Backticks mark options in our messages; these are keys.
                problem => format!("{}; {ADVICE}", problem.replace('`', "'")),
            }),
        )
    })?;
    let mut pairs: Vec<(&Entry, String)> = Vec::new();
    for entry in &entries {
        let value = typed_form(&entry.value).ok_or_else(|| {
            let holds = match entry.value {
                toml::Value::Table(_) => "a table",
                toml::Value::Datetime(_) => "a date",
                _ => "a list of tables or dates",
            };
            at(entry.offset, format!("'{}' is {holds}; {ADVICE}", entry.name))
        })?;
        if !takes(&entry.name, &value).map_err(|problem| at(entry.offset, problem))? {
            pairs.push((entry, value));
        }
    }
    let set_first = |count: usize, spec: &mut TrainSpec| {
        spec.set_all(pairs[..count].iter().map(|(entry, value)| (entry.name.as_str(), value.as_str())))
    };
    set_first(pairs.len(), spec).map_err(|error| {
        // The error belongs to the first entry that makes it fail.
        let culprit = (0..pairs.len()).find(|idx| set_first(idx + 1, &mut TrainSpec::default()).is_err()).unwrap_or(0);
        at(pairs[culprit].0.offset, error.to_string())
    })?;
    Ok(())
}

/// Settings as the text of a file that [`apply`] reads.
pub fn render<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let line = |(name, value): (&str, &str)| {
        let is_bare = matches!(value, "true" | "false")
            || value.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        let is_bare = is_bare && format!("a = {value}").parse::<toml::Table>().is_ok();
        if is_bare { format!("{name} = {value}\n") } else { format!("{name} = {value:?}\n") }
    };
    settings.into_iter().map(line).collect()
}

/// Explains the usual errors in values: text without quotes, and numbers that begin with the point.
fn value_problem(text: &str, offset: usize) -> Option<String> {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next()?;
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.split('#').next()?.trim());
    if offset < start + line.find('=')? || name.is_empty() {
        return None;
    }
    let first = value.trim_start_matches(['+', '-']).chars().next();
    match first {
        Some(quote @ ('"' | '\'')) if value.matches(quote).count() == 1 => {
            Some(format!("the value of {name} has no closing quote; add it at the end of the line"))
        }
        None => Some(format!("{name} has no value; write {name} = VALUE, with text in quotes")),
        Some('.') => Some(format!("\"{value}\" is not a TOML number; write a digit before the point, as in 0.1")),
        Some(letter) if letter.is_alphabetic() || letter == '_' => Some(format!(
            "the value of {name} is not valid TOML; put text in quotes, as in {name} = \"{}\"",
            value.replace(['"', '\''], "")
        )),
        Some(_) => None,
    }
}

struct Entry {
    name: String,
    /// The position of the name in the text.
    offset: usize,
    value: toml::Value,
}

/// The entries of the file, from top to bottom.
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

/// A value as typed after `--set`.
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

/// The line and column of a byte, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
