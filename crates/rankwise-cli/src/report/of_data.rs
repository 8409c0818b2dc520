//! The page of `rankwise inspect`.

use rankwise::data::{Dataset, ValueBar, bars};
use rankwise_report::{Bar, Bars, Block, Cell, Figure, Plot, Report, Section, Table, Text};

use super::{DataFacts, Facts, facts, footer, tables};
use crate::command::inspect::drift::Drift;
use crate::command::inspect::profile::Profile;
use crate::text;

/// What a page about data is made from.
pub(crate) struct DataPage<'a> {
    pub(crate) place: String,
    pub(crate) data: &'a Dataset,
    pub(crate) labels: Vec<f64>,
    /// The number of documents of each query.
    pub(crate) sizes: Vec<f64>,
    /// The printed summary: names with their values.
    pub(crate) summary: Vec<(String, String)>,
    pub(crate) profile: &'a Profile,
    pub(crate) drift: Option<&'a Drift>,
}

impl DataPage<'_> {
    pub(crate) fn page(&self) -> Report {
        let facts = Facts {
            place: self.place.clone(),
            n_queries: self.data.n_queries(),
            data: Some(DataFacts::new(self.data)),
        };
        let mut page = Report::new(
            "rankwise inspect",
            Text::of_name(&self.place).then(format!(": {}", text::documents(self.data))),
        );
        page.lead = self.profile.findings().iter().map(|found| Text::of_name(tables::sentence(found))).collect();
        page.facts = facts.list();
        page.footer = footer();
        let mut summary = Table::new(["what", "value"]);
        for (name, value) in &self.summary {
            // Names of columns are from the data; numbers with their words are ours.
            let is_ours = name != "columns" && name != "features";
            let value = if is_ours { Text::plain(value) } else { Text::of_name(value) };
            summary.rows.push(vec![Cell::Words(Text::plain(name)), Cell::Words(value)]);
        }
        let sorted = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            bars(&values)
        };
        let figures = vec![
            distribution("labels", "Labels".into(), "documents", &sorted(&self.labels)),
            distribution("list-lengths", "Documents of a query".into(), "queries", &sorted(&self.sizes)),
        ];
        let overview =
            Section::new("overview", "Queries and labels").block(Block::Table(summary)).block(Block::Figures(figures));
        page = page.section(overview);
        for section in self.profile.sections() {
            page = page.section(section);
        }
        if let Some(drift) = self.drift {
            page = page.section(drift.section());
        }
        page.section(Section::new("made", "How this page was made").block(facts::command()))
    }
}

/// A plot of a distribution.
pub(crate) fn distribution(name: impl Into<String>, title: Text, what: &str, bars: &[ValueBar]) -> Figure {
    let mut table = Table::new(["value", what]);
    let range = |bar: &ValueBar| {
        if bar.low == bar.high {
            text::number(bar.low)
        } else {
            format!("{} to {}", text::number(bar.low), text::number(bar.high))
        }
    };
    for bar in bars {
        table.push([range(bar), text::thousands(bar.count as u64)]);
    }
    let shown =
        |bar: &ValueBar| Bar { name: range(bar), value: bar.count as f64, shown: text::thousands(bar.count as u64) };
    let plot = Plot::Bars(Bars { label: what.into(), bars: bars.iter().map(shown).collect() });
    Figure::new(name, title, plot, table)
}
