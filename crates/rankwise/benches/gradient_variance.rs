//! The variance of stochastic gradients: `gradient_variance DATA MODEL TARGET`.
//!
//! Prints, as JSON, the variance of a document's gradient over 200 draws at the scores of MODEL on DATA, averaged over
//! documents, for each estimator. `experiments/stochasticrank/table3.py` calls it.

use std::path::Path;

use rankwise::data::{Absent, SimdLevel};
use rankwise::formats::import;
use rankwise::io::read_dataset;
use rankwise::objectives::{Estimator, ObjectiveKind, ObjectiveSpec, Round, gradients};
use rankwise::prelude::*;

const DRAWS: u32 = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let data = read_dataset(Path::new(&args[0]), Absent::Missing)?;
    let scores = rankwise::predict_canonical(&import(&std::fs::read(&args[1])?)?, &data);
    let target = MetricName::parse(&args[2]).ok_or("no metric of that name")?;
    let ways = [
        ("REINFORCE", Estimator::Reinforce, false),
        ("CCS", Estimator::Ccs, false),
        ("CCS + SFA", Estimator::Ccs, true),
    ];
    let mut shown = Vec::new();
    for (name, estimator, sfa) in ways {
        let objective = ObjectiveKind::StochasticRank;
        let spec = ObjectiveSpec { objective, estimator, sfa, target: target.clone(), ..Default::default() };
        let objective = spec.check()?.bind(&data, &Rules::default(), SimdLevel::best())?;
        let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
        let (mut sums, mut squares) = (vec![0.0f64; data.n_rows()], vec![0.0f64; data.n_rows()]);
        for tree in 0..DRAWS {
            gradients(&*objective, &data, Round { tree, seed: 1 }, &scores, (&mut grad, &mut hess));
            for (row, grad) in grad.iter().enumerate() {
                sums[row] += f64::from(*grad);
                squares[row] += f64::from(*grad).powi(2);
            }
        }
        let n = f64::from(DRAWS);
        let variance = |row: usize| (squares[row] - sums[row] * sums[row] / n) / (n - 1.0);
        let mean = (0..data.n_rows()).map(variance).sum::<f64>() / data.n_rows() as f64;
        shown.push(format!("\"{name}\": {mean:e}"));
    }
    println!("{{{}}}", shown.join(", "));
    Ok(())
}
