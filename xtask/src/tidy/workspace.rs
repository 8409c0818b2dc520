//! What the checks look at: the crates according to cargo, and the files according to git.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::steps::cargo_program;

/// A crate of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Its Cargo.toml, relative to the root.
    pub(crate) manifest: String,
    pub(crate) manifest_text: String,
    /// The workspace crates that it depends on directly, including tests and build scripts.
    pub(crate) uses: BTreeSet<String>,
    /// Its lib.rs and main.rs, with their text.
    pub(crate) roots: Vec<(String, String)>,
}

/// The repository.
pub(crate) struct Workspace {
    pub(crate) crates: Vec<Crate>,
    /// Tracked and new text files, relative to the root, with their text.
    pub(crate) files: Vec<(String, String)>,
}

impl Workspace {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut metadata = Command::new(cargo_program());
        metadata.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
        let metadata: Value =
            serde_json::from_slice(&output(root, metadata)?).context("what cargo metadata printed is not JSON")?;
        let mut ls_files = Command::new("git");
        ls_files.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listed = output(root, ls_files)?;
        let names: BTreeSet<&str> =
            listed.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()).collect();
        let files = names.into_iter().filter(|name| !name.is_empty()).filter_map(|name| {
            // Skip files that are not text, or that were deleted but are still in the index.
            Some((name.to_owned(), std::fs::read_to_string(root.join(name)).ok()?))
        });
        Ok(Self { crates: crates(root, &metadata)?, files: files.collect() })
    }
}

fn output(root: &Path, mut command: Command) -> anyhow::Result<Vec<u8>> {
    let shown = format!("{command:?}");
    let output = command.current_dir(root).output().with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

fn crates(root: &Path, metadata: &Value) -> anyhow::Result<Vec<Crate>> {
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    packages.iter().map(|package| read_crate(root, package, &names)).collect()
}

fn read_crate(root: &Path, package: &Value, names: &BTreeSet<&str>) -> anyhow::Result<Crate> {
    let manifest = from_root(root, &package["manifest_path"])?;
    let uses = list(&package["dependencies"]).filter_map(|used| used["name"].as_str());
    let has_code =
        |target: &&Value| list(&target["kind"]).any(|kind| kind == "lib" || kind == "cdylib" || kind == "bin");
    let roots = list(&package["targets"]).filter(has_code).map(|target| {
        let file = from_root(root, &target["src_path"])?;
        Ok((file.clone(), read(root, &file)?))
    });
    Ok(Crate {
        name: package["name"].as_str().context("a package has no name")?.to_owned(),
        manifest_text: read(root, &manifest)?,
        manifest,
        uses: uses.filter(|used| names.contains(used)).map(str::to_owned).collect(),
        roots: roots.collect::<anyhow::Result<_>>()?,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn read(root: &Path, file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned())
}

/// Converts cargo's absolute paths.
fn from_root(root: &Path, path: &Value) -> anyhow::Result<String> {
    let path = Path::new(path.as_str().context("a path is missing")?);
    let path = path.strip_prefix(root).with_context(|| format!("{} lies outside the repository", path.display()))?;
    Ok(path.display().to_string())
}
