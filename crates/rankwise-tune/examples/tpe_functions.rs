//! Minimises test functions with our searches, for `experiments/tune/functions.py`, which does it with Optuna's.
//!
//! `cargo run --release -p rankwise-tune --example tpe_functions -- SEEDS TRIALS PARALLEL` prints a line
//! `function search seed best` for each search.

use rankwise_tune::{Point, Search, Seen, Space};

/// Five parameters of different kinds.
const MIXED: &str = "
    learning_rate = { log = [0.001, 1] }
    lambda_l2 = { log = [0.1, 10] }
    num_leaves = { log = [8, 128] }
    max_depth = { uniform = [2, 20] }
    objective = ['lambdamart', 'xendcg', 'rmse', 'ranknet']
";

/// Numbers only.
const NUMBERS: &str = "
    bagging_fraction = { uniform = [0.001, 1] }
    feature_fraction = { uniform = [0.001, 1] }
    drop_rate = { uniform = [0, 1] }
    skip_drop = { uniform = [0, 1] }
";

/// What a point is called in its function: its share of the range, or the index of its choice.
struct Trial<'a> {
    space: &'a Space,
    points: &'a [Option<Point>],
}

impl Trial<'_> {
    fn of(&self, name: &str) -> f64 {
        let mut all = self.space.dimensions().iter().zip(self.points);
        match all.find(|(dimension, _)| dimension.name() == name) {
            Some((_, Some(Point::Number(number)))) => *number,
            Some((_, Some(Point::Choice(choice)))) => *choice as f64,
            _ => f64::NAN,
        }
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// A bowl, a valley in which the best rate depends on the size, and a flat region with a step.
fn mixed(trial: &Trial<'_>, kind: &str) -> f64 {
    let rate = trial.of("learning_rate").log10();
    let l2 = trial.of("lambda_l2").log10();
    let leaves = trial.of("num_leaves").log2();
    let (depth, objective) = (trial.of("max_depth"), trial.of("objective"));
    let penalty = [0.1, 0.0, 0.3, 0.05][objective as usize];
    match kind {
        "bowl" => {
            square((rate + 1.3) / 3.0)
                + 0.1 * square(l2 - 0.3)
                + square((leaves - 4.5) / 4.0)
                + square((depth - 7.0) / 18.0)
                + penalty
        }
        "valley" => {
            square((rate + 1.3) + 0.4 * (leaves - 5.0))
                + 0.02 * square(leaves - 4.0)
                + 0.05 * square(l2 - 0.3)
                + penalty * (1.0 + 0.1 * depth)
        }
        _ => {
            (if rate > -1.0 { 1.0 + rate } else { 0.3 * (-1.0 - rate) })
                + 0.1 * (4.0 * l2).sin()
                + 0.02 * (depth - 9.0).abs()
                + penalty
                + 0.05 * (leaves - 6.0).abs()
        }
    }
}

/// Branin in the first two numbers, and a bowl in the others.
fn branin(trial: &Trial<'_>) -> f64 {
    let (x, y) = (15.0 * trial.of("bagging_fraction") - 5.0, 15.0 * trial.of("feature_fraction"));
    let pi = std::f64::consts::PI;
    let first = y - 5.1 / (4.0 * pi * pi) * x * x + 5.0 / pi * x - 6.0;
    let value = first * first + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x.cos() + 10.0;
    0.05 * value + square(trial.of("drop_rate") - 0.2) + square(trial.of("skip_drop") - 0.8)
}

fn lowest(kind: &str, search: Search, seed: u64, n_trials: usize, parallel: usize) -> f64 {
    let space = Space::parse(if kind == "branin" { NUMBERS } else { MIXED }).expect("a space");
    let mut done: Vec<(Vec<Option<Point>>, f64)> = Vec::new();
    for number in 0..n_trials {
        let n_seen = (number + 1).saturating_sub(parallel);
        let value = |idx: usize, value: f64| (idx < n_seen).then_some(-value);
        let seen: Vec<Seen<'_>> =
            done.iter().enumerate().map(|(idx, (points, lost))| Seen { points, value: value(idx, *lost) }).collect();
        let points = search.suggest(&space, seed, number, &seen);
        let trial = Trial { space: &space, points: &points };
        let lost = if kind == "branin" { branin(&trial) } else { mixed(&trial, kind) };
        done.push((points, lost));
    }
    done.into_iter().map(|(_, lost)| lost).fold(f64::INFINITY, f64::min)
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let [seeds, n_trials, parallel] = numbers[..] else { panic!("usage: tpe_functions SEEDS TRIALS PARALLEL") };
    for kind in ["bowl", "valley", "steps", "branin"] {
        for search in [Search::Random, Search::Tpe] {
            for seed in 0..seeds as u64 {
                println!("{kind} {} {seed} {}", search.as_str(), lowest(kind, search, seed, n_trials, parallel));
            }
        }
    }
}
