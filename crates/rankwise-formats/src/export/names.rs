//! Feature names for targets that identify features by name.

use std::collections::BTreeMap;

use rankwise_model::Model;

use super::{ExportError, ExportOptions, Target};

/// Unique names of the model's features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    by_id: BTreeMap<u32, String>,
}

impl Names {
    pub(crate) fn new(model: &Model, target: Target, options: &ExportOptions) -> Result<Self, ExportError> {
        if !target.has_names() {
            return if options.names.is_empty() {
                Ok(Self::default())
            } else {
                Err(ExportError::NamesUnused { target })
            };
        }
        let mut by_id = BTreeMap::new();
        let mut ids = BTreeMap::new();
        for (place, feature) in model.features().iter().copied().enumerate() {
            let name = if options.names.is_empty() {
                model.feature_names().get(place).cloned().unwrap_or_else(|| format!("f{feature}"))
            } else {
                options.names.get(&feature).cloned().ok_or(ExportError::Nameless { feature })?
            };
            if ids.insert(name.clone(), feature).is_some() {
                return Err(ExportError::Name { target, feature, name, problem: "another feature has this name" });
            }
            by_id.insert(feature, name);
        }
        Ok(Self { by_id })
    }

    /// The name of a feature of the model.
    pub(crate) fn of(&self, feature: u32) -> &str {
        self.by_id.get(&feature).map_or("", String::as_str)
    }

    /// All names, by ascending id.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(String::as_str)
    }

    /// The feature with this name.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.by_id.iter().find(|(_, known)| *known == name).map(|(feature, _)| *feature)
    }
}
