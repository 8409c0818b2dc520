//! A model made ready, and documents scored in blocks.

use rankwise_model::{Model, Precision};
use rankwise_simd::SimdLevel;

use crate::Documents;
use crate::kernel::masks::{self, WORD_DOCS};
use crate::kernel::reach;
use crate::kernel::trees::{Block, add_trees};
use crate::plan::{FlatTree, Plan, Ruler, Shape};
use crate::tile::Tile;

/// Words of documents that are scored together at most: one vector of AVX-512 for each test, and the answers to all tests of a
/// thousand trees still fit the second-level cache.
const MAX_WORDS: usize = 8;
const BLOCK_DOCS: usize = MAX_WORDS * WORD_DOCS;
/// Up to so many documents are walked one by one.
const WALKED_DOCS: usize = 3;

/// A model, ready to score documents. It can be shared between threads; each brings a [`Scratch`].
#[derive(Clone, Debug)]
pub struct Scorer {
    pub(crate) base_score: f64,
    pub(crate) precision: Precision,
    pub(crate) n_features: usize,
    pub(crate) rulers: Vec<Ruler>,
    pub(crate) n_tests: usize,
    pub(crate) trees: Vec<FlatTree>,
    /// Places for nodes and leaves of the largest tree.
    room: usize,
    pub(crate) simd: SimdLevel,
    /// The model itself, where it has trees that are too large for all this.
    giant: Option<Box<Model>>,
}

/// Memory for scoring; made once, used again and again.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) tile: Tile,
    answers: Aligned,
    reach: Aligned,
    pub(crate) truths: Vec<u8>,
}

impl Scorer {
    /// For the best instructions of this machine.
    pub fn new(model: &Model) -> Self {
        Self::with_simd(model, SimdLevel::best())
    }

    /// For given instructions.
    pub fn with_simd(model: &Model, simd: SimdLevel) -> Self {
        let Plan { rulers, n_tests, trees } = Plan::new(model);
        let giant = trees.is_none().then(|| Box::new(model.clone()));
        let trees = trees.unwrap_or_default();
        let room = |tree: &FlatTree| if let Shape::Nodes(nodes) = &tree.shape { reach::room(nodes.len()) } else { 0 };
        Self {
            base_score: model.base_score,
            precision: model.precision,
            n_features: model.features.len(),
            room: trees.iter().map(room).max().unwrap_or(0),
            rulers,
            n_tests,
            trees,
            simd,
            giant,
        }
    }

    /// The number of features that documents have.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Scores all documents. A document's score does not depend on the others.
    ///
    /// # Panics
    /// If there is not room for a score for each document.
    pub fn score(&self, docs: &impl Documents, scores: &mut [f64], scratch: &mut Scratch) {
        assert_eq!(docs.n_docs(), scores.len(), "there is a score for each document");
        if let Some(model) = &self.giant {
            return score_by_model(model, docs, scores);
        }
        scores.fill(self.base_score);
        for (block, scores) in scores.chunks_mut(BLOCK_DOCS).enumerate() {
            let first = block * BLOCK_DOCS;
            match scores.len().div_ceil(WORD_DOCS) {
                _ if scores.len() <= WALKED_DOCS => self.walk(docs, first, scores, scratch),
                1 => self.score_block::<_, 1>(docs, first, scores, scratch),
                2 => self.score_block::<_, 2>(docs, first, scores, scratch),
                3 | 4 => self.score_block::<_, 4>(docs, first, scores, scratch),
                _ => self.score_block::<_, MAX_WORDS>(docs, first, scores, scratch),
            }
        }
    }

    fn score_block<D: Documents, const W: usize>(
        &self,
        docs: &D,
        first: usize,
        scores: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let Scratch { tile, answers, reach, .. } = scratch;
        tile.start(W);
        answers.resize(self.n_tests * W);
        reach.resize(self.room * W);
        let (answers, block) = (answers.words_mut(), first..first + scores.len());
        for ruler in &self.rulers {
            tile.rank((self.simd, self.precision), ruler, docs, &block, self.n_features);
            let [passed, failed] = &ruler.tests;
            let places = |test: usize, n_tests: usize| test * W..(test + n_tests) * W;
            let to_pass = &mut answers[places(ruler.first_test, passed.len())];
            masks::answers(self.simd, &tile.ranks, passed, to_pass);
            tile.fail_missing();
            let to_fail = &mut answers[places(ruler.first_test + passed.len(), failed.len())];
            masks::answers(self.simd, &tile.ranks, failed, to_fail);
        }
        add_trees::<W>(self.simd, &self.trees, &mut Block { answers, reach: reach.words_mut(), scores });
    }
}

/// Words that begin at a cache line, so that no vector of them lies in two.
#[derive(Clone, Debug, Default)]
struct Aligned {
    memory: Vec<u64>,
    len: usize,
}

impl Aligned {
    const LINE_BYTES: usize = 64;

    fn resize(&mut self, len: usize) {
        self.len = len;
        self.memory.resize(len + Self::LINE_BYTES / size_of::<u64>(), 0);
    }

    fn words_mut(&mut self) -> &mut [u64] {
        let start = self.memory.as_ptr().align_offset(Self::LINE_BYTES);
        &mut self.memory[start..start + self.len]
    }
}

/// The reference: document by document, tree by tree.
fn score_by_model<D: Documents>(model: &Model, docs: &D, scores: &mut [f64]) {
    let mut values = vec![0.0; model.features.len()];
    for (doc, score) in scores.iter_mut().enumerate() {
        docs.values(0..values.len(), doc..doc + 1, Into::into, &mut values);
        *score = model.score(&values);
    }
}
