//! Holm's correction for multiple comparisons.

/// The p-values, increased so that the probability of even one false finding stays below the significance level. In
/// ascending order, the k-th smallest of m is multiplied by m - k + 1; results never decrease and are at most 1.
/// Entries without a p-value do not count.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(f64, usize)> =
        p_values.iter().enumerate().filter_map(|(place, p)| p.map(|p| (p, place))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut corrected = vec![None; p_values.len()];
    let mut least = 0.0f64;
    for (rank, (p, place)) in order.iter().enumerate() {
        least = least.max(p * (order.len() - rank) as f64).min(1.0);
        corrected[*place] = Some(least);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_in_order_of_size() {
        let found = holm(&[Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)]);
        let expected = [Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)];
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.zip(expected).is_none_or(|(a, b)| (a - b).abs() < 1e-15), "{found:?} for {expected:?}");
            assert_eq!(found.is_some(), expected.is_some());
        }
        assert_eq!(holm(&[Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
        assert_eq!(holm(&[Some(0.3)]), [Some(0.3)]);
        assert_eq!(holm(&[]), []);
    }
}
