//! The time to score batches with a model: `score_speed MODEL VALUES COLUMNS BATCH [ROUNDS]`, on one thread.
//!
//! VALUES has 32-bit floats, document after document, with COLUMNS values each; a feature's id is its column. Prints
//! the median and the best time of a batch in seconds; `bench/score.py` calls it.

use std::time::Instant;

use rankwise::formats::import;
use rankwise::score::{Rows, Scorer, Scratch};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| -> usize { args[place].parse().expect("a number") };
    let model = import(&std::fs::read(&args[0]).expect("a model file")).expect("a model");
    let bytes = std::fs::read(&args[1]).expect("a file of values");
    let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let (n_columns, batch) = (number(2), number(3));
    let n_rounds = if args.len() > 4 { number(4) } else { 5 };

    let columns: Vec<usize> = model.features().iter().map(|feature| *feature as usize).collect();
    let scorer = Scorer::new(&model);
    let mut scratch = Scratch::default();
    let mut scores = vec![0.0; batch];
    let mut times: Vec<f64> = Vec::new();
    for batch_values in values.chunks_exact(batch * n_columns).cycle().take(n_rounds) {
        let started = Instant::now();
        scorer.score(&Rows::with_columns(batch_values, n_columns, batch, &columns), &mut scores, &mut scratch);
        times.push(started.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    println!("{} {}", times[times.len() / 2], times[0]);
}
