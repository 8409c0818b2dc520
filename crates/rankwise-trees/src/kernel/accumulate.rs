//! Adding rows to the histogram of a block.
//!
//! Cells of one bin stand together (`cells[bin][feature]`): rows that share a bin then touch 16 different cells before
//! they come back to the same one, so no update waits for the one before it.

use rankwise_data::{BLOCK_FEATURES, BlockRow};

use super::CellRow;

/// Rows whose bins are fetched before they are added: the fetches do not depend on each other, so many are under way at
/// a time.
const TILE_ROWS: usize = 1024;

/// Adds rows `rows` of a block to its cells; `packed` are their gradients in the same order. The number of cells must be
/// a power of two between 1 and 256, above every bin.
pub(crate) fn accumulate_rows(cells: &mut [CellRow], block: &[BlockRow], rows: &[u32], packed: &[u64]) {
    let mut tile = [[0; BLOCK_FEATURES]; TILE_ROWS];
    for (rows, packed) in rows.chunks(TILE_ROWS).zip(packed.chunks(TILE_ROWS)) {
        for (bins, row) in tile.iter_mut().zip(rows) {
            *bins = block[*row as usize];
        }
        accumulate(cells, &tile[..rows.len()], packed);
    }
}

/// Adds consecutive rows.
pub(crate) fn accumulate(cells: &mut [CellRow], bins: &[BlockRow], packed: &[u64]) {
    // The height is known to the compiler in each arm, so that it can see that no index is out of range.
    match cells.len() {
        256 => accumulate_height::<256>(cells, bins, packed),
        128 => accumulate_height::<128>(cells, bins, packed),
        64 => accumulate_height::<64>(cells, bins, packed),
        32 => accumulate_height::<32>(cells, bins, packed),
        16 => accumulate_height::<16>(cells, bins, packed),
        8 => accumulate_height::<8>(cells, bins, packed),
        4 => accumulate_height::<4>(cells, bins, packed),
        2 => accumulate_height::<2>(cells, bins, packed),
        1 => accumulate_height::<1>(cells, bins, packed),
        height => unreachable!("{height} is no height of a block"),
    }
}

fn accumulate_height<const HEIGHT: usize>(cells: &mut [CellRow], bins: &[BlockRow], packed: &[u64]) {
    let cells: &mut [CellRow; HEIGHT] = cells.try_into().expect("the caller matched the length");
    for (bins, packed) in bins.iter().zip(packed) {
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
            height_log in 0u32..9,
            rows in prop::collection::vec((any::<BlockRow>(), any::<u64>()), 0..40),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let height = 1usize << height_log;
            let bins: Vec<BlockRow> = rows.iter().map(|(bins, _)| bins.map(|bin| bin & (height - 1) as u8)).collect();
            let picked: Vec<u32> =
                if rows.is_empty() { Vec::new() } else { picked.iter().map(|pick| pick.index(rows.len()) as u32).collect() };
            let packed: Vec<u64> = picked.iter().map(|row| rows[*row as usize].1).collect();
            let mut cells = vec![[0; BLOCK_FEATURES]; height];
            accumulate_rows(&mut cells, &bins, &picked, &packed);

            let mut slow = vec![[0u64; BLOCK_FEATURES]; height];
            for row in &picked {
                for lane in 0..BLOCK_FEATURES {
                    let cell = &mut slow[usize::from(bins[*row as usize][lane])][lane];
                    *cell = cell.wrapping_add(rows[*row as usize].1);
                }
            }
            prop_assert_eq!(cells, slow);
        }
    }
}
