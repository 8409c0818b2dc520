//! Wilcoxon's signed-rank test: ranks the differences by size and tests whether large ones favour one side. It assumes
//! a symmetric distribution of the differences, and does not test the mean.
//!
//! Query weights have no meaning for ranks and are ignored.

use crate::special::normal_below;
use crate::{QueryValues, Tail};

/// Up to this many differences, all of different size, the exact distribution is used.
const MAX_EXACT: usize = 50;

/// The p-value. Differences of 0 are dropped; if none remain, it is 1. Ties share their mean rank; the normal
/// approximation, corrected for ties and continuity, then replaces the exact distribution.
pub fn wilcoxon(differences: &QueryValues, tail: Tail) -> f64 {
    let mut differences: Vec<f64> = differences.values().iter().copied().filter(|value| *value != 0.0).collect();
    if differences.is_empty() {
        return 1.0;
    }
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = differences.len();
    // The rank sum of the positive differences, doubled so that mean ranks are integers, and the sum of t^3 - t over
    // ties.
    let (mut doubled, mut ties) = (0u64, 0.0);
    let mut first = 0;
    for tied in differences.chunk_by(|a, b| a.abs() == b.abs()) {
        let size = tied.len();
        let doubled_rank = (2 * first + size + 1) as u64;
        doubled += doubled_rank * tied.iter().filter(|value| **value > 0.0).count() as u64;
        ties += (size as f64).powi(3) - size as f64;
        first += size;
    }
    if n <= MAX_EXACT && ties == 0.0 {
        return exact(doubled as usize / 2, n, tail);
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let deviation = libm::sqrt((n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0);
    let distance = doubled as f64 / 2.0 - mean;
    let at_least = normal_below(-(distance - 0.5) / deviation);
    let at_most = normal_below((distance + 0.5) / deviation);
    tail.of(at_least, at_most)
}

/// Counts, for each sum, the sets of ranks (of 2^n) that have it.
fn exact(sum: usize, n: usize, tail: Tail) -> f64 {
    let mut counts = vec![0u64; n * (n + 1) / 2 + 1];
    counts[0] = 1;
    for rank in 1..=n {
        for sum in (rank..counts.len()).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    let all = (1u64 << n) as f64;
    let share = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / all;
    tail.of(share(&counts[sum..]), share(&counts[..=sum]))
}
