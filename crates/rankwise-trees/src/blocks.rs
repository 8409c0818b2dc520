//! Bins by row, 16 columns at a time: the form that histograms are summed from.
//!
//! ```text
//! page 0: row 0 [strip 0 | strip 1 | strip 2 | strip 3]  row 1 [...]  ...     16 bytes a strip, 64 a row: a cache line
//! page 1: row 0 [strip 4 | strip 5]  row 1 [strip 4 | strip 5]  ...
//! ```
//!
//! A column of a strip holds one feature or several, where they make few combinations (`joint.rs`). Histograms and searches
//! know only blocks: 16 features whose cells stand together. Features with many bins share blocks, so that blocks of
//! features with few bins are small.

mod joint;
mod share;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use rankwise_data::BinnedDataset;
use rayon::prelude::*;

pub(crate) use self::joint::{JointStrip, Member};
use self::share::SharedColumn;

/// Features in a block, and columns in a strip.
pub(crate) const BLOCK_FEATURES: usize = 16;
/// Strips in a page: a row of one fills a cache line.
pub(crate) const PAGE_STRIPS: usize = 4;
const LINE_BYTES: usize = BLOCK_FEATURES * PAGE_STRIPS;

/// Rows that are laid out at a time.
const ROWS_PER_TASK: usize = 256;

/// The bins of 16 columns in one row.
pub(crate) type BlockRow = [u8; BLOCK_FEATURES];

/// The bytes of each column of a strip, by row.
type StripColumns<'a> = Vec<Cow<'a, [u8]>>;

/// Up to 16 features whose histograms stand together.
#[derive(Clone, Debug)]
pub(crate) struct BinBlock {
    features: Vec<usize>,
    height: usize,
}

impl BinBlock {
    fn new(features: &[usize], data: &BinnedDataset) -> Self {
        let n_bins = features.iter().map(|feature| data.bins(*feature).n_value_bins() + 1);
        Self { features: features.to_vec(), height: n_bins.max().unwrap_or(1).next_power_of_two() }
    }

    /// The features, as numbered in the binned dataset; lanes behind them are empty.
    pub(crate) fn features(&self) -> &[usize] {
        &self.features
    }

    /// A power of two that no bin of the block reaches, the bins of missing values included.
    pub(crate) fn height(&self) -> usize {
        self.height
    }
}

/// Sixteen columns of a page.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    blocks: Range<usize>,
    joint: Option<JointStrip>,
}

impl Strip {
    /// The blocks that its columns hold, all of them whole.
    pub(crate) fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// What its columns stand for, if they are not the features of a single block.
    pub(crate) fn joint(&self) -> Option<&JointStrip> {
        self.joint.as_ref()
    }
}

/// Up to four strips whose bins stand together.
#[derive(Debug)]
pub(crate) struct BinPage {
    strips: Vec<Strip>,
    blocks: Range<usize>,
    bytes: Vec<BlockRow>,
    /// Where the first row begins, so that rows lie on cache lines.
    offset: usize,
}

impl BinPage {
    /// A page of strips; `columns` has the bytes of each column of each strip.
    fn new(strips: Vec<Strip>, columns: &[StripColumns<'_>], n_rows: usize) -> Self {
        let stride = stride(strips.len());
        let mut bytes = vec![[0; BLOCK_FEATURES]; n_rows * stride + PAGE_STRIPS];
        let misaligned = bytes.as_ptr().addr() % LINE_BYTES;
        let offset = (LINE_BYTES - misaligned) / BLOCK_FEATURES % PAGE_STRIPS;
        let rows = &mut bytes[offset..][..n_rows * stride];
        rows.par_chunks_mut(ROWS_PER_TASK * stride).enumerate().for_each(|(task, rows)| {
            for (strip, columns) in columns.iter().enumerate() {
                for (lane, column) in columns.iter().enumerate() {
                    for (row, byte) in rows.chunks_exact_mut(stride).zip(&column[task * ROWS_PER_TASK..]) {
                        row[strip][lane] = *byte;
                    }
                }
            }
        });
        let first = strips.first().map_or(0, |strip| strip.blocks.start);
        let end = strips.last().map_or(0, |strip| strip.blocks.end);
        Self { strips, blocks: first..end, bytes, offset }
    }

    /// What its columns hold.
    pub(crate) fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// The blocks that its strips hold, all of them whole.
    pub(crate) fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// The strips of row 0, then those of row 1, and so on. Three strips leave room for a fourth, so that no row lies on
    /// two cache lines.
    pub(crate) fn rows(&self) -> &[BlockRow] {
        &self.bytes[self.offset..self.bytes.len() - (PAGE_STRIPS - self.offset)]
    }
}

/// All features in blocks.
#[derive(Debug)]
pub(crate) struct BinBlocks {
    blocks: Vec<BinBlock>,
    pages: Vec<BinPage>,
    /// For each feature its block and lane, if it is laid out.
    places: Vec<Option<(usize, usize)>>,
}

impl BinBlocks {
    /// Lays out the bins of some features of a dataset anew.
    pub(crate) fn new(data: &BinnedDataset, features: Vec<usize>) -> Self {
        let (mut single, mut shared) = share::share_columns(data, features);
        let height = |feature: usize| (data.bins(feature).n_value_bins() + 1).next_power_of_two();
        single.sort_by_key(|feature| (Reverse(height(*feature)), data.bins(*feature).has_missing(), *feature));
        // The strip of shared columns may have room for what would otherwise take a strip of its own.
        let rest = single.len() % BLOCK_FEATURES;
        if rest <= shared.len().next_multiple_of(BLOCK_FEATURES) - shared.len() {
            let rest = single.split_off(single.len() - rest);
            shared.extend(rest.into_iter().map(|feature| SharedColumn::of_one(feature, data)));
        }

        let alone = single.chunks(BLOCK_FEATURES).map(|features| StripPlan::alone(features, data));
        let plans: Vec<StripPlan<'_>> =
            alone.chain(shared.chunks(BLOCK_FEATURES).map(|columns| StripPlan::joint(columns, data))).collect();
        let mut blocks = Vec::new();
        let mut pages = Vec::new();
        for page in arrange(plans) {
            let made = page.iter().map(|plan| plan.make(&mut blocks, data));
            let (strips, columns): (Vec<Strip>, Vec<StripColumns<'_>>) = made.unzip();
            pages.push(BinPage::new(strips, &columns, data.n_rows()));
        }

        let mut places = vec![None; data.n_features()];
        for (idx, block) in blocks.iter().enumerate() {
            for (lane, feature) in block.features.iter().enumerate() {
                places[*feature] = Some((idx, lane));
            }
        }
        Self { blocks, pages, places }
    }

    /// The blocks.
    pub(crate) fn blocks(&self) -> &[BinBlock] {
        &self.blocks
    }

    /// The pages that hold the blocks, in order.
    pub(crate) fn pages(&self) -> &[BinPage] {
        &self.pages
    }

    /// The block and the lane of a feature.
    pub(crate) fn place(&self, feature: usize) -> (usize, usize) {
        self.places[feature].expect("only features that are laid out are asked for")
    }

    /// Whether a feature is laid out.
    pub(crate) fn has(&self, feature: usize) -> bool {
        self.places[feature].is_some()
    }
}

/// A strip before it has its place.
struct StripPlan<'a> {
    features: Vec<usize>,
    /// Where features share columns.
    shared: Option<&'a [SharedColumn]>,
    /// What its part of a histogram costs however few rows there are, in rows of cells.
    cost: usize,
}

impl<'a> StripPlan<'a> {
    fn alone(features: &[usize], data: &BinnedDataset) -> Self {
        Self { features: features.to_vec(), shared: None, cost: BinBlock::new(features, data).height }
    }

    fn joint(columns: &'a [SharedColumn], data: &BinnedDataset) -> Self {
        let mut features: Vec<usize> = columns.iter().flat_map(|column| &column.features).copied().collect();
        // Features with as many bins share a block.
        features.sort_by_key(|feature| (Reverse(data.bins(*feature).n_value_bins()), *feature));
        let heights = features.chunks(BLOCK_FEATURES).map(|features| BinBlock::new(features, data).height);
        // Sums are picked for each feature from those of all combinations.
        let n_picked: usize = columns.iter().map(|column| column.features.len() * column.bins[0].len()).sum();
        let cost = heights.sum::<usize>() + n_picked / BLOCK_FEATURES;
        Self { features, shared: Some(columns), cost }
    }

    /// Gives its features the next blocks; gives the bytes of its columns, too.
    fn make<'d>(&self, blocks: &mut Vec<BinBlock>, data: &'d BinnedDataset) -> (Strip, StripColumns<'d>)
    where
        'a: 'd,
    {
        let first = blocks.len();
        blocks.extend(self.features.chunks(BLOCK_FEATURES).map(|features| BinBlock::new(features, data)));
        let of_strip = first..blocks.len();
        let Some(columns) = self.shared else {
            let bytes = self.features.iter().map(|feature| data.column(*feature)).collect();
            return (Strip { blocks: of_strip, joint: None }, bytes);
        };
        let member = |feature: usize| {
            let place = |column: &SharedColumn| column.features.iter().position(|of| *of == feature);
            let (column, place) = columns.iter().enumerate().find_map(|(idx, column)| Some((idx, place(column)?)))?;
            Some(Member::new(column, &columns[column].bins[place]))
        };
        let members = blocks[first..].iter().map(|block| block.features.iter().filter_map(|of| member(*of)).collect());
        let n_bytes = columns.iter().map(|column| column.bins[0].len()).max().unwrap_or(1);
        let joint = Some(JointStrip::new(n_bytes, members.collect()));
        (Strip { blocks: of_strip, joint }, columns.iter().map(|column| Cow::Borrowed(&column.bytes[..])).collect())
    }
}

/// Puts strips into as few pages as hold them. Two pages are made as much work as each other, since two threads will often
/// share them.
fn arrange(mut plans: Vec<StripPlan<'_>>) -> Vec<Vec<StripPlan<'_>>> {
    let n_pages = plans.len().div_ceil(PAGE_STRIPS);
    if n_pages != 2 {
        let mut pages = Vec::with_capacity(n_pages);
        while !plans.is_empty() {
            let rest = plans.split_off(PAGE_STRIPS.min(plans.len()));
            pages.push(std::mem::replace(&mut plans, rest));
        }
        return pages;
    }
    // The largest first, each to the page that has less so far.
    let room = plans.len().div_ceil(2);
    plans.sort_by_key(|plan| Reverse(plan.cost));
    let mut pages = vec![Vec::new(), Vec::new()];
    let mut costs = [0; 2];
    for plan in plans {
        let is_first = pages[1].len() == room || (pages[0].len() < room && costs[0] <= costs[1]);
        let page = usize::from(!is_first);
        costs[page] += plan.cost;
        pages[page].push(plan);
    }
    pages
}

/// The strips that a row has room for.
fn stride(n_strips: usize) -> usize {
    n_strips.next_power_of_two()
}

#[cfg(test)]
mod tests {
    use rankwise_data::BinningSpec;
    use rankwise_data::synth::{Preset, SynthSpec};

    use super::*;

    /// The bin of a feature in a row, as its page has it.
    fn bin_in_page(blocks: &BinBlocks, feature: usize, row: usize) -> u8 {
        let (block, lane) = blocks.place(feature);
        let page = blocks.pages().iter().find(|page| page.blocks().contains(&block)).unwrap();
        for (idx, strip) in page.strips().iter().enumerate() {
            let bytes = page.rows()[row * stride(page.strips().len()) + idx];
            if strip.blocks().contains(&block) {
                return match strip.joint() {
                    None => bytes[lane],
                    Some(joint) => {
                        let member = &joint.blocks()[block - strip.blocks().start][lane];
                        member.bin(bytes[member.column()])
                    }
                };
            }
        }
        unreachable!("feature {feature} is in no strip of its page")
    }

    fn check(binned: &BinnedDataset) -> BinBlocks {
        let blocks = BinBlocks::new(binned, (0..binned.n_features()).collect());
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
            assert_eq!(page.rows().len(), binned.n_rows() * stride(page.strips().len()));
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
        let n_strips = |blocks: &BinBlocks| blocks.pages().iter().map(|page| page.strips().len()).sum::<usize>();
        assert!(n_strips(&check(&web(136, 255))) <= 8);
        // Two bins and perhaps one for missing values.
        assert!(n_strips(&check(&web(140, 2))) <= 2);
    }
}
