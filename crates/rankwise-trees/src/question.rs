//! A node's question in terms of bins.

use rankwise_data::BinnedDataset;
use rankwise_model::TreeParts;

use crate::scan::Split;

/// Which bins go left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) feature: usize,
    bin: u8,
    missing_bin: u8,
    missing_left: bool,
}

impl Question {
    pub(crate) fn new(data: &BinnedDataset, split: &Split) -> Self {
        Self {
            feature: split.feature,
            bin: split.bin,
            missing_bin: data.bins(split.feature).missing_bin(),
            missing_left: split.missing_left,
        }
    }

    /// The question of a node of a tree that was grown on the same bins.
    pub(crate) fn of_node(data: &BinnedDataset, parts: &TreeParts, node: usize) -> Self {
        let feature = parts.feature[node] as usize;
        let bins = data.bins(feature);
        // A bound is the largest value of its bin.
        let bin = bins.bin_f64(parts.threshold[node]);
        Self { feature, bin, missing_bin: bins.missing_bin(), missing_left: parts.missing_left[node] }
    }

    /// A question about bins alone.
    #[cfg(test)]
    pub(crate) fn of_bins(bin: u8, missing_bin: u8, missing_left: bool) -> Self {
        Self { feature: 0, bin, missing_bin, missing_left }
    }

    #[inline]
    #[expect(clippy::needless_bitwise_bool, reason = "the answer cannot be guessed, so branches would cost more")]
    pub(crate) fn goes_left(self, bin: u8) -> bool {
        let is_missing = bin == self.missing_bin;
        (is_missing & self.missing_left) | (!is_missing & (bin <= self.bin))
    }
}
