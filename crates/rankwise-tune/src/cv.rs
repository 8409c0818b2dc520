//! Cross-validation.

use std::sync::Mutex;

use rankwise_data::{Dataset, reduce};
use rankwise_eval::{CompareSpec, Comparison, IntervalSpec, QueryValues, Summary, Table, intervals, predict_canonical};
use rankwise_metrics::{Evaluator, MetricName};
use rankwise_model::TreeEnsemble;
use rankwise_train::{Flow, Progress, TrainError, TrainParams, Training, ValidSet};

use crate::folds::Parts;
use crate::jobs::{Watch, Workers};
use crate::{Folds, Rotation, TuneError};

/// What is trained in each fold.
#[derive(Clone, Copy, Debug)]
pub struct CvSystem<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters. All systems have the same metrics and rules.
    pub params: &'a TrainParams,
}

/// A cross-validation to be run.
#[derive(Clone, Copy, Debug)]
pub struct CrossValidation<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// The folds of its queries.
    pub folds: &'a Folds,
    /// Whether there is a validation fold.
    pub rotation: Rotation,
    /// What is trained, each on the same folds.
    pub systems: &'a [CvSystem<'a>],
}

/// The result of a cross-validation.
#[derive(Clone, Debug)]
pub struct CrossValidated {
    /// One per system, in the given order.
    pub systems: Vec<SystemResult>,
    /// The values of all systems by query: each query was measured with a model that was trained without it.
    pub table: Table,
}

/// The result of one system.
#[derive(Clone, Debug)]
pub struct SystemResult {
    /// One per fold.
    pub folds: Vec<FoldResult>,
    /// The score of each document by the model that was trained without its fold, in canonical order. Scores of different
    /// folds come from different models, so only those of the same query can be compared.
    pub scores_canonical: Vec<f64>,
    /// The mean of the first metric over all queries after each round, up to the last round that all folds have.
    pub curve: Vec<f64>,
}

/// One fold of one system.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldResult {
    /// Number of queries that were measured.
    pub n_queries: usize,
    /// Number of trees of the model.
    pub n_trees: usize,
    /// The mean of each metric; `None` if no query counts.
    pub means: Vec<Option<f64>>,
}

/// Trains every system once without each fold, and measures it on that fold.
///
/// ```
/// use rankwise_data::synth::{Preset, SynthSpec};
/// use rankwise_train::{SetBoosting, TrainSpec};
/// use rankwise_tune::{CrossValidation, CvSystem, Folds, Rotation, cross_validate};
///
/// let data = SynthSpec { preset: Preset::Web, rows: 2000, features: Some(10), seed: 1 }.check()?.dataset();
/// let params = TrainSpec::default().num_trees(10).check()?;
/// let systems = [CvSystem { name: "small", params: &params }];
/// let folds = Folds::random(&data, 3, 0)?;
/// let cv = CrossValidation { data: &data, folds: &folds, rotation: Rotation::TrainOnRest, systems: &systems };
/// let found = cross_validate(&cv, &())?;
/// assert_eq!(found.systems[0].folds.len(), 3);
/// assert_eq!(found.systems[0].scores_canonical.len(), data.n_rows());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cross_validate(cv: &CrossValidation<'_>, watch: &dyn Watch) -> Result<CrossValidated, TuneError> {
    cv.check()?;
    let n_folds = cv.folds.n_folds();
    let n_jobs = n_folds * cv.systems.len();
    let n_done = Mutex::new(0);
    let workers = Workers::for_training(cv.data.n_rows(), cv.data.n_features());
    let jobs = workers.run(n_jobs, n_jobs.max(1), |job, _| {
        // The systems of a fold follow each other.
        let done = cv.run_fold(&cv.systems[job % cv.systems.len()], job / cv.systems.len(), watch)?;
        let mut n_done = n_done.lock().expect("no job panics here");
        *n_done += 1;
        watch.job_done(*n_done);
        Ok::<_, TuneError>(Some(done))
    })?;
    let of_system = |system: usize| -> Vec<&FoldRun> {
        jobs.iter().skip(system).step_by(cv.systems.len()).map(|run| &**run).collect()
    };
    let systems: Vec<SystemResult> = (0..cv.systems.len()).map(|system| cv.gather(&of_system(system))).collect();
    let table = cv.table(&systems)?;
    Ok(CrossValidated { systems, table })
}

/// A model of one fold, applied to the fold.
struct FoldRun {
    result: FoldResult,
    queries: Vec<usize>,
    /// In canonical order of the fold.
    scores: Vec<f64>,
    curve: FoldCurve,
    /// The weight of the queries that count.
    weight: f64,
}

/// The mean of the first metric over the queries of a fold after each round.
enum FoldCurve {
    Rounds(Vec<f64>),
    /// Without relevant documents, every model has the same value.
    Constant(f64),
}

impl FoldCurve {
    fn at(&self, round: usize) -> f64 {
        match self {
            Self::Rounds(values) => values[round],
            Self::Constant(value) => *value,
        }
    }

    fn n_rounds(&self) -> Option<usize> {
        match self {
            Self::Rounds(values) => Some(values.len()),
            Self::Constant(_) => None,
        }
    }
}

impl CrossValidation<'_> {
    fn check(&self) -> Result<(), TuneError> {
        let Some(first) = self.systems.first() else { return Err(rankwise_eval::EvalError::Count { given: 0 }.into()) };
        if self.rotation == Rotation::ValidateOnPrevious && self.folds.n_folds() < 3 {
            let because = ", one each to train on, to validate and to measure";
            return Err(TuneError::TooFewFolds { given: self.folds.n_folds(), least: 3, because });
        }
        for system in self.systems {
            let (boosting, rules) = (system.params.boosting(), system.params.rules());
            if boosting.early_stopping_rounds > 0 && self.rotation == Rotation::TrainOnRest {
                return Err(TuneError::NoValidationFold);
            }
            if boosting.metric != first.params.boosting().metric || rules != first.params.rules() {
                return Err(TuneError::OtherMetrics { system: system.name.to_owned() });
            }
            if let Some(pooled) = boosting.metric.iter().find(|name| name.kind().is_pooled()) {
                return Err(rankwise_eval::EvalError::Pooled { metric: pooled.as_str().to_owned() }.into());
            }
        }
        Ok(())
    }

    fn metrics(&self) -> &[MetricName] {
        &self.systems[0].params.boosting().metric
    }

    fn run_fold(&self, system: &CvSystem<'_>, fold: usize, watch: &dyn Watch) -> Result<FoldRun, TuneError> {
        let Parts { train, valid, test } = self.folds.parts(fold, self.rotation);
        let (train, measured) = (self.data.select_queries(&train)?, self.data.select_queries(&test)?);
        let valid = if valid.is_empty() { None } else { Some(self.data.select_queries(&valid)?) };
        let rules = system.params.rules();
        let mut sets: Vec<ValidSet<'_>> =
            valid.iter().map(|data| ValidSet { name: "the validation fold", data }).collect();
        if let Some(set) = sets.first()
            && !set.tells_models_apart(self.metrics(), rules)?
        {
            let metric = self.metrics()[0].as_str().to_owned();
            return Err(TuneError::NoRelevantInFold { fold: fold + 1, metric });
        }
        let watched = ValidSet { name: "the measured fold", data: &measured };
        let is_watched = watched.tells_models_apart(self.metrics(), rules)?;
        sets.extend(is_watched.then_some(watched));
        let training = Training::new(system.params, &train).valid(&sets);
        let training = if valid.is_none() { training.keep_all_rounds() } else { training };
        let mut stopping = |_: &Progress<'_>| if watch.is_stopped() { Flow::Stop } else { Flow::Continue };
        let failed = |source: TrainError| TuneError::Fold {
            system: system.name.to_owned(),
            fold: fold + 1,
            source: Box::new(source),
        };
        let trained = training.run(&mut stopping).map_err(failed)?;
        if watch.is_stopped() {
            return Err(TuneError::Interrupted);
        }
        let scores = predict_canonical(&trained.model, &measured);
        let evaluation = Evaluator::new(&measured, self.metrics(), rules)?.evaluate_canonical(&scores)?;
        let n_trees = trained.model.tree_ensemble().map_or(trained.rounds_kept, TreeEnsemble::n_trees);
        let counts = |query: &usize| evaluation.metrics[0].per_query[*query].is_some();
        let weights = (0..measured.n_queries()).filter(counts).map(|query| f64::from(measured.query_weight(query)));
        let weight = reduce::sum(weights);
        let means: Vec<Option<f64>> = evaluation.metrics.iter().map(|metric| metric.mean).collect();
        let curve = if is_watched {
            let curve = trained.history.curves.iter().rev().nth(self.metrics().len() - 1);
            FoldCurve::Rounds(curve.map_or(Vec::new(), |curve| curve.values.clone()))
        } else {
            FoldCurve::Constant(means[0].unwrap_or(0.0))
        };
        Ok(FoldRun {
            result: FoldResult { n_queries: test.len(), n_trees, means },
            queries: test,
            scores,
            curve,
            weight,
        })
    }

    fn gather(&self, runs: &[&FoldRun]) -> SystemResult {
        let mut scores_canonical = vec![0.0; self.data.n_rows()];
        for run in runs {
            let rows = run.queries.iter().flat_map(|query| self.data.query_rows(*query));
            rows.zip(&run.scores).for_each(|(row, score)| scores_canonical[row] = *score);
        }
        let n_rounds = runs.iter().filter_map(|run| run.curve.n_rounds()).min().unwrap_or(0);
        let mean_at = |round: usize| {
            reduce::weighted_mean(runs.iter().map(|run| (run.curve.at(round), run.weight))).unwrap_or(f64::NAN)
        };
        SystemResult {
            folds: runs.iter().map(|run| run.result.clone()).collect(),
            scores_canonical,
            curve: (0..n_rounds).map(mean_at).collect(),
        }
    }

    fn table(&self, systems: &[SystemResult]) -> Result<Table, TuneError> {
        let evaluator = Evaluator::new(self.data, self.metrics(), self.systems[0].params.rules())?;
        let measured = self.systems.iter().zip(systems).map(|(system, result)| {
            Ok((system.name.to_owned(), evaluator.evaluate_canonical(&result.scores_canonical)?))
        });
        let measured = measured.collect::<Result<Vec<_>, TuneError>>()?;
        let weights: Vec<f32> = self.data.queries().map(|query| query.weight).collect();
        Ok(Table::new(self.data.queries().map(|query| query.id).collect(), &weights, measured)?)
    }
}

impl CrossValidated {
    /// The mean of each metric over all queries, with its interval, by system.
    pub fn summaries(&self, spec: &IntervalSpec) -> Vec<Vec<Summary>> {
        let summary = |system: usize, metric: usize| {
            let values = QueryValues::new(self.table.values(system, metric), self.table.weights());
            let interval = intervals(&[&values], spec)[0];
            Summary { mean: values.mean(), interval, n_queries: values.len() }
        };
        let all = |system| (0..self.table.n_metrics()).map(|metric| summary(system, metric)).collect();
        (0..self.systems.len()).map(all).collect()
    }

    /// Compares the systems, if there are several.
    pub fn compare(&self, spec: &CompareSpec) -> Result<Option<Comparison>, TuneError> {
        if self.systems.len() < 2 {
            return Ok(None);
        }
        Ok(Some(Comparison::new(&self.table, spec, |_, _| {})?))
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::synth::{Preset, SynthSpec};
    use rankwise_train::{SetBoosting as _, Silent, TrainSpec};

    use super::*;

    fn data() -> Dataset {
        SynthSpec { preset: Preset::Web, rows: 3000, features: Some(8), seed: 5 }.check().unwrap().dataset()
    }

    fn run(data: &Dataset, rotation: Rotation, specs: &[TrainSpec], threads: usize) -> CrossValidated {
        let params: Vec<TrainParams> = specs.iter().map(|spec| spec.clone().check().unwrap()).collect();
        let names: Vec<String> = (0..specs.len()).map(|system| format!("system {system}")).collect();
        let systems: Vec<CvSystem<'_>> =
            names.iter().zip(&params).map(|(name, params)| CvSystem { name, params }).collect();
        let folds = Folds::random(data, 4, 1).unwrap();
        let cv = CrossValidation { data, folds: &folds, rotation, systems: &systems };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cross_validate(&cv, &())).unwrap()
    }

    #[test]
    fn each_fold_is_scored_by_a_model_trained_without_it() {
        let data = data();
        let spec = TrainSpec::default().num_trees(7);
        let found = run(&data, Rotation::TrainOnRest, std::slice::from_ref(&spec), 2);
        let folds = Folds::random(&data, 4, 1).unwrap();
        for fold in 0..4 {
            let rest: Vec<usize> = (0..data.n_queries()).filter(|query| folds.of_query()[*query] != fold).collect();
            let (train, test) =
                (data.select_queries(&rest).unwrap(), data.select_queries(&folds.queries(fold)).unwrap());
            let params = spec.clone().check().unwrap();
            let model = Training::new(&params, &train).run(&mut Silent).unwrap().model;
            let scores: Vec<f64> = folds
                .queries(fold)
                .into_iter()
                .flat_map(|query| data.query_rows(query))
                .map(|row| found.systems[0].scores_canonical[row])
                .collect();
            assert_eq!(scores, predict_canonical(&model, &test));
            assert_eq!(found.systems[0].folds[fold].n_trees, 7);
        }
        // The last point of the curve is the result.
        let summary = found.summaries(&IntervalSpec::default())[0][0];
        let curve = &found.systems[0].curve;
        assert_eq!(curve.len(), 7);
        assert!((curve[6] - summary.mean.unwrap()).abs() < 1e-12, "{curve:?} {summary:?}");
    }

    #[test]
    fn threads_do_not_matter_and_systems_are_compared() {
        let data = data();
        let specs = [
            TrainSpec::default().num_trees(40).early_stopping_rounds(3),
            TrainSpec::default().num_trees(3).learning_rate(0.01),
        ];
        let alone = run(&data, Rotation::ValidateOnPrevious, &specs, 1);
        let shared = run(&data, Rotation::ValidateOnPrevious, &specs, 3);
        for (a, b) in alone.systems.iter().zip(&shared.systems) {
            assert_eq!((&a.folds, &a.scores_canonical, &a.curve), (&b.folds, &b.scores_canonical, &b.curve));
        }
        let comparison = alone.compare(&CompareSpec::default()).unwrap().unwrap();
        assert_eq!(comparison.pairs.len(), 1);
        assert!(comparison.pairs[0].difference > 0.0);
    }

    /// Queries 0 to 3 have no relevant document.
    fn sparse_data() -> Dataset {
        let values: Vec<f32> = (0..120).map(|row| (row * 37 % 120) as f32).collect();
        let labels: Vec<i32> = (0..120).map(|row| i32::from(row >= 40 && values[row] > 70.0)).collect();
        Dataset::from_dense(&values, 1).labels(&labels).group_sizes(&[10; 12]).build().unwrap()
    }

    #[test]
    fn a_fold_without_relevant_documents_counts_by_the_rules() {
        let data = sparse_data();
        let relevant = |query: usize| data.query_rows(query).any(|row| data.labels()[row] > 0.0);
        // Each query is a fold.
        let folds = Folds::new(12, (0..12).collect()).unwrap();
        let run = |empty: &str, rotation: Rotation| {
            let mut spec = TrainSpec::default().num_trees(5);
            spec.set("min_data_in_leaf", "1").unwrap();
            spec.set("empty", empty).unwrap();
            let params = spec.check().unwrap();
            let systems = [CvSystem { name: "a", params: &params }];
            cross_validate(&CrossValidation { data: &data, folds: &folds, rotation, systems: &systems }, &())
        };
        for (empty, value) in [("zero", Some(0.0)), ("one", Some(1.0)), ("skip", None)] {
            let found = run(empty, Rotation::TrainOnRest).unwrap();
            let system = &found.systems[0];
            for (fold, result) in system.folds.iter().enumerate().filter(|(fold, _)| !relevant(*fold)) {
                assert_eq!(result.means, [value], "{empty}, fold {fold}");
            }
            let mean = found.summaries(&IntervalSpec::default())[0][0].mean.unwrap();
            assert!((system.curve[4] - mean).abs() < 1e-12, "{empty}: {:?} {mean}", system.curve);
        }
        let said = run("zero", Rotation::ValidateOnPrevious).unwrap_err().to_string();
        assert!(said.contains("no query of the validation fold has a relevant document"), "{said}");
    }

    #[test]
    fn impossible_requests_are_refused() {
        let data = data();
        let said = |specs: [TrainSpec; 2], n_folds: usize, rotation: Rotation| {
            let params = specs.map(|spec| spec.check().unwrap());
            let systems = [CvSystem { name: "a", params: &params[0] }, CvSystem { name: "b", params: &params[1] }];
            let folds = Folds::random(&data, n_folds, 0).unwrap();
            let cv = CrossValidation { data: &data, folds: &folds, rotation, systems: &systems };
            cross_validate(&cv, &()).unwrap_err().to_string()
        };
        let plain = || TrainSpec::default().num_trees(2);
        let early = said([plain(), plain().early_stopping_rounds(2)], 3, Rotation::TrainOnRest);
        assert!(early.contains("`rotate`"), "{early}");
        let few = said([plain(), plain()], 2, Rotation::ValidateOnPrevious);
        assert!(few.contains("at least 3"), "{few}");
        let map = MetricName::parse_list("map").unwrap();
        let other = said([plain(), plain().metric(map)], 3, Rotation::TrainOnRest);
        assert!(other.contains("'b' has other metrics"), "{other}");
        let auc = MetricName::parse_list("auc").unwrap();
        let pooled = said([plain().metric(auc.clone()), plain().metric(auc)], 3, Rotation::TrainOnRest);
        assert!(pooled.contains("auc"), "{pooled}");
    }

    #[test]
    fn a_failure_names_its_fold() {
        // Without the only query with two labels there is nothing to learn.
        let labels = [0, 1, 0, 0, 0, 0];
        let data = Dataset::from_dense(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1).labels(&labels).group_sizes(&[2, 2, 2]);
        let (data, params) = (data.build().unwrap(), TrainSpec::default().check().unwrap());
        let folds = Folds::new(3, vec![1, 0, 2]).unwrap();
        let systems = [CvSystem { name: "a", params: &params }];
        let cv = CrossValidation { data: &data, folds: &folds, rotation: Rotation::TrainOnRest, systems: &systems };
        let error = cross_validate(&cv, &()).unwrap_err().to_string();
        assert!(error.starts_with("a, fold 2: "), "{error}");
    }
}
