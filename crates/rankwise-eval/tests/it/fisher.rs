//! Compares Fisher's test with enumeration, and tests its invariances.

use proptest::prelude::*;
use rankwise_eval::{QueryValues, Tail, fisher, wilcoxon};

use crate::{on_threads, sample};

/// The share of sign assignments that are at least as extreme, in exact integers.
fn by_enumeration(terms: &[i64], tail: Tail) -> f64 {
    let size = |sum: i64| match tail {
        Tail::Both => sum.abs(),
        Tail::Upper => sum,
        Tail::Lower => -sum,
    };
    let observed: i64 = terms.iter().sum();
    let count = (0u32..1 << terms.len())
        .filter(|signs| {
            let signed =
                terms.iter().enumerate().map(|(place, term)| if signs >> place & 1 == 1 { *term } else { -term });
            size(signed.sum()) >= size(observed)
        })
        .count();
    count as f64 / f64::from(1u32 << terms.len())
}

/// The same by counting the number of ways to reach each sum, which works for more terms than enumeration.
fn by_counting(terms: &[i64]) -> f64 {
    let reach: i64 = terms.iter().map(|term| term.abs()).sum();
    let mut ways = vec![0.0f64; 2 * reach as usize + 1];
    ways[reach as usize] = 1.0;
    for term in terms {
        let at =
            |ways: &[f64], sum: i64| usize::try_from(sum).ok().and_then(|sum| ways.get(sum).copied()).unwrap_or(0.0);
        ways = (0..ways.len() as i64).map(|sum| at(&ways, sum - term) / 2.0 + at(&ways, sum + term) / 2.0).collect();
    }
    let observed = terms.iter().sum::<i64>().abs();
    (-reach..).zip(&ways).filter(|(sum, _)| sum.abs() >= observed).map(|(_, share)| share).sum()
}

/// (numerators of differences, weights, denominator): sevenths and tenths are not exact in f64, but their sums still
/// tie.
fn cases() -> impl Strategy<Value = (Vec<i64>, Vec<i64>, f64)> {
    (1usize..12).prop_flat_map(|n| {
        let numerators = prop::collection::vec(-6i64..=9, n);
        let weights = prop::collection::vec(1i64..=3, n);
        (numerators, weights, prop::sample::select(vec![1.0, 3.0, 7.0, 10.0, 1e6]))
    })
}

fn weighted(numerators: &[i64], weights: &[i64], denominator: f64) -> QueryValues {
    let values: Vec<Option<f64>> = numerators.iter().map(|numerator| Some(*numerator as f64 / denominator)).collect();
    QueryValues::new(&values, &weights.iter().map(|weight| *weight as f64).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn small_samples_are_enumerated((numerators, weights, denominator) in cases()) {
        let sample = weighted(&numerators, &weights, denominator);
        let terms: Vec<i64> = numerators.iter().zip(&weights).map(|(a, b)| a * b).collect();
        for tail in [Tail::Both, Tail::Upper, Tail::Lower] {
            prop_assert_eq!(fisher(&sample, tail, 10, 0), by_enumeration(&terms, tail), "{:?}", tail);
        }
        prop_assert_eq!(by_counting(&terms), by_enumeration(&terms, Tail::Both));
    }

    /// Random signs are as close to the truth as the number of draws allows.
    #[test]
    fn drawn_signs_agree_with_counting(numerators in prop::collection::vec(-9i64..=12, 30..200), seed: u64) {
        let exact = by_counting(&numerators);
        let drawn = fisher(&weighted(&numerators, &vec![1; numerators.len()], 10.0), Tail::Both, 5_000, seed);
        let error = (exact * (1.0 - exact) / 5_000.0).sqrt();
        prop_assert!((drawn - exact).abs() < 5.0 * error + 4e-4, "{} for {}", drawn, exact);
    }

    #[test]
    fn swapped_systems_have_the_same_p_value(values in prop::collection::vec(-1.0f64..1.2, 1..60)) {
        let (forth, back) = (sample(&values), sample(&values.iter().map(|value| -value).collect::<Vec<_>>()));
        prop_assert_eq!(fisher(&forth, Tail::Both, 999, 3), fisher(&back, Tail::Both, 999, 3));
        prop_assert_eq!(wilcoxon(&forth, Tail::Both), wilcoxon(&back, Tail::Both));
        prop_assert_eq!(forth.mean().unwrap(), -back.mean().unwrap());
    }

    /// If all queries have the same weight, its size does not matter, nor does the unit of the values.
    #[test]
    fn units_play_no_part(values in prop::collection::vec(-1.0f64..1.2, 1..60), exponent in -30i32..30) {
        let unit = 2f64.powi(exponent);
        let scaled: Vec<Option<f64>> = values.iter().map(|value| Some(value * unit)).collect();
        let scaled = QueryValues::new(&scaled, &vec![unit; values.len()]);
        prop_assert_eq!(fisher(&sample(&values), Tail::Upper, 999, 3), fisher(&scaled, Tail::Upper, 999, 3));
    }
}

#[test]
fn threads_and_seeds() {
    let values: Vec<f64> = (0..700).map(|query| f64::from(query * 37 % 101) / 100.0 - 0.48).collect();
    let differences = sample(&values);
    let p = |threads, seed| on_threads(threads, || fisher(&differences, Tail::Both, 10_007, seed));
    let one = p(1, 4);
    assert_eq!((p(2, 4), p(8, 4)), (one, one));
    assert_ne!(p(2, 5), one);
    // Random p-values are never 0.
    let certain = vec![1.0; 64];
    assert_eq!(fisher(&sample(&certain), Tail::Both, 999, 0), 1.0 / 1000.0);
}

#[test]
fn the_smallest_cases_are_defined() {
    for p in [fisher, |sample: &QueryValues, tail, _, _| wilcoxon(sample, tail)] {
        assert_eq!((p(&sample(&[0.0; 40]), Tail::Both, 9, 0), p(&sample(&[0.0]), Tail::Upper, 9, 0)), (1.0, 1.0));
        assert_eq!((p(&sample(&[0.3]), Tail::Both, 9, 0), p(&sample(&[-0.3]), Tail::Both, 9, 0)), (1.0, 1.0));
        assert_eq!((p(&sample(&[0.3]), Tail::Upper, 9, 0), p(&sample(&[-0.3]), Tail::Upper, 9, 0)), (0.5, 1.0));
        assert_eq!(p(&sample(&[]), Tail::Both, 9, 0), 1.0);
    }
}
