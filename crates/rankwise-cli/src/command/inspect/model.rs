//! The summary of a model of any kind.

use std::fmt::Write as _;
use std::path::Path;

use rankwise::formats::Source;
use rankwise::model::{AbsentFeature, Model, ModelError, TrainedOn};
use serde_json::json;

use super::ranker::RankerText;
use super::{id_range, id_range_json};
use crate::text;

/// Omits what is unknown for another program's model.
pub(super) fn text(path: &Path, source: Source, model: &Model) -> Result<String, ModelError> {
    let mut out = format!("{}: model", path.display());
    if source != Source::Native {
        let _ = write!(out, " of {}", source.name());
    }
    if !model.objective().is_empty() {
        let _ = write!(out, ", objective {}", model.objective());
    }
    out.push('\n');
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<12} {value}");
    };
    let ranker = RankerText::new(model)?;
    line(ranker.size.name, ranker.size.value);
    line("features", format!("{} used{}", model.features().len(), id_range(model.features())));
    let absent = match model.absent() {
        AbsentFeature::Missing => "missing",
        AbsentFeature::Zero => "0",
    };
    line("absent", format!("absent features are treated as {absent}"));
    ranker.lines.into_iter().for_each(|of_ranker| line(of_ranker.name, of_ranker.value));
    if let Some(on) = trained_on(model) {
        let (rows, queries) = (text::count(on.rows as usize, "document"), text::count(on.queries as usize, "query"));
        line("trained on", format!("{rows}, {queries}"));
        line("fingerprint", on.fingerprint.clone());
    }
    for (idx, (name, value)) in model.params().iter().enumerate() {
        line(if idx == 0 { "parameters" } else { "" }, format!("{name} = {value}"));
    }
    if ranker.table.len() > 1 {
        let _ = write!(out, "\n{}\n{}", ranker.table_title, text::table(&ranker.table));
    }
    Ok(out)
}

pub(super) fn json(source: Source, model: &Model) -> Result<serde_json::Value, ModelError> {
    let mut json = json!({
        "kind": "model",
        "source": source.name(),
        "ranker": model.ranker().kind(),
        "objective": model.objective(),
        "params": model.params(),
        "trained_on": trained_on(model),
        "absent": model.absent(),
        "features": model.features().len(),
        "feature_ids": id_range_json(model.features()),
        "feature_names": model.feature_names(),
    });
    if let (Some(fields), serde_json::Value::Object(of_ranker)) = (json.as_object_mut(), super::ranker::json(model)?) {
        fields.extend(of_ranker);
    }
    Ok(json)
}

/// `None` if the file does not say.
fn trained_on(model: &Model) -> Option<&TrainedOn> {
    Some(model.trained_on()).filter(|on| !on.fingerprint.is_empty())
}
