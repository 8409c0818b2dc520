//! Keeping the pool's threads awake between the short parallel steps of a tree.
//!
//! A tree of 255 leaves takes hundreds of parallel steps of a few dozen microseconds, with serial work between them. Waking a
//! sleeping thread takes as long as such a step. So while a tree grows, every other thread of the pool keeps looking for work.
//! With more threads than cores, or while another tree grows, this would only slow down the threads that have work, so the
//! threads may sleep then.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long to wait for the other threads to come; they may be busy with something else, and then growth goes on without
/// them.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks for work before the rest of the machine gets a chance.
const LOOKS_BEFORE_YIELD: usize = 64;

/// Trees that grow now, in any pool.
static N_GROWING: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` on this thread, with the other threads of the pool awake.
pub(crate) fn with_awake_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let n_others = rayon::current_num_threads() - 1;
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let _growing = GrowthGuard::new();
    let is_alone = N_GROWING.load(Ordering::Relaxed) == 1;
    if n_others == 0 || n_others >= n_cores || !is_alone || rayon::current_thread_index().is_none() {
        return work();
    }
    let is_over = AtomicBool::new(false);
    let n_awake = AtomicUsize::new(0);
    rayon::scope(|scope| {
        // Also when the work panics: the scope waits for the others.
        let _end = SetOnDrop(&is_over);
        for _ in 0..n_others {
            scope.spawn(|_| {
                n_awake.fetch_add(1, Ordering::Relaxed);
                // Looking for work right away, it would pick up the tasks that are meant for the others.
                while n_awake.load(Ordering::Relaxed) < n_others && !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                look_for_work(&is_over);
            });
        }
        // This thread must not pick up one of these itself: it would wait for its own end. So it waits without looking for
        // work until others have them, and calls them off if that takes long.
        let started = Instant::now();
        while n_awake.load(Ordering::Relaxed) < n_others {
            if started.elapsed() > PATIENCE {
                is_over.store(true, Ordering::Relaxed);
                break;
            }
            std::hint::spin_loop();
        }
        work()
    })
}

fn look_for_work(is_over: &AtomicBool) {
    let mut n_looks = 0;
    while !is_over.load(Ordering::Relaxed) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            n_looks = 0;
        } else if n_looks < LOOKS_BEFORE_YIELD {
            n_looks += 1;
            std::hint::spin_loop();
        } else {
            n_looks = 0;
            std::thread::yield_now();
        }
    }
}

/// Counts a tree while it grows.
struct GrowthGuard;

impl GrowthGuard {
    fn new() -> Self {
        N_GROWING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for GrowthGuard {
    fn drop(&mut self) {
        N_GROWING.fetch_sub(1, Ordering::Relaxed);
    }
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    fn work() -> usize {
        (0..50).map(|round| (0..100usize).into_par_iter().map(|idx| idx * round).sum::<usize>()).sum()
    }

    #[test]
    fn work_is_done_in_pools_of_any_size_and_from_outside() {
        let expected = work();
        assert_eq!(with_awake_threads(work), expected);
        for n_threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            for _ in 0..20 {
                assert_eq!(pool.install(|| with_awake_threads(work)), expected);
            }
        }
    }

    /// Every thread of a pool wants the others awake at once.
    #[test]
    fn callers_in_one_pool_do_not_wait_for_each_other() {
        let expected = work();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let all: Vec<usize> =
            pool.install(|| (0..40).into_par_iter().with_max_len(1).map(|_| with_awake_threads(work)).collect());
        assert_eq!(all, vec![expected; 40]);
    }

    #[test]
    fn a_panic_comes_through() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| with_awake_threads(|| assert_eq!(work(), 0, "on purpose")));
        }));
        assert!(caught.is_err());
    }
}
