//! Comparisons through the public interface: reference values, enumeration, simulated experiments, whole tables of
//! systems.

mod bootstrap;
mod compare;
mod fisher;
mod golden;
mod null;

use rankwise_eval::QueryValues;

/// Differences of queries with equal weights.
fn sample(differences: &[f64]) -> QueryValues {
    let values: Vec<Option<f64>> = differences.iter().copied().map(Some).collect();
    QueryValues::new(&values, &vec![1.0; values.len()])
}

/// The result of a computation on this many threads.
fn on_threads<T: Send>(threads: usize, compute: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(compute)
}
