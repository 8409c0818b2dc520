//! For few documents: each walks through all trees, several at a time, so that their memory accesses overlap.

use crate::plan::{FlatTree, Shape};
use crate::tree_scorer::TreeScorer;
use crate::{Documents, Scratch};

/// Number of trees walked side by side.
const ABREAST: usize = 8;

impl TreeScorer {
    pub(crate) fn walk(&self, docs: &impl Documents, first: usize, scores: &mut [f64], scratch: &mut Scratch) {
        for (doc, score) in scores.iter_mut().enumerate() {
            self.answer_one(docs, first + doc, scratch);
            add_walked(&self.trees, &scratch.truths, score);
        }
    }

    /// Evaluates all tests for one document: 1 if it passes.
    pub(crate) fn answer_one(&self, docs: &impl Documents, doc: usize, scratch: &mut Scratch) {
        let Scratch { tile, truths, .. } = scratch;
        truths.clear();
        tile.start(1);
        for ruler in &self.rulers {
            tile.rank(self.simd, self.precision, ruler, docs, &(doc..doc + 1), self.n_features);
            let [passed, failed] = &ruler.tests;
            let rank = tile.ranks[0][0];
            truths.extend(passed.iter().map(|test| u8::from(rank <= *test)));
            tile.fail_missing();
            let rank = tile.ranks[0][0];
            truths.extend(failed.iter().map(|test| u8::from(rank <= *test)));
        }
    }
}

/// Adds the leaf of each tree to a score.
pub(crate) fn add_walked(trees: &[FlatTree], truths: &[u8], score: &mut f64) {
    for trees in trees.chunks(ABREAST) {
        let mut leaves = [0; ABREAST];
        walk(trees, truths, &mut leaves);
        for (tree, leaf) in trees.iter().zip(leaves) {
            *score += tree.values[leaf];
        }
    }
}

/// The leaf of each tree.
fn walk(trees: &[FlatTree], truths: &[u8], leaves: &mut [usize; ABREAST]) {
    let mut places = [0; ABREAST];
    let mut is_under_way = true;
    while is_under_way {
        is_under_way = false;
        for ((tree, place), leaf) in trees.iter().zip(&mut places).zip(&mut *leaves) {
            match &tree.shape {
                Shape::Nodes(nodes) => match nodes.get(*place) {
                    Some(node) => {
                        let passes = truths[node.test as usize] != 0;
                        *place = usize::from(if passes { node.left } else { node.right });
                        is_under_way = true;
                    }
                    None => *leaf = *place - nodes.len(),
                },
                Shape::Levels(tests) => {
                    *leaf = tests.iter().fold(0, |leaf, test| leaf << 1 | usize::from(truths[*test as usize]));
                }
            }
        }
    }
}
