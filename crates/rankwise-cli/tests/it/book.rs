//! The commands in README.md and in the book, `docs/`, run as they are written and print what the page shows.
//!
//! Each page is read from top to bottom and run in an empty folder of its own. What counts on a page:
//!
//! * ```` ```console ````: lines that start with `$ ` are commands, the lines below each are what it prints, stdout and
//!   stderr together. A line `...` stands for any lines. Times and progress lines are not compared. `console exit:2`
//!   expects that exit code of the last command.
//! * ```` ```sh ````: a script that must succeed; what it prints is not shown and not compared. `sh skip` is not run.
//! * ```` ```text file:NAME ````: the content of a file, which is written.
//! * `<!-- setup`, up to `-->`: a script that readers do not see.
//!
//! `RANKWISE_BLESS=1 cargo test -p rankwise-cli book` writes what is printed into the pages.

mod page;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use self::page::{Block, Page, matches, normalised};

/// Set to 1, pages are written anew instead of compared.
const BLESS: &str = "RANKWISE_BLESS";

/// A test for each page, so that they run side by side and fail by name.
macro_rules! pages {
    ($($test:ident: $path:literal,)*) => {
        /// Every page that has a test.
        const PAGES: &[&str] = &[$($path),*];
        $(
            #[test]
            fn $test() {
                check_page($path);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    boosters: "docs/boosters.md",
    boosting: "docs/boosting.md",
    checkpoints: "docs/checkpoints.md",
    choosing: "docs/choosing.md",
    compare: "docs/compare.md",
    data: "docs/data.md",
    export: "docs/export.md",
    first_ranker: "docs/first-ranker.md",
    import: "docs/import.md",
    json: "docs/json.md",
    metrics: "docs/metrics.md",
    model_file: "docs/model-file.md",
    linear: "docs/linear.md",
    neural: "docs/neural.md",
    numbers: "docs/numbers.md",
    one_answer: "docs/one-answer.md",
    own_data: "docs/own-data.md",
    pairwise: "docs/pairwise.md",
    report: "docs/report.md",
    scoring: "docs/scoring.md",
    stochasticrank: "docs/stochasticrank.md",
    auto: "docs/auto.md",
    cv: "docs/cv.md",
    explain: "docs/explain.md",
    tune: "docs/tune.md",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check_page(path: &str) {
    let file = root().join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
    let page = Page::parse(&text);
    let printed = run_page(path, &page);
    let blessed = page.with_outputs(&printed);
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        if blessed != text {
            std::fs::write(&file, blessed).unwrap();
        }
        return;
    }
    let problems: Vec<String> = page.differences(&printed).map(|difference| format!("{path}:{difference}")).collect();
    assert!(
        problems.is_empty(),
        "{}\n\n{BLESS}=1 cargo test -p rankwise-cli book rewrites the page",
        problems.join("\n")
    );
}

/// Runs a page; gives what each of its shown commands prints, in lines.
fn run_page(path: &str, page: &Page) -> Vec<Vec<String>> {
    let folder = TempDir::new().unwrap();
    let mut printed = Vec::new();
    for (line, block) in &page.blocks {
        match block {
            Block::File { name, content } => std::fs::write(folder.path().join(name), content).unwrap(),
            Block::Script(script) => {
                let (code, text) = shell(folder.path(), &format!("set -e\n{script}"));
                assert_eq!(code, Some(0), "{path}:{line}: the script fails:\n{script}\n{text}");
            }
            Block::Console { commands, exit } => {
                for (idx, command) in commands.iter().enumerate() {
                    let (code, text) = shell(folder.path(), &command.script);
                    let expected = if idx + 1 == commands.len() { *exit } else { 0 };
                    assert_eq!(code, Some(expected), "{path}:{line}: exit code of {}\n{text}", command.script);
                    printed.push(normalised(&text));
                }
            }
        }
    }
    printed
}

/// Runs a script in a folder, with the binary on its path; gives the exit code and all that it printed.
fn shell(folder: &Path, script: &str) -> (Option<i32>, String) {
    let binary = assert_cmd::cargo::cargo_bin!("rankwise");
    let mut path = OsString::from(binary.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    // One pipe for both streams, in the order in which they are written.
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The names of the pages in `docs/`.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = files.filter(|file| file.extension().is_some_and(|ending| ending == "md"));
    pages.map(|page| page.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_page_with_commands_has_a_test() {
    for name in names() {
        let path = format!("docs/{name}");
        let has_commands = !Page::parse(&std::fs::read_to_string(root().join(&path)).unwrap()).blocks.is_empty();
        assert_eq!(PAGES.contains(&path.as_str()), has_commands, "{path}: the list `pages!` of book.rs is wrong");
    }
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for name in names().iter().filter(|name| *name != "SUMMARY.md") {
        assert!(contents.contains(&format!("]({name})")), "docs/{name} is missing in docs/SUMMARY.md");
    }
}

/// Which shells and highlighters know; another word would be run by nobody.
#[test]
fn every_script_is_marked_as_one() {
    for name in names() {
        let text = std::fs::read_to_string(root().join("docs").join(&name)).unwrap();
        for (line, content) in (1..).zip(text.lines()) {
            let is_known =
                !["```bash", "```shell", "```sh,", "```console,"].iter().any(|mark| content.starts_with(mark));
            assert!(is_known, "docs/{name}:{line}: write ```sh, ```sh skip or ```console");
        }
    }
}

#[test]
fn other_output_is_a_difference_and_can_be_written() {
    let text = "# A\n\n```console\n$ echo one; echo two\none\ntwo\n$ echo 'done in 3 s'\ndone in 9 s\n```\n\n\
                ```console exit:2\n$ exit 2\n```\n";
    let page = Page::parse(text);
    assert_eq!(page.differences(&run_page("A", &page)).count(), 0);

    let wrong = text.replace("\ntwo\n", "\nthree\n");
    let page = Page::parse(&wrong);
    let printed = run_page("A", &page);
    let found: Vec<String> = page.differences(&printed).collect();
    assert!(found.len() == 1 && found[0].starts_with("4: ") && found[0].contains("three"), "{found:?}");
    assert_eq!(page.with_outputs(&printed), text);
}

#[test]
fn dots_stand_for_any_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = lines("a\nb\nc\nd");
    for good in ["a\nb\nc\nd", "a\n...\nd", "...", "a\nb\nc\nd\n...", "...\nb\n...\nd"] {
        assert!(matches(&lines(good), &printed), "{good}");
    }
    for bad in ["a\nb\nc", "a\n...\nc", "b\n...", "", "...\nc\n...\nb\n..."] {
        assert!(!matches(&lines(bad), &printed), "{bad}");
    }
    let page = Page::parse("```console\n$ x\na\n...\nz\n```\n");
    assert_eq!(page.with_outputs(&[printed]), "```console\n$ x\na\n...\nd\n```\n");
}
