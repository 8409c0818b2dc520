//! Searches on generated data.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rankwise_data::synth::{Preset, SynthSpec};
use rankwise_data::{Draw, Purpose};
use rankwise_train::{SetBoosting as _, Silent, Training, ValidSet};

use super::*;

const SPACE: &str = "
    learning_rate = { log = [0.003, 1] }
    num_leaves = { log = [2, 40] }
    grow = ['leafwise', 'oblivious']
    feature_fraction = { uniform = [0.3, 1], when = { grow = 'leafwise' } }
";

fn data(seed: u64) -> Dataset {
    SynthSpec { preset: Preset::Web, rows: 1200, features: Some(6), seed }.check().unwrap().dataset()
}

fn spec() -> TrainSpec {
    TrainSpec::default().num_trees(40).seed(3)
}

/// A search of 16 trials.
struct Setup {
    data: Dataset,
    spec: TrainSpec,
    space: Space,
}

impl Setup {
    fn new() -> Self {
        Self { data: data(3), spec: spec(), space: Space::parse(SPACE).unwrap() }
    }

    fn tuning(&self) -> Tuning<'_> {
        Tuning {
            data: &self.data,
            valid: None,
            test: None,
            spec: &self.spec,
            space: &self.space,
            search: Search::Tpe,
            stopping: Stopping::Halving,
            trials: 16,
            parallel: 3,
        }
    }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// All that a search says.
fn said(tuned: &Tuned) -> (String, Vec<Trial>, usize, Comparison) {
    (tuned.model.to_json(), tuned.trials.clone(), tuned.best, tuned.comparison.clone())
}

/// Trials in memory; the search is stopped after so many.
#[derive(Default)]
struct Memory {
    trials: Mutex<BTreeMap<usize, String>>,
    n_saved: AtomicUsize,
    most: usize,
}

impl StepStore for Memory {
    fn load(&self, step: usize) -> Option<String> {
        self.trials.lock().unwrap().get(&step).cloned()
    }

    fn save(&self, step: usize, content: &str) {
        if self.n_saved.fetch_add(1, Ordering::Relaxed) < self.most {
            self.trials.lock().unwrap().insert(step, content.to_owned());
        }
    }
}

impl Watch for Memory {
    fn is_stopped(&self) -> bool {
        self.n_saved.load(Ordering::Relaxed) >= self.most
    }
}

impl TuneWatch for Memory {}

#[test]
fn threads_do_not_matter() {
    let setup = Setup::new();
    let alone = on_threads(1, || tune(&setup.tuning(), &(), &())).unwrap();
    let n_stopped = alone.trials.iter().filter(|trial| matches!(trial.result, TrialResult::Stopped { .. })).count();
    assert!(n_stopped > 0 && alone.trials.len() == 16, "{:?}", alone.trials);
    for threads in [2, 3, 5] {
        let other = on_threads(threads, || tune(&setup.tuning(), &(), &())).unwrap();
        assert_eq!(said(&other), said(&alone), "{threads} threads");
    }
    let sequential = tune(&Tuning { parallel: 1, ..setup.tuning() }, &(), &()).unwrap();
    let tried = |tuned: &Tuned| tuned.trials.iter().take(9).map(|trial| trial.settings.clone()).collect::<Vec<_>>();
    assert_eq!(tried(&sequential), tried(&alone), "the first trials are drawn at random");
    assert_ne!(sequential.trials, alone.trials, "later ones see more");
}

#[test]
fn a_search_that_was_stopped_anywhere_ends_as_one_that_was_not() {
    let setup = Setup::new();
    let whole = tune(&setup.tuning(), &(), &()).unwrap();
    for run in 0..4u32 {
        // It is stopped several times, after a random number of trials each.
        let mut memory = Memory::default();
        let mut n_runs = 0;
        let resumed = loop {
            let share = Draw::new(u64::from(run), Purpose::Split, n_runs).uniform(0, 0);
            memory.n_saved = AtomicUsize::new(0);
            memory.most = 1 + (share * 7.0) as usize;
            let found = on_threads(1 + run as usize % 3, || tune(&setup.tuning(), &memory, &memory));
            n_runs += 1;
            match found {
                Ok(tuned) if !tuned.is_interrupted => break tuned,
                Ok(tuned) => assert!(tuned.trials.len() < 16),
                Err(error) => assert_eq!(error, TuneError::Interrupted),
            }
        };
        assert!(n_runs > 2, "{n_runs}");
        assert_eq!(said(&resumed), said(&whole), "run {run}");
    }
}

#[test]
fn saved_trials_of_another_search_are_rejected() {
    let setup = Setup::new();
    let memory = Memory { most: usize::MAX, ..Memory::default() };
    let few = Tuning { trials: 2, ..setup.tuning() };
    tune(&few, &(), &memory).unwrap();
    let problem = |tuning: &Tuning<'_>| tune(tuning, &(), &memory).unwrap_err().to_string();
    let other = data(4);
    assert!(problem(&Tuning { data: &other, ..few }).contains("step 0: saved with other training data"));
    let spec = spec().num_trees(41);
    assert!(problem(&Tuning { spec: &spec, ..few }).contains("other parameters"));
    let space = Space::parse("learning_rate = { log = [0.003, 1] }").unwrap();
    assert!(problem(&Tuning { space: &space, ..few }).contains("other search options"));
    assert!(problem(&Tuning { parallel: 2, ..few }).contains("other search options"));
    let swap = memory.load(1).unwrap();
    memory.trials.lock().unwrap().insert(2, swap);
    assert!(problem(&few).contains("step 2: not a saved step: it has other parameters"));
    memory.trials.lock().unwrap().insert(1, "{\"origin\"".into());
    assert!(problem(&few).contains("step 1: not a saved step"));
}

#[test]
fn the_winner_is_the_best_and_its_parameters_train_it_again() {
    let setup = Setup::new();
    let (valid, test) = (data(8), data(9));
    let tuning = Tuning { valid: Some(&valid), test: Some(&test), stopping: Stopping::Never, ..setup.tuning() };
    let tuned = tune(&tuning, &(), &()).unwrap();
    let values: Vec<f64> = tuned.trials.iter().filter_map(|trial| trial.result.value()).collect();
    assert_eq!(values.len(), 16);
    assert!(values.iter().all(|value| *value <= values[tuned.best]));
    let sets = [ValidSet { name: "v", data: &valid }];
    let again = Training::new(&tuned.params, &setup.data).valid(&sets).run(&mut Silent).unwrap();
    assert_eq!(again.model.to_json(), tuned.model.to_json());
    assert_eq!(again.values[0].value, values[tuned.best]);
    assert_eq!(tuned.tested_on, TestedOn::TestData);
    assert_eq!(tuned.n_queries, [setup.data.n_queries(), valid.n_queries(), test.n_queries()]);
    // Half of the validation queries are kept for the test if there is no other.
    let halved = tune(&Tuning { test: None, trials: 2, ..tuning }, &(), &()).unwrap();
    assert_eq!(halved.n_queries[1] + halved.n_queries[2], valid.n_queries());
    assert_eq!(halved.tested_on, TestedOn::HalfOfValidation);
}

#[test]
fn trials_that_cannot_be_trained_are_left_out() {
    let setup = Setup::new();
    let space = Space::parse("max_depth = [18, 30]\nlearning_rate = { log = [0.1, 0.5] }").unwrap();
    let mut spec = spec();
    spec.set("grow", "oblivious").unwrap();
    let tuned = tune(&Tuning { space: &space, spec: &spec, ..setup.tuning() }, &(), &()).unwrap();
    let failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
    assert!((1..16).contains(&tuned.trials.iter().filter(failed).count()), "{:?}", tuned.trials);
    assert!(tuned.trials[tuned.best].result.value().is_some());
}

#[test]
fn impossible_searches_are_rejected() {
    let setup = Setup::new();
    let problem = |tuning: Tuning<'_>| tune(&tuning, &(), &()).unwrap_err().to_string();
    assert!(problem(Tuning { trials: 0, ..setup.tuning() }).contains("no trials"));
    assert!(problem(Tuning { parallel: 0, ..setup.tuning() }).contains("at the same time"));
    let spec = spec().learning_rate(0.2);
    assert!(problem(Tuning { spec: &spec, ..setup.tuning() }).contains("'learning_rate' is both set and in"));
    let stopped = Memory::default();
    assert_eq!(tune(&setup.tuning(), &stopped, &()).unwrap_err(), TuneError::Interrupted);
}
