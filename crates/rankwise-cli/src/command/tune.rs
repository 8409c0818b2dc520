//! `rankwise tune`

mod report;
mod watch;

use std::path::{Path, PathBuf};

use rankwise::io::{Place, ReadData, ReadReport, read_bytes};
use rankwise::params::Setting;
use rankwise::train::{TrainParams, TrainSpec};
use rankwise::tune::{Search, Space, Stopping, TuneError, Tuned, Tuning, tune};

use self::report::Report;
use self::watch::TrialWatch;
use crate::args::Global;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at, user_in};
use crate::inputs::Inputs;
use crate::output::Output;
use crate::record::FileKind;
use crate::search::{StepFolder, find_data};
use crate::tune_args::{SearchKind, Tune as Args};
use crate::{files, reading, text};

pub(crate) fn run(args: &Args, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "search"]);
    output.phase("load");
    let paths = Paths::find(args)?;
    let (spec, layout) = args.params.spec(&args.rules, &args.read, global)?;
    let params = spec.clone().check()?;
    let space = space(args, &spec)?;
    paths.check_outputs(args, output)?;
    let open = |folder: &PathBuf| StepFolder::open(folder, "trial", args.resume, output);
    let store = args.checkpoint.as_ref().map(open).transpose()?;
    let inputs = Inputs { pairs: None, layout, absent: params.reading().absent, start: None, output };
    let read = paths.read(&inputs)?;
    paths.tell(&read, &inputs);
    output.phase("search");
    let tuning = Tuning {
        data: &read.data.data,
        valid: read.valid.as_ref().map(|read| &read.data),
        test: read.test.as_ref().map(|read| &read.data),
        spec: &spec,
        space: &space,
        search: match args.search {
            SearchKind::Tpe => Search::Tpe,
            SearchKind::Random => Search::Random,
        },
        stopping: if args.halving { Stopping::Halving } else { Stopping::Never },
        trials: args.trials,
        parallel: args.parallel,
    };
    let watch = TrialWatch::new(output, args.trials, &params);
    let found = match &store {
        Some(store) => tune(&tuning, &watch, store),
        None => tune(&tuning, &watch, &()),
    };
    watch.finish();
    let tuned = found.map_err(|error| paths.placed(error, &read, store.as_ref(), &watch))?;
    output.phase("other");
    output.write_text(&args.out, FileKind::Model, &tuned.model.to_json())?;
    if let Some(path) = &args.write_config {
        output.write_text(path, FileKind::Config, &config(&tuned))?;
    }
    let report = Report {
        tuned: &tuned,
        params: &params,
        out: &args.out,
        config: args.write_config.as_deref(),
        test: paths.test.as_ref().map(DataPaths::place),
        reports: [Some(&read.data), read.valid.as_ref(), read.test.as_ref()].map(|read| read.map(|read| &read.report)),
        elapsed: output.elapsed(),
    };
    output.summary(&args.out, &report.text(output.is_quiet()), report.json())?;
    if tuned.is_interrupted { Err(watch.interrupted(None).into()) } else { Ok(()) }
}

/// The space of the file, or the built-in one.
fn space(args: &Args, spec: &TrainSpec) -> anyhow::Result<Space> {
    let Some(path) = &args.space else { return Ok(Space::builtin(spec).map_err(TuneError::from)?) };
    let text = String::from_utf8(read_bytes(path, u64::MAX)?)
        .map_err(|_| user_at(path, "not UTF-8 text; save the file as UTF-8"))?;
    Space::parse(&text).map_err(|error| {
        let (line, column) = (Some(error.line as u64), Some(error.column as u64));
        user_in(Place { path: path.clone(), line, column }, error.problem)
    })
}

/// What `train --config` needs to train the winner again.
fn config(tuned: &Tuned) -> String {
    let settings: Vec<Setting> = recorded(&tuned.params);
    rankwise::config::render(settings.iter().map(|setting| (setting.name, setting.value.as_str())))
}

/// The parameters that differ from their defaults.
fn recorded(params: &TrainParams) -> Vec<Setting> {
    let mut settings = params.changed();
    // A model file has this in a field of its own.
    let absent = rankwise::params::ParamValue::render(&params.reading().absent);
    if absent != "missing" {
        settings.push(Setting { name: "absent", value: absent, is_default: false });
    }
    settings
}

/// The files of a search.
struct Paths<'a> {
    data: DataPaths,
    valid: Option<DataPaths>,
    test: Option<DataPaths>,
    others: Vec<&'a Path>,
}

/// What was read.
struct Read {
    data: ReadData,
    valid: Option<ReadData>,
    test: Option<ReadData>,
}

impl<'a> Paths<'a> {
    fn find(args: &'a Args) -> anyhow::Result<Self> {
        let (data, valid) = find_data("tune", &args.data, &args.valid)?;
        let test = if args.test.is_empty() { None } else { Some(DataPaths::find(&args.test)?) };
        let others = args.params.config.iter().chain(&args.space).map(PathBuf::as_path).collect();
        Ok(Self { data, valid, test, others })
    }

    /// The validation data and the test data.
    fn more(&self) -> impl Iterator<Item = &DataPaths> {
        self.valid.iter().chain(&self.test)
    }

    fn check_outputs(&self, args: &Args, output: Output) -> anyhow::Result<()> {
        let data = std::iter::once(&self.data).chain(self.more()).flat_map(DataPaths::inputs);
        let inputs: Vec<&Path> = data.chain(self.others.iter().copied()).collect();
        files::check_inputs(&inputs)?;
        output.check_file(&args.out, "model needs")?;
        files::check_output(&args.out, &inputs)?;
        let Some(config) = &args.write_config else { return Ok(()) };
        if files::is_stream(config) {
            return Err(user("standard output is used for the result; give a file name in place of -"));
        }
        files::check_output(config, &inputs)?;
        if *config == args.out {
            return Err(user_at(config, "two outputs have this name; use different files"));
        }
        Ok(())
    }

    fn read(&self, inputs: &Inputs<'_>) -> anyhow::Result<Read> {
        let data = inputs.training_values(&self.data)?;
        let read = |paths: &Option<DataPaths>| -> anyhow::Result<Option<ReadData>> {
            let Some(paths) = paths else { return Ok(None) };
            Ok(inputs.valid_data(std::slice::from_ref(paths), &data.data)?.pop())
        };
        let (valid, test) = (read(&self.valid)?, read(&self.test)?);
        if let (Some(valid), Some(test), Some(path)) = (&valid, &test, &self.test)
            && valid.data.n_rows() == test.data.n_rows()
            && valid.data.fingerprint() == test.data.fingerprint()
        {
            let message = "this is the validation data, which the search has seen; leave out --test, or use other data";
            return Err(user_at(path.place(), message));
        }
        Ok(Read { data, valid, test })
    }

    fn tell(&self, read: &Read, inputs: &Inputs<'_>) {
        let output = inputs.output;
        let all = [(Some(&self.data), Some(&read.data)), (self.valid.as_ref(), read.valid.as_ref())]
            .into_iter()
            .chain([(self.test.as_ref(), read.test.as_ref())]);
        let mut sets: Vec<(&Path, &ReadReport)> = Vec::new();
        for (paths, read) in all.filter_map(|(paths, read)| paths.zip(read)) {
            output.remark(&format!("{}: {}", files::shown(paths.place()), text::documents(&read.data)));
            sets.push((paths.place(), &read.report));
        }
        if !output.hides_warnings() {
            files::warn_of(&self.data, &inputs.read_options(), &read.data.data.remarks(), output);
        }
        reading::tell_all(&sets, output);
    }

    /// An error with the file that it is about.
    fn placed(&self, error: TuneError, read: &Read, store: Option<&StepFolder>, watch: &TrialWatch) -> anyhow::Error {
        let data = self.data.place();
        match error {
            TuneError::Interrupted => {
                watch.interrupted(Some("interrupted before the first trial was done; no model was written")).into()
            }
            TuneError::Step { step, source } => match store {
                Some(store) => user_at(&store.path(step), source.to_string()),
                None => user(source.to_string()),
            },
            TuneError::TooManyFolds { .. } => {
                if let (Some(read), Some(paths)) = (&read.valid, &self.valid) {
                    let queries = text::count(read.data.n_queries(), "query");
                    let message = format!("{queries} cannot both decide and test; use at least 2, or add --test");
                    return user_at(paths.place(), message);
                }
                let queries = text::count(read.data.data.n_queries(), "query");
                let message = format!("{queries} are too few: every fifth is set aside for validation; use more data");
                user_at(data, message)
            }
            error @ (TuneError::NothingTrained { .. } | TuneError::Data(_) | TuneError::Metric(_)) => {
                user_at(data, error.to_string())
            }
            error => error.into(),
        }
    }
}
