//! Time per document to compute gradients, on one thread: 1,000 lists of 120 documents, the objectives in turn, and the
//! median of the rounds.
//!
//! ```sh
//! cargo run --release -p rankwise-objectives --example speed -- objective=lambdamart objective=yetirank,samples=10
//! ```

use std::time::Instant;

use rankwise_data::{DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{ObjectiveSpec, Round, gradients};
use rankwise_params::ParamGroup as _;

const N_LISTS: u32 = 1000;
const LENGTH: u32 = 120;
const ROUNDS: u32 = 15;

/// A pseudo-random number in [0, 1) that depends only on `number`.
fn fraction(number: u32) -> f64 {
    f64::from(number.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24)
}

fn main() {
    let mut settings: Vec<String> = std::env::args().skip(1).collect();
    if settings.is_empty() {
        settings.push("objective=lambdamart".into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("there is no pool yet");
    let mut builder = DatasetBuilder::default();
    for row in 0..N_LISTS * LENGTH {
        // Labels as in web search data: half of them 0, few 3 and 4.
        let grade = [0.52, 0.75, 0.94, 0.99].iter().filter(|share| fraction(row ^ 0x5bd1) >= **share).count();
        let (qid, doc_id) = (format!("q{}", row / LENGTH), format!("d{row}"));
        builder.push(&Row { qid: &qid, label: grade as f32, doc_id: &doc_id, features: &[] }).expect("rows are fine");
    }
    let data = builder.finish().expect("the data is fine");
    let scores: Vec<f64> = (0..data.n_rows() as u32).map(|row| 2.0 * fraction(row + 7)).collect();
    let objectives: Vec<_> = settings
        .iter()
        .map(|setting| {
            let mut spec = ObjectiveSpec::default();
            for part in setting.split(',') {
                let (name, value) = part.split_once('=').expect("name=value");
                assert!(spec.set(name, value).expect("a value"), "there is no parameter {name}");
            }
            let params = spec.check().expect("values in range");
            params.bind(&data, &Rules::default(), SimdLevel::best()).expect("the data suits the objective")
        })
        .collect();
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    let mut times = vec![Vec::new(); objectives.len()];
    for tree in 0..ROUNDS {
        for (objective, times) in objectives.iter().zip(&mut times) {
            let start = Instant::now();
            gradients(&**objective, &data, Round { tree, seed: 1 }, &scores, (&mut grad, &mut hess));
            times.push(start.elapsed().as_secs_f64() * 1e9 / data.n_rows() as f64);
        }
    }
    for (setting, times) in settings.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("{:8.1} ns a document  {setting}", times[times.len() / 2]);
    }
}
