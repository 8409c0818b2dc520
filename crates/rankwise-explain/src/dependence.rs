//! Partial dependence: how the score, and the place in the list, follow one feature.
//!
//! Friedman, "Greedy Function Approximation: A Gradient Boosting Machine" (2001), section 8.2: a feature gets the same value in all documents; the mean
//! score is the partial dependence. Its ranking form moves one document of a list at a time, leaves the others where they are, and counts the
//! places that the document climbs.

use rankwise_model::Model;
use rankwise_score::{Rows, Scorer, Scratch};
use rayon::prelude::*;

use crate::ModelDocs;

/// One value of the feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DependencePoint {
    /// The value; NaN is missing.
    pub value: f64,
    /// The mean score of documents with this value.
    pub score: f64,
    /// How many places a document climbs in its own list with this value, on average; negative if it falls.
    pub climb: f64,
}

/// The dependence on one feature at up to `n_points` values, which are quantiles of its distinct values, and at missing if some documents lack it.
/// `rows` are the documents that are changed.
pub fn dependence(
    model: &Model,
    docs: &ModelDocs<'_>,
    feature: usize,
    rows: &[usize],
    n_points: usize,
) -> Vec<DependencePoint> {
    let scores = rankwise_eval::predict_canonical(model, docs.data);
    let query_of = query_of(docs);
    let scorer = Scorer::new(model);
    let n_features = model.features().len();
    let values: Vec<f64> = rows.iter().flat_map(|row| docs.values(*row)).collect();
    let point = |value: f64| {
        let mut values = values.clone();
        values.iter_mut().skip(feature).step_by(n_features).for_each(|other| *other = value);
        let mut changed = vec![0.0; rows.len()];
        if scorer.is_listwise() {
            let of_row = |row: &usize| in_own_list(&scorer, docs, (*row, feature, value), query_of[*row]);
            changed.iter_mut().zip(rows).for_each(|(score, row)| *score = of_row(row));
        } else {
            scorer.score(&Rows::new(&values, n_features, rows.len()), &mut changed, &mut Scratch::default());
        }
        let climb = rows.iter().zip(&changed).map(|(row, score)| {
            let others = &scores[docs.data.query_rows(query_of[*row])];
            place(others, scores[*row], scores[*row]) - place(others, *score, scores[*row])
        });
        let n_docs = rows.len().max(1) as f64;
        DependencePoint { value, climb: climb.sum::<f64>() / n_docs, score: changed.iter().sum::<f64>() / n_docs }
    };
    grid(docs.column(feature), n_points).into_par_iter().map(point).collect()
}

/// The score of a document with another value of one feature, among the other documents of its query as they are.
fn in_own_list(scorer: &Scorer, docs: &ModelDocs<'_>, (row, feature, value): (usize, usize, f64), query: usize) -> f64 {
    let rows = docs.data.query_rows(query);
    let mut values: Vec<f64> = rows.clone().flat_map(|row| docs.values(row)).collect();
    let n_features = scorer.n_features();
    values[(row - rows.start) * n_features + feature] = value;
    let mut scores = vec![0.0; rows.len()];
    scorer.score(&Rows::new(&values, n_features, rows.len()), &mut scores, &mut Scratch::default());
    scores[row - rows.start]
}

/// The place of a document with a score, among others of which one has the score `own` and is itself. Equal scores share their places.
fn place(scores: &[f64], score: f64, own: f64) -> f64 {
    let above = scores.iter().filter(|other| **other > score).count() - usize::from(own > score);
    let equal = scores.iter().filter(|other| **other == score).count() - usize::from(own == score);
    1.0 + above as f64 + 0.5 * equal as f64
}

fn query_of(docs: &ModelDocs<'_>) -> Vec<usize> {
    let mut query_of = vec![0; docs.data.n_rows()];
    for query in 0..docs.data.n_queries() {
        query_of[docs.data.query_rows(query)].fill(query);
    }
    query_of
}

/// Some of the distinct values, evenly by their order, the smallest and the largest among them.
fn grid(mut values: Vec<f64>, n_points: usize) -> Vec<f64> {
    let n_all = values.len();
    values.retain(|value| !value.is_nan());
    let missing = (values.len() < n_all).then_some(f64::NAN);
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let n = values.len();
    let some = match n {
        _ if n <= n_points => values,
        _ => (0..n_points).map(|point| values[point * (n - 1) / (n_points - 1).max(1)]).collect(),
    };
    some.into_iter().chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_both_ends_and_missing_if_it_occurs() {
        let values: Vec<f64> = (0..100).map(|value| f64::from(value % 50)).collect();
        assert_eq!(grid(values, 3), [0.0, 24.0, 49.0]);
        let few = grid(vec![2.0, f64::NAN, 1.0, 2.0], 5);
        assert_eq!(few[..2], [1.0, 2.0]);
        assert!(few[2].is_nan() && few.len() == 3);
    }

    #[test]
    fn equal_scores_share_places() {
        let scores = [3.0, 1.0, 2.0, 1.0];
        assert_eq!(place(&scores, 3.0, 3.0), 1.0);
        assert_eq!(place(&scores, 1.0, 1.0), 3.5);
        assert_eq!(place(&scores, 2.5, 1.0), 2.0);
        assert_eq!(place(&scores, 0.0, 3.0), 4.0);
    }
}
