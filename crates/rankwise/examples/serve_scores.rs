//! Scores requests on several threads with one shared scorer: `cargo run --release -p rankwise --example serve_scores`.
//!
//! A `Scorer` is created once for a model and shared. Each thread has a `Scratch`, so that scoring allocates nothing.

use std::sync::mpsc;

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::prelude::*;
use rankwise::score::Rows;

/// The documents of one query, row by row, with the values of the model's features; NaN is missing.
struct Request {
    id: usize,
    values: Vec<f32>,
    n_docs: usize,
}

const N_THREADS: usize = 4;

fn main() -> Result<(), rankwise::Error> {
    let data = SynthSpec { preset: Preset::Web, rows: 3_000, features: Some(20), seed: 1 }.check()?.dataset();
    let params = TrainSpec::default().num_trees(50).num_leaves(15).check()?;
    let model = train(&params, &data, &[], &mut Silent)?.model;
    let scorer = Scorer::new(&model);

    let requests: Vec<Request> = (0..200).map(|id| request(id, scorer.n_features())).collect();
    let (to_caller, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        for part in requests.chunks(requests.len().div_ceil(N_THREADS)) {
            let (scorer, to_caller) = (&scorer, to_caller.clone());
            scope.spawn(move || {
                let mut scratch = Scratch::default();
                for request in part {
                    let mut scores = vec![0.0; request.n_docs];
                    let docs = Rows::new(&request.values, scorer.n_features(), request.n_docs);
                    scorer.score(&docs, &mut scores, &mut scratch);
                    // The receiver may be gone.
                    let _ = to_caller.send((request.id, scores));
                }
            });
        }
    });
    drop(to_caller);

    let mut n_answers = 0;
    for (id, scores) in answers {
        // On any thread, the scores are those of the model itself.
        let first: Vec<f64> = requests[id].values[..scorer.n_features()].iter().copied().map(f64::from).collect();
        assert_eq!(scores[0].to_bits(), model.score(&first).to_bits());
        n_answers += 1;
    }
    println!("{n_answers} requests were answered by {N_THREADS} threads");
    assert_eq!(n_answers, requests.len());
    Ok(())
}

fn request(id: usize, n_features: usize) -> Request {
    let n_docs = 1 + id % 40;
    let value =
        |place: usize| if place.is_multiple_of(11) { f32::NAN } else { ((id * 31 + place * 7) % 100) as f32 / 10.0 };
    Request { id, values: (0..n_docs * n_features).map(value).collect(), n_docs }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
