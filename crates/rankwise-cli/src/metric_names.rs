//! Metrics as they were typed, and what they are called here.

use rankwise::metrics::MetricName;
use rankwise::params::ParamValue as _;
use serde_json::{Map, Value};

/// `{"NDCG@10": "ndcg@10"}`: results have the names that were typed as keys, so that whoever typed them finds them again.
pub(crate) fn to_json(names: &[MetricName]) -> Value {
    names.iter().map(|name| (name.as_str().to_owned(), name.render().into())).collect::<Map<_, _>>().into()
}
