//! Where the rows of a group would go, and whether so few or so many may go there.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

use super::{EngineSetup, HostTree, SortedNode, Waiting};
use crate::counts::{BinCounts, count_bins};
use crate::histograms::Histograms;
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
                room.sort(simd, rows, &data.column(split.feature), Question::new(data, &split))
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
        let counts = self.count_refused(refused.iter().map(|idx| &groups[*idx]));
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

    /// For each group, how many rows of each of its nodes the bins of its split's feature have.
    fn count_refused<'g>(&self, groups: impl Iterator<Item = &'g Waiting<H::Search>>) -> Vec<Vec<BinCounts>>
    where
        H::Search: 'g,
    {
        let (mut asked, mut n_nodes) = (Vec::new(), Vec::new());
        for group in groups {
            let nodes = self.with_rows(group.nodes.iter().copied());
            let before = asked.len();
            asked.extend(nodes.map(|node| (self.rows(node), group.split.feature)));
            n_nodes.push(asked.len() - before);
        }
        let setup = &self.engine.setup;
        let mut counts = count_bins(setup.data, setup.reduce, &asked).into_iter();
        n_nodes.into_iter().map(|n_nodes| counts.by_ref().take(n_nodes).collect()).collect()
    }
}
