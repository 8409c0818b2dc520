//! Evaluates the results of a system: a value per query, and their mean.

use std::fmt;

use rankwise_data::{Documents, Share, reduce};
use rayon::prelude::*;

use crate::auc::{PooledDoc, pooled_auc};
use crate::ranking::{Ranking, RankingScratch};
use crate::{
    Empty, Gain, Metric, MetricError, MetricKind, MetricName, MissingQueries, Needs, QueryResult, RankedList, Results,
    Rules, RunResults, Ties,
};

/// Number of queries per task.
const QUERIES_PER_TASK: usize = 512;

/// Metrics with their rules.
pub struct Measures {
    rules: Rules,
    metrics: Vec<Measure>,
    needs: Needs,
}

struct Measure {
    name: String,
    /// `None` for a custom metric.
    kind: Option<MetricKind>,
    /// `None` if there is no value per query.
    metric: Option<Box<dyn Metric>>,
    is_larger_better: bool,
    empty: Empty,
}

/// The values of all metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// In the order of the metric names.
    pub metrics: Vec<MetricValues>,
}

/// The values of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricValues {
    /// Its name as typed.
    pub name: String,
    /// Whether larger values are better.
    pub is_larger_better: bool,
    /// Whether it is one number over all documents, without values per query.
    pub is_pooled: bool,
    /// The value of each query in canonical order; `None` if the query was skipped. Empty if the metric is one number
    /// over all documents.
    pub per_query: Vec<Option<f64>>,
    /// The weighted mean over queries; `None` if all were skipped.
    pub mean: Option<f64>,
}

impl Evaluation {
    /// The mean of a metric by name; `None` if it was not computed or has no value.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.iter().find(|values| values.name == metric)?.mean
    }
}

/// The means, separated by commas: `ndcg@10 0.4512, map 0.3877`.
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, metric) in self.metrics.iter().enumerate() {
            let separator = if idx == 0 { "" } else { ", " };
            match metric.mean {
                Some(mean) => write!(f, "{separator}{} {mean:.4}", metric.name)?,
                None => write!(f, "{separator}{} -", metric.name)?,
            }
        }
        Ok(())
    }
}

impl Measures {
    /// Checks the metrics and their rules.
    pub fn new(names: &[MetricName], rules: &Rules) -> Result<Self, MetricError> {
        names.iter().try_for_each(MetricName::check)?;
        let metrics: Vec<Measure> = names
            .iter()
            .map(|name| Measure {
                name: name.as_str().to_owned(),
                kind: Some(name.kind()),
                metric: name.build(rules),
                is_larger_better: name.kind().is_larger_better(),
                empty: name.empty(rules),
            })
            .collect();
        let needs = metrics.iter().filter_map(|measure| measure.metric.as_ref());
        let needs = needs.fold(Needs::default(), |needs, metric| needs.and(metric.needs()));
        Ok(Self { rules: rules.clone(), metrics, needs })
    }

    /// Adds a custom metric after the existing ones.
    #[must_use]
    pub fn own_metric(mut self, name: &str, metric: impl Metric + 'static) -> Self {
        self.needs = self.needs.and(metric.needs());
        self.metrics.push(Measure {
            name: name.to_owned(),
            kind: None,
            is_larger_better: metric.is_larger_better(),
            metric: Some(Box::new(metric)),
            empty: self.rules.empty,
        });
        self
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Evaluates the results of a system.
    pub fn evaluate(&self, results: &Results<'_>) -> Result<Evaluation, MetricError> {
        match results {
            Results::CanonicalScores { data, scores } => {
                self.check_data(data)?;
                check_length(data, scores)?;
            }
            Results::Run(run) => self.check_run(run)?,
        }
        let values = self.values(results, &self.ranking(results))?;
        self.summarise(results, &values, None)
    }

    /// Calls `visit` with each query and all its documents in the order in which the metrics see them.
    pub fn for_each_ranking(&self, results: &Results<'_>, mut visit: impl FnMut(usize, &RankedList<'_>)) {
        let ranking = Ranking::new(&self.rules, Needs::whole(), results.longest());
        let mut scratch = RankingScratch::default();
        for query in 0..results.n_queries() {
            visit(query, &ranking.rank(&results.query(query), &mut scratch));
        }
    }

    fn ranking(&self, results: &Results<'_>) -> Ranking {
        Ranking::new(&self.rules, self.needs, results.longest())
    }

    /// Checks that the rules can be applied to the data.
    fn check_data(&self, data: &Documents) -> Result<(), MetricError> {
        if self.rules.ties == Ties::DocId && !data.has_doc_ids() {
            return Err(MetricError::NoDocIds);
        }
        // Check all labels at once, and find the query only if one is invalid.
        self.check_labels("", data.labels())
            .or_else(|_| data.queries().try_for_each(|query| self.check_labels(query.id, query.labels)))
    }

    fn check_run(&self, run: &RunResults) -> Result<(), MetricError> {
        run.all_labels().into_iter().try_for_each(|labels| self.check_labels("", labels)).or_else(|_| {
            let results = Results::Run(run);
            (0..run.n_queries()).map(|query| results.query(query)).try_for_each(|query| {
                [query.labels, query.missed].into_iter().try_for_each(|labels| self.check_labels(query.id, labels))
            })
        })
    }

    fn check_labels(&self, query: &str, labels: &[f32]) -> Result<(), MetricError> {
        let rules = &self.rules;
        rules.gain.check_labels(query, labels)?;
        if !self.metrics.iter().any(|measure| matches!(measure.kind, Some(MetricKind::Err | MetricKind::PFound))) {
            return Ok(());
        }
        let problem = |label: f32| match rules.gain {
            Gain::Exp if f64::from(label) > rules.err_max_grade => Some(format!(
                "is above the maximum label of err and pfound, {}; increase `err_max_grade`",
                rules.err_max_grade
            )),
            Gain::Linear | Gain::Table(_) if rules.gain.of(label) > 1.0 => Some(format!(
                "has the gain {}, but without `gain` exp, err and pfound use gains as probabilities, from 0 to 1; use \
                 `gain` exp, or scale the labels or the gain table",
                rules.gain.of(label)
            )),
            _ => None,
        };
        let found = labels.iter().find_map(|label| Some((*label, problem(*label)?)));
        found.map_or(Ok(()), |(label, problem)| Err(MetricError::Label { label, query: query.to_owned(), problem }))
    }

    /// The values of all metrics for each query of checked results; those of a query are adjacent.
    fn values(&self, results: &Results<'_>, ranking: &Ranking) -> Result<Vec<Option<f64>>, MetricError> {
        let n_metrics = self.metrics.len().max(1);
        let mut values: Vec<Option<f64>> = vec![None; results.n_queries() * n_metrics];
        let error = values
            .par_chunks_mut(QUERIES_PER_TASK * n_metrics)
            .enumerate()
            .map_init(RankingScratch::default, |scratch, (task, values)| {
                let mut queries = values.chunks_exact_mut(n_metrics).enumerate();
                queries.find_map(|(idx, values)| {
                    let query = results.query(task * QUERIES_PER_TASK + idx);
                    self.measure_query(&query, ranking, scratch, values).err()
                })
            })
            .find_map_first(|error| error);
        error.map_or(Ok(values), Err)
    }

    /// The values by metric, with their means over the queries of all members.
    fn summarise(
        &self,
        results: &Results<'_>,
        values: &[Option<f64>],
        share: Option<&Share<'_>>,
    ) -> Result<Evaluation, MetricError> {
        let n_metrics = self.metrics.len().max(1);
        let metrics = self.metrics.iter().enumerate().map(|(idx, measure)| {
            let (name, is_larger_better, is_pooled) =
                (measure.name.clone(), measure.is_larger_better, measure.metric.is_none());
            if is_pooled {
                let (per_query, mean) = (Vec::new(), self.pooled(measure, results, share)?);
                return Ok(MetricValues { name, is_larger_better, is_pooled, per_query, mean });
            }
            let per_query: Vec<Option<f64>> = values.iter().skip(idx).step_by(n_metrics).copied().collect();
            let weight = |query: usize| f64::from(results.query_weight(query));
            let weighted =
                per_query.iter().enumerate().filter_map(|(query, value)| value.map(|value| (value, weight(query))));
            let mean = match share.filter(|share| !share.is_alone()) {
                None => reduce::weighted_mean(weighted),
                Some(share) => {
                    let lists = per_query.iter().enumerate();
                    let lists =
                        lists.map(|(query, value)| value.map_or(Vec::new(), |value| vec![value, weight(query)]));
                    let all = share.gather_lists(lists.collect());
                    reduce::weighted_mean(all.iter().filter_map(|list| Some((*list.first()?, *list.get(1)?))))
                }
            };
            Ok(MetricValues { name, is_larger_better, is_pooled, per_query, mean })
        });
        Ok(Evaluation { metrics: metrics.collect::<Result<_, MetricError>>()? })
    }

    fn measure_query(
        &self,
        query: &QueryResult<'_>,
        ranking: &Ranking,
        scratch: &mut RankingScratch,
        values: &mut [Option<f64>],
    ) -> Result<(), MetricError> {
        if self.is_left_out(query) {
            return Ok(());
        }
        if let Some(doc) = query.scores.iter().position(|score| score.is_nan()) {
            let row = query.places[doc] as usize + 1;
            return Err(MetricError::Score { row, query: query.id.to_owned() });
        }
        let list = ranking.rank(query, scratch);
        for (value, measure) in values.iter_mut().zip(&self.metrics) {
            if let Some(metric) = &measure.metric {
                let of_list = metric.value(&list);
                *value = measure.or_empty(of_list, metric.is_normalised(), query.id)?;
            }
        }
        Ok(())
    }

    /// The value of a metric over all documents together.
    fn pooled(
        &self,
        measure: &Measure,
        results: &Results<'_>,
        share: Option<&Share<'_>>,
    ) -> Result<Option<f64>, MetricError> {
        let is_counted = |query: &usize| !self.is_left_out(&results.query(*query));
        let mut docs: Vec<Vec<PooledDoc>> = (0..results.n_queries())
            .filter(is_counted)
            .map(|query| PooledDoc::of_query(&results.query(query), results.query_weight(query)))
            .collect();
        if let Some(share) = share.filter(|share| !share.is_alone()) {
            let numbers = docs.iter().map(|docs| docs.iter().flat_map(|doc| doc.to_numbers()).collect());
            let all = share.gather_lists(numbers.collect());
            docs =
                all.iter().map(|numbers| numbers.as_chunks().0.iter().map(PooledDoc::from_numbers).collect()).collect();
        }
        measure.or_empty(pooled_auc(docs.into_iter().flatten(), self.rules.relevant_from), true, "(all)")
    }

    /// Whether the run has no results for the query and the rules ignore such queries.
    fn is_left_out(&self, query: &QueryResult<'_>) -> bool {
        self.rules.missing_queries == MissingQueries::Skip && query.judged.is_some() && query.n_docs() == 0
    }
}

impl Measure {
    /// The value, or what the rules define if there is none.
    fn or_empty(&self, value: Option<f64>, is_normalised: bool, query: &str) -> Result<Option<f64>, MetricError> {
        match (value, self.empty) {
            (Some(value), _) => Ok(Some(value)),
            (None, Empty::Error) => Err(MetricError::NoRelevant { query: query.to_owned() }),
            (None, Empty::Skip) => Ok(None),
            // 0 would be the best possible value.
            (None, _) if !self.is_larger_better => Ok(None),
            (None, Empty::Zero) => Ok(Some(0.0)),
            (None, Empty::One) => Ok(Some(if is_normalised { 1.0 } else { 0.0 })),
        }
    }
}

/// Metrics with their rules for one dataset, created once and applied to many scores.
///
/// ```
/// use rankwise_data::Dataset;
/// use rankwise_metrics::{Evaluator, MetricName, Rules, Ties};
///
/// let data = Dataset::from_dense(&[0.0, 0.0, 0.0], 1).labels(&[0, 1, 0]).qids(&[1, 1, 1]).build()?;
/// let metrics = MetricName::parse_list("mrr,ndcg@1")?;
/// let evaluator = Evaluator::new(&data, &metrics, &Rules { ties: Ties::Best, ..Rules::default() })?;
/// assert_eq!(evaluator.evaluate(&[3.0, 2.0, 1.0])?.mean("mrr"), Some(0.5));
/// assert_eq!(evaluator.evaluate(&[2.0, 2.0, 1.0])?.to_string(), "mrr 1.0000, ndcg@1 1.0000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluator<'a> {
    share: Share<'a>,
    measures: Measures,
    ranking: Ranking,
}

impl<'a> Evaluator<'a> {
    /// Checks that the rules can be applied to the data.
    pub fn new(data: &'a Documents, names: &[MetricName], rules: &Rules) -> Result<Self, MetricError> {
        Self::of_share(Share::alone(data), names, rules)
    }

    /// The same for one member's part of the data. Means are over the queries of all members; values per query are only
    /// those of this member.
    pub fn of_share(share: Share<'a>, names: &[MetricName], rules: &Rules) -> Result<Self, MetricError> {
        let measures = Measures::new(names, rules)?;
        share.agree(measures.check_data(share.data))?;
        let ranking = measures.ranking(&Results::CanonicalScores { data: share.data, scores: &[] });
        Ok(Self { share, measures, ranking })
    }

    /// Adds a custom metric after the existing ones.
    #[must_use]
    pub fn own_metric(self, name: &str, metric: impl Metric + 'static) -> Self {
        let measures = self.measures.own_metric(name, metric);
        let ranking = measures.ranking(&Results::CanonicalScores { data: self.share.data, scores: &[] });
        Self { measures, ranking, ..self }
    }

    /// Evaluates scores given in input order.
    pub fn evaluate(&self, scores: &[f64]) -> Result<Evaluation, MetricError> {
        check_length(self.share.data, scores)?;
        self.evaluate_canonical(&self.share.data.from_input_order(scores))
    }

    /// Evaluates scores given in canonical order.
    pub fn evaluate_canonical(&self, scores: &[f64]) -> Result<Evaluation, MetricError> {
        let data = self.share.data;
        check_length(data, scores)?;
        let results = Results::CanonicalScores { data, scores };
        let values = self.share.agree(self.measures.values(&results, &self.ranking))?;
        self.measures.summarise(&results, &values, Some(&self.share))
    }
}

fn check_length(data: &Documents, scores: &[f64]) -> Result<(), MetricError> {
    if scores.len() == data.n_rows() {
        return Ok(());
    }
    Err(MetricError::Length { scores: scores.len(), rows: data.n_rows() })
}
