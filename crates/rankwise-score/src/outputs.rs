//! Several outputs: each has its own trees, and a document's score depends on all of them.

use rankwise_model::ExpectedGain;

use crate::tree_scorer::{BLOCK_DOCS, TreeScorer, WALKED_DOCS};
use crate::{Documents, Scratch};

impl TreeScorer {
    /// Scores all documents by their expected gain.
    pub(crate) fn score_outputs(
        &self,
        expected: &ExpectedGain,
        docs: &impl Documents,
        scores: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let n_outputs = expected.gains.len();
        let n_trees = self.trees.len() / n_outputs;
        let trees_of = |output: usize| &self.trees[output * n_trees..(output + 1) * n_trees];
        let mut planes = std::mem::take(&mut scratch.planes);
        for (block, scores) in scores.chunks_mut(BLOCK_DOCS).enumerate() {
            let (first, n_docs) = (block * BLOCK_DOCS, scores.len());
            planes.clear();
            for base_score in &expected.base_scores {
                planes.resize(planes.len() + n_docs, *base_score);
            }
            if n_docs <= WALKED_DOCS {
                for doc in 0..n_docs {
                    self.rank_one(docs, first + doc, scratch);
                    for output in 0..n_outputs {
                        self.add_walked(trees_of(output), &scratch.ranks, &mut planes[output * n_docs + doc]);
                    }
                }
            } else {
                self.answer(docs, first..first + n_docs, scratch);
                for (output, plane) in planes.chunks_mut(n_docs).enumerate() {
                    self.add(trees_of(output), plane, scratch);
                }
            }
            for (doc, score) in scores.iter_mut().enumerate() {
                *score = expected.score(planes.iter().skip(doc).step_by(n_docs).copied());
            }
        }
        scratch.planes = planes;
    }
}
