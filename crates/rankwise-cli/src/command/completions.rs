//! `rankwise completions`

use clap::CommandFactory as _;
use clap_complete::generate;
use serde_json::json;

use crate::args::{Cli, Completions};
use crate::output::Output;

pub(crate) fn run(args: &Completions, output: Output) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "rankwise", &mut script);
    let script = String::from_utf8(script)?;
    output.result(&script, json!({ "shell": args.shell.to_string(), "script": script }))
}
