//! How well values order the documents of a query as labels do.

use crate::Documents;

/// The share of pairs in order, over all pairs of documents of the same query with different labels: the document with the larger label has the
/// larger value. Equal values count half; missing values are the smallest.
pub(super) fn of(docs: &Documents, values: &[f64], labels: &[f32]) -> Option<f64> {
    let mut counted = Counted::default();
    let mut buffers = Buffers::default();
    for query in 0..docs.n_queries() {
        let rows = docs.query_rows(query);
        counted.add(buffers.count(&values[rows.clone()], &labels[rows]));
    }
    (counted.pairs > 0).then(|| (counted.in_order as f64 + 0.5 * counted.tied as f64) / counted.pairs as f64)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    /// Pairs with different labels.
    pairs: u64,
    in_order: u64,
    /// Pairs with equal values.
    tied: u64,
}

impl Counted {
    fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.in_order += other.in_order;
        self.tied += other.tied;
    }
}

#[derive(Default)]
struct Buffers {
    /// Documents by value.
    order: Vec<u32>,
    /// The labels of the query, ascending, without repetition.
    labels: Vec<f32>,
    /// A Fenwick tree: how many documents with each label have smaller values.
    below: Vec<u64>,
    /// How many documents with each label have the same value.
    equal: Vec<u64>,
}

impl Buffers {
    fn count(&mut self, values: &[f64], labels: &[f32]) -> Counted {
        self.labels.clear();
        self.labels.extend_from_slice(labels);
        self.labels.sort_unstable_by(f32::total_cmp);
        self.labels.dedup();
        let mut counted = Counted::default();
        if self.labels.len() < 2 {
            return counted;
        }
        // A missing value compares as the smallest.
        let value = |doc: u32| {
            let value = values[doc as usize];
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        self.order.clear();
        self.order.extend(0..values.len() as u32);
        self.order.sort_unstable_by(|a, b| value(*a).total_cmp(&value(*b)));
        self.below.clear();
        self.below.resize(self.labels.len() + 1, 0);
        self.equal.clear();
        self.equal.resize(self.labels.len(), 0);
        let place = |known: &[f32], doc: u32| known.partition_point(|label| *label < labels[doc as usize]);
        let mut n_below = 0;
        for equal in self.order.chunk_by(|a, b| value(*a) == value(*b)) {
            for doc in equal {
                let label = place(&self.labels, *doc);
                let (smaller, up_to) = (prefix(&self.below, label), prefix(&self.below, label + 1));
                counted.in_order += smaller;
                counted.pairs += n_below - (up_to - smaller);
                self.equal[label] += 1;
            }
            let n_equal = equal.len() as u64;
            let same: u64 = equal.iter().map(|doc| self.equal[place(&self.labels, *doc)]).sum();
            let tied = (n_equal * n_equal - same) / 2;
            counted.pairs += tied;
            counted.tied += tied;
            for doc in equal {
                let label = place(&self.labels, *doc);
                self.equal[label] = 0;
                add(&mut self.below, label);
            }
            n_below += n_equal;
        }
        counted
    }
}

/// The sum of the first `n` entries.
fn prefix(tree: &[u64], mut n: usize) -> u64 {
    let mut sum = 0;
    while n > 0 {
        sum += tree[n];
        n &= n - 1;
    }
    sum
}

fn add(tree: &mut [u64], entry: usize) {
    let mut at = entry + 1;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_pairs(values: &[f64], labels: &[f32]) -> Counted {
        let number = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
        let mut counted = Counted::default();
        for a in 0..values.len() {
            for b in 0..values.len() {
                if labels[a] > labels[b] {
                    counted.pairs += 1;
                    counted.in_order += u64::from(number(values[a]) > number(values[b]));
                    counted.tied += u64::from(number(values[a]) == number(values[b]));
                }
            }
        }
        counted
    }

    proptest! {
        #[test]
        fn pairs_are_counted(docs in prop::collection::vec((0..6u8, 0..5u8), 0..30)) {
            let values: Vec<f64> = docs.iter().map(|(value, _)| if *value == 5 { f64::NAN } else { f64::from(*value) }).collect();
            let labels: Vec<f32> = docs.iter().map(|(_, label)| f32::from(*label)).collect();
            let mut buffers = Buffers::default();
            for _ in 0..2 {
                prop_assert_eq!(buffers.count(&values, &labels), by_pairs(&values, &labels));
            }
        }
    }
}
