//! The smoothed derivative of a metric for one document: the change of the metric when the document passes each other
//! one, times the density of its score there.
//!
//! ```text
//! rank     0  1  2  3  4  5 ...             the document itself is at rank 2
//! factor   b  b  .  a  a  a                 b: before_q,  a: after_q * alpha + other_q * beta
//! ```
//!
//! Without the document, those below it move up by one rank and have another context: hence two kinds of factors.

use rankwise_data::simd_kernel;

use super::exp::exp;
use super::fold;
use super::pairs::{LANES, Lanes};

type WideLanes = [f64; LANES];

/// A query sorted by noisy score, in groups of lanes. Padding lanes have factors of 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoisyQuery<'a> {
    /// Noisy scores.
    pub(crate) scores: &'a [WideLanes],
    pub(crate) worth: &'a [Lanes],
    pub(crate) before: &'a [Lanes],
    pub(crate) after: &'a [Lanes],
    pub(crate) other: &'a [Lanes],
}

/// The document that moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    pub(crate) rank: usize,
    /// Its score without noise.
    pub(crate) score: f64,
    pub(crate) worth: f32,
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
    /// One over the scale of the noise.
    pub(crate) inverse_sigma: f64,
}

simd_kernel! {
    /// The sum over the others of jump times e^(-u^2/2), where u is the distance between the other's noisy score and
    /// the mover's score, in units of the noise.
    pub(crate) fn sum_jumps(query: NoisyQuery<'_>, mover: Mover) -> f32 = sum_jumps_body;
}

#[inline(always)]
fn sum_jumps_body(query: NoisyQuery<'_>, mover: Mover) -> f32 {
    let mut sums = [0.0; LANES];
    let n_groups = query.scores.len();
    let home = (mover.rank / LANES).min(n_groups);
    for group in 0..home {
        add_group::<true, false>(query, group, mover, &mut sums);
    }
    if home < n_groups {
        add_group::<true, true>(query, home, mover, &mut sums);
    }
    for group in home + 1..n_groups {
        add_group::<false, true>(query, group, mover, &mut sums);
    }
    fold(sums)
}

/// Adds a group with ranks before the mover, after it, or both. At the mover's own rank, the difference is 0.
#[inline(always)]
fn add_group<const BEFORE: bool, const AFTER: bool>(
    query: NoisyQuery<'_>,
    group: usize,
    mover: Mover,
    sums: &mut Lanes,
) {
    let (scores, worth) = (&query.scores[group], &query.worth[group]);
    let (before, after, other) = (&query.before[group], &query.after[group], &query.other[group]);
    let at = mover.rank % LANES;
    for lane in 0..LANES {
        let distance = ((scores[lane] - mover.score) * mover.inverse_sigma) as f32;
        let density = exp(-0.5 * (distance * distance));
        let is_before = BEFORE & (!AFTER | (lane < at));
        let factor = if is_before { before[lane] } else { after[lane] * mover.alpha + other[lane] * mover.beta };
        sums[lane] += factor * (mover.worth - worth[lane]) * density;
    }
}
