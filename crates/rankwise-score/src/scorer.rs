//! A model of any kind, prepared for scoring.

use rankwise_model::Model;
use rankwise_simd::SimdLevel;

use crate::tree_scorer::TreeScorer;
use crate::{Documents, Scratch};

/// Number of documents whose values are read together, for a model that scores them one by one.
const STRIP_DOCS: usize = 64;

/// A model, prepared for scoring. It can be shared between threads; each needs its own [`Scratch`].
///
/// ```
/// use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};
/// use rankwise_score::{Rows, Scorer, Scratch};
///
/// let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![3, 7]);
/// let model = Model::new(header, LinearRanker::new(0.5, vec![2.0, -1.0])?)?;
/// let scorer = Scorer::new(&model);
/// // Two documents, each with features 3 and 7.
/// let docs = Rows::new(&[1.5f32, 0.25, 0.0, f32::NAN], scorer.n_features(), 2);
/// let (mut scores, mut scratch) = ([0.0; 2], Scratch::default());
/// scorer.score(&docs, &mut scores, &mut scratch);
/// assert_eq!(scores, [3.25, 0.5]);
/// # Ok::<(), rankwise_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scorer {
    n_features: usize,
    pub(crate) way: Way,
}

/// How documents are scored. All ways give the same bits as [`Model::score`].
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Trees, many documents at a time.
    Trees(Box<TreeScorer>),
    /// Any model, document by document.
    OneByOne(Box<Model>),
    /// A model that scores the documents of a list together.
    Lists(Box<Model>),
}

impl Scorer {
    /// Uses the best instructions of this machine.
    pub fn new(model: &Model) -> Self {
        Self::with_simd(model, SimdLevel::best())
    }

    /// Uses the given instructions.
    pub fn with_simd(model: &Model, simd: SimdLevel) -> Self {
        let way = match TreeScorer::new(model, simd) {
            Some(trees) => Way::Trees(Box::new(trees)),
            None if model.is_listwise() => Way::Lists(Box::new(model.clone())),
            None => Way::OneByOne(Box::new(model.clone())),
        };
        Self { n_features: model.features().len(), way }
    }

    /// The number of features of documents.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Whether a document's score depends on the other documents of its list ([`Model::is_listwise`]).
    pub fn is_listwise(&self) -> bool {
        matches!(self.way, Way::Lists(_))
    }

    /// Scores all documents. If the model is listwise, they are one list; otherwise, a document's score does not depend on
    /// the others.
    ///
    /// # Panics
    /// If there is not room for a score for each document.
    pub fn score(&self, docs: &impl Documents, scores: &mut [f64], scratch: &mut Scratch) {
        assert_eq!(docs.n_docs(), scores.len(), "there is a score for each document");
        match &self.way {
            Way::Trees(trees) => trees.score(docs, scores, scratch),
            Way::OneByOne(model) => score_one_by_one(model, docs, scores, scratch),
            Way::Lists(model) => score_list(model, docs, scores, scratch),
        }
    }
}

fn score_list<D: Documents>(model: &Model, docs: &D, scores: &mut [f64], scratch: &mut Scratch) {
    let (n_features, n_docs) = (model.features().len(), scores.len());
    if n_docs == 0 {
        return;
    }
    let Scratch { columns, row: rows, .. } = scratch;
    columns.resize(n_features * n_docs, 0.0);
    docs.values(0..n_features, 0..n_docs, |value| model.precision().round(value.into()), columns);
    rows.clear();
    rows.extend((0..n_docs).flat_map(|doc| columns.iter().skip(doc).step_by(n_docs)));
    model.score_list(rows, scores);
}

/// Values are read for several documents at a time, because documents may be stored as columns.
fn score_one_by_one<D: Documents>(model: &Model, docs: &D, scores: &mut [f64], scratch: &mut Scratch) {
    let (n_features, precision) = (model.features().len(), model.precision());
    let Scratch { columns, row, .. } = scratch;
    for (strip, scores) in scores.chunks_mut(STRIP_DOCS).enumerate() {
        let (first, n_docs) = (strip * STRIP_DOCS, scores.len());
        columns.resize(n_features * n_docs, 0.0);
        docs.values(0..n_features, first..first + n_docs, |value| precision.round(value.into()), columns);
        for (doc, score) in scores.iter_mut().enumerate() {
            row.clear();
            row.extend(columns.iter().skip(doc).step_by(n_docs));
            *score = model.score_rounded(row);
        }
    }
}
