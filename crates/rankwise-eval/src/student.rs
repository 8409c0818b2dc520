//! The paired t-test, which assumes that the mean of the differences is approximately normal.

use crate::special::student_upper;
use crate::{QueryValues, Tail};

/// The p-value of the mean difference; `None` for fewer than two differences. If all differences are equal, the p-value
/// is 1 if they are 0, and otherwise 0 (one-sided: only on that side).
///
/// Weights enter the mean and its standard error ([`QueryValues::standard_error`]); the degrees of freedom are n - 1.
pub fn paired_t(differences: &QueryValues, tail: Tail) -> Option<f64> {
    let error = differences.standard_error()?;
    let mean = differences.mean()?;
    let t = match (error == 0.0, mean == 0.0) {
        (true, true) => return Some(1.0),
        (true, false) => mean * f64::INFINITY,
        (false, _) => mean / error,
    };
    let freedom = (differences.len() - 1) as f64;
    Some(tail.of(student_upper(t, freedom), student_upper(-t, freedom)))
}
