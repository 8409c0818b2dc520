//! Reference values from scipy 1.17.1: `ttest_1samp`, `wilcoxon` (exact without ties up to 50 differences, otherwise
//! approximate with continuity correction; zeros dropped), and `permutation_test` over all sign assignments.

// The digits that the other program printed.
#![allow(clippy::unreadable_literal)]

use rankwise_eval::{Tail, fisher, paired_t, wilcoxon};

use crate::sample;

struct Golden {
    name: &'static str,
    differences: &'static [f64],
    /// Two-sided, and one-sided for "greater".
    t: (f64, f64),
    wilcoxon: (f64, f64),
    fisher: Option<(f64, f64)>,
}

const GOLDEN: &[Golden] = &[
    Golden {
        name: "small",
        differences: &[-0.702, -1.224, -0.148, 0.52, 1.236, 0.21, -0.453, -0.685],
        t: (0.5930920525683286, 0.7034539737158356),
        wilcoxon: (0.640625, 0.7265625),
        fisher: Some((0.59375, 0.70703125)),
    },
    Golden {
        name: "no ties, 30",
        differences: &[
            1.048746, 1.934783, 0.572769, -0.933329, -0.658265, 1.900019, 0.502882, -1.432135, 0.216304, -0.863226,
            -0.329288, -0.188006, -0.413313, 0.853378, 0.236914, -0.289431, 0.709638, 1.129855, -1.343023, 0.04327,
            -0.680747, 0.126845, -0.989419, 0.32069, 0.262114, -0.004338, -0.747927, -0.09619, -0.791329, -1.055209,
        ],
        t: (0.8419098020541425, 0.5790450989729288),
        wilcoxon: (0.6554384250193834, 0.6795872980728745),
        fisher: None,
    },
    Golden {
        name: "one large",
        differences: &[0.1, 0.2, 0.3, -0.15, 5.0, 0.05],
        t: (0.3139052610648897, 0.15695263053244485),
        wilcoxon: (0.15625, 0.078125),
        fisher: Some((0.15625, 0.078125)),
    },
    Golden {
        name: "zeros and ties",
        differences: &[0.0, 0.25, 0.25, -0.25, 0.5, 0.0, 0.5, 0.75, -0.5, 1.0, 0.125, 0.0],
        t: (0.09869587890299933, 0.049347939451499664),
        wilcoxon: (0.12089450329687632, 0.06044725164843816),
        fisher: Some((0.12109375, 0.060546875)),
    },
    Golden {
        name: "sixty, ties",
        differences: &[
            -0.375, -0.3125, -0.1875, 0.375, 0.25, 0.0625, -0.3125, 0.5, 0.5, -0.25, -0.4375, -0.125, -0.3125, 0.5,
            0.125, 0.125, -0.125, 0.125, 0.75, -0.25, 0.5, -0.5, -0.125, 0.6875, 0.625, -0.4375, 0.5625, 0.5625,
            0.0625, -0.0625, 0.75, 0.6875, 0.375, 0.0, -0.25, 0.6875, -0.1875, 0.1875, 0.375, -0.1875, -0.125, 0.4375,
            -0.25, 0.375, 0.6875, 0.375, 0.3125, 0.0625, 0.75, -0.25, -0.0625, 0.3125, 0.3125, -0.375, -0.3125, 0.375,
            0.5625, 0.3125, 0.6875, -0.0625,
        ],
        t: (0.002960042118308022, 0.001480021059154011),
        wilcoxon: (0.00438291872432911, 0.002191459362164555),
        fisher: None,
    },
    Golden {
        name: "sixty, skewed",
        differences: &[
            1.65816, -0.67991, 0.08734, 1.38044, -0.59667, 2.11298, -0.1789, 0.05358, 1.47039, 2.49977, 0.81154,
            -0.67952, 0.85654, 2.87398, -0.00639, 0.09669, -0.09725, 0.86185, 0.99783, 0.14837, -0.7994, 0.15489,
            -0.3727, 2.50071, -0.12298, 0.02666, 0.04381, 0.95129, -0.64054, -0.17287, -0.70236, 0.3499, 2.33225,
            -0.54481, -0.00277, -0.00534, -0.55589, 0.78846, -0.2752, 0.22508, 0.05027, 1.23876, -0.77232, -0.7973,
            -0.52965, -0.3421, 4.6593, 0.68616, 0.07075, 0.85951, -0.09515, 0.92347, -0.5268, 0.55572, -0.48555,
            0.0569, 0.85138, 0.365, 0.38879, -0.34409,
        ],
        t: (0.005306299782180824, 0.002653149891090412),
        wilcoxon: (0.025466857653172113, 0.012733428826586056),
        fisher: None,
    },
    Golden {
        name: "two",
        differences: &[0.5, 0.25],
        t: (0.20483276469913345, 0.10241638234956672),
        wilcoxon: (0.5, 0.25),
        fisher: Some((0.5, 0.25)),
    },
    Golden {
        name: "losing",
        differences: &[-0.5, -0.25, -0.125, 0.0625, -1.0],
        t: (0.11972991099031881, 0.9401350445048406),
        wilcoxon: (0.125, 0.96875),
        fisher: Some((0.125, 0.96875)),
    },
];

#[test]
fn p_values_agree_with_scipy() {
    for golden in GOLDEN {
        let differences = sample(golden.differences);
        let close = |what: &str, found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-10 * expected, "{}, {what}: {found} for {expected}", golden.name);
        };
        close("t", paired_t(&differences, Tail::Both).unwrap(), golden.t.0);
        close("t, one-sided", paired_t(&differences, Tail::Upper).unwrap(), golden.t.1);
        close("wilcoxon", wilcoxon(&differences, Tail::Both), golden.wilcoxon.0);
        close("wilcoxon, one-sided", wilcoxon(&differences, Tail::Upper), golden.wilcoxon.1);
        if let Some((both, upper)) = golden.fisher {
            close("fisher", fisher(&differences, Tail::Both, 1, 0), both);
            close("fisher, one-sided", fisher(&differences, Tail::Upper, 1, 0), upper);
        }
    }
}

#[test]
fn many_differences_too() {
    let values: Vec<f64> = (0..13_800).map(|query| if query < 7000 { 1.0 } else { -1.0 }).collect();
    let found = paired_t(&sample(&values), Tail::Both).unwrap();
    assert!((found - 0.08865981739543971).abs() < 1e-11, "{found}");
}
