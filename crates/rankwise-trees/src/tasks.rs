//! Tasks of different cost on all threads of the pool, the largest first.
//!
//! A thread that is done takes the next task, so that no thread waits while another has several left. The small ones at the end
//! level out what the large ones left uneven.

use std::cmp::Reverse;
use std::sync::Mutex;

use rayon::prelude::*;

/// Runs all tasks. What they do must not depend on their order.
pub(crate) fn run_largest_first<T: Send>(mut tasks: Vec<T>, cost: impl Fn(&T) -> usize, run: impl Fn(T) + Sync) {
    let n_threads = rayon::current_num_threads().min(tasks.len());
    if n_threads < 2 {
        tasks.into_iter().for_each(run);
        return;
    }
    tasks.sort_by_cached_key(|task| Reverse(cost(task)));
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().expect("nothing panics while it holds the lock").next();
    (0..n_threads).into_par_iter().with_max_len(1).for_each(|_| {
        while let Some(task) = next() {
            run(task);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_task_runs_once() {
        for n_threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            for n_tasks in [0, 1, 2, 77] {
                let runs: Vec<AtomicUsize> = (0..n_tasks).map(|_| AtomicUsize::new(0)).collect();
                let run = |task: usize| {
                    runs[task].fetch_add(1, Ordering::Relaxed);
                };
                pool.install(|| run_largest_first((0..n_tasks).collect(), |task| task % 7, run));
                assert!(runs.into_iter().all(|runs| runs.into_inner() == 1), "{n_threads} {n_tasks}");
            }
        }
    }
}
