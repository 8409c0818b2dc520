//! Nodes that wait to be split: how they get into the queue, what they keep there, and what is made sure of when their turn
//! comes.

use std::time::Instant;

use super::{Candidate, Growing, SortedCandidate};
use crate::engine::{Engine, ScanGroup, ScanNode};
use crate::node_features;
use crate::partition::Sorted;
use crate::question::Question;

impl<E: Engine> Growing<'_, E> {
    /// The best splits of new nodes, grouped as the policy says.
    pub(super) fn candidates(&mut self, nodes: Vec<usize>) -> Vec<Candidate<E::Search>> {
        let started = Instant::now();
        let open: Vec<usize> = nodes.into_iter().filter(|node| self.histograms[*node].is_some()).collect();
        let groups: Vec<Vec<usize>> =
            self.grower.params.grow.group(open).into_iter().filter(|group| !group.is_empty()).collect();
        let scans: Vec<ScanGroup<'_, E::Histogram>> = groups.iter().map(|group| self.scan_group(group)).collect();
        let splits = self.engine.best_splits(&self.context, &scans);
        let mut found = Vec::new();
        for (group, split) in groups.into_iter().zip(splits) {
            if let Some((split, search)) = split {
                let depth = self.nodes[group[0]].depth;
                found.push(Candidate { depth, nodes: group, split, search });
            } else {
                self.close(&group);
            }
        }
        self.times.splits += started.elapsed();
        found
    }

    /// Sorts the rows of a batch and makes sure of its splits. Where all are what they seemed, gives the batch back;
    /// otherwise puts what is left of it into the queue, each with the best split that is now known.
    pub(super) fn confirm(
        &mut self,
        batch: Vec<Candidate<E::Search>>,
        queue: &mut Vec<Candidate<E::Search>>,
    ) -> Option<Vec<SortedCandidate>> {
        let mut is_sure = true;
        let mut confirmed = Vec::with_capacity(batch.len());
        let mut left = Vec::with_capacity(batch.len());
        for mut candidate in batch {
            self.restore_histograms(&candidate.nodes);
            let sorted = self.sort(&candidate);
            let started = Instant::now();
            let counts: Vec<[usize; 2]> = sorted.iter().map(Sorted::counts).collect();
            let group = self.scan_group(&candidate.nodes);
            let split = candidate.split;
            match self.engine.confirm(&self.context, &group, (split, &counts), &mut candidate.search) {
                Some(same) if same == split => {
                    confirmed.push(SortedCandidate { nodes: candidate.nodes.clone(), split, sorted });
                    left.push(candidate);
                }
                Some(next) => {
                    is_sure = false;
                    left.push(Candidate { split: next, ..candidate });
                }
                None => {
                    is_sure = false;
                    self.close(&candidate.nodes);
                }
            }
            self.times.splits += started.elapsed();
        }
        if is_sure {
            return Some(confirmed);
        }
        queue.append(&mut left);
        None
    }

    /// Sorts the rows of a candidate's nodes by the side they go to.
    fn sort(&mut self, candidate: &Candidate<E::Search>) -> Vec<Sorted> {
        let started = Instant::now();
        let question = Question::new(self.grower.data, &candidate.split);
        let bins = self.grower.data.column(candidate.split.feature);
        let ranges = candidate.nodes.iter().map(|node| self.nodes[*node].rows.clone());
        let sorted = ranges.map(|range| self.partition.sort(range, bins, question)).collect();
        self.times.partition += started.elapsed();
        sorted
    }

    /// Gives the histograms of nodes back.
    fn close(&mut self, nodes: &[usize]) {
        for node in nodes {
            if let Some(histogram) = self.histograms[*node].take() {
                self.engine.recycle(histogram);
            }
        }
    }

    /// Drops the histograms of the least promising candidates if there are too many.
    pub(super) fn drop_histograms(&mut self, queue: &[Candidate<E::Search>]) {
        // Nodes that are searched together are needed together.
        if self.n_kept >= self.grower.params.leaf_limit() || self.context.allows_empty_sides {
            return;
        }
        let mut waiting: Vec<&Candidate<E::Search>> =
            queue.iter().filter(|candidate| self.histograms[candidate.nodes[0]].is_some()).collect();
        waiting.sort_by(|a, b| a.split.gain.total_cmp(&b.split.gain));
        let n_dropped = waiting.len().saturating_sub(self.n_kept);
        for candidate in &waiting[..n_dropped] {
            self.close(&candidate.nodes);
        }
    }

    /// Sums the histograms of nodes that lost theirs while they waited.
    fn restore_histograms(&mut self, nodes: &[usize]) {
        let started = Instant::now();
        for node in nodes {
            if self.histograms[*node].is_none() {
                let rows = self.partition.rows(self.nodes[*node].rows.clone());
                self.histograms[*node] =
                    Some(self.engine.histogram_of(&self.context, rows, self.nodes[*node].whole.sums));
            }
        }
        self.times.histograms += started.elapsed();
    }

    fn scan_group(&self, group: &[usize]) -> ScanGroup<'_, E::Histogram> {
        let nodes = group.iter().map(|node| ScanNode {
            histogram: self.histograms[*node].as_ref().expect("only open nodes are grouped"),
            rows: self.partition.rows(self.nodes[*node].rows.clone()),
            whole: self.nodes[*node].whole,
            bounds: self.nodes[*node].bounds,
        });
        let features = node_features::of_node(
            &self.context.features,
            self.grower.data.feature_ids(),
            self.grower.params.feature_fraction_bynode,
            (self.grower.seed, self.tree, group[0] as u32),
        );
        ScanGroup { nodes: nodes.collect(), features }
    }
}
