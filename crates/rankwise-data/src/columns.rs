//! The values of one feature over all rows.

use crate::decimal::{decimal_of, is_f32_integer};

/// A feature's values in canonical row order. NaN is a missing value.
#[derive(Clone, Debug)]
pub enum Column {
    /// One value per row.
    Dense(Vec<f32>),
    /// One code per row, which stands for a value.
    Coded {
        /// Places in `values`, by row.
        codes: Vec<u16>,
        /// The values; some may be equal, and some may stand in no row.
        values: Vec<f32>,
    },
    /// Only some rows have a value of their own; the others have `rest`.
    Sparse {
        /// The rows with a value, ascending.
        rows: Vec<u32>,
        /// Their values.
        values: Vec<f32>,
        /// The value of all other rows: NaN or 0.
        rest: f32,
    },
    /// One value per row, some of which f32 does not hold. Only data that was read to keep such values has these columns.
    Wide(Vec<f64>),
}

impl Column {
    /// The value in one row as it was read, where the data keeps it.
    pub fn get_f64(&self, row: usize) -> f64 {
        if let Self::Wide(values) = self { values[row] } else { f64::from(self.get(row)) }
    }

    /// [`Self::for_each_in`] with values as they were read, where the data keeps them.
    pub fn for_each_f64_in(&self, start: usize, end: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Wide(values) => {
                for (offset, value) in values[start..end].iter().enumerate() {
                    visit(offset, *value);
                }
            }
            _ => self.for_each_in(start, end, |offset, value| visit(offset, f64::from(value))),
        }
    }

    /// The column with its values before they were rounded: those in `exact`, with their rows, and for the others what their f32
    /// tells. A column of integers that f32 holds stays as it is.
    pub(crate) fn widened(self, n_rows: usize, exact: &[(u32, f64)]) -> Self {
        let mut are_integers = exact.is_empty();
        if are_integers {
            self.for_each_in(0, n_rows, |_, value| are_integers &= is_f32_integer(value.into()));
        }
        if are_integers {
            return self;
        }
        let mut values: Vec<f64> = vec![0.0; n_rows];
        self.for_each_in(0, n_rows, |row, value| values[row] = decimal_of(value));
        for (row, value) in exact {
            values[*row as usize] = *value;
        }
        Self::Wide(values)
    }

    /// The value in one row, rounded to f32.
    pub fn get(&self, row: usize) -> f32 {
        match self {
            Self::Wide(values) => rounded(values[row]),
            Self::Dense(values) => values[row],
            Self::Coded { codes, values } => values[usize::from(codes[row])],
            Self::Sparse { rows, values, rest } => {
                rows.binary_search(&(row as u32)).map_or(*rest, |position| values[position])
            }
        }
    }

    /// Calls `visit(row - start, value)` for each row in `start..end`, ascending. Values are rounded to f32.
    pub fn for_each_in(&self, start: usize, end: usize, mut visit: impl FnMut(usize, f32)) {
        match self {
            Self::Dense(values) => {
                for (offset, value) in values[start..end].iter().enumerate() {
                    visit(offset, *value);
                }
            }
            Self::Wide(values) => {
                for (offset, value) in values[start..end].iter().enumerate() {
                    visit(offset, rounded(*value));
                }
            }
            Self::Coded { codes, values } => {
                for (offset, code) in codes[start..end].iter().enumerate() {
                    visit(offset, values[usize::from(*code)]);
                }
            }
            Self::Sparse { rows, values, rest } => {
                let mut position = rows.partition_point(|row| (*row as usize) < start);
                for row in start..end {
                    if rows.get(position) == Some(&(row as u32)) {
                        visit(row - start, values[position]);
                        position += 1;
                    } else {
                        visit(row - start, *rest);
                    }
                }
            }
        }
    }
}

/// The nearest f32; beyond the largest one, that.
pub(crate) fn rounded(value: f64) -> f32 {
    (value as f32).clamp(-f32::MAX, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_say_the_same() {
        let sparse = Column::Sparse { rows: vec![1, 4], values: vec![2.0, 3.0], rest: 0.0 };
        let coded = Column::Coded { codes: vec![2, 1, 2, 2, 0, 2], values: vec![3.0, 2.0, 0.0] };
        let dense = Column::Dense(vec![0.0, 2.0, 0.0, 0.0, 3.0, 0.0]);
        // Rounding to f32 makes it what the others are.
        let wide = Column::Wide(vec![0.0, 2.0 + 1e-12, 0.0, -0.0, 3.0, 1e-60]);
        for row in 0..6 {
            for column in [&sparse, &coded, &wide] {
                assert_eq!(column.get(row), dense.get(row));
            }
        }
        assert_eq!((wide.get_f64(1), sparse.get_f64(1)), (2.0 + 1e-12, 2.0));
        for (start, end) in [(0, 6), (1, 2), (2, 5), (5, 6), (3, 3)] {
            let collect = |column: &Column| {
                let mut seen = Vec::new();
                column.for_each_in(start, end, |offset, value| seen.push((offset, value)));
                seen
            };
            for column in [&sparse, &coded, &wide] {
                assert_eq!(collect(column), collect(&dense), "{start}..{end}");
                let mut seen = Vec::new();
                column.for_each_f64_in(start, end, |offset, value| seen.push((offset, value)));
                assert_eq!(seen, (start..end).map(|row| (row - start, column.get_f64(row))).collect::<Vec<_>>());
            }
        }
    }
}
