//! Preprocessed trees, and scoring of documents in blocks.

use std::ops::Range;

use rankwise_model::{Model, Output, Precision};
use rankwise_simd::SimdLevel;

use crate::kernel::masks::{self, WORD_DOCS};
use crate::kernel::reach;
use crate::kernel::trees::{Block, add_trees};
use crate::plan::{FlatTree, Plan, Ruler, Shape};
use crate::top::{self, Checkpoint};
use crate::walk::WalkTests;
use crate::{Documents, Scratch};

/// Maximum number of words of documents scored together: one AVX-512 vector per test, and the answers to all tests of a
/// thousand trees still fit in the second-level cache.
const MAX_WORDS: usize = 8;
pub(crate) const BLOCK_DOCS: usize = MAX_WORDS * WORD_DOCS;
/// Up to this many documents are walked one by one.
pub(crate) const WALKED_DOCS: usize = 3;

/// Preprocessed trees.
#[derive(Clone, Debug)]
pub(crate) struct TreeScorer {
    pub(crate) base_score: f64,
    /// With several outputs, the trees of the first come first, then those of the second, ...
    pub(crate) output: Output,
    pub(crate) precision: Precision,
    pub(crate) n_features: usize,
    pub(crate) rulers: Vec<Ruler>,
    pub(crate) n_tests: usize,
    pub(crate) walk_tests: WalkTests,
    pub(crate) trees: Vec<FlatTree>,
    /// Buffer size for the nodes and leaves of the largest tree.
    room: usize,
    pub(crate) simd: SimdLevel,
    /// What the trees after each checkpoint can add.
    pub(crate) checkpoints: Vec<Checkpoint>,
}

impl TreeScorer {
    /// Uses the given instructions. `None` if the model has no trees, or trees that are too large for masks.
    pub(crate) fn new(model: &Model, simd: SimdLevel) -> Option<Self> {
        let ensemble = model.tree_ensemble().ok()?;
        let Plan { rulers, n_tests, trees } = Plan::new(ensemble)?;
        let room = |tree: &FlatTree| if let Shape::Nodes(nodes) = &tree.shape { reach::room(nodes.len()) } else { 0 };
        Some(Self {
            base_score: ensemble.base_score(),
            output: ensemble.output().clone(),
            precision: model.precision(),
            n_features: model.features().len(),
            checkpoints: top::checkpoints(ensemble.base_score(), &trees),
            walk_tests: WalkTests::new(&rulers),
            room: trees.iter().map(room).max().unwrap_or(0),
            rulers,
            n_tests,
            trees,
            simd,
        })
    }

    /// Scores all documents.
    pub(crate) fn score(&self, docs: &impl Documents, scores: &mut [f64], scratch: &mut Scratch) {
        if let Output::ExpectedGain(expected) = &self.output {
            return self.score_outputs(expected, docs, scores, scratch);
        }
        scores.fill(self.base_score);
        for (block, scores) in scores.chunks_mut(BLOCK_DOCS).enumerate() {
            let first = block * BLOCK_DOCS;
            if scores.len() <= WALKED_DOCS {
                self.walk(docs, first, scores, scratch);
                continue;
            }
            self.answer(docs, first..first + scores.len(), scratch);
            self.add(&self.trees, scores, scratch);
        }
    }

    /// Evaluates all tests for a block of documents.
    pub(crate) fn answer(&self, docs: &impl Documents, block: Range<usize>, scratch: &mut Scratch) {
        match n_words(block.len()) {
            1 => self.answer_words::<_, 1>(docs, block, scratch),
            2 => self.answer_words::<_, 2>(docs, block, scratch),
            4 => self.answer_words::<_, 4>(docs, block, scratch),
            _ => self.answer_words::<_, MAX_WORDS>(docs, block, scratch),
        }
    }

    /// Adds trees to the scores of the block whose tests were evaluated last.
    pub(crate) fn add(&self, trees: &[FlatTree], scores: &mut [f64], scratch: &mut Scratch) {
        let n_words = n_words(scores.len());
        let Scratch { answers, reach, .. } = scratch;
        reach.resize(self.room * n_words);
        let block = &mut Block { answers: answers.words_mut(), reach: reach.words_mut(), scores };
        match n_words {
            1 => add_trees::<1>(self.simd, trees, block),
            2 => add_trees::<2>(self.simd, trees, block),
            4 => add_trees::<4>(self.simd, trees, block),
            _ => add_trees::<MAX_WORDS>(self.simd, trees, block),
        }
    }

    fn answer_words<D: Documents, const W: usize>(&self, docs: &D, block: Range<usize>, scratch: &mut Scratch) {
        let Scratch { tile, answers, .. } = scratch;
        tile.start(W);
        answers.resize(self.n_tests * W);
        let answers = answers.words_mut();
        for ruler in &self.rulers {
            tile.rank(self.simd, self.precision, ruler, docs, &block, self.n_features);
            let [passed, failed] = &ruler.tests;
            let places = |test: usize, n_tests: usize| test * W..(test + n_tests) * W;
            let to_pass = &mut answers[places(ruler.first_test, passed.len())];
            masks::answers(self.simd, &tile.ranks, passed, to_pass);
            tile.fail_missing();
            let to_fail = &mut answers[places(ruler.first_test + passed.len(), failed.len())];
            masks::answers(self.simd, &tile.ranks, failed, to_fail);
        }
    }
}

/// The number of words for a block of documents: the smallest supported.
pub(crate) fn n_words(n_docs: usize) -> usize {
    n_docs.div_ceil(WORD_DOCS).next_power_of_two().min(MAX_WORDS)
}
