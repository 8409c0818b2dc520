//! A density over a space: a mixture of a kernel for each trial and one for the whole space. A kernel is a product over
//! parameters: a normal distribution that is cut at the ends of the range, or a probability for each choice. Where a trial
//! had no value of a parameter, because it was not active, its kernel is that of the whole range.

use rankwise_data::Draw;

use crate::{Dimension, Point, Space, Values};

/// Widths are at least the range divided by the number of kernels, or by this if that is less ("magic clip").
const MOST_WIDTHS: f64 = 100.0;

/// The latest trials have the same weight; before them, older ones have less and less.
const FULL_WEIGHT_TRIALS: usize = 25;

/// A normal number outside the range is drawn again, so often at most. Kernels have a third of their mass inside.
const MAX_DRAWS: u32 = 64;

/// The density.
pub(super) struct Parzen<'a> {
    space: &'a Space,
    /// The weights of the kernels, which add up to 1.
    weights: Vec<f64>,
    /// By parameter of the space.
    parts: Vec<Part>,
}

/// One parameter, with a part for each kernel.
enum Part {
    Numbers { range: [f64; 2], normals: Vec<Normal> },
    Choices(Vec<Vec<f64>>),
}

/// A normal distribution that is cut at the ends of the range.
#[derive(Clone, Copy)]
struct Normal {
    mean: f64,
    deviation: f64,
    /// How much of it is in the range.
    mass: f64,
}

impl<'a> Parzen<'a> {
    /// The density of the points, in the order of their trials.
    pub(super) fn new(space: &'a Space, trials: &[&[Option<Point>]]) -> Self {
        let part = |(idx, dimension): (usize, &Dimension)| {
            let points: Vec<Option<Point>> = trials.iter().map(|trial| trial.get(idx).copied().flatten()).collect();
            match dimension.real_range() {
                Some(range) => Part::Numbers { range, normals: normals(dimension, range, &points) },
                None => Part::Choices(choices(dimension, &points)),
            }
        };
        let parts = space.dimensions().iter().enumerate().map(part).collect();
        Self { space, weights: weights(trials.len()), parts }
    }

    /// A point of the density.
    pub(super) fn sample(&self, draw: &Draw, candidate: u32) -> Vec<Option<Point>> {
        // Every candidate has numbers of its own; 0 is for trials without a density.
        let ordinal = candidate * (MAX_DRAWS + 1) + 1;
        let kernel = place(&self.weights, draw.uniform(self.parts.len() as u64, ordinal));
        self.space.draw(|idx, dimension| match &self.parts[idx] {
            Part::Choices(shares) => Point::Choice(place(&shares[kernel], draw.uniform(idx as u64, ordinal))),
            Part::Numbers { range: [low, high], normals } => {
                let Normal { mean, deviation, .. } = normals[kernel];
                let drawn = (0..MAX_DRAWS).flat_map(|attempt| draw.normals(idx as u64, ordinal + attempt));
                let mut inside =
                    drawn.map(|normal| mean + deviation * normal).filter(|real| (*low..=*high).contains(real));
                Point::Number(dimension.number(inside.next().unwrap_or(mean)))
            }
        })
    }

    /// The logarithm of the density at a point; for integers and choices, of the probability.
    pub(super) fn log_density(&self, points: &[Option<Point>]) -> f64 {
        let mut densities = self.weights.clone();
        for ((part, dimension), point) in self.parts.iter().zip(self.space.dimensions()).zip(points) {
            match (part, point) {
                (Part::Numbers { normals, .. }, Some(Point::Number(number))) => {
                    let cell = dimension.real_cell(*number);
                    densities.iter_mut().zip(normals).for_each(|(density, normal)| *density *= normal.density(cell));
                }
                (Part::Choices(shares), Some(Point::Choice(choice))) => {
                    densities.iter_mut().zip(shares).for_each(|(density, shares)| *density *= shares[*choice]);
                }
                _ => {}
            }
        }
        libm::log(densities.iter().sum::<f64>().max(f64::MIN_POSITIVE))
    }
}

impl Normal {
    fn new(mean: f64, deviation: f64, range: [f64; 2]) -> Self {
        Self { mean, deviation, mass: probability(mean, deviation, range) }
    }

    fn density(self, [low, high]: [f64; 2]) -> f64 {
        let density = if low < high {
            probability(self.mean, self.deviation, [low, high])
        } else {
            let away = (low - self.mean) / self.deviation;
            libm::exp(-0.5 * away * away) / (self.deviation * libm::sqrt(std::f64::consts::TAU))
        };
        density / self.mass
    }
}

/// How much of a normal distribution is between two numbers.
fn probability(mean: f64, deviation: f64, range: [f64; 2]) -> f64 {
    let [low, high] = range.map(|end| libm::erf((end - mean) / (deviation * std::f64::consts::SQRT_2)));
    0.5 * (high - low)
}

/// The index of the share, out of shares that add up to 1, that a number below 1 is in.
fn place(shares: &[f64], number: f64) -> usize {
    let mut sum = 0.0;
    let found = shares.iter().position(|share| {
        sum += share;
        number < sum
    });
    found.unwrap_or(shares.len() - 1)
}

/// The weights of trials from the oldest to the latest, and of the whole space.
fn weights(n_trials: usize) -> Vec<f64> {
    let n_old = n_trials.saturating_sub(FULL_WEIGHT_TRIALS);
    let least = 1.0 / n_trials.max(1) as f64;
    let old = |place: usize| if n_old < 2 { least } else { least + (1.0 - least) * place as f64 / (n_old - 1) as f64 };
    let of_trials = (0..n_trials).map(|place| if place < n_old { old(place) } else { 1.0 });
    let all: Vec<f64> = of_trials.chain([1.0]).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|weight| weight / sum).collect()
}

/// The shares of choices by kernel: a trial gives 1 to its own and 1 / (number of kernels) to all.
fn choices(dimension: &Dimension, points: &[Option<Point>]) -> Vec<Vec<f64>> {
    let n_choices = if let Values::Choice(values) = dimension.values() { values.len() } else { 0 };
    let to_all = 1.0 / (points.len() + 1) as f64;
    let sum = 1.0 + n_choices as f64 * to_all;
    let shares = |point: &Option<Point>| match point {
        Some(own) => (0..n_choices)
            .map(|choice| (to_all + if *own == Point::Choice(choice) { 1.0 } else { 0.0 }) / sum)
            .collect(),
        None => vec![1.0 / n_choices as f64; n_choices],
    };
    points.iter().chain([&None]).map(shares).collect()
}

/// Normal distributions by kernel: that of a trial is as wide as the larger distance to its neighbours.
fn normals(dimension: &Dimension, range: [f64; 2], points: &[Option<Point>]) -> Vec<Normal> {
    let (middle, width) = (0.5 * (range[0] + range[1]), range[1] - range[0]);
    let mean = |point: &Option<Point>| match point {
        Some(Point::Number(number)) => {
            let [low, high] = dimension.real_cell(*number);
            Some(0.5 * (low + high))
        }
        _ => None,
    };
    let means: Vec<Option<f64>> = points.iter().map(mean).collect();
    let mut sorted: Vec<f64> = means.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let narrowest = width / MOST_WIDTHS.min((points.len() + 2) as f64);
    let normal = |mean: &Option<f64>| {
        let Some(mean) = *mean else { return Normal::new(middle, width, range) };
        Normal::new(mean, gap(&sorted, mean, range).clamp(narrowest, width), range)
    };
    means.iter().chain([&None]).map(normal).collect()
}

/// The larger distance to the neighbours; the ends of the range are the neighbours if there are no others.
fn gap(sorted: &[f64], mean: f64, [low, high]: [f64; 2]) -> f64 {
    if sorted.len() < 2 {
        return (mean - low).max(high - mean);
    }
    // Equal numbers are neighbours at distance 0 on one side.
    let (first, end) = (sorted.partition_point(|other| *other < mean), sorted.partition_point(|other| *other <= mean));
    let left = first.checked_sub(1).map(|left| mean - sorted[left]);
    let right = sorted.get(end).map(|right| right - mean);
    match (left, right) {
        (Some(left), Some(right)) => left.max(right),
        (Some(gap), None) | (None, Some(gap)) => gap,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::Purpose;

    use super::*;

    /// The probabilities of the points of a space with one parameter.
    fn probabilities(text: &str, seen: &[Point], points: &[Point]) -> Vec<f64> {
        let space = Space::parse(text).unwrap();
        let trials: Vec<Vec<Option<Point>>> = seen.iter().map(|point| vec![Some(*point)]).collect();
        let trials: Vec<&[Option<Point>]> = trials.iter().map(Vec::as_slice).collect();
        let parzen = Parzen::new(&space, &trials);
        points.iter().map(|point| libm::exp(parzen.log_density(&[Some(*point)]))).collect()
    }

    #[test]
    fn densities_add_up_to_one() {
        let seen = [3.0, 4.0, 17.0].map(Point::Number);
        let all: Vec<Point> = (2..=20).map(|number| Point::Number(f64::from(number))).collect();
        for text in ["num_leaves = { uniform = [2, 20] }", "num_leaves = { log = [2, 20] }"] {
            let sum: f64 = probabilities(text, &seen, &all).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{text} {sum}");
        }
        let text = "objective = ['lambdamart', 'xendcg', 'rmse']";
        let seen = [2, 2, 0].map(Point::Choice);
        let shares = probabilities(text, &seen, &[0, 1, 2].map(Point::Choice));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[2] > shares[0] && shares[0] > shares[1], "{shares:?}");
    }

    #[test]
    fn samples_follow_the_density() {
        let text = "
            grow = ['leafwise', 'oblivious']
            num_leaves = { log = [2, 9], when = { grow = 'leafwise' } }
        ";
        let space = Space::parse(text).unwrap();
        let trial = |grow: usize, leaves: Option<f64>| vec![Some(Point::Choice(grow)), leaves.map(Point::Number)];
        let trials = [trial(0, Some(3.0)), trial(0, Some(8.0)), trial(1, None)];
        let trials: Vec<&[Option<Point>]> = trials.iter().map(Vec::as_slice).collect();
        let parzen = Parzen::new(&space, &trials);
        let drawn: Vec<Vec<Option<Point>>> =
            (0..20_000).map(|trial| parzen.sample(&Draw::new(9, Purpose::Search, trial), trial % 24)).collect();
        let mut sum = 0.0;
        for points in (2..=9).map(|leaves| trial(0, Some(f64::from(leaves)))).chain([trial(1, None)]) {
            let share = drawn.iter().filter(|drawn| **drawn == points).count() as f64 / 20_000.0;
            let expected = libm::exp(parzen.log_density(&points));
            assert!((share - expected).abs() < 0.012, "{points:?}: {share} {expected}");
            sum += expected;
        }
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn old_trials_have_less_weight() {
        assert_eq!(weights(3), [0.25; 4]);
        let weights = weights(35);
        assert_eq!(weights.len(), 36);
        assert!(weights.is_sorted() && weights[0] < 0.1 * weights[35] && weights[10] == weights[35], "{weights:?}");
    }
}
