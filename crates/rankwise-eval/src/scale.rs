//! The scale of a ranker's scores.

use rankwise_data::{Documents, reduce};

/// The standard deviation of scores within queries, over the given queries; NaN if these have no documents. Scores are in
/// canonical order. Only differences within a query matter to a ranking, so this is the scale that rankers have in
/// common.
pub fn deviation_within_queries(data: &Documents, queries: &[usize], scores: &[f64]) -> f64 {
    let squares = queries.iter().map(|query| {
        let scores = &scores[data.query_rows(*query)];
        let mean = reduce::sum(scores.iter().copied()) / scores.len() as f64;
        reduce::sum(scores.iter().map(|score| (score - mean) * (score - mean)))
    });
    let n_rows: usize = queries.iter().map(|query| data.query_rows(*query).len()).sum();
    libm::sqrt(reduce::sum(squares) / n_rows as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwise_data::Dataset;

    #[test]
    fn only_differences_within_queries_count() {
        let data = Dataset::from_dense(&[1.0, 2.0, 3.0, 4.0], 1).labels(&[0, 1, 0, 1]).group_sizes(&[2, 2]);
        let data = data.build().unwrap();
        let scores = data.from_input_order(&[1.0, 3.0, 100.0, 104.0]);
        assert_eq!(deviation_within_queries(&data, &[0, 1], &scores), libm::sqrt((1.0 + 1.0 + 4.0 + 4.0) / 4.0));
        assert_eq!(deviation_within_queries(&data, &[1], &scores), 2.0);
        assert!(deviation_within_queries(&data, &[], &scores).is_nan());
    }
}
