//! Numbered jobs on several threads, with results that do not depend on the threads.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// From this many values of training data on, jobs run one after the other, each on all threads: several at once would
/// need a copy of the data each, and a single job could take as long as all the time there is.
const MAX_CELLS_AT_ONCE: usize = 30_000_000;

/// Observes jobs, and can stop them. Called from several threads.
pub trait Watch: Sync {
    /// Called after each round of training of any job: whether to stop everything.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Called after each job with the number of jobs done so far.
    fn job_done(&self, n_done: usize) {
        let _ = n_done;
    }
}

/// Never stops.
impl Watch for () {}

/// How many jobs run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Workers {
    n_workers: usize,
}

impl Workers {
    /// For jobs that train on so much data: one job per thread, or all threads for each job if the data is large.
    pub(crate) fn for_training(n_rows: usize, n_features: usize) -> Self {
        let is_large = n_rows.saturating_mul(n_features) >= MAX_CELLS_AT_ONCE;
        Self { n_workers: if is_large { 1 } else { rayon::current_num_threads() } }
    }

    /// Runs jobs 0, 1, ... until `n_jobs` or until one returns `None`. Job i starts when all jobs up to i - `lag` are done,
    /// and sees their results only. Returns the results of all jobs before the first without one. If jobs fail, it returns the
    /// error of the first by number, whichever came first in time.
    pub(crate) fn run<T: Send + Sync, E: Send>(
        self,
        n_jobs: usize,
        lag: usize,
        job: impl Fn(usize, &[Arc<T>]) -> Result<Option<T>, E> + Sync,
    ) -> Result<Vec<Arc<T>>, E> {
        assert!(lag > 0, "a job cannot wait for itself");
        let board = Board { state: Mutex::default(), changed: Condvar::new(), n_jobs, lag };
        let work = || {
            while let Some((number, seen)) = board.next() {
                let mut running = Running { board: &board, number, result: Ok(None) };
                running.result = job(number, &seen);
            }
        };
        let n_workers = self.n_workers.min(lag).min(n_jobs);
        if n_workers <= 1 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..n_workers {
                    // A thread outside the pool waits for its own pool only. A thread of the pool would start other jobs
                    // while it waits.
                    scope.spawn(|| match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                        Ok(pool) => pool.install(work),
                        Err(_) => work(),
                    });
                }
            });
        }
        board.into_results()
    }
}

/// A job on the board. It is finished when this is dropped, so that other threads do not wait for a job that panicked.
struct Running<'a, T, E> {
    board: &'a Board<T, E>,
    number: usize,
    result: Result<Option<T>, E>,
}

impl<T, E> Drop for Running<'_, T, E> {
    fn drop(&mut self) {
        self.board.finish(self.number, std::mem::replace(&mut self.result, Ok(None)));
    }
}

/// Which jobs are done.
struct Board<T, E> {
    state: Mutex<State<T, E>>,
    changed: Condvar,
    n_jobs: usize,
    lag: usize,
}

struct State<T, E> {
    n_started: usize,
    /// The results of finished jobs, by number.
    results: Vec<Option<Arc<T>>>,
    /// The number of jobs before the first unfinished one.
    n_ready: usize,
    /// No job from this one on is needed.
    end: usize,
    /// The error of the job `end`.
    error: Option<E>,
}

impl<T, E> Default for State<T, E> {
    fn default() -> Self {
        Self { n_started: 0, results: Vec::new(), n_ready: 0, end: usize::MAX, error: None }
    }
}

impl<T, E> Board<T, E> {
    /// The next job with the results that it may see; `None` if there is none left. Waits for earlier jobs.
    fn next(&self) -> Option<(usize, Vec<Arc<T>>)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = state.n_started;
            if number >= self.n_jobs.min(state.end) {
                return None;
            }
            let n_seen = (number + 1).saturating_sub(self.lag);
            if state.n_ready >= n_seen {
                state.n_started += 1;
                state.results.push(None);
                return Some((number, state.results[..n_seen].iter().flatten().cloned().collect()));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self, number: usize, result: Result<Option<T>, E>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(Some(result)) => state.results[number] = Some(Arc::new(result)),
            // Jobs start in order, so that all before the first without a result have started, and will finish.
            none_or_error if number < state.end => {
                state.end = number;
                state.error = none_or_error.err();
            }
            _ => {}
        }
        while state.results.get(state.n_ready).is_some_and(Option::is_some) {
            state.n_ready += 1;
        }
        self.changed.notify_all();
    }

    fn into_results(self) -> Result<Vec<Arc<T>>, E> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.error {
            Some(error) => Err(error),
            None => Ok(state.results.into_iter().map_while(|result| result).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each job adds up what it sees, and some jobs take longer.
    fn results(n_workers: usize, n_jobs: usize, lag: usize, end: usize) -> Vec<u64> {
        let job = |number: usize, seen: &[Arc<u64>]| {
            std::thread::sleep(std::time::Duration::from_micros(number as u64 * 7919 % 500));
            assert_eq!(seen.len(), (number + 1).saturating_sub(lag));
            Ok::<_, ()>((number < end).then(|| number as u64 + seen.iter().map(|value| **value).sum::<u64>()))
        };
        Workers { n_workers }.run(n_jobs, lag, job).unwrap().into_iter().map(|value| *value).collect()
    }

    #[test]
    fn the_error_is_that_of_the_first_job_that_fails() {
        for n_workers in [1, 2, 4] {
            let job = |number: usize, _: &[Arc<()>]| {
                // The earlier one of two that fail takes longer.
                std::thread::sleep(std::time::Duration::from_millis(if number == 5 { 20 } else { 0 }));
                if number >= 5 { Err(number) } else { Ok(Some(())) }
            };
            assert_eq!(Workers { n_workers }.run(20, 4, job).unwrap_err(), 5);
        }
    }

    #[test]
    fn a_job_that_panics_does_not_hang_the_others() {
        let job = |number: usize, _: &[Arc<u64>]| {
            assert_ne!(number, 3, "on purpose");
            Ok::<_, ()>(Some(0))
        };
        let run = || Workers { n_workers: 3 }.run(20, 2, job);
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_workers() {
        for (n_jobs, lag, end) in [(0, 1, 9), (1, 1, 9), (20, 1, 99), (20, 4, 99), (20, 4, 7), (20, 40, 13)] {
            let alone = results(1, n_jobs, lag, end);
            assert_eq!(alone.len(), n_jobs.min(end));
            for n_workers in [2, 3, 8] {
                assert_eq!(results(n_workers, n_jobs, lag, end), alone, "{n_workers} workers, {n_jobs} {lag} {end}");
            }
        }
    }
}
