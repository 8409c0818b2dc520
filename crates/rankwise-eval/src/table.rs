//! Systems side by side: the value of each metric for each query.

use std::collections::{BTreeMap, BTreeSet};

use rankwise_data::Dataset;
use rankwise_metrics::Evaluation;

use crate::EvalError;

/// The least number of systems to compare.
pub const MIN_SYSTEMS: usize = 2;
/// The largest number of systems to compare.
pub const MAX_SYSTEMS: usize = 20;

/// A system as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What to call it.
    pub name: String,
    /// Id and weight of each query.
    pub queries: Vec<(String, f64)>,
    /// The values of the queries, in their order.
    pub evaluation: Evaluation,
}

impl Measured {
    /// A system and what an evaluator for the data said of it.
    pub fn new(name: impl Into<String>, data: &Dataset, evaluation: Evaluation) -> Self {
        let queries = data.queries().map(|query| (query.id.to_owned(), f64::from(query.weight))).collect();
        Self { name: name.into(), queries, evaluation }
    }
}

/// The values of several systems, for every query that one of them answered, in the order of the bytes of their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    queries: Vec<String>,
    weights: Vec<f64>,
    metrics: Vec<String>,
    names: Vec<String>,
    /// By system and metric: a value for each query, or none.
    values: Vec<Vec<Vec<Option<f64>>>>,
    /// By system: whether it was measured on the query at all.
    is_known: Vec<Vec<bool>>,
}

impl Table {
    /// Brings the queries of all systems together.
    pub fn new(systems: &[Measured]) -> Result<Self, EvalError> {
        if !(MIN_SYSTEMS..=MAX_SYSTEMS).contains(&systems.len()) {
            return Err(EvalError::Count { given: systems.len() });
        }
        check_names(systems)?;
        let metrics = names_of_metrics(&systems[0]);
        let mut weights = BTreeMap::new();
        for system in systems {
            check_shape(system, &metrics)?;
            for (query, weight) in &system.queries {
                let one = *weights.entry(query.as_str()).or_insert(*weight);
                if one != *weight {
                    return Err(EvalError::Weight { query: query.clone(), one, other: *weight });
                }
            }
        }
        let places: BTreeMap<&str, usize> = weights.keys().enumerate().map(|(place, query)| (*query, place)).collect();
        let mut values = vec![vec![vec![None; weights.len()]; metrics.len()]; systems.len()];
        let mut is_known = vec![vec![false; weights.len()]; systems.len()];
        for (idx, system) in systems.iter().enumerate() {
            for (query, (id, _)) in system.queries.iter().enumerate() {
                let place = places[id.as_str()];
                is_known[idx][place] = true;
                for (values, metric) in values[idx].iter_mut().zip(&system.evaluation.metrics) {
                    values[place] = metric.per_query[query];
                }
            }
        }
        Ok(Self {
            queries: weights.keys().map(|query| (*query).to_owned()).collect(),
            weights: weights.into_values().collect(),
            metrics,
            names: systems.iter().map(|system| system.name.clone()).collect(),
            values,
            is_known,
        })
    }

    /// The ids of the queries.
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// The weights of the queries.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether some queries count more than others.
    pub fn is_weighted(&self) -> bool {
        self.weights.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// The names of the metrics.
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// The names of the systems.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of a system by a metric, one for each query; `None` where it was skipped or never asked.
    pub fn values(&self, system: usize, metric: usize) -> &[Option<f64>] {
        &self.values[system][metric]
    }

    /// Whether two systems were measured on a common query.
    pub(crate) fn is_shared(&self, a: usize, b: usize) -> bool {
        self.is_known[a].iter().zip(&self.is_known[b]).any(|(a, b)| *a && *b)
    }
}

fn check_names(systems: &[Measured]) -> Result<(), EvalError> {
    let mut names = BTreeSet::new();
    match systems.iter().find(|system| !names.insert(&system.name)) {
        Some(twice) => Err(EvalError::DuplicateName { name: twice.name.clone() }),
        None => Ok(()),
    }
}

fn names_of_metrics(system: &Measured) -> Vec<String> {
    system.evaluation.metrics.iter().map(|metric| metric.name.clone()).collect()
}

/// The same metrics for all systems, a value or a gap for each query, and finite values.
fn check_shape(system: &Measured, metrics: &[String]) -> Result<(), EvalError> {
    let n_queries = system.queries.len();
    let is_whole = system.evaluation.metrics.iter().all(|metric| metric.per_query.len() == n_queries);
    if names_of_metrics(system) != metrics || !is_whole {
        return Err(EvalError::Shape { system: system.name.clone() });
    }
    for metric in &system.evaluation.metrics {
        let is_bad = |value: &Option<f64>| value.is_some_and(|value| !value.is_finite());
        if let Some(query) = metric.per_query.iter().position(is_bad) {
            return Err(EvalError::Value {
                system: system.name.clone(),
                metric: metric.name.clone(),
                query: system.queries[query].0.clone(),
                value: metric.per_query[query].unwrap_or_default(),
            });
        }
    }
    Ok(())
}
