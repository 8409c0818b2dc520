//! The table of bad input: whatever is wrong with a file or an argument, the program ends with exit code 2 and a message that
//! names the place, and leaves nothing behind.
//!
//! * [`table`] holds the rows: a file, what is done with it, what is said about it.
//! * [`models`] holds those about models of other programs.
//! * [`content`] makes the files that cannot be written down as text.
//!
//! The exact words of the readers are tested beside them; here the real binary shows that they reach the user.

mod content;
mod models;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use self::content::Content;
use self::table::{ARGUMENTS, BOMBS, FILES};
use crate::sandbox::{Outcome, Sandbox};

/// A file by its name and content, and what the message must hold: parts with ` ... ` between them.
type Row = (&'static str, Content, &'static str);

/// What a user has: data, a model, scores, and something old that must stay.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("old.txt", "old\n");
    sandbox.ok("predict model.json train.txt --out scores.txt");
    sandbox.ok("convert-data train.txt train.rwcache");
    sandbox.write("qrels.txt", "a 0 d1 1\na 0 d2 0\nb 0 d1 2\n");
    sandbox.write("run.txt", "a Q0 d1 1 0.5 tag\nb Q0 d1 1 0.5 tag\n");
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox
}

fn parts(message: &str) -> Vec<&str> {
    message.split(" ... ").collect()
}

/// Runs a command on the file of a row, `@`; after `<` the file is standard input.
fn check(sandbox: &Sandbox, command: &str, (name, content, message): &Row) {
    content.write(sandbox, name);
    let line = command.replace('@', name);
    let before = sandbox.listing();
    let outcome = match line.split_once(" < ") {
        Some((line, input)) => sandbox.run_with_input(line, input),
        None => sandbox.run(&line),
    };
    outcome.expect_refused(&line, &parts(message));
    assert_eq!(sandbox.listing(), before, "{line} left something behind");
    content.remove(sandbox, name);
}

/// All at once: whoever rewords a message wants to see each of its uses.
fn check_all<'a>(rows: impl Iterator<Item = Box<dyn Fn(&Sandbox) + 'a>>) -> usize {
    let sandbox = sandbox();
    let done: Vec<bool> = rows.map(|row| catch_unwind(AssertUnwindSafe(|| row(&sandbox))).is_ok()).collect();
    let n_wrong = done.iter().filter(|is_right| !**is_right).count();
    assert_eq!(n_wrong, 0, "of {} rows", done.len());
    done.len()
}

#[test]
fn broken_files_are_refused_at_their_place() {
    let rows = FILES.iter().flat_map(|(command, rows)| rows.iter().map(move |row| (command, row)));
    let n_rows = check_all(rows.map(|(command, row)| -> Box<dyn Fn(&Sandbox)> {
        // A message that says no place helps nobody: the name of the file, at least.
        let file = if command.contains('<') { "<stdin>" } else { row.0 };
        assert!(row.2.starts_with(file), "{command}: {}", row.2);
        Box::new(|sandbox: &Sandbox| check(sandbox, command, row))
    }));
    assert!(n_rows >= 80, "{n_rows} rows; the table is used as have 80 at least");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    check_all(ARGUMENTS.iter().map(|(line, message)| -> Box<dyn Fn(&Sandbox)> {
        Box::new(|sandbox: &Sandbox| {
            sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), &parts(message));
        })
    }));
}

/// Small files that unpack to gigabytes. More memory than [`MEMORY_KB`] would end the process, with another exit code.
#[cfg(target_os = "linux")]
#[test]
fn bombs_are_refused_in_little_memory() {
    const MEMORY_KB: usize = 2 << 20;
    let binary = assert_cmd::cargo::cargo_bin!("rankwise");
    check_all(BOMBS.iter().map(|(command, (name, content, message))| -> Box<dyn Fn(&Sandbox)> {
        Box::new(move |sandbox: &Sandbox| {
            content.write(sandbox, name);
            assert!(sandbox.bytes(name).len() < 8 << 20, "{name} is no bomb");
            let line = command.replace('@', name);
            let before = sandbox.listing();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("ulimit -v {MEMORY_KB}; exec \"$0\" --threads 2 \"$@\"")]);
            shell.arg(binary).args(line.split_whitespace()).current_dir(sandbox.path(""));
            Outcome::from(shell.output().unwrap()).expect_refused(&line, &parts(message));
            assert_eq!(sandbox.listing(), before, "{line} left something behind");
            content.remove(sandbox, name);
        })
    }));
}
