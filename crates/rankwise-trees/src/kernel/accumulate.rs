//! Adding rows to the histograms of a page's strips.
//!
//! Cells of one bin stand together (`cells[bin][feature]`): rows that share a bin then touch 16 different cells before
//! they come back to the same one, so no update waits for the one before it.

use crate::blocks::{BLOCK_FEATURES, BlockRow, PAGE_STRIPS};

use super::CellRow;
use super::prefetch::prefetch;

/// Rows whose bins are fetched before they are added: the fetches do not depend on each other, so many are under way at
/// a time; and each strip's cells stay in the first-level cache for so many rows.
const TILE_ROWS: usize = 1024;
/// Clearing a tile takes as long as adding many rows. Few rows have a smaller one.
const SMALL_TILE_ROWS: usize = 128;
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

/// Adds rows to the cells of each of a page's strips; `bins` are the page's rows and `packed` the gradients of the rows
/// to add, in their order. The number of rows of cells of a strip must be a power of two between 1 and 256, above every bin.
pub(crate) fn accumulate_page(cells: &mut [&mut [CellRow]], bins: &[BlockRow], rows: PageRows<'_>, packed: &[u64]) {
    match cells.len() {
        1 => accumulate_strips::<1>(cells, bins, rows, packed),
        2 => accumulate_strips::<2>(cells, bins, rows, packed),
        // Three leave room for a fourth.
        3 | PAGE_STRIPS => accumulate_strips::<PAGE_STRIPS>(cells, bins, rows, packed),
        n_strips => unreachable!("no page has {n_strips} strips"),
    }
}

fn accumulate_strips<const STRIPS: usize>(
    cells: &mut [&mut [CellRow]],
    bins: &[BlockRow],
    rows: PageRows<'_>,
    packed: &[u64],
) {
    if packed.len() <= SMALL_TILE_ROWS {
        accumulate_tiles::<STRIPS, SMALL_TILE_ROWS>(cells, bins, rows, packed);
    } else {
        accumulate_tiles::<STRIPS, TILE_ROWS>(cells, bins, rows, packed);
    }
}

fn accumulate_tiles<const STRIPS: usize, const TILE: usize>(
    cells: &mut [&mut [CellRow]],
    bins: &[BlockRow],
    rows: PageRows<'_>,
    packed: &[u64],
) {
    let (bins, _) = bins.as_chunks::<STRIPS>();
    // A run of each strip's rows: only what is added passes through the first-level cache, which the cells fill.
    let mut tile = [[[0; BLOCK_FEATURES]; TILE]; STRIPS];
    for (idx, packed) in packed.chunks(TILE).enumerate() {
        let start = idx * TILE;
        match rows {
            PageRows::From(first) => {
                for (place, line) in bins[first + start..][..packed.len()].iter().enumerate() {
                    put(&mut tile, place, line);
                }
            }
            PageRows::Listed(rows) => {
                let rows = &rows[start..];
                for place in 0..packed.len() {
                    if let Some(ahead) = rows.get(place + ROWS_AHEAD) {
                        prefetch(&bins[*ahead as usize]);
                    }
                    put(&mut tile, place, &bins[rows[place] as usize]);
                }
            }
        }
        for (cells, tile) in cells.iter_mut().zip(&tile) {
            accumulate_tile(cells, &tile[..packed.len()], packed);
        }
    }
}

#[inline(always)]
fn put<const STRIPS: usize, const TILE: usize>(
    tile: &mut [[BlockRow; TILE]; STRIPS],
    place: usize,
    line: &[BlockRow; STRIPS],
) {
    for (tile, bins) in tile.iter_mut().zip(line) {
        tile[place & (TILE - 1)] = *bins;
    }
}

fn accumulate_tile(cells: &mut [CellRow], tile: &[BlockRow], packed: &[u64]) {
    // The height is known to the compiler in each arm, so that it can see that no index is out of range.
    match cells.len() {
        256 => accumulate_height::<256>(cells, tile, packed),
        128 => accumulate_height::<128>(cells, tile, packed),
        64 => accumulate_height::<64>(cells, tile, packed),
        32 => accumulate_height::<32>(cells, tile, packed),
        16 => accumulate_height::<16>(cells, tile, packed),
        8 => accumulate_height::<8>(cells, tile, packed),
        4 => accumulate_height::<4>(cells, tile, packed),
        2 => accumulate_height::<2>(cells, tile, packed),
        1 => accumulate_height::<1>(cells, tile, packed),
        height => unreachable!("{height} is no height of a strip"),
    }
}

fn accumulate_height<const HEIGHT: usize>(cells: &mut [CellRow], tile: &[BlockRow], packed: &[u64]) {
    let cells: &mut [CellRow; HEIGHT] = cells.try_into().expect("the caller matched the length");
    for (bins, packed) in tile.iter().zip(packed) {
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
            height_logs in prop::collection::vec(0u32..9, 1..=PAGE_STRIPS),
            rows in prop::collection::vec((any::<[BlockRow; PAGE_STRIPS]>(), any::<u64>()), 1..40),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            start in any::<prop::sample::Index>(),
        ) {
            let heights: Vec<usize> = height_logs.iter().map(|log| 1 << log).collect();
            let stride = heights.len().next_power_of_two();
            let mut bins: Vec<BlockRow> = Vec::new();
            for (line, _) in &rows {
                bins.extend(heights.iter().zip(line).map(|(height, strip)| strip.map(|bin| bin & (height - 1) as u8)));
                bins.extend((heights.len()..stride).map(|_| [0; BLOCK_FEATURES]));
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
                        let row_bins = bins[*row as usize * stride + block];
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
