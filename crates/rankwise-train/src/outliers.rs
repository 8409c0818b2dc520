//! Training without outliers, based on SOUR (Marcuzzi et al., "Filtering out Outliers in Learning to Rank", 2022). A
//! preliminary model finds documents that stay misplaced, and the final model is trained without them.
//!
//! The preliminary model has `outlier_trees` trees. After each of the last `outlier_last` percent of them, every query
//! with p relevant documents (label above 0) among n is ranked by score, with ties by ascending label. A document is
//! misplaced if it is
//!
//! ```text
//! irrelevant, and among the first   min(p, outlier_high % of n)         ranks: where a relevant one belongs
//! relevant, and among the last      min(n - p, outlier_low % of n)      ranks: where an irrelevant one belongs
//! ```
//!
//! An outlier is misplaced after each of these trees.

use rankwise_data::Documents;
use rankwise_metrics::descending_bits;
use rankwise_params::ParamError;
use rayon::prelude::*;

use crate::{Flow, LoopParams, Observer, Pass, Progress, Sample, TrainParams};

/// The parameters of the preliminary model.
pub(crate) fn first_pass(params: &TrainParams) -> Result<TrainParams, ParamError> {
    let mut spec = params.spec().clone();
    spec.boosting.num_trees = params.boosting().outlier_trees;
    spec.boosting.sample = Sample::None;
    spec.boosting.early_stopping_rounds = 0;
    spec.check()
}

/// Observes the preliminary model.
pub(crate) struct Recorder<'a> {
    data: &'a Documents,
    high: f64,
    low: f64,
    /// The tree from which on ranks count.
    first: usize,
    n_seen: u32,
    /// For each row, the number of trees after which it was misplaced.
    misplaced: Vec<u32>,
    observer: &'a mut dyn Observer,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(params: &LoopParams, data: &'a Documents, observer: &'a mut dyn Observer) -> Self {
        let n_last = (params.outlier_last / 100.0 * params.outlier_trees as f64) as usize;
        Self {
            data,
            high: params.outlier_high / 100.0,
            low: params.outlier_low / 100.0,
            first: params.outlier_trees + 1 - n_last.max(1),
            n_seen: 0,
            misplaced: vec![0; data.n_rows()],
            observer,
        }
    }

    /// The rows that are not outliers, ascending.
    pub(crate) fn inliers(&self) -> Vec<u32> {
        let is_outlier = |row: usize| self.n_seen > 0 && self.misplaced[row] == self.n_seen;
        (0..self.data.n_rows()).filter(|row| !is_outlier(*row)).map(|row| row as u32).collect()
    }

    fn record(&mut self, scores: &[f64]) {
        let (data, high, low) = (self.data, self.high, self.low);
        let rows: Vec<Vec<u32>> =
            (0..data.n_queries()).into_par_iter().map(|query| misplaced(data, query, scores, (high, low))).collect();
        rows.concat().into_iter().for_each(|row| self.misplaced[row as usize] += 1);
        self.n_seen += 1;
    }
}

impl Observer for Recorder<'_> {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.round >= self.first {
            self.record(&progress.train_scores_canonical());
        }
        self.observer.after_round(&Progress { pass: Pass::Outliers, ..progress.clone() })
    }
}

/// The misplaced documents of a query.
fn misplaced(data: &Documents, query: usize, scores: &[f64], (high, low): (f64, f64)) -> Vec<u32> {
    let is_relevant = |row: u32| data.labels()[row as usize] > 0.0;
    let mut ranking: Vec<u32> = data.query_rows(query).map(|row| row as u32).collect();
    ranking.sort_unstable_by_key(|row| {
        let place = *row as usize;
        (descending_bits(scores[place]), data.labels()[place].to_bits(), *row)
    });
    let n_docs = ranking.len();
    let n_relevant = ranking.iter().filter(|row| is_relevant(**row)).count();
    let part = |share: f64| (share * n_docs as f64) as usize;
    let (n_high, n_low) = (part(high).min(n_relevant), part(low).min(n_docs - n_relevant));
    let too_high = ranking[..n_high].iter().filter(|row| !is_relevant(**row));
    let too_low = ranking[n_docs - n_low..].iter().filter(|row| is_relevant(**row));
    too_high.chain(too_low).copied().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::{DatasetBuilder, Row};

    use super::*;
    use crate::{LoopSpec, Silent};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Compares with counting, for each document, the documents ranked before it.
        #[test]
        fn misplaced_after_every_tree_is_what_counting_says(
            docs in prop::collection::vec((0u8..3, prop_oneof![2 => Just(0u8), 1 => 1u8..4]), 1..60),
            trees in prop::collection::vec(prop::collection::vec(-3i8..3, 60), 1..4),
            (outlier_high, outlier_low) in prop::sample::select(vec![(50.0, 50.0), (100.0, 0.0), (10.0, 100.0), (0.0, 0.0)]),
        ) {
            let mut builder = DatasetBuilder::default();
            for (idx, (query, label)) in docs.iter().enumerate() {
                let (qid, doc_id) = (format!("q{query}"), format!("d{idx}"));
                builder.push(&Row { qid: &qid, label: f32::from(*label), doc_id: &doc_id, features: &[] }).unwrap();
            }
            let data = builder.finish().unwrap();
            let params = LoopSpec { outlier_high, outlier_low, ..LoopSpec::default() }.check().unwrap();
            let mut silent = Silent;
            let mut recorder = Recorder::new(&params, &data, &mut silent);
            let mut always = vec![true; data.n_rows()];
            for tree in &trees {
                let scores: Vec<f64> = tree[..data.n_rows()].iter().map(|score| f64::from(*score)).collect();
                recorder.record(&scores);
                for query in 0..data.n_queries() {
                    let rows: Vec<usize> = data.query_rows(query).collect();
                    let positive = |row: usize| data.labels()[row] > 0.0;
                    let n_positive = rows.iter().filter(|row| positive(**row)).count();
                    let key = |row: usize| (-scores[row], data.labels()[row], row);
                    for row in rows.clone() {
                        let rank = rows.iter().filter(|other| key(**other) < key(row)).count() as f64;
                        let n = rows.len() as f64;
                        always[row] &= if positive(row) {
                            rank >= n_positive as f64 && rank >= n - (n * outlier_low / 100.0).floor()
                        } else {
                            rank < n_positive as f64 && rank < (n * outlier_high / 100.0).floor()
                        };
                    }
                }
            }
            let expected: Vec<u32> = (0..data.n_rows() as u32).filter(|row| !always[*row as usize]).collect();
            prop_assert_eq!(recorder.inliers(), expected);
        }
    }

    #[test]
    fn the_last_trees_count() {
        let mut builder = DatasetBuilder::default();
        builder.push(&Row { qid: "q", ..Row::default() }).unwrap();
        let data = builder.finish().unwrap();
        let first = |outlier_trees, outlier_last| {
            let params = LoopSpec { outlier_trees, outlier_last, ..LoopSpec::default() }.check().unwrap();
            Recorder::new(&params, &data, &mut Silent).first
        };
        assert_eq!((first(100, 50.0), first(10, 100.0), first(7, 1.0)), (51, 1, 7));
    }
}
