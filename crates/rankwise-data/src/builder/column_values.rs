//! The values of one feature in a column-oriented table, often as indices into a short list of distinct values.

use super::finite;
use crate::columns::Unrounded;
use crate::decimal::{are_f32, are_told, decimal_of, is_f32_integer, is_told};

/// Codes are 16 bits wide.
const MAX_VALUES: usize = 1 << 16;

/// Distinct values in any order, addressed by index ("place"). One extra place stands for a missing value.
#[derive(Clone, Debug)]
pub struct Dictionary(Vec<f32>);

impl Dictionary {
    /// Infinite values become the largest finite ones, which keeps the order.
    pub fn new(mut values: Vec<f32>) -> Self {
        for value in &mut values {
            *value = finite(*value);
        }
        values.push(f32::NAN);
        Self(values)
    }

    /// The place of a missing value: one past the last.
    pub fn missing_place(&self) -> usize {
        self.0.len() - 1
    }
}

/// The values of one feature, row after row.
///
/// ```text
/// dictionaries  [0.5 2.0]  [2.0 7.0]         different values  0.5 2.0 -- 2.0 7.0 --     (-- is missing)
/// places         0 1 1 2    1 0 0       ->   codes             0 1 1 2 4 3 3
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnValues {
    form: Form,
    /// The value of each code.
    different: Vec<f32>,
    /// The first code of the last dictionary.
    start: usize,
    /// The expected number of rows; input, so not fully trusted.
    n_expected: usize,
    /// How to recover values that are not in `exact` from their f32.
    telling: Telling,
    /// The unrounded value of each row. Empty if all values can be recovered: they are integers that f32 holds, were
    /// f32 from the start, or are what [`decimal_of`] gives.
    exact: Vec<f64>,
}

/// How the values so far can be recovered from their f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Telling {
    /// The f32 are the values, and all are integers.
    #[default]
    Integers,
    /// The f32 are the values.
    Same,
    /// The values are what [`decimal_of`] gives.
    Decimals,
}

/// What is kept for each row.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Codes(Vec<u16>),
    Values(Vec<f32>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Codes(Vec::new())
    }
}

impl ColumnValues {
    /// An empty column that reserves memory for `n_rows` values when the first one arrives.
    pub fn expecting(n_rows: usize) -> Self {
        Self { n_expected: n_rows, ..Self::default() }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Codes(codes) => codes.len(),
            Form::Values(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps only the first `len` values.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.form {
            Form::Codes(codes) => codes.truncate(len),
            Form::Values(values) => values.truncate(len),
        }
        self.exact.truncate(len);
    }

    /// Lets `add` append values that were f32 from the start. Infinite values become the largest finite ones, which
    /// keeps the order.
    pub fn append<T>(&mut self, add: impl FnOnce(&mut Vec<f32>) -> T) -> T {
        self.tell_f32();
        self.append_told(add)
    }

    /// Declares that the values appended next were f32 from the start.
    pub fn tell_f32(&mut self) {
        if self.telling == Telling::Decimals && self.exact.is_empty() {
            self.exact = (0..self.len()).map(|row| self.get_f64(row)).collect();
        }
        self.telling = Telling::Same;
    }

    /// Whether these values can be recovered from their f32, in the same way as all values before them. If so, append
    /// them with [`Self::append_told`] or by places in a dictionary. Otherwise read the column again with
    /// [`Self::append_f64`].
    pub fn tell(&mut self, numbers: &[f64]) -> bool {
        if !self.exact.is_empty() {
            return false;
        }
        let next = match self.telling {
            Telling::Integers if numbers.iter().fold(true, |all, number| all & is_f32_integer(*number)) => {
                Telling::Integers
            }
            Telling::Integers | Telling::Decimals if are_told(numbers) => Telling::Decimals,
            Telling::Integers | Telling::Same if are_f32(numbers) => Telling::Same,
            _ => return false,
        };
        self.telling = next;
        true
    }

    /// Lets `add` append values that passed [`Self::tell`].
    pub fn append_told<T>(&mut self, add: impl FnOnce(&mut Vec<f32>) -> T) -> T {
        let values = self.decode();
        let start = values.len();
        let done = add(values);
        for value in &mut values[start..] {
            *value = finite(*value);
        }
        self.fill_exact();
        done
    }

    /// Appends values, and keeps them unrounded if they cannot be recovered from their f32.
    pub fn append_where_needed(&mut self, numbers: &[f64]) {
        if self.tell(numbers) {
            self.append_told(|values| values.extend(numbers.iter().map(|number| *number as f32)));
        } else {
            self.append_f64(numbers);
        }
    }

    /// Appends values and keeps them unrounded.
    pub fn append_f64(&mut self, numbers: &[f64]) {
        let start = self.len();
        self.append_told(|values| values.extend(numbers.iter().map(|number| *number as f32)));
        if !self.exact.is_empty() || !numbers.iter().all(|number| is_f32_integer(*number)) {
            self.exact.truncate(start);
            self.exact.extend((self.exact.len()..start).map(|row| self.told(row)).collect::<Vec<_>>());
            self.exact.extend(numbers);
        }
    }

    /// Once some values are kept unrounded, all are.
    fn fill_exact(&mut self) {
        if !self.exact.is_empty() {
            self.exact.extend((self.exact.len()..self.len()).map(|row| self.told(row)).collect::<Vec<_>>());
        }
    }

    /// The value of a row, recovered from its f32.
    fn told(&self, row: usize) -> f64 {
        if self.telling == Telling::Decimals { decimal_of(self.get(row)) } else { f64::from(self.get(row)) }
    }

    /// Starts a dictionary; [`Self::append_places`] refers to it.
    pub fn begin_dictionary(&mut self, dictionary: &Dictionary) {
        if self.different.len() + dictionary.0.len() > MAX_VALUES {
            self.merge_equal();
            // Merging must free half of the codes, or it would happen too often.
            if self.different.len() + dictionary.0.len() > MAX_VALUES / 2 {
                self.decode();
            }
        }
        if let Form::Codes(_) = self.form {
            self.start = self.different.len();
            self.different.extend(&dictionary.0);
        }
    }

    /// Appends the values at these places of the current dictionary.
    pub fn append_places<P: Copy + Default + Ord + Into<u32>>(&mut self, dictionary: &Dictionary, places: &[P]) {
        let last = places.iter().fold(P::default(), |last, place| last.max(*place));
        assert!(last.into() as usize <= dictionary.missing_place(), "places are those of the dictionary");
        match &mut self.form {
            Form::Codes(codes) => {
                assert_eq!(self.start + dictionary.0.len(), self.different.len(), "the dictionary was begun");
                reserve_first(codes, self.n_expected);
                let start = self.start as u16;
                codes.extend(places.iter().map(|place| start.wrapping_add((*place).into() as u16)));
            }
            Form::Values(values) => values.extend(places.iter().map(|place| dictionary.0[(*place).into() as usize])),
        }
        self.fill_exact();
    }

    /// Whether some values may differ from their f32.
    pub(super) fn has_exact(&self) -> bool {
        !self.exact.is_empty() || self.telling == Telling::Decimals
    }

    /// The unrounded values of all rows, if they were kept.
    pub(super) fn exact(&self) -> &[f64] {
        &self.exact
    }

    /// What is known about the values beyond their f32, in the given row order. `exact` has the unrounded values of all
    /// rows, if they were kept.
    pub(super) fn unrounded(&self, exact: Option<&[f64]>, order: &[u32]) -> Unrounded {
        match (exact, self.telling) {
            (Some(exact), _) => {
                let values = (0u32..).zip(order).map(|(place, row)| (place, exact[*row as usize]));
                Unrounded::Decimals(values.filter(|(_, value)| !is_told(*value)).collect())
            }
            (None, Telling::Decimals) => Unrounded::Decimals(Vec::new()),
            (None, Telling::Same | Telling::Integers) => Unrounded::Same,
        }
    }

    /// The value in one row, as precisely as it is known.
    pub(super) fn get_f64(&self, row: usize) -> f64 {
        self.exact.get(row).copied().unwrap_or_else(|| self.told(row))
    }

    /// The unrounded values of all rows, if they were kept.
    pub(super) fn take_exact(&mut self) -> Option<Vec<f64>> {
        Some(std::mem::take(&mut self.exact)).filter(|exact| !exact.is_empty())
    }

    /// The value in one row.
    pub(super) fn get(&self, row: usize) -> f32 {
        match &self.form {
            Form::Codes(codes) => self.different[usize::from(codes[row])],
            Form::Values(values) => values[row],
        }
    }

    /// The values or codes of all rows, and the value of each code.
    pub(super) fn into_parts(self) -> (Form, Vec<f32>) {
        (self.form, self.different)
    }

    /// The values in some rows, at most `room.len()` of them.
    pub(super) fn values_in<'a>(&'a self, rows: std::ops::Range<usize>, room: &'a mut [f32]) -> &'a [f32] {
        match &self.form {
            Form::Values(values) => &values[rows],
            Form::Codes(codes) => {
                let room = &mut room[..rows.len()];
                for (value, code) in room.iter_mut().zip(&codes[rows]) {
                    *value = self.different[usize::from(*code)];
                }
                room
            }
        }
    }

    /// Replaces codes by values.
    fn decode(&mut self) -> &mut Vec<f32> {
        if let Form::Codes(codes) = &self.form {
            let mut values = Vec::new();
            reserve_first(&mut values, self.n_expected);
            values.extend(codes.iter().map(|code| self.different[usize::from(*code)]));
            self.different = Vec::new();
            self.form = Form::Values(values);
        }
        match &mut self.form {
            Form::Values(values) => values,
            Form::Codes(_) => unreachable!("codes were just turned into values"),
        }
    }

    /// Merges codes of equal values: most dictionaries of a column have the same values.
    fn merge_equal(&mut self) {
        let Form::Codes(codes) = &mut self.form else { return };
        let mut order: Vec<u16> = (0..self.different.len()).map(|code| code as u16).collect();
        order.sort_unstable_by_key(|code| self.different[usize::from(*code)].to_bits());
        let mut kept: Vec<f32> = Vec::new();
        let mut new_code = vec![0u16; self.different.len()];
        for code in order {
            let value = self.different[usize::from(code)];
            if kept.last().is_none_or(|last| last.to_bits() != value.to_bits()) {
                kept.push(value);
            }
            new_code[usize::from(code)] = (kept.len() - 1) as u16;
        }
        for code in codes {
            *code = new_code[usize::from(*code)];
        }
        (self.start, self.different) = (kept.len(), kept);
    }
}

/// Reserves memory for all values at once, because growing would move them.
fn reserve_first<T>(values: &mut Vec<T>, n_expected: usize) {
    if values.capacity() == 0 {
        // If this fails, growing step by step may still succeed.
        let _ = values.try_reserve_exact(n_expected);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(column: &ColumnValues) -> Vec<u32> {
        (0..column.len()).map(|row| column.get(row).to_bits()).collect()
    }

    proptest! {
        /// Each row has the expected value, however places and values are mixed.
        #[test]
        fn places_and_values_mix(
            parts in prop::collection::vec((prop::collection::vec(-3i8..3, 0..5), 0usize..6), 0..6), room in 0usize..40,
        ) {
            let mut column = ColumnValues::expecting(room);
            let mut expected: Vec<u32> = Vec::new();
            for (numbers, n_places) in parts {
                let numbers: Vec<f32> = numbers.into_iter().map(f32::from).collect();
                if n_places == 5 {
                    column.append(|values| values.extend(&numbers));
                    expected.extend(numbers.iter().map(|value| value.to_bits()));
                    continue;
                }
                let dictionary = Dictionary::new(numbers.clone());
                column.begin_dictionary(&dictionary);
                let places: Vec<u32> = (0..n_places as u32).map(|place| place % (numbers.len() as u32 + 1)).collect();
                column.append_places(&dictionary, &places);
                let value = |place: &u32| numbers.get(*place as usize).copied().unwrap_or(f32::NAN).to_bits();
                expected.extend(places.iter().map(value));
            }
            prop_assert_eq!(all(&column), expected);
        }
    }

    /// Two dictionaries of 40,000 values are too many; a hundred equal ones of 2,000 are not.
    #[test]
    fn codes_are_left_where_there_are_too_many_values() {
        let dictionary = |from: usize, n: usize| Dictionary::new((from..from + n).map(|value| value as f32).collect());
        let mut column = ColumnValues::default();
        let mut expected = Vec::new();
        for (from, has_codes) in [(0, true), (0, false), (40_000, false), (0, false)] {
            let dictionary = dictionary(from, 40_000);
            column.begin_dictionary(&dictionary);
            column.append_places(&dictionary, &[7u32, 39_999, 40_000]);
            expected.extend([(from + 7) as f32, (from + 39_999) as f32, f32::NAN].map(f32::to_bits));
            assert_eq!(matches!(column.form, Form::Codes(_)), has_codes, "{from}");
            assert_eq!(all(&column), expected);
        }
        // One code per value, and one for a missing value.
        for (n, has_codes) in [(65_535, true), (65_536, false)] {
            let mut column = ColumnValues::default();
            let dictionary = dictionary(0, n);
            column.begin_dictionary(&dictionary);
            column.append_places(&dictionary, &[0, n as u32, n as u32 - 1]);
            assert_eq!(matches!(column.form, Form::Codes(_)), has_codes, "{n}");
            assert_eq!(all(&column), [0.0, f32::NAN, (n - 1) as f32].map(f32::to_bits));
        }
        let mut column = ColumnValues::default();
        for _ in 0..100 {
            let dictionary = dictionary(0, 2_000);
            column.begin_dictionary(&dictionary);
            column.append_places(&dictionary, &[1_999u16, 2_000, 5]);
        }
        assert!(matches!(column.form, Form::Codes(_)));
        assert_eq!(all(&column)[297..], [1_999.0, f32::NAN, 5.0].map(f32::to_bits));
    }

    #[test]
    fn values_stay_finite_and_can_be_taken_back() {
        let mut column = ColumnValues::default();
        let dictionary = Dictionary::new(vec![f32::INFINITY, 1.0]);
        column.begin_dictionary(&dictionary);
        column.append_places(&dictionary, &[0u16, 1]);
        column.append(|values| values.push(-f32::INFINITY));
        assert_eq!(all(&column), [f32::MAX, 1.0, -f32::MAX].map(f32::to_bits));
        column.truncate(1);
        assert_eq!((column.len(), column.is_empty(), column.get(0)), (1, false, f32::MAX));
    }

    #[test]
    fn what_f32_does_not_hold_is_kept() {
        let mut column = ColumnValues::default();
        let dictionary = Dictionary::new(vec![0.5]);
        column.begin_dictionary(&dictionary);
        column.append_places(&dictionary, &[0u16, 1]);
        column.append_f64(&[2.0, f64::NAN]);
        assert!(!column.has_exact());
        column.append_f64(&[16_777_217.0, 0.25]);
        column.append(|values| values.push(7.0));
        column.append_f64(&[0.1]);
        let exact: Vec<String> = (0..column.len()).map(|row| column.get_f64(row).to_string()).collect();
        assert_eq!(exact, ["0.5", "NaN", "2", "NaN", "16777217", "0.25", "7", "0.1"]);
        column.truncate(3);
        column.append_f64(&[0.3]);
        assert_eq!([2, 3].map(|row| column.get_f64(row)), [2.0, 0.3]);
    }
}
