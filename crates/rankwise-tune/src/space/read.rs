//! Reads a search space from TOML.

use toml::Value;

use super::{DimensionSpec, Space, SpaceError, SpaceFileError, Values};

/// The remedy for entries of another form.
const FORMS: &str = "write { uniform = [low, high] }, { log = [low, high] } or a list of values";

/// An entry of the file.
struct Entry {
    name: String,
    /// The position of the name in the text.
    offset: usize,
    value: Value,
}

pub(super) fn space(text: &str) -> Result<Space, SpaceFileError> {
    let at = |offset: usize, problem: String| {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        SpaceFileError { line: before.matches('\n').count() + 1, column, problem }
    };
    let entries = entries(text).map_err(|error| {
        let problem = match error.message().trim() {
            "duplicate key" => "this parameter is in the search space twice; keep one".to_owned(),
            problem => format!("{}; {FORMS}, with text in quotes", problem.replace('`', "'")),
        };
        at(error.span().map_or(0, |span| span.start), problem)
    })?;
    let mut specs = Vec::new();
    for entry in &entries {
        specs.push(dimension(entry).map_err(|problem| at(entry.offset, problem))?);
        // Each entry is checked on its own, for the position; conditions need all of them.
        let alone = DimensionSpec { when: None, ..specs[specs.len() - 1].clone() };
        Space::new(&[alone]).map_err(|error| at(entry.offset, error.to_string()))?;
    }
    Space::new(&specs).map_err(|error| {
        let named = match &error {
            SpaceError::Twice { name } | SpaceError::When { name, .. } => Some(name.clone()),
            _ => None,
        };
        let entry = entries.iter().rfind(|entry| named.as_ref() == Some(&entry.name));
        at(entry.map_or(0, |entry| entry.offset), error.to_string())
    })
}

/// The entries, from top to bottom.
fn entries(text: &str) -> Result<Vec<Entry>, toml::de::Error> {
    let mut values: toml::Table = text.parse()?;
    let places = toml::de::DeTable::parse(text)?;
    let places = places.get_ref().keys();
    let mut entries: Vec<Entry> = places
        .filter_map(|key| {
            let (name, value) = values.remove_entry(key.get_ref().as_ref())?;
            Some(Entry { name, offset: key.span().start, value })
        })
        .collect();
    entries.sort_by_key(|entry| entry.offset);
    Ok(entries)
}

fn dimension(entry: &Entry) -> Result<DimensionSpec, String> {
    let name = entry.name.clone();
    let problem = |problem: &str| format!("parameter '{name}': {problem}; {FORMS}");
    let table = match &entry.value {
        Value::Array(values) => {
            let values =
                Values::Choice(texts(values).ok_or_else(|| problem("a value is not text, number or boolean"))?);
            return Ok(DimensionSpec { name, values, when: None });
        }
        Value::Table(table) => table,
        _ => return Err(problem("one value is nothing to search")),
    };
    let (mut values, mut when) = (None, None);
    for (key, value) in table {
        let list = match key.as_str() {
            "when" => {
                when = Some(condition(value).ok_or_else(|| {
                    format!("parameter '{name}': write the condition as when = {{ objective = \"lambdamart\" }}")
                })?);
                continue;
            }
            "uniform" | "log" | "choice" => value.as_array().ok_or_else(|| problem(&format!("{key} is not a list")))?,
            _ => return Err(problem(&format!("unknown key '{key}'"))),
        };
        let found = if key == "choice" {
            Values::Choice(texts(list).ok_or_else(|| problem("a value is not text, number or boolean"))?)
        } else {
            let numbers: Option<Vec<f64>> = list.iter().map(number).collect();
            let Some(&[low, high]) = numbers.as_deref() else {
                return Err(problem(&format!("{key} needs two numbers, the lower bound and the upper bound")));
            };
            if key == "log" { Values::LogUniform(low, high) } else { Values::Uniform(low, high) }
        };
        if values.replace(found).is_some() {
            return Err(problem("uniform, log and choice exclude each other"));
        }
    }
    let values = values.ok_or_else(|| problem("no values"))?;
    Ok(DimensionSpec { name, values, when })
}

/// `{ name = value }` or `{ name = [value, ...] }`.
fn condition(value: &Value) -> Option<(String, Vec<String>)> {
    let mut entries = value.as_table()?.iter();
    let ((name, value), None) = (entries.next()?, entries.next()) else { return None };
    let values = match value {
        Value::Array(values) => texts(values)?,
        one => texts(std::slice::from_ref(one))?,
    };
    Some((name.clone(), values))
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Array(_) | Value::Table(_) | Value::Datetime(_) => None,
    };
    values.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_read() {
        let text = "
            grow = ['oblivious', \"leafwise\"]
            max_depth = { uniform = [4, 8], when = { grow = 'oblivious' } }
            num_leaves = { log = [8, 128], when = { grow = ['leafwise'] } }
            eta = { log = [1e-3, 1.0] }
            bagging_by_query = { choice = [true, false] }
            truncation_level = [10, 30]
        ";
        let space = space(text).unwrap();
        let names: Vec<&str> = space.dimensions().iter().map(super::super::Dimension::name).collect();
        let expected = ["bagging_by_query", "grow", "learning_rate", "truncation_level", "max_depth", "num_leaves"];
        assert_eq!(names, expected);
        let reversed: Vec<&str> = text.lines().rev().collect();
        assert_eq!(super::space(&reversed.join("\n")).unwrap(), space, "the order of lines does not matter");
    }

    #[test]
    fn errors_name_the_line() {
        let said = |text: &str| space(text).unwrap_err().to_string();
        for (text, parts) in [
            ("", ["1:1: the search space is empty", "learning_rate ="]),
            ("\n  num_leafs = [3, 4]", ["2:3: unknown parameter 'num_leafs'", "did you mean 'num_leaves'?"]),
            ("eta = { log = [1, 0.1] }", ["1:1: parameter 'eta': the lower bound 1 is not below", "0.1"]),
            ("eta = { log = [0, 1] }", ["a logarithmic range starts above 0", "use uniform"]),
            ("lambda_l2 = { log = [0.0, 1] }", ["starts above 0, not at 0", "raise"]),
            ("eta = { uniform = [0, 1] }", ["eta", "out of range; use a value above 0"]),
            ("num_leaves = { log = [2.5, 8] }", ["2.5 is not an integer", "num_leaves"]),
            ("objective = { log = [1, 2] }", ["'objective' has no range; list the values", "lambdamart"]),
            ("objective = ['lambdamart']", ["fewer than two values", "set it outside"]),
            ("objective = ['lambdamart', 'lambdamart']", ["'lambdamart' is listed twice", "objective"]),
            ("objective = ['lambdamart', 'lambadmart']", ["lambadmart", "objective"]),
            ("eta = 0.1", ["one value is nothing to search", "{ uniform = [low, high] }"]),
            ("eta = { log = 0.1 }", ["log is not a list", "write {"]),
            ("eta = { log = [0.1] }", ["log needs two numbers", "write {"]),
            ("eta = { lgo = [0.1, 1] }", ["unknown key 'lgo'", "write {"]),
            ("eta = { log = [0.1, 1], uniform = [0, 1] }", ["exclude each other", "eta"]),
            ("eta = { when = { grow = 'oblivious' } }", ["no values", "eta"]),
            ("eta = { log = [0.1, 1], when = 'grow' }", ["write the condition as when", "eta"]),
            ("eta = { log = [0.1, 1], when = { grow = 'oblivious' } }", ["1:1:", "'grow' is not in the search space"]),
            (
                "grow = ['oblivious', 'leafwise']\neta = { log = [0.1, 1], when = { grow = 'levelwise' } }",
                ["2:1:", "'levelwise' is not among the values of grow"],
            ),
            (
                "lambda_l2 = { log = [1, 3] }\neta = { log = [0.1, 1], when = { lambda_l2 = 1 } }",
                ["2:1:", "lambda_l2 is a range"],
            ),
            (
                "grow = { choice = ['oblivious', 'leafwise'], when = { grow = 'leafwise' } }",
                ["1:1:", "depends on itself"],
            ),
            ("eta = { log = [0.1, 1] }\nlearning_rate = { log = [0.1, 1] }", ["2:1:", "twice"]),
            ("eta = { log = [0.1, 1] }\neta = { log = [0.1, 1] }", ["2:1:", "twice"]),
            ("metric = ['map', 'ndcg']", ["'metric' cannot be searched", "1:1:"]),
            ("ties = ['worst', 'best']", ["'ties' cannot be searched", "1:1:"]),
            ("eta = { log = [0.1, nan] }", ["not below the upper bound NaN", "eta"]),
            ("eta = { log = [0.1, 1}", ["1:", "write {"]),
        ] {
            let said = said(text);
            assert!(parts.iter().all(|part| said.contains(part)), "{text}: {said}");
        }
    }
}
