//! Permutation importance: how much a metric loses if a feature's values are exchanged at random.
//!
//! Breiman, "Random Forests" (2001), section 10. In ranking, values are exchanged between the documents of a query: what a feature tells about a query
//! cannot change the order of its documents. Features that are constant in every query are exchanged between queries instead;
//! they matter only through others.
//!
//! Random numbers depend on the seed, the feature and the document's key alone.

use std::ops::Range;

use rankwise_data::{Draw, Purpose};
use rankwise_eval::{Interval, IntervalSpec, QueryValues, UnroundedRows, for_each_task, intervals};
use rankwise_metrics::{Evaluation, Evaluator, MetricName, Rules};
use rankwise_model::Model;
use rankwise_score::{Documents, Scorer};
use rayon::prelude::*;

use crate::{ExplainError, ModelDocs};

/// How importance is measured.
#[derive(Clone, Debug)]
pub struct PermutationSpec<'a> {
    /// The metric.
    pub metric: &'a MetricName,
    /// Its rules.
    pub rules: &'a Rules,
    /// How often each feature is exchanged.
    pub repeats: u32,
    /// The confidence intervals over queries, and the random seed.
    pub intervals: IntervalSpec,
}

/// The importance of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PermutationImportance {
    /// The feature's index in the model's list.
    pub feature: usize,
    /// What the metric loses, the mean over queries and repetitions; negative if exchanged values are better. `None` if no query has a value.
    pub loss: Option<f64>,
    /// Its confidence interval over queries.
    pub interval: Option<Interval>,
    /// Whether values were exchanged between queries, because they are constant within each.
    pub is_between_queries: bool,
}

/// The importance of each feature that the model uses, in the order of the model's features. `on_feature` is called after each of them.
pub fn permutation_importance(
    model: &Model,
    docs: &ModelDocs<'_>,
    spec: &PermutationSpec<'_>,
    on_feature: impl Fn() + Sync,
) -> Result<Vec<PermutationImportance>, ExplainError> {
    let data = docs.data;
    let evaluator = Evaluator::new(data, std::slice::from_ref(spec.metric), spec.rules)?;
    let exchange = Exchange { docs, scorer: Scorer::new(model), evaluator, spec };
    let before = exchange.evaluate(None)?;
    let weights: Vec<f64> = (0..data.n_queries()).map(|query| f64::from(data.query_weight(query))).collect();
    let one = |feature: usize| {
        let (losses, is_between_queries) = exchange.losses(model.features()[feature], feature, &before)?;
        on_feature();
        Ok((feature, losses, is_between_queries))
    };
    let features: Vec<usize> = used(model);
    let measured: Vec<(usize, Losses, bool)> =
        features.into_par_iter().map(one).collect::<Result<_, ExplainError>>()?;
    let samples: Vec<QueryValues> =
        measured.iter().map(|(_, losses, _)| QueryValues::new(&losses.by_query, &weights)).collect();
    let found = intervals(&samples.iter().collect::<Vec<_>>(), &spec.intervals);
    let importance =
        |((feature, losses, is_between_queries), interval): ((usize, Losses, bool), _)| PermutationImportance {
            feature,
            loss: losses.mean,
            interval: if losses.is_pooled { None } else { interval },
            is_between_queries,
        };
    Ok(measured.into_iter().zip(found).map(importance).collect())
}

/// The features that can change a score.
fn used(model: &Model) -> Vec<usize> {
    let n_features = model.features().len();
    match model.tree_ensemble() {
        Ok(ensemble) => {
            let mut is_used = vec![false; n_features];
            let slots = ensemble.trees().iter().flat_map(|tree| &tree.parts().feature);
            slots.for_each(|slot| is_used[*slot as usize] = true);
            (0..n_features).filter(|feature| is_used[*feature]).collect()
        }
        Err(_) => (0..n_features).collect(),
    }
}

struct Losses {
    by_query: Vec<Option<f64>>,
    mean: Option<f64>,
    is_pooled: bool,
}

struct Exchange<'a> {
    docs: &'a ModelDocs<'a>,
    scorer: Scorer,
    evaluator: Evaluator<'a>,
    spec: &'a PermutationSpec<'a>,
}

impl Exchange<'_> {
    /// What is lost, and whether values were exchanged between queries.
    fn losses(&self, id: u32, feature: usize, before: &Evaluation) -> Result<(Losses, bool), ExplainError> {
        let column = self.docs.column(feature);
        let data = self.docs.data;
        let is_constant = |rows: Range<usize>| {
            let first = column[rows.start];
            column[rows].iter().all(|value| *value == first || (value.is_nan() && first.is_nan()))
        };
        let is_between_queries = (0..data.n_queries()).all(|query| is_constant(data.query_rows(query)));
        let before = &before.metrics[0];
        let sign = if before.is_larger_better { 1.0 } else { -1.0 };
        let share = sign / f64::from(self.spec.repeats.max(1));
        let mut losses = Losses {
            by_query: before.per_query.iter().map(|value| value.map(|_| 0.0)).collect(),
            mean: before.mean.map(|_| 0.0),
            is_pooled: before.is_pooled,
        };
        for repeat in 0..self.spec.repeats.max(1) {
            // Each repetition of each feature has random numbers of its own.
            let draw = Draw::new(self.spec.intervals.seed ^ (u64::from(repeat) << 32), Purpose::Explanation, id);
            let exchanged = self.exchanged(&column, &draw, is_between_queries);
            let after = self.evaluate(Some((feature, &exchanged)))?;
            let after = &after.metrics[0];
            let add = |loss: &mut Option<f64>, before: Option<f64>, after: Option<f64>| {
                *loss = loss.zip(before.zip(after)).map(|(loss, (before, after))| loss + share * (before - after));
            };
            for (query, loss) in losses.by_query.iter_mut().enumerate() {
                add(loss, before.per_query[query], after.per_query[query]);
            }
            add(&mut losses.mean, before.mean, after.mean);
        }
        Ok((losses, is_between_queries))
    }

    fn exchanged(&self, column: &[f64], draw: &Draw, is_between_queries: bool) -> Vec<f64> {
        let data = self.docs.data;
        let mut exchanged = column.to_vec();
        if is_between_queries {
            let order = ordered(0..data.n_queries(), |query| data.query_draw(draw, query));
            for (query, other) in order.into_iter().enumerate() {
                exchanged[data.query_rows(query)].fill(column[data.query_rows(other).start]);
            }
            return exchanged;
        }
        for query in 0..data.n_queries() {
            let rows = data.query_rows(query);
            let order = ordered(rows.clone(), |row| data.draw(draw, row));
            exchanged[rows].iter_mut().zip(order).for_each(|(value, other)| *value = column[other]);
        }
        exchanged
    }

    /// The metric, with the values of one feature replaced.
    fn evaluate(&self, replaced: Option<(usize, &[f64])>) -> Result<Evaluation, ExplainError> {
        let mut scores = vec![0.0; self.docs.data.n_rows()];
        for_each_task(&self.scorer, self.docs.data, &mut scores, |rows, scores, scratch| {
            let docs = Replaced { docs: self.docs.rows(rows.clone()), first: rows.start, feature: replaced };
            self.scorer.score(&docs, scores, scratch);
        });
        Ok(self.evaluator.evaluate_canonical(&scores)?)
    }
}

/// Numbers in the order of their draws.
fn ordered(numbers: Range<usize>, draw: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = numbers.map(|number| (draw(number), number)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, number)| number).collect()
}

/// Documents with other values of one feature.
struct Replaced<'a> {
    docs: UnroundedRows<'a>,
    /// The row of the first document.
    first: usize,
    /// The feature, and its values in all rows.
    feature: Option<(usize, &'a [f64])>,
}

impl Documents for Replaced<'_> {
    type Value = f64;

    fn n_docs(&self) -> usize {
        self.docs.n_docs()
    }

    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(f64) -> O, out: &mut [O]) {
        self.docs.values(features.clone(), docs.clone(), &convert, out);
        let Some((feature, values)) = self.feature else { return };
        if features.contains(&feature) {
            let place = (feature - features.start) * docs.len();
            let values = &values[self.first + docs.start..self.first + docs.end];
            out[place..place + docs.len()].iter_mut().zip(values).for_each(|(out, value)| *out = convert(*value));
        }
    }
}
