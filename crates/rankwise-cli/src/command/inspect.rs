//! `rankwise inspect`

pub(crate) mod drift;
mod model;
pub(crate) mod profile;
mod ranker;

use std::fmt::Write as _;
use std::path::Path;

use rankwise::data::{Absent, Dataset, Remark};
use rankwise::io::{ReadData, ReadReport};
use serde_json::{Value, json};

use self::drift::Drift;
use self::profile::Profile;
use crate::args::Inspect;
use crate::data_paths::DataPaths;
use crate::failure::user_at;
use crate::output::Output;
use crate::report::DataPage;
use crate::trees_args::TreesArgs;
use crate::{files, reading, text};

/// With more distinct labels than this, their range is shown instead of their shares.
const MAX_LABELS_LISTED: usize = 12;

pub(crate) fn run(args: &Inspect, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "look"]);
    output.phase("load");
    if let [file] = &args.files[..]
        && let Some(source) = files::model_source(file)
    {
        if args.features || args.against.is_some() || args.report.is_wanted() {
            return Err(user_at(file, "this is a model; --features, --against, --report and --plots describe data"));
        }
        let model = files::read_model(file, TreesArgs::default(), output)?;
        output.phase("other");
        return output.result(&model::text(file, source, &model)?, model::json(source, &model)?);
    }
    if let Some(model) = args.files.iter().find(|file| files::model_source(file).is_some()) {
        return Err(user_at(model, "this is a model; inspect one model at a time, without data"));
    }
    let paths = DataPaths::find(&args.files)?;
    let options = args.read.options(Absent::Missing)?;
    let other_paths = args.against.as_ref().map(|path| DataPaths::find(std::slice::from_ref(path))).transpose()?;
    let inputs: Vec<&Path> = paths.inputs().chain(other_paths.iter().flat_map(DataPaths::inputs)).collect();
    files::check_inputs(&inputs)?;
    args.report.check(&inputs, &[])?;
    let ReadData { data, report } = files::read_data(&paths, &options)?;
    let other = other_paths.as_ref().map(|other| files::read_data(other, &options)).transpose()?;
    output.phase("look");
    let facts = DataFacts::new(&data, &report);
    files::warn_of(&paths, &options, &facts.remarks, output);
    reading::tell_split(paths.place(), &report, output);
    let profile = (args.features || args.report.is_wanted()).then(|| Profile::new(&data));
    if let Some(profile) = &profile {
        profile.findings().iter().for_each(|found| output.warn(&format!("{}: {found}", files::shown(paths.place()))));
    }
    let drift = match (&other_paths, other) {
        (Some(paths), Some(read)) => Some(Drift::new(&data, read.data, paths.place())?),
        _ => None,
    };
    output.phase("other");
    let mut text = facts.text(paths.place());
    text.extend(profile.iter().filter(|_| args.features).map(|profile| profile.text(args.top)));
    text.extend(drift.iter().map(|drift| drift.text(args.top)));
    let mut json = facts.json();
    json["profile"] = profile.as_ref().map_or(Value::Null, Profile::json);
    json["drift"] = drift.as_ref().map_or(Value::Null, Drift::json);
    if let Some(profile) = &profile
        && args.report.is_wanted()
    {
        let page = DataPage {
            place: files::shown(paths.place()).clone(),
            data: &data,
            labels: data.labels().iter().map(|label| f64::from(*label)).collect(),
            sizes: facts.sizes.iter().map(|size| *size as f64).collect(),
            summary: facts.lines(),
            profile,
            drift: drift.as_ref(),
        };
        args.report.write_and_tell(&page.page(), output)?;
    }
    output.result(&text, json)
}

struct DataFacts<'a> {
    data: &'a Dataset,
    report: &'a ReadReport,
    /// Labels in ascending order, each with its number of documents.
    labels: Vec<(f32, usize)>,
    /// Query sizes, ascending.
    sizes: Vec<usize>,
    n_without_relevant: usize,
    n_one_label: usize,
    n_constant: usize,
    n_missing: usize,
    remarks: Vec<Remark>,
}

impl<'a> DataFacts<'a> {
    fn new(data: &'a Dataset, report: &'a ReadReport) -> Self {
        let mut sorted = data.labels().to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let mut sizes: Vec<usize> = data.queries().map(|query| query.n_docs()).collect();
        sizes.sort_unstable();
        let (mut n_constant, mut n_missing) = (0, 0);
        for slot in 0..data.n_features() {
            let count_missing = |_, value: f32| n_missing += usize::from(value.is_nan());
            data.column(slot).for_each_in(0, data.n_rows(), count_missing);
            let values = data.f64_values_of(data.feature_ids()[slot]);
            n_constant += usize::from(values.is_some_and(|values| values.are_equal(data.n_rows())));
        }
        Self {
            data,
            report,
            labels: sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect(),
            n_without_relevant: data.queries().filter(|query| query.labels.iter().all(|label| *label == 0.0)).count(),
            n_one_label: data
                .queries()
                .filter(|query| query.labels.iter().all(|label| *label == query.labels[0]))
                .count(),
            sizes,
            n_constant,
            n_missing,
            remarks: data.remarks(),
        }
    }

    /// The median number of documents of a query; the sizes are ascending.
    fn median(&self) -> f64 {
        let n_queries = self.sizes.len();
        (self.sizes[(n_queries - 1) / 2] + self.sizes[n_queries / 2]) as f64 / 2.0
    }

    fn n_cells(&self) -> usize {
        self.data.n_rows() * self.data.n_features()
    }

    fn text(&self, path: &Path) -> String {
        let mut out = format!("{}: ranking data\n", files::shown(path));
        for (name, value) in self.lines() {
            let _ = writeln!(out, "  {name:<12} {value}");
        }
        out
    }

    /// Names with their values; lines without a name continue those above.
    fn lines(&self) -> Vec<(String, String)> {
        let data = self.data;
        let id_range = id_range(data.feature_ids());
        let mean_size = data.n_rows() as f64 / data.n_queries() as f64;
        let median = self.median();
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        reading::describe(self.report, &mut line);
        line("documents", text::thousands(data.n_rows() as u64));
        line("queries", text::thousands(data.n_queries() as u64));
        line(
            "",
            match (self.sizes[0], self.sizes[self.sizes.len() - 1]) {
                (smallest, largest) if smallest == largest => format!("{} each", text::count(smallest, "document")),
                (smallest, largest) => {
                    format!("{smallest} to {largest} documents each, mean {mean_size:.1}, median {median}")
                }
            },
        );
        line(
            "",
            format!("{} without relevant documents, {} with a single label", self.n_without_relevant, self.n_one_label),
        );
        line(
            "features",
            format!("{}{id_range}, {} constant", text::thousands(data.n_features() as u64), self.n_constant),
        );
        line("missing", format!("{} of the values", text::percent(self.n_missing, self.n_cells())));
        if self.labels.len() <= MAX_LABELS_LISTED {
            for (idx, (label, count)) in self.labels.iter().enumerate() {
                let share = text::percent(*count, data.n_rows());
                line(
                    if idx == 0 { "labels" } else { "" },
                    format!("{label}: {share} ({})", text::thousands(*count as u64)),
                );
            }
        } else {
            let (low, high) = (self.labels[0].0, self.labels[self.labels.len() - 1].0);
            line("labels", format!("{} distinct, {low} to {high}", text::thousands(self.labels.len() as u64)));
        }
        line("document ids", if data.has_doc_ids() { "yes".into() } else { "no".into() });
        line("weights", if data.is_weighted() { "yes".into() } else { "no".into() });
        if data.positions().is_some() {
            line("positions", "yes".into());
        }
        if !data.pairs().is_empty() {
            line("pairs", text::thousands(data.pairs().len() as u64));
        }
        line("fingerprint", format!("{:032x}", data.fingerprint()));
        lines
    }

    fn json(&self) -> serde_json::Value {
        let data = self.data;
        json!({
            "kind": "data",
            "files": reading::files_json(self.report),
            "columns": reading::columns_json(self.report),
            "joined_queries": self.report.split_queries.as_ref().map_or(0, |split| split.count),
            "rows": data.n_rows(),
            "queries": data.n_queries(),
            "queries_without_relevant": self.n_without_relevant,
            "queries_with_one_label": self.n_one_label,
            "documents_per_query": {
                "min": self.sizes[0],
                "median": self.median(),
                "mean": data.n_rows() as f64 / data.n_queries() as f64,
                "max": self.sizes[self.sizes.len() - 1],
            },
            "features": data.n_features(),
            "feature_ids": id_range_json(data.feature_ids()),
            "constant_features": self.n_constant,
            "missing_share": self.n_missing as f64 / self.n_cells().max(1) as f64,
            "labels": self.labels.iter().map(|(label, count)| json!({ "label": label, "count": count })).collect::<Vec<_>>(),
            "document_ids": data.has_doc_ids(),
            "weights": data.is_weighted(),
            "positions": data.positions().is_some(),
            "pairs": data.pairs().len(),
            "feature_names": data.feature_names().iter().map(|(_, name)| name).collect::<Vec<_>>(),
            "fingerprint": format!("{:032x}", data.fingerprint()),
        })
    }
}

/// The smallest and the largest id; `None` without features.
fn id_range_json(ids: &[u32]) -> Option<serde_json::Value> {
    Some(json!({ "min": ids.first()?, "max": ids.last()? }))
}

fn id_range(ids: &[u32]) -> String {
    match (ids.first(), ids.last()) {
        (Some(first), Some(last)) => format!(", ids {first} to {last}"),
        _ => String::new(),
    }
}
