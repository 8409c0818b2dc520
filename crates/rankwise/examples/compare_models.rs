//! Is one model better than another, or is it chance? `cargo run --release -p rankwise --example compare_models`.

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::prelude::*;

fn main() -> Result<(), rankwise::Error> {
    let web = |seed: u64| SynthSpec { preset: Preset::Web, rows: 4_000, features: Some(30), seed }.check();
    let (data, test) = (web(1)?.dataset(), web(2)?.dataset());
    let model = |objective: ObjectiveKind| -> Result<Model, rankwise::Error> {
        let params = TrainSpec::default().objective(objective).check()?;
        Ok(train(&params, &data, &[], &mut Silent)?.model)
    };
    let listwise = predict(&model(ObjectiveKind::LambdaMart)?, &test);
    let pointwise = predict(&model(ObjectiveKind::Rmse)?, &test);
    let one_feature = rankwise::best_feature(&data, &"ndcg@10".parse()?, &Rules::default())?
        .map_or_else(|| vec![0.0; test.n_rows()], |best| best.scores(&test));

    // Means, differences, p-values of Fisher's test (with Holm's correction), and wins and losses by query.
    let systems = [("lambdamart", &listwise), ("rmse", &pointwise), ("best feature", &one_feature)];
    let compared = compare(&test, &systems, "ndcg@10,map")?;
    print!("{compared}");

    let pair = compared.pair("lambdamart", "best feature", "ndcg@10").expect("the two were compared");
    if let (Some(interval), Some(p)) = (pair.interval, pair.corrected) {
        println!(
            "lambdamart - best feature: {:+.4} [{:+.4}, {:+.4}], p {p:.4}",
            pair.difference, interval.low, interval.high
        );
    }
    assert!(pair.difference > 0.0 && pair.corrected.is_some_and(|p| p < 0.05));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
