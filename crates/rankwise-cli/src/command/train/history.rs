//! `--history`: the metrics on the validation sets after each round.

use std::fmt::Write as _;
use std::path::Path;

use rankwise::train::History;
use serde_json::{Value, json};

use crate::args::Train;
use crate::failure::user;
use crate::files;

/// Checks before training that the history can be written.
pub(super) fn check(args: &Train, model: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let Some(path) = &args.history else { return Ok(()) };
    if args.valid.0.is_empty() {
        return Err(user("--history needs a validation set; add --valid DATA"));
    }
    if files::is_stream(path) {
        return Err(user("--history -: standard output is used for the summary; give a file name"));
    }
    if path == model {
        return Err(user("--history and --out are the same file; use different names"));
    }
    files::check_output(path, inputs)
}

/// A row for each round, a column for each validation set and metric.
pub(super) fn to_csv(history: &History) -> String {
    let mut out = String::from("round");
    for curve in &history.curves {
        let _ = write!(out, ",{}", quoted(&format!("{}:{}", curve.set, curve.metric)));
    }
    out.push('\n');
    for (idx, round) in history.rounds().enumerate() {
        let _ = write!(out, "{round}");
        for curve in &history.curves {
            let _ = write!(out, ",{}", curve.values[idx]);
        }
        out.push('\n');
    }
    out
}

pub(super) fn to_json(history: &History) -> Value {
    let curves =
        history.curves.iter().map(|curve| json!({ "set": curve.set, "metric": curve.metric, "values": curve.values }));
    json!({ "rounds": history.rounds().collect::<Vec<_>>(), "curves": curves.collect::<Vec<_>>() })
}

/// A CSV field; file names may contain anything.
fn quoted(field: &str) -> String {
    let is_plain = !field.contains([',', '"', '\n', '\r']);
    if is_plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use rankwise::train::Curve;

    use super::*;

    #[test]
    fn a_column_for_each_set_and_metric() {
        let curve =
            |set: &str, values: &[f64]| Curve { set: set.into(), metric: "map".into(), values: values.to_vec() };
        let history = History { first_round: 0, curves: vec![curve("a", &[0.5, 0.25]), curve("b,\"c\"", &[1.0, 0.1])] };
        assert_eq!(to_csv(&history), "round,a:map,\"b,\"\"c\"\":map\"\n0,0.5,1\n1,0.25,0.1\n");
        assert_eq!(to_json(&history)["rounds"], json!([0, 1]));
    }
}
