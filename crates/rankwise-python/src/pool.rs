//! Threads by number, kept from call to call.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rankwise::data::Documents;
use rankwise::trees::is_worth_threads;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools by process and number of threads. After a fork the threads of the parent do not exist in the child, so its pools
/// are never used there. There is no lock that another thread of the parent could have held.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: LazyLock<ArcSwap<Pools>> = LazyLock::new(ArcSwap::default);

/// The threads for `n_jobs`, as scikit-learn counts them: none or -1 for all cores, -2 for all but one, ...
pub(crate) fn threads(n_jobs: Option<isize>) -> PyResult<Arc<ThreadPool>> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = match n_jobs {
        None => n_cores,
        Some(0) => return Err(PyValueError::new_err("n_jobs=0: expected a positive number, or -1 for all cores")),
        Some(n_jobs) if n_jobs < 0 => (n_cores + 1).saturating_sub(n_jobs.unsigned_abs()).max(1),
        Some(n_jobs) => n_jobs.unsigned_abs().min(n_cores),
    };
    let key = (std::process::id(), n_threads);
    if let Some(pool) = POOLS.load().get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(n_threads).thread_name(|idx| format!("rankwise-{idx}")).build();
    let pool = Arc::new(pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?);
    let added = POOLS.rcu(|pools| {
        let mut pools = Pools::clone(pools);
        pools.entry(key).or_insert_with(|| Arc::clone(&pool));
        pools
    });
    // Another thread may have been first.
    Ok(added.get(&key).map_or(pool, Arc::clone))
}

/// The threads to train with on this data. Between several threads, small data would take longer.
pub(crate) fn threads_for(data: &Documents, n_jobs: Option<isize>) -> PyResult<Arc<ThreadPool>> {
    let is_small = !is_worth_threads(data.n_rows(), data.n_features());
    threads(if is_small { Some(1) } else { n_jobs })
}
