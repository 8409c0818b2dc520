//! The native model file: JSON with a version and a checksum. `docs/model-file.md` describes it.
//!
//! ```text
//! format, version, checksum, kind
//! objective, params, trained_on, absent, precision     of every kind
//! ...                                                  fields of the kind
//! features, feature_names, f64_features                of every kind
//! ...                                                  the list of the kind, an entry a line
//! ```
//!
//! Each kind writes a [`Body`] and declares the fields it reads with [`file_fields!`]. This module does not know the
//! kinds.

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Header, Model, ModelError, Ranker};

/// The newest file version that this program writes and reads. A model is written in the oldest version that can
/// represent it: feature names need version 2, trees with several outputs version 3, kinds other than trees version 4,
/// a list of f64 features version 5, covers of leaves version 6, inputs made from values version 7, and neural
/// networks version 8.
pub const FORMAT_VERSION: u64 = 8;
/// The oldest version with inputs that are made from values ([`crate::Transform`]).
pub(crate) const VERSION_OF_TRANSFORMS: u64 = 7;
/// The oldest version with feature names.
const VERSION_OF_NAMES: u64 = 2;
/// The oldest version with a list of f64 features.
const VERSION_OF_F64_FEATURES: u64 = 5;
const FORMAT: &str = "rankwise-model";

/// Common to all versions of the file.
#[derive(Deserialize)]
struct Envelope {
    format: Option<serde_json::Value>,
    version: Option<u64>,
    kind: Option<String>,
}

/// The part of the file that belongs to one kind of ranker.
pub(crate) struct Body {
    /// The oldest file version that can represent it.
    pub(crate) version: u64,
    /// Names and values of the fields before `features`.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The last field, a list with one entry per line.
    pub(crate) list: (&'static str, Vec<String>),
}

/// The content of a file, before cross-checks.
pub(crate) struct Contents {
    pub(crate) checksum: String,
    pub(crate) header: Header,
    pub(crate) ranker: Ranker,
}

/// Declares the struct `$name` for the whole file of a kind: the common fields and the kind's own. Unknown fields are
/// rejected with their position, which `serde(flatten)` cannot do. `$name::read` reads it; its second argument builds
/// the ranker from the kind's own fields.
macro_rules! file_fields {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* } $list:ident: $entry:ty) => {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            #[serde(rename = "format")]
            _format: String,
            #[serde(rename = "version")]
            _version: u64,
            checksum: String,
            #[serde(rename = "kind")]
            _kind: String,
            objective: String,
            params: std::collections::BTreeMap<String, String>,
            trained_on: $crate::TrainedOn,
            absent: $crate::AbsentFeature,
            precision: $crate::Precision,
            $($(#[$attribute])* $field: $type,)*
            features: Vec<u32>,
            #[serde(default)]
            feature_names: Vec<String>,
            #[serde(default)]
            f64_features: Vec<u32>,
            $list: Vec<$entry>,
        }

        impl $name {
            fn read(
                bytes: &[u8],
                ranker: impl FnOnce($($type,)* Vec<$entry>) -> Result<$crate::Ranker, $crate::ModelError>,
            ) -> Result<$crate::file::Contents, $crate::ModelError> {
                let file: Self = $crate::file::from_json(bytes)?;
                Ok($crate::file::Contents {
                    checksum: file.checksum,
                    ranker: ranker($(file.$field,)* file.$list)?,
                    header: $crate::Header {
                        objective: file.objective,
                        params: file.params,
                        trained_on: file.trained_on,
                        absent: file.absent,
                        precision: file.precision,
                        features: file.features,
                        feature_names: file.feature_names,
                        f64_features: file.f64_features,
                    },
                })
            }
        }
    };
}
pub(crate) use file_fields;

impl Model {
    /// The model as a native file.
    pub fn to_json(&self) -> String {
        let Body { version, fields, list } = self.ranker().body();
        let version = if self.feature_names().is_empty() { version } else { version.max(VERSION_OF_NAMES) };
        let version = if self.f64_features().is_empty() { version } else { version.max(VERSION_OF_F64_FEATURES) };
        let fields = self.all_fields(fields);
        let (list_name, entries) = &list;
        let mut text = format!("{{\n \"format\": \"{FORMAT}\",\n \"version\": {version},\n");
        let checksum = checksum(&fields, entries);
        let _ = writeln!(text, " \"checksum\": \"{checksum}\",\n \"kind\": \"{}\",", self.ranker().kind());
        for (name, value) in &fields {
            let _ = writeln!(text, " \"{name}\": {value},");
        }
        let _ = write!(text, " \"{list_name}\": [");
        for (idx, entry) in entries.iter().enumerate() {
            text.push_str(if idx == 0 { "\n  " } else { ",\n  " });
            text.push_str(entry);
        }
        text.push_str("\n ]\n}\n");
        text
    }

    /// Reads a native file. Any bytes give a model or an error.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ModelError> {
        match bytes.trim_ascii_start().first() {
            None => return Err(ModelError::Empty),
            Some(b'{') => {}
            // A JSON parser's message about other text would not help.
            Some(_) => return Err(ModelError::Foreign),
        }
        let envelope: Envelope = from_json(bytes)?;
        if envelope.format != Some(FORMAT.into()) {
            return Err(ModelError::Foreign);
        }
        let version = match envelope.version {
            Some(version) if version > FORMAT_VERSION => {
                return Err(ModelError::Newer { found: version, known: FORMAT_VERSION });
            }
            Some(version @ 1..) => version,
            _ => return Err(ModelError::Content { problem: "the field \"version\" is missing or invalid".into() }),
        };
        let Contents { checksum: found, header, ranker } = Ranker::read(envelope.kind.as_deref(), version, bytes)?;
        if version < VERSION_OF_F64_FEATURES && !header.f64_features.is_empty() {
            let problem = format!("a file of version {version} has f64_features, which version 5 introduced");
            return Err(ModelError::Content { problem });
        }
        let model = Self::new(header, ranker)?;
        let body = model.ranker().body();
        let computed = checksum(&model.all_fields(body.fields), &body.list.1);
        if computed != found {
            return Err(ModelError::Checksum { found, computed });
        }
        Ok(model)
    }

    /// Everything but the list, in file order.
    fn all_fields(&self, of_ranker: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
        let header = self.header();
        let mut fields = vec![
            ("objective", json(&header.objective)),
            ("params", json(&header.params)),
            ("trained_on", json(&header.trained_on)),
            ("absent", json(&header.absent)),
            ("precision", json(&header.precision)),
        ];
        fields.extend(of_ranker);
        fields.push(("features", json(&header.features)));
        if !header.feature_names.is_empty() {
            fields.push(("feature_names", json(&header.feature_names)));
        }
        if !header.f64_features.is_empty() {
            fields.push(("f64_features", json(&header.f64_features)));
        }
        fields
    }
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers, strings and maps of strings always have a JSON form")
}

/// Parses JSON, with our error.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ModelError> {
    serde_json::from_slice(bytes).map_err(|error| json_error(&error))
}

/// The checksum of the content in compact form, so that white space does not count.
fn checksum(fields: &[(&'static str, String)], entries: &[String]) -> String {
    let mut content = String::new();
    for (name, value) in fields {
        let _ = writeln!(content, "{name} {value}");
    }
    for entry in entries {
        let _ = writeln!(content, "{entry}");
    }
    format!("{:016x}", xxh3_64(content.as_bytes()))
}

fn json_error(error: &serde_json::Error) -> ModelError {
    // At the end of a line, the parser counts columns from 0. It also repeats the position at the end of its message;
    // ours is at the front.
    let text = error.to_string();
    // Backticks mark options in our messages; these are fields.
    let problem = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]).replace('`', "'");
    ModelError::Json { line: error.line(), column: error.column().max(1), problem }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::tests::{header, model};
    use crate::{ExpectedGain, Output, Tree, TreeEnsemble};

    fn with_trees(base_score: f64, output: Output, trees: &[Tree]) -> Model {
        Model::new(header(), TreeEnsemble::new(base_score, output, trees.to_vec()).unwrap()).unwrap()
    }

    fn trees(model: &Model) -> &[Tree] {
        model.tree_ensemble().unwrap().trees()
    }

    #[test]
    fn a_model_comes_back_bit_for_bit() {
        let model = with_trees(-0.1 - 0.2, Output::Sum, trees(&model()));
        let text = model.to_json();
        let back = Model::from_json(text.as_bytes()).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.to_json(), text);
        let empty = with_trees(0.1, Output::Sum, &[]);
        assert_eq!(Model::from_json(empty.to_json().as_bytes()).unwrap(), empty);
    }

    #[test]
    fn names_of_features_come_back_and_make_another_version() {
        let names = vec!["price, \"net\"".to_owned(), "größe".into()];
        let named = Model::new(Header { feature_names: names, ..header() }, model().ranker().clone()).unwrap();
        let text = named.to_json();
        assert!(text.contains("\"version\": 2") && model().to_json().contains("\"version\": 1"));
        assert_eq!(Model::from_json(text.as_bytes()).unwrap(), named);
        let renamed = text.replace("größe", "size");
        assert!(matches!(Model::from_json(renamed.as_bytes()), Err(ModelError::Checksum { .. })));
    }

    #[test]
    fn f64_features_come_back_and_make_another_version() {
        let wide = Header { precision: crate::Precision::F64, f64_features: vec![9], ..header() };
        let model_of = |header: Header| Model::new(header, model().ranker().clone());
        let wide_model = model_of(wide.clone()).unwrap();
        let text = wide_model.to_json();
        assert!(text.contains("\"version\": 5") && text.contains("\"f64_features\": [9]"), "{text}");
        assert_eq!(Model::from_json(text.as_bytes()).unwrap(), wide_model);
        let old = text.replace("\"version\": 5", "\"version\": 2");
        assert!(matches!(Model::from_json(old.as_bytes()), Err(ModelError::Content { .. })));
        let other = text.replace("\"f64_features\": [9]", "\"f64_features\": [3]");
        assert!(matches!(Model::from_json(other.as_bytes()), Err(ModelError::Checksum { .. })));
        for wrong in [
            Header { f64_features: vec![4], ..wide.clone() },
            Header { f64_features: vec![9, 3], ..wide.clone() },
            Header { precision: crate::Precision::F32, ..wide.clone() },
        ] {
            assert!(matches!(model_of(wrong), Err(ModelError::Content { .. })));
        }
    }

    #[test]
    fn several_outputs_come_back_and_make_another_version() {
        let expected = ExpectedGain { gains: vec![0.0, 1.0], base_scores: vec![-0.1, 0.1 + 0.2] };
        let graded = with_trees(0.0, Output::ExpectedGain(expected), trees(&model()));
        let text = graded.to_json();
        assert!(text.contains("\"version\": 3"), "{text}");
        let back = Model::from_json(text.as_bytes()).unwrap();
        assert_eq!((&back, back.to_json()), (&graded, text.clone()));
        let other = text.replace("\"gains\":[0.0,1.0]", "\"gains\":[0.0,2.0]");
        assert!(matches!(Model::from_json(other.as_bytes()), Err(ModelError::Checksum { .. })));
        let second = text.rfind(",\n  {").expect("two trees");
        let odd = format!("{}\n ]\n}}\n", &text[..second]);
        assert!(matches!(Model::from_json(odd.as_bytes()), Err(ModelError::Content { .. })));
    }

    #[test]
    fn damage_is_noticed_and_named() {
        let text = model().to_json();
        let read = |text: &str| Model::from_json(text.as_bytes()).unwrap_err();
        assert_eq!(read(" \n"), ModelError::Empty);
        assert!(matches!(read(&text[..text.len() / 2]), ModelError::Json { .. }));
        assert_eq!(read("{\"trees\": []}"), ModelError::Foreign);
        assert_eq!(read("[1, 2]"), ModelError::Foreign);
        assert_eq!(read("1 qid:1 1:0.5"), ModelError::Foreign);
        let newer = text.replace("\"version\": 1", "\"version\": 99");
        assert_eq!(read(&newer), ModelError::Newer { found: 99, known: FORMAT_VERSION });
        assert!(matches!(read(&text.replace("\"version\": 1", "\"version\": 0")), ModelError::Content { .. }));
        assert!(matches!(read(&text.replace(" \"kind\": \"trees\",\n", "")), ModelError::Json { .. }));
        assert!(matches!(read(&text.replace("\"kind\": \"trees\"", "\"kind\": \"net\"")), ModelError::Kind { .. }));
        assert!(matches!(read(&text.replace("0.25", "0.26")), ModelError::Checksum { .. }));
        assert!(matches!(read(&text.replace("[1,-1]", "[1,-2]")), ModelError::Tree { tree: 0, .. }));
        assert!(matches!(read(&text.replace("\"objective\"", "\"objectiv\"")), ModelError::Json { line: 6, .. }));
    }

    #[test]
    fn white_space_is_no_damage() {
        let text = model().to_json().replace(',', " ,\n");
        assert_eq!(Model::from_json(text.as_bytes()).unwrap(), model());
    }

    /// The file of a model with some bytes changed.
    pub(crate) fn changed(model: &Model, changes: &[(prop::sample::Index, u8)]) -> Vec<u8> {
        let mut bytes = model.to_json().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes
    }

    proptest! {
        /// Changed bytes give the same model or an error, never a panic and never another model.
        #[test]
        fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let model = model();
            if let Ok(read) = Model::from_json(&changed(&model, &changes)) {
                prop_assert_eq!(read, model);
            }
        }

        #[test]
        fn any_number_survives(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let model = with_trees(0.1, Output::Sum, &[Tree::constant(value, 1)]);
            let back = Model::from_json(model.to_json().as_bytes()).unwrap();
            prop_assert_eq!(trees(&back)[0].parts().leaf_value[0].to_bits(), bits);
        }
    }
}
