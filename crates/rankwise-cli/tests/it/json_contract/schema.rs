//! The schemas in `docs/schemas`, and a validator for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boon::{Compiler, Draft, SchemaIndex};
use serde_json::Value;

/// The folder of the schemas.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").canonicalize().unwrap()
}

/// Schemas that were compiled so far.
pub(super) struct Schemas {
    compiler: Compiler,
    compiled: boon::Schemas,
    known: BTreeMap<String, SchemaIndex>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        Self { compiler, compiled: boon::Schemas::new(), known: BTreeMap::new() }
    }

    /// Holds an object against the schema of this name.
    pub(super) fn check(&mut self, name: &str, object: &Value, what: &str) {
        if let Err(problem) = self.validate(name, object) {
            panic!("{what}: not as in {name}.json: {problem}\n{object:#}");
        }
    }

    fn validate(&mut self, name: &str, object: &Value) -> Result<(), String> {
        let index = if let Some(index) = self.known.get(name) {
            *index
        } else {
            let file = folder().join(format!("{name}.json"));
            let index = self.compiler.compile(file.to_str().unwrap(), &mut self.compiled);
            let index = index.unwrap_or_else(|error| panic!("{name}.json: {error:#}"));
            self.known.insert(name.to_owned(), index);
            index
        };
        self.compiled.validate(object, index).map_err(|error| format!("{error:#}"))
    }
}

/// Every object of every schema names all its keys, says which are needed, and describes each of them.
#[test]
fn schemas_are_strict_and_described() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{}", path.display());
        check_strict(&schema, &path.display().to_string());
    }
}

fn check_strict(schema: &Value, place: &str) {
    if let Some(properties) = schema["properties"].as_object() {
        assert_eq!(schema["additionalProperties"], false, "{place}");
        assert!(schema["required"].is_array(), "{place}");
        for (name, property) in properties {
            let is_described = property["description"].is_string() || property["$ref"].is_string();
            assert!(is_described, "{place}: {name} has no description");
        }
    }
    match schema {
        Value::Object(parts) => parts.iter().for_each(|(name, part)| check_strict(part, &format!("{place}/{name}"))),
        Value::Array(parts) => parts.iter().for_each(|part| check_strict(part, place)),
        _ => {}
    }
}

/// The validator itself: without it, a schema that accepts anything would pass every test.
#[test]
fn a_wrong_object_is_refused() {
    type Damage = fn(&mut Value);
    let mut schemas = Schemas::new();
    let seconds = serde_json::json!({ "load": 0.5, "score": 0.25, "write": 0, "other": 0.25, "total": 1 });
    let data = serde_json::json!({ "files": [], "columns": [], "joined_queries": 0 });
    let whole = serde_json::json!({ "rows": 3, "data": data, "seconds": seconds, "outputs": [], "warnings": [] });
    assert_eq!(schemas.validate("predict", &whole), Ok(()));
    let damages: [Damage; 7] = [
        |object| object["more"] = 1.into(),
        |object| object["rows"] = "3".into(),
        |object| object["seconds"] = 1.0.into(),
        |object| object["seconds"]["total"] = (-1).into(),
        |object| object["outputs"] = serde_json::json!(["a.txt"]),
        |object| object["outputs"] = serde_json::json!([{ "path": "a.txt", "kind": "unknown" }]),
        |object| drop(object.as_object_mut().unwrap().remove("warnings")),
    ];
    for damage in damages {
        let mut object = whole.clone();
        damage(&mut object);
        assert!(schemas.validate("predict", &object).is_err(), "{object}");
    }
}
