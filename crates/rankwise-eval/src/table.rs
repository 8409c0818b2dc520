//! A table of systems: the value of each metric for each query.

use rankwise_data::StringTable;
use rankwise_metrics::{Evaluation, MetricValues};

use crate::EvalError;

/// Several systems, evaluated on the same queries with the same metrics.
#[derive(Clone, Debug)]
pub struct Table {
    queries: StringTable,
    weights: Vec<f64>,
    names: Vec<String>,
    /// One per system; the values of each metric are in query order.
    evaluations: Vec<Evaluation>,
}

impl Table {
    /// Takes query ids and weights in canonical order, and the evaluation of each system by name.
    pub fn new(queries: StringTable, weights: &[f32], systems: Vec<(String, Evaluation)>) -> Result<Self, EvalError> {
        let weights: Vec<f64> = weights.iter().copied().map(f64::from).collect();
        let (names, evaluations) = systems.into_iter().unzip();
        let table = Self { queries, weights, names, evaluations };
        for system in 0..table.names.len() {
            table.check_values(system)?;
        }
        Ok(table)
    }

    /// The ids of the queries.
    pub fn queries(&self) -> &StringTable {
        &self.queries
    }

    /// The weights of the queries.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether query weights differ.
    pub fn is_weighted(&self) -> bool {
        self.weights.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// The number of metrics.
    pub fn n_metrics(&self) -> usize {
        self.evaluations.first().map_or(0, |evaluation| evaluation.metrics.len())
    }

    /// The name of a metric.
    pub fn metric(&self, metric: usize) -> &str {
        &self.evaluations[0].metrics[metric].name
    }

    /// Whether larger values of a metric are better.
    pub fn is_larger_better(&self, metric: usize) -> bool {
        self.evaluations[0].metrics[metric].is_larger_better
    }

    /// The names of the systems.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of a metric for a system, one per query; `None` if the query was skipped.
    pub fn values(&self, system: usize, metric: usize) -> &[Option<f64>] {
        &self.evaluations[system].metrics[metric].per_query
    }

    /// A metric of a system: its values and their mean.
    pub fn metric_values(&self, system: usize, metric: usize) -> &MetricValues {
        &self.evaluations[system].metrics[metric]
    }

    /// Checks that all systems have the same metrics, one entry per query, and finite values.
    fn check_values(&self, system: usize) -> Result<(), EvalError> {
        if let Some(pooled) = self.evaluations[system].metrics.iter().find(|metric| metric.is_pooled) {
            return Err(EvalError::Pooled { metric: pooled.name.clone() });
        }
        let (name, metrics) = (&self.names[system], &self.evaluations[system].metrics);
        let is_named =
            metrics.iter().map(|metric| &metric.name).eq(self.evaluations[0].metrics.iter().map(|m| &m.name));
        let n_queries = self.queries.len();
        let is_whole = self.weights.len() == n_queries && metrics.iter().all(|m| m.per_query.len() == n_queries);
        if !is_named || !is_whole {
            return Err(EvalError::Shape { system: name.clone() });
        }
        for metric in metrics {
            let values = metric.per_query.iter().enumerate();
            if let Some((query, value)) =
                values.filter_map(|(query, value)| Some((query, (*value)?))).find(|(_, value)| !value.is_finite())
            {
                return Err(EvalError::Value {
                    system: name.clone(),
                    metric: metric.name.clone(),
                    query: self.queries.get(query).to_owned(),
                    value,
                });
            }
        }
        Ok(())
    }
}
