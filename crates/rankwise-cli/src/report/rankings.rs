//! What a system did with the documents of each query, as far as a page shows it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use rankwise::data::Documents;
use rankwise::metrics::{Measures, RankedList, Results};

/// The number of documents of a query that a page lists.
pub(crate) const LISTED: usize = 10;
/// The number of ranks at which relevant documents are counted.
const DEPTH: usize = 1000;
/// With more labels, all relevant documents count as one grade.
const MAX_GRADES: usize = 6;
/// Longer ids are cut in their middle.
const MAX_ID: usize = 2000;

/// The rankings of all systems.
#[derive(Debug, Default)]
pub(crate) struct Rankings {
    /// In the order of the systems.
    pub(crate) systems: Vec<SystemRankings>,
    /// The number of relevant documents of each query.
    pub(crate) n_relevant: Vec<usize>,
    /// The best possible first documents of each query, if there is one system, and how many relevant ones it did not return.
    pub(crate) ideal: Vec<(Vec<Doc>, usize)>,
    pub(crate) data: Option<DataFacts>,
    /// Whether documents are known by their ids, because there are runs.
    by_id: bool,
    is_single: bool,
}

/// What the data is.
#[derive(Clone, Debug)]
pub(crate) struct DataFacts {
    pub(crate) documents: usize,
    pub(crate) queries: usize,
    pub(crate) features: usize,
    pub(crate) fingerprint: u128,
}

impl DataFacts {
    pub(crate) fn new(data: &Documents) -> Self {
        Self {
            documents: data.n_rows(),
            queries: data.n_queries(),
            features: data.n_features(),
            fingerprint: data.fingerprint(),
        }
    }
}

/// The rankings of one system.
#[derive(Debug, Default)]
pub(crate) struct SystemRankings {
    /// The first documents of each query.
    pub(crate) first: Vec<Vec<Doc>>,
    /// Where the documents of each label above 0 are, by the bits of the label.
    pub(crate) grades: BTreeMap<u32, Placement>,
    /// Whether all relevant labels were counted as one.
    pub(crate) is_merged: bool,
    /// The documents of query `q` in rank order: `order[bounds[q]..bounds[q + 1]]`.
    order: Vec<u64>,
    bounds: Vec<usize>,
}

/// A document that a page may list.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) name: String,
    /// `None` if it was not judged.
    pub(crate) label: Option<f32>,
    key: u64,
}

/// Where documents end up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    /// How many are at each of the first ranks; fractions if ties are averaged.
    pub(crate) at: Vec<f64>,
    /// How many there are, found or not.
    pub(crate) total: f64,
}

impl Placement {
    fn add(&mut self, rank: usize, share: f64) {
        if rank < DEPTH {
            if self.at.len() <= rank {
                self.at.resize(rank + 1, 0.0);
            }
            self.at[rank] += share;
        }
    }

    fn merge(&mut self, other: &Self) {
        for (rank, share) in other.at.iter().enumerate() {
            self.add(rank, *share);
        }
        self.total += other.total;
    }
}

impl Rankings {
    /// No rankings yet.
    pub(crate) fn new(n_systems: usize, has_runs: bool) -> Self {
        Self { by_id: has_runs, is_single: n_systems == 1, ..Self::default() }
    }

    /// Adds the rankings of the next system.
    pub(crate) fn add(&mut self, measures: &Measures, results: &Results<'_>) {
        let is_first = self.systems.is_empty();
        if let (true, Results::CanonicalScores { data, .. }) = (self.data.is_none(), results) {
            self.data = Some(DataFacts::new(data));
        }
        let mut system = SystemRankings { bounds: vec![0], ..SystemRankings::default() };
        let by_id = self.by_id;
        measures.for_each_ranking(results, |_, list| {
            system.add(list, by_id);
            if is_first {
                self.n_relevant.push(list.n_relevant);
            }
            if self.is_single {
                let n_missed = list.query.missed.iter().filter(|label| list.is_relevant(**label)).count();
                self.ideal.push((ideal(list, by_id), n_missed));
            }
        });
        self.systems.push(system);
    }

    /// The rank of a document in the list of a system, from 1.
    pub(crate) fn rank_of(&self, doc: &Doc, query: usize, system: usize) -> Option<usize> {
        let SystemRankings { order, bounds, .. } = &self.systems[system];
        order[bounds[query]..bounds[query + 1]].iter().position(|key| *key == doc.key).map(|rank| rank + 1)
    }

    /// The number of documents that a system returned.
    pub(crate) fn n_docs(&self, query: usize, system: usize) -> usize {
        let bounds = &self.systems[system].bounds;
        bounds[query + 1] - bounds[query]
    }
}

impl SystemRankings {
    fn add(&mut self, list: &RankedList<'_>, by_id: bool) {
        let query = list.query;
        self.order.extend(list.order.iter().map(|doc| key(list, *doc as usize, by_id)));
        self.bounds.push(self.order.len());
        let shown = list.order.iter().take(LISTED);
        self.first.push(shown.map(|doc| Doc::new(list, *doc as usize, by_id)).collect());
        for group in list.groups() {
            let share = 1.0 / group.len() as f64;
            for rank in group.clone() {
                let label = list.labels[rank];
                if label > 0.0 {
                    let placement = self.placement(label);
                    placement.total += 1.0;
                    group.clone().for_each(|rank| placement.add(rank, share));
                }
            }
        }
        for label in query.missed.iter().filter(|label| **label > 0.0) {
            self.placement(*label).total += 1.0;
        }
    }

    fn placement(&mut self, label: f32) -> &mut Placement {
        let bits = if self.is_merged { 0 } else { label.to_bits() };
        if !self.is_merged && self.grades.len() == MAX_GRADES && !self.grades.contains_key(&bits) {
            let mut all = Placement::default();
            self.grades.values().for_each(|placement| all.merge(placement));
            self.grades = BTreeMap::from([(0, all)]);
            self.is_merged = true;
            return self.placement(label);
        }
        self.grades.entry(bits).or_default()
    }
}

impl Doc {
    fn new(list: &RankedList<'_>, doc: usize, by_id: bool) -> Self {
        let query = list.query;
        let is_judged = query.judged.is_none_or(|judged| judged[doc]);
        let name = match query.doc_id(doc) {
            "" => format!("row {}", query.places[doc] + 1),
            id => shortened(id),
        };
        Self { name, label: is_judged.then(|| query.labels[doc]), key: key(list, doc, by_id) }
    }
}

/// Ids may have any length; a page shows little of them.
fn shortened(id: &str) -> String {
    if id.len() <= MAX_ID {
        return id.to_owned();
    }
    let first = id.floor_char_boundary(MAX_ID / 2);
    let last = id.ceil_char_boundary(id.len() - MAX_ID / 2);
    format!("{}…{}", &id[..first], &id[last..])
}

/// What systems know a document by: its row, or its id if a system is a run.
fn key(list: &RankedList<'_>, doc: usize, by_id: bool) -> u64 {
    if !by_id {
        return list.query.places[doc].into();
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(list.query.doc_id(doc).as_bytes());
    hasher.finish()
}

/// The documents by descending label, those of equal labels as the system ranks them.
fn ideal(list: &RankedList<'_>, by_id: bool) -> Vec<Doc> {
    let mut order = list.order.to_vec();
    order.sort_by(|a, b| list.query.labels[*b as usize].total_cmp(&list.query.labels[*a as usize]));
    order.into_iter().take(LISTED).map(|doc| Doc::new(list, doc as usize, by_id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_labels_become_one_grade() {
        let mut system = SystemRankings::default();
        for label in 1..=20u8 {
            let placement = system.placement(f32::from(label));
            placement.total += 1.0;
            placement.add(usize::from(label), 1.0);
        }
        assert!(system.is_merged && system.grades.len() == 1);
        let all = &system.grades[&0];
        assert_eq!((all.total, all.at.iter().sum::<f64>()), (20.0, 20.0));
    }

    #[test]
    fn long_ids_are_cut_between_characters() {
        let id = "ä".repeat(5000);
        assert!(shortened(&id).len() <= MAX_ID + 8 && shortened(&id).contains('…'));
        assert_eq!(shortened("d1"), "d1");
    }
}
