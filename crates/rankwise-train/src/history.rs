//! The metrics on the validation sets after each round.

use crate::MetricValue;

/// The metrics of all rounds on the validation sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The round of the first values: 1, or 0 with a start model, which is evaluated first.
    pub first_round: usize,
    /// One per validation set and metric, in the given order.
    pub curves: Vec<Curve>,
}

/// One metric on one validation set.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The validation set.
    pub set: String,
    /// The metric.
    pub metric: String,
    /// The mean after each round.
    pub values: Vec<f64>,
}

impl History {
    /// From values sorted by round; `columns` describe the values of a round.
    pub(crate) fn new(first_round: usize, columns: &[MetricValue], values: &[f64]) -> Self {
        let curve = |(idx, column): (usize, &MetricValue)| Curve {
            set: column.set.clone(),
            metric: column.metric.clone(),
            values: values.iter().skip(idx).step_by(columns.len()).copied().collect(),
        };
        Self { first_round, curves: columns.iter().enumerate().map(curve).collect() }
    }

    /// The rounds that were evaluated; empty without a validation set.
    pub fn rounds(&self) -> std::ops::Range<usize> {
        let n_rounds = self.curves.first().map_or(0, |curve| curve.values.len());
        self.first_round..self.first_round + n_rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_round_become_curves() {
        let column = |set: &str, metric: &str| MetricValue { set: set.into(), metric: metric.into(), value: 0.0 };
        let columns = [column("a", "ndcg"), column("a", "map"), column("b", "ndcg"), column("b", "map")];
        let history = History::new(1, &columns, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(history.rounds(), 1..3);
        let curve = &history.curves[2];
        assert_eq!((curve.set.as_str(), curve.metric.as_str(), &curve.values[..]), ("b", "ndcg", &[3.0, 7.0][..]));
        assert_eq!(History::new(1, &[], &[]).rounds(), 1..1);
    }
}
