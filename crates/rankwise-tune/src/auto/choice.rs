//! Which models are combined, and what that is worth.
//!
//! Every model is divided by one number, the standard deviation of its scores within queries, and the combination is
//! the mean. A smaller set of models takes the place of all only if it is better by more than chance on queries that did
//! not choose it.
//!
//! Estimates are cross-fitted: number of rounds, factors and sets are chosen on one half of the validation queries and
//! measured on the other.

use rankwise_data::{Dataset, reduce};
use rankwise_eval::{QueryValues, deviation_within_queries};
use rankwise_metrics::{Evaluator, MetricName, Rules, Ties};

use super::halves::{Halves, View};
use super::member::TrainedMember;
use crate::TuneError;

/// A smaller set must be better than the mean of all by this many standard errors.
const EVIDENCE: f64 = 2.0;

/// A value per query; `None` if it does not count.
pub(crate) type Values = Vec<Option<f64>>;

/// Which models are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The mean of all.
    All,
    /// The mean of so many with the best values.
    Best(usize),
}

/// Models with their factors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) rule: Rule,
    /// Places in the pool.
    pub(crate) members: Vec<(usize, f64)>,
}

impl Choice {
    /// The factor of a member, if it is chosen.
    pub(crate) fn factor(&self, member: usize) -> Option<f64> {
        self.members.iter().find(|(chosen, _)| *chosen == member).map(|(_, factor)| *factor)
    }
}

/// Trained models with what is needed to choose among them.
pub(crate) struct Pool<'a> {
    halves: &'a Halves<'a>,
    members: Vec<&'a TrainedMember>,
    evaluator: Evaluator<'a>,
    weights: Vec<f64>,
    /// By view and member: the standard deviation of scores within queries, over the queries of the view.
    deviations: [Vec<f64>; 3],
    /// By view and member.
    values: [Vec<Values>; 3],
}

impl<'a> Pool<'a> {
    pub(crate) fn new(
        members: Vec<&'a TrainedMember>,
        halves: &'a Halves<'a>,
        metric: &MetricName,
        rules: &Rules,
    ) -> Result<Self, TuneError> {
        let evaluator = Evaluator::new(halves.data, std::slice::from_ref(metric), rules)?;
        let mut pool = Self {
            halves,
            evaluator,
            weights: (0..halves.data.n_queries()).map(|query| f64::from(halves.data.query_weight(query))).collect(),
            deviations: [const { Vec::new() }; 3],
            values: [const { Vec::new() }; 3],
            members: Vec::new(),
        };
        for view in View::ALL {
            let queries: Vec<usize> = (0..halves.data.n_queries()).filter(|query| halves.has(view, *query)).collect();
            let deviation = |member: &&TrainedMember| {
                deviation_within_queries(halves.data, &queries, &member.scores[view as usize])
            };
            pool.deviations[view as usize] = members.iter().map(deviation).collect();
            for member in &members {
                let values = pool.measure(&member.scores[view as usize])?;
                pool.values[view as usize].push(values);
            }
        }
        pool.members = members;
        Ok(pool)
    }

    /// The metric of each query.
    fn measure(&self, scores: &[f64]) -> Result<Values, TuneError> {
        Ok(self.evaluator.evaluate_canonical(scores)?.metrics.remove(0).per_query)
    }

    /// The first models only.
    pub(crate) fn first(&self, n_members: usize) -> impl Fn(View) -> Choice {
        move |view| self.combine(view, Rule::All, (0..n_members.min(self.members.len())).collect())
    }

    /// The models that a rule gives if it looks at the queries of a view.
    pub(crate) fn by_rule(&self, rule: Rule) -> impl Fn(View) -> Choice {
        move |view| self.apply(view, rule, |query| self.halves.has(view, query))
    }

    /// The best choice by the queries of a view.
    pub(crate) fn choose(&self, view: View) -> Result<Choice, TuneError> {
        let all = self.apply(view, Rule::All, |_| true);
        let plain = self.measure(&self.scores(view, &all))?;
        let n_members = all.members.len();
        let mut sizes = vec![1, n_members.div_ceil(4), n_members.div_ceil(2)];
        sizes.dedup();
        let mut best = (Rule::All, 0.0);
        for size in sizes.into_iter().filter(|size| *size < n_members) {
            let rule = Rule::Best(size);
            let gain = self.gain_within(view, rule, &plain)?;
            let [Some(mean), Some(error)] = [gain.mean(), gain.standard_error()] else { continue };
            let mean = self.halves.sign * mean;
            if mean > EVIDENCE * error && mean > best.1 {
                best = (rule, mean);
            }
        }
        Ok(self.apply(view, best.0, |query| self.halves.has(view, query)))
    }

    /// How much better a rule is than the plain mean, on the half of a view that the rule has not looked at.
    fn gain_within(&self, view: View, rule: Rule, plain: &[Option<f64>]) -> Result<QueryValues, TuneError> {
        let halves = self.halves;
        let is_in = |query: usize, half: usize| halves.has(view, query) && halves.inner_half(view, query) == half;
        let chosen = [0, 1].map(|half| self.apply(view, rule, |query| is_in(query, half)));
        let scores = [self.scores(view, &chosen[0]), self.scores(view, &chosen[1])];
        let measured = [self.measure(&scores[0])?, self.measure(&scores[1])?];
        let unseen = (0..plain.len()).map(|query| {
            let other = 1 - halves.inner_half(view, query);
            if halves.has(view, query) { measured[other][query] } else { None }
        });
        Ok(QueryValues::of_differences(&unseen.collect::<Values>(), plain, &self.weights))
    }

    /// The models of a rule that looks at some of the queries.
    fn apply(&self, view: View, rule: Rule, looks_at: impl Fn(usize) -> bool) -> Choice {
        let mut order: Vec<(usize, f64)> = (0..self.members.len())
            .map(|member| {
                let values = &self.values[view as usize][member];
                let seen = values.iter().enumerate().filter(|(query, _)| looks_at(*query));
                let seen = seen.filter_map(|(query, value)| Some(((*value)?, self.weights[query])));
                (member, self.halves.sign * reduce::weighted_mean(seen).unwrap_or(0.0))
            })
            .collect();
        if let Rule::Best(size) = rule {
            order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            order.truncate(size);
        }
        self.combine(view, rule, order.into_iter().map(|(member, _)| member).collect())
    }

    /// The mean of scaled models. A model that gives all documents of each query the same score adds nothing.
    fn combine(&self, view: View, rule: Rule, mut members: Vec<usize>) -> Choice {
        members.sort_unstable();
        let n_members = members.len() as f64;
        let scaled = members.into_iter().filter_map(|member| {
            let deviation = self.deviations[view as usize][member];
            (deviation > 0.0).then(|| (member, 1.0 / (deviation * n_members)))
        });
        Choice { rule, members: scaled.collect() }
    }

    /// The scores of a choice, by the rounds of a view.
    fn scores(&self, view: View, choice: &Choice) -> Vec<f64> {
        let mut sum = vec![0.0; self.halves.data.n_rows()];
        for (member, factor) in &choice.members {
            let scores = &self.members[*member].scores[view as usize];
            sum.iter_mut().zip(scores).for_each(|(sum, score)| *sum += factor * score);
        }
        sum
    }

    /// The metric of each query, measured with what the other half chooses.
    pub(crate) fn cross_fitted(&self, choose: impl Fn(View) -> Choice) -> Result<Values, TuneError> {
        let mut values = vec![None; self.weights.len()];
        for half in View::HALVES {
            let measured = self.measure(&self.scores(half, &choose(half)))?;
            for (query, value) in measured.into_iter().enumerate() {
                if self.halves.has(half.other(), query) {
                    values[query] = value;
                }
            }
        }
        Ok(values)
    }

    /// The weights of the queries.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }
}

/// The expected metric of each query in random order.
pub(crate) fn random_order(data: &Dataset, metric: &MetricName, rules: &Rules) -> Result<Values, TuneError> {
    let rules = Rules { ties: Ties::Average, ..rules.clone() };
    let evaluator = Evaluator::new(data, std::slice::from_ref(metric), &rules)?;
    Ok(evaluator.evaluate_canonical(&vec![0.0; data.n_rows()])?.metrics.remove(0).per_query)
}
