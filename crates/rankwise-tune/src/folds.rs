//! Folds of queries.

use rankwise_data::{Documents, Draw, Purpose};

use crate::TuneError;

/// An assignment of queries to folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    n_folds: usize,
    of_query: Vec<usize>,
}

/// Whether a fold is used for validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// Train on all folds but the one that is measured.
    #[default]
    TrainOnRest,
    /// The fold before the one that is measured, cyclically, is the validation data; train on the others. With five
    /// folds this is LETOR's rotation: Fold1 trains on S1 to S3, validates on S4 and tests on S5.
    ValidateOnPrevious,
}

/// The queries of one round of cross-validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) train: Vec<usize>,
    pub(crate) valid: Vec<usize>,
    pub(crate) test: Vec<usize>,
}

impl Folds {
    /// Random folds of equal size, up to one query. Queries with a label above 0 and queries without are dealt out
    /// separately, so that each fold has as many of both. The draw depends on the seed and the query ids, not on the order of
    /// the data.
    ///
    /// ```
    /// use rankwise_data::Dataset;
    /// use rankwise_tune::Folds;
    ///
    /// let qids = ["a", "b", "c", "d", "e"];
    /// let data = Dataset::from_dense(&[0.0; 5], 1).labels(&[0, 1, 1, 0, 1]).qids(&qids).build()?;
    /// let folds = Folds::random(&data, 2, 0)?;
    /// assert_eq!(folds.queries(0).len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn random(data: &Documents, n_folds: usize, seed: u64) -> Result<Self, TuneError> {
        let n_queries = data.n_queries();
        if n_folds > n_queries {
            return Err(TuneError::TooManyFolds { folds: n_folds, queries: n_queries });
        }
        let draw = Draw::new(seed, Purpose::Folds, 0);
        let is_empty = |query: usize| data.query(query).labels.iter().all(|label| *label <= 0.0);
        let mut order: Vec<(bool, f64, usize)> =
            (0..n_queries).map(|query| (is_empty(query), data.query_draw(&draw, query), query)).collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut of_query = vec![0; n_queries];
        for (place, (_, _, query)) in order.into_iter().enumerate() {
            of_query[query] = place % n_folds.max(1);
        }
        Self::new(n_folds, of_query)
    }

    /// The given fold of each query, in canonical order and counted from 0.
    pub fn new(n_folds: usize, of_query: Vec<usize>) -> Result<Self, TuneError> {
        if n_folds < 2 {
            return Err(TuneError::TooFewFolds { given: n_folds, least: 2, because: "" });
        }
        if let Some(fold) = (0..n_folds).find(|fold| !of_query.contains(fold)) {
            return Err(TuneError::EmptyFold { fold: fold + 1 });
        }
        assert!(of_query.iter().all(|fold| *fold < n_folds), "folds are counted from 0");
        Ok(Self { n_folds, of_query })
    }

    /// The number of folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// The fold of each query.
    pub fn of_query(&self) -> &[usize] {
        &self.of_query
    }

    /// The queries of a fold, ascending.
    pub fn queries(&self, fold: usize) -> Vec<usize> {
        self.those(|of| of == fold)
    }

    /// What is trained on, validated with and measured if this fold is measured.
    pub(crate) fn parts(&self, fold: usize, rotation: Rotation) -> Parts {
        let valid = (fold + self.n_folds - 1) % self.n_folds;
        match rotation {
            Rotation::TrainOnRest => {
                Parts { train: self.those(|of| of != fold), valid: Vec::new(), test: self.queries(fold) }
            }
            Rotation::ValidateOnPrevious => Parts {
                train: self.those(|of| of != fold && of != valid),
                valid: self.queries(valid),
                test: self.queries(fold),
            },
        }
    }

    fn those(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.of_query.len()).filter(|query| wanted(self.of_query[*query])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rankwise_data::Dataset;

    fn data(labels: &[u32]) -> Dataset {
        let qids: Vec<String> = (0..labels.len()).map(|query| format!("q{query}")).collect();
        Dataset::from_dense(&vec![0.0; labels.len()], 1).labels(labels).qids(&qids).build().unwrap()
    }

    proptest! {
        #[test]
        fn each_query_is_measured_once_and_never_trained_on_then(
            labels in proptest::collection::vec(0..2_u32, 3..40), n_folds in 3..7_usize, seed: u64
        ) {
            let data = data(&labels);
            let Ok(folds) = Folds::random(&data, n_folds, seed) else {
                prop_assert!(n_folds > labels.len());
                return Ok(());
            };
            for rotation in [Rotation::TrainOnRest, Rotation::ValidateOnPrevious] {
                let mut measured = Vec::new();
                for fold in 0..n_folds {
                    let Parts { train, valid, test } = folds.parts(fold, rotation);
                    let mut all = [train, valid, test.clone()].concat();
                    all.sort_unstable();
                    prop_assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
                    measured.extend(test);
                }
                measured.sort_unstable();
                prop_assert_eq!(measured, (0..labels.len()).collect::<Vec<_>>());
            }
            // Queries with relevant documents are spread evenly.
            let relevant = |fold| folds.queries(fold).into_iter().filter(|query| data.query(*query).labels[0] > 0.0).count();
            let counts: Vec<usize> = (0..n_folds).map(relevant).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{:?}", counts);
        }
    }

    #[test]
    fn five_folds_rotate_as_letor_does() {
        let folds = Folds::new(5, (0..5).collect()).unwrap();
        let Parts { train, valid, test } = folds.parts(4, Rotation::ValidateOnPrevious);
        assert_eq!((train, valid, test), (vec![0, 1, 2], vec![3], vec![4]));
        let Parts { train, valid, test } = folds.parts(0, Rotation::ValidateOnPrevious);
        assert_eq!((train, valid, test), (vec![1, 2, 3], vec![4], vec![0]));
    }

    #[test]
    fn folds_that_cannot_be_are_refused() {
        let message = |n_folds| Folds::random(&data(&[0, 1, 1]), n_folds, 0).unwrap_err().to_string();
        assert_eq!(message(4), "3 queries cannot be divided into 4 folds; use at most as many folds as queries");
        assert_eq!(message(1), "there is 1 fold; use at least 2");
        assert_eq!(
            Folds::new(3, vec![0, 2, 0]).unwrap_err().to_string(),
            "fold 2 has no queries; each fold needs at least one"
        );
    }
}
