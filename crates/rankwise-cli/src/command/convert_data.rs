//! `rankwise convert-data`

use std::path::Path;

use rankwise::data::{BinningParams, BinningSpec, Keep};
use rankwise::io::{Format, ReadData, ReadOptions, write_cache, write_dataset};
use rankwise::params::ParamGroup as _;
use serde_json::json;

use crate::args::ConvertData;
use crate::data_args::DataTarget;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;
use crate::{files, reading, text};

pub(crate) fn run(args: &ConvertData, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "write"]);
    rankwise::io::check_writable(&args.output)?;
    let format = target(args)?.format();
    let binning = binning(args, format)?;
    output.check_file(&args.output, "data needs")?;
    let paths = DataPaths::find(&args.input)?;
    files::check_output(&args.output, &paths.inputs().collect::<Vec<_>>())?;
    let options = ReadOptions { keep: Keep::All, ..args.read.options(args.absent)? };
    output.phase("load");
    let ReadData { data, report } = files::read_data(&paths, &options)?;
    reading::tell(paths.place(), &report, output);
    if format == Some(Format::Letor) && !data.feature_names().is_empty() {
        output.note("LETOR has no feature names; features are numbered 0, 1, ... in column order");
    }
    output.phase("write");
    let counts = [data.n_rows(), data.n_queries(), data.n_features()];
    let written = if let Some(format) = format {
        write_dataset(&data, &args.output, format)?
    } else {
        write_cache(&data, &binning, &args.output)?;
        vec![args.output.clone()]
    };
    for path in &written {
        output.wrote(path, kind(path, args, format));
    }
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let [rows, queries, features] = counts;
    output.done(
        &args.output,
        &summary(rows, queries, &written),
        json!({ "rows": rows, "queries": queries, "features": features, "data": reading::to_json(&report) }),
    )
}

/// The output format: as typed, or by the extension of the output file.
fn target(args: &ConvertData) -> anyhow::Result<DataTarget> {
    args.to.or_else(|| DataTarget::of_name(&args.output)).ok_or_else(|| {
        if files::is_stream(&args.output) {
            return user("-: standard output has no file extension to select the format; set --to");
        }
        let message = "unknown file extension; use .txt, .csv, .tsv, .parquet or .rwcache, or set --to";
        user_at(&args.output, message)
    })
}

/// The kind of a written file.
fn kind(path: &Path, args: &ConvertData, format: Option<Format>) -> FileKind {
    match format {
        None => FileKind::Cache,
        Some(_) if path == args.output => FileKind::Data,
        Some(_) => FileKind::SideFile,
    }
}

/// How a cache is binned.
fn binning(args: &ConvertData, format: Option<Format>) -> anyhow::Result<BinningParams> {
    if format.is_some() && !args.settings.is_empty() {
        return Err(user("--set: only caches have parameters; remove it, or write a file with the extension .rwcache"));
    }
    let mut spec = BinningSpec::default();
    for setting in &args.settings {
        let (name, value) = files::key_and_value(setting)?;
        if !spec.set(name, value)? {
            let known = "max_bin or bin_construct_sample_cnt";
            return Err(user(format!("--set {setting}: not a parameter of caches; use {known}, or --absent")));
        }
    }
    Ok(spec.check()?)
}

fn summary(n_rows: usize, n_queries: usize, written: &[String]) -> String {
    let (rows, queries) = (text::count(n_rows, "document"), text::count(n_queries, "query"));
    format!("wrote {rows} of {queries} to {}\n", written.join(", "))
}
