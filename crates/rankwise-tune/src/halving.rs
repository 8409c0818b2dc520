//! Asynchronous successive halving: a trial that is among the worse two thirds after a ninth or a third of its rounds is
//! stopped.
//!
//! Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), with the rule of stopping instead of
//! promoting. A trial is compared with the trials that it may see, so it does not matter which of them end first.

/// One trial out of so many goes on.
const REDUCTION: usize = 3;

/// Rounds before which no trial is stopped.
const FEWEST_ROUNDS: usize = 10;

/// A trial is compared with at least so many others.
const FEWEST_OTHERS: usize = 5;

/// The rounds after which a trial of `num_rounds` rounds is compared with others.
pub(crate) fn rungs(num_rounds: usize) -> impl Iterator<Item = usize> {
    [REDUCTION * REDUCTION, REDUCTION]
        .into_iter()
        .map(move |share| num_rounds / share)
        .filter(|rung| *rung >= FEWEST_ROUNDS)
}

/// Whether a trial is stopped at a rung. `best` is its best value so far, and `others` the values of other trials after each
/// round; larger is better.
pub(crate) fn is_hopeless<'a>(rung: usize, best: f64, others: impl Iterator<Item = Other<'a>>) -> bool {
    let (mut n_others, mut n_better) = (0, 0);
    for other in others {
        let Some(value) = other.best_until(rung) else { continue };
        n_others += 1;
        n_better += usize::from(value > best);
    }
    n_others >= FEWEST_OTHERS && n_better >= (n_others + 1).div_ceil(REDUCTION)
}

/// Another trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other<'a> {
    /// Its values after each round.
    pub(crate) curve: &'a [f64],
    /// 1 if larger values are better, otherwise -1.
    pub(crate) sign: f64,
    /// Whether it was stopped as hopeless.
    pub(crate) is_stopped: bool,
}

impl Other<'_> {
    /// Its best value until a rung; `None` if it was stopped before. A trial that stopped improving keeps its best value.
    fn best_until(self, rung: usize) -> Option<f64> {
        if self.is_stopped && self.curve.len() < rung {
            return None;
        }
        self.curve.iter().take(rung).map(|value| self.sign * value).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(curves: &[Vec<f64>]) -> impl Iterator<Item = Other<'_>> {
        curves.iter().map(|curve| Other { curve, sign: 1.0, is_stopped: false })
    }

    #[test]
    fn the_better_third_goes_on() {
        assert_eq!(rungs(200).collect::<Vec<_>>(), [22, 66]);
        assert_eq!(rungs(40).collect::<Vec<_>>(), [13]);
        assert_eq!(rungs(20).count(), 0);
        let curves: Vec<Vec<f64>> = (1..=8).map(|idx| vec![0.1, f64::from(idx) / 10.0, 0.9]).collect();
        // Of nine trials, three go on.
        assert!(!is_hopeless(2, 0.65, others(&curves)));
        assert!(is_hopeless(2, 0.55, others(&curves)));
        assert!(!is_hopeless(2, 0.05, others(&curves[..4])), "too few others");
        assert!(!is_hopeless(3, 0.9, others(&curves)), "ties go on");
        assert!(!is_hopeless(1, 0.1, others(&curves)), "ties go on");
    }

    #[test]
    fn stopped_trials_count_as_far_as_they_went() {
        let curve = [0.5, 0.6];
        let other = |sign, is_stopped| Other { curve: &curve, sign, is_stopped };
        assert_eq!(other(1.0, true).best_until(2), Some(0.6));
        assert_eq!(other(1.0, true).best_until(3), None);
        assert_eq!(other(1.0, false).best_until(3), Some(0.6));
        assert_eq!(other(-1.0, false).best_until(3), Some(-0.5));
    }
}
