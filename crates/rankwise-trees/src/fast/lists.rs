//! Lists that are used again: fresh memory costs more than what is written to it.

use std::sync::Mutex;

use super::NO_PANIC;

/// Lists that may be used again.
#[derive(Debug, Default)]
pub(super) struct ListPool<T> {
    unused: Mutex<Vec<Vec<T>>>,
}

impl<T: Copy + Default> ListPool<T> {
    /// A list of at least this length with anything in it; the shortest that will do.
    pub(super) fn take(&self, len: usize) -> Vec<T> {
        let mut unused = self.unused.lock().expect(NO_PANIC);
        let fits = |idx: &usize| unused[*idx].len() >= len;
        let best = (0..unused.len()).filter(fits).min_by_key(|idx| unused[*idx].len());
        // A list that is too short makes way for a new one, so that there are never more than are used at once.
        let taken = best.or_else(|| unused.len().checked_sub(1)).map(|idx| unused.swap_remove(idx));
        drop(unused);
        taken.filter(|list| list.len() >= len).unwrap_or_else(|| vec![T::default(); len])
    }

    /// Takes a list back.
    pub(super) fn recycle(&self, list: Vec<T>) {
        if !list.is_empty() {
            self.unused.lock().expect(NO_PANIC).push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_list_that_will_do_is_taken() {
        let pool: ListPool<u32> = ListPool::default();
        let lists = [100, 10, 1000].map(|len| pool.take(len));
        for list in lists {
            pool.recycle(list);
        }
        let found = [5, 50, 500].map(|len| pool.take(len).len());
        assert_eq!(found, [10, 100, 1000]);
        pool.recycle(vec![0; 3]);
        assert_eq!((pool.take(20).len(), pool.unused.lock().unwrap().len()), (20, 0));
    }
}
