//! Where the rows of a group would go, and whether so few or so many may go there.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

use super::{EngineSetup, HostTree, SortedNode, Waiting};
use crate::histograms::{BinCounts, Histograms};
use crate::partition::Sorted;
use crate::question::Question;
use crate::scan::Split;

impl<H: Histograms> HostTree<'_, '_, H> {
    /// Sorts the rows of groups by the side that they go to.
    pub(super) fn sort_rows(&mut self, groups: &mut [Waiting<H::Search>]) {
        let started = Instant::now();
        let node_ids = || groups.iter().flat_map(|group| &group.nodes);
        let ranges: Vec<Range<usize>> = node_ids().map(|node| self.nodes[*node].rows.clone()).collect();
        let mut sides = std::mem::take(&mut self.sides);
        let rooms = sides.of_ranges(&ranges);
        let splits = groups.iter().flat_map(|group| group.nodes.iter().map(|_| group.split));
        let EngineSetup { data, simd, .. } = self.engine.setup;
        let tasks: Vec<_> = rooms.into_iter().zip(&ranges).zip(splits).collect();
        let sorted: Vec<Sorted> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|((mut room, range), split)| {
                let rows = self.partition.rows(range.clone());
                room.sort(simd, rows, data.column(split.feature), Question::new(data, &split))
            })
            .collect();
        self.sides = sides;
        let mut counts: Vec<u64> = sorted.iter().flat_map(|sorted| sorted.counts().map(|count| count as u64)).collect();
        self.engine.setup.reduce.sum(&mut counts);
        let counts = counts.as_chunks::<2>().0.iter().map(|counts| counts.map(|count| count as u32));
        let mut of_nodes = sorted.into_iter().zip(counts).map(|(sorted, counts)| SortedNode { sorted, counts });
        for group in groups {
            group.sorted = Some(of_nodes.by_ref().take(group.nodes.len()).collect());
        }
        self.times.partition += started.elapsed();
    }

    /// The split of each group if it is allowed, or else the next best one.
    pub(super) fn find_allowed(&self, groups: &mut [Waiting<H::Search>]) -> Vec<Option<Split>> {
        let context = self.context();
        let mut splits: Vec<Option<Split>> = groups.iter().map(|group| Some(group.split)).collect();
        let is_allowed = |group: &Waiting<H::Search>| {
            let sorted = group.sorted.iter().flatten();
            self.engine.histograms.allows(&context, sorted.map(|sorted| sorted.counts))
        };
        let refused: Vec<usize> = (0..groups.len()).filter(|idx| !is_allowed(&groups[*idx])).collect();
        if refused.is_empty() {
            return splits;
        }
        let counts = self.count_bins(refused.iter().map(|idx| (groups[*idx].nodes[0], groups[*idx].split.feature)));
        let mut left = &mut *groups;
        let mut tasks = Vec::with_capacity(refused.len());
        let mut first = 0;
        for (idx, counts) in refused.iter().zip(&counts) {
            let (before, rest) = left.split_at_mut(idx + 1 - first);
            tasks.push((&mut before[idx - first], counts));
            (left, first) = (rest, idx + 1);
        }
        let next: Vec<Option<Split>> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(group, counts)| {
                group.sorted = None;
                let scan = self.scan_group(group.nodes.iter().copied(), group.features.as_deref());
                self.engine.histograms.next_best(&context, &scan, counts, &mut group.search)
            })
            .collect();
        refused.into_iter().zip(next).for_each(|(idx, split)| splits[idx] = split);
        splits
    }

    /// How many rows of all members each bin of a feature has, for pairs of node and feature.
    pub(super) fn count_bins(&self, asked: impl Iterator<Item = (usize, usize)>) -> Vec<BinCounts> {
        let asked: Vec<(usize, usize)> = asked.collect();
        let mut counts: Vec<BinCounts> = asked
            .into_par_iter()
            .with_max_len(1)
            .map(|(node, feature)| {
                let bins = self.engine.setup.data.column(feature);
                let mut counts = [0; 256];
                self.rows(node).iter().for_each(|row| counts[usize::from(bins[*row as usize])] += 1);
                counts
            })
            .collect();
        if self.engine.setup.reduce.n_members() > 1 {
            let mut all: Vec<u64> = counts.as_flattened().iter().map(|count| u64::from(*count)).collect();
            self.engine.setup.reduce.sum(&mut all);
            counts.as_flattened_mut().iter_mut().zip(all).for_each(|(count, all)| *count = all as u32);
        }
        counts
    }
}
