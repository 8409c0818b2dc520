//! Exports models for other programs.
//!
//! [`export`] writes a model so that the other program computes the same scores: exactly if it computes in f64,
//! otherwise to the precision of f32. What it cannot express is an error, or needs an option that allows the
//! difference. [`read_back`] reads the export in the same way as the other program, so that scores can be compared on
//! data.
//!
//! ```text
//! Model -> Lowered            splits in the form of the target            lowered
//!       -> bytes              one module for each target
//!       -> Reading            parsed again, with the target's arithmetic  reading
//! ```

mod c;
mod error;
mod lightgbm;
mod linear;
mod lowered;
mod names;
mod nested;
mod number;
mod onnx;
mod ranklib;
mod reading;
mod solr;
mod xgboost;
mod xgboost_dump;

use std::collections::BTreeMap;

use rankwise_model::{Model, Ranker};

use crate::FormatError;
pub use error::ExportError;
use lowered::{Lowered, Width};
use names::Names;
pub use onnx::NetworkReading;
pub use reading::{Arithmetic, BaseScore, Reading};

/// An export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// LightGBM's text format.
    LightGbm,
    /// XGBoost's JSON.
    XgBoost,
    /// ONNX: a `TreeEnsembleRegressor`, or the standard operators of a network.
    Onnx,
    /// RankLib's XML.
    RankLib,
    /// Solr's `MultipleAdditiveTreesModel`.
    Solr,
    /// XGBoost's dump, a JSON list of trees, for the Elasticsearch and OpenSearch plugins.
    XgBoostDump,
    /// C99 source code.
    C,
    /// Weights by feature, `model/linear` of the Elasticsearch and OpenSearch plugins.
    Linear,
}

impl Target {
    /// Every target of trees.
    pub const ALL: [Self; 7] =
        [Self::LightGbm, Self::XgBoost, Self::Onnx, Self::RankLib, Self::Solr, Self::XgBoostDump, Self::C];

    /// Every target of linear models.
    pub const LINEAR: [Self; 2] = [Self::Solr, Self::Linear];
    /// The names of all targets.
    pub const NAMES: [&'static str; 8] =
        ["lightgbm", "xgboost", "onnx", "ranklib", "solr", "xgboost-dump", "c", "linear"];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::LightGbm => "lightgbm",
            Self::XgBoost => "xgboost",
            Self::Onnx => "onnx",
            Self::RankLib => "ranklib",
            Self::Solr => "solr",
            Self::XgBoostDump => "xgboost-dump",
            Self::C => "c",
            Self::Linear => "linear",
        }
    }

    /// The target with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::LINEAR).find(|target| target.name() == name)
    }

    /// Whether its files identify features only by name.
    pub fn has_names(self) -> bool {
        matches!(self, Self::Solr | Self::XgBoostDump | Self::Linear)
    }

    /// Whether its files declare the number of columns.
    pub fn has_columns(self) -> bool {
        matches!(self, Self::LightGbm | Self::XgBoost | Self::Onnx | Self::C)
    }

    /// The type in which values are compared.
    fn width(self) -> Width {
        match self {
            Self::LightGbm | Self::C => Width::F64,
            _ => Width::F32,
        }
    }

    /// Whether it treats missing values as 0.
    fn misses_as_zero(self) -> bool {
        matches!(self, Self::RankLib | Self::Solr | Self::XgBoostDump | Self::Linear)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What the user allows, and the names of features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Allow rounding of values and thresholds to the precision of the target.
    pub allow_rounding: bool,
    /// Allow missing values to count as 0 if the target does not support them.
    pub missing_as_zero: bool,
    /// The number of columns in the data, for targets with columns; by default up to the last feature that the trees
    /// use.
    pub n_columns: Option<u32>,
    /// Names of features by id, for targets with feature names; the default is the model's names, or `f` and the id.
    pub names: BTreeMap<u32, String>,
}

/// Exports a model. The same model and options give the same bytes.
pub fn export(model: &Model, target: Target, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    if let Ranker::Linear(linear) = model.ranker() {
        return linear::write(model, linear, target, &Names::new(model, target, options)?, options);
    }
    let names = Names::new(model, target, options)?;
    if let (Ranker::Neural(neural), Target::Onnx) = (model.ranker(), target) {
        return onnx::write_network(model, neural, options);
    }
    if target == Target::Linear {
        return Err(ExportError::OnlyLinear { target });
    }
    let lowered = Lowered::new(model, target, options)?;
    match target {
        Target::LightGbm => lightgbm::write(&lowered, model, options),
        Target::XgBoost => xgboost::write(&lowered, model),
        Target::Onnx => onnx::write(&lowered),
        Target::RankLib => ranklib::write(&lowered),
        Target::Solr => solr::write(&lowered, &names, options),
        Target::XgBoostDump => xgboost_dump::write(&lowered, &names),
        Target::C => c::write(&lowered),
        Target::Linear => unreachable!("refused above"),
    }
}

/// A feature whose name cannot be written unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedFeature {
    /// Its name in the model.
    pub name: String,
    /// Its name in the export.
    pub written: String,
}

/// The features that [`export`] renames.
pub fn renamed_features(model: &Model, target: Target) -> Vec<RenamedFeature> {
    if target == Target::LightGbm { lightgbm::renamed(model) } else { Vec::new() }
}

/// Reads an [`export`] of `model`, which has trees, with the same options; [`NetworkReading`] reads those of networks.
pub fn read_back(bytes: &[u8], target: Target, model: &Model, options: &ExportOptions) -> Result<Reading, FormatError> {
    let names = || Names::new(model, target, options).unwrap_or_default();
    let in_f32 = |model: Model, base_score: BaseScore| Reading { model, arithmetic: Arithmetic::F32(base_score) };
    if let Ranker::Linear(linear) = model.ranker() {
        return linear::read(bytes, target, (model, linear), &names());
    }
    Ok(match target {
        Target::LightGbm => Reading { model: crate::import(bytes)?, arithmetic: Arithmetic::F64 },
        Target::XgBoost | Target::RankLib => in_f32(crate::import(bytes)?, BaseScore::First),
        Target::Onnx => in_f32(onnx::read(bytes)?, BaseScore::Last),
        Target::Solr => in_f32(solr::read(bytes, &names())?, BaseScore::First),
        Target::XgBoostDump => in_f32(xgboost_dump::read(bytes, &names())?, BaseScore::First),
        Target::C => Reading { model: c::read(bytes)?, arithmetic: Arithmetic::F64 },
        Target::Linear => return Err(rankwise_model::ModelError::NoTrees { kind: "linear" }.into()),
    })
}
