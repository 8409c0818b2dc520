//! Applies a model to a dataset.

use std::ops::Range;

use rankwise_data::{Dataset, Documents as DocumentFacts, F64Values, SimdLevel};
use rankwise_model::{Model, Precision};
use rankwise_score::{Documents, Scorer, Scratch};
use rayon::prelude::*;

/// Number of documents per task: a few blocks of the scorer.
pub const TASK_DOCS: usize = 2048;

/// The score of every document, in input order: the order of rows in the file, slice or builder that the data came
/// from. A feature that no document has is missing, or 0 if absent features mean 0 in the data.
///
/// ```
/// use rankwise_data::Dataset;
/// use rankwise_eval::predict;
/// use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};
///
/// // The queries are out of order, and so are the documents.
/// let data = Dataset::from_dense(&[0.5, 0.125, 0.25], 1).labels(&[1.0, 0.0, 0.0]).qids(&["b", "a", "b"]).build()?;
/// let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![0]);
/// let model = Model::new(header, LinearRanker::new(0.0, vec![2.0])?)?;
/// assert_eq!(predict(&model, &data), [1.0, 0.25, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn predict(model: &Model, data: &Dataset) -> Vec<f64> {
    data.to_input_order(&predict_canonical(model, data))
}

/// [`predict`] in canonical order, the row order of a [`Dataset`].
pub fn predict_canonical(model: &Model, data: &Dataset) -> Vec<f64> {
    // Programs that let the user choose instructions have already rejected invalid choices.
    let simd = SimdLevel::from_env().unwrap_or_else(|_| SimdLevel::best());
    let scorer = Scorer::with_simd(model, simd);
    let columns: Vec<_> = model.features().iter().map(|feature| data.f64_values_of(*feature)).collect();
    let is_wide = model.precision() == Precision::F64 && !columns.iter().flatten().all(F64Values::are_f32);
    let mut scores = vec![0.0; data.n_rows()];
    for_each_task(&scorer, data, &mut scores, |rows, scores, scratch| {
        let docs = DatasetRows { columns: &columns, absent: data.absent().value(), rows };
        if is_wide {
            scorer.score(&UnroundedRows(docs), scores, scratch);
        } else {
            scorer.score(&docs, scores, scratch);
        }
    });
    scores
}

/// Calls `score` for ranges of rows with their scores, on the threads of the current pool: for single queries if the
/// scorer is listwise, otherwise for [`TASK_DOCS`] rows.
pub fn for_each_task(
    scorer: &Scorer,
    docs: &DocumentFacts,
    scores: &mut [f64],
    score: impl Fn(Range<usize>, &mut [f64], &mut Scratch) + Sync,
) {
    if !scorer.is_listwise() {
        scores.par_chunks_mut(TASK_DOCS).enumerate().for_each_init(Scratch::default, |scratch, (task, scores)| {
            let first = task * TASK_DOCS;
            score(first..first + scores.len(), scores, scratch);
        });
        return;
    }
    let (mut rest, mut tasks) = (scores, Vec::with_capacity(docs.n_queries()));
    for query in 0..docs.n_queries() {
        let rows = docs.query_rows(query);
        let (of_query, others) = rest.split_at_mut(rows.len());
        tasks.push((rows, of_query));
        rest = others;
    }
    tasks.into_par_iter().for_each_init(Scratch::default, |scratch, (rows, scores)| score(rows, scores, scratch));
}

/// Some rows of a dataset, with the columns of a model's features.
#[derive(Debug)]
pub struct DatasetRows<'a> {
    /// One per feature of the model; `None` if no document has the feature.
    pub columns: &'a [Option<F64Values<'a>>],
    /// The value of features that no document has.
    pub absent: f32,
    /// The rows, in canonical order.
    pub rows: Range<usize>,
}

impl Documents for DatasetRows<'_> {
    type Value = f32;

    fn n_docs(&self) -> usize {
        self.rows.len()
    }

    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(f32) -> O, out: &mut [O]) {
        let rows = self.rows.start + docs.start..self.rows.start + docs.end;
        for (column, out) in self.columns[features].iter().zip(out.chunks_exact_mut(docs.len())) {
            match column {
                Some(column) => {
                    column.rounded().for_each_in(rows.start, rows.end, |row, value| out[row] = convert(value));
                }
                None => out.iter_mut().for_each(|value| *value = convert(self.absent)),
            }
        }
    }
}

/// The same with unrounded values, for data that keeps what f32 cannot represent.
#[derive(Debug)]
pub struct UnroundedRows<'a>(pub DatasetRows<'a>);

impl Documents for UnroundedRows<'_> {
    type Value = f64;

    fn n_docs(&self) -> usize {
        self.0.rows.len()
    }

    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(f64) -> O, out: &mut [O]) {
        let DatasetRows { columns, absent, rows } = &self.0;
        let rows = rows.start + docs.start..rows.start + docs.end;
        for (column, out) in columns[features].iter().zip(out.chunks_exact_mut(docs.len())) {
            match column {
                Some(column) => column.for_each_in(rows.start, rows.end, |row, value| out[row] = convert(value)),
                None => out.iter_mut().for_each(|value| *value = convert(f64::from(*absent))),
            }
        }
    }
}
