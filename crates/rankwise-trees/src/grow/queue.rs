//! Nodes that wait to be split: how they get into the queue, what they keep there, and what is made sure of when their turn
//! comes.

use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Candidate, Growing};
use crate::engine::{Engine, ScanGroup, ScanNode};
use crate::node_features;
use crate::partition::{SidesOfRange, Sorted};
use crate::question::Question;

/// What came of a candidate that was looked at.
struct Look {
    is_worthwhile: bool,
    sorting: Duration,
    searching: Duration,
}

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
                found.push(Candidate { depth, nodes: group, split, search, sorted: None });
            } else {
                self.close(&group);
            }
        }
        self.times.splits += started.elapsed();
        found
    }

    /// Sorts the rows of those candidates that are not sure, and looks whether their splits are allowed. Gives back what is
    /// left of all, each with the best split that is now known.
    pub(super) fn confirm(
        &mut self,
        candidates: impl Iterator<Item = Candidate<E::Search>>,
    ) -> Vec<Candidate<E::Search>> {
        let (mut sure, unsure): (Vec<_>, Vec<_>) = candidates.partition(Candidate::is_sure);
        for candidate in &unsure {
            self.restore_histograms(&candidate.nodes);
        }
        let started = Instant::now();
        let ranges: Vec<Range<usize>> =
            unsure.iter().flat_map(|candidate| &candidate.nodes).map(|node| self.nodes[*node].rows.clone()).collect();
        let mut sides = std::mem::take(&mut self.sides);
        let mut rooms = sides.of_ranges(&ranges).into_iter();
        let tasks: Vec<(Candidate<E::Search>, Vec<SidesOfRange<'_>>)> = unsure
            .into_iter()
            .map(|candidate| {
                let rooms = rooms.by_ref().take(candidate.nodes.len()).collect();
                (candidate, rooms)
            })
            .collect();
        let looked_at: Vec<(Candidate<E::Search>, Look)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(mut candidate, rooms)| {
                let look = self.look_at(&mut candidate, rooms);
                (candidate, look)
            })
            .collect();
        self.sides = sides;
        self.book(started.elapsed(), looked_at.iter().map(|(_, look)| look));
        for (candidate, look) in looked_at {
            if look.is_worthwhile {
                sure.push(candidate);
            } else {
                self.close(&candidate.nodes);
            }
        }
        sure
    }

    /// Sorts the rows of a candidate's nodes by the side they go to, and keeps them if the split is allowed; otherwise looks
    /// for the next best one.
    fn look_at(&self, candidate: &mut Candidate<E::Search>, rooms: Vec<SidesOfRange<'_>>) -> Look {
        let started = Instant::now();
        let group = self.scan_group(&candidate.nodes);
        let question = Question::new(self.grower.data, &candidate.split);
        let bins = self.grower.data.column(candidate.split.feature);
        let sort = |(mut room, node): (SidesOfRange<'_>, &ScanNode<'_, E::Histogram>)| {
            room.sort(self.grower.simd, node.rows, bins, question)
        };
        let sorted: Vec<Sorted> = rooms.into_iter().zip(&group.nodes).map(sort).collect();
        let sorting = started.elapsed();
        let counts: Vec<[usize; 2]> = sorted.iter().map(Sorted::counts).collect();
        let best = self.engine.confirm(&self.context, &group, (candidate.split, &counts), &mut candidate.search);
        if best == Some(candidate.split) {
            candidate.sorted = Some(sorted);
        }
        candidate.split = best.unwrap_or(candidate.split);
        Look { is_worthwhile: best.is_some(), sorting, searching: started.elapsed().checked_sub(sorting).unwrap() }
    }

    /// Books wall time by what the threads did meanwhile.
    fn book<'l>(&mut self, wall: Duration, looks: impl Iterator<Item = &'l Look>) {
        let (sorting, searching) = looks.fold((Duration::ZERO, Duration::ZERO), |(sorting, searching), look| {
            (sorting + look.sorting, searching + look.searching)
        });
        let searching =
            wall.mul_f64(searching.as_secs_f64() / (sorting + searching).as_secs_f64().max(f64::MIN_POSITIVE));
        self.times.splits += searching;
        self.times.partition += wall.saturating_sub(searching);
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
        if self.n_kept >= self.leaf_limit || self.context.allows_empty_sides {
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
    pub(super) fn restore_histograms(&mut self, nodes: &[usize]) {
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
