//! Whose a file is.

use crate::{FormatError, ranklib};

/// The programs and formats whose models can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own, and everything that is not known: it is best told as a native file what is wrong with it.
    Native,
    /// LightGBM's text, as `save_model` writes it.
    LightGbmText,
    /// LightGBM's JSON, as `dump_model` gives it.
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

/// How far into JSON its first fields are looked for.
const START_BYTES: usize = 4096;

impl Source {
    /// By content.
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
        // A length stands between the brace and the first name of UBJSON.
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
        // The names of its fields ascend, and not every model has them all.
        let catboost: [&[u8]; 3] = [b"{\"ctr_data\":", b"{\"features_info\":", b"{\"model_info\":"];
        if catboost.iter().any(|name| start.starts_with(name)) {
            return Self::CatBoost;
        }
        Self::Native
    }

    /// What people call it.
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

/// Whether the first bytes of a file are those of a model in a form that is not read, such as CatBoost's binary one. Lines that begin
/// with `#` are not meant: data may have them, too.
pub fn is_unread_form(bytes: &[u8]) -> bool {
    !bytes.trim_ascii_start().starts_with(b"#") && refuse_known_form(bytes).is_err()
}

/// Says what to do about a file that one of the programs writes too, but that cannot be read.
pub(crate) fn refuse_known_form(bytes: &[u8]) -> Result<(), FormatError> {
    let start = bytes[..bytes.len().min(START_BYTES)].trim_ascii_start();
    let (form, advice) = if start.starts_with(b"CBM1") {
        ("CatBoost's binary format", "save the model with save_model(path, format=\"json\")")
    } else if start.starts_with(b"booster[0]") || (start.starts_with(b"[") && contains(start, b"\"nodeid\"")) {
        ("an XGBoost dump, which lacks the base score", "save the model with save_model(\"model.json\")")
    } else if start.starts_with(b"##") {
        ("a RankLib model without trees", "use a MART or LambdaMART model of RankLib")
    } else {
        return Ok(());
    };
    Err(FormatError::Form { form, advice })
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
