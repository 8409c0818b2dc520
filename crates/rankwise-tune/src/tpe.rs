//! What to try next: at random, or by a tree-structured Parzen estimator (TPE).
//!
//! Bergstra, Bardenet, Bengio and Kégl, "Algorithms for Hyper-Parameter Optimization" (NeurIPS 2011), section 4: trials are
//! divided into the best ones and the others; each part becomes a density; among points drawn from the density of the best,
//! the one is tried that is most likely under it compared with the density of the others. A density is a mixture over trials
//! of products over parameters, so that values which are good together are found. The number of best trials, the weights of old trials and the widths of kernels follow Watanabe, "Tree-Structured Parzen
//! Estimator: Understanding Its Algorithm Components and Their Roles for Better Empirical Performance" (2023), which
//! describes what Optuna and Hyperopt do.
//!
//! A suggestion is a pure function of the space, the seed, the number of the trial and the results that it may see.

mod parzen;

use rankwise_data::{Draw, Purpose};

use self::parzen::Parzen;
use crate::{Point, Space};

/// So many results are needed before the estimator is used.
const STARTUP_TRIALS: usize = 10;

/// Points that are drawn for each trial.
const CANDIDATES: u32 = 24;

/// The share of the trials that count as the best, and their largest number.
const BEST_SHARE: f64 = 0.1;
const MAX_BEST: usize = 25;

/// How parameters are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Every trial at random, independent of the others.
    Random,
    /// Most trials where earlier ones suggest good values.
    #[default]
    Tpe,
}

/// A trial that others may learn from.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What was tried, by parameter of the space; `None` if the parameter was not active.
    pub points: &'a [Option<Point>],
    /// Its value; larger is better. `None` if it is not known yet.
    pub value: Option<f64>,
}

impl Search {
    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Tpe => "tpe",
        }
    }

    /// What a trial, counted from 0, tries after it has seen others, which are in the order of their numbers. `None` for
    /// parameters that are not active.
    ///
    /// ```
    /// use rankwise_tune::{Search, Seen, Space};
    ///
    /// let space = Space::parse("learning_rate = { log = [0.01, 0.3] }")?;
    /// let first = Search::Tpe.suggest(&space, 7, 0, &[]);
    /// let seen = [Seen { points: &first, value: Some(0.41) }];
    /// let second = Search::Tpe.suggest(&space, 7, 1, &seen);
    /// assert_ne!(first, second);
    /// assert_eq!(second, Search::Tpe.suggest(&space, 7, 1, &seen));
    /// # Ok::<(), rankwise_tune::SpaceFileError>(())
    /// ```
    pub fn suggest(self, space: &Space, seed: u64, trial: usize, seen: &[Seen<'_>]) -> Vec<Option<Point>> {
        let draw = Draw::new(seed, Purpose::Search, trial as u32);
        let n_known = seen.iter().filter(|seen| seen.value.is_some()).count();
        if self == Self::Tpe && trial < STARTUP_TRIALS {
            return spread(space, seed, trial, &draw);
        }
        if self == Self::Random || n_known < STARTUP_TRIALS {
            return space.draw(|idx, dimension| dimension.random(&draw, idx));
        }
        let is_best = best(seen, n_known);
        let density = |wanted: bool| {
            let those = seen.iter().zip(&is_best).filter(|(_, is_best)| **is_best == wanted);
            Parzen::new(space, &those.map(|(seen, _)| seen.points).collect::<Vec<_>>())
        };
        likeliest(&density(true), &density(false), &draw)
    }
}

/// One of the first trials: together they have one value in each tenth of every range, in an order of its own for each
/// parameter (a Latin hypercube), so that no part of a range is left out by chance.
fn spread(space: &Space, seed: u64, trial: usize, draw: &Draw) -> Vec<Option<Point>> {
    let of_all = Draw::new(seed, Purpose::Search, u32::MAX);
    space.draw(|idx, dimension| {
        let mut order: Vec<u32> = (0..STARTUP_TRIALS as u32).collect();
        let key = |cell: u32| of_all.uniform(idx as u64, cell);
        order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
        dimension.at((f64::from(order[trial]) + draw.uniform(idx as u64, 0)) / STARTUP_TRIALS as f64)
    })
}

/// Whether each trial is one of the best. Trials without a value are not: others avoid what is being tried.
fn best(seen: &[Seen<'_>], n_known: usize) -> Vec<bool> {
    let n_best = ((BEST_SHARE * n_known as f64).ceil() as usize).min(MAX_BEST);
    let mut order: Vec<(f64, usize)> =
        seen.iter().enumerate().filter_map(|(place, seen)| Some((seen.value?, place))).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut is_best = vec![false; seen.len()];
    order.iter().take(n_best).for_each(|(_, place)| is_best[*place] = true);
    is_best
}

/// The point that is most likely under the density of the best trials compared with that of the others.
fn likeliest(best: &Parzen<'_>, others: &Parzen<'_>, draw: &Draw) -> Vec<Option<Point>> {
    let mut chosen: Option<(f64, Vec<Option<Point>>)> = None;
    for candidate in 0..CANDIDATES {
        let points = best.sample(draw, candidate);
        let score = best.log_density(&points) - others.log_density(&points);
        if chosen.as_ref().is_none_or(|(highest, _)| score > *highest) {
            chosen = Some((score, points));
        }
    }
    chosen.expect("there are candidates").1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best value of trials 0 to `n_trials` - 1, each of which sees all before it.
    fn search(search: Search, space: &Space, seed: u64, n_trials: usize, value: impl Fn(&[f64]) -> f64) -> f64 {
        let mut done: Vec<(Vec<Option<Point>>, f64)> = Vec::new();
        for trial in 0..n_trials {
            let seen: Vec<Seen<'_>> = done.iter().map(|(points, value)| Seen { points, value: Some(*value) }).collect();
            let points = search.suggest(space, seed, trial, &seen);
            let numbers: Vec<f64> = points
                .iter()
                .flatten()
                .map(|point| match point {
                    Point::Number(number) => *number,
                    Point::Choice(choice) => *choice as f64,
                })
                .collect();
            let value = value(&numbers);
            done.push((points, value));
        }
        done.into_iter().map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max)
    }

    fn space() -> Space {
        let text = "
            learning_rate = { log = [0.001, 1] }
            max_depth = { uniform = [2, 20] }
            objective = ['lambdamart', 'xendcg', 'rmse']
            bagging_fraction = { uniform = [0.1, 1] }
        ";
        Space::parse(text).unwrap()
    }

    /// Best at a learning rate of 0.05, depth 7, xendcg and a fraction of 0.6.
    fn bowl(numbers: &[f64]) -> f64 {
        let [fraction, rate, depth, objective] = numbers else { panic!("{numbers:?}") };
        let away = [(fraction - 0.6) / 0.9, (rate / 0.05).log10() / 3.0, (depth - 7.0) / 18.0, (objective - 1.0) / 4.0];
        -away.iter().map(|away| away * away).sum::<f64>()
    }

    #[test]
    fn tpe_comes_closer_than_chance() {
        let mut gain = 0.0;
        let mut wins = 0;
        for seed in 0..20 {
            let [tpe, random] = [Search::Tpe, Search::Random].map(|kind| search(kind, &space(), seed, 60, bowl));
            gain += (tpe - random) / 20.0;
            wins += usize::from(tpe > random);
        }
        assert!(gain > 0.003 && wins >= 15, "{gain} {wins}");
    }

    #[test]
    fn the_first_trials_cover_every_range() {
        let space = space();
        for seed in 0..5 {
            let trials: Vec<_> =
                (0..STARTUP_TRIALS).map(|trial| Search::Tpe.suggest(&space, seed, trial, &[])).collect();
            for (idx, dimension) in space.dimensions().iter().enumerate() {
                let of_choice =
                    |choice: usize| trials.iter().filter(|points| points[idx] == Some(Point::Choice(choice))).count();
                let Some([low, high]) = dimension.real_range() else {
                    assert!((0..3).all(|choice| of_choice(choice) >= 2), "{seed}");
                    continue;
                };
                let fifth = |points: &Vec<Option<Point>>| match points[idx] {
                    Some(Point::Number(number)) => {
                        let [from, to] = dimension.real_cell(number);
                        (5.0 * (0.5 * (from + to) - low) / (high - low)) as usize
                    }
                    other => panic!("{other:?}"),
                };
                // Rounding may move a value to the next tenth, so fifths are counted.
                let n_fifths = trials.iter().map(fifth).collect::<std::collections::BTreeSet<_>>().len();
                assert_eq!(n_fifths, 5, "{seed} {}", dimension.name());
            }
        }
    }

    #[test]
    fn a_suggestion_depends_on_what_is_seen_only() {
        let space = space();
        let points: Vec<Vec<Option<Point>>> =
            (0..30).map(|trial| Search::Random.suggest(&space, 3, trial, &[])).collect();
        let seen = |scale: f64| -> Vec<Seen<'_>> {
            let value = |idx: usize| Some(scale * (idx * 7 % 30) as f64);
            points.iter().enumerate().map(|(idx, points)| Seen { points, value: value(idx) }).collect()
        };
        let first = Search::Tpe.suggest(&space, 3, 30, &seen(1.0));
        assert_eq!(first, Search::Tpe.suggest(&space, 3, 30, &seen(1.0)));
        assert_eq!(first, Search::Tpe.suggest(&space, 3, 30, &seen(0.001)), "only the order of values counts");
        assert_ne!(first, Search::Tpe.suggest(&space, 4, 30, &seen(1.0)), "another seed");
        assert_ne!(first, Search::Tpe.suggest(&space, 3, 31, &seen(1.0)), "another trial");
        assert_ne!(first, Search::Tpe.suggest(&space, 3, 30, &seen(-1.0)), "other results");
    }

    #[test]
    fn values_that_are_equal_or_infinite_are_no_problem() {
        let space = space();
        let points = Search::Random.suggest(&space, 1, 0, &[]);
        for value in [0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let seen = [Seen { points: &points, value: Some(value) }; 40];
            let suggested = Search::Tpe.suggest(&space, 1, 40, &seen);
            assert!(suggested.iter().all(Option::is_some), "{value}");
        }
    }
}
