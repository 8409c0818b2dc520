//! Models of other programs: scores of imported models, damaged files, and exports.

mod damage;
mod exports;
mod golden;
#[path = "../../../rankwise-score/tests/it/random.rs"]
mod random;
mod shown;
mod standalone;

use std::path::PathBuf;

/// A file of `tests/data`.
fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}
