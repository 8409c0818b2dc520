//! What an objective does.

/// The documents of one query, as an objective sees them. In the canonical order of the data set.
#[derive(Clone, Copy, Debug)]
pub struct QueryDocs<'a> {
    /// The number of the query in the data set.
    pub query: usize,
    /// Relevance.
    pub labels: &'a [f32],
    /// Current scores.
    pub scores: &'a [f64],
    /// Where the documents stood in the input.
    pub input_rows: &'a [u32],
}

/// Where the derivatives of one query go; of the same length as its documents.
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
    /// Columns of numbers.
    pub columns: [Vec<f32>; 6],
}

/// A loss, bound to the data whose documents it will be asked about.
pub trait Objective: Send + Sync {
    /// The score of every document before the first tree.
    fn base_score(&self) -> f64;

    /// Writes the derivatives for one query, without weights.
    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch);
}
