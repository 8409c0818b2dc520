//! Sums of gradients by bin, with counts: what the plain search works on.

use std::ops::Range;

use rankwise_data::{BinnedDataset, Reduce};

use crate::Sums;

/// The rows of a node in one bin of one feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Packed sums of gradients and Hessians.
    pub(crate) packed: u64,
    /// The number of rows.
    pub(crate) count: u32,
}

impl Cell {
    #[inline]
    pub(crate) fn add(&mut self, packed: u64) {
        self.packed = self.packed.wrapping_add(packed);
        self.count += 1;
    }

    /// The sums, unpacked.
    pub(crate) fn sums(self) -> Sums {
        Sums::unpack(self.packed)
    }
}

/// Where a feature's cells stand: its value bins in order, then the bin of missing values.
#[derive(Clone, Debug)]
pub(crate) struct HistogramLayout {
    starts: Vec<usize>,
}

impl HistogramLayout {
    /// The layout for a dataset.
    pub(crate) fn new(data: &BinnedDataset) -> Self {
        let mut starts = vec![0];
        for feature in 0..data.n_features() {
            starts.push(starts[feature] + data.bins(feature).n_value_bins() + 1);
        }
        Self { starts }
    }

    /// The cells of a feature.
    pub(crate) fn range(&self, feature: usize) -> Range<usize> {
        self.starts[feature]..self.starts[feature + 1]
    }

    /// The number of cells of all features.
    pub(crate) fn n_cells(&self) -> usize {
        *self.starts.last().expect("there is always a first start")
    }
}

/// The cells of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    cells: Vec<Cell>,
}

impl Histogram {
    /// All cells 0.
    pub(crate) fn new(layout: &HistogramLayout) -> Self {
        Self { cells: vec![Cell::default(); layout.n_cells()] }
    }

    /// The cells of some features, ascending.
    pub(crate) fn features_mut(&mut self, layout: &HistogramLayout, features: &[usize]) -> Vec<&mut [Cell]> {
        let (mut left, mut start) = (&mut self.cells[..], 0);
        let mut parts = Vec::with_capacity(features.len());
        for feature in features {
            let range = layout.range(*feature);
            let (_, from) = left.split_at_mut(range.start - start);
            let (mine, rest) = from.split_at_mut(range.len());
            (left, start) = (rest, range.end);
            parts.push(mine);
        }
        parts
    }

    /// The cells of a feature.
    pub(crate) fn feature(&self, layout: &HistogramLayout, feature: usize) -> &[Cell] {
        &self.cells[layout.range(feature)]
    }

    /// Adds the cells of the other members.
    pub(crate) fn exchange(&mut self, reduce: &dyn Reduce) {
        if reduce.n_members() == 1 {
            return;
        }
        let mut sums: Vec<u64> = self.cells.iter().flat_map(|cell| [cell.packed, cell.count.into()]).collect();
        reduce.sum(&mut sums);
        for (cell, [packed, count]) in self.cells.iter_mut().zip(sums.as_chunks().0) {
            *cell = Cell { packed: *packed, count: *count as u32 };
        }
    }

    /// Takes one child away from its parent: what is left is the other child. Exact.
    pub(crate) fn subtract(&mut self, child: &Self) {
        for (mine, theirs) in self.cells.iter_mut().zip(&child.cells) {
            mine.packed = mine.packed.wrapping_sub(theirs.packed);
            mine.count -= theirs.count;
        }
    }
}
