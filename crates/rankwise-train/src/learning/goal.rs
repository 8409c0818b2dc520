//! The metric that AdaRank and coordinate ascent maximise over the training queries (`target`).

use rankwise_data::Documents;
use rankwise_metrics::{Evaluator, MetricValues};
use rankwise_params::ParamValue as _;

use super::Task;
use crate::TrainError;

/// A metric of the training data, turned around if smaller values are better.
pub(crate) struct Goal<'a> {
    evaluator: Evaluator<'a>,
    metric: String,
    sign: f64,
    is_pooled: bool,
}

impl<'a> Goal<'a> {
    /// Checks that the metric can tell scores of the training data apart.
    pub(crate) fn new(task: &Task<'a>) -> Result<Self, TrainError> {
        let (params, data): (_, &Documents) = (task.params, task.train);
        let target = &params.objective().target;
        let metric = target.as_str().to_owned();
        if !has_grades(data) {
            return Err(TrainError::NoPairs { learner: params.boosting().learner.render() });
        }
        let evaluator = Evaluator::new(data, std::slice::from_ref(target), params.rules());
        let evaluator = evaluator.map_err(|source| TrainError::Target { metric: metric.clone(), source })?;
        let sign = if target.kind().is_larger_better() { 1.0 } else { -1.0 };
        let mut goal = Self { evaluator, metric, sign, is_pooled: false };
        goal.is_pooled = goal.values(&vec![0.0; data.n_rows()])?.is_pooled;
        Ok(goal)
    }

    /// The name of the metric.
    pub(crate) fn metric(&self) -> &str {
        &self.metric
    }

    /// Whether the metric is one number over all documents, without values of queries.
    pub(crate) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// The mean over queries of scores in canonical order; larger is better.
    pub(crate) fn mean(&self, scores: &[f64]) -> Result<f64, TrainError> {
        let mean = self.values(scores)?.mean;
        mean.map(|mean| self.sign * mean).ok_or_else(|| TrainError::NoTarget { metric: self.metric.clone() })
    }

    /// The value of each query; `None` for queries that the rules skip.
    pub(crate) fn by_query(&self, scores: &[f64]) -> Result<Vec<Option<f64>>, TrainError> {
        let values = self.values(scores)?.per_query;
        Ok(values.into_iter().map(|value| value.map(|value| self.sign * value)).collect())
    }

    fn values(&self, scores: &[f64]) -> Result<MetricValues, TrainError> {
        let evaluation = self.evaluator.evaluate_canonical(scores);
        let evaluation = evaluation.map_err(|source| TrainError::Target { metric: self.metric.clone(), source })?;
        Ok(evaluation.metrics.into_iter().next().expect("there is one metric"))
    }
}

/// Whether some query with a weight has documents with different labels.
fn has_grades(data: &Documents) -> bool {
    let differ = |labels: &[f32]| labels.iter().any(|label| *label != labels[0]);
    data.queries().any(|query| query.weight > 0.0 && differ(query.labels))
}
