//! Finds only the best documents. At checkpoints between trees, documents that can no longer be among them are dropped.
//!
//! ```text
//! trees   0 ......... 125 ........ 250 .............. 500 ............... 750 .............. 1000
//! docs    512 docs    a document stays if its score plus the maximum still to come reaches the k-th
//!                     largest of all scores plus the minimum still to come
//! ```
//!
//! Remaining documents have all trees added in order, so their scores have the same bits as with [`Scorer::score`].

use std::ops::Range;

use rankwise_model::Output;

use crate::plan::FlatTree;
use crate::scorer::Way;
use crate::tree_scorer::{BLOCK_DOCS, TreeScorer, n_words};
use crate::{Documents, Scorer, Scratch};

/// Shares of the trees after which documents are checked.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 0.75];

/// A checkpoint between trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    /// The number of trees before it.
    n_trees: usize,
    /// The minimum and maximum that the trees after it can add, including rounding.
    least: f64,
    most: f64,
}

/// The checkpoints of these trees.
pub(crate) fn checkpoints(base_score: f64, trees: &[FlatTree]) -> Vec<Checkpoint> {
    let range = |tree: &FlatTree| {
        let values = tree.values.iter().copied();
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let ranges: Vec<(f64, f64)> = trees.iter().map(range).collect();
    // No partial sum is larger than this, and each addition has an error below its last bit.
    let largest = ranges.iter().fold(base_score.abs(), |sum, (low, high)| sum + low.abs().max(high.abs()));
    let rounding = 4.0 * trees.len() as f64 * f64::EPSILON * largest;
    let checkpoint = |share: f64| {
        let n_trees = (share * trees.len() as f64) as usize;
        let sum = |side: fn(&(f64, f64)) -> f64| ranges[n_trees..].iter().map(side).sum::<f64>();
        Checkpoint { n_trees, least: sum(|range| range.0) - rounding, most: sum(|range| range.1) + rounding }
    };
    SHARES.map(checkpoint).to_vec()
}

impl Scorer {
    /// The best `k` documents, best first, with their scores; ties are in document order. The same as sorting the
    /// results of [`Self::score`].
    pub fn top(&self, docs: &impl Documents, k: usize, scratch: &mut Scratch) -> Vec<(usize, f64)> {
        let mut best: Vec<(usize, f64)> = Vec::new();
        for first in (0..docs.n_docs()).step_by(BLOCK_DOCS) {
            let block = first..docs.n_docs().min(first + BLOCK_DOCS);
            // Later documents must beat the k-th so far, because ties are in document order.
            let to_beat = if k > 0 && best.len() >= k { best[k - 1].1 } else { f64::NEG_INFINITY };
            match &self.way {
                Way::Trees(trees) if k > 0 && trees.output == Output::Sum => {
                    trees.score_contenders(docs, block, k, to_beat, scratch, &mut best);
                }
                // What trees add to one of several outputs says little about the score.
                _ => {
                    let places: Vec<usize> = block.collect();
                    let mut scores = vec![0.0; places.len()];
                    self.score(&Picked { docs, places: &places }, &mut scores, scratch);
                    best.extend(places.into_iter().zip(scores));
                }
            }
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            best.truncate(k);
        }
        best
    }
}

impl TreeScorer {
    /// Adds the documents of a block that can be among the best, with their scores.
    fn score_contenders(
        &self,
        docs: &impl Documents,
        block: Range<usize>,
        k: usize,
        to_beat: f64,
        scratch: &mut Scratch,
        best: &mut Vec<(usize, f64)>,
    ) {
        let mut places: Vec<usize> = block.collect();
        let mut scores = vec![self.base_score; places.len()];
        self.answer(&Picked { docs, places: &places }, 0..places.len(), scratch);
        let mut n_trees = 0;
        for checkpoint in &self.checkpoints {
            self.add(&self.trees[n_trees..checkpoint.n_trees], &mut scores, scratch);
            n_trees = checkpoint.n_trees;
            let limit = checkpoint.limit(&scores, k).max(to_beat);
            let stays: Vec<usize> = (0..scores.len()).filter(|doc| scores[*doc] + checkpoint.most >= limit).collect();
            if stays.is_empty() {
                return;
            }
            // The answers are recomputed for the remaining documents, which pays only if they are far fewer.
            if n_words(stays.len()) < n_words(scores.len()) {
                places = stays.iter().map(|doc| places[*doc]).collect();
                scores = stays.iter().map(|doc| scores[*doc]).collect();
                self.answer(&Picked { docs, places: &places }, 0..places.len(), scratch);
            }
        }
        self.add(&self.trees[n_trees..], &mut scores, scratch);
        best.extend(places.into_iter().zip(scores));
    }
}

impl Checkpoint {
    /// The minimum final score of the k-th best of these.
    fn limit(&self, scores: &[f64], k: usize) -> f64 {
        if scores.len() < k {
            return f64::NEG_INFINITY;
        }
        let mut least: Vec<f64> = scores.iter().map(|score| score + self.least).collect();
        let (_, limit, _) = least.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
        *limit
    }
}

/// A subset of documents.
struct Picked<'a, D> {
    docs: &'a D,
    places: &'a [usize],
}

impl<D: Documents> Documents for Picked<'_, D> {
    type Value = D::Value;

    fn n_docs(&self) -> usize {
        self.places.len()
    }

    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(D::Value) -> O, out: &mut [O]) {
        let places = &self.places[docs];
        let is_run = places.first().zip(places.last()).is_some_and(|(first, last)| last - first + 1 == places.len());
        if is_run {
            let whole = places[0]..places[0] + places.len();
            return self.docs.values(features, whole, convert, out);
        }
        for (column, feature) in out.chunks_exact_mut(places.len()).zip(features) {
            for (value, place) in column.iter_mut().zip(places) {
                self.docs.values(feature..feature + 1, *place..place + 1, &convert, std::slice::from_mut(value));
            }
        }
    }
}
