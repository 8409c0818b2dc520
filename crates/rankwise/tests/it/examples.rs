//! Runs the programs in `examples/`: each ends with a test of itself.

#[path = "../../examples/compare_models.rs"]
mod compare_models;
#[path = "../../examples/own_metric.rs"]
mod own_metric;
#[path = "../../examples/own_objective.rs"]
mod own_objective;
#[path = "../../examples/serve_scores.rs"]
mod serve_scores;
#[path = "../../examples/train_and_evaluate.rs"]
mod train_and_evaluate;

#[test]
fn every_example_is_run() {
    let this = include_str!("examples.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(this.contains(&format!("../../examples/{name}")), "{name} is not among those that are run");
    }
}
