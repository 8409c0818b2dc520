//! What a page says.

use crate::{Plot, Text};

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What made it, such as `rankwise compare`.
    pub origin: String,
    /// The result in words.
    pub headline: Text,
    /// What qualifies the headline.
    pub lead: Vec<Text>,
    /// What was measured: a few names with their values.
    pub facts: Vec<(String, Text)>,
    /// The parts, in order.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its address in the page: lower-case letters and hyphens.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(Text),
    /// A smaller heading.
    Heading(Text),
    /// A table.
    Table(Table),
    /// A table that is opened by a click.
    Folded(Text, Table),
    /// Plots; two and more that are small stand side by side where there is room.
    Figures(Vec<Figure>),
    /// Rankings of a query side by side, opened by a click.
    Showdown(Showdown),
    /// Text exactly as it was printed.
    Printed(Text, String),
}

/// A plot with its table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it shows.
    pub title: Text,
    /// How to read it.
    pub note: Text,
    /// The plot.
    pub plot: Plot,
    /// The same as numbers.
    pub table: Table,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A number or an interval, aligned to the right.
    Number(String),
    /// Words.
    Words(Text),
}

/// The rankings of one query by several systems.
#[derive(Clone, Debug)]
pub struct Showdown {
    /// The query and what happened to it.
    pub title: Text,
    /// Whether it is open from the start.
    pub is_open: bool,
    /// The rankings, side by side.
    pub sides: Vec<Ranking>,
}

/// How a system ranks the documents of a query.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The system.
    pub title: Text,
    /// Its first documents.
    pub docs: Vec<Listed>,
    /// What is not listed.
    pub more: String,
}

/// A ranked document.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its rank.
    pub rank: String,
    /// Its label; `None` if it was not judged.
    pub grade: Option<String>,
    /// How relevant that is, from 0 to 1.
    pub relevance: f64,
    /// Its name.
    pub name: String,
    /// Where others place it.
    pub remark: String,
}

impl Report {
    /// A page without sections.
    pub fn new(origin: impl Into<String>, headline: Text) -> Self {
        Self { origin: origin.into(), headline, ..Self::default() }
    }

    /// Adds a section, unless it is empty.
    pub fn section(mut self, section: Section) -> Self {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
        self
    }

    /// All plots.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| if let Block::Figures(figures) = block { Some(figures) } else { None }).flatten()
    }
}

impl Section {
    /// A section without content.
    pub fn new(id: &str, title: &str) -> Self {
        Self { id: id.into(), title: title.into(), blocks: Vec::new() }
    }

    /// Adds a block.
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds a paragraph, unless it is empty.
    pub fn text(mut self, text: impl Into<Text>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.blocks.push(Block::Text(text));
        }
        self
    }
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row: its first cell is a name, the others are numbers.
    pub fn row<T: Into<String>>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        self.push(cells);
        self
    }

    /// Adds a row: its first cell is a name, the others are numbers.
    pub fn push<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cell = |(idx, text): (usize, T)| match idx {
            0 => Cell::Words(Text::of_name(text)),
            _ => Cell::Number(text.into()),
        };
        self.rows.push(cells.into_iter().enumerate().map(cell).collect());
    }
}
