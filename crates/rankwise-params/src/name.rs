//! Names as people type them.

use std::collections::BTreeMap;
use std::fmt;

use crate::ParamError;

/// A parameter in a message: what was typed and, if that is an alias, the name. `'eta' (learning_rate)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamName {
    /// The name.
    pub name: String,
    /// The name or alias as typed.
    pub typed: String,
}

impl ParamName {
    /// A parameter and what was typed for it.
    pub fn typed(name: &str, typed: &str) -> Self {
        Self { name: name.into(), typed: typed.trim().into() }
    }
}

impl From<&str> for ParamName {
    fn from(name: &str) -> Self {
        Self::typed(name, name)
    }
}

impl fmt::Display for ParamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, typed } = self;
        if normalise(typed) == *name { write!(f, "'{name}'") } else { write!(f, "'{typed}' ({name})") }
    }
}

/// How parameters were typed, for messages. It says nothing about their values, so all are equal.
#[derive(Clone, Debug, Default)]
pub struct Spellings(BTreeMap<&'static str, String>);

impl Spellings {
    /// Remembers what was typed for a parameter.
    pub fn remember(&mut self, name: &'static str, typed: &str) {
        self.0.insert(name, typed.to_owned());
    }

    /// Whether a parameter was typed.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A parameter as typed.
    pub fn of(&self, name: &str) -> ParamName {
        ParamName::typed(name, self.0.get(name).map_or(name, String::as_str))
    }

    /// An error that names its parameter as typed.
    #[must_use]
    pub fn explain(&self, error: ParamError) -> ParamError {
        match error {
            ParamError::OutOfRange { name, value, range } => {
                ParamError::OutOfRange { name: self.of(&name.name), value, range }
            }
            ParamError::Conflict { name, problem } => ParamError::Conflict { name: self.of(&name.name), problem },
            error => error,
        }
    }
}

impl PartialEq for Spellings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The form in which names are compared: lower case, `_` for `-`.
pub fn normalise(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

/// The candidate most similar to `name`, if at most a quarter of the letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = normalise(name);
    let reach = (name.chars().count() / 4).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &normalise(candidate)), candidate))
        .filter(|(distance, _)| *distance <= reach)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_named_with_its_parameter() {
        assert_eq!(ParamName::typed("eta", "Eta ").to_string(), "'eta'");
        assert_eq!(ParamName::typed("learning_rate", "eta").to_string(), "'eta' (learning_rate)");
        let mut spellings = Spellings::default();
        spellings.remember("learning_rate", "eta");
        let told = |name: &str| spellings.explain(ParamError::conflict(name, "too large")).to_string();
        assert_eq!(told("learning_rate"), "parameter 'eta' (learning_rate): too large");
        assert_eq!(told("num_trees"), "parameter 'num_trees': too large");
    }

    #[test]
    fn a_slip_finds_its_name_and_noise_finds_none() {
        let known = ["num_leaves", "learning_rate", "max_bin"];
        assert_eq!(nearest("num-leafs", known), Some("num_leaves"));
        assert_eq!(nearest("lerning_rate", known), Some("learning_rate"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("cat_features", ["sub_feature"]), None);
        // Short names are near only if one letter differs.
        assert_eq!(nearest("out", ["mu"]), None);
        assert_eq!(nearest("data", ["eta"]), None);
        assert_eq!(nearest("eat", ["eta"]), Some("eta"));
    }
}
