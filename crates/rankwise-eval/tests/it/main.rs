//! Comparisons as users meet them: reference values, enumeration, simulated experiments, whole tables of systems.

mod bootstrap;
mod compare;
mod fisher;
mod golden;
mod null;

use rankwise_eval::QueryValues;

/// Differences of queries that all count alike.
fn sample(differences: &[f64]) -> QueryValues {
    let values: Vec<Option<f64>> = differences.iter().copied().map(Some).collect();
    QueryValues::new(&values, &vec![1.0; values.len()])
}

/// What a computation gives on so many threads.
fn on_threads<T: Send>(threads: usize, compute: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(compute)
}
