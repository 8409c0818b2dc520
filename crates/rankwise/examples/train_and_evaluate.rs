//! Trains with validation and early stopping, then evaluates on held-out queries:
//! `cargo run --release -p rankwise --example train_and_evaluate [TRAIN VALI TEST]`. Without files it generates data.

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::prelude::*;

fn main() -> Result<(), rankwise::Error> {
    let [data, valid, test] = read_or_make()?;
    let params = TrainSpec::default()
        .objective(ObjectiveKind::LambdaMart)
        .num_trees(200)
        .num_leaves(15)
        .learning_rate(0.1)
        .early_stopping_rounds(10)
        .metric(MetricName::parse_list("ndcg@10")?)
        .check()?;

    // Called after each round; `Flow::Stop` would end training and keep the trees so far.
    let mut show = |progress: &rankwise::train::Progress<'_>| {
        if progress.round.is_multiple_of(20) {
            let values: Vec<String> = progress.values.iter().map(|value| format!("{:.4}", value.value)).collect();
            println!("round {}: {}", progress.round, values.join(", "));
        }
        Flow::Continue
    };
    let valid_sets = [ValidSet { name: "vali", data: &valid }];
    let trained = train(&params, &data, &valid_sets, &mut show)?;
    println!("{} trees are kept", trained.model.tree_ensemble()?.n_trees());

    let scores = predict(&trained.model, &test);
    let evaluation = evaluate(&test, &scores, "ndcg@10,map,mrr")?;
    println!("test: {evaluation}");

    let path = std::env::temp_dir().join(format!("rankwise-example-{}.json", std::process::id()));
    trained.model.save(&path)?;
    assert_eq!(predict(&Model::load(&path)?, &test), scores);
    let _ = std::fs::remove_file(&path);
    Ok(())
}

/// The given files, or synthetic web search data.
fn read_or_make() -> Result<[Dataset; 3], rankwise::Error> {
    let files: Vec<String> = std::env::args().skip(1).filter(|name| name.contains('.')).collect();
    if let [train, vali, test] = &files[..] {
        return Ok([Dataset::read(train)?, Dataset::read(vali)?, Dataset::read(test)?]);
    }
    let web = |seed: u64| SynthSpec { preset: Preset::Web, rows: 5_000, features: Some(30), seed }.check();
    Ok([web(1)?.dataset(), web(2)?.dataset(), web(3)?.dataset()])
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
