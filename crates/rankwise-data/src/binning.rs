//! Chooses the bins of a feature.
//!
//! A bin holds the values up to and including its upper bound. So `bin(v) <= b` is equivalent to `v <= upper[b]`, and a
//! tree grown on bins can score values. Missing values have their own bin, after the value bins.

mod distinct;
mod lookup;
mod ordered;

use rankwise_params::{CrossCheck, Range, param_group};

param_group! {
    /// How feature values are binned.
    pub BinningSpec => BinningParams, SetBinning, "Data" {
        /// Maximum number of bins per feature, plus one for missing values. Features with at most this many distinct values get
        /// one bin per value.
        max_bin: usize = 255, Range::closed(2.0, 255.0), ["max_bins", "border_count"];
        /// Number of rows to sample for choosing the bins; the sample does not depend on the order of rows.
        bin_construct_sample_cnt: usize = 200_000, Range::at_least(1.0), ["subsample_for_bin"];
    }
}

impl CrossCheck for BinningSpec {}

/// A value that can be binned: f32, or f64 for features with different values that are equal as f32.
pub(crate) trait BinValue: Copy + PartialOrd + Into<f64> + radsort::Key {
    const MAX: Self;

    fn is_missing(self) -> bool;

    /// Adds +0, which turns -0 into 0.
    fn plus_zero(self) -> Self;

    /// The largest number that is not above the midpoint of `self` and the larger `next`.
    fn middle(self, next: Self) -> Self;

    /// The distinct values, ascending, with their counts. There is no NaN and no -0.
    fn distinct(values: &mut [Self]) -> Vec<(Self, usize)>;
}

impl BinValue for f32 {
    const MAX: Self = f32::MAX;

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn plus_zero(self) -> Self {
        self + 0.0
    }

    fn middle(self, next: Self) -> Self {
        let middle = f64::midpoint(f64::from(self), f64::from(next));
        let rounded = middle as f32;
        if f64::from(rounded) > middle { rounded.next_down() } else { rounded }
    }

    fn distinct(values: &mut [Self]) -> Vec<(Self, usize)> {
        distinct::distinct_f32(values)
    }
}

impl BinValue for f64 {
    const MAX: Self = f64::MAX;

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn plus_zero(self) -> Self {
        self + 0.0
    }

    fn middle(self, next: Self) -> Self {
        let middle = f64::midpoint(self, next);
        // If there is no number in between, the midpoint rounds to one of the two.
        if middle < next { middle } else { self }
    }

    fn distinct(values: &mut [Self]) -> Vec<(Self, usize)> {
        radsort::sort(values);
        values.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect()
    }
}

/// The bins of one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureBins {
    /// Upper bounds of the value bins, ascending. The last is [`f32::MAX`], or [`f64::MAX`] for f64 values. Empty if no
    /// value was seen.
    upper: Vec<f64>,
    /// Whether values are compared as f64. Otherwise all bounds are f32.
    is_f64: bool,
    /// Whether a missing value was seen when the bins were chosen.
    has_missing: bool,
}

impl FeatureBins {
    /// Cuts the values into at most `max_bin` bins. The order of `values` does not matter; NaN is missing.
    pub fn from_values(values: Vec<f32>, max_bin: usize) -> Self {
        Self::of_values(values, max_bin)
    }

    /// [`Self::from_values`] for f32 or f64.
    pub(crate) fn of_values<T: BinValue>(mut values: Vec<T>, max_bin: usize) -> Self {
        let n_all = values.len();
        values.retain(|value| !value.is_missing());
        let has_missing = values.len() < n_all;
        for value in &mut values {
            *value = value.plus_zero();
        }
        Self::from_distinct(&T::distinct(&mut values), has_missing, max_bin)
    }

    /// The bins of values with their counts, in any order. Values may repeat, and counts may be 0.
    pub(crate) fn from_counts<T: BinValue>(mut counts: Vec<(T, usize)>, max_bin: usize) -> Self {
        counts.retain(|(_, count)| *count > 0);
        let n_all = counts.len();
        counts.retain(|(value, _)| !value.is_missing());
        let has_missing = counts.len() < n_all;
        for (value, _) in &mut counts {
            *value = value.plus_zero();
        }
        radsort::sort_by_key(&mut counts, |(value, _)| *value);
        counts.dedup_by(|next, kept| {
            let is_equal = next.0 == kept.0;
            kept.1 += if is_equal { next.1 } else { 0 };
            is_equal
        });
        Self::from_distinct(&counts, has_missing, max_bin)
    }

    /// From distinct values, ascending, with their counts.
    fn from_distinct<T: BinValue>(distinct: &[(T, usize)], has_missing: bool, max_bin: usize) -> Self {
        let upper: Vec<T> = if distinct.len() <= max_bin {
            (0..distinct.len()).map(|idx| upper_bound(distinct, idx)).collect()
        } else {
            equal_counts(distinct, max_bin)
        };
        let is_f64 = size_of::<T>() == size_of::<f64>();
        Self { upper: upper.into_iter().map(Into::into).collect(), is_f64, has_missing }
    }

    /// Bins with these upper bounds, for f32 or f64 values. `None` if there are too many bounds, or if they do not
    /// ascend to the largest number.
    pub(crate) fn from_upper(upper: Vec<f64>, is_f64: bool, has_missing: bool) -> Option<Self> {
        let largest = if is_f64 { f64::MAX } else { f32::MAX.into() };
        let is_whole = upper.last().is_none_or(|last| *last == largest);
        let is_bound = |bound: &f64| bound.is_finite() && (is_f64 || f64::from(*bound as f32) == *bound);
        let ascends = upper.is_sorted_by(|a, b| a < b) && upper.iter().all(is_bound);
        (is_whole && ascends && u8::try_from(upper.len()).is_ok()).then_some(Self { upper, is_f64, has_missing })
    }

    /// The upper bounds of the value bins.
    pub(crate) fn uppers(&self) -> &[f64] {
        &self.upper
    }

    /// Whether values are compared as f64, without rounding to f32.
    pub fn is_f64(&self) -> bool {
        self.is_f64
    }

    /// The number of value bins. The bin of missing values has this index.
    pub fn n_value_bins(&self) -> usize {
        self.upper.len()
    }

    /// The bin of missing values.
    pub fn missing_bin(&self) -> u8 {
        self.upper.len() as u8
    }

    /// Whether missing values were seen.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Whether all rows are in one bin, so that no split can separate them.
    pub fn is_constant(&self) -> bool {
        self.upper.len() + usize::from(self.has_missing) <= 1
    }

    /// The largest value of a bin.
    pub fn upper(&self, bin: u8) -> f64 {
        self.upper[usize::from(bin)]
    }

    /// Appends the bins of many values.
    pub(crate) fn bin_all(&self, values: &[f32], out: &mut Vec<u8>) {
        lookup::Lookup::new(self).bin_all(values, out);
    }

    /// The bin of a value that is an f32.
    pub fn bin(&self, value: f32) -> u8 {
        self.bin_f64(value.into())
    }

    /// The bin of an unrounded value. Infinite values exceed no bound.
    pub fn bin_f64(&self, value: f64) -> u8 {
        let value = value.clamp(-f64::MAX, f64::MAX);
        if value.is_nan() { self.missing_bin() } else { self.upper.partition_point(|upper| *upper < value) as u8 }
    }
}

/// The bound between `distinct[idx]` and the next value: the largest number that is not above their midpoint. The lower
/// value is at most the bound, the higher one is above it.
fn upper_bound<T: BinValue>(distinct: &[(T, usize)], idx: usize) -> T {
    let Some((next, _)) = distinct.get(idx + 1) else { return T::MAX };
    let value = distinct[idx].0;
    let floor = value.middle(*next);
    // A bound of -0 would be printed as such; write 0 instead.
    if floor > value { floor.plus_zero() } else { value.plus_zero() }
}

/// Bins of about equal counts. A value that fills an average bin by itself gets its own bin. The others share the
/// remaining bins; their average is recomputed after each bin, so that no bin is wasted.
fn equal_counts<T: BinValue>(distinct: &[(T, usize)], max_bin: usize) -> Vec<T> {
    let total: usize = distinct.iter().map(|(_, count)| count).sum();
    let is_large = |idx: usize| distinct[idx].1 * max_bin >= total;
    let n_large = (0..distinct.len()).filter(|idx| is_large(*idx)).count();
    let mut small_left: usize = distinct.iter().map(|(_, count)| count).filter(|count| *count * max_bin < total).sum();
    let mut small_bins = max_bin - n_large;

    let mut upper = Vec::with_capacity(max_bin);
    let mut filled = 0;
    for idx in 0..distinct.len() - 1 {
        let closes = if is_large(idx) {
            true
        } else {
            filled += distinct[idx].1;
            let is_full = filled * small_bins >= small_left;
            // Separate a large value from the values below it, if that leaves a bin for those above.
            is_full || (is_large(idx + 1) && small_bins > 1)
        };
        if closes {
            upper.push(upper_bound(distinct, idx));
            if upper.len() == max_bin - 1 {
                break;
            }
            small_bins -= usize::from(filled > 0 && small_bins > 1);
            small_left -= filled;
            filled = 0;
        }
    }
    upper.push(T::MAX);
    upper
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bin of a value by testing every bound.
    fn slow_bin(bins: &FeatureBins, value: f32) -> usize {
        (0..bins.n_value_bins()).find(|bin| f64::from(value) <= bins.upper(*bin as u8)).unwrap_or(bins.n_value_bins())
    }

    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            4 => (-20i8..20).prop_map(f32::from),
            2 => -1.0f32..1.0,
            // Many bounds close to each other, with larger values.
            2 => (0u32..200).prop_map(|n| f32::from_bits(1.0f32.to_bits() + 5 * n)),
            1 => prop_oneof![Just(f32::NAN), Just(-0.0), Just(f32::MAX), Just(-f32::MAX), Just(f32::MIN_POSITIVE)],
            1 => any::<u32>().prop_map(|bits| f32::from_bits(bits).clamp(-f32::MAX, f32::MAX)),
        ]
    }

    proptest! {
        /// Compares with sorting: bins follow the order of the values, no bin is empty, their number is within the
        /// limit, and a few values each get their own bin.
        #[test]
        fn bins_agree_with_sorting(values in prop::collection::vec(value(), 1..400), max_bin in 2usize..=255) {
            let bins = FeatureBins::from_values(values.clone(), max_bin);
            let mut sorted: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            sorted.sort_by(f32::total_cmp);
            let mut distinct = sorted.clone();
            distinct.dedup();

            prop_assert_eq!(bins.has_missing(), values.iter().any(|value| value.is_nan()));
            prop_assert!(bins.n_value_bins() <= max_bin);
            for value in &values {
                if !value.is_nan() {
                    prop_assert_eq!(usize::from(bins.bin(*value)), slow_bin(&bins, *value));
                }
            }
            let mut together = Vec::new();
            bins.bin_all(&values, &mut together);
            prop_assert_eq!(together, values.iter().map(|value| bins.bin(*value)).collect::<Vec<_>>());
            for pair in sorted.windows(2) {
                prop_assert!(bins.bin(pair[0]) <= bins.bin(pair[1]));
            }
            if distinct.len() <= max_bin {
                prop_assert_eq!(bins.n_value_bins(), distinct.len());
                for (rank, value) in distinct.iter().enumerate() {
                    prop_assert_eq!(usize::from(bins.bin(*value)), rank);
                }
            } else {
                // All bins are used if there are enough distinct values.
                let mut used: Vec<u8> = sorted.iter().map(|value| bins.bin(*value)).collect();
                used.dedup();
                prop_assert_eq!(used.len(), bins.n_value_bins());
                prop_assert!(bins.n_value_bins() >= 2);
            }
        }

        /// The order in which values arrive does not matter.
        #[test]
        fn order_does_not_matter(values in prop::collection::vec(value(), 1..200), max_bin in 2usize..20) {
            let mut reversed = values.clone();
            reversed.reverse();
            prop_assert_eq!(FeatureBins::from_values(values, max_bin), FeatureBins::from_values(reversed, max_bin));
        }

        /// Values counted beforehand, some of them in several parts, give the same bins.
        #[test]
        fn counts_say_what_values_say(
            counted in prop::collection::vec((value(), 0usize..4), 1..200), max_bin in 2usize..20,
        ) {
            let values = counted.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count)).collect();
            prop_assert_eq!(FeatureBins::from_counts(counted, max_bin), FeatureBins::from_values(values, max_bin));
        }

        /// Without frequent values, no bin holds more than twice its share.
        #[test]
        fn counts_are_about_equal(n in 300usize..2000, max_bin in 2usize..60) {
            let bins = FeatureBins::from_values((0..n).map(|idx| idx as f32).collect(), max_bin);
            prop_assert_eq!(bins.n_value_bins(), max_bin);
            let mut counts = vec![0usize; max_bin];
            (0..n).for_each(|idx| counts[usize::from(bins.bin(idx as f32))] += 1);
            prop_assert!(counts.iter().all(|count| *count <= 2 * n.div_ceil(max_bin) && *count > 0), "{:?}", counts);
        }
    }

    #[test]
    fn a_frequent_value_stands_alone() {
        let mut values = vec![0.0f32; 5000];
        values.extend((0..1000).map(|idx| idx as f32 - 300.0));
        let bins = FeatureBins::from_values(values, 16);
        assert_ne!(bins.bin(0.0), bins.bin(-1.0));
        assert_ne!(bins.bin(0.0), bins.bin(1.0));
        assert!(bins.n_value_bins() >= 14, "{bins:?}");
    }

    #[test]
    fn neighbouring_floats_are_told_apart() {
        let a = 0.1f32;
        let bins = FeatureBins::from_values(vec![a, a.next_up(), -0.0, f32::from_bits(1)], 255);
        assert_eq!([-0.0, f32::from_bits(1), a, a.next_up()].map(|value| bins.bin(value)), [0, 1, 2, 3]);
    }

    #[test]
    fn only_missing_values_make_a_constant_feature() {
        let bins = FeatureBins::from_values(vec![f32::NAN; 3], 255);
        assert!(bins.is_constant() && bins.bin(f32::NAN) == 0 && bins.n_value_bins() == 0);
        assert!(!FeatureBins::from_values(vec![f32::NAN, 1.0], 255).is_constant());
    }
}
