//! `rankwise convert-data`

use rankwise::data::Dataset;
use rankwise::io::{Format, write_dataset};
use serde_json::json;

use crate::args::ConvertData;
use crate::failure::user;
use crate::output::Output;
use crate::{files, text};

pub(crate) fn run(args: &ConvertData, output: Output) -> anyhow::Result<()> {
    let format = target(args)?;
    output.check_file(&args.output, "data need")?;
    files::check_output(&args.output, &[&args.input])?;
    let data = files::read_data(&args.input, &args.read.options(args.absent))?;
    if format == Format::Letor && !data.feature_names().is_empty() {
        output.remark("note: LETOR text has no names; the features are numbered 0, 1, ... in the order of the columns");
    }
    let written = write_dataset(&data, &args.output, format)?;
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    output.summary(
        &args.output,
        &summary(&data, &written),
        &json!({
            "files": written,
            "rows": data.n_rows(),
            "queries": data.n_queries(),
            "features": data.n_features(),
        }),
    )
}

/// What to write: as it was typed, or as the name of the output ends.
fn target(args: &ConvertData) -> anyhow::Result<Format> {
    let known = args.to.map(Into::into).or_else(|| Format::of_name(&args.output));
    known.ok_or_else(|| {
        let place = args.output.display();
        user(format!("{place}: the name does not tell the format; end it in .txt, .csv, .tsv or .parquet, or say --to"))
    })
}

fn summary(data: &Dataset, written: &[String]) -> String {
    let (rows, queries) = (text::count(data.n_rows(), "document"), text::count(data.n_queries(), "query"));
    format!("wrote {rows} of {queries} to {}\n", written.join(", "))
}
