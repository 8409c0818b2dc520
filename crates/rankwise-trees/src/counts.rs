//! How many rows the bins of a feature have. Histograms of the fast engine know sums only; counts are taken from the rows, and only
//! where they decide something.

use rankwise_data::{BinnedDataset, Reduce};
use rayon::prelude::*;

/// A count for each bin.
pub(crate) type BinCounts = [u32; 256];

/// The counts of all members, for pairs of the rows of a node and a feature.
pub(crate) fn count_bins(data: &BinnedDataset, reduce: &dyn Reduce, asked: &[(&[u32], usize)]) -> Vec<BinCounts> {
    let mut counts: Vec<BinCounts> = asked
        .par_iter()
        .with_max_len(1)
        .map(|(rows, feature)| {
            let bins = &*data.column(*feature);
            let mut counts = [0; 256];
            rows.iter().for_each(|row| counts[usize::from(bins[*row as usize])] += 1);
            counts
        })
        .collect();
    if reduce.n_members() > 1 {
        let mut all: Vec<u64> = counts.as_flattened().iter().map(|count| u64::from(*count)).collect();
        reduce.sum(&mut all);
        counts.as_flattened_mut().iter_mut().zip(all).for_each(|(count, all)| *count = all as u32);
    }
    counts
}
