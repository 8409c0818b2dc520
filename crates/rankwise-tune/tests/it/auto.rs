//! `auto` as a user of the library sees it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rankwise_data::synth::{Preset, SynthSpec};
use rankwise_data::{Dataset, Draw, Purpose};
use rankwise_eval::predict;
use rankwise_train::{SetBoosting as _, TrainSpec};
use rankwise_tune::{Auto, AutoRanker, AutoWatch, Budget, StepStore, Tried, TriedResult, TuneError, Watch, auto};

fn data(rows: usize, seed: u64) -> Dataset {
    SynthSpec { preset: Preset::Web, rows, features: Some(10), seed }.check().unwrap().dataset()
}

fn spec() -> TrainSpec {
    TrainSpec::default().learning_rate(0.3)
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn run(data: &Dataset, valid: Option<&Dataset>, steps: usize, store: &dyn StepStore) -> AutoRanker {
    let spec = spec();
    auto(&Auto { data, valid, spec: &spec, budget: Budget::Steps(steps), refit: None }, &(), store).unwrap()
}

/// Steps in memory; keeps at most so many.
struct Memory {
    steps: Mutex<BTreeMap<usize, String>>,
    most: usize,
}

impl StepStore for Memory {
    fn load(&self, step: usize) -> Option<String> {
        self.steps.lock().unwrap().get(&step).cloned()
    }

    fn save(&self, step: usize, content: &str) {
        if step < self.most {
            self.steps.lock().unwrap().insert(step, content.to_owned());
        }
    }
}

/// Stops after so many steps.
struct StopAfter {
    steps: usize,
    is_stopped: AtomicBool,
}

impl Watch for StopAfter {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl AutoWatch for StopAfter {
    fn step_done(&self, step: usize, _: &Tried) {
        if step + 1 >= self.steps {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn threads_and_interruptions_do_not_change_the_model() {
    let data = data(3000, 3);
    let whole = on_threads(1, || run(&data, None, 18, &()));
    assert_eq!(whole.tried.len(), 18);
    let names: std::collections::BTreeSet<&String> = whole.tried.iter().map(|tried| &tried.name).collect();
    assert_eq!(names.len(), 18, "no model is trained twice: {names:?}");
    for threads in [2, 5] {
        let other = on_threads(threads, || run(&data, None, 18, &()));
        assert_eq!(other.model.to_json(), whole.model.to_json(), "{threads} threads");
        assert_eq!((other.tried, other.rungs), (whole.tried.clone(), whole.rungs.clone()));
    }
    let memory = Memory { steps: Mutex::default(), most: 11 };
    run(&data, None, 13, &memory);
    assert_eq!(memory.steps.lock().unwrap().len(), 11);
    let resumed = on_threads(2, || run(&data, None, 18, &memory));
    assert_eq!(resumed.model.to_json(), whole.model.to_json());
    assert_eq!(resumed.tried, whole.tried);
}

#[test]
fn an_interrupted_search_combines_what_it_has() {
    let (data, spec) = (data(2000, 4), spec());
    let search = Auto { data: &data, valid: None, spec: &spec, budget: Budget::Steps(40), refit: None };
    let watch = StopAfter { steps: 3, is_stopped: AtomicBool::new(false) };
    let stopped = on_threads(1, || auto(&search, &watch, &())).unwrap();
    assert!(stopped.is_interrupted);
    assert_eq!(stopped.model.to_json(), run(&data, None, 3, &()).model.to_json());
    let watch = StopAfter { steps: 0, is_stopped: AtomicBool::new(true) };
    assert_eq!(auto(&search, &watch, &()).unwrap_err(), TuneError::Interrupted);
}

#[test]
fn the_result_is_one_ensemble_of_the_chosen_models() {
    let (train, valid) = (data(3000, 5), data(1500, 6));
    let found = run(&train, Some(&valid), 4, &());
    assert_eq!(found.model.objective(), "auto");
    let combined = found.tried.iter().filter_map(|tried| match &tried.result {
        TriedResult::Trained { factor, rounds, .. } => factor.map(|_| rounds),
        _ => None,
    });
    assert_eq!(combined.sum::<usize>(), found.model.tree_ensemble().unwrap().n_trees());
    assert_eq!(found.rungs[0].name, "random order");
    let last = found.rungs.last().unwrap();
    assert!(last.over_random.as_ref().unwrap().interval.unwrap().low > 0.0, "{:?}", found.rungs);
    let again = rankwise_model::Model::from_json(found.model.to_json().as_bytes()).unwrap();
    assert_eq!(predict(&again, &valid), predict(&found.model, &valid));
}

#[test]
fn refitting_uses_all_data_and_the_same_rounds() {
    let (train, spec) = (data(2500, 7), spec());
    let search = Auto { data: &train, valid: None, spec: &spec, budget: Budget::Steps(3), refit: Some(&train) };
    let refitted = auto(&search, &(), &()).unwrap();
    let plain = run(&train, None, 3, &());
    assert_eq!(refitted.model.trained_on().rows, train.n_rows() as u64);
    assert!(plain.model.trained_on().rows < train.n_rows() as u64);
    let n_trees = |found: &AutoRanker| found.model.tree_ensemble().unwrap().n_trees();
    assert_eq!(n_trees(&refitted), n_trees(&plain));
    assert_eq!(refitted.tried, plain.tried);
}

/// The estimate must not find anything where there is nothing to find.
#[test]
fn random_labels_give_no_gain() {
    const SIZE: usize = 15;
    const N_QUERIES: usize = 400;
    let mut covered = 0;
    for seed in 0..20 {
        let draw = Draw::new(seed, Purpose::SynthDocument, 0);
        let uniform = |row: usize, what: u32| draw.uniform(row as u64, what);
        let rows = 0..N_QUERIES * SIZE;
        let labels: Vec<u32> = rows.clone().map(|row| (3.0 * uniform(row, 9)) as u32).collect();
        let values: Vec<f32> = rows.flat_map(|row| (0..4).map(move |what| uniform(row, what) as f32)).collect();
        let data = Dataset::from_dense(&values, 4).labels(&labels).group_sizes(&[SIZE; N_QUERIES]).build().unwrap();
        let mut spec = spec().num_trees(30).seed(seed);
        spec.set("ties", "average").unwrap();
        let search = Auto { data: &data, valid: None, spec: &spec, budget: Budget::Steps(4), refit: None };
        let found = auto(&search, &(), &()).unwrap();
        let gain = found.rungs.last().unwrap().over_random.unwrap();
        let interval = gain.interval.unwrap();
        covered += usize::from(interval.low <= 0.0 && interval.high >= 0.0);
    }
    assert!(covered >= 18, "{covered} of 20 intervals cover 0");
}

#[test]
fn what_cannot_be_trained_is_left_out_and_said() {
    // Gains of such labels are too large for objectives that weigh by 2^label.
    let values: Vec<f32> = (0..800).map(|row| (row * 37 % 101) as f32).collect();
    let labels: Vec<f32> = values.iter().map(|value| value * 2.0).collect();
    let data = Dataset::from_dense(&values, 1).labels(&labels).group_sizes(&[20; 40]).build().unwrap();
    let mut spec = spec();
    spec.set("metric", "pair-accuracy").unwrap();
    let search = Auto { data: &data, valid: None, spec: &spec, budget: Budget::Steps(4), refit: None };
    let found = auto(&search, &(), &()).unwrap();
    let failed = |tried: &&Tried| matches!(tried.result, TriedResult::Failed { .. });
    assert!(found.tried.iter().filter(failed).count() > 0, "{:?}", found.tried);
    assert!(found.tried.iter().any(|tried| matches!(tried.result, TriedResult::Trained { .. })), "{:?}", found.tried);
}

#[test]
fn impossible_searches_are_refused() {
    let data = data(2000, 8);
    let said = |spec: &TrainSpec, data: &Dataset, budget: Budget| {
        auto(&Auto { data, valid: None, spec, budget, refit: None }, &(), &()).unwrap_err().to_string()
    };
    let mut pooled = spec();
    pooled.set("metric", "auc").unwrap();
    assert!(said(&pooled, &data, Budget::Steps(1)).contains("auc"));
    for (name, value) in [("objective", "multiclass"), ("boosting", "dart")] {
        let mut spec = spec();
        spec.set(name, value).unwrap();
        assert!(said(&spec, &data, Budget::Steps(1)).contains(value));
    }
    // A feature that is constant in the validation data.
    let labels: Vec<i32> = (0..80).map(|row| row % 2).collect();
    let constant = Dataset::from_dense(&[0.5; 80], 1).labels(&labels).group_sizes(&[10; 8]).build().unwrap();
    let spec_of = spec();
    let search = Auto { data: &data, valid: Some(&constant), spec: &spec_of, budget: Budget::Steps(1), refit: None };
    let tied = auto(&search, &(), &()).unwrap_err().to_string();
    assert!(tied.contains("the same score"), "{tied}");
    let few = data.select_queries(&[0, 1, 2]).unwrap();
    assert!(said(&spec(), &few, Budget::Steps(1)).contains("3 queries"));
    let other = Memory { steps: Mutex::default(), most: 9 };
    run(&data, None, 2, &other);
    let spec = spec().num_trees(7);
    let search = Auto { data: &data, valid: None, spec: &spec, budget: Budget::Steps(2), refit: None };
    let error = auto(&search, &(), &other).unwrap_err().to_string();
    assert!(error.contains("other parameters"), "{error}");
    other.steps.lock().unwrap().insert(0, "{}".into());
    let error = auto(&search, &(), &other).unwrap_err().to_string();
    assert!(error.contains("not a saved step"), "{error}");
}
