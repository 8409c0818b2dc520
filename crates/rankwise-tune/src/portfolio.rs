//! The models that `auto` trains: a table, to which later learners are added as rows.

use rankwise_metrics::MetricKind;
use rankwise_params::{ParamError, Setting};
use rankwise_train::{TrainParams, TrainSpec};

/// From this many documents on, data counts as large: larger trees come first.
const MANY_DOCUMENTS: usize = 100_000;

/// The most rounds of a model; early stopping usually ends it before.
const MAX_ROUNDS: &str = "1000";

/// A shape of trees with its regularisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trees {
    /// Oblivious trees of depth 6, with CatBoost's regularisation.
    Oblivious,
    /// LightGBM's defaults.
    Leafwise,
    /// Only for large data.
    LargeLeafwise,
}

impl Trees {
    fn name(self) -> &'static str {
        match self {
            Self::Oblivious => "oblivious",
            Self::Leafwise => "leafwise",
            Self::LargeLeafwise => "large leafwise",
        }
    }

    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Oblivious => {
                &[("grow", "oblivious"), ("num_leaves", "64"), ("lambda_l2", "3"), ("learning_rate", "0.05")]
            }
            Self::Leafwise => &[("grow", "leafwise"), ("num_leaves", "31"), ("learning_rate", "0.05")],
            Self::LargeLeafwise => &[("grow", "leafwise"), ("num_leaves", "255"), ("learning_rate", "0.05")],
        }
    }
}

/// The rows, in the order in which they are trained on data of ordinary size. Objectives that rank best on small and
/// middle-sized data come first, and neighbours differ, so that any number of them is a good mixture.
const PORTFOLIO: [(Trees, &str); 16] = [
    (Trees::Oblivious, "lambdamart"),
    (Trees::Oblivious, "xendcg"),
    (Trees::Oblivious, "query-rmse"),
    (Trees::Leafwise, "lambdamart"),
    (Trees::Oblivious, "yetirank"),
    (Trees::Leafwise, "xendcg"),
    (Trees::Oblivious, "lambdaloss"),
    (Trees::Leafwise, "query-rmse"),
    (Trees::Oblivious, "ranknet"),
    (Trees::Leafwise, "yetirank"),
    (Trees::Oblivious, "listnet"),
    (Trees::Leafwise, "lambdaloss"),
    (Trees::LargeLeafwise, "lambdamart"),
    (Trees::LargeLeafwise, "xendcg"),
    (Trees::LargeLeafwise, "query-rmse"),
    (Trees::Leafwise, "ranknet"),
];

/// What later cycles through the table add, so that a model differs from the earlier one of the same row.
const BAGGING: [(&str, &str); 4] =
    [("bagging_fraction", "0.7"), ("bagging_freq", "1"), ("bagging_by_query", "true"), ("feature_fraction", "0.6")];

/// A row with the parameters of the user.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    spec: TrainSpec,
    /// The names of the parameters that the user set.
    typed: Vec<&'static str>,
}

/// The rows for a dataset. What the user set stays; rows that are the same then are listed once.
pub(crate) fn rows(base: &TrainSpec, n_documents: usize) -> Result<Vec<Row>, ParamError> {
    let is_large = n_documents >= MANY_DOCUMENTS;
    let mut table: Vec<(Trees, &str)> =
        PORTFOLIO.into_iter().filter(|(trees, _)| is_large || *trees != Trees::LargeLeafwise).collect();
    if is_large {
        // Stable: the order of objectives stays.
        table.sort_by_key(|(trees, _)| *trees == Trees::Oblivious);
    }
    let typed: Vec<&'static str> =
        base.settings().iter().map(|setting| setting.name).filter(|name| base.is_set(name)).collect();
    let metric = base.boosting.metric.first().cloned();
    let mut rows: Vec<Row> = Vec::new();
    for (trees, objective) in table {
        let mut spec = base.clone();
        let settings = trees.settings().iter().copied().chain([("objective", objective), ("num_trees", MAX_ROUNDS)]);
        set_untyped(&mut spec, &typed, settings)?;
        let objective = objective_of(&spec);
        let is_lambdamart = objective == "lambdamart";
        if let Some(metric) = metric.as_ref().filter(|metric| is_lambdamart && has_swaps(metric.kind())) {
            set_untyped(&mut spec, &typed, [("target", metric.as_str())])?;
        }
        spec.boosting.metric.truncate(1);
        spec.boosting.early_stopping_rounds = 0;
        if rows.iter().all(|row| row.spec != spec) {
            let trees = if typed.contains(&"grow") { given_trees(&spec) } else { trees.name().to_owned() };
            rows.push(Row { name: format!("{trees} {objective}"), spec, typed: typed.clone() });
        }
    }
    Ok(rows)
}

fn objective_of(spec: &TrainSpec) -> String {
    value_of(spec, "objective")
}

/// The trees of a growth policy that the user set.
fn given_trees(spec: &TrainSpec) -> String {
    format!("{}, {} leaves,", value_of(spec, "grow"), value_of(spec, "num_leaves"))
}

fn value_of(spec: &TrainSpec, name: &str) -> String {
    let is_wanted = |setting: &Setting| setting.name == name;
    spec.settings().into_iter().find(is_wanted).map_or_else(String::new, |setting| setting.value)
}

/// Metrics other than NDCG that LambdaMART can optimise.
fn has_swaps(kind: MetricKind) -> bool {
    matches!(kind, MetricKind::Dcg | MetricKind::Map | MetricKind::Mrr | MetricKind::Err)
}

fn set_untyped<'a>(
    spec: &mut TrainSpec,
    typed: &[&str],
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), ParamError> {
    settings.into_iter().filter(|(name, _)| !typed.contains(name)).try_for_each(|(name, value)| spec.set(name, value))
}

impl Row {
    /// The parameters in a cycle through the table, counted from 0.
    pub(crate) fn params(&self, cycle: usize) -> Result<TrainParams, ParamError> {
        let mut spec = self.spec.clone();
        spec.boosting.seed = spec.boosting.seed.wrapping_add(cycle as u64);
        if cycle > 0 && !self.typed.contains(&"sample") {
            set_untyped(&mut spec, &self.typed, BAGGING)?;
        }
        spec.check()
    }

    /// The name in a cycle.
    pub(crate) fn name(&self, cycle: usize) -> String {
        if cycle == 0 { self.name.clone() } else { format!("{}, bag {cycle}", self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(settings: &[(&str, &str)], n_documents: usize) -> Vec<String> {
        let mut base = TrainSpec::default();
        base.set_all(settings.iter().copied()).unwrap();
        rows(&base, n_documents).unwrap().into_iter().map(|row| row.name).collect()
    }

    #[test]
    fn every_row_can_be_trained_in_every_cycle() {
        for n_documents in [1000, 1_000_000] {
            let rows = rows(&TrainSpec::default(), n_documents).unwrap();
            assert_eq!(rows.len(), if n_documents == 1000 { 13 } else { 16 });
            for (row, cycle) in rows.iter().flat_map(|row| (0..3).map(move |cycle| (row, cycle))) {
                let params = row.params(cycle).unwrap();
                assert_eq!((params.boosting().seed, params.boosting().num_trees), (cycle as u64, 1000));
                assert_eq!(params.boosting().bagging_fraction < 1.0, cycle > 0);
            }
        }
        assert_eq!(names(&[], 1000)[0], "oblivious lambdamart");
        assert_eq!(names(&[], 1_000_000)[0], "leafwise lambdamart");
    }

    #[test]
    fn what_the_user_set_stays() {
        assert_eq!(names(&[("objective", "xendcg")], 1000), ["oblivious xendcg", "leafwise xendcg"]);
        // Also if it is set to its default.
        assert_eq!(names(&[("objective", "lambdamart")], 1000), ["oblivious lambdamart", "leafwise lambdamart"]);
        let of_grow = names(&[("objective", "rmse"), ("grow", "leafwise")], 1000);
        assert_eq!(of_grow, ["leafwise, 64 leaves, rmse", "leafwise, 31 leaves, rmse"]);
        let mut base = TrainSpec::default();
        base.set_all([("learning_rate", "0.2"), ("sample", "goss"), ("metric", "map,ndcg@5")]).unwrap();
        for row in rows(&base, 1000).unwrap() {
            let params = row.params(1).unwrap();
            assert_eq!((params.boosting().learning_rate, params.boosting().bagging_fraction), (0.2, 1.0));
            assert_eq!(params.boosting().metric.len(), 1);
        }
    }
}
