//! Metrics over pairs of documents of a query. Judged documents that a run did not return rank below all others and tie
//! with each other.

use rankwise_data::Pair;

use crate::{Metric, Needs, RankedList};

/// Counts of pairs of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PairCounts {
    /// The document with the larger label ranks higher.
    right: u64,
    /// The document with the larger label ranks lower.
    wrong: u64,
    /// The labels differ, the scores tie.
    tied_scores: u64,
    /// The scores differ, the labels are equal.
    tied_labels: u64,
}

impl PairCounts {
    /// Counts over groups of labels, highest scores first. `seen` counts how often each label occurred above.
    fn new<'a>(groups: impl Iterator<Item = &'a [f32]>) -> Self {
        let mut counts = Self::default();
        let mut seen: Vec<(f32, u64)> = Vec::new();
        for group in groups {
            for (idx, label) in group.iter().enumerate() {
                for (above, n_above) in &seen {
                    match above.total_cmp(label) {
                        std::cmp::Ordering::Greater => counts.right += n_above,
                        std::cmp::Ordering::Less => counts.wrong += n_above,
                        std::cmp::Ordering::Equal => counts.tied_labels += n_above,
                    }
                }
                if group.len() > 1 {
                    counts.tied_scores += group[..idx].iter().filter(|other| *other != label).count() as u64;
                }
            }
            for label in group {
                match seen.binary_search_by(|(known, _)| known.total_cmp(label)) {
                    Ok(at) => seen[at].1 += 1,
                    Err(at) => seen.insert(at, (*label, 1)),
                }
            }
        }
        counts
    }

    /// The share of correctly ordered pairs among those with different labels; ties count half.
    fn accuracy(self) -> Option<f64> {
        let n_pairs = self.right + self.wrong + self.tied_scores;
        (n_pairs > 0).then(|| (self.right as f64 + 0.5 * self.tied_scores as f64) / n_pairs as f64)
    }
}

/// The labels of groups of ranks, then those of documents that were not returned.
fn groups_of<'a>(
    list: &'a RankedList<'_>,
    labels: &'a [f32],
    missed: &'a [f32],
    is_by_score: bool,
) -> impl Iterator<Item = &'a [f32]> {
    let tied = is_by_score.then(|| list.tied_groups()).into_iter().flatten();
    let ruled = (!is_by_score).then(|| list.groups()).into_iter().flatten();
    tied.chain(ruled).map(|group| &labels[group]).chain(Some(missed).filter(|missed| !missed.is_empty()))
}

/// The share of pairs of a relevant and another document of a query in which the relevant one has the higher score.
/// Ties count half, whatever the tie rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryAuc;

impl Metric for QueryAuc {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let binary = |labels: &[f32]| -> Vec<f32> {
            labels.iter().map(|label| f32::from(u8::from(list.is_relevant(*label)))).collect()
        };
        let (labels, missed) = (binary(list.labels), binary(list.query.missed));
        PairCounts::new(groups_of(list, &labels, &missed, true)).accuracy()
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::whole()
    }
}

/// The share of pairs in which the better document ranks higher. Uses the pairs of the data or, without any, all pairs
/// with different labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairAccuracy;

impl Metric for PairAccuracy {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        if list.pairs().is_empty() {
            return PairCounts::new(groups_of(list, list.labels, list.query.missed, false)).accuracy();
        }
        let mut ranks = vec![0usize; list.order.len()];
        list.order.iter().enumerate().for_each(|(rank, doc)| ranks[*doc as usize] = rank);
        let scores = list.query.scores;
        mean_over_pairs(list, |winner, loser| {
            if list.is_averaged && scores[winner] == scores[loser] {
                0.5
            } else {
                f64::from(u8::from(ranks[winner] < ranks[loser]))
            }
        })
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::whole()
    }
}

/// The mean over pairs of ln(1 + exp(-(score of the better document - score of the other))): the loss of RankNet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairLogit;

impl Metric for PairLogit {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let (scores, labels) = (list.query.scores, list.query.labels);
        let loss = |winner: usize, loser: usize| {
            let distance = scores[winner] - scores[loser];
            // exp of a large number would overflow.
            libm::log1p(libm::exp(-distance.abs())) + (-distance).max(0.0)
        };
        if !list.pairs().is_empty() {
            return mean_over_pairs(list, loss);
        }
        let (mut total, mut n_pairs) = (0.0, 0u64);
        for winner in 0..labels.len() {
            for loser in (0..labels.len()).filter(|loser| labels[winner] > labels[*loser]) {
                total += loss(winner, loser);
                n_pairs += 1;
            }
        }
        (n_pairs > 0).then(|| total / n_pairs as f64)
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// Kendall's tau-b between scores and labels: (right - wrong) / sqrt(pairs with different scores x pairs with different
/// labels). 0 if all scores are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KendallTau;

impl Metric for KendallTau {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let counts = PairCounts::new(groups_of(list, list.labels, list.query.missed, true));
        let decided = (counts.right + counts.wrong) as f64;
        let different_scores = decided + counts.tied_labels as f64;
        let different_labels = decided + counts.tied_scores as f64;
        let difference = counts.right as f64 - counts.wrong as f64;
        (different_labels > 0.0).then(|| match different_scores {
            0.0 => 0.0,
            _ => difference / libm::sqrt(different_scores * different_labels),
        })
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::whole()
    }
}

/// The weighted mean over the pairs of the data; a pair with a probability counts in both directions.
fn mean_over_pairs(list: &RankedList<'_>, value: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let doc = |row: u32| row as usize - list.query.first_row;
    let (mut total, mut weights) = (0.0, 0.0);
    for Pair { winner, loser, weight, probability } in list.pairs() {
        let (winner, loser, probability) = (doc(*winner), doc(*loser), f64::from(*probability));
        let mut of_pair = probability * value(winner, loser);
        if probability < 1.0 {
            of_pair += (1.0 - probability) * value(loser, winner);
        }
        total += f64::from(*weight) * of_pair;
        weights += f64::from(*weight);
    }
    (weights > 0.0).then(|| total / weights)
}
