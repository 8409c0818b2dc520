//! Compares systems: how good each is, which of two is better, and whether the difference could be chance.

use crate::bootstrap::{resampled_means, shift_test};
use crate::interval::{Interval, IntervalSpec, intervals, same_queries};
use crate::{EvalError, QueryValues, Table, Tail, fisher, holm, paired_t, wilcoxon};

/// Minimum number of systems.
pub const MIN_SYSTEMS: usize = 2;
/// Maximum number of systems.
pub const MAX_SYSTEMS: usize = 20;

/// Default number of random sign assignments.
pub const PERMUTATIONS: u32 = 100_000;

/// A test of the difference of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Fisher's randomisation test.
    Fisher {
        /// Number of random sign assignments, if there are too many to try all.
        permutations: u32,
    },
    /// The paired t test.
    T,
    /// Wilcoxon's signed-rank test.
    Wilcoxon,
    /// The bootstrap test by the shift method.
    Bootstrap {
        /// Number of bootstrap resamples.
        resamples: u32,
    },
}

/// The alternative hypothesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternative {
    /// Two-sided: the systems differ.
    #[default]
    Different,
    /// One-sided: the first system is better.
    FirstIsBetter,
}

/// How systems are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareSpec {
    /// The test.
    pub test: Test,
    /// The alternative hypothesis.
    pub alternative: Alternative,
    /// Compare all others with this system only; otherwise compare all pairs.
    pub baseline: Option<String>,
    /// The confidence intervals of means and differences; its seed is also used for the test.
    pub intervals: IntervalSpec,
    /// Number of best and worst queries to keep for each pair.
    pub top: usize,
}

/// Fisher's test of all pairs, two-sided.
impl Default for CompareSpec {
    fn default() -> Self {
        Self {
            test: Test::Fisher { permutations: PERMUTATIONS },
            alternative: Alternative::Different,
            baseline: None,
            intervals: IntervalSpec::default(),
            top: 3,
        }
    }
}

impl CompareSpec {
    /// Checks whether systems with these names can be compared in this way.
    pub fn check(&self, names: &[String]) -> Result<(), EvalError> {
        if !(MIN_SYSTEMS..=MAX_SYSTEMS).contains(&names.len()) {
            return Err(EvalError::Count { given: names.len() });
        }
        if let Some(twice) = names.iter().enumerate().find(|(idx, name)| names[..*idx].contains(name)) {
            return Err(EvalError::DuplicateName { name: twice.1.clone() });
        }
        self.pairs(names).map(drop)
    }

    /// The pairs to compare: each system with those after it, or each with the baseline, which comes second.
    fn pairs(&self, names: &[String]) -> Result<Vec<(usize, usize)>, EvalError> {
        let Some(baseline) = &self.baseline else {
            return Ok((0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b))).collect());
        };
        let Some(base) = names.iter().position(|name| name == baseline) else {
            let known = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
            return Err(EvalError::Baseline { name: baseline.clone(), known });
        };
        Ok((0..names.len()).filter(|system| *system != base).map(|system| (system, base)).collect())
    }
}

/// The summaries of systems and pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the order of the table: a summary per metric.
    pub systems: Vec<Vec<Summary>>,
    /// By metric, then by the order of the systems.
    pub pairs: Vec<Pair>,
}

/// The summary of a system for one metric, over the queries with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The weighted mean; `None` if no query counts.
    pub mean: Option<f64>,
    /// Its confidence interval; `None` for fewer than two queries.
    pub interval: Option<Interval>,
    /// The number of queries that count.
    pub n_queries: usize,
}

/// The comparison of two systems for one metric, over the queries for which both have a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The first system, as an index into the table.
    pub a: usize,
    /// The second system.
    pub b: usize,
    /// The metric, as an index.
    pub metric: usize,
    /// Mean of the first minus mean of the second.
    pub difference: f64,
    /// Its confidence interval; `None` for fewer than two queries.
    pub interval: Option<Interval>,
    /// The p-value; `None` if the test needs more queries.
    pub p_value: Option<f64>,
    /// The p-value with Holm's correction across the pairs of this metric.
    pub corrected: Option<f64>,
    /// Cohen's d: the difference over the standard deviation of the differences. `None` if these do not vary, except
    /// that it is 0 if the systems never differ.
    pub effect: Option<f64>,
    /// Number of queries for which the first is better.
    pub wins: usize,
    /// Number of queries for which both have exactly the same value.
    pub ties: usize,
    /// Number of queries for which the second is better.
    pub losses: usize,
    /// Number of queries of the table that do not count for this pair.
    pub left_out: usize,
    /// The queries for which the first is better by the largest margins, as indices into the table, with the
    /// differences.
    pub best: Vec<(usize, f64)>,
    /// The queries for which it is worse by the largest margins.
    pub worst: Vec<(usize, f64)>,
}

impl Comparison {
    /// Compares the systems of a table. `on_pair` is called after each pair with the number done and the total.
    pub fn new(table: &Table, spec: &CompareSpec, mut on_pair: impl FnMut(usize, usize)) -> Result<Self, EvalError> {
        spec.check(table.names())?;
        let chosen = spec.pairs(table.names())?;
        let n_pairs = chosen.len() * table.n_metrics();
        let mut comparison =
            Self { systems: vec![Vec::new(); table.names().len()], pairs: Vec::with_capacity(n_pairs) };
        for metric in 0..table.n_metrics() {
            let of_metric = OfMetric::new(table, metric, &chosen)?;
            let (summaries, intervals) = of_metric.intervals(&spec.intervals);
            for (system, summary) in comparison.systems.iter_mut().zip(summaries) {
                system.push(summary);
            }
            let is_larger_better = table.is_larger_better(metric);
            let tail = match (spec.alternative, is_larger_better) {
                (Alternative::Different, _) => Tail::Both,
                (Alternative::FirstIsBetter, true) => Tail::Upper,
                (Alternative::FirstIsBetter, false) => Tail::Lower,
            };
            let mut p_values = Vec::with_capacity(chosen.len());
            let mut of_bootstrap = match spec.test {
                Test::Bootstrap { resamples } => of_metric.bootstrap(resamples, spec.intervals.seed, tail),
                _ => Vec::new(),
            };
            for (place, differences) in of_metric.differences.iter().enumerate() {
                p_values.push(match spec.test {
                    Test::Fisher { permutations } => Some(fisher(differences, tail, permutations, spec.intervals.seed)),
                    Test::T => paired_t(differences, tail),
                    Test::Wilcoxon => Some(wilcoxon(differences, tail)),
                    Test::Bootstrap { .. } => of_bootstrap[place].take(),
                });
                on_pair(comparison.pairs.len() + p_values.len(), n_pairs);
            }
            let corrected = holm(&p_values);
            for (place, (a, b)) in chosen.iter().enumerate() {
                let mut pair = Pair::new([*a, *b, metric], &of_metric.differences[place], is_larger_better, spec.top);
                pair.left_out = table.queries().len() - of_metric.differences[place].len();
                (pair.interval, pair.p_value, pair.corrected) = (intervals[place], p_values[place], corrected[place]);
                comparison.pairs.push(pair);
            }
        }
        Ok(comparison)
    }
}

impl Comparison {
    /// The same with at most `top` best and worst queries per pair.
    pub fn with_top(&self, top: usize) -> Self {
        let mut comparison = self.clone();
        for pair in &mut comparison.pairs {
            pair.best.truncate(top);
            pair.worst.truncate(top);
        }
        comparison
    }
}

impl Pair {
    /// Everything that follows from the differences alone.
    fn new([a, b, metric]: [usize; 3], differences: &QueryValues, is_larger_better: bool, top: usize) -> Self {
        let difference = differences.mean().unwrap_or_default();
        let effect = match differences.deviation() {
            Some(deviation) if deviation > 0.0 => Some(difference / deviation),
            _ if difference == 0.0 => Some(0.0),
            _ => None,
        };
        let mut order: Vec<(usize, f64)> =
            differences.queries().iter().copied().zip(differences.values().iter().copied()).collect();
        let n_larger = order.iter().filter(|(_, value)| *value > 0.0).count();
        let n_smaller = order.iter().filter(|(_, value)| *value < 0.0).count();
        // Stable: ties stay in query order.
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let largest = order[..n_larger.min(top)].to_vec();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let smallest = order[..n_smaller.min(top)].to_vec();
        let ((wins, best), (losses, worst)) = if is_larger_better {
            ((n_larger, largest), (n_smaller, smallest))
        } else {
            ((n_smaller, smallest), (n_larger, largest))
        };
        Self {
            a,
            b,
            metric,
            difference,
            interval: None,
            p_value: None,
            corrected: None,
            effect,
            wins,
            ties: order.len() - n_larger - n_smaller,
            losses,
            left_out: 0,
            best,
            worst,
        }
    }

    /// Whether the difference favours the first system.
    pub fn favours_first(&self, table: &Table) -> bool {
        (self.difference > 0.0) == table.is_larger_better(self.metric)
    }
}

/// The samples of one metric.
struct OfMetric {
    systems: Vec<QueryValues>,
    differences: Vec<QueryValues>,
}

impl OfMetric {
    fn new(table: &Table, metric: usize, pairs: &[(usize, usize)]) -> Result<Self, EvalError> {
        let values = |system: usize| table.values(system, metric);
        let systems =
            (0..table.names().len()).map(|system| QueryValues::new(values(system), table.weights())).collect();
        let mut differences = Vec::with_capacity(pairs.len());
        for (a, b) in pairs {
            let sample = QueryValues::of_differences(values(*a), values(*b), table.weights());
            if sample.is_empty() {
                let [a, b] = [a, b].map(|system| table.names()[*system].clone());
                return Err(EvalError::NothingCounts { a, b, metric: table.metric(metric).to_owned() });
            }
            differences.push(sample);
        }
        Ok(Self { systems, differences })
    }

    /// A summary of each system, and a confidence interval of each difference.
    fn intervals(&self, spec: &IntervalSpec) -> (Vec<Summary>, Vec<Option<Interval>>) {
        let samples: Vec<&QueryValues> = self.systems.iter().chain(&self.differences).collect();
        let mut found = intervals(&samples, spec);
        let of_differences = found.split_off(self.systems.len());
        let summary = |(sample, interval): (&QueryValues, Option<Interval>)| Summary {
            mean: sample.mean(),
            interval,
            n_queries: sample.len(),
        };
        (self.systems.iter().zip(found).map(summary).collect(), of_differences)
    }

    /// A p-value for each pair; `None` for fewer than two queries, which cannot be resampled.
    fn bootstrap(&self, resamples: u32, seed: u64, tail: Tail) -> Vec<Option<f64>> {
        let samples: Vec<&QueryValues> = self.differences.iter().collect();
        let mut p_values = vec![None; samples.len()];
        for group in same_queries(&samples) {
            let members: Vec<&QueryValues> = group.iter().map(|place| samples[*place]).collect();
            if members[0].len() < 2 {
                continue;
            }
            for (place, means) in group.iter().zip(resampled_means(&members, resamples, seed)) {
                p_values[*place] = samples[*place].mean().map(|mean| shift_test(mean, &means, tail));
            }
        }
        p_values
    }
}
