//! The values of one feature over all rows.

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
}

impl Column {
    /// The value in one row.
    pub fn get(&self, row: usize) -> f32 {
        match self {
            Self::Dense(values) => values[row],
            Self::Coded { codes, values } => values[usize::from(codes[row])],
            Self::Sparse { rows, values, rest } => {
                rows.binary_search(&(row as u32)).map_or(*rest, |position| values[position])
            }
        }
    }

    /// Calls `visit(row - start, value)` for each row in `start..end`, ascending.
    pub fn for_each_in(&self, start: usize, end: usize, mut visit: impl FnMut(usize, f32)) {
        match self {
            Self::Dense(values) => {
                for (offset, value) in values[start..end].iter().enumerate() {
                    visit(offset, *value);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_say_the_same() {
        let sparse = Column::Sparse { rows: vec![1, 4], values: vec![2.0, 3.0], rest: 0.0 };
        let coded = Column::Coded { codes: vec![2, 1, 2, 2, 0, 2], values: vec![3.0, 2.0, 0.0] };
        let dense = Column::Dense(vec![0.0, 2.0, 0.0, 0.0, 3.0, 0.0]);
        for row in 0..6 {
            assert_eq!((sparse.get(row), coded.get(row)), (dense.get(row), dense.get(row)));
        }
        for (start, end) in [(0, 6), (1, 2), (2, 5), (5, 6), (3, 3)] {
            let collect = |column: &Column| {
                let mut seen = Vec::new();
                column.for_each_in(start, end, |offset, value| seen.push((offset, value)));
                seen
            };
            for column in [&sparse, &coded] {
                assert_eq!(collect(column), collect(&dense), "{start}..{end}");
            }
        }
    }
}
