//! From the sums of a column that several features share to those of each.

use rankwise_data::{JointColumn, Member};

use super::CellRow;

/// Rows of cells that the columns need: a power of two above every byte.
pub(crate) fn height(columns: &[JointColumn]) -> usize {
    let n_bins = |column: &JointColumn| column.members().iter().map(|member| member.n_bins).product::<usize>();
    columns.iter().map(n_bins).max().unwrap_or(1).next_power_of_two()
}

/// Calls `put(member, bin, sum)` for each bin of each feature of the column in `lane`.
pub(crate) fn spread(cells: &[CellRow], lane: usize, column: &JointColumn, mut put: impl FnMut(Member, usize, u64)) {
    let mut sums = [0u64; 256];
    let mut len = column.members().iter().map(|member| member.n_bins).product::<usize>();
    for (sum, row) in sums[..len].iter_mut().zip(cells) {
        *sum = row[lane];
    }
    for member in column.members() {
        // What is left of the column once this feature, the fastest, is summed over takes the front of `sums`.
        let mut of_bins = [0u64; 256];
        let of_bins = &mut of_bins[..member.n_bins];
        len /= member.n_bins;
        for outer in 0..len {
            let mut total = 0u64;
            for (of_bin, sum) in of_bins.iter_mut().zip(&sums[outer * member.n_bins..][..member.n_bins]) {
                *of_bin = of_bin.wrapping_add(*sum);
                total = total.wrapping_add(*sum);
            }
            sums[outer] = total;
        }
        for (bin, sum) in of_bins.iter().enumerate() {
            put(*member, bin, *sum);
        }
    }
}
