//! The native file: JSON with a version and a checksum, one tree a line. `docs/model-file.md` describes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{AbsentFeature, Model, ModelError, Output, Precision, TrainedOn, Tree, TreeParts};

/// The newest version of the file that this program writes and reads. A model is written in the oldest version that can hold it:
/// names of features need version 2, several outputs version 3.
pub const FORMAT_VERSION: u64 = 3;
const FORMAT: &str = "rankwise-model";
const KIND: &str = "trees";

/// What every version of the file has.
#[derive(Deserialize)]
struct Envelope {
    format: Option<serde_json::Value>,
    version: Option<u64>,
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    checksum: String,
    #[serde(rename = "kind")]
    _kind: String,
    objective: String,
    params: BTreeMap<String, String>,
    trained_on: TrainedOn,
    absent: AbsentFeature,
    precision: Precision,
    base_score: f64,
    #[serde(default)]
    output: Output,
    features: Vec<u32>,
    #[serde(default)]
    feature_names: Vec<String>,
    trees: Vec<TreeParts>,
}

impl Model {
    /// The native file.
    pub fn to_json(&self) -> String {
        let fields = self.fields();
        let trees: Vec<String> = self.trees.iter().map(|tree| json(tree.parts())).collect();
        let version = match (&self.output, &self.feature_names[..]) {
            (Output::Sum, []) => 1,
            (Output::Sum, _) => 2,
            _ => FORMAT_VERSION,
        };
        let mut text = format!("{{\n \"format\": \"{FORMAT}\",\n \"version\": {version},\n");
        let _ = writeln!(text, " \"checksum\": \"{}\",\n \"kind\": \"{KIND}\",", checksum(&fields, &trees));
        for (name, value) in &fields {
            let _ = writeln!(text, " \"{name}\": {value},");
        }
        text.push_str(" \"trees\": [");
        for (idx, tree) in trees.iter().enumerate() {
            text.push_str(if idx == 0 { "\n  " } else { ",\n  " });
            text.push_str(tree);
        }
        text.push_str("\n ]\n}\n");
        text
    }

    /// Reads a native file. Any bytes give a model or an error.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ModelError> {
        match bytes.trim_ascii_start().first() {
            None => return Err(ModelError::Empty),
            Some(b'{') => {}
            // What the JSON reader would say of other text helps nobody.
            Some(_) => return Err(ModelError::Foreign),
        }
        let envelope: Envelope = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
        if envelope.format != Some(FORMAT.into()) {
            return Err(ModelError::Foreign);
        }
        match envelope.version {
            Some(version) if version > FORMAT_VERSION => {
                return Err(ModelError::Newer { found: version, known: FORMAT_VERSION });
            }
            Some(1..) => {}
            _ => return Err(ModelError::Content { problem: "the file has no format version from 1 on".into() }),
        }
        if let Some(kind) = envelope.kind.filter(|kind| kind != KIND) {
            return Err(ModelError::Kind { kind });
        }

        let file: File = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
        let trees = file
            .trees
            .into_iter()
            .enumerate()
            .map(|(tree, parts)| Tree::new(parts).map_err(|problem| ModelError::Tree { tree, problem }))
            .collect::<Result<Vec<Tree>, ModelError>>()?;
        let model = Self {
            objective: file.objective,
            params: file.params,
            trained_on: file.trained_on,
            absent: file.absent,
            precision: file.precision,
            base_score: file.base_score,
            output: file.output,
            features: file.features,
            feature_names: file.feature_names,
            trees,
        };
        model.check()?;
        let trees: Vec<String> = model.trees.iter().map(|tree| json(tree.parts())).collect();
        let computed = checksum(&model.fields(), &trees);
        if computed != file.checksum {
            return Err(ModelError::Checksum { found: file.checksum, computed });
        }
        Ok(model)
    }

    /// Everything but the trees, in the order of the file.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("objective", json(&self.objective)),
            ("params", json(&self.params)),
            ("trained_on", json(&self.trained_on)),
            ("absent", json(&self.absent)),
            ("precision", json(&self.precision)),
            ("base_score", json(&self.base_score)),
        ];
        if self.output != Output::Sum {
            fields.push(("output", json(&self.output)));
        }
        fields.push(("features", json(&self.features)));
        if !self.feature_names.is_empty() {
            fields.push(("feature_names", json(&self.feature_names)));
        }
        fields
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers, strings and maps of strings always have a JSON form")
}

/// Over the content in its compact form, so that white space does not count.
fn checksum(fields: &[(&'static str, String)], trees: &[String]) -> String {
    let mut content = String::new();
    for (name, value) in fields {
        let _ = writeln!(content, "{name} {value}");
    }
    for tree in trees {
        let _ = writeln!(content, "{tree}");
    }
    format!("{:016x}", xxh3_64(content.as_bytes()))
}

fn json_error(error: &serde_json::Error) -> ModelError {
    // At the end of a line the reader counts columns from 0. It repeats the place at the end of its message; ours stands in front.
    let text = error.to_string();
    let problem = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]).to_owned();
    ModelError::Json { line: error.line(), column: error.column().max(1), problem }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ExpectedGain;
    use crate::model::tests::model;

    #[test]
    fn a_model_comes_back_bit_for_bit() {
        let mut model = model();
        model.base_score = -0.1 - 0.2;
        let text = model.to_json();
        let back = Model::from_json(text.as_bytes()).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.to_json(), text);
        let empty = Model { trees: Vec::new(), ..model };
        assert_eq!(Model::from_json(empty.to_json().as_bytes()).unwrap(), empty);
    }

    #[test]
    fn names_of_features_come_back_and_make_another_version() {
        let names = vec!["price, \"net\"".to_owned(), "größe".into()];
        let named = Model { feature_names: names, ..model() };
        let text = named.to_json();
        assert!(text.contains("\"version\": 2") && model().to_json().contains("\"version\": 1"));
        assert_eq!(Model::from_json(text.as_bytes()).unwrap(), named);
        let renamed = text.replace("größe", "size");
        assert!(matches!(Model::from_json(renamed.as_bytes()), Err(ModelError::Checksum { .. })));
    }

    #[test]
    fn several_outputs_come_back_and_make_another_version() {
        let expected = ExpectedGain { gains: vec![0.0, 1.0], base_scores: vec![-0.1, 0.1 + 0.2] };
        let graded = Model { output: Output::ExpectedGain(expected), base_score: 0.0, ..model() };
        let text = graded.to_json();
        assert!(text.contains("\"version\": 3"), "{text}");
        let back = Model::from_json(text.as_bytes()).unwrap();
        assert_eq!((&back, back.to_json()), (&graded, text.clone()));
        let other = text.replace("\"gains\":[0.0,1.0]", "\"gains\":[0.0,2.0]");
        assert!(matches!(Model::from_json(other.as_bytes()), Err(ModelError::Checksum { .. })));
        let odd = Model { trees: graded.trees[..1].to_vec(), ..graded };
        assert!(matches!(Model::from_json(odd.to_json().as_bytes()), Err(ModelError::Content { .. })));
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
        let newer = text.replace("\"version\": 1", "\"version\": 4");
        assert_eq!(read(&newer), ModelError::Newer { found: 4, known: 3 });
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

    proptest! {
        /// Bytes changed anywhere give a model or an error, never a panic and never another model.
        #[test]
        fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let model = model();
            let mut bytes = model.to_json().into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(read) = Model::from_json(&bytes) {
                prop_assert_eq!(read, model);
            }
        }

        #[test]
        fn any_number_survives(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let model = Model { trees: vec![Tree::constant(value, 1)], ..model() };
            let back = Model::from_json(model.to_json().as_bytes()).unwrap();
            prop_assert_eq!(back.trees[0].parts().leaf_value[0].to_bits(), bits);
        }
    }
}
