//! Metrics over a data set: a value per query, and their mean.

use rankwise_data::{Dataset, reduce};
use rayon::prelude::*;

use crate::ranking::RankingScratch;
use crate::{Discounts, Empty, Metric, MetricError, MetricName, Rules, Ties};

/// Metrics under rules, for one data set; made once, applied to many scores.
pub struct Evaluator<'a> {
    data: &'a Dataset,
    rules: Rules,
    metrics: Vec<(MetricName, Box<dyn Metric>)>,
    discounts: Discounts,
}

/// What came out for each metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// In the order in which the metrics were named.
    pub metrics: Vec<MetricValues>,
}

/// The values of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricValues {
    /// Its name as typed.
    pub name: String,
    /// The value of each query in canonical order; `None` where it was left out.
    pub per_query: Vec<Option<f64>>,
    /// The mean over queries, by their weights; `None` where none is left.
    pub mean: Option<f64>,
}

impl<'a> Evaluator<'a> {
    /// Makes sure that the rules can be applied to the data.
    pub fn new(data: &'a Dataset, names: &[MetricName], rules: &Rules) -> Result<Self, MetricError> {
        rules.gain.check(data)?;
        if rules.ties == Ties::DocId && !data.has_doc_ids() {
            return Err(MetricError::NoDocIds);
        }
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        Ok(Self {
            data,
            rules: rules.clone(),
            metrics: names.iter().map(|name| (name.clone(), name.build(rules))).collect(),
            discounts: Discounts::up_to(longest),
        })
    }

    /// Measures scores given in canonical order.
    pub fn evaluate(&self, scores: &[f64]) -> Result<Evaluation, MetricError> {
        if scores.len() != self.data.n_rows() {
            return Err(MetricError::Length { scores: scores.len(), rows: self.data.n_rows() });
        }
        let by_query: Vec<Vec<Option<f64>>> = (0..self.data.n_queries())
            .into_par_iter()
            .map_init(RankingScratch::default, |scratch, query| self.measure(query, scores, scratch))
            .collect::<Result<_, _>>()?;
        let metrics = self.metrics.iter().enumerate().map(|(idx, (name, _))| {
            let per_query: Vec<Option<f64>> = by_query.iter().map(|values| values[idx]).collect();
            let weighted: Vec<(f64, f64)> = per_query
                .iter()
                .enumerate()
                .filter_map(|(query, value)| value.map(|value| (value, f64::from(self.data.query_weight(query)))))
                .collect();
            MetricValues { name: name.as_str().to_owned(), mean: reduce::weighted_mean(&weighted), per_query }
        });
        Ok(Evaluation { metrics: metrics.collect() })
    }

    fn measure(
        &self,
        query: usize,
        scores: &[f64],
        scratch: &mut RankingScratch,
    ) -> Result<Vec<Option<f64>>, MetricError> {
        let view = self.data.query(query);
        let scores = &scores[view.rows.clone()];
        if let Some(doc) = scores.iter().position(|score| score.is_nan()) {
            let row = view.input_rows[doc] as usize + 1;
            return Err(MetricError::Score { row, query: view.id.to_owned() });
        }
        let list = scratch.rank(&view, scores, &self.rules, &self.discounts);
        self.metrics
            .iter()
            .map(|(_, metric)| match (metric.value(&list), self.rules.empty) {
                (Some(value), _) => Ok(Some(value)),
                (None, Empty::Zero) => Ok(Some(0.0)),
                (None, Empty::One) => Ok(Some(if metric.is_normalised() { 1.0 } else { 0.0 })),
                (None, Empty::Skip) => Ok(None),
                (None, Empty::Error) => Err(MetricError::NoRelevant { query: view.id.to_owned() }),
            })
            .collect()
    }
}
