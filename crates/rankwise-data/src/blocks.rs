//! Bins by row, 16 columns at a time: the form that histograms are summed from.
//!
//! ```text
//! page 0: row 0 [strip 0 | strip 1 | strip 2 | strip 3]  row 1 [...]  ...     16 bytes a strip, 64 a row: a cache line
//! page 1: row 0 [strip 4 | strip 5]  row 1 [strip 4 | strip 5]  ...
//! ```
//!
//! A column of a strip holds one feature or, where features have few bins, several (`joint.rs`). Histograms and searches
//! know only blocks: 16 features whose cells stand together. Features with many bins share blocks, so that blocks of
//! features with few bins are small.

mod joint;

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

pub use self::joint::{JointColumn, Member};
use crate::BinnedDataset;

/// Features in a block, and columns in a strip.
pub const BLOCK_FEATURES: usize = 16;
/// Strips in a page: a row of one fills a cache line.
pub const PAGE_STRIPS: usize = 4;
const LINE_BYTES: usize = BLOCK_FEATURES * PAGE_STRIPS;

/// Rows that are laid out at a time.
const ROWS_PER_TASK: usize = 1024;

/// The bins of 16 columns in one row.
pub type BlockRow = [u8; BLOCK_FEATURES];

/// Up to 16 features whose histograms stand together.
#[derive(Clone, Debug)]
pub struct BinBlock {
    features: Vec<usize>,
    height: usize,
}

impl BinBlock {
    fn new(features: &[usize], data: &BinnedDataset) -> Self {
        let n_bins = features.iter().map(|feature| data.bins(*feature).n_value_bins() + 1);
        Self { features: features.to_vec(), height: n_bins.max().unwrap_or(1).next_power_of_two() }
    }

    /// The features, as numbered in the binned data set; lanes behind them are empty.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// A power of two that no bin of the block reaches, the bins of missing values included.
    pub fn height(&self) -> usize {
        self.height
    }
}

/// What the columns of a strip hold.
#[derive(Clone, Debug)]
pub enum Strip {
    /// The features of the block with this number, one each.
    Plain(usize),
    /// Several features each.
    Joint(Vec<JointColumn>),
}

/// Up to four strips whose bins stand together.
#[derive(Debug)]
pub struct BinPage {
    strips: Vec<Strip>,
    blocks: Range<usize>,
    bytes: Vec<BlockRow>,
    /// Where the first row begins, so that rows lie on cache lines.
    offset: usize,
}

impl BinPage {
    fn new(strips: Vec<Strip>, blocks: &[BinBlock], data: &BinnedDataset) -> Self {
        let n_strips = strips.len();
        let mut bytes = vec![[0; BLOCK_FEATURES]; data.n_rows() * n_strips + PAGE_STRIPS];
        let misaligned = bytes.as_ptr().addr() % LINE_BYTES;
        let offset = (LINE_BYTES - misaligned) / BLOCK_FEATURES % PAGE_STRIPS;
        let rows = &mut bytes[offset..][..data.n_rows() * n_strips];
        rows.par_chunks_mut(ROWS_PER_TASK * n_strips).enumerate().for_each(|(task, rows)| {
            let first = task * ROWS_PER_TASK;
            for (idx, strip) in strips.iter().enumerate() {
                match strip {
                    Strip::Plain(block) => {
                        for (lane, feature) in blocks[*block].features.iter().enumerate() {
                            let bins = &data.column(*feature)[first..];
                            for (row, bin) in rows.chunks_exact_mut(n_strips).zip(bins) {
                                row[idx][lane] = *bin;
                            }
                        }
                    }
                    Strip::Joint(columns) => {
                        for (lane, column) in columns.iter().enumerate() {
                            for (member, factor) in column.members_and_factors() {
                                let bins = &data.column(blocks[member.block].features[member.lane])[first..];
                                for (row, bin) in rows.chunks_exact_mut(n_strips).zip(bins) {
                                    row[idx][lane] += *bin * factor;
                                }
                            }
                        }
                    }
                }
            }
        });
        let of_strip = |strip: &Strip| match strip {
            Strip::Plain(block) => *block..*block + 1,
            Strip::Joint(columns) => joint::blocks_of(columns),
        };
        let first = strips.first().map_or(0, |strip| of_strip(strip).start);
        let end = strips.last().map_or(0, |strip| of_strip(strip).end);
        Self { strips, blocks: first..end, bytes, offset }
    }

    /// What its columns hold.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// The blocks that its strips hold, all of them whole.
    pub fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// The strips of row 0, then those of row 1, and so on.
    pub fn rows(&self) -> &[BlockRow] {
        &self.bytes[self.offset..self.bytes.len() - (PAGE_STRIPS - self.offset)]
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
        let n_bins: Vec<usize> = (0..data.n_features())
            .into_par_iter()
            .map(|feature| data.column(feature).iter().max().map_or(1, |bin| usize::from(*bin) + 1))
            .collect();
        let (mut single, mut shared) = joint::share_columns(&n_bins);
        let height = |feature: usize| (data.bins(feature).n_value_bins() + 1).next_power_of_two();
        single.sort_by_key(|feature| (Reverse(height(*feature)), data.bins(*feature).has_missing(), *feature));
        // The strip of shared columns may have room for what would otherwise take a strip of its own.
        let rest = single.len() % BLOCK_FEATURES;
        if rest <= shared.len().next_multiple_of(BLOCK_FEATURES) - shared.len() {
            shared.extend(single.split_off(single.len() - rest).into_iter().map(|feature| vec![feature]));
        }

        let mut blocks: Vec<BinBlock> =
            single.chunks(BLOCK_FEATURES).map(|features| BinBlock::new(features, data)).collect();
        let mut strips: Vec<Strip> = (0..blocks.len()).map(Strip::Plain).collect();
        for columns in shared.chunks(BLOCK_FEATURES) {
            let mut features: Vec<usize> = columns.iter().flatten().copied().collect();
            features.sort_by_key(|feature| (Reverse(height(*feature)), *feature));
            let first = blocks.len();
            blocks.extend(features.chunks(BLOCK_FEATURES).map(|features| BinBlock::new(features, data)));
            let member = |feature: usize| {
                let place = features.iter().position(|other| *other == feature).expect("each is in a block");
                let (block, lane) = (first + place / BLOCK_FEATURES, place % BLOCK_FEATURES);
                Member { block, lane, n_bins: n_bins[feature] }
            };
            let columns = columns.iter().map(|column| JointColumn::new(column.iter().map(|f| member(*f)).collect()));
            strips.push(Strip::Joint(columns.collect()));
        }

        let mut places = vec![(0, 0); data.n_features()];
        for (idx, block) in blocks.iter().enumerate() {
            for (lane, feature) in block.features.iter().enumerate() {
                places[*feature] = (idx, lane);
            }
        }
        let pages = strips.chunks(PAGE_STRIPS).map(|strips| BinPage::new(strips.to_vec(), &blocks, data)).collect();
        Self { blocks, pages, places }
    }

    /// The blocks.
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
    use crate::{BinnedDataset, BinningSpec};

    /// The bin of a feature in a row, as its page has it.
    fn bin_in_page(blocks: &BinBlocks, feature: usize, row: usize) -> u8 {
        let (block, lane) = blocks.place(feature);
        let page = blocks.pages().iter().find(|page| page.blocks().contains(&block)).unwrap();
        let n_strips = page.strips().len();
        for (idx, strip) in page.strips().iter().enumerate() {
            let bytes = page.rows()[row * n_strips + idx];
            match strip {
                Strip::Plain(plain) if *plain == block => return bytes[lane],
                Strip::Plain(_) => {}
                Strip::Joint(columns) => {
                    for (column, byte) in columns.iter().zip(bytes) {
                        for (member, factor) in column.members_and_factors() {
                            if (member.block, member.lane) == (block, lane) {
                                return (usize::from(byte / factor) % member.n_bins) as u8;
                            }
                        }
                    }
                }
            }
        }
        unreachable!("feature {feature} is in no strip of its page")
    }

    fn check(binned: &BinnedDataset) -> BinBlocks {
        let blocks = BinBlocks::new(binned);
        for feature in 0..binned.n_features() {
            let (block, lane) = blocks.place(feature);
            assert_eq!(blocks.blocks()[block].features()[lane], feature);
            assert!(binned.bins(feature).n_value_bins() < blocks.blocks()[block].height());
            for (row, bin) in binned.column(feature).iter().enumerate() {
                assert_eq!(bin_in_page(&blocks, feature, row), *bin, "feature {feature}, row {row}");
            }
        }
        let in_pages: Vec<usize> = blocks.pages().iter().flat_map(BinPage::blocks).collect();
        assert_eq!(in_pages, (0..blocks.blocks().len()).collect::<Vec<_>>());
        for page in blocks.pages() {
            assert_eq!(page.rows().len(), binned.n_rows() * page.strips().len());
        }
        blocks
    }

    fn web(features: usize, max_bin: usize) -> BinnedDataset {
        let synth = SynthSpec { preset: Preset::Web, rows: 3000, features: Some(features), seed: 1 }.check().unwrap();
        BinnedDataset::new(&synth.dataset(), &BinningSpec { max_bin, ..BinningSpec::default() }.check().unwrap())
            .unwrap()
    }

    #[test]
    fn pages_hold_every_bin_of_every_feature() {
        for (features, max_bin) in [(1, 255), (15, 255), (17, 255), (136, 255), (100, 15), (140, 2)] {
            check(&web(features, max_bin));
        }
    }

    #[test]
    fn features_with_few_bins_share_columns() {
        let n_columns = |blocks: &BinBlocks| -> usize {
            let strips = blocks.pages().iter().flat_map(BinPage::strips);
            strips.map(|strip| if let Strip::Joint(columns) = strip { columns.len() } else { BLOCK_FEATURES }).sum()
        };
        assert!(n_columns(&check(&web(136, 255))) <= 128);
        // Two bins and perhaps one for missing values.
        assert!(n_columns(&check(&web(140, 2))) <= 28);
    }
}
