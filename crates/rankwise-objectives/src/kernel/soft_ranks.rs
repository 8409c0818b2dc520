//! Soft ranks, as sums of logistic functions, and the resulting forces between documents.
//!
//! A row is a document i, the columns are all documents j, `LANES` at a time. With b_j = exp(-s_j) and a_i = exp(s_i),
//! in units of the temperature and relative to a common middle, the exponential of a pair is a product:
//!
//! ```text
//! r_ij  = 1 / (1 + a_i b_j)               how much j is above i
//! r'_ij = r_ij (1 - r_ij)                 its slope, the same for (j, i)
//! ```
//!
//! Padding columns have b = 0, so r is 1 and the slope 0.

use rankwise_data::simd_kernel;

use super::fold;

/// Number of documents processed together.
pub(crate) const LANES: usize = 8;

pub(crate) type Lanes = [f64; LANES];

simd_kernel! {
    /// Writes r of each column for a row with the given a; returns their sum.
    pub(crate) fn rank_row(row: f64, columns: &[Lanes], r: &mut [Lanes]) -> f64 = rank_row_body;
}

simd_kernel! {
    /// Subtracts the force of a row times the slope from each column's `pull`, and adds its size to each column's
    /// `stiffness`. Returns the sum of the slopes.
    pub(crate) fn add_force(force: f64, r: &[Lanes], pull: &mut [Lanes], stiffness: &mut [Lanes]) -> f64 = add_force_body;
}

#[inline(always)]
fn rank_row_body(row: f64, columns: &[Lanes], r: &mut [Lanes]) -> f64 {
    let mut parts = [0.0; LANES];
    for (lanes, r) in columns.iter().zip(r) {
        for lane in 0..LANES {
            r[lane] = 1.0 / (1.0 + row * lanes[lane]);
            parts[lane] += r[lane];
        }
    }
    fold(parts)
}

#[inline(always)]
fn add_force_body(force: f64, r: &[Lanes], pull: &mut [Lanes], stiffness: &mut [Lanes]) -> f64 {
    let size = force.abs();
    let mut parts = [0.0; LANES];
    for ((r, pull), stiffness) in r.iter().zip(pull).zip(stiffness) {
        for lane in 0..LANES {
            let slope = r[lane] * (1.0 - r[lane]);
            parts[lane] += slope;
            pull[lane] -= force * slope;
            stiffness[lane] += size * slope;
        }
    }
    fold(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;

    fn run(level: SimdLevel, rows: &[(f64, f64)], columns: &[Lanes]) -> Vec<u64> {
        let mut all = Vec::new();
        let [mut r, mut pull, mut stiffness] = [(); 3].map(|()| vec![[0.0; LANES]; columns.len()]);
        for (row, force) in rows {
            all.push(rank_row(level, *row, columns, &mut r));
            all.push(add_force(level, *force, &r, &mut pull, &mut stiffness));
            all.extend(r.as_flattened());
        }
        all.extend(pull.as_flattened().iter().chain(stiffness.as_flattened()));
        all.into_iter().map(f64::to_bits).collect()
    }

    proptest! {
        #[test]
        fn levels_agree_to_the_bit(
            rows in prop::collection::vec((-300.0f64..300.0, -1.0f64..0.0), 1..20),
            columns in prop::collection::vec(prop::array::uniform8(-300.0f64..300.0), 1..6),
        ) {
            let rows: Vec<(f64, f64)> = rows.into_iter().map(|(score, force)| (score.exp(), force)).collect();
            let columns: Vec<Lanes> = columns.into_iter().map(|lanes| lanes.map(f64::exp)).collect();
            let portable = run(SimdLevel::PORTABLE, &rows, &columns);
            prop_assert!(portable.iter().all(|bits| f64::from_bits(*bits).is_finite()));
            for level in SimdLevel::available() {
                prop_assert_eq!(&portable, &run(level, &rows, &columns), "{}", level.name());
            }
        }
    }
}
