//! Ranks that are sums of logistic functions, and the forces between documents that come of them.
//!
//! A row is a document i, the columns are all documents j, `LANES` at a time. With b_j = exp(-s_j) and a_i = exp(s_i), in units of the
//! temperature and about a common middle, the power of a pair is a product:
//!
//! ```text
//! r_ij = 1 / (1 + a_i b_j)                how far j stands above i
//! r'_ij = a_i b_j r_ij^2                  its slope, the same for (j, i)
//! ```
//!
//! Columns behind the last document have b = 0: r is 1 and the slope 0.

use rankwise_data::simd_kernel;

/// Documents that are worked on together.
pub(crate) const LANES: usize = 8;

pub(crate) type Lanes = [f64; LANES];

simd_kernel! {
    /// For each row the sum over all columns of r.
    pub(crate) fn sum_rows(rows: &[f64], columns: &[Lanes], sums: &mut [f64]) = sum_rows_body;
}

simd_kernel! {
    /// For each row (a_i, force) takes force times slope away from each column's `pull`, and adds its size to each column's
    /// `stiffness`; gives each row the sum of its slopes.
    pub(crate) fn add_forces(rows: &[[f64; 2]], columns: &[Lanes], pulls: &mut Pulls<'_>, slopes: &mut [f64]) = add_forces_body;
}

/// What the documents get.
#[derive(Debug)]
pub(crate) struct Pulls<'a> {
    pub(crate) pull: &'a mut [Lanes],
    pub(crate) stiffness: &'a mut [Lanes],
}

#[inline(always)]
fn sum_rows_body(rows: &[f64], columns: &[Lanes], sums: &mut [f64]) {
    for (row, sum) in rows.iter().zip(sums) {
        let mut parts = [0.0; LANES];
        for lanes in columns {
            for lane in 0..LANES {
                parts[lane] += 1.0 / (1.0 + row * lanes[lane]);
            }
        }
        *sum = fold(parts);
    }
}

#[inline(always)]
fn add_forces_body(rows: &[[f64; 2]], columns: &[Lanes], pulls: &mut Pulls<'_>, slopes: &mut [f64]) {
    for ([row, force], sum) in rows.iter().zip(slopes) {
        let size = force.abs();
        let mut parts = [0.0; LANES];
        for ((lanes, pull), stiffness) in columns.iter().zip(&mut *pulls.pull).zip(&mut *pulls.stiffness) {
            for lane in 0..LANES {
                let power = row * lanes[lane];
                let r = 1.0 / (1.0 + power);
                let slope = power * r * r;
                parts[lane] += slope;
                pull[lane] -= force * slope;
                stiffness[lane] += size * slope;
            }
        }
        *sum = fold(parts);
    }
}

/// The sum of the lanes, in one order everywhere: halves onto each other.
#[inline(always)]
fn fold(mut lanes: Lanes) -> f64 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;

    fn run(level: SimdLevel, rows: &[[f64; 2]], columns: &[Lanes]) -> Vec<u64> {
        let mut sums = vec![0.0; rows.len()];
        sum_rows(level, &rows.iter().map(|row| row[0]).collect::<Vec<_>>(), columns, &mut sums);
        let mut slopes = vec![0.0; rows.len()];
        let (mut pull, mut stiffness) = (vec![[0.0; LANES]; columns.len()], vec![[0.0; LANES]; columns.len()]);
        add_forces(level, rows, columns, &mut Pulls { pull: &mut pull, stiffness: &mut stiffness }, &mut slopes);
        let columns = pull.as_flattened().iter().chain(stiffness.as_flattened());
        sums.iter().chain(&slopes).chain(columns).map(|value| value.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn levels_agree_to_the_bit(
            rows in prop::collection::vec((-300.0f64..300.0, -1.0f64..0.0), 1..20),
            columns in prop::collection::vec(prop::array::uniform8(-300.0f64..300.0), 1..6),
        ) {
            let rows: Vec<[f64; 2]> = rows.into_iter().map(|(score, force)| [score.exp(), force]).collect();
            let columns: Vec<Lanes> = columns.into_iter().map(|lanes| lanes.map(f64::exp)).collect();
            let portable = run(SimdLevel::PORTABLE, &rows, &columns);
            prop_assert!(portable.iter().all(|bits| f64::from_bits(*bits).is_finite()));
            for level in SimdLevel::available() {
                prop_assert_eq!(&portable, &run(level, &rows, &columns), "{}", level.name());
            }
        }
    }
}
