//! How long gradients take, in nanoseconds for each document on one thread, in turns with LambdaMART's:
//! `cargo run --release -p rankwise-objectives --example gradient_time [documents in a list] [objective...]`.

use std::time::Instant;

use rankwise_data::{DatasetBuilder, Draw, Purpose, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{ObjectiveSpec, Round, gradients};
use rankwise_params::ParamGroup as _;

const N_DOCS: usize = 60_000;
const TURNS: u32 = 15;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let length: usize = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(120);
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        let all = "rmse logistic query-rmse softmax listnet xendcg listmle p-listmle plackett-luce approx-ndcg";
        names = all.split(' ').map(str::to_owned).collect();
    }
    let draw = Draw::new(1, Purpose::SynthDocument, 0);
    let mut builder = DatasetBuilder::default();
    for doc in 0..N_DOCS {
        let (qid, doc_id) = (format!("q{}", doc / length), format!("d{doc}"));
        // Half of the documents are not relevant, as in web search; logistic takes no other grades than 0 and 1.
        let uniform = draw.uniform(doc as u64, 0);
        let label =
            if names == ["logistic"] { (uniform * 2.0).floor() } else { (uniform * uniform * 6.0).floor().min(4.0) };
        builder.push(&Row { qid: &qid, label: label as f32, doc_id: &doc_id, features: &[] }).expect("a row");
    }
    let data = builder.finish().expect("a data set");
    let scores: Vec<f64> = (0..data.n_rows()).map(|row| draw.normals(row as u64, 1)[0]).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let bind = |name: &str| {
        let mut spec = ObjectiveSpec::default();
        // `softmax:samples=4` sets a parameter.
        for (place, part) in name.split(':').enumerate() {
            let (key, value) = if place == 0 { ("objective", part) } else { part.split_once('=').expect("key=value") };
            assert!(spec.set(key, value).expect("a value"), "{key} is unknown");
        }
        spec.check().expect("parameters").bind(&data, &Rules::default(), SimdLevel::best())
    };
    let reference = bind("lambdamart").expect("LambdaMART");
    for name in &names {
        let objective = match bind(name) {
            Ok(objective) => objective,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let (mut grad, mut hess) = (vec![0.0; N_DOCS], vec![0.0; N_DOCS]);
        let mut best = [f64::INFINITY; 2];
        for tree in 0..TURNS {
            for (objective, best) in [&reference, &objective].into_iter().zip(&mut best) {
                let started = Instant::now();
                let derivatives = (&mut grad[..], &mut hess[..]);
                pool.install(|| gradients(&**objective, &data, Round { tree, seed: 1 }, &scores, derivatives));
                *best = best.min(started.elapsed().as_secs_f64() * 1e9 / N_DOCS as f64);
            }
        }
        println!("{name}: {:.1} ns a document, lambdamart {:.1}", best[1], best[0]);
    }
}
