//! The only sums of floats across queries. They run in canonical order, whichever thread computed the terms. They carry
//! the rounding error along (Neumaier), so that all printed digits of a mean over a million queries are right.

/// The sum of the terms, in their order.
pub fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut carried) = (0.0f64, 0.0f64);
    for term in terms {
        let next = total + term;
        // The rounding error of the addition is in the low bits of the smaller operand.
        carried += if total.abs() >= term.abs() { (total - next) + term } else { (term - next) + total };
        total = next;
    }
    // An infinite sum has no rounding error to add back.
    if total.is_finite() { total + carried } else { total }
}

/// The mean of (value, weight) pairs; `None` if the weights sum to zero.
pub fn weighted_mean(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let weights = sum(pairs.clone().map(|(_, weight)| weight));
    (weights > 0.0).then(|| sum(pairs.map(|(value, weight)| value * weight)) / weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_large_ones() {
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16]), 2.0);
        assert_eq!(sum([]), 0.0);
        assert_eq!(sum([f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn mean_is_weighted_and_refuses_nothing_but_zero_weight() {
        assert_eq!(weighted_mean([(1.0, 3.0), (0.0, 1.0)].into_iter()), Some(0.75));
        assert_eq!(weighted_mean([(1.0, 0.0)].into_iter()), None);
        assert_eq!(weighted_mean([].into_iter()), None);
    }
}
