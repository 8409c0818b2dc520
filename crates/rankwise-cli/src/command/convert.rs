//! `rankwise convert`

use std::collections::BTreeMap;
use std::path::Path;

use rankwise::data::Keep;
use rankwise::formats::{ExportOptions, NetworkReading, Target, export, read_back, renamed_features};
use rankwise::io::{LayoutSpec, Place, ReadOptions, read_feature_names};
use rankwise::model::{Model, Ranker};
use rankwise::{CheckExportError, ExportAgreement};
use serde_json::json;

use crate::convert_args::Convert;
use crate::data_paths::DataPaths;
use crate::failure::{user_at, user_in};
use crate::output::Output;
use crate::record::FileKind;
use crate::{files, text};

pub(crate) fn run(args: &Convert, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "convert", "check", "write"]);
    output.check_file(&args.out, "model needs")?;
    let check_data = args.check.as_deref().map(DataPaths::find_one).transpose()?;
    let mut layout = LayoutSpec::default();
    args.read.apply(&mut layout)?;
    let inputs: Vec<&Path> = [Some(&args.model), layout.feature_names.as_ref()]
        .into_iter()
        .flatten()
        .map(AsRef::as_ref)
        .chain(check_data.iter().flat_map(DataPaths::inputs))
        .collect();
    files::check_inputs(&inputs)?;
    let options = ExportOptions {
        allow_rounding: args.allow_rounding,
        missing_as_zero: args.missing_as_zero,
        n_columns: args.columns,
        names: export_names(args, layout.feature_names.as_deref())?,
    };
    output.phase("load");
    let model = files::read_model(&args.model, args.trees, output)?;
    let size = Size::new(&model, args)?;
    files::check_output(&args.out, &inputs)?;
    output.phase("convert");
    let bytes = export(&model, args.to, &options).map_err(|error| user_at(&args.model, error.to_string()))?;
    for renamed in renamed_features(&model, args.to) {
        let (name, written) = (renamed.name, renamed.written);
        output.note(&format!("feature {name:?} is written as {written:?}, as LightGBM does"));
    }
    output.phase("check");
    let agreement = match &check_data {
        Some(data) => Some(check(args, &model, &bytes, &options, data, output)?),
        None => None,
    };
    output.phase("write");
    output.write(&args.out, FileKind::Model, |file| file.write_all(&bytes))?;
    let mut summary = format!(
        "wrote {} to {} ({}, {} bytes)\n",
        size.text,
        args.out.display(),
        args.to,
        text::thousands(bytes.len() as u64),
    );
    if let Some(agreement) = agreement {
        summary.push_str(&agreed(agreement));
    }
    let checked = agreement
        .map(|agreement| json!({ "rows": agreement.documents, "largest_difference": agreement.largest_difference }));
    output.done(
        &args.out,
        &summary,
        json!({
            "file": args.out.display().to_string(), "format": args.to.name(), "bytes": bytes.len(),
            "trees": size.trees, "leaves": size.leaves, "features": model.features().len(), "check": checked,
        }),
    )
}

/// How large a model is.
struct Size {
    text: String,
    /// Of trees.
    trees: usize,
    leaves: usize,
}

impl Size {
    /// An error for models that the target does not know.
    fn new(model: &Model, args: &Convert) -> anyhow::Result<Self> {
        if let (Ranker::Neural(neural), Target::Onnx) = (model.ranker(), args.to) {
            let weights = text::thousands(neural.weights().len() as u64);
            return Ok(Self { text: format!("a network of {weights} weights"), trees: 0, leaves: 0 });
        }
        if matches!(model.ranker(), Ranker::Linear(_)) {
            let text = format!("a linear model of {}", text::count(model.features().len(), "feature"));
            return Ok(Self { text, trees: 0, leaves: 0 });
        }
        let ensemble = files::trees_of(model, &args.model, "convert")?;
        let (trees, leaves) = (ensemble.n_trees(), ensemble.n_leaves());
        let text = format!("{} with {} leaves", text::count(trees, "tree"), text::thousands(leaves as u64));
        Ok(Self { text, trees, leaves })
    }
}

/// The names of `--feature-names` for the export. If the target has no names, they apply to the data of `--check`.
fn export_names(args: &Convert, file: Option<&Path>) -> anyhow::Result<BTreeMap<u32, String>> {
    match file {
        Some(file) if args.to.has_names() || args.check.is_none() => Ok(read_feature_names(file)?),
        _ => Ok(BTreeMap::new()),
    }
}

/// Reads the export back and compares it with the model.
fn check(
    args: &Convert,
    model: &Model,
    bytes: &[u8],
    options: &ExportOptions,
    paths: &DataPaths,
    output: Output,
) -> anyhow::Result<ExportAgreement> {
    // The other program may distinguish values that the model rounds.
    let read = ReadOptions { keep: Keep::All, ..files::options_for(model, &args.read, files::Labels::Optional)? };
    let data = files::read_data_with(model, paths, &read)?.data;
    files::warn_unknown_features(model, &data, paths.place(), &args.read, output);
    // An export that we cannot read back is a bug of ours, not a user error.
    let agreement = if matches!(model.ranker(), Ranker::Neural(_)) {
        rankwise::check_network_export(model, &NetworkReading::new(bytes)?, &data)
    } else {
        rankwise::check_export(model, &read_back(bytes, args.to, model, options)?, &data)
    };
    agreement.map_err(|error| {
        let CheckExportError::Difference(difference) = &error else { return user_at(paths.place(), error.to_string()) };
        match files::line_of_row(paths, &read, difference.row) {
            Some(line) => {
                let place = Place { path: paths.place().into(), line: Some(line), column: None };
                user_in(place, difference.problem())
            }
            None => user_at(paths.place(), error.to_string()),
        }
    })
}

fn agreed(agreement: ExportAgreement) -> String {
    let documents = text::count(agreement.documents, "document");
    if agreement.largest_difference == 0.0 {
        return format!("checked {documents}: both models give identical scores\n");
    }
    format!(
        "checked {documents}: scores agree within f32 precision; the largest difference is {:.2e}\n",
        agreement.largest_difference
    )
}
