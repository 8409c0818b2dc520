//! Shows the trials of a search while it runs: a table of the best on a terminal, otherwise a line for each.

use std::sync::{Mutex, PoisonError};

use rankwise::train::TrainParams;
use rankwise::tune::{Trial, TrialResult, TuneWatch, Watch};

use crate::failure::Interrupted;
use crate::output::Output;
use crate::progress::LiveText;
use crate::text;

/// The most trials in the table.
pub(super) const SHOWN: usize = 8;

/// Shows finished trials.
pub(super) struct TrialWatch {
    live: LiveText,
    output: Output,
    n_trials: usize,
    table: Mutex<Trials>,
}

/// The trials so far, with their numbers from 1; 0 is the default.
pub(super) struct Trials {
    metric: String,
    is_larger_better: bool,
    done: Vec<(usize, Trial)>,
}

impl TrialWatch {
    pub(super) fn new(output: Output, n_trials: usize, params: &TrainParams) -> Self {
        Self { live: LiveText::new(output), output, n_trials, table: Mutex::new(Trials::new(params)) }
    }

    /// Clears what is shown.
    pub(super) fn finish(&self) {
        self.live.finish();
    }

    /// See [`LiveText::interrupted`].
    pub(super) fn interrupted(&self, message: Option<&'static str>) -> Interrupted {
        self.live.interrupted(message)
    }
}

impl Watch for TrialWatch {
    fn is_stopped(&self) -> bool {
        self.live.is_stopped()
    }
}

impl TuneWatch for TrialWatch {
    fn trial_done(&self, number: Option<usize>, trial: &Trial) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let number = number.map_or(0, |number| number + 1);
        table.done.push((number, trial.clone()));
        let seconds = self.output.elapsed().as_secs();
        let is_shown = self.live.show(|| {
            let done = table.done.iter().filter(|(number, _)| *number > 0).count();
            format!("{}{done} of {} done, {seconds} s", table.text(), text::count(self.n_trials, "trial"))
        });
        if !is_shown {
            self.output.remark(&format!("{seconds:>4} s  {}", Trials::row(number, trial).join("  ").trim_end()));
        }
    }
}

impl Trials {
    pub(super) fn new(params: &TrainParams) -> Self {
        let metric = &params.boosting().metric[0];
        Self {
            metric: metric.as_str().to_owned(),
            is_larger_better: metric.kind().is_larger_better(),
            done: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, number: usize, trial: &Trial) {
        self.done.push((number, trial.clone()));
    }

    /// The best trials and the default.
    pub(super) fn text(&self) -> String {
        let sign = if self.is_larger_better { -1.0 } else { 1.0 };
        let key = |trial: &Trial| trial.result.value().map_or(f64::INFINITY, |value| sign * value);
        let mut order: Vec<&(usize, Trial)> = self.done.iter().filter(|(number, _)| *number > 0).collect();
        order.sort_by(|a, b| key(&a.1).total_cmp(&key(&b.1)).then(a.0.cmp(&b.0)));
        let default = self.done.iter().find(|(number, _)| *number == 0);
        let mut rows = vec![["trial", &self.metric, "trees", "parameters"].map(str::to_owned)];
        let shown = order.into_iter().take(SHOWN).chain(default);
        rows.extend(shown.map(|(number, trial)| Self::row(*number, trial)));
        let widths = [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        let line = |[number, value, trees, parameters]: &[String; 4]| {
            let [a, b, c] = widths;
            format!("{}\n", format!("{number:<a$}  {value:>b$}  {trees:>c$}  {parameters}").trim_end())
        };
        rows.iter().map(line).collect()
    }

    /// The number, the value, the trees and the parameters of a trial.
    fn row(number: usize, trial: &Trial) -> [String; 4] {
        let number = if number == 0 { "default".to_owned() } else { number.to_string() };
        let settings: Vec<String> = trial.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings = settings.join(" ");
        match &trial.result {
            TrialResult::Finished { value, rounds } => [number, format!("{value:.4}"), rounds.to_string(), settings],
            TrialResult::Stopped { value, rounds } => {
                [number, format!("{value:.4}"), rounds.to_string(), format!("{settings} (stopped)")]
            }
            TrialResult::Failed { problem } => {
                [number, "-".into(), "-".into(), format!("{settings} (failed: {problem})")]
            }
        }
    }
}
