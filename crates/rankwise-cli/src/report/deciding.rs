//! The queries that decide: won most, lost most, ranked worst; with their documents side by side.

use rankwise_report::{Block, Listed, Ranking, Showdown, Text};

use super::rankings::{Doc, LISTED, Rankings};
use crate::text;

/// The number of queries of each kind.
pub(crate) const DECIDING: usize = 5;

/// What a page needs to know of the judgements.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) rankings: &'a Rankings,
    /// The number of documents of each query.
    pub(crate) n_docs: &'a [usize],
}

/// Two rankings of a query.
pub(super) struct Duel<'a> {
    pub(super) query: usize,
    pub(super) qid: &'a str,
    /// The systems, with the values of their metric.
    pub(super) systems: [(usize, &'a str, Option<f64>); 2],
    pub(super) metric: &'a str,
    pub(super) difference: f64,
}

impl Judged<'_> {
    /// How two systems rank the documents of a query.
    pub(super) fn duel(&self, duel: &Duel<'_>, is_open: bool) -> Block {
        let title =
            Text::plain("Query ").name(duel.qid).then(": ").strong(format!("{:+.4}", duel.difference)).then(format!(
                " {}, {}, {} relevant",
                duel.metric,
                text::count(self.n_docs[duel.query], "document"),
                self.rankings.n_relevant[duel.query]
            ));
        let side = |this: usize| {
            let (system, name, value) = duel.systems[this];
            let (other, ..) = duel.systems[1 - this];
            let docs = &self.rankings.systems[system].first[duel.query];
            let listed = |(idx, doc): (usize, &Doc)| {
                let there = self.rankings.rank_of(doc, duel.query, other);
                let remark = match there {
                    None => "not there".to_owned(),
                    Some(rank) if rank > idx + 1 => format!("▲ {rank}"),
                    Some(rank) if rank < idx + 1 => format!("▼ {rank}"),
                    Some(rank) => format!("= {rank}"),
                };
                self.listed(doc, idx, remark)
            };
            Ranking {
                title: Text::of_name(name).then(format!(" {}", text::mean(value))),
                docs: docs.iter().enumerate().map(listed).collect(),
                more: self.more(duel.query, system, docs.len()),
            }
        };
        Block::Showdown(Showdown { title, is_open, sides: vec![side(0), side(1)] })
    }

    /// How the only system ranks the documents of a query, and the best order of those documents.
    pub(super) fn beside_ideal(
        &self,
        query: usize,
        qid: &str,
        name: &str,
        metric: (&str, f64),
        is_open: bool,
    ) -> Block {
        let (metric, value) = metric;
        let title = Text::plain("Query ").name(qid).then(": ").strong(format!("{metric} {value:.4}")).then(format!(
            ", {}, {} relevant",
            text::count(self.n_docs[query], "document"),
            self.rankings.n_relevant[query]
        ));
        let own = &self.rankings.systems[0].first[query];
        let (best, n_missed) = &self.rankings.ideal[query];
        let mut more = self.more(query, 0, own.len());
        let own = Ranking {
            title: Text::of_name(name),
            docs: own.iter().enumerate().map(|(idx, doc)| self.listed(doc, idx, String::new())).collect(),
            more: more.clone(),
        };
        if *n_missed > 0 {
            let missed = format!("{} not returned", text::count(*n_missed, "relevant document"));
            more = if more.is_empty() { missed } else { format!("{more}; {missed}") };
        }
        let listed = |(idx, doc): (usize, &Doc)| {
            let rank = self.rankings.rank_of(doc, query, 0);
            self.listed(doc, idx, rank.map_or_else(String::new, |rank| format!("ranked {rank}")))
        };
        let best =
            Ranking { title: "best possible order".into(), docs: best.iter().enumerate().map(listed).collect(), more };
        Block::Showdown(Showdown { title, is_open, sides: vec![own, best] })
    }

    fn listed(&self, doc: &Doc, idx: usize, remark: String) -> Listed {
        let label = doc.label.unwrap_or(0.0);
        Listed {
            rank: (idx + 1).to_string(),
            grade: doc.label.map(|label| label.to_string()),
            relevance: if label > 0.0 { f64::from(label / self.largest_label()) } else { 0.0 },
            name: doc.name.clone(),
            remark,
        }
    }

    /// The largest label of all documents.
    fn largest_label(&self) -> f32 {
        let first = self.rankings.systems.first();
        let bits = first.filter(|system| !system.is_merged).and_then(|system| system.grades.keys().next_back());
        bits.map_or(f32::MAX, |bits| f32::from_bits(*bits))
    }

    fn more(&self, query: usize, system: usize, n_listed: usize) -> String {
        match self.rankings.n_docs(query, system) {
            0 => "no documents".into(),
            n_docs if n_docs > n_listed => {
                format!("and {} more", text::thousands((n_docs - n_listed.min(LISTED)) as u64))
            }
            _ => String::new(),
        }
    }
}

/// How to read the lists.
pub(super) const DUEL_NOTE: &str = "The coloured number is the label; the one on the right is the rank in the other list, with ▲ if the document stands \
     higher here.";
