//! From the nodes of the loop to a tree of the model.

use rankwise_model::{Child, Tree, TreeParts};

use super::{Division, Growing, GrownTree};

impl Growing<'_, '_> {
    /// The tree in the model's form: nodes in the order in which a walk from the root meets them, left first.
    pub(super) fn finish(mut self) -> GrownTree {
        self.cut();
        let mut parts = TreeParts::default();
        let mut leaves = Vec::new();
        // (node, the place in the parts that leads to it)
        let mut stack: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        while let Some((id, edge)) = stack.pop() {
            let node = &self.nodes[id];
            let child = if let Some(Division { split, children }) = node.division {
                let bins = self.data.bins(split.feature);
                let place = parts.feature.len();
                parts.feature.push(split.feature as u32);
                parts.threshold.push(bins.upper(split.bin));
                parts.missing_left.push(split.missing_left);
                parts.gain.push(split.gain);
                parts.count.push(node.whole.count.into());
                parts.left.push(0);
                parts.right.push(0);
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
        parts.leaf_value = self.leaf_values(&leaves);
        let n_rows = self.nodes[0].whole.count.into();
        let times = self.open.finish(&leaves);
        GrownTree { tree: Tree::new(parts).expect("the loop builds one tree from its root"), n_rows, times }
    }

    /// Takes back, from the leaves up, splits that do not gain enough and have none below them, if they could be made at all.
    fn cut(&mut self) {
        if !self.params.prune {
            return;
        }
        // Children come after their parents.
        for id in (0..self.nodes.len()).rev() {
            let Some(Division { split, children }) = self.nodes[id].division else { continue };
            let has_more = children.iter().any(|child| self.nodes[*child].division.is_some());
            if !has_more && split.gain <= self.params.min_gain_to_split {
                self.nodes[id].division = None;
            }
        }
    }

    fn leaf_values(&mut self, leaves: &[usize]) -> Vec<f64> {
        let (params, input) = (self.params, self.input);
        // Where the search looked at something else, nothing else keeps a leaf without curvature from a huge value.
        let is_searched = params.structure == params.leaf_estimation;
        let least_hess = if is_searched { 0.0 } else { params.min_sum_hessian_in_leaf };
        let sums = self.open.sum_leaves(leaves);
        let values = leaves.iter().zip(sums).enumerate().map(|(leaf, (id, sums))| {
            let node = &self.nodes[*id];
            let (mut grad, hess) = (sums.grad, sums.hess.max(least_hess));
            if let Some(noise) = input.leaf_noise {
                let spread = libm::sqrt(hess + params.l2());
                grad += noise.scale * spread * noise.draw.normals(leaf as u64, 0)[0];
            }
            node.bounds.clamp(params.leaf_value(node.whole.count as usize, (grad, hess))) * input.learning_rate
        });
        values.collect()
    }
}
