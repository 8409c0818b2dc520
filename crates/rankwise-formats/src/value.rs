//! Objects, lists and numbers, from JSON or from its binary cousin UBJSON, and the way to a field with its name in errors.

use serde_json::Value as Json;

use crate::FormatError;

/// A value of either format.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Value>),
    /// A list of nothing but numbers.
    Numbers(Vec<f64>),
    Object(Vec<(String, Value)>),
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Number(f64::from(u8::from(value))),
            Json::Number(number) => number.as_f64().map_or(Self::Null, Self::Number),
            Json::String(text) => Self::Text(text),
            Json::Array(values) => {
                let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
                numbers.map_or_else(|| Self::List(values.into_iter().map(Self::from).collect()), Self::Numbers)
            }
            Json::Object(fields) => {
                Self::Object(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

fn number(json: &Json) -> Option<f64> {
    json.as_f64().or_else(|| json.as_bool().map(|value| f64::from(u8::from(value))))
}

/// Reads JSON.
pub(crate) fn from_json(format: &'static str, bytes: &[u8]) -> Result<Value, FormatError> {
    let json: Json = serde_json::from_slice(bytes).map_err(|error| FormatError::Line {
        format,
        line: error.line(),
        problem: error.to_string(),
    })?;
    Ok(json.into())
}

/// A value and the way that led to it.
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

    /// A field of an object, if it is there and not null.
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
            _ => Err(self.error("it is not a text")),
        }
    }

    /// A number, also one written as text.
    pub(crate) fn number(&self) -> Result<f64, FormatError> {
        let found = match self.value {
            Value::Number(number) => Some(*number),
            Value::Text(text) => fast_float2::parse(text.trim_matches(['[', ']', ' '])).ok(),
            _ => None,
        };
        found.filter(|number| !number.is_nan()).ok_or_else(|| self.error("it is not a number"))
    }

    /// A whole number from 0 on.
    pub(crate) fn integer(&self) -> Result<usize, FormatError> {
        as_integer(self.number()?).ok_or_else(|| self.error("it is not a whole number from 0 on"))
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
            // An empty list is one of numbers too.
            Value::Numbers(numbers) if numbers.is_empty() => &[],
            _ => return Err(self.error("it is not a list")),
        };
        Ok(values.iter().enumerate().map(|(idx, value)| self.child(&idx.to_string(), value)))
    }

    pub(crate) fn texts(&self) -> Result<Vec<&'a str>, FormatError> {
        self.list()?.map(|field| field.text()).collect()
    }
}

/// A whole number that fits.
pub(crate) fn as_integer(number: f64) -> Option<usize> {
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as usize)
}
