//! Adding rows to the histograms of a page's blocks.
//!
//! Cells of one bin stand together (`cells[bin][feature]`): rows that share a bin then touch 16 different cells before
//! they come back to the same one, so no update waits for the one before it.

use rankwise_data::{BLOCK_FEATURES, BlockRow, PAGE_BLOCKS};

use super::CellRow;
use super::prefetch::prefetch;

/// Rows whose bins are fetched before they are added: the fetches do not depend on each other, so many are under way at
/// a time; and each block's cells stay in the first-level cache for so many rows.
const TILE_ROWS: usize = 1024;
/// How far ahead of the row that is read the next ones are asked for. On 260k rows of 136 features this took the sums of a
/// tree from 40 to 35 ms.
const ROWS_AHEAD: usize = 64;

/// Which rows of a page to add.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageRows<'a> {
    /// These.
    Listed(&'a [u32]),
    /// All from this one on, as many as there are gradients.
    From(usize),
}

/// Adds rows to the cells of each of a page's blocks; `bins` are the page's rows and `packed` the gradients of the rows
/// to add, in their order. The number of cells of a block must be a power of two between 1 and 256, above every bin.
pub(crate) fn accumulate_page(cells: &mut [&mut [CellRow]], bins: &[BlockRow], rows: PageRows<'_>, packed: &[u64]) {
    match cells.len() {
        1 => accumulate_blocks::<1>(cells, bins, rows, packed),
        2 => accumulate_blocks::<2>(cells, bins, rows, packed),
        3 => accumulate_blocks::<3>(cells, bins, rows, packed),
        PAGE_BLOCKS => accumulate_blocks::<PAGE_BLOCKS>(cells, bins, rows, packed),
        n_blocks => unreachable!("no page has {n_blocks} blocks"),
    }
}

fn accumulate_blocks<const BLOCKS: usize>(
    cells: &mut [&mut [CellRow]],
    bins: &[BlockRow],
    rows: PageRows<'_>,
    packed: &[u64],
) {
    let (bins, _) = bins.as_chunks::<BLOCKS>();
    match rows {
        PageRows::From(start) => {
            let bins = &bins[start..start + packed.len()];
            for (bins, packed) in bins.chunks(TILE_ROWS).zip(packed.chunks(TILE_ROWS)) {
                accumulate_tile(cells, bins, packed);
            }
        }
        PageRows::Listed(rows) => {
            let mut tile = [[[0; BLOCK_FEATURES]; BLOCKS]; TILE_ROWS];
            for (idx, packed) in packed.chunks(TILE_ROWS).enumerate() {
                let rows = &rows[idx * TILE_ROWS..];
                for (place, line) in tile[..packed.len()].iter_mut().enumerate() {
                    if let Some(ahead) = rows.get(place + ROWS_AHEAD) {
                        prefetch(&bins[*ahead as usize]);
                    }
                    *line = bins[rows[place] as usize];
                }
                accumulate_tile(cells, &tile[..packed.len()], packed);
            }
        }
    }
}

fn accumulate_tile<const BLOCKS: usize>(cells: &mut [&mut [CellRow]], tile: &[[BlockRow; BLOCKS]], packed: &[u64]) {
    for (block, cells) in cells.iter_mut().enumerate().take(BLOCKS) {
        // The height is known to the compiler in each arm, so that it can see that no index is out of range.
        match cells.len() {
            256 => accumulate_height::<256, BLOCKS>(cells, tile, block, packed),
            128 => accumulate_height::<128, BLOCKS>(cells, tile, block, packed),
            64 => accumulate_height::<64, BLOCKS>(cells, tile, block, packed),
            32 => accumulate_height::<32, BLOCKS>(cells, tile, block, packed),
            16 => accumulate_height::<16, BLOCKS>(cells, tile, block, packed),
            8 => accumulate_height::<8, BLOCKS>(cells, tile, block, packed),
            4 => accumulate_height::<4, BLOCKS>(cells, tile, block, packed),
            2 => accumulate_height::<2, BLOCKS>(cells, tile, block, packed),
            1 => accumulate_height::<1, BLOCKS>(cells, tile, block, packed),
            height => unreachable!("{height} is no height of a block"),
        }
    }
}

fn accumulate_height<const HEIGHT: usize, const BLOCKS: usize>(
    cells: &mut [CellRow],
    tile: &[[BlockRow; BLOCKS]],
    block: usize,
    packed: &[u64],
) {
    let cells: &mut [CellRow; HEIGHT] = cells.try_into().expect("the caller matched the length");
    for (line, packed) in tile.iter().zip(packed) {
        let bins = &line[block];
        for lane in 0..BLOCK_FEATURES {
            let cell = &mut cells[usize::from(bins[lane]) & (HEIGHT - 1)][lane];
            *cell = cell.wrapping_add(*packed);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_are_sums_of_their_rows(
            height_logs in prop::collection::vec(0u32..9, 1..=PAGE_BLOCKS),
            rows in prop::collection::vec((any::<[BlockRow; PAGE_BLOCKS]>(), any::<u64>()), 1..40),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            start in any::<prop::sample::Index>(),
        ) {
            let heights: Vec<usize> = height_logs.iter().map(|log| 1 << log).collect();
            let mut bins: Vec<BlockRow> = Vec::new();
            for (line, _) in &rows {
                bins.extend(heights.iter().zip(line).map(|(height, block)| block.map(|bin| bin & (height - 1) as u8)));
            }
            let picked: Vec<u32> = picked.iter().map(|pick| pick.index(rows.len()) as u32).collect();
            let start = start.index(rows.len());
            let from: Vec<u32> = (start as u32..rows.len() as u32).collect();
            for (choice, list) in [(PageRows::Listed(&picked), &picked), (PageRows::From(start), &from)] {
                let packed: Vec<u64> = list.iter().map(|row| rows[*row as usize].1).collect();
                let mut cells: Vec<Vec<CellRow>> = heights.iter().map(|height| vec![[0; BLOCK_FEATURES]; *height]).collect();
                let mut slices: Vec<&mut [CellRow]> = cells.iter_mut().map(|cells| &mut cells[..]).collect();
                accumulate_page(&mut slices, &bins, choice, &packed);

                for (block, cells) in cells.iter().enumerate() {
                    let mut slow = vec![[0u64; BLOCK_FEATURES]; heights[block]];
                    for row in list {
                        let row_bins = bins[*row as usize * heights.len() + block];
                        for lane in 0..BLOCK_FEATURES {
                            let cell = &mut slow[usize::from(row_bins[lane])][lane];
                            *cell = cell.wrapping_add(rows[*row as usize].1);
                        }
                    }
                    prop_assert_eq!(cells, &slow);
                }
            }
        }
    }
}
