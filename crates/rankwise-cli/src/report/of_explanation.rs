//! The page of `rankwise explain`.

use rankwise::data::Dataset;
use rankwise::model::Model;
use rankwise_report::{Block, Report, Section, Text};

use super::{DataFacts, Facts, ModelFacts, ReportArgs, facts, footer};
use crate::output::Output;
use crate::text;

/// What a page about a model's reasons is made from.
pub(crate) struct ExplanationPage<'a> {
    pub(crate) model: &'a Model,
    pub(crate) name: String,
    /// The data and where it is.
    pub(crate) data: Option<(String, &'a Dataset)>,
    pub(crate) sections: Vec<Section>,
}

impl ExplanationPage<'_> {
    fn page(&self) -> Report {
        let headline = Text::of_name(&self.name);
        let headline = match &self.data {
            Some((_, data)) => headline.then(format!(", explained on {}", text::documents(data))),
            None => headline.then(": what the model relies on"),
        };
        let mut page = Report::new("rankwise explain", headline);
        page.footer = footer();
        let mut made = Section::new("made", "How this page was made");
        if let Some((place, data)) = &self.data {
            let facts = Facts { place: place.clone(), n_queries: data.n_queries(), data: Some(DataFacts::new(data)) };
            page.facts = facts.list();
            made = made.block(Block::Table(facts.table("data")));
        }
        for section in &self.sections {
            page = page.section(section.clone());
        }
        let model = ModelFacts::new(self.name.clone(), self.model);
        page = page.section(Section::new("model", "The model").block(Block::Table(model.table())));
        page.section(made.block(facts::command()))
    }

    /// Writes the page and its plots, if they were asked for.
    pub(crate) fn write(&self, args: &ReportArgs, output: Output) -> anyhow::Result<()> {
        if args.is_wanted() { args.write_and_tell(&self.page(), output) } else { Ok(()) }
    }
}
