//! Detects the format of a model file.

use crate::{FormatError, ranklib};

/// The programs and formats whose models can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own, and everything unknown: the native reader has the best error messages.
    Native,
    /// LightGBM's text, as written by `save_model`.
    LightGbmText,
    /// LightGBM's JSON, as returned by `dump_model`.
    LightGbmJson,
    /// RankLib's XML.
    RankLib,
    /// CatBoost's JSON.
    CatBoost,
    /// XGBoost's JSON.
    XgBoostJson,
    /// XGBoost's UBJSON.
    XgBoostUbj,
}

/// How many bytes of JSON are searched for its first fields.
const START_BYTES: usize = 4096;

impl Source {
    /// Detects the format by content.
    pub fn of(bytes: &[u8]) -> Self {
        let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if first_line.trim_ascii() == b"tree" {
            return Self::LightGbmText;
        }
        if ranklib::is_ours(&bytes[..bytes.len().min(START_BYTES)]) {
            return Self::RankLib;
        }
        let start: Vec<u8> =
            bytes.iter().take(START_BYTES).copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        // UBJSON has a length between the brace and the first name.
        let is_ubjson = start.first() == Some(&b'{') && start.get(1).is_some_and(|kind| b"iUIlL".contains(kind));
        if is_ubjson {
            return Self::XgBoostUbj;
        }
        if start.starts_with(b"{\"learner\":") || start.starts_with(b"{\"version\":[") {
            return Self::XgBoostJson;
        }
        if start.starts_with(b"{\"name\":\"tree\",") {
            return Self::LightGbmJson;
        }
        // The names of its fields are sorted, and not every model has all of them.
        let catboost: [&[u8]; 3] = [b"{\"ctr_data\":", b"{\"features_info\":", b"{\"model_info\":"];
        if catboost.iter().any(|name| start.starts_with(name)) {
            return Self::CatBoost;
        }
        Self::Native
    }

    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "Rankwise",
            Self::LightGbmText | Self::LightGbmJson => "LightGBM",
            Self::RankLib => "RankLib",
            Self::CatBoost => "CatBoost",
            Self::XgBoostJson | Self::XgBoostUbj => "XGBoost",
        }
    }
}

/// Whether the first bytes of a file belong to a model format that is not supported, such as CatBoost's binary one.
/// Lines that begin with `#` do not count, because data can have them, too.
pub fn is_unread_form(bytes: &[u8]) -> bool {
    !bytes.trim_ascii_start().starts_with(b"#") && refuse_known_form(bytes).is_err()
}

/// Explains what to do about a file that one of the programs writes, but that is not supported.
pub(crate) fn refuse_known_form(bytes: &[u8]) -> Result<(), FormatError> {
    let start = bytes[..bytes.len().min(START_BYTES)].trim_ascii_start();
    let (form, because, advice) = if start.starts_with(b"CBM1") {
        ("CatBoost's binary format", None, "save the model with save_model(path, format=\"json\")")
    } else if start.starts_with(b"booster[0]") || (start.starts_with(b"[") && contains(start, b"\"nodeid\"")) {
        ("an XGBoost dump", Some("it lacks the base score"), "save the model with save_model(\"model.json\")")
    } else if start.starts_with(b"##") {
        ("a RankLib model without trees", None, "use a MART or LambdaMART model of RankLib")
    } else {
        return Ok(());
    };
    Err(FormatError::Form { form, because, advice })
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
