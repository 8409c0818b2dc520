//! One number per query, with the query weights: the values of a system, or the differences of two.

use rankwise_data::reduce;

/// Values of queries in canonical order. Queries without a value or with weight 0 are omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryValues {
    queries: Vec<usize>,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl QueryValues {
    /// The existing values of queries with positive weight. Values and weights must be finite, weights not negative.
    pub fn new(values: &[Option<f64>], weights: &[f64]) -> Self {
        assert_eq!(values.len(), weights.len(), "each query has a weight");
        let mut sample = Self { queries: Vec::new(), values: Vec::new(), weights: Vec::new() };
        // So that no product with a value overflows.
        let heaviest = power_of_two(weights);
        for (query, (value, weight)) in values.iter().zip(weights).enumerate() {
            if let (Some(value), true) = (value, *weight > 0.0) {
                sample.queries.push(query);
                sample.values.push(*value);
                sample.weights.push(*weight / heaviest);
            }
        }
        sample
    }

    /// The first system's values minus the second's, for queries with both.
    pub fn of_differences(first: &[Option<f64>], second: &[Option<f64>], weights: &[f64]) -> Self {
        assert_eq!(first.len(), second.len(), "both systems answer the same queries");
        let differences: Vec<Option<f64>> = first.iter().zip(second).map(|(a, b)| Some((*a)? - (*b)?)).collect();
        Self::new(&differences, weights)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The index of each value in the list that the sample was made from.
    pub fn queries(&self) -> &[usize] {
        &self.queries
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The weight of each value, above 0, relative to the others: about 1 for the largest.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weighted mean, as in metrics; `None` if there is no value.
    pub fn mean(&self) -> Option<f64> {
        reduce::weighted_mean(self.values.iter().copied().zip(self.weights.iter().copied()))
    }

    /// The weighted standard deviation: sqrt(n/(n-1) sum w (v - mean)^2 / sum w), the usual one if all weights are
    /// equal. `None` for fewer than two values.
    pub fn deviation(&self) -> Option<f64> {
        let weight = reduce::sum(self.weights.iter().copied());
        self.spread(|weight| weight, weight)
    }

    /// The standard error of the mean: sqrt(n/(n-1) sum (w (v - mean))^2) / sum w, or the deviation over sqrt(n) if all
    /// weights are equal. `None` for fewer than two values.
    pub fn standard_error(&self) -> Option<f64> {
        let weight = reduce::sum(self.weights.iter().copied());
        self.spread(|weight| weight * weight, weight * weight)
    }

    fn spread(&self, factor: impl Fn(f64) -> f64, total: f64) -> Option<f64> {
        let mean = self.mean().filter(|_| self.len() >= 2)?;
        // The mean of equal values may differ from them by rounding.
        if self.values.windows(2).all(|pair| pair[0] == pair[1]) {
            return Some(0.0);
        }
        // Squares of the values themselves could overflow or underflow.
        let scale = self.scale();
        let squares = self.values.iter().zip(&self.weights).map(|(value, weight)| {
            let distance = (value - mean) / scale;
            factor(*weight) * (distance * distance)
        });
        let n = self.len() as f64;
        Some(libm::sqrt(reduce::sum(squares) / total * (n / (n - 1.0))) * scale)
    }

    /// A power of two about as large as the largest value.
    pub(crate) fn scale(&self) -> f64 {
        power_of_two(&self.values)
    }
}

/// A power of two about as large as the largest number. Dividing by it is exact.
fn power_of_two(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let (_, exponent) = libm::frexp(largest);
    libm::ldexp(1.0, exponent.clamp(-1000, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_what_has_no_value_or_no_weight() {
        let first = [Some(1.0), None, Some(3.0), Some(5.0), Some(2.0)];
        let second = [Some(0.5), Some(1.0), None, Some(1.0), Some(1.0)];
        let sample = QueryValues::of_differences(&first, &second, &[1.0, 1.0, 1.0, 0.0, 3.0]);
        assert_eq!((sample.queries(), sample.values()), (&[0, 4][..], &[0.5, 1.0][..]));
        assert_eq!(sample.mean(), Some(3.5 / 4.0));
        assert!(QueryValues::new(&[None], &[1.0]).is_empty());
    }

    #[test]
    fn spreads_are_the_usual_ones_for_equal_weights() {
        for weight in [1.0, 0.25] {
            let sample = QueryValues::new(&[1.0, 2.0, 4.0, 9.0].map(Some), &[weight; 4]);
            let deviation = libm::sqrt(38.0 / 3.0);
            assert!((sample.deviation().unwrap() - deviation).abs() < 1e-14);
            assert!((sample.standard_error().unwrap() - deviation / 2.0).abs() < 1e-14);
        }
        assert_eq!(QueryValues::new(&[Some(1.0)], &[1.0]).deviation(), None);
    }

    /// A weight affects the mean and the error; a query with weight 0 has no effect.
    #[test]
    fn weights_count() {
        let sample = QueryValues::new(&[Some(1.0), Some(0.0), Some(7.0)], &[3.0, 1.0, 0.0]);
        assert_eq!(sample.mean(), Some(0.75));
        // Distances 1/4 and 3/4: deviation sqrt(2 (3/16 + 9/16) / 4), error sqrt(2 (9/16 + 9/16)) / 4.
        assert!((sample.deviation().unwrap() - libm::sqrt(0.375)).abs() < 1e-15);
        assert!((sample.standard_error().unwrap() - 0.375).abs() < 1e-15);
    }

    #[test]
    fn huge_and_tiny_values_have_finite_spreads() {
        for scale in [1e290, 1e-290] {
            let sample = QueryValues::new(&[scale, -scale, 0.0].map(Some), &[1.0; 3]);
            assert!((sample.deviation().unwrap() / scale - 1.0).abs() < 1e-14);
        }
        let heavy = QueryValues::new(&[1e290, 3e290].map(Some), &[3e38, 1e38]);
        assert!((heavy.mean().unwrap() / 1.5e290 - 1.0).abs() < 1e-14);
    }
}
