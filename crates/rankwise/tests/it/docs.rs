//! Checks that the documentation matches the code.

use std::path::PathBuf;

use rankwise::model::Model;

/// If set to 1, generated files are written instead of compared, as by `cargo xtask docs`.
const UPDATE: &str = "RANKWISE_UPDATE_DOCS";

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn check_generated(name: &str, expected: &str) {
    let path = page("..").join(name);
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let same = found.lines().zip(expected.lines()).take_while(|(found, expected)| found == expected).count();
    assert!(found == expected, "{name}:{}: this is not what the declarations say; run cargo xtask docs", same + 1);
}

#[test]
fn the_page_of_parameters_is_up_to_date() {
    check_generated("docs/parameters.md", &rankwise::help::parameters_markdown());
}

#[test]
fn the_parameters_of_the_python_package_are_up_to_date() {
    check_generated("python/rankwise/_params.py", &rankwise::help::parameters_python());
}

/// The example in docs/model-file.md is a complete file; its last JSON block.
#[test]
fn the_example_of_a_model_file_is_one() {
    let text = std::fs::read_to_string(page("model-file.md")).unwrap();
    let block = text.rsplit("```json\n").next().unwrap();
    let example = &block[..block.find("```").expect("the block ends")];
    let model = Model::from_json(example.as_bytes()).unwrap();
    assert_eq!(model.to_json(), example, "the example is what the program writes");
}

/// So that the Rust code in each of them is compiled.
#[test]
fn the_first_page_of_the_crate_includes_every_document() {
    let crate_page = std::fs::read_to_string(page("../crates/rankwise/src/lib.rs")).unwrap();
    for entry in std::fs::read_dir(page("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_included = crate_page.contains(&format!("include_str!(\"../../../docs/{name}\")"));
        assert!(is_included, "docs/{name} is missing in mod docs of lib.rs");
    }
}

/// Read, train with validation and early stopping, evaluate, save, load, predict: short enough for the crate's first page.
#[test]
fn the_first_program_has_fifteen_lines() {
    let crate_page = std::fs::read_to_string(page("../crates/rankwise/src/lib.rs")).unwrap();
    let program = crate_page.split("//! ```").nth(1).unwrap();
    let lines = program.lines().skip(1).map(|line| line.trim_start_matches("//!").trim());
    let n_lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    assert!((10..=15).contains(&n_lines), "{n_lines}");
}
