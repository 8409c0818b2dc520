//! The interface of objectives.

use rankwise_data::{DocKeys, Documents, Draw, Purpose};

use crate::words::Words;

/// The documents of one query, as seen by an objective, in the canonical order of the dataset.
#[derive(Clone, Copy, Debug)]
pub struct QueryDocs<'a> {
    /// The index of the query in the dataset.
    pub query: usize,
    /// Labels.
    pub labels: &'a [f32],
    /// Current scores. With several outputs: those of the first output, then those of the second, ...
    pub scores: &'a [f64],
    /// The weight of each document, if there are weights. The driver multiplies gradients and Hessians by them. They
    /// are here for losses whose derivative with respect to one score depends on the weights of the others.
    pub weights: Option<&'a [f32]>,
    /// The input rows of the documents.
    pub input_rows: &'a [u32],
    /// Random numbers for them.
    pub noise: Noise<'a>,
}

impl QueryDocs<'_> {
    /// The number of documents.
    pub fn n_docs(&self) -> usize {
        self.labels.len()
    }

    /// The weight of a document; 1 by default.
    pub fn weight(&self, doc: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[doc]))
    }
}

/// What all random numbers of a round depend on, besides the document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The number of the tree that the gradients are for.
    pub tree: u32,
    /// The seed of the run.
    pub seed: u64,
}

/// Random numbers for the documents of one query in one round. A number depends on seed, tree, document and sample;
/// asking twice gives the same number.
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

    /// The family of these numbers, for kernels that draw many at a time.
    pub(crate) fn draw(&self) -> Draw {
        self.draw
    }

    /// 128 random bits.
    pub fn bits(&self, doc: usize, sample: u32) -> [u32; 4] {
        let (key, ordinal) = self.key(doc, sample);
        self.draw.bits(key, ordinal)
    }

    /// Keys are hashes. Shifted by a multiple of an odd number, they collide with those of other documents only by
    /// chance.
    pub(crate) fn key(&self, doc: usize, sample: u32) -> (u64, u32) {
        let (key, ordinal) = self.keys.of(doc);
        (key.wrapping_add(SAMPLE_STEP.wrapping_mul(sample.into())), ordinal)
    }
}

/// The difference between the keys of two consecutive samples.
pub(crate) const SAMPLE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The results for one query: one entry per document, for each output.
#[derive(Debug)]
pub struct GradientSlices<'a> {
    /// First derivatives of the loss with respect to the scores.
    pub grad: &'a mut [f32],
    /// Second derivatives, or a substitute; never negative.
    pub hess: &'a mut [f32],
}

/// Buffers that each thread reuses from query to query. Their content is undefined between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Sort keys.
    pub keys: Vec<u64>,
    /// Wider sort keys.
    pub wide_keys: Vec<u128>,
    /// Columns of f32.
    pub columns: [Vec<f32>; 9],
    /// Columns of f64.
    pub wide: [Vec<f64>; 6],
    /// Orders of documents.
    pub order: Vec<u32>,
    /// Random bits.
    pub bits: Vec<u32>,
    /// Random words of documents.
    pub(crate) words: Words,
}

/// Several outputs per document: one for each possible label.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// The gain of each label.
    pub gains: Vec<f64>,
    /// The base score of each output.
    pub base_scores: Vec<f64>,
}

/// A loss, bound to a dataset.
pub trait Objective: Send + Sync {
    /// The score of every document before the first tree.
    fn base_score(&self) -> f64;

    /// The labels, if there is an output for each; otherwise the score is the only output. With several outputs, each
    /// has its own trees, and a document's score is the expected gain under the softmax of its outputs.
    fn classes(&self) -> Option<&Classes> {
        None
    }

    /// The loss, if it takes all queries at once ([`AllAtOnce`]), for example because it works on whole arrays or must
    /// run on one thread. [`Self::query_gradients`] is then not called.
    fn all_queries(&self) -> Option<&dyn AllQueries> {
        None
    }

    /// Writes the gradients and Hessians of one query, without document and query weights. With several outputs: those
    /// for the first, then those for the second, ...
    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch);

    /// The loss of one query, without its query weight; its derivatives are the gradients times the document weights.
    /// `None` if there is no such function, or none that can be computed.
    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        let _ = docs;
        None
    }
}

/// A loss that takes all queries at once, on the thread that started training. [`AllAtOnce`] turns it into an
/// [`Objective`].
pub trait AllQueries: Send + Sync {
    /// The score of every document before the first tree.
    fn base_score(&self) -> f64 {
        0.0
    }

    /// See [`Objective::classes`].
    fn classes(&self) -> Option<&Classes> {
        None
    }

    /// Writes the gradients and Hessians of all documents, without document and query weights. All arrays are in the
    /// canonical order of the dataset. With several outputs, those of the first output come first, then those of the
    /// second, ...
    fn gradients(&self, docs: AllDocs<'_>, out: GradientSlices<'_>);
}

/// The objective for a loss that takes all queries at once.
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

    /// Never called: the driver calls `all_queries`.
    fn query_gradients(&self, _: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut Scratch) {
        out.grad.fill(0.0);
        out.hess.fill(0.0);
    }
}

/// The documents of all queries, as seen by [`AllQueries`].
#[derive(Clone, Copy, Debug)]
pub struct AllDocs<'a> {
    /// Labels, weights and query bounds.
    pub data: &'a Documents,
    /// Current scores.
    pub scores: &'a [f64],
    /// What random draws depend on.
    pub round: Round,
}
