//! Realistic ranking data from a seed, the same on every machine.
//!
//! A [`Preset`] is a population: what the features mean, what queries look for, and what makes a document relevant. All
//! of that is fixed. The seed selects queries and documents from the population, so a model trained on one seed can be
//! tested on another. Each query is a pure function of the seed and its number: callers can generate queries in any
//! order, on any thread, one at a time.
//!
//! * `web`: searches with 136 dense features similar to MSLR-WEB30K, computed from simulated term counts (`streams`)
//!   and properties of pages (`page`).
//! * `long`, `wide` (`factors`): long lists of candidates, and wide, mostly empty records.
//!
//! Relevance depends on latent factors that the features show only in part, with interactions, thresholds and noise: a
//! good ranker must combine many features, and none is perfect. This module knows nothing of files.

mod factors;
mod noise;
mod page;
mod streams;
mod web;

use rankwise_params::param_enum;
use rayon::prelude::*;

use self::factors::{FactorQuery, Factors};
use self::noise::Noise;
use self::web::{Web, WebQuery};
use crate::{Dataset, DatasetBuilder, Draw, Purpose, RowBlock, RowKey};

/// The limit of a [`Dataset`].
pub const MAX_ROWS: usize = 1 << 30;
/// With more, one row would take milliseconds; it must be a mistake.
pub const MAX_FEATURES: usize = 1_000_000;
/// Number of rows in a block: enough work for a task, yet enough blocks for all threads.
const BLOCK_ROWS: usize = 8192;

param_enum! {
    /// Which population synthetic data come from.
    pub enum Preset {
        /// Web search: about 120 documents a query, 136 dense features, grades 0 to 4.
        Web = "web",
        /// Candidates of a first stage: about 2,500 documents a query, 60 features, two in a thousand relevant, grades 0 to 4.
        Long = "long",
        /// Records: about 40 documents a query, 2,000 features of which most are missing, grades 0 to 4.
        Wide = "wide",
    }
}

impl Preset {
    /// The default number of features.
    pub fn default_features(self) -> usize {
        match self {
            Self::Web => web::ROUND,
            Self::Long => 60,
            Self::Wide => 2000,
        }
    }
}

/// A request for synthetic data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthSpec {
    /// The population.
    pub preset: Preset,
    /// The number of documents; the last query is shortened to match it exactly.
    pub rows: usize,
    /// The number of features, or `None` for the default of the preset.
    pub features: Option<usize>,
    /// Selects queries and documents from the population.
    pub seed: u64,
}

/// An invalid request for synthetic data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SynthError {
    /// No rows, or more than a dataset can hold.
    #[error("invalid number of rows, {rows}; give 1 to {MAX_ROWS}")]
    Rows {
        /// The requested number.
        rows: usize,
    },
    /// No features, or far too many.
    #[error("invalid number of features, {features}; give 1 to {MAX_FEATURES}")]
    Features {
        /// The requested number.
        features: usize,
    },
    /// Fewer queries than parts.
    #[error("there are fewer queries ({queries}) than parts ({parts}); generate more rows, or use fewer parts")]
    Split {
        /// The number of queries.
        queries: usize,
        /// The number of parts with a positive share.
        parts: usize,
    },
}

impl SynthSpec {
    /// Checks the request and prepares the population.
    pub fn check(&self) -> Result<Synth, SynthError> {
        let n_features = self.features.unwrap_or(self.preset.default_features());
        if !(1..=MAX_ROWS).contains(&self.rows) {
            return Err(SynthError::Rows { rows: self.rows });
        }
        if !(1..=MAX_FEATURES).contains(&n_features) {
            return Err(SynthError::Features { features: n_features });
        }
        let population = match self.preset {
            Preset::Web => Population::Web(Web::new(n_features)),
            Preset::Long => Population::Factors(Factors::new(&factors::LONG, n_features)),
            Preset::Wide => Population::Factors(Factors::new(&factors::WIDE, n_features)),
        };
        let mut starts = vec![0];
        let mut n_rows = 0;
        while n_rows < self.rows {
            let normal = Noise::of_query(self.seed, starts.len() - 1, 0).normal();
            n_rows = (n_rows + population.query_size(normal)).min(self.rows);
            starts.push(n_rows as u32);
        }
        Ok(Synth { seed: self.seed, n_features, starts, population })
    }
}

/// Synthetic data, generated query by query.
#[derive(Debug)]
pub struct Synth {
    seed: u64,
    n_features: usize,
    /// Query `q` holds documents `starts[q]..starts[q + 1]` of all.
    starts: Vec<u32>,
    population: Population,
}

/// One query with its documents.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthQuery {
    /// Its id: its number, from 1, because some readers accept only integers.
    pub qid: String,
    /// Its documents.
    pub docs: Vec<SynthDoc>,
}

/// One document.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthDoc {
    /// Its document id, unique in the whole dataset.
    pub doc_id: String,
    /// Its label.
    pub label: f32,
    /// Its features with their values, ascending; ids start at 1.
    pub features: Vec<(u32, f32)>,
}

impl Synth {
    /// The id of a query.
    pub fn query_id(&self, query: usize) -> String {
        qid(query)
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of documents.
    pub fn n_rows(&self) -> usize {
        self.starts[self.n_queries()] as usize
    }

    /// The number of features, including those that happen to be missing everywhere.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The number of documents of one query.
    pub fn n_docs(&self, query: usize) -> usize {
        (self.starts[query + 1] - self.starts[query]) as usize
    }

    /// Splits the queries into parts: the queries of each part, ascending. A query is assigned by [`split_of`]. If a part
    /// with a positive share is left without a query, it takes the first one of the part that has the most.
    pub fn split(&self, shares: &[f64]) -> Result<Vec<Vec<usize>>, SynthError> {
        let n_parts = shares.iter().filter(|share| **share > 0.0).count();
        if self.n_queries() < n_parts {
            return Err(SynthError::Split { queries: self.n_queries(), parts: n_parts });
        }
        let mut parts = vec![Vec::new(); shares.len()];
        for query in 0..self.n_queries() {
            parts[split_of(self.seed, &qid(query), shares)].push(query);
        }
        let is_empty =
            |parts: &[Vec<usize>]| (0..parts.len()).find(|part| parts[*part].is_empty() && shares[*part] > 0.0);
        while let Some(empty) = is_empty(&parts) {
            let largest = (0..parts.len()).rev().max_by_key(|part| parts[*part].len()).unwrap_or(empty);
            let query = parts[largest].remove(0);
            parts[empty].push(query);
        }
        Ok(parts)
    }

    /// Generates one query, counted from 0.
    pub fn query(&self, query: usize) -> SynthQuery {
        let mut docs = Vec::with_capacity(self.n_docs(query));
        self.visit(query, |doc_id, label, features| {
            docs.push(SynthDoc { doc_id: doc_id.to_owned(), label, features: features.to_vec() });
        });
        SynthQuery { qid: qid(query), docs }
    }

    /// Generates all queries, on the threads of the caller's pool.
    pub fn dataset(&self) -> Dataset {
        let mut bounds = vec![0];
        for query in 1..=self.n_queries() {
            let block = self.starts[query] - self.starts[bounds[bounds.len() - 1]];
            if block as usize >= BLOCK_ROWS || query == self.n_queries() {
                bounds.push(query);
            }
        }
        let blocks: Vec<RowBlock> = bounds.par_windows(2).map(|ends| self.block(ends[0]..ends[1])).collect();
        let mut builder = DatasetBuilder::default();
        for block in blocks {
            builder.push_block(block);
        }
        builder.finish().expect("the rows are within every limit, and their numbers finite")
    }

    fn block(&self, queries: std::ops::Range<usize>) -> RowBlock {
        let mut block = RowBlock::default();
        for query in queries {
            let qid = qid(query);
            self.visit(query, |doc_id, label, features| {
                block.start_row(&qid, label, doc_id);
                for (feature, value) in features {
                    block.push_value(*feature, *value);
                }
                block.finish_row().expect("features ascend");
            });
        }
        block
    }

    /// Calls `visit(name, label, features)` for each document of a query.
    fn visit(&self, query: usize, mut visit: impl FnMut(&str, f32, &[(u32, f32)])) {
        let state = self.population.query(self.seed, query);
        let mut features = Vec::new();
        for doc in 0..self.n_docs(query) {
            features.clear();
            let label = self.population.document(&state, self.seed, [query, doc], &mut features);
            visit(&format!("q{}-d{}", query + 1, doc + 1), label, &features);
        }
    }
}

fn qid(query: usize) -> String {
    (query + 1).to_string()
}

/// Assigns a query to a part of a split: returns a number below `shares.len()`, with probabilities in proportion to the
/// shares. It depends only on the seed and the id, so a query keeps its part when others are added or removed.
///
/// The shares must be 0 or more, and not all 0; they need not add up to 1.
pub fn split_of(seed: u64, qid: &str, shares: &[f64]) -> usize {
    let total: f64 = shares.iter().sum();
    let mut left = total * Draw::new(seed, Purpose::Split, 0).uniform(RowKey::of_query(qid).low(), 0);
    for (part, share) in shares.iter().enumerate() {
        if left < *share {
            return part;
        }
        left -= share;
    }
    // Reached only through rounding.
    shares.iter().rposition(|share| *share > 0.0).unwrap_or(0)
}

#[derive(Debug)]
enum Population {
    Web(Web),
    Factors(Factors),
}

enum QueryState {
    Web(WebQuery),
    Factors(FactorQuery),
}

impl Population {
    fn query_size(&self, normal: f64) -> usize {
        match self {
            Self::Web(_) => Web::query_size(normal),
            Self::Factors(factors) => factors.query_size(normal),
        }
    }

    fn query(&self, seed: u64, query: usize) -> QueryState {
        match self {
            Self::Web(_) => QueryState::Web(WebQuery::new(seed, query)),
            Self::Factors(factors) => QueryState::Factors(factors.query(seed, query)),
        }
    }

    fn document(&self, state: &QueryState, seed: u64, ids: [usize; 2], out: &mut Vec<(u32, f32)>) -> f32 {
        match (self, state) {
            (Self::Web(web), QueryState::Web(query)) => web.document(query, seed, ids, out),
            (Self::Factors(factors), QueryState::Factors(query)) => factors.document(query, seed, ids, out),
            _ => unreachable!("a population makes its own queries"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synth(preset: Preset, rows: usize, seed: u64) -> Synth {
        SynthSpec { preset, rows, features: None, seed }.check().unwrap()
    }

    fn docs(synth: &Synth) -> Vec<SynthDoc> {
        (0..synth.n_queries()).flat_map(|query| synth.query(query).docs).collect()
    }

    /// The share of documents for which `holds` is true.
    fn share(docs: &[SynthDoc], holds: impl Fn(&SynthDoc) -> bool) -> f64 {
        docs.iter().filter(|doc| holds(doc)).count() as f64 / docs.len() as f64
    }

    fn label_shares(docs: &[SynthDoc]) -> Vec<f64> {
        (0..5u8).map(|label| share(docs, |doc| doc.label == f32::from(label))).collect()
    }

    /// If these numbers change, the generated data changes for everybody, or this machine computes differently.
    #[test]
    fn the_same_seed_gives_the_same_data_everywhere() {
        let pinned = [
            (Preset::Web, 0xe1ab_5eca_09cd_d754_66f0_f202_3c3e_cb50),
            (Preset::Long, 0x031a_7f1f_1013_a417_25a2_fd1d_78be_37f8),
            (Preset::Wide, 0xaca6_32d3_6f0d_9b2e_c090_c610_d765_1468),
        ];
        for (preset, fingerprint) in pinned {
            let found = synth(preset, 400, 1).dataset().fingerprint();
            assert_eq!(found, fingerprint, "{preset:?}: {found:#034x}");
            assert_ne!(found, synth(preset, 400, 2).dataset().fingerprint());
        }
    }

    #[test]
    fn rows_are_exactly_as_many_as_asked_for() {
        for preset in [Preset::Web, Preset::Long, Preset::Wide] {
            for rows in [1, 2, 119, 700] {
                let synth = synth(preset, rows, 3);
                assert_eq!((synth.n_rows(), docs(&synth).len(), synth.dataset().n_rows()), (rows, rows, rows));
            }
        }
    }

    /// A longer dataset begins with the queries of a shorter one.
    #[test]
    fn the_last_query_is_only_cut_short() {
        let (short, long) = (docs(&synth(Preset::Web, 300, 5)), docs(&synth(Preset::Web, 500, 5)));
        assert_eq!(short, long[..300]);
    }

    #[test]
    fn queries_are_what_the_data_set_holds() {
        for preset in [Preset::Web, Preset::Wide] {
            let synth = synth(preset, 500, 7);
            let data = synth.dataset();
            assert_eq!(data.n_queries(), synth.n_queries());
            let made = docs(&synth);
            for row in 0..data.n_rows() {
                let doc = &made[data.input_row()[row] as usize];
                assert_eq!((data.doc_id(row), data.labels()[row]), (doc.doc_id.as_str(), doc.label));
                let held = data.feature_ids().iter().enumerate().map(|(slot, id)| (*id, data.column(slot).get(row)));
                let held: Vec<(u32, f32)> = held.filter(|(_, value)| !value.is_nan()).collect();
                assert_eq!(held, doc.features);
            }
        }
    }

    #[test]
    fn web_grades_are_those_of_web_search() {
        let synth = synth(Preset::Web, 24_000, 11);
        assert!((160..260).contains(&synth.n_queries()), "{}", synth.n_queries());
        let all = docs(&synth);
        for (found, (expected, tolerance)) in label_shares(&all).into_iter().zip([
            (0.515, 0.08),
            (0.325, 0.05),
            (0.134, 0.05),
            (0.019, 0.012),
            (0.007, 0.006),
        ]) {
            assert!((found - expected).abs() < tolerance, "{found} is far from {expected}");
        }
        let relevant: Vec<f64> =
            (0..synth.n_queries()).map(|query| share(&synth.query(query).docs, |doc| doc.label > 0.0)).collect();
        let part = |holds: &dyn Fn(f64) -> bool| {
            relevant.iter().filter(|share| holds(**share)).count() as f64 / relevant.len() as f64
        };
        let (none, few, many) = (part(&|x| x == 0.0), part(&|x| x < 0.2), part(&|x| x > 0.75));
        assert!(none > 0.0 && none < 0.08 && few > 0.1 && many > 0.1, "{none} {few} {many}");
    }

    #[test]
    fn web_features_have_their_shapes() {
        let synth = synth(Preset::Web, 3000, 13);
        let all = docs(&synth);
        let value = |doc: &SynthDoc, id: usize| doc.features[id - 1].1;
        let zeros = |id: usize| share(&all, |doc| value(doc, id) == 0.0);
        let whole = |id: usize| all.iter().all(|doc| value(doc, id).fract() == 0.0);
        for doc in &all {
            assert!(doc.features.iter().map(|(id, _)| *id).eq(1..=136));
            // Written as text, values have at most six decimals.
            let decimals = |value: f32| value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
            assert!(doc.features.iter().all(|(_, value)| value.is_finite() && decimals(*value) <= 6));
        }
        // Title terms, query clicks and body length, then a language model.
        assert!((0.2..0.45).contains(&zeros(3)) && zeros(134) > 0.9 && zeros(11) < 0.05);
        assert!(whole(3) && whole(134) && whole(11) && whole(128) && !whole(110));
        assert!(all.iter().all(|doc| value(doc, 115) <= 0.0));
        // Inlinks: heavy-tailed.
        assert!(share(&all, |doc| value(doc, 128) > 1000.0) > 0.01 && share(&all, |doc| value(doc, 128) < 10.0) > 0.5);
        for query in 0..synth.n_queries() {
            let docs = synth.query(query).docs;
            assert!(docs.iter().all(|doc| value(doc, 16) == value(&docs[0], 16)), "rarity belongs to the query");
        }
    }

    #[test]
    fn long_lists_have_few_relevant_documents() {
        let spec = SynthSpec { preset: Preset::Long, rows: 250_000, features: Some(2), seed: 17 };
        let synth = spec.check().unwrap();
        assert!((85..115).contains(&synth.n_queries()), "{}", synth.n_queries());
        let shares = label_shares(&docs(&synth));
        let relevant = 1.0 - shares[0];
        assert!((0.0015..0.0025).contains(&relevant) && shares[1..].is_sorted_by(|a, b| a >= b), "{shares:?}");
        let has_relevant = |query: &usize| synth.query(*query).docs.iter().any(|doc| doc.label > 0.0);
        let n_fed = (0..synth.n_queries()).filter(has_relevant).count();
        assert!(10 * n_fed > 8 * synth.n_queries(), "{n_fed} of {}", synth.n_queries());
    }

    #[test]
    fn wide_records_are_mostly_empty() {
        let synth = synth(Preset::Wide, 3000, 19);
        let all = docs(&synth);
        assert!((55..100).contains(&synth.n_queries()), "{}", synth.n_queries());
        let present = all.iter().map(|doc| doc.features.len()).sum::<usize>() as f64 / (3000.0 * 2000.0);
        assert!((0.02..0.10).contains(&present), "{present}");
        for doc in &all {
            assert!(doc.features.is_sorted_by(|a, b| a.0 < b.0));
            assert!(doc.features[0].0 == 1 && doc.features.iter().all(|(id, _)| *id <= 2000));
        }
        assert!(label_shares(&all).iter().all(|share| *share > 0.01));
    }

    #[test]
    fn any_number_of_features_will_do() {
        for preset in [Preset::Web, Preset::Long, Preset::Wide] {
            for features in [1, 2, 10, 135, 137, 1000] {
                let spec = SynthSpec { preset, rows: 30, features: Some(features), seed: 1 };
                let synth = spec.check().unwrap();
                let last = docs(&synth).iter().filter_map(|doc| doc.features.last()).map(|last| last.0).max();
                assert!(last.is_some_and(|last| last as usize <= features && (last as usize) + 16 > features));
                assert_eq!(synth.n_features(), features);
            }
        }
    }

    /// More features do not change the first ones.
    #[test]
    fn more_features_are_added_at_the_end() {
        let with = |features| docs(&SynthSpec { preset: Preset::Web, rows: 5, features, seed: 1 }.check().unwrap());
        for (few, many) in with(None).iter().zip(with(Some(300))) {
            assert_eq!((few.label, &few.features[..]), (many.label, &many.features[..136]));
        }
    }

    #[test]
    fn bad_specs_are_refused() {
        let check = |rows, features| SynthSpec { preset: Preset::Web, rows, features, seed: 0 }.check().unwrap_err();
        assert_eq!(check(0, None), SynthError::Rows { rows: 0 });
        assert_eq!(check((1 << 30) + 1, None), SynthError::Rows { rows: (1 << 30) + 1 });
        assert_eq!(check(1, Some(0)), SynthError::Features { features: 0 });
        assert_eq!(check(1, Some(1_000_001)).to_string(), "invalid number of features, 1000001; give 1 to 1000000");
    }

    #[test]
    fn every_part_of_a_split_has_a_query() {
        for (n_rows, shares) in [(900, &[0.6, 0.2, 0.2][..]), (900, &[0.98, 0.01, 0.01]), (5000, &[0.5, 0.5])] {
            for seed in 0..40 {
                let synth = synth(Preset::Web, n_rows, seed);
                let drawn = |query: usize| split_of(seed, &synth.query_id(query), shares);
                let mut alone: Vec<Vec<usize>> = vec![Vec::new(); shares.len()];
                (0..synth.n_queries()).for_each(|query| alone[drawn(query)].push(query));
                let parts = synth.split(shares).unwrap();
                assert!(parts.iter().all(|part| !part.is_empty()), "{seed} {parts:?}");
                let mut all = parts.concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..synth.n_queries()), "{seed} {parts:?}");
                // Nothing moves if nothing is empty, and otherwise one query for each empty part.
                let n_moved: usize = parts
                    .iter()
                    .enumerate()
                    .map(|(idx, part)| part.iter().filter(|query| drawn(**query) != idx).count())
                    .sum();
                assert_eq!(n_moved, alone.iter().filter(|part| part.is_empty()).count(), "{seed} {parts:?}");
            }
        }
        let two = synth(Preset::Web, 200, 0);
        assert_eq!(two.n_queries(), 2);
        assert_eq!(two.split(&[0.5, 0.3, 0.2]), Err(SynthError::Split { queries: 2, parts: 3 }));
        assert_eq!(two.split(&[0.5, 0.0, 0.5]).unwrap()[1], [0; 0]);
        assert_eq!(two.split(&[1.0]).unwrap(), [[0, 1]]);
    }

    #[test]
    fn splits_have_their_shares_and_stay() {
        let shares = [0.6, 0.0, 0.2, 0.2];
        let mut counts = [0usize; 4];
        for query in 0..5000 {
            counts[split_of(1, &query.to_string(), &shares)] += 1;
        }
        for (count, share) in counts.iter().zip(shares) {
            assert!((*count as f64 / 5000.0 - share).abs() < 0.02, "{counts:?}");
        }
        let parts: Vec<usize> = (0..12).map(|query| split_of(1, &query.to_string(), &shares)).collect();
        assert_eq!(parts, [0, 0, 3, 2, 2, 2, 0, 3, 3, 3, 0, 0]);
        assert!(
            (0..50).any(|query| split_of(2, &query.to_string(), &shares) != split_of(1, &query.to_string(), &shares))
        );
        assert_eq!(split_of(1, "q", &[6.0, 2.0]), split_of(1, "q", &[0.75, 0.25]));
    }
}
