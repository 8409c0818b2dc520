//! The values of one feature over all rows.

use crate::decimal::{decimal_of, is_f32_integer};

/// A feature's values in canonical row order. NaN is a missing value.
#[derive(Clone, Debug)]
pub enum Column {
    /// One value per row.
    Dense(Vec<f32>),
    /// One code per row that stands for a value.
    Coded {
        /// Indices into `values`, by row.
        codes: Vec<u16>,
        /// The values. Some may be equal, and some may not occur in any row.
        values: Vec<f32>,
    },
    /// Only some rows have a value of their own; the others have `rest`.
    Sparse {
        /// The rows with a value, ascending.
        rows: Vec<u32>,
        /// Their values.
        values: Vec<f32>,
        /// The value of all other rows: missing (NaN) or 0.
        rest: f32,
    },
    /// One value per row, some of them not representable as f32. Only data read with the option to keep such values has
    /// these columns.
    Wide(Vec<f64>),
}

/// What is known about the values of a column beyond their f32.
#[derive(Clone, Debug, Default)]
pub(crate) enum Unrounded {
    /// Nothing: they were f32 from the start, or were rounded when read.
    #[default]
    Same,
    /// They are what [`decimal_of`] gives, except for these rows, ascending.
    Decimals(Vec<(u32, f64)>),
}

impl Unrounded {
    /// For a column that already contains the listed values.
    pub(crate) fn without_list(self) -> Self {
        match self {
            Self::Same => Self::Same,
            Self::Decimals(_) => Self::Decimals(Vec::new()),
        }
    }
}

/// The unrounded values of a column, as far as the data keeps them.
#[derive(Clone, Copy, Debug)]
pub struct F64Values<'a> {
    pub(crate) column: &'a Column,
    pub(crate) unrounded: &'a Unrounded,
}

impl<'a> F64Values<'a> {
    /// The values as f32.
    pub fn rounded(&self) -> &'a Column {
        self.column
    }

    /// Whether the values are identical to their f32.
    pub fn are_f32(&self) -> bool {
        !matches!(self.column, Column::Wide(_)) && matches!(self.unrounded, Unrounded::Same)
    }

    /// Whether the first `n_rows` values are all equal; missing values are equal to each other.
    pub fn are_equal(&self, n_rows: usize) -> bool {
        let (mut first, mut are_equal) = (f64::NAN, true);
        self.for_each_in(0, n_rows, |row, value| {
            if row == 0 {
                first = value;
            }
            are_equal &= value == first || (value.is_nan() && first.is_nan());
        });
        are_equal
    }

    /// Calls `visit(row - start, value)` for each row in `start..end`, ascending.
    pub fn for_each_in(&self, start: usize, end: usize, mut visit: impl FnMut(usize, f64)) {
        match (self.column, self.unrounded) {
            (Column::Wide(values), _) => {
                for (offset, value) in values[start..end].iter().enumerate() {
                    visit(offset, *value);
                }
            }
            (column, Unrounded::Same) => {
                column.for_each_in(start, end, |offset, value| visit(offset, f64::from(value)));
            }
            (column, Unrounded::Decimals(exact)) => {
                let mut exact = exact[exact.partition_point(|(row, _)| (*row as usize) < start)..].iter().peekable();
                column.for_each_in(start, end, |offset, value| {
                    let listed = exact.next_if(|(row, _)| *row as usize == start + offset);
                    visit(offset, listed.map_or_else(|| decimal_of(value), |(_, value)| *value));
                });
            }
        }
    }

    /// The values that cannot be recovered from their f32.
    pub(crate) fn untold(&self) -> impl Iterator<Item = f64> {
        let listed = match self.unrounded {
            Unrounded::Same => &[][..],
            Unrounded::Decimals(listed) => listed,
        };
        listed.iter().map(|(_, value)| *value)
    }

    /// The value in one row.
    pub fn get(&self, row: usize) -> f64 {
        let mut found = f64::NAN;
        self.for_each_in(row, row + 1, |_, value| found = value);
        found
    }
}

impl Column {
    /// The column with unrounded values. A column of integers that f32 holds stays unchanged.
    pub(crate) fn widened(self, n_rows: usize, unrounded: &Unrounded) -> Self {
        let Unrounded::Decimals(exact) = unrounded else { return self };
        let mut are_integers = exact.is_empty();
        if are_integers {
            self.for_each_in(0, n_rows, |_, value| are_integers &= is_f32_integer(value.into()));
        }
        if are_integers {
            return self;
        }
        let mut values: Vec<f64> = vec![0.0; n_rows];
        F64Values { column: &self, unrounded }.for_each_in(0, n_rows, |row, value| values[row] = value);
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

/// Number of values for a first quick test whether rounding merges any.
const FIRST_LOOK: usize = 1 << 14;

/// Whether rounding to f32 makes two different values equal, missing values aside.
pub(crate) fn merges(values: &[f64]) -> bool {
    let merge = |values: &[f64]| {
        // Adding 0 turns -0 into 0.
        let mut sorted: Vec<f64> = values.iter().filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
        radsort::sort(&mut sorted);
        sorted.array_windows().any(|[a, b]| a != b && rounded(*a) == rounded(*b))
    };
    // If rounding merges many values, a few are enough to see it.
    (values.len() > FIRST_LOOK && merge(&values[..FIRST_LOOK])) || merge(values)
}

/// The nearest f32, at most the largest finite one.
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
        // Rounding to f32 gives the same values as in the other columns.
        let wide = Column::Wide(vec![0.0, 2.0 + 1e-12, 0.0, -0.0, 3.0, 1e-60]);
        for row in 0..6 {
            for column in [&sparse, &coded, &wide] {
                assert_eq!(column.get(row), dense.get(row));
            }
        }
        let unrounded = |column| F64Values { column, unrounded: &Unrounded::Same };
        assert_eq!((unrounded(&wide).get(1), unrounded(&sparse).get(1)), (2.0 + 1e-12, 2.0));
        for (start, end) in [(0, 6), (1, 2), (2, 5), (5, 6), (3, 3)] {
            let collect = |column: &Column| {
                let mut seen = Vec::new();
                column.for_each_in(start, end, |offset, value| seen.push((offset, value)));
                seen
            };
            for column in [&sparse, &coded, &wide] {
                assert_eq!(collect(column), collect(&dense), "{start}..{end}");
                let mut seen = Vec::new();
                unrounded(column).for_each_in(start, end, |offset, value| seen.push((offset, value)));
                assert_eq!(seen, (start..end).map(|row| (row - start, unrounded(column).get(row))).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn decimals_are_told_by_their_f32_but_for_those_that_are_listed() {
        let column = Column::Coded { codes: vec![0, 1, 1, 0], values: vec![0.1, 1.7e9] };
        let unrounded = Unrounded::Decimals(vec![(2, 1_700_000_001.0)]);
        let expected = [0.1, 1.7e9, 1_700_000_001.0, 0.1];
        let values = F64Values { column: &column, unrounded: &unrounded };
        assert_eq!([0, 1, 2, 3].map(|row| values.get(row)), expected);
        assert!(matches!(column.clone().widened(4, &unrounded), Column::Wide(values) if values == expected));
        assert!(matches!(column.widened(4, &Unrounded::Same), Column::Coded { .. }));
    }

    #[test]
    fn rounding_merges_values_that_differ_beyond_f32() {
        for (values, expected) in [
            (vec![1.7e9, 1_700_000_001.0, f64::NAN], true),
            (vec![1.7e9, 1_700_000_128.0], false),
            (vec![0.1, f64::from(0.1f32)], true),
            (vec![0.0, -0.0, f64::NAN, 0.1, 0.1], false),
            (vec![0.0, 1e-60], true),
            (vec![1e300, f64::INFINITY], true),
            (vec![f64::INFINITY, f64::INFINITY], false),
            (vec![], false),
        ] {
            assert_eq!(merges(&values), expected, "{values:?}");
            let many: Vec<f64> = (0..40_000).map(f64::from).chain(values).collect();
            assert_eq!(merges(&many), expected, "{:?}", &many[40_000..]);
        }
    }
}
