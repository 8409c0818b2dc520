//! Objects, lists and numbers from JSON or UBJSON, and access to fields, with their paths in errors.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::FormatError;
use crate::error::shown;

/// A value of either format.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Value>),
    /// A list that has only numbers.
    Numbers(Vec<f64>),
    Object(Vec<(String, Value)>),
}

/// A growing list. Numbers are stored compactly as long as there is nothing else.
#[derive(Default)]
pub(crate) struct List {
    numbers: Vec<f64>,
    /// All values, once one of them is not a number.
    values: Vec<Value>,
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() + self.values.len()
    }

    pub(crate) fn push(&mut self, value: Value) {
        match value {
            Value::Number(number) if self.values.is_empty() => self.numbers.push(number),
            value => {
                self.values.extend(std::mem::take(&mut self.numbers).into_iter().map(Value::Number));
                self.values.push(value);
            }
        }
    }

    pub(crate) fn finish(self) -> Value {
        if self.values.is_empty() { Value::Numbers(self.numbers) } else { Value::List(self.values) }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Number(f64::from(u8::from(value))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut list = List::default();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Value::Object(fields))
    }
}

/// Reads JSON.
pub(crate) fn from_json(format: &'static str, bytes: &[u8]) -> Result<Value, FormatError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, text) = (error.line(), error.to_string());
        // The message ends with line and column; for files of one line, the column is needed.
        let problem = text.split(" at line ").next().unwrap_or_default();
        if problem.starts_with("recursion limit") {
            return FormatError::Deep { format, line };
        }
        FormatError::Line { format, line, problem: format!("{} at column {}", shown(problem), error.column()) }
    })
}

/// A value with its path.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    format: &'static str,
    path: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    pub(crate) fn root(format: &'static str, value: &'a Value) -> Self {
        Self { format, path: String::new(), value }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> FormatError {
        FormatError::Field { format: self.format, field: self.path.clone(), problem: problem.into() }
    }

    fn child(&self, name: &str, value: &'a Value) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { format: self.format, path, value }
    }

    /// A field of an object, if it exists and is not null.
    pub(crate) fn find(&self, name: &str) -> Option<Self> {
        let Value::Object(fields) = self.value else { return None };
        let (_, value) = fields.iter().find(|(known, value)| known == name && *value != Value::Null)?;
        Some(self.child(name, value))
    }

    /// A field of an object.
    pub(crate) fn get(&self, name: &str) -> Result<Self, FormatError> {
        self.find(name).ok_or_else(|| self.error(format!("it has no '{name}'")))
    }

    pub(crate) fn text(&self) -> Result<&'a str, FormatError> {
        match self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.error("it is not a string")),
        }
    }

    /// A number, or a number written as text.
    pub(crate) fn number(&self) -> Result<f64, FormatError> {
        let found = match self.value {
            Value::Number(number) => Some(*number),
            Value::Text(text) => fast_float2::parse(text.trim_matches(['[', ']', ' '])).ok(),
            _ => None,
        };
        found.filter(|number| !number.is_nan()).ok_or_else(|| self.error("it is not a number"))
    }

    /// An integer of at least 0.
    pub(crate) fn integer(&self) -> Result<usize, FormatError> {
        as_integer(self.number()?).ok_or_else(|| self.error("it is not an integer of at least 0"))
    }

    pub(crate) fn numbers(&self) -> Result<&'a [f64], FormatError> {
        match self.value {
            Value::Numbers(numbers) => Ok(numbers),
            Value::List(values) if values.is_empty() => Ok(&[]),
            _ => Err(self.error("it is not a list of numbers")),
        }
    }

    pub(crate) fn list(&self) -> Result<impl Iterator<Item = Self> + use<'a, '_>, FormatError> {
        let values = match self.value {
            Value::List(values) => &values[..],
            // An empty list is a list of numbers, too.
            Value::Numbers(numbers) if numbers.is_empty() => &[],
            _ => return Err(self.error("it is not a list")),
        };
        Ok(values.iter().enumerate().map(|(idx, value)| self.child(&idx.to_string(), value)))
    }

    pub(crate) fn texts(&self) -> Result<Vec<&'a str>, FormatError> {
        self.list()?.map(|field| field.text()).collect()
    }
}

/// An integer in the range of `usize`.
pub(crate) fn as_integer(number: f64) -> Option<usize> {
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as usize)
}
