//! `rankwise auto`

mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwise::data::Dataset;
use rankwise::io::{ReadData, ReadReport};
use rankwise::tune::{Auto, AutoWatch, Budget, Tried, TuneError, Watch, auto};

use self::report::{Report, tried_row};
use crate::args::Global;
use crate::auto_args::Auto as Args;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::inputs::Inputs;
use crate::output::Output;
use crate::progress::JobWatch;
use crate::record::FileKind;
use crate::report::DataFacts;
use crate::search::{StepFolder, find_data};
use crate::{files, reading, text};

/// The fewest queries that can be divided into halves twice.
const MIN_QUERIES: usize = 4;

/// The default time.
const TIME: Duration = Duration::from_mins(1);

pub(crate) fn run(args: &Args, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "search"]);
    output.phase("load");
    let (data_paths, valid_paths) = find_data("auto", &args.data, &args.valid)?;
    if args.params.preset.is_some() {
        return Err(user("--preset has no effect on auto, which chooses these parameters itself; remove it"));
    }
    let (spec, layout) = args.params.spec(&args.rules, &args.read, global)?;
    let params = spec.clone().check()?;
    let paths: Vec<&Path> = data_paths
        .inputs()
        .chain(valid_paths.iter().flat_map(DataPaths::inputs))
        .chain(args.params.config.as_deref())
        .collect();
    files::check_inputs(&paths)?;
    output.check_file(&args.out, "model needs")?;
    files::check_output(&args.out, &paths)?;
    args.report.check(&paths, &[("--out", Some(&args.out))])?;
    let store =
        args.checkpoint.as_deref().map(|folder| StepFolder::open(folder, "step", args.resume, output)).transpose()?;
    let inputs = Inputs { pairs: None, layout, absent: params.reading().absent, start: None, output };
    let read = Read::new(&inputs, &data_paths, valid_paths.as_ref(), args.refit)?;
    read.tell(&inputs, &data_paths, valid_paths.as_ref(), output);
    output.phase("search");
    let budget = match args.steps {
        Some(steps) => Budget::Steps(steps),
        // Reading has taken some of the time.
        None => Budget::Time(args.time.unwrap_or(TIME).saturating_sub(output.elapsed())),
    };
    let valid = read.valid.as_ref().map(|valid| &valid.data);
    let refit = args.refit.then(|| read.all.as_ref().unwrap_or(&read.data.data));
    let search = Auto { data: &read.data.data, valid, spec: &spec, budget, refit };
    let watch = StepWatch { jobs: JobWatch::new(output, "models", usize::MAX), output };
    let found = match &store {
        Some(store) => auto(&search, &watch, store),
        None => auto(&search, &watch, &()),
    };
    let found =
        found.map_err(|error| placed(error, &read, &data_paths, valid_paths.as_ref(), store.as_ref(), &watch))?;
    output.phase("other");
    output.write_text(&args.out, FileKind::Model, &found.model.to_json())?;
    let report = Report {
        found: &found,
        params: &params,
        out: &args.out,
        is_refitted: args.refit && !found.is_interrupted,
        steps_asked: args.steps,
        data: &read.data.report,
        valid: read.valid.as_ref().map(|valid| &valid.report),
        elapsed: output.elapsed(),
    };
    if args.report.is_wanted() {
        let valid = read.valid.as_ref().map(|valid| DataFacts::new(&valid.data));
        let facts = [Some(DataFacts::new(&read.data.data)), valid];
        let page = report.page(data_paths.place(), valid_paths.as_ref().map(DataPaths::place), facts);
        args.report.write_and_tell(&page, output)?;
    }
    output.summary(&args.out, &report.text(output.is_quiet()), report.json())?;
    if found.is_interrupted { Err(watch.jobs.interrupted(None).into()) } else { Ok(()) }
}

/// The data of a search.
struct Read {
    data: ReadData,
    valid: Option<ReadData>,
    /// Both together, to train on in the end.
    all: Option<Dataset>,
}

impl Read {
    fn new(
        inputs: &Inputs<'_>,
        data_paths: &DataPaths,
        valid_paths: Option<&DataPaths>,
        needs_all: bool,
    ) -> anyhow::Result<Self> {
        let data = inputs.training_values(data_paths)?;
        let Some(valid_paths) = valid_paths else { return Ok(Self { data, valid: None, all: None }) };
        let valid = inputs.valid_data(std::slice::from_ref(valid_paths), &data.data)?.pop();
        let all = if needs_all {
            let files: Vec<PathBuf> = data_paths.files().iter().chain(valid_paths.files()).cloned().collect();
            Some(inputs.training_values(&DataPaths::find(&files)?)?.data)
        } else {
            None
        };
        Ok(Self { data, valid, all })
    }

    fn tell(&self, inputs: &Inputs<'_>, data: &DataPaths, valid: Option<&DataPaths>, output: Output) {
        if !output.hides_warnings() {
            output.remark(&format!("{}: {}", files::shown(data.place()), text::documents(&self.data.data)));
            files::warn_of(data, &inputs.read_options(), &self.data.data.remarks(), output);
        }
        let mut sets: Vec<(&Path, &ReadReport)> = vec![(data.place(), &self.data.report)];
        if let (Some(paths), Some(read)) = (valid, &self.valid) {
            output.remark(&format!("{}: {}", files::shown(paths.place()), text::documents(&read.data)));
            sets.push((paths.place(), &read.report));
        }
        reading::tell_all(&sets, output);
    }
}

/// An error with the file that it is about.
fn placed(
    error: TuneError,
    read: &Read,
    data: &DataPaths,
    valid: Option<&DataPaths>,
    store: Option<&StepFolder>,
    watch: &StepWatch,
) -> anyhow::Error {
    match error {
        TuneError::Interrupted => {
            watch.jobs.interrupted(Some("interrupted before the first model was trained; nothing was written")).into()
        }
        TuneError::Step { step, source } => match store {
            Some(store) => user_at(&store.path(step), source.to_string()),
            None => user(source.to_string()),
        },
        TuneError::TooManyFolds { .. } => {
            let few = |read: &ReadData| text::count(read.data.n_queries(), "query");
            if let (Some(read), Some(paths)) = (&read.valid, valid) {
                let message = format!("{} are too few to choose by; use at least {MIN_QUERIES}", few(read));
                return user_at(paths.place(), message);
            }
            let message = format!(
                "{} are too few: one fifth is set aside for validation, which needs at least {MIN_QUERIES}; give at least {} \
                 queries, or a validation set with --valid",
                few(&read.data),
                5 * (MIN_QUERIES - 1) + 1
            );
            user_at(data.place(), message)
        }
        // `refit` is also a command, so it is not written as a flag everywhere.
        error @ TuneError::Refit => user(error.to_string().replace("`refit`", "--refit")),
        TuneError::NoTime => user("the time was over before the first tree was grown; increase --time"),
        error @ (TuneError::NothingTrained { .. } | TuneError::Data(_) | TuneError::Metric(_)) => {
            user_at(data.place(), error.to_string())
        }
        error => error.into(),
    }
}

/// Shows each finished step.
struct StepWatch {
    jobs: JobWatch,
    output: Output,
}

impl Watch for StepWatch {
    fn is_stopped(&self) -> bool {
        self.jobs.is_stopped()
    }
}

impl AutoWatch for StepWatch {
    fn step_done(&self, step: usize, tried: &Tried) {
        let seconds = self.output.elapsed().as_secs();
        self.output.remark(&format!("{seconds:>4} s  {}", tried_row(step, tried)));
    }
}
