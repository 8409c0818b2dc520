//! Time of tests and intervals: `cargo run --release -p rankwise-eval --example speed -- [QUERIES] [PERMUTATIONS]`.

use std::time::Instant;

use rankwise_data::{Draw, Purpose};
use rankwise_eval::{IntervalSpec, QueryValues, Tail, fisher, intervals, paired_t, wilcoxon};

fn main() {
    let number = |place: usize, default: u32| -> u32 {
        std::env::args().nth(place).map_or(default, |typed| typed.parse().expect("a number"))
    };
    let (n_queries, permutations) = (number(1, 10_000), number(2, 100_000));
    let draw = Draw::new(1, Purpose::SynthQuery, 0);
    let differences: Vec<Option<f64>> =
        (0..n_queries).map(|query| Some(draw.normals(query.into(), 0)[0] * 0.3 + 0.004)).collect();
    let sample = QueryValues::new(&differences, &vec![1.0; differences.len()]);
    println!("{n_queries} queries, {} threads", rayon::current_num_threads());
    clock(&format!("fisher, {permutations} permutations"), || fisher(&sample, Tail::Both, permutations, 0));
    clock("paired t", || paired_t(&sample, Tail::Both).unwrap_or(1.0));
    clock("wilcoxon", || wilcoxon(&sample, Tail::Both));
    let spec = IntervalSpec::default();
    clock(&format!("interval, {} resamples", spec.resamples), || {
        intervals(&[&sample], &spec)[0].map_or(0.0, |interval| interval.high - interval.low)
    });
}

/// The best of five.
fn clock(what: &str, compute: impl Fn() -> f64) {
    let mut best = f64::INFINITY;
    let mut value = 0.0;
    for _ in 0..5 {
        let started = Instant::now();
        value = compute();
        best = best.min(started.elapsed().as_secs_f64());
    }
    println!("{what:<30} {best:8.4} s   {value:.6}");
}
