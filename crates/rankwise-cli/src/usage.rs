//! Parses the command line, and explains what is wrong with it where the parser does not know enough.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command, CommandFactory as _, FromArgMatches as _};
use rankwise::params::{nearest, normalise};
use rankwise::train::TrainSpec;

use crate::args::Cli;
use crate::{files, options};

/// Shorter names begin too many others.
const MIN_PREFIX: usize = 3;

/// Parses the command line. People try `--num-leaves 3` first: the error tells them how to set a parameter.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    // The parser takes `--help` after `help` for the name of a command.
    if typed.get(1).is_some_and(|word| word == "help")
        && typed.get(2).is_some_and(|word| word == "--help" || word == "-h")
    {
        typed.remove(1);
    }
    let matches = program().try_get_matches_from(&typed).map_err(|error| explained(error, &typed))?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program()))
}

/// The commands. A negative number after an option is its value, so that the error can tell what is expected.
fn program() -> Command {
    let with_negative = |argument: Arg| {
        let takes_numbers = argument.get_action().takes_values() && !argument.is_positional();
        argument.allow_negative_numbers(takes_numbers)
    };
    Cli::command().mut_args(with_negative).mut_subcommands(|command| command.mut_args(with_negative))
}

fn explained(error: clap::Error, typed: &[OsString]) -> clap::Error {
    let Some(command) = command_of(typed) else { return error };
    let advice = match error.kind() {
        ErrorKind::UnknownArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(option)) if option.starts_with('-') => Some(unknown_option(option, &command)),
            _ => None,
        },
        ErrorKind::ArgumentConflict if names_qrels_and_data(&error) => Some(QRELS_ADVICE.to_owned()),
        ErrorKind::MissingRequiredArgument => missing_advice(&command, typed),
        ErrorKind::InvalidValue => return without_far_value(error),
        _ => None,
    };
    match advice {
        Some(advice) => clap::Error::raw(error.kind(), advice + "\n"),
        None if error.kind() == ErrorKind::MissingRequiredArgument => with_last_missing(error, &command),
        None => error,
    }
}

const QRELS_ADVICE: &str =
    "--qrels is for runs, in place of DATA; write `--run RUN --qrels FILE` without DATA, or remove --qrels";

/// The subcommand on the command line.
fn command_of(typed: &[OsString]) -> Option<Command> {
    let mut all = program();
    // Adds the options that all commands share.
    all.build();
    typed.iter().skip(1).find_map(|word| all.find_subcommand(word)).cloned()
}

/// What may be meant by an unknown option.
fn unknown_option(typed: &str, command: &Command) -> String {
    let name = normalise(typed.trim_start_matches('-'));
    let see_help = format!("see `rankwise {} --help`", command.get_name());
    if !typed.starts_with("--") {
        return format!("unknown option '{typed}'; {see_help}");
    }
    if let Some(argument) = argument_named(&name, command) {
        return format!("unknown option '{typed}'; give {argument} without an option, {see_help}");
    }
    if let Some(advice) = value_named(&name, command).or_else(|| other_commands(typed, command)) {
        return advice;
    }
    let mut tables = TrainSpec::tables().into_iter().flat_map(|(_, table)| table);
    let has_option = |name: &str| command.get_arguments().any(|option| option.get_long() == Some(name));
    let meant = match tables.find(|info| info.answers_to(&name)).map(|info| info.name) {
        Some(parameter) if has_option(parameter) => Some(parameter.to_owned()),
        Some("num_trees") if has_option("trees") => Some("trees".to_owned()),
        Some("label_gain") if has_option("gain") => {
            return format!(
                "unknown option '{typed}'; write '--gain table:0,1,3,7', with one gain for each label from 0"
            );
        }
        Some(_) => {
            return format!("'{typed}' is a training parameter; write `rankwise train ... --set {name}=VALUE`");
        }
        None => options::alias(&name).filter(|flag| has_option(flag)).map(str::to_owned),
    };
    let flags = command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(Arg::get_long);
    match meant.or_else(|| similar(&name, &flags.collect::<Vec<_>>()).map(str::to_owned)) {
        Some(flag) => format!("unknown option '{typed}'; did you mean '--{flag}'?"),
        None => format!("unknown option '{typed}'; {see_help}"),
    }
}

/// The argument without an option that an option is named after.
fn argument_named(name: &str, command: &Command) -> Option<String> {
    let places: &[&str] = match name {
        "data" | "train" | "train_data" | "input" | "in" => &["DATA", "IN", "FILE"],
        "model" => &["MODEL", "FILE"],
        "out" | "output" => &["OUT"],
        _ => &[],
    };
    let mut found = command.get_positionals().filter_map(value_name);
    found.find(|place| places.contains(&place.as_str()))
}

fn value_name(argument: &Arg) -> Option<String> {
    Some(argument.get_value_names()?.first()?.to_string())
}

/// Of `train --model`: the options that take a MODEL.
fn value_named(name: &str, command: &Command) -> Option<String> {
    let place = name.to_ascii_uppercase();
    let options = command.get_opts().filter(|option| value_name(option).as_deref() == Some(&place));
    let flags: Vec<String> = options.filter_map(Arg::get_long).map(|flag| format!("'--{flag} {place}'")).collect();
    // A name that many options share says nothing about this one.
    (1..=2).contains(&flags.len()).then(|| format!("unknown option '--{name}'; did you mean {}?", flags.join(" or ")))
}

/// Names the commands that have an option, if this command has not.
fn other_commands(typed: &str, command: &Command) -> Option<String> {
    let known = options::commands_with(typed.strip_prefix("--")?);
    let command = command.get_name();
    let list = match &known[..] {
        [] => return None,
        _ if known.iter().any(|known| known == command) => return None,
        [one] => format!("{one} has it"),
        [first @ .., last] => format!("{} and {last} have it", first.join(", ")),
    };
    Some(format!("{command} has no option {typed}; {list}"))
}

/// The flag or value most similar to what was typed: a slip, or one begins or contains the other.
fn similar<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed = normalise(typed).replace('_', "-");
    let only = |found: Vec<&'a str>| if let [one] = found[..] { Some(one) } else { None };
    let longer = || known.iter().copied().filter(|flag| flag.starts_with(&typed)).collect();
    let shorter =
        || known.iter().copied().filter(|flag| typed.starts_with(flag) || typed.ends_with(&format!("-{flag}")));
    let is_long = |flag: &&str| flag.len() >= MIN_PREFIX;
    nearest(&typed, known.iter().copied())
        .or_else(|| if typed.len() >= MIN_PREFIX { only(longer()) } else { None })
        .or_else(|| shorter().filter(is_long).max_by_key(|flag| flag.len()))
}

/// Whether judgements were given together with labelled data.
fn names_qrels_and_data(error: &clap::Error) -> bool {
    let named = [ContextKind::InvalidArg, ContextKind::PriorArg].map(|kind| match error.get(kind) {
        Some(ContextValue::String(name)) => name.clone(),
        Some(ContextValue::Strings(names)) => names.join(" "),
        _ => String::new(),
    });
    let has = |part: &str| named.iter().any(|name| name.contains(part));
    has("--qrels") && has("[DATA]")
}

/// What the arguments that were given tell about those that are missing.
fn missing_advice(command: &Command, typed: &[OsString]) -> Option<String> {
    let given = given(typed)?;
    let has = |id: &str| matches!(given.try_contains_id(id), Ok(true));
    if has("qrels") && !has("run") {
        return Some(QRELS_ADVICE.to_owned());
    }
    let places: Vec<String> = command.get_positionals().filter_map(value_name).collect();
    let Ok(Some(model)) = given.try_get_one::<PathBuf>("model") else { return None };
    let is_data = model.is_file() && files::model_source(model).is_none();
    (places == ["MODEL", "DATA"] && is_data && !has("data")).then(|| {
        format!(
            "{}: not a model; name the model before the data: rankwise {} MODEL DATA",
            model.display(),
            command.get_name()
        )
    })
}

/// The arguments of the command that were given, although others are missing.
fn given(typed: &[OsString]) -> Option<ArgMatches> {
    let mut matches = program().ignore_errors(true).try_get_matches_from(typed).ok()?;
    Some(matches.remove_subcommand()?.1)
}

/// Of `convert-data IN`, the parser takes IN for OUT and calls IN missing. What is missing is what comes last.
fn with_last_missing(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return error };
    let places: Vec<String> = command.get_positionals().map(ToString::to_string).collect();
    let (of_place, others): (Vec<String>, Vec<String>) =
        missing.iter().cloned().partition(|name| places.contains(name));
    let last = places[places.len() - of_place.len()..].iter().cloned();
    let missing = others.into_iter().chain(last).collect();
    error.insert(ContextKind::InvalidArg, ContextValue::Strings(missing));
    error
}

/// Removes a suggested value that is not similar.
fn without_far_value(mut error: clap::Error) -> clap::Error {
    if let (Some(ContextValue::String(typed)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidValue), error.get(ContextKind::SuggestedValue))
        && similar(typed, &[value.as_str()]).is_none()
    {
        error.remove(ContextKind::SuggestedValue);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_slips_or_parts() {
        let known =
            ["out", "valid", "label-column", "weight-column", "query-weight-column", "threads", "version", "pairs"];
        let cases = [
            ("vald", Some("valid")),
            ("output", Some("out")),
            ("validation", Some("valid")),
            ("valid_data", Some("valid")),
            ("label", Some("label-column")),
            ("weight", Some("weight-column")),
            ("num_threads", Some("threads")),
            ("verbose", None),
            ("params", None),
            ("in", None),
        ];
        for (typed, meant) in cases {
            assert_eq!(similar(typed, &known), meant, "{typed}");
        }
        assert_eq!(similar("catboost", &["xgboost"]), None);
        assert_eq!(similar("csv", &["tsv"]), Some("tsv"));
    }
}
