//! What a leaf contributes to the score of a document, feature by feature.
//!
//! A path has `d` features. For a document, feature `i` either passes all its tests on the path (`o_i = 1`) or not (`o_i = 0`);
//! if its value is not known, it passes with probability `z_i`, the share of training rows. With the features of a set known, the leaf is
//! expected to add its value times the product of `o_i` over the set and of `z_i` over the others. The Shapley value of feature
//! `i` in this game is
//!
//! ```text
//! value * (o_i - z_i) * integral from 0 to 1 of the product over j != i of (t o_j + (1 - t) z_j) dt
//! ```
//!
//! The integrand is a polynomial of degree `d - 1` in `t`, so that a quadrature rule with `d / 2` points is exact. The interaction of two
//! features, which is what both add together beyond what each adds without the other, has both factors before the integral, and neither in the product.
//! All of it depends on the document only through the bits `o`, the *pattern*: values are computed once for each pattern that occurs.

use std::collections::HashMap;

use super::quadrature::{Node, nodes};

/// Bits, one for each feature of a path.
pub(crate) type Pattern = u64;

/// The most features of a path.
pub(crate) const MAX_FEATURES: usize = Pattern::BITS as usize;

/// Patterns of paths with up to this many features are looked up in an array.
const MAX_INDEXED: usize = 12;

/// A leaf and the path to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    /// The value of the leaf.
    pub(crate) value: f64,
    /// By feature of the path, the share of training rows that pass its tests.
    pub(crate) shares: &'a [f64],
}

/// What is computed for a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Wanted {
    /// A value for each feature.
    #[default]
    Contributions,
    /// A value for each pair of features: first with second, first with third, ..., second with third, ...
    Interactions,
}

impl Wanted {
    pub(crate) fn n_values(self, n_features: usize) -> usize {
        match self {
            Self::Contributions => n_features,
            Self::Interactions => n_features * n_features.saturating_sub(1) / 2,
        }
    }
}

/// The values of one leaf by pattern, computed on first use.
#[derive(Debug, Default)]
pub(crate) struct Table {
    wanted: Wanted,
    /// The quadrature rule for each number of points.
    rules: Vec<Vec<Node>>,
    /// By pattern, the number of the leaf that the entry belongs to, and the place of its values.
    indexed: Vec<(u32, u32)>,
    hashed: HashMap<Pattern, u32>,
    /// The number of this leaf.
    leaf: u32,
    /// The values of the patterns seen.
    values: Vec<f64>,
    /// Products of the factors of the features before each one.
    before: Vec<f64>,
}

impl Table {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Starts another leaf.
    pub(crate) fn start(&mut self, path: Path<'_>) {
        let n_features = path.shares.len();
        self.values.clear();
        self.hashed.clear();
        if n_features <= MAX_INDEXED && self.indexed.len() < 1 << n_features {
            self.indexed.resize(1 << n_features, (0, 0));
        }
        if self.leaf == u32::MAX {
            self.indexed.fill((0, 0));
            self.leaf = 0;
        }
        self.leaf += 1;
        let n_points = n_points(n_features);
        for points in self.rules.len()..=n_points {
            self.rules.push(nodes(points));
        }
    }

    /// The place of a pattern's values in [`Self::values`].
    pub(crate) fn place(&mut self, path: Path<'_>, pattern: Pattern) -> u32 {
        if path.shares.len() <= MAX_INDEXED {
            let (leaf, place) = self.indexed[pattern as usize];
            if leaf == self.leaf {
                return place;
            }
            let place = self.add(path, pattern);
            self.indexed[pattern as usize] = (self.leaf, place);
            return place;
        }
        if let Some(place) = self.hashed.get(&pattern) {
            return *place;
        }
        let place = self.add(path, pattern);
        self.hashed.insert(pattern, place);
        place
    }

    /// The values of all patterns seen.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    fn add(&mut self, path: Path<'_>, pattern: Pattern) -> u32 {
        let place = self.values.len();
        self.values.resize(place + self.wanted.n_values(path.shares.len()), 0.0);
        let Self { rules, values, before, .. } = self;
        let rule = &rules[n_points(path.shares.len())];
        let passes = |idx: usize| pattern >> idx & 1 == 1;
        match self.wanted {
            Wanted::Contributions => contributions(rule, path, passes, before, &mut values[place..]),
            Wanted::Interactions => interactions(rule, path, passes, &mut values[place..]),
        }
        place as u32
    }
}

/// Computes the contributions of the features of a path. `before` is a buffer.
pub(crate) fn contributions(
    rule: &[Node],
    Path { value, shares }: Path<'_>,
    passes: impl Fn(usize) -> bool,
    before: &mut Vec<f64>,
    sums: &mut [f64],
) {
    sums.fill(0.0);
    before.resize(shares.len(), 0.0);
    for Node { at, weight } in rule {
        let factor = |idx: usize| (1.0 - at) * shares[idx] + if passes(idx) { *at } else { 0.0 };
        let mut product = *weight;
        for (idx, before) in before.iter_mut().enumerate() {
            *before = product;
            product *= factor(idx);
        }
        let mut after = 1.0;
        for idx in (0..shares.len()).rev() {
            sums[idx] += before[idx] * after;
            after *= factor(idx);
        }
    }
    for (idx, sum) in sums.iter_mut().enumerate() {
        *sum *= value * (f64::from(u8::from(passes(idx))) - shares[idx]);
    }
}

/// Computes the interactions of each pair of features of a path.
fn interactions(rule: &[Node], Path { value, shares }: Path<'_>, passes: impl Fn(usize) -> bool, sums: &mut [f64]) {
    let n = shares.len();
    let gap = |idx: usize| f64::from(u8::from(passes(idx))) - shares[idx];
    let (mut factors, mut after) = (vec![0.0; n], vec![1.0; n + 1]);
    for Node { at, weight } in rule {
        for idx in (0..n).rev() {
            factors[idx] = (1.0 - at) * shares[idx] + if passes(idx) { *at } else { 0.0 };
            after[idx] = after[idx + 1] * factors[idx];
        }
        let mut sums = sums.iter_mut();
        let mut before = weight * value;
        for first in 0..n {
            let mut others = before * gap(first);
            for second in first + 1..n {
                if let Some(sum) = sums.next() {
                    *sum += others * gap(second) * after[second + 1];
                }
                others *= factors[second];
            }
            before *= factors[first];
        }
    }
}

/// The points that integrate a polynomial of degree `n_features - 1`.
pub(crate) fn n_points(n_features: usize) -> usize {
    n_features.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a leaf is expected to add with the features of a set known.
    fn worth(value: f64, shares: &[f64], pattern: Pattern, set: u64) -> f64 {
        let factor = |idx: usize| {
            if set >> idx & 1 == 0 { shares[idx] } else { f64::from(u8::from(pattern >> idx & 1 == 1)) }
        };
        value * (0..shares.len()).map(factor).product::<f64>()
    }

    fn factorial(n: u32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    /// Shapley's formula over all sets of features.
    fn by_sets(value: f64, shares: &[f64], pattern: Pattern) -> Vec<f64> {
        let n = shares.len();
        let worth = |set| worth(value, shares, pattern, set);
        let of_feature = |idx: usize| {
            let without = (0..1u64 << n).filter(|set| set >> idx & 1 == 0);
            let term = |set: u64| {
                let size = set.count_ones();
                factorial(size) * factorial(n as u32 - size - 1) / factorial(n as u32)
                    * (worth(set | 1 << idx) - worth(set))
            };
            without.map(term).sum()
        };
        (0..n).map(of_feature).collect()
    }

    /// The interaction index of Grabisch and Roubens over all sets of features.
    fn pairs_by_sets(value: f64, shares: &[f64], pattern: Pattern) -> Vec<f64> {
        let n = shares.len();
        let worth = |set| worth(value, shares, pattern, set);
        let of_pair = |(a, b): (usize, usize)| -> f64 {
            let both = 1u64 << a | 1 << b;
            let without = (0..1u64 << n).filter(|set| set & both == 0);
            let term = |set: u64| {
                let size = set.count_ones();
                factorial(size) * factorial(n as u32 - size - 2) / factorial(n as u32 - 1)
                    * (worth(set | both) - worth(set | 1 << a) - worth(set | 1 << b) + worth(set))
            };
            without.map(term).sum()
        };
        (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(of_pair).collect()
    }

    proptest! {
        #[test]
        fn interactions_are_those_of_the_definition(
            shares in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], 0..8),
            patterns in prop::collection::vec(any::<u64>(), 1..6),
            value in -3.0..3.0,
        ) {
            let mut table = Table::new(Wanted::Interactions);
            let path = Path { value, shares: &shares };
            table.start(path);
            for pattern in &patterns {
                let pattern = pattern & ((1 << shares.len()) - 1);
                let place = table.place(path, pattern) as usize;
                let expected = pairs_by_sets(value, &shares, pattern);
                let found = &table.values()[place..place + expected.len()];
                for (found, expected) in found.iter().zip(expected) {
                    prop_assert!((found - expected).abs() < 1e-13, "{} {}", found, expected);
                }
            }
        }

        #[test]
        fn contributions_are_shapley_values(
            shares in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], 1..9),
            patterns in prop::collection::vec(any::<u64>(), 1..6),
            value in -3.0..3.0,
        ) {
            let mut table = Table::default();
            let path = Path { value, shares: &shares };
            for _ in 0..2 {
                table.start(path);
                for pattern in &patterns {
                    let pattern = pattern & ((1 << shares.len()) - 1);
                    let place = table.place(path, pattern) as usize;
                    prop_assert_eq!(place, table.place(path, pattern) as usize);
                    let found = &table.values()[place..place + shares.len()];
                    for (found, expected) in found.iter().zip(by_sets(value, &shares, pattern)) {
                        prop_assert!((found - expected).abs() < 1e-13, "{} {}", found, expected);
                    }
                }
            }
        }

        #[test]
        fn contributions_of_long_paths_add_up(
            shares in prop::collection::vec(0.0..1.0, 13..MAX_FEATURES),
            pattern in any::<u64>(),
        ) {
            let mut table = Table::default();
            let path = Path { value: 2.0, shares: &shares };
            table.start(path);
            for pattern in [pattern & ((1 << shares.len()) - 1), (1 << shares.len()) - 1] {
                let place = table.place(path, pattern) as usize;
                let found: f64 = table.values()[place..place + shares.len()].iter().sum();
                let all = f64::from(u8::from(pattern.count_ones() as usize == shares.len()));
                let expected = 2.0 * (all - shares.iter().product::<f64>());
                prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
            }
        }
    }
}
