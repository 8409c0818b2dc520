//! What an objective does.

use rankwise_data::{DocKeys, Documents, Draw, Purpose};

use crate::words::Words;

/// The documents of one query, as an objective sees them. In the canonical order of the dataset.
#[derive(Clone, Copy, Debug)]
pub struct QueryDocs<'a> {
    /// The number of the query in the dataset.
    pub query: usize,
    /// Relevance.
    pub labels: &'a [f32],
    /// Current scores; of an objective with several outputs those of the first output, then those of the second, ...
    pub scores: &'a [f64],
    /// The weight of each document, where any was given. The driver multiplies derivatives by them: they are here for losses whose
    /// derivative by one score depends on the weights of the others.
    pub weights: Option<&'a [f32]>,
    /// Where the documents stood in the input.
    pub input_rows: &'a [u32],
    /// Random numbers for them.
    pub noise: Noise<'a>,
}

impl QueryDocs<'_> {
    /// The number of documents.
    pub fn n_docs(&self) -> usize {
        self.labels.len()
    }

    /// The weight of a document; 1 where none was given.
    pub fn weight(&self, doc: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[doc]))
    }
}

/// What every draw of a round depends on, beside the document it is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The number of the tree that the gradients are for.
    pub tree: u32,
    /// The seed of the run.
    pub seed: u64,
}

/// Random numbers for the documents of one query in one round. A number depends on seed, tree, document and sample; who
/// asks for it twice gets it twice.
#[derive(Clone, Copy, Debug)]
pub struct Noise<'a> {
    draw: Draw,
    keys: DocKeys<'a>,
}

impl<'a> Noise<'a> {
    pub(crate) fn new(round: Round, keys: DocKeys<'a>) -> Self {
        Self { draw: Draw::new(round.seed, Purpose::Objective, round.tree), keys }
    }

    /// Two independent uniform numbers in (0, 1].
    pub fn uniforms(&self, doc: usize, sample: u32) -> [f64; 2] {
        let (key, ordinal) = self.key(doc, sample);
        self.draw.uniforms(key, ordinal)
    }

    /// Two independent standard normal numbers.
    pub fn normals(&self, doc: usize, sample: u32) -> [f64; 2] {
        let (key, ordinal) = self.key(doc, sample);
        self.draw.normals(key, ordinal)
    }

    /// The family of all these numbers, for kernels that draw many at a time.
    pub(crate) fn draw(&self) -> Draw {
        self.draw
    }

    /// 128 random bits.
    pub fn bits(&self, doc: usize, sample: u32) -> [u32; 4] {
        let (key, ordinal) = self.key(doc, sample);
        self.draw.bits(key, ordinal)
    }

    /// Keys are hashes: moved by a multiple of an odd number, they meet those of other documents no more often than by
    /// chance.
    pub(crate) fn key(&self, doc: usize, sample: u32) -> (u64, u32) {
        let (key, ordinal) = self.keys.of(doc);
        (key.wrapping_add(SAMPLE_STEP.wrapping_mul(sample.into())), ordinal)
    }
}

/// What the keys of two samples that follow each other differ by.
pub(crate) const SAMPLE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the derivatives of one query go; of the same length as its documents, for each output.
#[derive(Debug)]
pub struct GradientSlices<'a> {
    /// First derivatives of the loss by the scores.
    pub grad: &'a mut [f32],
    /// Second derivatives, or a stand-in for them; never negative.
    pub hess: &'a mut [f32],
}

/// Room to work in, kept from query to query by each thread. What it holds means nothing between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Sort keys.
    pub keys: Vec<u64>,
    /// Sort keys of more parts.
    pub wide_keys: Vec<u128>,
    /// Columns of numbers.
    pub columns: [Vec<f32>; 9],
    /// Columns of numbers with more digits.
    pub wide: [Vec<f64>; 6],
    /// Orders of documents.
    pub order: Vec<u32>,
    /// Random bits.
    pub bits: Vec<u32>,
    /// Random words of documents.
    pub(crate) words: Words,
}

/// Several outputs for each document: one for each grade that a document may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// What each grade is worth.
    pub gains: Vec<f64>,
    /// Each output before the first tree.
    pub base_scores: Vec<f64>,
}

/// A loss, bound to the data whose documents it will be asked about.
pub trait Objective: Send + Sync {
    /// The score of every document before the first tree.
    fn base_score(&self) -> f64;

    /// The grades, where there is an output for each; else there is one output, the score. With several, each has trees of its own,
    /// and a document's score is the gain that is expected under the softmax of its outputs.
    fn classes(&self) -> Option<&Classes> {
        None
    }

    /// The loss, where it wants all queries at once ([`AllAtOnce`]): one that is written for whole arrays, or that may run on one
    /// thread only. [`Self::query_gradients`] is not called then.
    fn all_queries(&self) -> Option<&dyn AllQueries> {
        None
    }

    /// Writes the derivatives for one query, without the factors of the document's and the query's weights; with several outputs those by the first, then those by the second, ...
    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch);
}

/// A loss that is given all queries at once, on the thread that called for training. [`AllAtOnce`] makes an [`Objective`] of it.
pub trait AllQueries: Send + Sync {
    /// The score of every document before the first tree.
    fn base_score(&self) -> f64 {
        0.0
    }

    /// As [`Objective::classes`].
    fn classes(&self) -> Option<&Classes> {
        None
    }

    /// Writes the derivatives of every document, without the factors of the document's and the query's weights. Scores and derivatives
    /// are in the canonical order of the dataset; with several outputs those of the first output come first, then those of the
    /// second, ...
    fn gradients(&self, docs: AllDocs<'_>, out: GradientSlices<'_>);
}

/// The objective of a loss that is given all queries at once.
#[derive(Clone, Copy, Debug)]
pub struct AllAtOnce<L>(pub L);

impl<L: AllQueries> Objective for AllAtOnce<L> {
    fn base_score(&self) -> f64 {
        self.0.base_score()
    }

    fn classes(&self) -> Option<&Classes> {
        self.0.classes()
    }

    fn all_queries(&self) -> Option<&dyn AllQueries> {
        Some(&self.0)
    }

    /// Never called: the driver asks for all queries.
    fn query_gradients(&self, _: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut Scratch) {
        out.grad.fill(0.0);
        out.hess.fill(0.0);
    }
}

/// The documents of all queries, as [`AllQueries`] sees them.
#[derive(Clone, Copy, Debug)]
pub struct AllDocs<'a> {
    /// Labels, weights and where queries begin.
    pub data: &'a Documents,
    /// Current scores.
    pub scores: &'a [f64],
    /// What random draws depend on.
    pub round: Round,
}
