//! Metric names as typed, mapped to their canonical names.

use rankwise::metrics::MetricName;
use rankwise::params::ParamValue as _;
use serde_json::{Map, Value};

use crate::failure::user;

/// The metric of an option that takes one only.
pub(crate) fn parse_one(typed: &str) -> anyhow::Result<MetricName> {
    if typed.contains(',') {
        return Err(user(format!("--metric {typed}: expected one metric; remove the others")));
    }
    let name: MetricName = typed.parse()?;
    name.check()?;
    Ok(name)
}

/// `{"NDCG@10": "ndcg@10"}`: results use the typed names as keys.
pub(crate) fn to_json(names: &[MetricName]) -> Value {
    names.iter().map(|name| (name.as_str().to_owned(), name.render().into())).collect::<Map<_, _>>().into()
}
