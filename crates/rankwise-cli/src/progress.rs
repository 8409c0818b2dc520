//! Progress: a bar on a terminal, otherwise an occasional line. Ctrl-C stops training after the current tree.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use rankwise::train::{Flow, Observer, Pass, Progress, TrainParams};

use crate::failure::{Interrupted, say};
use crate::output::Output;

/// How often a line is printed without a terminal.
const LINE_PERIOD: Duration = Duration::from_secs(5);

/// Shows the progress of a run.
pub(crate) struct Watch {
    display: Display,
    started: Instant,
    /// Rounds done earlier, by another process.
    first_round: usize,
    last_line: Instant,
    /// What a round is called.
    unit: &'static str,
    signals: &'static Signals,
}

enum Display {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

impl Display {
    fn new(output: Output, set_up: impl FnOnce(&ProgressBar)) -> Self {
        if output.is_quiet() {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        set_up(&bar);
        Self::Bar(bar)
    }

    /// Clears the bar.
    fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Watch {
    pub(crate) fn new(output: Output, first_round: usize, params: &TrainParams) -> Self {
        let (unit, num_rounds) = (params.boosting().learner.round_name(), params.max_rounds());
        let display = Display::new(output, |bar| {
            bar.set_length(num_rounds as u64);
            bar.set_style(bar_style(unit));
            bar.set_position(first_round as u64);
            bar.reset_eta();
        });
        let now = Instant::now();
        Self { display, started: now, first_round, last_line: now, unit, signals: signals(output) }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.display.finish();
    }

    fn flow(&self) -> Flow {
        if self.signals.is_interrupted() { Flow::Stop } else { Flow::Continue }
    }

    /// The exit of an interrupted run. The message is for a run without result.
    pub(crate) fn interrupted(&self, message: Option<&'static str>) -> Interrupted {
        self.signals.interrupted(message)
    }
}

impl Observer for Watch {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.pass == Pass::Outliers {
            return self.in_search_of_outliers(progress);
        }
        let message = progress.values.first().map_or_else(String::new, |first| {
            format!("{} {:.4}, best at {}  ", first.metric, first.value, progress.best_round)
        });
        match &self.display {
            Display::Nothing => {}
            Display::Bar(bar) => {
                bar.set_position(progress.round as u64);
                // The number of the tree stands in the message, since either of the two may be drawn without the other.
                bar.set_message(format!("{}/{}  {message}", progress.round, progress.num_rounds));
            }
            Display::Lines => {
                if self.last_line.elapsed() >= LINE_PERIOD {
                    self.last_line = Instant::now();
                    let rate = (progress.round - self.first_round) as f64 / self.started.elapsed().as_secs_f64();
                    let left = (progress.num_rounds - progress.round) as f64 / rate;
                    let (unit, round, all) = (self.unit, progress.round, progress.num_rounds);
                    say(&format!("{unit} {round}/{all}  {message}{rate:.1} {unit}s/s  about {left:.0} s left"));
                }
            }
        }
        self.flow()
    }
}

impl Watch {
    fn in_search_of_outliers(&mut self, progress: &Progress<'_>) -> Flow {
        let (tree, num_trees) = (progress.round, progress.num_rounds);
        match &self.display {
            Display::Bar(bar) => bar.set_message(format!("detecting outliers: {tree}/{num_trees}  ")),
            Display::Lines if self.last_line.elapsed() >= LINE_PERIOD => {
                self.last_line = Instant::now();
                say(&format!("detecting outliers: tree {tree}/{num_trees}"));
            }
            Display::Nothing | Display::Lines => {}
        }
        if progress.is_last {
            self.started = Instant::now();
        }
        self.flow()
    }
}

/// Progress of other work with a known number of steps.
pub(crate) struct Steps {
    display: Display,
    noun: &'static str,
    /// When the first steps were done, and how many, to exclude earlier work from the rate.
    first: Option<(Instant, usize)>,
    last_line: Instant,
}

impl Steps {
    /// Nothing is shown before the first step is done.
    pub(crate) fn new(output: Output, noun: &'static str) -> Self {
        let display = Display::new(output, |bar| {
            let style = ProgressStyle::with_template("{bar:16} {msg} {pos}/{len}  {eta} left");
            bar.set_style(style.expect("the template is right").progress_chars("━╸ "));
            bar.set_message(noun);
        });
        Self { display, noun, first: None, last_line: Instant::now() }
    }

    /// Reports the number of steps done.
    pub(crate) fn show(&mut self, done: usize, all: usize) {
        let (started, first) = *self.first.get_or_insert((Instant::now(), done));
        match &self.display {
            Display::Bar(bar) => {
                bar.set_length(all as u64);
                bar.set_position(done as u64);
            }
            Display::Lines if self.last_line.elapsed() >= LINE_PERIOD && done > first => {
                self.last_line = Instant::now();
                let left = started.elapsed().as_secs_f64() / (done - first) as f64 * (all - done) as f64;
                say(&format!("{} {done}/{all}  about {left:.0} s left", self.noun));
            }
            Display::Nothing | Display::Lines => {}
        }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.display.finish();
    }
}

/// Several lines that are replaced on a terminal whenever they change, while work goes on that Ctrl-C stops.
pub(crate) struct LiveText {
    display: Display,
    signals: &'static Signals,
}

impl LiveText {
    pub(crate) fn new(output: Output) -> Self {
        let style = ProgressStyle::with_template("{msg}").expect("the template is right");
        Self { display: Display::new(output, |bar| bar.set_style(style)), signals: signals(output) }
    }

    /// Shows the text; `false` if there is no terminal to show it on.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) -> bool {
        match &self.display {
            Display::Bar(bar) => bar.set_message(text()),
            Display::Nothing => {}
            Display::Lines => return false,
        }
        true
    }

    /// Clears the text.
    pub(crate) fn finish(&self) {
        self.display.finish();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.signals.is_interrupted()
    }

    /// See [`Watch::interrupted`].
    pub(crate) fn interrupted(&self, message: Option<&'static str>) -> Interrupted {
        self.signals.interrupted(message)
    }
}

/// Shows the progress of jobs that train on several threads, and stops them after Ctrl-C.
pub(crate) struct JobWatch {
    steps: Mutex<Steps>,
    n_jobs: usize,
    signals: &'static Signals,
}

impl JobWatch {
    pub(crate) fn new(output: Output, noun: &'static str, n_jobs: usize) -> Self {
        Self { steps: Mutex::new(Steps::new(output, noun)), n_jobs, signals: signals(output) }
    }

    fn steps(&self) -> std::sync::MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.steps().finish();
    }

    /// See [`Watch::interrupted`].
    pub(crate) fn interrupted(&self, message: Option<&'static str>) -> Interrupted {
        self.signals.interrupted(message)
    }
}

impl rankwise::tune::Watch for JobWatch {
    fn is_stopped(&self) -> bool {
        self.signals.is_interrupted()
    }

    fn job_done(&self, n_done: usize) {
        self.steps().show(n_done, self.n_jobs);
    }
}

/// Fits 80 columns, even with a thousand trees.
fn bar_style(unit: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{:.1}", state.per_sec());
    };
    ProgressStyle::with_template(&format!("{{bar:16}} {unit} {{msg}}{{rate}}/s  {{eta}} left"))
        .expect("the template is right")
        .with_key("rate", rate)
        .progress_chars("━╸ ")
}

/// The state set by Ctrl-C and SIGTERM.
#[derive(Default)]
struct Signals {
    /// Set by the first signal; a second one ends the process at once.
    is_interrupted: Arc<AtomicBool>,
    /// The number of the last signal.
    number: Arc<AtomicUsize>,
}

impl Signals {
    fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    fn interrupted(&self, message: Option<&'static str>) -> Interrupted {
        let number = u8::try_from(self.number.load(Ordering::Relaxed)).ok().filter(|number| *number > 0);
        Interrupted { exit_code: SIGNAL_EXIT + number.unwrap_or(SIGINT), message }
    }
}

/// The exit code of a program ended by a signal is this plus its number, as in shells.
const SIGNAL_EXIT: u8 = 128;
const SIGINT: u8 = 2;

/// One per process, since handlers can be set only once.
fn signals(output: Output) -> &'static Signals {
    static SIGNALS: OnceLock<Signals> = OnceLock::new();
    SIGNALS.get_or_init(|| {
        let signals = Signals::default();
        let (flag, number) = (Arc::clone(&signals.is_interrupted), Arc::clone(&signals.number));
        // Without a handler Ctrl-C ends the process, as it does everywhere.
        let _ = ctrlc::set_handler(move || {
            number.store(SIGINT.into(), Ordering::Relaxed);
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit((SIGNAL_EXIT + SIGINT).into());
            }
            output.remark("\nstopping after this round; press Ctrl-C again to quit without saving");
        });
        // A terminal that is closed (SIGHUP) ends the process, or does nothing to it after nohup, as the system does it.
        #[cfg(unix)]
        {
            let (signal, flag) = (signal_hook::consts::SIGTERM, &signals.is_interrupted);
            let exit_code = i32::from(SIGNAL_EXIT) + signal;
            let _ = signal_hook::flag::register_conditional_shutdown(signal, exit_code, Arc::clone(flag));
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.number), signal as usize);
            let _ = signal_hook::flag::register(signal, Arc::clone(flag));
        }
        signals
    })
}
