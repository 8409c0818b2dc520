//! The page: one file with its style inside, without scripts and without addresses.

use std::fmt::Write as _;

use crate::content::{Block, Cell, Figure, Listed, Ranking, Showdown, Table};
use crate::html::{escaped, push_name};
use crate::plot::{self, Width};
use crate::{Plot, Report, Section, Text};

const STYLE: &str = include_str!("page.css");
/// The number of shades of relevant documents.
const SHADES: f64 = 4.0;
/// The page may load nothing and run nothing, whatever gets into it.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

impl Report {
    /// The page.
    pub fn to_html(&self) -> String {
        let [light, dark] = plot::style();
        let mut out = String::with_capacity(1 << 16);
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n\
             <style>\n:root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{STYLE}</style>\n\
             </head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n",
            escaped(&self.headline.words())
        );
        self.header(&mut out);
        out.push_str("<main id=\"main\">\n");
        for section in &self.sections {
            push_section(&mut out, section);
        }
        out.push_str("</main>\n");
        if !self.footer.is_empty() {
            let _ = writeln!(out, "<footer>{}</footer>", escaped(&self.footer));
        }
        out.push_str("</body>\n</html>\n");
        out
    }

    fn header(&self, out: &mut String) {
        let _ = write!(
            out,
            "<header>\n<p class=\"origin\">{}</p>\n<h1>{}</h1>\n",
            escaped(&self.origin),
            self.headline.html()
        );
        for text in &self.lead {
            let _ = writeln!(out, "<p class=\"lead\">{}</p>", text.html());
        }
        if !self.facts.is_empty() {
            out.push_str("<dl class=\"facts\">\n");
            for (name, value) in &self.facts {
                let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), value.html());
            }
            out.push_str("</dl>\n");
        }
        if self.sections.len() > 1 {
            out.push_str("<nav aria-label=\"Contents\">\n");
            for section in &self.sections {
                let _ = writeln!(out, "<a href=\"#{}\">{}</a>", escaped(&section.id), escaped(&section.title));
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n");
    }
}

fn push_section(out: &mut String, section: &Section) {
    let _ = writeln!(out, "<section id=\"{}\">\n<h2>{}</h2>", escaped(&section.id), escaped(&section.title));
    for block in &section.blocks {
        match block {
            Block::Text(text) => {
                let _ = writeln!(out, "<p>{}</p>", text.html());
            }
            Block::Heading(text) => {
                let _ = writeln!(out, "<h3>{}</h3>", text.html());
            }
            Block::Table(table) => push_table(out, table, &section.title),
            Block::Folded(summary, table) => {
                let _ = writeln!(out, "<details><summary>{}</summary>", summary.html());
                push_table(out, table, &summary.words());
                out.push_str("</details>\n");
            }
            Block::Figures(figures) => push_figures(out, figures),
            Block::Showdown(showdown) => push_showdown(out, showdown),
            Block::Printed(title, text) => {
                let _ = writeln!(
                    out,
                    "<details><summary>{}</summary><pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</pre></details>",
                    title.html(),
                    escaped(&title.words()),
                    escaped(text)
                );
            }
        }
    }
    out.push_str("</section>\n");
}

/// Lines of several systems stand side by side if there are several plots.
fn push_figures(out: &mut String, figures: &[Figure]) {
    let is_pair = figures.len() > 1 && figures.iter().all(|figure| matches!(figure.plot, Plot::Lines(_)));
    if is_pair {
        out.push_str("<div class=\"pair\">\n");
    }
    for figure in figures {
        push_figure(out, figure, is_pair);
    }
    if is_pair {
        out.push_str("</div>\n");
    }
}

fn push_figure(out: &mut String, figure: &Figure, is_small: bool) {
    let _ = writeln!(out, "<figure>\n<figcaption>{}</figcaption>", figure.title.html());
    if figure.plot.is_empty() {
        out.push_str("<p class=\"note\">There is nothing to show.</p>\n");
    } else if is_small {
        let _ = writeln!(out, "{}", figure.plot.in_page(Width::Narrow, &figure.title.words()));
    } else {
        for (class, width) in [("wide", Width::Wide), ("narrow", Width::Narrow)] {
            let svg = figure.plot.in_page(width, &figure.title.words());
            let _ = writeln!(out, "<div class=\"{class}\">{svg}</div>");
        }
    }
    if !figure.note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", figure.note.html());
    }
    if !figure.table.rows.is_empty() {
        out.push_str("<details><summary>Table</summary>\n");
        push_table(out, &figure.table, &figure.title.words());
        out.push_str("</details>\n");
    }
    out.push_str("</figure>\n");
}

/// A table in a frame of its own, which the keyboard can scroll if it is wide.
fn push_table(out: &mut String, table: &Table, label: &str) {
    let _ = writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n<thead><tr>",
        escaped(label)
    );
    let is_number = |column: usize| table.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Number(_))));
    for (column, name) in table.head.iter().enumerate() {
        let class = if is_number(column) { " class=\"n\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>");
        push_name(out, name);
        out.push_str("</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            match cell {
                Cell::Number(text) => {
                    let _ = write!(out, "<td class=\"n\">{}</td>", escaped(text));
                }
                Cell::Words(text) => {
                    let _ = write!(out, "<td>{}</td>", text.html());
                }
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn push_showdown(out: &mut String, showdown: &Showdown) {
    let open = if showdown.is_open { " open" } else { "" };
    let _ = writeln!(
        out,
        "<details class=\"showdown\"{open}><summary>{}</summary>\n<div class=\"sides\">",
        showdown.title.html()
    );
    for side in &showdown.sides {
        push_ranking(out, side);
    }
    out.push_str("</div>\n</details>\n");
}

fn push_ranking(out: &mut String, ranking: &Ranking) {
    let _ = writeln!(out, "<div>\n<h4>{}</h4>\n<ol>", ranking.title.html());
    for doc in &ranking.docs {
        push_doc(out, doc);
    }
    out.push_str("</ol>\n");
    if !ranking.more.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&ranking.more));
    }
    out.push_str("</div>\n");
}

fn push_doc(out: &mut String, doc: &Listed) {
    let (class, grade) = match &doc.grade {
        Some(grade) => ((doc.relevance.clamp(0.0, 1.0) * SHADES).ceil() as usize, grade.as_str()),
        None => (0, "?"),
    };
    let _ = write!(
        out,
        "<li><span class=\"rank\">{}</span><span class=\"grade g{class}\" title=\"label\">{}</span><span class=\"doc\">",
        escaped(&doc.rank),
        escaped(grade)
    );
    push_name(out, &doc.name);
    out.push_str("</span>");
    if !doc.remark.is_empty() {
        let _ = write!(out, "<span class=\"remark\">{}</span>", escaped(&doc.remark));
    }
    out.push_str("</li>\n");
}

impl Figure {
    /// A figure without a note.
    pub fn new(name: impl Into<String>, title: impl Into<Text>, plot: Plot, table: Table) -> Self {
        Self { name: name.into(), title: title.into(), note: Text::default(), plot, table }
    }

    /// Says how to read it.
    pub fn note(mut self, note: impl Into<Text>) -> Self {
        self.note = note.into();
        self
    }

    /// The plot as a file of its own.
    pub fn to_svg(&self) -> String {
        self.plot.to_svg(&self.title.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x\u{202e}\u{0}";

    fn hostile(text: &str) -> Report {
        let name = || Text::of_name(text);
        let table = || Table::new([text, "n"]).row([text, "1"]);
        let plot = Plot::Bars(crate::Bars {
            label: text.into(),
            bars: vec![crate::Bar { name: text.into(), value: 1.0, shown: text.into() }],
        });
        let doc = Listed {
            rank: "1".into(),
            grade: Some(text.into()),
            relevance: 0.5,
            name: text.into(),
            remark: text.into(),
        };
        let ranking = Ranking { title: name(), docs: vec![doc], more: text.into() };
        let showdown = Showdown { title: name(), is_open: true, sides: vec![ranking.clone(), ranking] };
        let section = Section::new("a", text)
            .text(name())
            .block(Block::Heading(name()))
            .block(Block::Table(table()))
            .block(Block::Folded(name(), table()))
            .block(Block::Figures(vec![Figure::new("f", name(), plot, table()).note(name())]))
            .block(Block::Showdown(showdown))
            .block(Block::Printed(name(), text.into()));
        let mut report = Report::new(text, name()).section(section.clone()).section(section);
        report.lead.push(name());
        report.facts.push((text.into(), name()));
        report.footer = text.into();
        report
    }

    #[test]
    fn nothing_in_a_name_becomes_markup() {
        let html = hostile(HOSTILE).to_html();
        assert_eq!(html.matches("<script").count(), 0, "{html}");
        assert_eq!(html.matches("<img").count(), 0);
        assert_eq!(html.matches("</title></style>").count(), 0);
        assert!(!html.contains('\u{202e}') || !html.contains("<bdi>\u{202e}"), "{html}");
        assert!(!html.contains('\u{0}'));
        // Attributes end where they should: the same tags as for a harmless name.
        let tags = |html: &str| html.matches('<').count();
        assert_eq!(tags(&html), tags(&hostile(&"x".repeat(HOSTILE.chars().count())).to_html()));
    }

    #[test]
    fn long_names_do_not_make_long_pages() {
        let page = |text: &str| {
            let mut report = Report::new("rankwise", Text::of_name(text));
            let mut table = Table::new(["query", "value"]);
            (0..100).for_each(|_| table.push([text, "1"]));
            report = report.section(Section::new("a", "A").block(Block::Table(table)));
            report.to_html().len()
        };
        assert!(page(&"n".repeat(10_000)) < page("n") + 101 * 800);
    }

    #[test]
    fn nothing_is_loaded() {
        let html = hostile("q").to_html();
        for word in ["http://", "https://", "src=", "url(", "@import", "javascript:"] {
            assert!(!html.contains(word), "{word}");
        }
        for (at, _) in html.match_indices("href=\"") {
            let target = &html[at + 6..];
            assert!(target.starts_with('#') || target.starts_with("data:,\""), "{}", &target[..30]);
        }
    }

    #[test]
    fn an_empty_report_is_a_page() {
        let html = Report::default().to_html();
        assert!(html.contains("<h1></h1>") && html.ends_with("</html>\n"));
    }
}
