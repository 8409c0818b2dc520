//! A density of one parameter: a mixture of a kernel for each trial and one for the whole range.

use rankwise_data::Draw;

use crate::{Dimension, Point, Values};

/// Widths are at least the range divided by the number of kernels, or by this if that is less ("magic clip").
const MOST_WIDTHS: f64 = 100.0;

/// The latest trials have the same weight; before them, older ones have less and less.
const FULL_WEIGHT_TRIALS: usize = 25;

/// A normal number outside the range is drawn again, so often at most. Kernels have a third of their mass inside.
const MAX_DRAWS: u32 = 64;

/// The density.
pub(super) enum Parzen {
    Numbers { range: [f64; 2], kernels: Vec<Normal> },
    /// The probability of each choice.
    Choices(Vec<f64>),
}

/// A normal distribution that is cut at the ends of the range.
pub(super) struct Normal {
    mean: f64,
    deviation: f64,
    /// Its share of the mixture.
    weight: f64,
    /// How much of it is in the range.
    mass: f64,
}

impl Parzen {
    /// The density of the points, in the order of their trials.
    pub(super) fn new(dimension: &Dimension, points: &[Point]) -> Self {
        let weights = weights(points.len());
        let Some(range) = dimension.real_range() else {
            let n_choices = if let Values::Choice(values) = dimension.values() { values.len() } else { 0 };
            return Self::Choices(choices(n_choices, points, &weights));
        };
        let middle = |point: &Point| match point {
            Point::Number(number) if dimension.is_integer() => {
                let [low, high] = dimension.real_cell(*number);
                0.5 * (low + high)
            }
            Point::Number(number) => dimension.real_cell(*number)[0],
            Point::Choice(_) => 0.5 * (range[0] + range[1]),
        };
        let means: Vec<f64> = points.iter().map(middle).collect();
        Self::Numbers { range, kernels: kernels(range, &means, &weights) }
    }

    /// A point of the density.
    pub(super) fn sample(&self, dimension: &Dimension, draw: &Draw, idx: usize, candidate: u32) -> Point {
        // Numbers from 0 on are used up one after the other; candidates have their own.
        let ordinal = candidate * (MAX_DRAWS + 1) + 1;
        let share = draw.uniform(idx as u64, ordinal);
        match self {
            Self::Choices(shares) => Point::Choice(place(shares.iter().copied(), share)),
            Self::Numbers { range: [low, high], kernels } => {
                let kernel = &kernels[place(kernels.iter().map(|kernel| kernel.weight), share)];
                let normal = |attempt: u32| draw.normals(idx as u64, ordinal + 1 + attempt);
                let numbers = (0..MAX_DRAWS).flat_map(normal).map(|normal| kernel.mean + kernel.deviation * normal);
                let real = numbers.into_iter().find(|number| (*low..=*high).contains(number)).unwrap_or(kernel.mean);
                Point::Number(dimension.number(real))
            }
        }
    }

    /// The logarithm of the density at a point; for integers, of the probability.
    pub(super) fn log_density(&self, dimension: &Dimension, point: Point) -> f64 {
        let density = match (self, point) {
            (Self::Choices(shares), Point::Choice(choice)) => shares[choice],
            (Self::Numbers { kernels, .. }, Point::Number(number)) => {
                let cell = dimension.real_cell(number);
                kernels.iter().map(|kernel| kernel.weight * kernel.density(cell)).sum()
            }
            _ => 0.0,
        };
        libm::log(density.max(f64::MIN_POSITIVE))
    }
}

impl Normal {
    fn density(&self, [low, high]: [f64; 2]) -> f64 {
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

/// The index of the part of the shares, which add up to 1, that a number below 1 is in.
fn place(shares: impl Iterator<Item = f64> + Clone, number: f64) -> usize {
    let mut sum = 0.0;
    let found = shares.clone().position(|share| {
        sum += share;
        number < sum
    });
    found.unwrap_or(shares.count() - 1)
}

/// The weights of trials from the oldest to the latest.
fn weights(n_trials: usize) -> Vec<f64> {
    let n_old = n_trials.saturating_sub(FULL_WEIGHT_TRIALS);
    let least = 1.0 / n_trials.max(1) as f64;
    let old = |place: usize| {
        if n_old < 2 { least } else { least + (1.0 - least) * place as f64 / (n_old - 1) as f64 }
    };
    (0..n_trials).map(|place| if place < n_old { old(place) } else { 1.0 }).collect()
}

/// The share of each choice: each trial and the whole range give 1 / (number of trials + 1) to all choices, and trials a 1
/// to their own.
fn choices(n_choices: usize, points: &[Point], weights: &[f64]) -> Vec<f64> {
    let n_kernels = (points.len() + 1) as f64;
    let to_all = 1.0 / n_kernels;
    let sum_of_weights: f64 = weights.iter().sum::<f64>() + 1.0;
    let kernel_sum = 1.0 + n_choices as f64 * to_all;
    let mut shares = vec![1.0 / (n_choices as f64 * sum_of_weights); n_choices];
    for (point, weight) in points.iter().zip(weights) {
        let weight = weight / sum_of_weights;
        for (choice, share) in shares.iter_mut().enumerate() {
            let own = if *point == Point::Choice(choice) { 1.0 } else { 0.0 };
            *share += weight * (own + to_all) / kernel_sum;
        }
    }
    shares
}

/// A kernel for each trial, as wide as the larger distance to its neighbours, and one as wide as the range.
fn kernels([low, high]: [f64; 2], means: &[f64], weights: &[f64]) -> Vec<Normal> {
    let (middle, width) = (0.5 * (low + high), high - low);
    let means: Vec<f64> = means.iter().copied().chain([middle]).collect();
    let sum_of_weights: f64 = weights.iter().sum::<f64>() + 1.0;
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|a, b| means[*a].total_cmp(&means[*b]).then(a.cmp(b)));
    let last = order.len() - 1;
    let narrowest = width / MOST_WIDTHS.min((means.len() + 1) as f64);
    let mut kernels: Vec<Normal> = Vec::new();
    for (idx, mean) in means.iter().enumerate() {
        let rank = order.iter().position(|other| *other == idx).expect("every kernel has a rank");
        // The ends of the range are neighbours only if there are too few others.
        let left = (rank > 0).then(|| mean - means[order[rank - 1]]);
        let right = (rank < last).then(|| means[order[rank + 1]] - mean);
        let gap = match (left, right) {
            (Some(left), Some(right)) => left.max(right),
            (Some(gap), None) | (None, Some(gap)) if last >= 1 => gap,
            _ => width,
        };
        let is_whole = idx == means.len() - 1;
        let deviation = if is_whole { width } else { gap.clamp(narrowest, width) };
        let weight = if is_whole { 1.0 } else { weights[idx] } / sum_of_weights;
        kernels.push(Normal { mean: *mean, deviation, weight, mass: probability(*mean, deviation, [low, high]) });
    }
    kernels
}

#[cfg(test)]
mod tests {
    use rankwise_data::Purpose;

    use super::*;
    use crate::Space;

    fn dimension(text: &str) -> Dimension {
        Space::parse(text).unwrap().dimensions()[0].clone()
    }

    #[test]
    fn densities_add_up_to_one() {
        let points: Vec<Point> = [3.0, 4.0, 17.0].map(Point::Number).to_vec();
        for text in ["num_leaves = { uniform = [2, 20] }", "num_leaves = { log = [2, 20] }"] {
            let dimension = dimension(text);
            let parzen = Parzen::new(&dimension, &points);
            let sum: f64 =
                (2..=20).map(|n| libm::exp(parzen.log_density(&dimension, Point::Number(f64::from(n))))).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{text} {sum}");
        }
        let dimension = dimension("objective = ['lambdamart', 'xendcg', 'rmse']");
        let parzen = Parzen::new(&dimension, &[Point::Choice(2), Point::Choice(2), Point::Choice(0)]);
        let shares: Vec<f64> =
            (0..3).map(|choice| libm::exp(parzen.log_density(&dimension, Point::Choice(choice)))).collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[2] > shares[0] && shares[0] > shares[1], "{shares:?}");
    }

    #[test]
    fn samples_follow_the_density() {
        let dimension = dimension("num_leaves = { log = [2, 20] }");
        let parzen = Parzen::new(&dimension, &[3.0, 4.0, 17.0].map(Point::Number));
        let mut counts = [0.0; 21];
        for trial in 0..20_000 {
            match parzen.sample(&dimension, &Draw::new(9, Purpose::Search, trial), 1, trial % 24) {
                Point::Number(number) => counts[number as usize] += 1.0 / 20_000.0,
                Point::Choice(_) => panic!("a number"),
            }
        }
        for n in 2..=20 {
            let expected = libm::exp(parzen.log_density(&dimension, Point::Number(n as f64)));
            assert!((counts[n] - expected).abs() < 0.012, "{n}: {} {expected}", counts[n]);
        }
    }

    #[test]
    fn old_trials_have_less_weight() {
        assert_eq!(weights(3), [1.0; 3]);
        assert_eq!(weights(25), [1.0; 25]);
        let weights = weights(35);
        assert!(weights.is_sorted() && weights[0] < 0.1 && weights[10..] == [1.0; 25], "{weights:?}");
    }
}
