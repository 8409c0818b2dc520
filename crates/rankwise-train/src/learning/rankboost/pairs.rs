//! The distribution of RankBoost over pairs, without the pairs.
//!
//! The weight of a pair of a better document y and a worse one x, at scores F, is a product:
//!
//! ```text
//! D(x, y) = v(x) v(y) exp(F(x) - F(y)) / total = (v(x) exp(F(x))) (v(y) exp(-F(y))) / total
//! ```
//!
//! where v is the weight of a document. So the pairs of y need only the sum of v exp(F) over the documents of lower labels,
//! and those of x the sum of v exp(-F) over higher ones. Labels in ascending order give the first sums, in descending
//! order the second: RankBoost.B (Freund et al. 2003, section 3.2) for any number of grades. No exponent is above 0: sums
//! carry their largest exponent along, and each query is relative to its heaviest pair, so that nothing becomes infinite.
//!
//! Pairs of the data, if it has any, replace those of labels and are visited one by one.

use rankwise_data::{Documents, reduce};
use rayon::prelude::*;

/// The pairs of the training data.
pub(crate) struct Pairs<'a> {
    data: &'a Documents,
    queries: Vec<QueryPairs>,
}

/// The pairs of one query. Documents are numbered within it.
enum QueryPairs {
    /// The documents with weights, by ascending label, and where each label ends.
    Labels { order: Vec<u32>, ends: Vec<usize> },
    /// (worse, better, weight)
    Given(Vec<(u32, u32, f64)>),
}

/// The distribution at some scores. The weights of all pairs add up to 1.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// For each document, the weight of the pairs in which it is better minus that of those in which it is worse.
    pub(crate) potentials: Vec<f64>,
    /// By query: the exponent of its heaviest pair.
    tops: Vec<f64>,
    /// By query: its weight and the weight of its heaviest pair, divided by the total.
    factors: Vec<f64>,
}

/// The weight of the pairs that a weak ranker orders rightly, and of those that it orders wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ordered {
    pub(crate) right: f64,
    pub(crate) wrong: f64,
}

/// What a query adds to the distribution, relative to its heaviest pair.
struct OfQuery {
    top: f64,
    total: f64,
    potentials: Vec<f64>,
}

/// A sum of terms v * exp(e): `sum * exp(top)`, where `top` is the largest e.
#[derive(Clone, Copy)]
struct ExpSum {
    top: f64,
    sum: f64,
}

impl ExpSum {
    const EMPTY: Self = Self { top: f64::NEG_INFINITY, sum: 0.0 };

    fn add(&mut self, weight: f64, exponent: f64) {
        if exponent <= self.top {
            self.sum += weight * libm::exp(exponent - self.top);
        } else {
            self.sum = self.sum * libm::exp(self.top - exponent) + weight;
            self.top = exponent;
        }
    }

    /// The sum times exp(shift).
    fn times(self, shift: f64) -> f64 {
        self.sum * libm::exp(self.top + shift)
    }
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(data: &'a Documents) -> Self {
        let has_pairs = !data.pairs().is_empty();
        let of_query = |query: usize| {
            if data.query_weight(query) <= 0.0 {
                QueryPairs::Given(Vec::new())
            } else if has_pairs {
                given(data, query)
            } else {
                by_labels(data, query)
            }
        };
        Self { data, queries: (0..data.n_queries()).map(of_query).collect() }
    }

    /// Whether there is a pair with a weight.
    pub(crate) fn are_empty(&self) -> bool {
        self.queries.iter().all(|pairs| match pairs {
            QueryPairs::Labels { ends, .. } => ends.len() < 2,
            QueryPairs::Given(pairs) => pairs.is_empty(),
        })
    }

    /// The distribution at these scores. There must be a pair.
    pub(crate) fn at(&self, scores: &[f64]) -> Distribution {
        let of_query = |query: usize| self.queries[query].at(&self.view(query, scores));
        let queries: Vec<OfQuery> = (0..self.queries.len()).into_par_iter().map(of_query).collect();
        let top = queries.iter().map(|query| query.top).fold(f64::NEG_INFINITY, f64::max);
        let weight = |query: usize| f64::from(self.data.query_weight(query)) * libm::exp(queries[query].top - top);
        let weights: Vec<f64> = (0..queries.len()).map(weight).collect();
        let total = reduce::sum(queries.iter().zip(&weights).map(|(query, weight)| weight * query.total));
        let factors: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let scaled = |(query, factor): (&OfQuery, &f64)| {
            let factor = *factor;
            query.potentials.iter().map(|potential| potential * factor).collect::<Vec<_>>()
        };
        Distribution {
            potentials: queries.iter().zip(&factors).flat_map(scaled).collect(),
            tops: queries.iter().map(|query| query.top).collect(),
            factors,
        }
    }

    /// What a weak ranker that says 0 or 1 does to the pairs of the distribution at these scores.
    pub(crate) fn ordered_by(
        &self,
        is_high: impl Fn(usize) -> bool + Sync,
        at: &Distribution,
        scores: &[f64],
    ) -> Ordered {
        let of_query = |query: usize| {
            let (view, factor) = (self.view(query, scores), at.factors[query]);
            if factor == 0.0 {
                return Ordered::default();
            }
            let first = self.data.query_rows(query).start;
            let Ordered { right, wrong } =
                self.queries[query].ordered_by(&|doc| is_high(first + doc), &view, at.tops[query]);
            Ordered { right: right * factor, wrong: wrong * factor }
        };
        let queries: Vec<Ordered> = (0..self.queries.len()).into_par_iter().map(of_query).collect();
        let sum = |of: fn(&Ordered) -> f64| reduce::sum(queries.iter().map(of));
        Ordered { right: sum(|ordered| ordered.right), wrong: sum(|ordered| ordered.wrong) }
    }

    fn view<'v>(&'v self, query: usize, scores: &'v [f64]) -> View<'v> {
        let rows = self.data.query_rows(query);
        View { data: self.data, first: rows.start, scores: &scores[rows] }
    }
}

/// A query with its scores.
struct View<'v> {
    data: &'v Documents,
    first: usize,
    scores: &'v [f64],
}

impl View<'_> {
    fn weight(&self, doc: usize) -> f64 {
        f64::from(self.data.weight(self.first + doc))
    }
}

fn by_labels(data: &Documents, query: usize) -> QueryPairs {
    let rows = data.query_rows(query);
    let label = |doc: u32| data.labels()[rows.start + doc as usize];
    let has_weight = |doc: &u32| data.weight(rows.start + *doc as usize) > 0.0;
    let mut order: Vec<u32> = (0..rows.len() as u32).filter(has_weight).collect();
    // Stable, so that sums within a label are in canonical order.
    order.sort_by(|a, b| label(*a).total_cmp(&label(*b)));
    let mut end = 0;
    let ends = order.chunk_by(|a, b| label(*a) == label(*b)).map(|docs| {
        end += docs.len();
        end
    });
    let ends = ends.collect();
    QueryPairs::Labels { order, ends }
}

/// A pair with probability q counts q times as given and 1 - q times reversed.
fn given(data: &Documents, query: usize) -> QueryPairs {
    let first = data.query_rows(query).start as u32;
    let both = |pair: &rankwise_data::Pair| {
        let docs = f64::from(data.weight(pair.winner as usize)) * f64::from(data.weight(pair.loser as usize));
        let (weight, share) = (f64::from(pair.weight) * docs, f64::from(pair.probability));
        let (winner, loser) = (pair.winner - first, pair.loser - first);
        [(loser, winner, weight * share), (winner, loser, weight * (1.0 - share))]
    };
    let all = data.query_pairs(query).iter().flat_map(both);
    QueryPairs::Given(all.filter(|(_, _, weight)| *weight > 0.0).collect())
}

impl QueryPairs {
    fn at(&self, view: &View<'_>) -> OfQuery {
        let mut found = OfQuery { top: f64::NEG_INFINITY, total: 0.0, potentials: vec![0.0; view.scores.len()] };
        match self {
            Self::Labels { order, ends } => add_labels(order, ends, view, &mut found),
            Self::Given(pairs) => {
                let exponent = |worse: u32, better: u32| view.scores[worse as usize] - view.scores[better as usize];
                let exponents = pairs.iter().map(|(worse, better, _)| exponent(*worse, *better));
                found.top = exponents.fold(f64::NEG_INFINITY, f64::max);
                for (worse, better, weight) in pairs {
                    let amount = weight * libm::exp(exponent(*worse, *better) - found.top);
                    found.total += amount;
                    found.potentials[*better as usize] += amount;
                    found.potentials[*worse as usize] -= amount;
                }
            }
        }
        found
    }

    /// Weights are relative to a pair with the exponent `top`.
    fn ordered_by(&self, is_high: &dyn Fn(usize) -> bool, view: &View<'_>, top: f64) -> Ordered {
        let mut found = Ordered::default();
        match self {
            Self::Labels { order, ends } => {
                // Documents of lower labels, by what the weak ranker says.
                let mut below = [ExpSum::EMPTY; 2];
                for label in labels(order, ends) {
                    for doc in label.iter().map(|doc| *doc as usize) {
                        let amount = |worse: ExpSum| view.weight(doc) * worse.times(-view.scores[doc] - top);
                        if is_high(doc) {
                            found.right += amount(below[0]);
                        } else {
                            found.wrong += amount(below[1]);
                        }
                    }
                    for doc in label.iter().map(|doc| *doc as usize) {
                        below[usize::from(is_high(doc))].add(view.weight(doc), view.scores[doc]);
                    }
                }
            }
            Self::Given(pairs) => {
                for (worse, better, weight) in pairs {
                    let [worse, better] = [worse, better].map(|doc| *doc as usize);
                    let amount = weight * libm::exp(view.scores[worse] - view.scores[better] - top);
                    match (is_high(worse), is_high(better)) {
                        (false, true) => found.right += amount,
                        (true, false) => found.wrong += amount,
                        _ => {}
                    }
                }
            }
        }
        found
    }
}

/// The documents of each label, ascending.
fn labels<'o>(order: &'o [u32], ends: &'o [usize]) -> impl DoubleEndedIterator<Item = &'o [u32]> + ExactSizeIterator {
    (0..ends.len()).map(move |label| &order[if label == 0 { 0 } else { ends[label - 1] }..ends[label]])
}

fn add_labels(order: &[u32], ends: &[usize], view: &View<'_>, found: &mut OfQuery) {
    if ends.len() < 2 {
        return;
    }
    let score = |doc: &u32| view.scores[*doc as usize];
    let mut highest_below = f64::NEG_INFINITY;
    for label in labels(order, ends) {
        let lowest = label.iter().map(score).fold(f64::INFINITY, f64::min);
        found.top = found.top.max(highest_below - lowest);
        highest_below = label.iter().map(score).fold(highest_below, f64::max);
    }
    let mut below = ExpSum::EMPTY;
    for (idx, label) in labels(order, ends).enumerate() {
        for doc in label.iter().filter(|_| idx > 0) {
            let amount = view.weight(*doc as usize) * below.times(-score(doc) - found.top);
            found.total += amount;
            found.potentials[*doc as usize] += amount;
        }
        if idx + 1 < ends.len() {
            for doc in label {
                below.add(view.weight(*doc as usize), score(doc));
            }
        }
    }
    let mut above = ExpSum::EMPTY;
    for (idx, label) in labels(order, ends).enumerate().rev() {
        for doc in label.iter().filter(|_| idx + 1 < ends.len()) {
            found.potentials[*doc as usize] -= view.weight(*doc as usize) * above.times(score(doc) - found.top);
        }
        if idx > 0 {
            for doc in label {
                above.add(view.weight(*doc as usize), -score(doc));
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use rankwise_data::{Dataset, Pair};

    use super::*;

    /// Every pair by itself: (worse, better, weight before it is divided by the total).
    pub(crate) fn explicit(data: &Dataset) -> Vec<(usize, usize, f64)> {
        let mut all = Vec::new();
        for query in 0..data.n_queries() {
            let rows = data.query_rows(query);
            let weight = |a: usize, b: usize| f64::from(data.query_weight(query) * data.weight(a) * data.weight(b));
            if data.pairs().is_empty() {
                for better in rows.clone() {
                    let worse = rows.clone().filter(|worse| data.labels()[*worse] < data.labels()[better]);
                    all.extend(worse.map(|worse| (worse, better, weight(worse, better))));
                }
            }
            for pair in data.query_pairs(query) {
                let (winner, loser) = (pair.winner as usize, pair.loser as usize);
                let (weight, share) = (weight(winner, loser) * f64::from(pair.weight), f64::from(pair.probability));
                all.extend([(loser, winner, weight * share), (winner, loser, weight * (1.0 - share))]);
            }
        }
        all
    }

    /// The logarithm of the sum of the weights before they were divided by it.
    pub(crate) fn log_total(data: &Dataset, at: &Distribution) -> f64 {
        let heaviest = (0..data.n_queries()).max_by(|a, b| at.factors[*a].total_cmp(&at.factors[*b])).unwrap();
        at.tops[heaviest] + libm::log(f64::from(data.query_weight(heaviest)) / at.factors[heaviest])
    }

    type Doc = (u8, u8, i16, bool);

    fn data(docs: &[Doc], pairs: &[(usize, usize, u8)], has_weights: bool) -> Dataset {
        let values: Vec<f32> = (0..docs.len()).map(|row| row as f32).collect();
        let labels: Vec<u8> = docs.iter().map(|doc| doc.0).collect();
        let weights: Vec<f32> = docs.iter().map(|doc| if has_weights { f32::from(doc.1) } else { 1.0 }).collect();
        let half = docs.len() / 2;
        let of_pair = |&(a, b, probability): &(usize, usize, u8)| Pair {
            weight: 2.0,
            probability: f32::from(probability) / 4.0,
            ..Pair::new(a as u32, b as u32)
        };
        let is_within = |pair: &&(usize, usize, u8)| pair.0 != pair.1 && (pair.0 < half) == (pair.1 < half);
        let sizes = [half, docs.len() - half];
        let builder = Dataset::from_dense(&values, 1).labels(&labels).weights(&weights).group_sizes(&sizes);
        let pairs: Vec<Pair> = pairs.iter().filter(is_within).map(of_pair).collect();
        builder.query_weights(&[1.0, 3.0]).pairs(&pairs).build().unwrap()
    }

    proptest! {
        /// Potentials, total and what a weak ranker orders are those of the explicit pairs.
        #[test]
        fn sums_are_those_of_all_pairs(
            docs in prop::collection::vec((0u8..4, 0u8..3, -30i16..30, any::<bool>()), 4..24),
            pairs in prop::collection::vec((0usize..24, 0usize..24, 0u8..5), 0..30),
            (has_pairs, has_weights) in any::<(bool, bool)>(),
        ) {
            let n = docs.len();
            let pairs: Vec<_> = pairs.iter().map(|(a, b, q)| (a % n, b % n, *q)).filter(|_| has_pairs).collect();
            let data = data(&docs, &pairs, has_weights);
            let of_row = |row: usize| docs[data.input_row()[row] as usize];
            let scores: Vec<f64> = (0..n).map(|row| f64::from(of_row(row).2) * 0.3).collect();
            let found = Pairs::new(&data);
            let all = explicit(&data);
            let weights: Vec<f64> = all.iter().map(|(x, y, v)| v * libm::exp(scores[*x] - scores[*y])).collect();
            let total: f64 = weights.iter().sum();
            prop_assert_eq!(found.are_empty(), total == 0.0);
            if total == 0.0 {
                return Ok(());
            }
            let (mut potentials, mut ordered) = (vec![0.0; n], Ordered::default());
            for ((worse, better, _), weight) in all.iter().zip(&weights) {
                potentials[*better] += weight / total;
                potentials[*worse] -= weight / total;
                match (of_row(*worse).3, of_row(*better).3) {
                    (false, true) => ordered.right += weight / total,
                    (true, false) => ordered.wrong += weight / total,
                    _ => {}
                }
            }
            let at = found.at(&scores);
            for (found, expected) in at.potentials.iter().zip(&potentials) {
                prop_assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
            }
            prop_assert!((log_total(&data, &at) - libm::log(total)).abs() < 1e-12 * (1.0 + libm::log(total).abs()));
            let split = found.ordered_by(|row| of_row(row).3, &at, &scores);
            prop_assert!((split.right - ordered.right).abs() < 1e-12 && (split.wrong - ordered.wrong).abs() < 1e-12);
        }
    }

    #[test]
    fn a_document_with_weight_2_is_as_two_documents() {
        let build = |labels: &[u8], weights: &[f32]| {
            let values: Vec<f32> = (0..labels.len()).map(|row| row as f32).collect();
            Dataset::from_dense(&values, 1)
                .labels(labels)
                .weights(weights)
                .group_sizes(&[labels.len()])
                .build()
                .unwrap()
        };
        let (once, twice) = (build(&[0, 1, 2], &[1.0, 1.0, 2.0]), build(&[0, 1, 2, 2], &[1.0; 4]));
        let of = |data: &Dataset| {
            let at = Pairs::new(data).at(&vec![0.0; data.n_rows()]);
            let mut by_label = [0.0; 3];
            data.labels().iter().zip(&at.potentials).for_each(|(label, of)| by_label[*label as usize] += of);
            by_label
        };
        assert_eq!(of(&once), of(&twice));
        // Of the five pairs, the document with label 1 is better in one and worse in two.
        assert!((of(&once)[1] + 0.2).abs() < 1e-15);
    }

    #[test]
    fn huge_margins_stay_finite() {
        let data = Dataset::from_dense(&[0.0f32, 1.0, 2.0], 1).labels(&[0, 1, 2]).group_sizes(&[3]).build().unwrap();
        let pairs = Pairs::new(&data);
        for size in [1e3, 1e6, 1e300] {
            for sign in [1.0, -1.0] {
                let scores = [0.0, sign * size, 2.0 * sign * size];
                let at = pairs.at(&scores);
                assert!(
                    log_total(&data, &at).is_finite() && at.potentials.iter().all(|potential| potential.is_finite())
                );
                assert!(at.potentials.iter().any(|potential| *potential > 0.4));
            }
        }
    }
}
