//! From the nodes of the loop to a tree of the model.

use std::ops::Range;

#[cfg(test)]
use rankwise_data::BinnedDataset;
use rankwise_model::{Child, Tree, TreeParts};
use rayon::prelude::*;

use super::{Division, GrowInput, Growing, PhaseTimes};
use crate::engine::Engine;
use crate::fixed_point::WideScale;
use crate::question::Question;

/// A tree, and where its rows went.
#[derive(Clone, Debug)]
pub struct GrownTree {
    /// The tree; it names features by their index in the binned data.
    pub tree: Tree,
    /// The rows that it was grown from, sorted by leaf, and ascending in each.
    pub rows: Vec<u32>,
    /// For each leaf, its part of `rows`.
    pub leaf_rows: Vec<Range<usize>>,
    /// Where the time went.
    pub times: PhaseTimes,
    pub(super) questions: Vec<Question>,
}

#[cfg(test)]
impl GrownTree {
    /// The leaf of a row of data that has the same bins, by a walk: the plain twin of [`GrownTree::add_to`].
    pub(crate) fn leaf_of(&self, data: &BinnedDataset, row: usize) -> usize {
        self.tree.walk(|node| {
            let question = self.questions[node];
            question.goes_left(data.column(question.feature)[row])
        })
    }
}

impl<E: Engine> Growing<'_, E> {
    /// The tree in the model's form: nodes in the order in which a walk from the root meets them, left first.
    pub(super) fn finish(mut self, input: &GrowInput<'_>) -> GrownTree {
        let open = self.histograms.iter_mut().filter_map(Option::take);
        open.for_each(|histogram| self.engine.recycle(histogram));
        self.cut();
        let mut parts = TreeParts::default();
        let mut questions = Vec::new();
        let mut leaves = Vec::new();
        // (node, the place in the parts that leads to it)
        let mut stack: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        while let Some((id, edge)) = stack.pop() {
            let node = &self.nodes[id];
            let child = if let Some(Division { split, children }) = node.division {
                let bins = self.grower.data.bins(split.feature);
                let place = parts.feature.len();
                parts.feature.push(split.feature as u32);
                parts.threshold.push(f64::from(bins.upper(split.bin)));
                parts.missing_left.push(split.missing_left);
                parts.gain.push(split.gain);
                parts.count.push(node.whole.count.into());
                parts.left.push(0);
                parts.right.push(0);
                questions.push(Question::new(self.grower.data, &split));
                stack.push((children[1], Some((place, false))));
                stack.push((children[0], Some((place, true))));
                Child::Node(place)
            } else {
                leaves.push(id);
                parts.leaf_count.push(node.whole.count.into());
                Child::Leaf(leaves.len() - 1)
            };
            if let Some((place, is_left)) = edge {
                let codes = if is_left { &mut parts.left } else { &mut parts.right };
                codes[place] = child.encode();
            }
        }
        parts.leaf_value = self.leaf_values(&leaves, input);
        GrownTree {
            tree: Tree::new(parts).expect("the loop builds one tree from its root"),
            leaf_rows: leaves.iter().map(|id| self.nodes[*id].rows.clone()).collect(),
            times: self.times,
            rows: self.partition.into_rows(),
            questions,
        }
    }

    /// Takes back, from the leaves up, splits that do not gain enough and have none below them, if they could be made at all.
    fn cut(&mut self) {
        if !self.grower.params.prune {
            return;
        }
        // Children come after their parents.
        for id in (0..self.nodes.len()).rev() {
            let Some(Division { split, children }) = self.nodes[id].division else { continue };
            let has_more = children.iter().any(|child| self.nodes[*child].division.is_some());
            if !has_more && split.gain <= self.grower.params.min_gain_to_split {
                self.nodes[id].division = None;
                self.partition.restore(self.nodes[id].rows.clone());
            }
        }
    }

    fn leaf_values(&self, leaves: &[usize], input: &GrowInput<'_>) -> Vec<f64> {
        let params = self.grower.params;
        // Where the search looked at something else, nothing else keeps a leaf without curvature from a huge value.
        let is_searched = params.structure == params.leaf_estimation;
        let least_hess = if is_searched { 0.0 } else { params.min_sum_hessian_in_leaf };
        let grad_scale = WideScale::new(input.leaf_grad, input.rows);
        let hess_scale = WideScale::new(input.leaf_hess, input.rows);
        leaves
            .par_iter()
            .enumerate()
            .map(|(leaf, id)| {
                let node = &self.nodes[*id];
                let rows = self.partition.rows(node.rows.clone());
                let mut grad = grad_scale.sum(input.leaf_grad, rows);
                let hess = hess_scale.sum(input.leaf_hess, rows).max(least_hess);
                if let Some(noise) = input.leaf_noise {
                    let spread = libm::sqrt(hess + params.lambda_l2);
                    grad += noise.scale * spread * noise.draw.normals(leaf as u64, 0)[0];
                }
                node.bounds.clamp(params.leaf_value(rows.len(), (grad, hess))) * input.learning_rate
            })
            .collect()
    }
}
