//! For few documents: each walks through all trees, several at a time, so that their memory accesses overlap.

use crate::plan::{FlatTree, Ruler, Shape};
use crate::tree_scorer::TreeScorer;
use crate::{Documents, Scratch};

/// Number of trees walked side by side.
const ABREAST: usize = 8;

/// All tests as a walk evaluates them: only those that it meets, by the ranks of the document's values.
#[derive(Clone, Debug)]
pub(crate) struct WalkTests(Vec<WalkTest>);

/// A test passes if the rank in this place is at most `mark`.
#[derive(Clone, Copy, Debug)]
struct WalkTest {
    place: u32,
    mark: u8,
}

impl WalkTests {
    /// Each ruler has two ranks: one for the tests that missing values pass, then one for those that they fail.
    pub(crate) fn new(rulers: &[Ruler]) -> Self {
        let sides = rulers.iter().flat_map(|ruler| &ruler.tests);
        let of_side = |(place, marks): (u32, &Vec<u8>)| {
            marks.iter().map(move |mark| WalkTest { place, mark: *mark }).collect::<Vec<_>>()
        };
        Self((0..).zip(sides).flat_map(of_side).collect())
    }

    fn passes(&self, test: u32, ranks: &[u8]) -> bool {
        let WalkTest { place, mark } = self.0[test as usize];
        ranks[place as usize] <= mark
    }
}

impl TreeScorer {
    pub(crate) fn walk(&self, docs: &impl Documents, first: usize, scores: &mut [f64], scratch: &mut Scratch) {
        for (doc, score) in scores.iter_mut().enumerate() {
            self.rank_one(docs, first + doc, scratch);
            self.add_walked(&self.trees, &scratch.ranks, score);
        }
    }

    /// The ranks of one document, two for each ruler.
    pub(crate) fn rank_one(&self, docs: &impl Documents, doc: usize, scratch: &mut Scratch) {
        let Scratch { tile, ranks, .. } = scratch;
        ranks.clear();
        ranks.reserve(2 * self.rulers.len());
        tile.start(1);
        for ruler in &self.rulers {
            tile.rank(self.simd, self.precision, ruler, docs, &(doc..doc + 1), self.n_features);
            ranks.push(tile.ranks[0][0]);
            tile.fail_missing();
            ranks.push(tile.ranks[0][0]);
        }
    }

    /// Adds the leaf of each tree to a score.
    pub(crate) fn add_walked(&self, trees: &[FlatTree], ranks: &[u8], score: &mut f64) {
        for trees in trees.chunks(ABREAST) {
            let mut leaves = [0; ABREAST];
            self.leaves(trees, ranks, &mut leaves);
            for (tree, leaf) in trees.iter().zip(leaves) {
                *score += tree.values[leaf];
            }
        }
    }

    /// The leaf of each tree.
    fn leaves(&self, trees: &[FlatTree], ranks: &[u8], leaves: &mut [usize; ABREAST]) {
        let mut places = [0; ABREAST];
        let mut is_under_way = true;
        while is_under_way {
            is_under_way = false;
            for ((tree, place), leaf) in trees.iter().zip(&mut places).zip(&mut *leaves) {
                match &tree.shape {
                    Shape::Nodes(nodes) => match nodes.get(*place) {
                        Some(node) => {
                            let passes = self.walk_tests.passes(node.test, ranks);
                            *place = usize::from(if passes { node.left } else { node.right });
                            is_under_way = true;
                        }
                        None => *leaf = *place - nodes.len(),
                    },
                    Shape::Levels(tests) => {
                        let bit = |test: &u32| usize::from(self.walk_tests.passes(*test, ranks));
                        *leaf = tests.iter().fold(0, |leaf, test| leaf << 1 | bit(test));
                    }
                }
            }
        }
    }
}
