//! `rankwise man`

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;
use serde_json::json;

use crate::args::{Cli, ManPages};
use crate::output::Output;
use crate::record::FileKind;
use crate::text;

pub(crate) fn run(args: &ManPages, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["write"]);
    output.phase("write");
    rankwise::io::create_folders(&args.out)?;
    let mut written: Vec<PathBuf> = Vec::new();
    for page in pages() {
        let path = args.out.join(page.get_filename());
        output.write(&path, FileKind::ManPage, |file| page.render(file))?;
        written.push(path);
    }
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let (pages, folder) = (text::count(names.len(), "man page"), args.out.display());
    output.result(
        &format!("wrote {pages} to {folder}; read one with `man {}`\n", names[0]),
        json!({ "folder": args.out.display().to_string(), "pages": names.len() }),
    )
}

/// The program's page, then one for each command.
fn pages() -> Vec<Man> {
    let mut program = Cli::command().disable_help_subcommand(true);
    // Adds full names and global options to the commands.
    program.build();
    let commands: Vec<Man> = program.get_subcommands().cloned().map(Man::new).collect();
    std::iter::once(Man::new(program)).chain(commands).collect()
}
