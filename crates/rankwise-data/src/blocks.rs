//! Bins by row, 16 features at a time: the form that histograms are summed from.
//!
//! ```text
//! page 0: row 0 [block 0 | block 1 | block 2 | block 3]  row 1 [...]  ...     16 bytes a block, 64 a row: a cache line
//! page 1: row 0 [block 4 | block 5]  row 1 [block 4 | block 5]  ...
//! ```
//!
//! Features with many bins stand together, so that blocks of features with few bins need small histograms.

use rayon::prelude::*;

use crate::BinnedDataset;

/// Features in a block.
pub const BLOCK_FEATURES: usize = 16;
/// Blocks in a page: a row of one fills a cache line.
pub const PAGE_BLOCKS: usize = 4;
const LINE_BYTES: usize = BLOCK_FEATURES * PAGE_BLOCKS;

/// The bins of 16 features in one row.
pub type BlockRow = [u8; BLOCK_FEATURES];

/// Up to 16 features whose histograms stand together.
#[derive(Clone, Debug)]
pub struct BinBlock {
    features: Vec<usize>,
    height: usize,
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
}

/// Up to four blocks whose bins stand together.
#[derive(Debug)]
pub struct BinPage {
    first_block: usize,
    n_blocks: usize,
    bytes: Vec<BlockRow>,
    /// Where the first row begins, so that rows lie on cache lines.
    offset: usize,
}

impl BinPage {
    fn new(first_block: usize, blocks: &[BinBlock], data: &BinnedDataset) -> Self {
        let n_blocks = blocks.len();
        let mut bytes = vec![[0; BLOCK_FEATURES]; data.n_rows() * n_blocks + PAGE_BLOCKS];
        let misaligned = bytes.as_ptr().addr() % LINE_BYTES;
        let offset = (LINE_BYTES - misaligned) / BLOCK_FEATURES % PAGE_BLOCKS;
        for (idx, block) in blocks.iter().enumerate() {
            for (lane, feature) in block.features.iter().enumerate() {
                let rows = bytes[offset..].chunks_exact_mut(n_blocks);
                for (row, bin) in rows.zip(data.column(*feature)) {
                    row[idx][lane] = *bin;
                }
            }
        }
        Self { first_block, n_blocks, bytes, offset }
    }

    /// The number of its first block.
    pub fn first_block(&self) -> usize {
        self.first_block
    }

    /// How many blocks a row has.
    pub fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// The blocks of row 0, then those of row 1, and so on.
    pub fn rows(&self) -> &[BlockRow] {
        &self.bytes[self.offset..self.bytes.len() - (PAGE_BLOCKS - self.offset)]
    }
}

/// All features in blocks.
#[derive(Debug)]
pub struct BinBlocks {
    blocks: Vec<BinBlock>,
    pages: Vec<BinPage>,
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
            .chunks(BLOCK_FEATURES)
            .map(|features| {
                let tallest = features.iter().map(|feature| n_bins(*feature)).max().unwrap_or(1);
                BinBlock { features: features.to_vec(), height: tallest.next_power_of_two() }
            })
            .collect();
        let pages = blocks
            .par_chunks(PAGE_BLOCKS)
            .enumerate()
            .map(|(page, blocks)| BinPage::new(page * PAGE_BLOCKS, blocks, data))
            .collect();
        let mut places = vec![(0, 0); data.n_features()];
        for (idx, block) in blocks.iter().enumerate() {
            for (lane, feature) in block.features.iter().enumerate() {
                places[*feature] = (idx, lane);
            }
        }
        Self { blocks, pages, places }
    }

    /// The blocks, those with the most bins first.
    pub fn blocks(&self) -> &[BinBlock] {
        &self.blocks
    }

    /// The pages that hold the blocks, in order.
    pub fn pages(&self) -> &[BinPage] {
        &self.pages
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
        let synth = SynthSpec { preset: Preset::Web, rows: 300, features: Some(100), seed: 1 }.check().unwrap();
        let binned = BinnedDataset::new(&synth.dataset(), &BinningParams::default()).unwrap();
        let blocks = BinBlocks::new(&binned);
        assert!(blocks.pages().len() > 1);
        for feature in 0..binned.n_features() {
            let (block, lane) = blocks.place(feature);
            assert_eq!(blocks.blocks()[block].features()[lane], feature);
            assert!(binned.bins(feature).n_value_bins() < blocks.blocks()[block].height());
            let page = blocks.pages().iter().rfind(|page| page.first_block() <= block).unwrap();
            assert_eq!(page.rows().len(), 300 * page.n_blocks());
            for (row, bins) in page.rows().chunks(page.n_blocks()).enumerate() {
                assert_eq!(bins[block - page.first_block()][lane], binned.column(feature)[row]);
            }
        }
        let heights: Vec<usize> = blocks.blocks().iter().map(BinBlock::height).collect();
        assert!(heights.is_sorted_by(|a, b| a >= b) && heights.iter().all(|height| height.is_power_of_two()));
    }
}
