//! Bins by row, 16 features at a time: the form that histograms are summed from.
//!
//! ```text
//! block 0: row 0 [f3 f0 f9 ...]  row 1 [f3 f0 f9 ...]  ...     16 bytes a row
//! block 1: row 0 [f7 f1 ...   ]  row 1 [f7 f1 ...   ]  ...
//! ```
//!
//! Features with many bins stand together, so that blocks of features with few bins need small histograms.

use rayon::prelude::*;

use crate::BinnedDataset;

/// Features in a block.
pub const BLOCK_FEATURES: usize = 16;

/// The bins of 16 features in one row.
pub type BlockRow = [u8; BLOCK_FEATURES];

/// Up to 16 features with their bins by row.
#[derive(Clone, Debug)]
pub struct BinBlock {
    features: Vec<usize>,
    height: usize,
    rows: Vec<BlockRow>,
}

impl BinBlock {
    /// The features, as numbered in the binned data set; lanes behind them hold bin 0.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// A power of two that no bin of the block reaches, the bins of missing values included.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The bins by row.
    pub fn rows(&self) -> &[BlockRow] {
        &self.rows
    }
}

/// All features in blocks.
#[derive(Clone, Debug)]
pub struct BinBlocks {
    blocks: Vec<BinBlock>,
    /// For each feature its block and lane.
    places: Vec<(usize, usize)>,
}

impl BinBlocks {
    /// Lays out the bins of a data set anew.
    pub fn new(data: &BinnedDataset) -> Self {
        let n_bins = |feature: usize| data.bins(feature).n_value_bins() + 1;
        let mut order: Vec<usize> = (0..data.n_features()).collect();
        order.sort_by_key(|feature| (std::cmp::Reverse(n_bins(*feature).next_power_of_two()), *feature));
        let blocks: Vec<BinBlock> = order
            .par_chunks(BLOCK_FEATURES)
            .map(|features| {
                let mut rows = vec![[0; BLOCK_FEATURES]; data.n_rows()];
                for (lane, feature) in features.iter().enumerate() {
                    for (row, bin) in rows.iter_mut().zip(data.column(*feature)) {
                        row[lane] = *bin;
                    }
                }
                let tallest = features.iter().map(|feature| n_bins(*feature)).max().unwrap_or(1);
                BinBlock { features: features.to_vec(), height: tallest.next_power_of_two(), rows }
            })
            .collect();
        let mut places = vec![(0, 0); data.n_features()];
        for (idx, block) in blocks.iter().enumerate() {
            for (lane, feature) in block.features.iter().enumerate() {
                places[*feature] = (idx, lane);
            }
        }
        Self { blocks, places }
    }

    /// The blocks, those with the most bins first.
    pub fn blocks(&self) -> &[BinBlock] {
        &self.blocks
    }

    /// The block and the lane of a feature.
    pub fn place(&self, feature: usize) -> (usize, usize) {
        self.places[feature]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Preset, SynthSpec};
    use crate::{BinnedDataset, BinningParams};

    #[test]
    fn blocks_hold_the_same_bins_and_group_by_height() {
        let synth = SynthSpec { preset: Preset::Web, rows: 300, features: Some(40), seed: 1 }.check().unwrap();
        let binned = BinnedDataset::new(&synth.dataset(), &BinningParams::default()).unwrap();
        let blocks = BinBlocks::new(&binned);
        for feature in 0..binned.n_features() {
            let (block, lane) = blocks.place(feature);
            let block = &blocks.blocks()[block];
            assert_eq!(block.features()[lane], feature);
            assert!(binned.bins(feature).n_value_bins() < block.height());
            for (row, bins) in block.rows().iter().enumerate() {
                assert_eq!(bins[lane], binned.column(feature)[row]);
            }
        }
        let heights: Vec<usize> = blocks.blocks().iter().map(BinBlock::height).collect();
        assert!(heights.is_sorted_by(|a, b| a >= b) && heights.iter().all(|height| height.is_power_of_two()));
    }
}
