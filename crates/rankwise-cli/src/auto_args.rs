//! The arguments of `rankwise auto`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::positive;
use crate::data_args::{DataArgs, RulesArgs};
use crate::data_paths::ValidArgs;
use crate::param_args::ParamArgs;
use crate::report::ReportArgs;

/// Find the best ranker: train models of many kinds and combine them into one.
#[derive(Debug, Args)]
pub(crate) struct Auto {
    /// Training data: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required_unless_present = "valid")]
    pub(crate) data: Vec<PathBuf>,
    /// Model file to write. The model is an ordinary tree ensemble.
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// Stop after this time, such as 60s, 10m or 1h [default: 60s]. The number of models, and so the result, depends on
    /// the machine.
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "steps")]
    pub(crate) time: Option<Duration>,
    /// Stop after this many models instead. The result is then the same on every machine.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) steps: Option<usize>,
    /// At the end, train the chosen models again on all data, including the validation data.
    #[arg(long)]
    pub(crate) refit: bool,
    /// Folder for finished models, so that an interrupted search can be resumed; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Use the models that are already in the folder. Data and parameters must be unchanged.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) params: ParamArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Reads 90, 90s, 1.5m or 1h.
fn time(typed: &str) -> Result<Duration, String> {
    let (number, unit) = match typed.char_indices().next_back() {
        Some((end, 's')) => (&typed[..end], 1.0),
        Some((end, 'm')) => (&typed[..end], 60.0),
        Some((end, 'h')) => (&typed[..end], 3600.0),
        _ => (typed, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit).filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "expected a time, such as 60s, 10m or 1h".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |typed: &str| time(typed).ok().map(|time| time.as_secs_f64());
        assert_eq!(["90", "90s", "1.5m", "1h"].map(seconds), [Some(90.0), Some(90.0), Some(90.0), Some(3600.0)]);
        assert_eq!(["", "s", "0", "-5s", "NaN", "1d", "1e400s", "5 s", "µ"].map(seconds), [None; 9]);
    }
}
