//! From the sums of columns that several features share to those of each feature.
//!
//! Cells stand by bin, which is no order to pick from: so the sums of the columns are turned by column first, those of a
//! block's features are picked from there, and turned back as a whole.

use rankwise_data::{SimdLevel, simd_kernel};

use crate::blocks::{BLOCK_FEATURES, Member};

use super::CellRow;

/// A little longer than the bins of a column, so that all columns do not fall into the same places of the cache.
const COLUMN_LEN: usize = 256 + 8;

type Columns = [[u64; COLUMN_LEN]; BLOCK_FEATURES];

/// Whether cells are set or added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// What they held is forgotten.
    Set,
    /// What they held stays.
    Add,
}

/// The sums of the columns of a strip, bin by bin and column by column.
#[derive(Debug)]
pub(crate) struct ColumnSums {
    simd: SimdLevel,
    cells: Vec<CellRow>,
    columns: Box<Columns>,
    /// Room for the sums of a block, feature by feature.
    features: Box<Columns>,
    /// The sum of any column.
    whole: u64,
}

impl ColumnSums {
    pub(crate) fn new(simd: SimdLevel) -> Self {
        let columns = || -> Box<Columns> {
            vec![[0; COLUMN_LEN]; BLOCK_FEATURES].try_into().expect("there is one for each lane")
        };
        Self { simd, cells: Vec::new(), columns: columns(), features: columns(), whole: 0 }
    }

    /// Cells for rows to be added to, all 0.
    pub(crate) fn start(&mut self, height: usize) -> &mut [CellRow] {
        self.cells.clear();
        self.cells.resize(height, [0; BLOCK_FEATURES]);
        &mut self.cells
    }

    /// To be called when all rows are added.
    pub(crate) fn finish(&mut self) {
        self.whole = self.cells.iter().fold(0, |sum, row| sum.wrapping_add(row[0]));
        by_column(self.simd, &self.cells, &mut self.columns);
    }

    /// Puts the sums of a block's features, whose lanes are in order, into its cells.
    pub(crate) fn spread(&mut self, members: &[Member], cells: &mut [CellRow], put: Put) {
        for (member, of_bins) in members.iter().zip(self.features.iter_mut()) {
            of_bins[..cells.len()].fill(0);
            pick(member, &self.columns[member.column()], self.whole, of_bins);
        }
        for of_bins in &mut self.features[members.len()..] {
            of_bins[..cells.len()].fill(0);
        }
        match put {
            Put::Set => set_by_bin(self.simd, &self.features, cells),
            Put::Add => add_by_bin(self.simd, &self.features, cells),
        }
    }
}

simd_kernel! {
    fn by_column(cells: &[CellRow], columns: &mut Columns) = turn;
}

simd_kernel! {
    fn set_by_bin(columns: &Columns, cells: &mut [CellRow]) = turn_back::<SetCells>;
}

simd_kernel! {
    fn add_by_bin(columns: &Columns, cells: &mut [CellRow]) = turn_back::<AddCells>;
}

/// Bins that are turned at a time: a cache line of a column.
const TILE: usize = 8;

#[inline(always)]
fn turn(cells: &[CellRow], columns: &mut Columns) {
    let (tiles, rest) = cells.as_chunks::<TILE>();
    for (idx, tile) in tiles.iter().enumerate() {
        for (lane, column) in columns.iter_mut().enumerate() {
            let to: &mut [u64; TILE] = column.as_chunks_mut().0.get_mut(idx).expect("a column has 256 bins");
            for (to, row) in to.iter_mut().zip(tile) {
                *to = row[lane];
            }
        }
    }
    let first = tiles.len() * TILE;
    for (byte, row) in rest.iter().enumerate() {
        for (column, cell) in columns.iter_mut().zip(row) {
            column[first + byte] = *cell;
        }
    }
}

trait PutCells {
    fn put(cell: u64, sum: u64) -> u64;
}

struct SetCells;
struct AddCells;

impl PutCells for SetCells {
    #[inline(always)]
    fn put(_: u64, sum: u64) -> u64 {
        sum
    }
}

impl PutCells for AddCells {
    #[inline(always)]
    fn put(cell: u64, sum: u64) -> u64 {
        cell.wrapping_add(sum)
    }
}

#[inline(always)]
fn turn_back<P: PutCells>(columns: &Columns, cells: &mut [CellRow]) {
    let (tiles, rest) = cells.as_chunks_mut::<TILE>();
    let first = tiles.len() * TILE;
    for (idx, tile) in tiles.iter_mut().enumerate() {
        for (lane, column) in columns.iter().enumerate() {
            let from: &[u64; TILE] = column.as_chunks().0.get(idx).expect("a column has 256 bins");
            for (row, from) in tile.iter_mut().zip(from) {
                row[lane] = P::put(row[lane], *from);
            }
        }
    }
    for (bin, row) in rest.iter_mut().enumerate() {
        for (cell, column) in row.iter_mut().zip(columns) {
            *cell = P::put(*cell, column[first + bin]);
        }
    }
}

/// Puts the sum of each bin of a feature into its place.
fn pick(member: &Member, column: &[u64; COLUMN_LEN], whole: u64, of_bins: &mut [u64; COLUMN_LEN]) {
    let mut picked = 0u64;
    for (bins, n_bytes, bytes) in member.runs() {
        // Most bins have few bytes each: loops of a length that the compiler knows are no loops.
        picked = picked.wrapping_add(match n_bytes {
            1 => pick_run::<1>(bins, bytes, column, of_bins),
            2 => pick_run::<2>(bins, bytes, column, of_bins),
            3 => pick_run::<3>(bins, bytes, column, of_bins),
            4 => pick_run::<4>(bins, bytes, column, of_bins),
            5 => pick_run::<5>(bins, bytes, column, of_bins),
            6 => pick_run::<6>(bins, bytes, column, of_bins),
            7 => pick_run::<7>(bins, bytes, column, of_bins),
            8 => pick_run::<8>(bins, bytes, column, of_bins),
            _ => pick_long_run(bins, bytes, n_bytes, column, of_bins),
        });
    }
    // The bin that most bytes mean has what the others leave.
    of_bins[usize::from(member.rest())] = whole.wrapping_sub(picked);
}

/// The bins of a run, each of which has `N` bytes; gives the sum of all.
#[inline(always)]
fn pick_run<const N: usize>(
    bins: &[u8],
    bytes: &[u8],
    column: &[u64; COLUMN_LEN],
    of_bins: &mut [u64; COLUMN_LEN],
) -> u64 {
    let mut picked = 0u64;
    for (bin, bytes) in bins.iter().zip(bytes.as_chunks::<N>().0) {
        let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_add(column[usize::from(*byte)]));
        of_bins[usize::from(*bin)] = sum;
        picked = picked.wrapping_add(sum);
    }
    picked
}

fn pick_long_run(
    bins: &[u8],
    bytes: &[u8],
    n_bytes: usize,
    column: &[u64; COLUMN_LEN],
    of_bins: &mut [u64; COLUMN_LEN],
) -> u64 {
    let mut picked = 0u64;
    for (bin, bytes) in bins.iter().zip(bytes.chunks_exact(n_bytes)) {
        let (fours, rest) = bytes.as_chunks::<4>();
        let mut sums = [0u64; 4];
        for four in fours {
            for (sum, byte) in sums.iter_mut().zip(four) {
                *sum = sum.wrapping_add(column[usize::from(*byte)]);
            }
        }
        let tail = rest.iter().fold(0u64, |sum, byte| sum.wrapping_add(column[usize::from(*byte)]));
        let sum = sums.iter().fold(tail, |sum, one| sum.wrapping_add(*one));
        of_bins[usize::from(*bin)] = sum;
        picked = picked.wrapping_add(sum);
    }
    picked
}
