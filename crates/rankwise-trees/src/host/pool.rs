//! The histograms of nodes that may still be split: made by subtraction where possible, dropped where there are too many.

use std::time::Instant;

use super::{Family, HostTree, Waiting};
use crate::engine::Group;
use crate::histograms::{Histograms, Parent};

impl<H: Histograms> HostTree<'_, '_, H> {
    /// Gives the nodes of new groups their histograms: children by subtraction, where possible.
    pub(super) fn build_histograms(&mut self, groups: &[Group]) {
        let started = Instant::now();
        for node in groups.iter().flat_map(|group| &group.nodes) {
            self.nodes[node.id].bounds = node.bounds;
        }
        let context = self.context();
        let mut is_wanted = vec![false; self.nodes.len()];
        for node in groups.iter().flat_map(|group| &group.nodes) {
            let whole = self.nodes[node.id].whole;
            is_wanted[node.id] = whole.count > 0 && self.engine.histograms.wants(&context, whole);
        }
        // Nodes that share a split are searched at once. Where not all of their histograms fit, none is kept.
        let n_wanted = is_wanted.iter().filter(|is_wanted| **is_wanted).count();
        let keeps = !(context.allows_empty_sides && H::SEARCHES_ROWS) || n_wanted <= self.n_kept;
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        let mut histograms = Vec::new();
        for Family { parent, children: [left, right] } in std::mem::take(&mut self.families) {
            let is_left_smaller = self.nodes[left].whole.count <= self.nodes[right].whole.count;
            let (small, large) = if is_left_smaller { (left, right) } else { (right, left) };
            let Some(histogram) = self.nodes[parent].histogram.take() else { continue };
            if keeps && is_wanted[large] && self.nodes[small].whole.count == 0 {
                self.nodes[large].histogram = Some(histogram);
                continue;
            }
            self.n_held -= 1;
            if keeps && is_wanted[large] {
                wanted.push((small, large));
                histograms.push(histogram);
            } else {
                self.engine.histograms.recycle(histogram);
            }
        }
        let parents = wanted.iter().zip(histograms).map(|((small, large), histogram)| Parent {
            histogram,
            small_rows: self.rows(*small),
            small: is_wanted[*small].then_some(self.nodes[*small].whole.sums),
            large: self.nodes[*large].whole.sums,
        });
        let built = self.engine.histograms.children(&self.context(), parents.collect());
        for ((small, large), (of_small, of_large)) in wanted.into_iter().zip(built) {
            self.n_held += 1 + usize::from(of_small.is_some());
            self.nodes[large].histogram = Some(of_large);
            self.nodes[small].histogram = of_small;
        }
        self.times.histograms += started.elapsed();
        if keeps {
            let nodes = groups.iter().flat_map(|group| &group.nodes).map(|node| node.id);
            self.sum_missing(nodes.filter(|node| is_wanted[*node]).collect());
        }
    }

    /// Sums the histograms of nodes that lost theirs while they waited.
    pub(super) fn restore_histograms(&mut self, groups: &[Waiting<H::Search>]) {
        // Nodes that share a split lose nothing while they wait.
        if !self.engine.setup.params.growth().allows_empty_sides() {
            self.sum_missing(groups.iter().flat_map(|group| group.nodes.iter().copied()).collect());
        }
    }

    /// Sums the histograms of nodes that have none.
    fn sum_missing(&mut self, nodes: Vec<usize>) {
        let started = Instant::now();
        for node in nodes {
            if self.nodes[node].histogram.is_none() {
                let whole = self.nodes[node].whole.sums;
                let histogram = self.engine.histograms.histogram_of(&self.context(), self.rows(node), whole);
                self.nodes[node].histogram = Some(histogram);
                self.n_held += 1;
            }
        }
        self.times.histograms += started.elapsed();
    }

    /// Gives the histograms of nodes back.
    pub(super) fn close(&mut self, nodes: &[usize]) {
        for node in nodes {
            if let Some(histogram) = self.nodes[*node].histogram.take() {
                self.engine.histograms.recycle(histogram);
                self.n_held -= 1;
            }
        }
    }

    /// Drops the histograms of the least promising groups if there are too many.
    pub(super) fn drop_histograms(&mut self) {
        // Nodes that are searched together are needed together.
        if self.n_held <= self.n_kept || self.engine.setup.params.growth().allows_empty_sides() {
            return;
        }
        let held = self.waiting.iter().flatten().filter(|group| self.nodes[group.nodes[0]].histogram.is_some());
        let mut waiting: Vec<(f64, usize)> = held.map(|group| (group.split.gain, group.nodes[0])).collect();
        waiting.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n_dropped = waiting.len().saturating_sub(self.n_kept);
        let dropped: Vec<usize> = waiting[..n_dropped].iter().map(|(_, node)| *node).collect();
        self.close(&dropped);
    }
}
