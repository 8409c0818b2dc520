//! Selective gradient boosting (Lucchese et al. 2018 and 2023). Before a tree, each query keeps its positive documents,
//! the share `p_high` of its negative documents with the highest scores, and the share `p_low` with the lowest. The
//! objective then sees only the kept documents of a query, and the tree is grown from them. With `sample=negatives`,
//! negative documents are in random order instead of score order.
//!
//! ```text
//! by score   - + - - + - - - - -        p_high = 20, p_low = 10 of eight negative documents
//! kept       - + - . + . . . . -
//! ```

use rankwise_data::{Documents, Draw, Purpose, Share, SimdLevel};
use rankwise_metrics::{Ties, descending_bits};
use rankwise_objectives::{Objective, Round};
use rayon::prelude::*;

use crate::params::{Rounding, Sample};
use crate::{LoopParams, TrainParams};

/// Which documents to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Percentage of the negative documents of a query, highest scores first.
    high: f64,
    /// Percentage, lowest scores first.
    low: f64,
    every: usize,
    rounding: Rounding,
    drops_empty: bool,
    ties: Ties,
    /// The seed for the order of negative documents, if it is random.
    seed: Option<u64>,
}

impl Selection {
    /// `None` if the parameters disable it.
    pub(crate) fn new(params: &TrainParams) -> Option<Self> {
        let boosting = params.boosting();
        let (high, low) = boosting.shares()?;
        Some(Self {
            high,
            low,
            every: boosting.sample_every,
            rounding: boosting.sample_rounding,
            drops_empty: boosting.sample_drop_empty,
            ties: params.rules().ties,
            seed: (boosting.sample == Sample::Negatives).then_some(boosting.seed),
        })
    }

    /// Whether documents are selected again before a round, counted from 0.
    pub(crate) fn is_due(&self, round: u32) -> bool {
        (round as usize + 1).is_multiple_of(self.every)
    }

    /// The rows to keep in a round, ascending.
    pub(crate) fn rows(&self, data: &Documents, scores: &[f64], round: u32) -> Vec<u32> {
        let draw = self.seed.map(|seed| Draw::new(seed, Purpose::Bagging, round));
        let place = |row: usize| match &draw {
            Some(draw) => data.draw(draw, row).to_bits(),
            None => descending_bits(scores[row]),
        };
        let kept: Vec<Vec<u32>> = (0..data.n_queries())
            .into_par_iter()
            .map_init(Vec::new, |keys, query| self.rows_of_query(data, query, place, keys))
            .collect();
        kept.concat()
    }

    /// `place` gives the position of a row, from the top down.
    fn rows_of_query(
        &self,
        data: &Documents,
        query: usize,
        place: impl Fn(usize) -> u64,
        keys: &mut Vec<(u64, u32, u32)>,
    ) -> Vec<u32> {
        let rows = data.query_rows(query);
        let is_positive = |row: &usize| data.labels()[*row] > 0.0;
        if self.drops_empty && !rows.clone().any(|row| is_positive(&row)) {
            return Vec::new();
        }
        let tie = |row: usize| if self.ties == Ties::Input { data.input_row()[row] } else { row as u32 };
        keys.clear();
        let negative = rows.clone().filter(|row| !is_positive(row));
        keys.extend(negative.map(|row| (place(row), tie(row), row as u32)));
        let n_negative = keys.len();
        let (high, low) = (self.count(self.high, n_negative), self.count(self.low, n_negative));
        if self.high + self.low >= 100.0 || high + low >= n_negative {
            return rows.map(|row| row as u32).collect();
        }
        if high > 0 {
            keys.select_nth_unstable(high - 1);
        }
        let rest = &mut keys[high..];
        if low > 0 {
            let first = rest.len() - low;
            rest.select_nth_unstable(first);
        }
        let mut kept: Vec<u32> = rows.filter(is_positive).map(|row| row as u32).collect();
        kept.extend(keys[..high].iter().chain(&keys[n_negative - low..]).map(|(_, _, row)| *row));
        kept.sort_unstable();
        kept
    }

    /// The number of documents for a percentage: at least one, unless the percentage is 0.
    fn count(&self, percent: f64, n_docs: usize) -> usize {
        if percent == 0.0 || n_docs == 0 {
            return 0;
        }
        let exact = percent / 100.0 * n_docs as f64;
        let rounded = match self.rounding {
            Rounding::Nearest => libm::round(exact),
            Rounding::Up => libm::ceil(exact),
            Rounding::Down => libm::floor(exact),
        };
        (rounded as usize).clamp(1, n_docs)
    }
}

impl LoopParams {
    /// The percentages of negative documents to keep, highest and lowest; `None` if all are kept.
    pub(crate) fn shares(&self) -> Option<(f64, f64)> {
        match self.sample {
            Sample::Selective => Some((self.p_high.unwrap_or(40.0), 0.0)),
            Sample::HighLow => Some((self.p_high.unwrap_or(20.0), self.p_low.unwrap_or(40.0))),
            Sample::Negatives => Some((self.p_negatives, 0.0)),
            _ => None,
        }
    }
}

/// The selected documents, as seen by an objective.
pub(crate) struct Part {
    pub(crate) rows: Vec<u32>,
    data: Documents,
    /// The objective, bound to these documents. `None` for a custom objective, which cannot be bound again, and if the
    /// selected documents leave nothing to learn.
    bound: Option<Box<dyn Objective>>,
    has_something: bool,
    scores: Vec<f64>,
    grad: Vec<f32>,
    hess: Vec<f32>,
}

impl Part {
    pub(crate) fn new(params: &TrainParams, whole: &Share<'_>, rows: Vec<u32>, is_own: bool, simd: SimdLevel) -> Self {
        let data = whole.data.subset(&rows);
        let bind = || params.objective().bind_share(&whole.of_subset(&data), params.rules(), simd);
        let bound = if is_own { None } else { bind().ok() };
        let has_something = is_own || bound.is_some();
        Self { rows, data, bound, has_something, scores: Vec::new(), grad: Vec::new(), hess: Vec::new() }
    }

    /// Writes the gradients and Hessians of the selected documents into those of all. `scores`, `grad` and `hess` have
    /// all documents, output by output.
    pub(crate) fn gradients(
        &mut self,
        own: &dyn Objective,
        round: Round,
        scores: &[f64],
        (grad, hess): (&mut [f32], &mut [f32]),
        n_outputs: usize,
    ) {
        let (n_all, n_part) = (scores.len() / n_outputs, self.rows.len());
        let rows = &self.rows;
        let places = || (0..n_outputs).flat_map(|output| rows.iter().map(move |row| output * n_all + *row as usize));
        self.scores.clear();
        self.scores.extend(places().map(|place| scores[place]));
        for column in [&mut self.grad, &mut self.hess] {
            column.clear();
            column.resize(n_outputs * n_part, 0.0);
        }
        if self.has_something {
            let objective = self.bound.as_deref().unwrap_or(own);
            let derivatives = (&mut self.grad[..], &mut self.hess[..]);
            rankwise_objectives::gradients(objective, &self.data, round, &self.scores, derivatives);
        }
        for ((place, part_grad), part_hess) in places().zip(&self.grad).zip(&self.hess) {
            grad[place] = *part_grad;
            hess[place] = *part_hess;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::{Dataset, DatasetBuilder, Row};

    use super::*;

    fn dataset(docs: &[(u8, u8, i8)]) -> Dataset {
        let mut builder = DatasetBuilder::default();
        for (idx, (query, label, _)) in docs.iter().enumerate() {
            let (qid, doc_id) = (format!("q{query}"), format!("d{idx}"));
            builder.push(&Row { qid: &qid, label: f32::from(*label), doc_id: &doc_id, features: &[] }).unwrap();
        }
        builder.finish().unwrap()
    }

    /// Query by query: sort, count, mark.
    fn by_brute_force(selection: &Selection, data: &Dataset, scores: &[f64]) -> Vec<u32> {
        let mut kept = Vec::new();
        for query in 0..data.n_queries() {
            let rows: Vec<usize> = data.query_rows(query).collect();
            let mut negative: Vec<usize> = rows.iter().copied().filter(|row| data.labels()[*row] == 0.0).collect();
            if selection.drops_empty && negative.len() == rows.len() {
                continue;
            }
            let tie = |row: usize| if selection.ties == Ties::Input { data.input_row()[row] as usize } else { row };
            negative.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(tie(*a).cmp(&tie(*b))));
            let count = |percent: f64| {
                let exact = percent * negative.len() as f64 / 100.0;
                let rounded = match selection.rounding {
                    Rounding::Nearest => (exact + 0.5).floor(),
                    Rounding::Up => exact.ceil(),
                    Rounding::Down => exact.floor(),
                };
                if percent > 0.0 { rounded.max(1.0) as usize } else { 0 }
            };
            let (high, low) = (count(selection.high), count(selection.low));
            for row in rows {
                let is_kept = match negative.iter().position(|one| *one == row) {
                    None => true,
                    Some(place) => {
                        selection.high + selection.low >= 100.0 || place < high || place + low >= negative.len()
                    }
                };
                if is_kept {
                    kept.push(row as u32);
                }
            }
        }
        kept
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn exactly_what_brute_force_keeps(
            docs in prop::collection::vec((0u8..4, prop_oneof![3 => Just(0u8), 1 => 1u8..4], -2i8..3), 1..80),
            shares in prop::sample::select(vec![(1.0, 0.0), (0.0, 7.0), (20.0, 40.0), (50.0, 50.0), (100.0, 0.0), (33.3, 33.3), (12.5, 62.5)]),
            rounding in prop::sample::select(vec![Rounding::Nearest, Rounding::Up, Rounding::Down]),
            drops_empty in any::<bool>(), by_input in any::<bool>(),
        ) {
            let data = dataset(&docs);
            let typed: Vec<f64> = docs.iter().map(|doc| f64::from(doc.2) * 0.5).collect();
            let scores = data.from_input_order(&typed);
            let ties = if by_input { Ties::Input } else { Ties::Worst };
            let selection = Selection { high: shares.0, low: shares.1, every: 1, rounding, drops_empty, ties, seed: None };
            prop_assert_eq!(selection.rows(&data, &scores, 0), by_brute_force(&selection, &data, &scores));
            // A random selection equals the selection of the highest random numbers.
            let drawn = Selection { seed: Some(5), ..selection };
            let draw = Draw::new(5, Purpose::Bagging, 3);
            let numbers: Vec<f64> = (0..data.n_rows()).map(|row| -data.draw(&draw, row)).collect();
            prop_assert_eq!(drawn.rows(&data, &scores, 3), by_brute_force(&drawn, &data, &numbers));
        }
    }

    #[test]
    fn documents_are_selected_every_so_many_trees() {
        let mut selection = Selection {
            high: 1.0,
            low: 0.0,
            every: 1,
            rounding: Rounding::Nearest,
            drops_empty: false,
            ties: Ties::Worst,
            seed: None,
        };
        assert!((0..5).all(|round| selection.is_due(round)));
        selection.every = 3;
        assert_eq!((0..7).filter(|round| selection.is_due(*round)).collect::<Vec<_>>(), [2, 5]);
    }
}
