//! Models for other programs.
//!
//! [`export`] writes a model so that the other program gives every document the score that we give it: exactly where it computes
//! in f64, to the precision of f32 where it computes in f32. What it cannot express is refused by name, or needs an option that
//! says so. [`read_back`] reads what was written as the other program does, so that this can be checked on data.
//!
//! ```text
//! Model -> Lowered            questions as the target can ask them        lowered
//!       -> bytes              one module for each target
//!       -> Reading            the bytes again, with the target's sums     reading
//! ```

mod c;
mod error;
mod lightgbm;
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

use rankwise_model::Model;

use crate::FormatError;
pub use error::ExportError;
use lowered::{Lowered, Width};
use names::Names;
pub use reading::{Arithmetic, BaseScore, Reading};

/// What a model can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// LightGBM's text.
    LightGbm,
    /// XGBoost's JSON.
    XgBoost,
    /// ONNX, a `TreeEnsembleRegressor`.
    Onnx,
    /// RankLib's XML.
    RankLib,
    /// Solr's `MultipleAdditiveTreesModel`.
    Solr,
    /// XGBoost's dump, a list of trees as JSON, as the plugins of Elasticsearch and OpenSearch read it.
    XgBoostDump,
    /// Source in C99.
    C,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 7] =
        [Self::LightGbm, Self::XgBoost, Self::Onnx, Self::RankLib, Self::Solr, Self::XgBoostDump, Self::C];

    /// How it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::LightGbm => "lightgbm",
            Self::XgBoost => "xgboost",
            Self::Onnx => "onnx",
            Self::RankLib => "ranklib",
            Self::Solr => "solr",
            Self::XgBoostDump => "xgboost-dump",
            Self::C => "c",
        }
    }

    /// The target of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Whether its files know features by name alone.
    pub fn has_names(self) -> bool {
        matches!(self, Self::Solr | Self::XgBoostDump)
    }

    /// Whether its files say how many columns there are.
    pub fn has_columns(self) -> bool {
        matches!(self, Self::LightGbm | Self::XgBoost | Self::Onnx | Self::C)
    }

    /// What values are compared as.
    fn width(self) -> Width {
        match self {
            Self::LightGbm | Self::C => Width::F64,
            _ => Width::F32,
        }
    }

    /// Whether a missing value is 0 there.
    fn misses_as_zero(self) -> bool {
        matches!(self, Self::RankLib | Self::Solr | Self::XgBoostDump)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What the user allows, and how features are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Values and thresholds may be rounded to what the target can hold.
    pub allow_rounding: bool,
    /// Missing values may count as 0 where the target knows nothing else.
    pub missing_as_zero: bool,
    /// How many columns the data has, for targets with columns; by default up to the last feature that the trees ask for.
    pub n_columns: Option<u32>,
    /// Names of features by id, for targets that know features by name; else the model's own names, or `f` and the id.
    pub names: BTreeMap<u32, String>,
}

/// Writes a model. The same model and options give the same bytes.
pub fn export(model: &Model, target: Target, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let names = Names::new(model, target, options)?;
    let lowered = Lowered::new(model, target, options)?;
    match target {
        Target::LightGbm => lightgbm::write(&lowered, model, options),
        Target::XgBoost => xgboost::write(&lowered, model),
        Target::Onnx => onnx::write(&lowered),
        Target::RankLib => ranklib::write(&lowered),
        Target::Solr => solr::write(&lowered, &names, options),
        Target::XgBoostDump => xgboost_dump::write(&lowered, &names),
        Target::C => c::write(&lowered),
    }
}

/// A feature whose name the target cannot hold as it is.
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

/// Reads what [`export`] wrote of `model` with the same options.
pub fn read_back(bytes: &[u8], target: Target, model: &Model, options: &ExportOptions) -> Result<Reading, FormatError> {
    let names = || Names::new(model, target, options).unwrap_or_default();
    let in_f32 = |model: Model, base_score: BaseScore| Reading { model, arithmetic: Arithmetic::F32(base_score) };
    Ok(match target {
        Target::LightGbm => Reading { model: crate::import(bytes)?, arithmetic: Arithmetic::F64 },
        Target::XgBoost | Target::RankLib => in_f32(crate::import(bytes)?, BaseScore::First),
        Target::Onnx => in_f32(onnx::read(bytes)?, BaseScore::Last),
        Target::Solr => in_f32(solr::read(bytes, &names())?, BaseScore::First),
        Target::XgBoostDump => in_f32(xgboost_dump::read(bytes, &names())?, BaseScore::First),
        Target::C => Reading { model: c::read(bytes)?, arithmetic: Arithmetic::F64 },
    })
}
