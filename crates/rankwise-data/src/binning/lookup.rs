//! Bins of many values.

use std::hint::select_unpredictable;

use super::FeatureBins;
use super::ordered::ordered_bits;

/// How many values are looked up together, so that their steps overlap.
const TOGETHER: usize = 8;
/// Room for 255 bounds and the steps beyond them: a power of two, so that its predecessor can serve as a mask.
const ROOM: usize = 512;
/// Number of cells of a table. It takes a sixteenth of a first-level cache.
const N_CELLS: usize = 2048;

/// A table of the ordered bits of a value, in cells of equal width: the first bound of each cell. A binary search
/// then has to tell apart only the bounds of one cell.
pub(super) struct Lookup<'a> {
    bins: &'a FeatureBins,
    /// Padded with infinity.
    upper: [f32; ROOM],
    /// The bits of the first bound.
    lowest: u32,
    shift: u32,
    /// The number of bounds in the cells before.
    below: [u8; N_CELLS],
    /// The first step of the search in a cell; 0 if no cell has a bound.
    first_step: usize,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(bins: &'a FeatureBins) -> Self {
        let mut upper = [f32::INFINITY; ROOM];
        upper.iter_mut().zip(&bins.upper).for_each(|(to, bound)| *to = *bound as f32);
        // No value exceeds the last bound.
        let bounds = &upper[..bins.upper.len().saturating_sub(1)];
        let bits = |bound: Option<&f32>| bound.map_or(0, |bound| ordered_bits(*bound));
        let lowest = bits(bounds.first());
        let width = bits(bounds.last()) - lowest;
        let shift = (u32::BITS - width.leading_zeros()).saturating_sub(N_CELLS.ilog2());
        let mut lookup = Self { bins, upper, lowest, shift, below: [0; N_CELLS], first_step: 0 };
        lookup.fill(bounds.len());
        lookup
    }

    fn fill(&mut self, n_bounds: usize) {
        let mut in_cell = [0u8; N_CELLS];
        for bound in 0..n_bounds {
            in_cell[self.cell(self.upper[bound])] += 1;
        }
        let mut below = 0;
        for (cell, count) in self.below.iter_mut().zip(in_cell) {
            *cell = below;
            below += count;
        }
        let most = in_cell.into_iter().max().unwrap_or(0);
        self.first_step = (usize::from(most) + 1).next_power_of_two() / 2;
    }

    /// Not smaller for a larger value.
    #[inline]
    fn cell(&self, value: f32) -> usize {
        let cell = ordered_bits(value).saturating_sub(self.lowest) >> self.shift;
        (cell as usize).min(N_CELLS - 1)
    }

    /// Appends the bin of each value.
    pub(super) fn bin_all(&self, values: &[f32], out: &mut Vec<u8>) {
        let missing = self.bins.missing_bin();
        let (groups, rest) = values.as_chunks::<TOGETHER>();
        for group in groups {
            // For each value, the number of bounds it is known to exceed.
            let mut above = group.map(|value| usize::from(self.below[self.cell(value)]));
            let mut step = self.first_step;
            while step > 0 {
                for (above, value) in above.iter_mut().zip(group) {
                    // The index is always in range; the mask lets the compiler drop the bounds check.
                    let probe = (*above + step - 1) & (ROOM - 1);
                    *above = select_unpredictable(self.upper[probe] < *value, *above + step, *above);
                }
                step /= 2;
            }
            let bin = |(above, value): (&usize, &f32)| if value.is_nan() { missing } else { *above as u8 };
            out.extend(above.iter().zip(group).map(bin));
        }
        out.extend(rest.iter().map(|value| self.bins.bin(*value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds that share a cell at the end of the table, in every number.
    #[test]
    fn crowded_cells_are_searched_to_their_end() {
        for n_close in 1..=260 {
            let close = |n: u32| f32::from_bits(1f32.to_bits() - 3 * n);
            let mut values: Vec<f32> = (0..n_close).map(close).collect();
            values.extend([-5.0; 8]);
            let bins = FeatureBins::from_values(values.clone(), 255);
            let mut found = Vec::new();
            bins.bin_all(&values, &mut found);
            assert_eq!(found, values.iter().map(|value| bins.bin(*value)).collect::<Vec<_>>(), "{n_close}");
        }
    }
}
