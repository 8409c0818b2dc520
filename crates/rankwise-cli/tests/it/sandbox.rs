//! A folder of its own for each test, and the binary that runs in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the binary runs, so that messages show the short names of its files.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A folder with `train.txt` and `vali.txt`, a few queries each.
    pub(crate) fn with_data() -> Self {
        let sandbox = Self::new();
        sandbox.synth("train.txt", 1);
        sandbox.synth("vali.txt", 2);
        sandbox
    }

    /// The same with a trained `model.json`.
    pub(crate) fn with_model() -> Self {
        let sandbox = Self::with_data();
        sandbox.train("model.json", "");
        sandbox
    }

    fn synth(&self, name: &str, seed: u32) {
        self.ok(&format!("synth --rows 900 --features 8 --seed {seed} --out {name}"));
    }

    /// Trains a small model on `train.txt`, with further arguments; gives the bytes of its file.
    pub(crate) fn train(&self, out: &str, more: &str) -> Vec<u8> {
        self.train_on("train.txt", out, more)
    }

    pub(crate) fn train_on(&self, data: &str, out: &str, more: &str) -> Vec<u8> {
        self.ok(&format!("train {data} --out {out} --set num_trees=6 --set num_leaves=7 {more}"));
        self.bytes(out)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Every file and folder below the sandbox, with sizes: what a refused command must leave as it was.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, u64)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, u64)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                found.push((entry.path(), if metadata.is_dir() { 0 } else { metadata.len() }));
                if metadata.is_dir() {
                    walk(&entry.path(), found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found.sort();
        found
    }

    /// The binary, in the sandbox.
    pub(crate) fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rankwise"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs words separated by blanks.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.run_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_args(&self, args: &[&str]) -> Outcome {
        self.command(args.iter().copied()).output().unwrap().into()
    }

    /// Runs with a file as standard input.
    pub(crate) fn run_with_input(&self, line: &str, input: &str) -> Outcome {
        let mut command = self.command(line.split_whitespace());
        command.stdin(std::fs::File::open(self.path(input)).unwrap());
        command.output().unwrap().into()
    }

    /// Runs what must succeed; gives stdout.
    pub(crate) fn ok(&self, line: &str) -> String {
        self.run(line).expect_ok(line)
    }

    /// Runs with `--json` what must succeed; gives the one object that it must print.
    pub(crate) fn json(&self, line: &str) -> Value {
        let stdout = self.ok(&format!("{line} --json"));
        assert_eq!(stdout.lines().count(), 1, "{line}: {stdout}");
        let value: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{line}: {error}: {stdout}"));
        assert!(value.is_object(), "{line}: {stdout}");
        value
    }

    /// Runs what must be refused: exit code 2, a message with all the parts, nothing on stdout and no file changed.
    pub(crate) fn refused(&self, args: &[&str], parts: &[&str]) {
        let before = self.listing();
        let outcome = self.run_args(args);
        outcome.expect_refused(&format!("{args:?}"), parts);
        assert_eq!(self.listing(), before, "{args:?} left something behind");
    }

    /// [`Self::refused`] for a table of lines.
    pub(crate) fn all_refused(&self, cases: &[(&str, &[&str])]) {
        for (line, parts) in cases {
            self.refused(&line.split_whitespace().collect::<Vec<_>>(), parts);
        }
    }
}

impl Outcome {
    pub(crate) fn expect_ok(self, what: &str) -> String {
        assert_eq!(self.code, Some(0), "{what}: {}", self.stderr);
        self.stdout
    }

    pub(crate) fn expect_refused(&self, what: &str, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{what}: {self:?}");
        assert_eq!(self.stdout, "", "{what}");
        let message = self.error().unwrap_or_else(|| panic!("{what}: {self:?}"));
        for part in parts {
            assert!(message.contains(part), "{what}: no '{part}' in\n{message}");
        }
        assert!(!message.contains("os error"), "{what}: the system's words: {message}");
        for sentence in message.split([':', ';']).map(str::trim).filter(|sentence| sentence.len() > 15) {
            assert_eq!(message.matches(sentence).count(), 1, "{what}: says twice '{sentence}' in\n{message}");
        }
    }
}

impl Outcome {
    /// The error, as text or from the object of `--json`.
    fn error(&self) -> Option<String> {
        let object: Result<Value, _> = serde_json::from_str(&self.stderr);
        if let Ok(object) = object {
            return Some(format!("error: {}", object["error"]["message"].as_str()?));
        }
        // Remarks on what was read may stand before it.
        let at = self.stderr.lines().position(|line| line.starts_with("error: "))?;
        Some(self.stderr.lines().skip(at).collect::<Vec<_>>().join("\n"))
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The lines in another order, always the same one: every seventh of them first, and so on.
pub(crate) fn shuffled(n_lines: usize) -> Vec<usize> {
    (0..7).flat_map(|start| (start..n_lines).step_by(7)).rev().collect()
}

/// A text with its lines in the given order.
pub(crate) fn reordered(text: &str, order: &[usize]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    order.iter().map(|line| format!("{}\n", lines[*line])).collect()
}
