//! Linear models, for Solr's `LinearModel` and for `model/linear` of the Elasticsearch and OpenSearch plugins.
//!
//! Both multiply f32 values by f32 weights and add the products in f32. They have neither a bias nor scales that do not
//! divide by a deviation, so the scales become part of the weights:
//!
//! ```text
//! bias + sum of w (v - center) factor  =  sum of (w factor) v  +  constant
//! ```
//!
//! The constant is not written: it is the same for all documents. A missing value is 0.

use std::fmt::Write as _;

use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};

use super::names::Names;
use super::nested::{quoted, read_json};
use super::number::{text_f32, to_f32};
use super::{Arithmetic, BaseScore, ExportError, ExportOptions, Reading, Target};
use crate::FormatError;
use crate::value::Field;

const SOLR_CLASS: &str = "org.apache.solr.ltr.model.LinearModel";

/// Weights of values, and what is the same for all documents.
struct Folded {
    weights: Vec<f64>,
    constant: f64,
}

impl Folded {
    fn new(linear: &LinearRanker) -> Self {
        let Some(transform) = linear.transform() else {
            return Self { weights: linear.weights().to_vec(), constant: linear.bias() };
        };
        let scaled = linear.weights().iter().zip(transform.scales());
        Self {
            weights: scaled.clone().map(|(weight, scale)| weight * scale.factor).collect(),
            constant: scaled.fold(linear.bias(), |sum, (weight, scale)| sum - weight * scale.factor * scale.center),
        }
    }
}

pub(crate) fn write(
    model: &Model,
    linear: &LinearRanker,
    target: Target,
    names: &Names,
    options: &ExportOptions,
) -> Result<Vec<u8>, ExportError> {
    check(model, linear, target, options)?;
    let weights = Folded::new(linear).weights;
    let mut list = String::new();
    for (feature, weight) in model.features().iter().zip(weights) {
        let separator = if list.is_empty() { "" } else { ",\n" };
        let weight = text_f32(to_f32(target, "a weight", weight)?);
        let _ = write!(list, "{separator}{}:{weight}", quoted(names.of(*feature)));
    }
    let text = match target {
        Target::Solr => {
            let features: Vec<String> = names.all().map(|name| format!("{{\"name\":{}}}", quoted(name))).collect();
            format!(
                "{{\n\"class\":\"{SOLR_CLASS}\",\n\"name\":\"rankwise\",\n\"features\":[{}],\n\"params\":{{\"weights\":{{\n{list}\n}}}}\n}}\n",
                features.join(",")
            )
        }
        _ => format!("{{\n{list}\n}}\n"),
    };
    Ok(text.into_bytes())
}

fn check(model: &Model, linear: &LinearRanker, target: Target, options: &ExportOptions) -> Result<(), ExportError> {
    if !Target::LINEAR.contains(&target) {
        return Err(ExportError::NotForLinear { target });
    }
    if model.precision() == Precision::F64 && !options.allow_rounding {
        return Err(ExportError::Rounding { target });
    }
    let Some(transform) = linear.transform() else { return Ok(()) };
    for (is_used, what) in [(transform.is_log(), "log1p=true"), (transform.is_by_query(), "scaling=query")] {
        if is_used {
            return Err(ExportError::Transform { target, what });
        }
    }
    let counts_as_zero = |(weight, scale): (&f64, &rankwise_model::FeatureScale)| {
        weight * f64::from(scale.fill) == -weight * scale.center * scale.factor
    };
    match linear.weights().iter().zip(transform.scales()).position(|scaled| !counts_as_zero(scaled)) {
        Some(place) if !options.missing_as_zero => {
            Err(ExportError::MissingInLinear { target, feature: model.features()[place] })
        }
        _ => Ok(()),
    }
}

/// Reads the weights. The constant is that of the model.
pub(crate) fn read(
    bytes: &[u8],
    target: Target,
    (model, linear): (&Model, &LinearRanker),
    names: &Names,
) -> Result<Reading, FormatError> {
    let format = if target == Target::Solr { "Solr" } else { "linear" };
    let value = read_json(format, bytes)?;
    let root = Field::root(format, &value);
    let weights = if target == Target::Solr { root.get("params")?.get("weights")? } else { root };
    let weight = |feature: &u32| Ok(f64::from(weights.get(names.of(*feature))?.number()? as f32));
    let found: Vec<f64> = model.features().iter().map(weight).collect::<Result<_, FormatError>>()?;
    let header = Header::new(AbsentFeature::Zero, Precision::F32, model.features().to_vec());
    let ranker = LinearRanker::new(Folded::new(linear).constant, found)?;
    Ok(Reading { model: Model::new(header, ranker)?, arithmetic: Arithmetic::F32(BaseScore::Last) })
}

/// The score as the programs compute it, plus the constant.
pub(crate) fn score(linear: &LinearRanker, values: &[f64]) -> f64 {
    let or_zero = |value: f64| if value.is_nan() { 0.0 } else { value as f32 };
    let products = linear.weights().iter().zip(values).map(|(weight, value)| *weight as f32 * or_zero(*value));
    f64::from(products.fold(0.0, |sum: f32, product| sum + product)) + linear.bias()
}
