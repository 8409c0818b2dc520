//! From peaks to the best split of a node, and again with counts where a winner has too few rows.

use rayon::prelude::*;

use super::{BlockHistogram, FastHistograms};
use crate::context::TreeContext;
use crate::histograms::{BinCounts, ScanGroup, ScanNode};
use crate::kernel::lane::{LaneScan, best_of_lane};
use crate::kernel::peaks::{PeakScan, SLACK};
use crate::scan::{Split, Sweep, best_of_feature};
use crate::{Cell, Sums};

/// What is known about the best split of each feature of a group, by their places in it.
#[derive(Debug)]
pub(crate) struct NodeSearch {
    /// No score is above this; negative infinity where more is known.
    bounds: Vec<f64>,
    searched: Vec<SearchedFeature>,
}

/// A feature that was searched exactly.
#[derive(Clone, Copy, Debug)]
struct SearchedFeature {
    place: usize,
    /// Its best split, with a score in the place of the gain.
    split: Option<Split>,
    /// Whether that is the best that counts allow, or the best, counts aside.
    is_counted: bool,
}

/// Which feature is the best as far as is known.
enum First {
    /// It must be searched to be sure.
    Unsure(usize),
    Sure(SearchedFeature, Split),
}

impl NodeSearch {
    pub(super) fn is_counted(&self, place: usize) -> bool {
        self.searched.iter().any(|known| known.place == place && known.is_counted)
    }

    pub(super) fn count(&mut self, place: usize, split: Option<Split>) {
        self.learn(SearchedFeature { place, split, is_counted: true });
    }

    fn learn(&mut self, known: SearchedFeature) {
        self.bounds[known.place] = f64::NEG_INFINITY;
        match self.searched.iter_mut().find(|before| before.place == known.place) {
            Some(before) => *before = known,
            None => self.searched.push(known),
        }
    }

    /// The place with the highest score: one that is not sure before those that are, and the lowest of those.
    fn first(&self) -> Option<First> {
        let splits = self.searched.iter().filter_map(|known| Some((*known, known.split?)));
        let best = splits.reduce(|best, next| {
            let is_better = next.1.gain > best.1.gain || (next.1.gain == best.1.gain && next.0.place < best.0.place);
            if is_better { next } else { best }
        });
        let highest = highest(&self.bounds);
        let least = best.map_or(f64::MIN, |(_, split)| split.gain);
        if highest >= least {
            return self.bounds.iter().position(|bound| *bound == highest).map(First::Unsure);
        }
        best.map(|(known, split)| First::Sure(known, split))
    }
}

/// The largest of some numbers, several at a time.
fn highest(bounds: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = bounds.as_chunks::<8>();
    let mut lanes = [f64::NEG_INFINITY; 8];
    for chunk in chunks {
        for (lane, bound) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, *bound);
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |highest, bound| larger(highest, *bound))
}

/// What the search for peaks needs to know of a node with these sums.
pub(super) fn peak_scan(tree: &TreeContext<'_>, whole: Sums) -> PeakScan {
    PeakScan {
        whole: whole.pack(),
        l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
        l2: tree.params.lambda_l2 / tree.scales.hess(1),
        min_hess: tree.scales.least_hess(tree.params.min_sum_hessian_in_leaf),
    }
}

impl FastHistograms<'_> {
    /// What the peaks of a node tell, and exact searches where they tell nothing.
    pub(super) fn search(&self, tree: &TreeContext<'_>, group: &ScanGroup<'_, BlockHistogram>) -> NodeSearch {
        let node = &group.nodes[0];
        let unit = tree.scales.grad(1) * tree.scales.grad(1) / tree.scales.hess(1);
        let in_range = peak_scan(tree, node.whole.sums).is_in_range();
        let has_peaks = in_range && node.bounds.is_free();
        let mut others = Vec::new();
        let bound = |(place, feature): (usize, &usize)| {
            if has_peaks && tree.directions[*feature] == 0 {
                let (block, lane) = self.blocks.place(*feature);
                return f64::from(node.histogram.blocks[block].peaks[lane]) * unit * SLACK;
            }
            others.push(place);
            f64::NEG_INFINITY
        };
        let bounds = group.features.iter().enumerate().map(bound).collect();
        let scan = |place: usize| {
            let split = self.scan_feature(tree, node, group.features[place]);
            SearchedFeature { place, split, is_counted: false }
        };
        let searched = others.into_par_iter().with_min_len(4).map(scan).collect();
        NodeSearch { bounds, searched }
    }

    /// The best split so far and its place, if it is worth making.
    pub(super) fn best(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, BlockHistogram>,
        search: &mut NodeSearch,
    ) -> Option<(usize, Split)> {
        let node = &group.nodes[0];
        loop {
            match search.first()? {
                First::Unsure(place) => {
                    let split = self.scan_feature(tree, node, group.features[place]);
                    search.learn(SearchedFeature { place, split, is_counted: false });
                }
                First::Sure(SearchedFeature { place, .. }, split) => {
                    let gain = tree.gain(split.gain, std::iter::once((node.whole, node.bounds)))?;
                    return Some((place, Split { gain, ..split }));
                }
            }
        }
    }

    /// The best split of one feature, counts aside.
    fn scan_feature(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
    ) -> Option<Split> {
        // Where values are bound, the plain scan judges each candidate.
        if !node.bounds.is_free() || tree.directions[feature] != 0 {
            return self.scan_plainly(tree, node, feature, None);
        }
        let (cells, lane) = self.feature_cells(node.histogram, feature);
        let scan = LaneScan {
            whole: node.whole.sums.pack(),
            grad_unit: tree.scales.grad(1),
            hess_unit: tree.scales.hess(1),
            l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
            l2: tree.params.lambda_l2,
            min_hess: tree.scales.least_hess(tree.params.min_sum_hessian_in_leaf),
        };
        let best = best_of_lane(cells, lane, &scan)?;
        Some(Split { feature, bin: best.bin, missing_left: best.missing_left, gain: best.score })
    }

    /// The plain scan of one feature; without counts, any side with a Hessian has rows enough.
    pub(super) fn scan_plainly(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
        counts: Option<&BinCounts>,
    ) -> Option<Split> {
        let (rows, lane) = self.feature_cells(node.histogram, feature);
        let cells: Vec<Cell> = rows
            .iter()
            .enumerate()
            .map(|(bin, row)| Cell {
                packed: row[lane],
                count: counts.map_or(u32::from(row[lane] != 0), |counts| counts[bin]),
            })
            .collect();
        let mut whole = node.whole;
        if counts.is_none() {
            whole.count = cells.iter().map(|cell| cell.count).sum();
        }
        let min_data = if counts.is_some() { tree.params.min_data_in_leaf } else { 1 };
        best_of_feature(tree, feature, &mut [Sweep::new(&cells, whole, node.bounds)], min_data)
    }
}
