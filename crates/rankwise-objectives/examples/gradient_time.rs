//! How long gradients take, in nanoseconds for each document on one thread, in turns with LambdaMART's:
//! `cargo run --release -p rankwise-objectives --example gradient_time [documents in a list] [objective...]`.

use std::time::Instant;

use rankwise_data::{Dataset, DatasetBuilder, Draw, Purpose, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{Objective, ObjectiveSpec, Round, gradients};
use rankwise_params::ParamGroup as _;

const N_DOCS: usize = 60_000;
const TURNS: u32 = 15;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let length: usize = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(120);
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        let all =
            "rmse logistic query-rmse multiclass softmax listnet xendcg listmle p-listmle plackett-luce approx-ndcg";
        names = all.split(' ').map(str::to_owned).collect();
    }
    let draw = Draw::new(1, Purpose::SynthDocument, 0);
    let dataset = |n_grades: f64| {
        let mut builder = DatasetBuilder::default();
        for doc in 0..N_DOCS {
            let (qid, doc_id) = (format!("q{}", doc / length), format!("d{doc}"));
            // Half of the documents are not relevant, as in web search.
            let label = (draw.uniform(doc as u64, 0).powi(2) * 6.0).floor().min(n_grades - 1.0);
            builder.push(&Row { qid: &qid, label: label as f32, doc_id: &doc_id, features: &[] }).expect("a row");
        }
        builder.finish().expect("a data set")
    };
    // Probabilities, for objectives that take no grades.
    let (graded, likely) = (dataset(5.0), dataset(2.0));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let bind = |name: &str, data: &Dataset| {
        let mut spec = ObjectiveSpec::default();
        // `softmax:samples=4` sets a parameter.
        for (place, part) in name.split(':').enumerate() {
            let (key, value) = if place == 0 { ("objective", part) } else { part.split_once('=').expect("key=value") };
            assert!(spec.set(key, value).expect("a value"), "{key} is unknown");
        }
        spec.check().expect("parameters").bind(data, &Rules::default(), SimdLevel::best())
    };
    let reference = bind("lambdamart", &graded).expect("LambdaMART");
    for name in &names {
        let data = if name.starts_with("logistic") { &likely } else { &graded };
        let objective = bind(name, data).expect("labels that fit");
        let n_outputs = objective.classes().map_or(1, |classes| classes.gains.len());
        let scores: Vec<f64> = (0..n_outputs * N_DOCS).map(|at| draw.normals(at as u64, 1)[0]).collect();
        let (mut grad, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        let mut time = |objective: &dyn Objective, n_scores: usize, data: &Dataset, tree: u32| {
            let started = Instant::now();
            let derivatives = (&mut grad[..n_scores], &mut hess[..n_scores]);
            pool.install(|| gradients(objective, data, Round { tree, seed: 1 }, &scores[..n_scores], derivatives));
            started.elapsed().as_secs_f64() * 1e9 / N_DOCS as f64
        };
        let mut best = [f64::INFINITY; 2];
        for tree in 0..TURNS {
            best[0] = best[0].min(time(&*objective, n_outputs * N_DOCS, data, tree));
            best[1] = best[1].min(time(&*reference, N_DOCS, &graded, tree));
        }
        println!("{name}: {:.1} ns a document, lambdamart {:.1}", best[0], best[1]);
    }
}
