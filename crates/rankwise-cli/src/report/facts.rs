//! What was measured: the data, the rules, the parameters.

use std::fmt::Display;

use rankwise::params::Setting;
use rankwise_report::{Block, Cell, Section, Table, Text};

use super::rankings::DataFacts;
use crate::system::StatedRules;
use crate::text;

/// The data of a page.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The files, as typed.
    pub(crate) place: String,
    /// How many queries were judged.
    pub(crate) n_queries: usize,
    pub(crate) data: Option<DataFacts>,
}

impl Facts {
    /// For the head of the page.
    pub(super) fn list(&self) -> Vec<(String, Text)> {
        let mut list = vec![
            ("data".to_owned(), Text::of_name(&self.place)),
            ("queries".to_owned(), text::thousands(self.n_queries as u64).into()),
        ];
        if let Some(data) = &self.data {
            list.push(("documents".into(), text::thousands(data.documents as u64).into()));
            list.push(("features".into(), text::thousands(data.features as u64).into()));
        }
        list
    }

    /// The data in a table.
    pub(super) fn table(&self, what: &str) -> Table {
        let mut table = Table::new([what, "value"]);
        let mut row = |name: &str, value: String| {
            table.rows.push(vec![Cell::Words(name.into()), Cell::Words(Text::of_name(value))]);
        };
        row("files", self.place.clone());
        row("queries", text::thousands(self.n_queries as u64));
        if let Some(data) = &self.data {
            row("documents", text::thousands(data.documents as u64));
            row("features", text::thousands(data.features as u64));
            row("fingerprint", format!("{:032x}", data.fingerprint));
        }
        table
    }
}

/// A list of parameters with their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(pub(crate) Vec<(String, String)>);

impl Parameters {
    /// Adds one.
    pub(crate) fn with(mut self, name: &str, value: &dyn Display) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["parameter", "value"]);
        for (name, value) in &self.0 {
            table.rows.push(vec![Cell::Words(Text::of_name(name)), Cell::Words(Text::of_name(value))]);
        }
        table
    }
}

/// All parameters of training, those that were set first.
pub(super) fn settings(settings: &[Setting]) -> Block {
    let mut table = Table::new(["parameter", "value", ""]);
    let (set, default): (Vec<&Setting>, Vec<&Setting>) = settings.iter().partition(|setting| !setting.is_default);
    let n_set = set.len();
    for setting in set.into_iter().chain(default) {
        let value = if setting.value.is_empty() { "-".into() } else { Text::of_name(&setting.value) };
        let remark = if setting.is_default { "default" } else { "set" };
        table.rows.push(vec![
            Cell::Words(Text::plain(setting.name)),
            Cell::Words(value),
            Cell::Words(Text::plain(remark)),
        ]);
    }
    Block::Folded(format!("All {} parameters of training, {n_set} of them set", settings.len()).into(), table)
}

/// Rules, parameters and data.
pub(super) fn section(rules: &StatedRules, parameters: &Parameters) -> Section {
    let mut table = Table::new(["rule", "value"]);
    for (name, value) in &rules.entries {
        table.rows.push(vec![Cell::Words(Text::plain(*name)), Cell::Words(Text::plain(value))]);
    }
    let mut section = Section::new("rules", "Rules, parameters and data")
        .text("What a metric means depends on these rules; other programs may choose others.")
        .block(Block::Table(table));
    if !parameters.0.is_empty() {
        section = section.block(Block::Table(parameters.table()));
    }
    section
}

/// The command that makes the page again.
pub(super) fn command() -> Block {
    let quoted = |word: String| {
        let is_plain = |char: char| char.is_alphanumeric() || "/\\._-+:~@%=,".contains(char);
        if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    let line = std::iter::once("rankwise".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    Block::Printed("The command".into(), line)
}
