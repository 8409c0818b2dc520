//! The rules of the metrics as options, made from their declarations.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rankwise::metrics::RulesSpec;
use rankwise::params::{ParamError, ParamGroup, ParamInfo};

const HEADING: &str = "Rules of the metrics";

/// What was typed of the rules: names of parameters and their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesArgs {
    typed: Vec<(&'static str, String)>,
}

impl RulesArgs {
    /// Adds what was typed to a spec.
    pub(crate) fn apply(&self, spec: &mut RulesSpec) -> Result<(), ParamError> {
        for (name, value) in &self.typed {
            spec.set(name, value)?;
        }
        Ok(())
    }
}

impl Args for RulesArgs {
    fn augment_args(command: Command) -> Command {
        RulesSpec::table().iter().fold(command, |command, info| command.arg(option(info)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RulesArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let typed = |info: ParamInfo| Some((info.name, matches.get_one::<String>(info.name)?.clone()));
        self.typed.extend(RulesSpec::table().into_iter().filter_map(typed));
        Ok(())
    }
}

/// `relevant_from` becomes `--relevant-from`.
fn option(info: &ParamInfo) -> Arg {
    let flag = |name: &str| name.replace('_', "-");
    Arg::new(info.name)
        .long(flag(info.name))
        .aliases(info.aliases.iter().map(|alias| flag(alias)))
        .value_name("VALUE")
        .allow_negative_numbers(true)
        .help(format!("{} [{}; default: {}]", info.help, info.allowed(), info.default))
        .help_heading(HEADING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_an_option_that_reaches_the_spec() {
        let command = || RulesArgs::augment_args(Command::new("test").no_binary_name(true));
        for info in RulesSpec::table() {
            // No value of any rule: what is typed reaches the rule's own parser.
            let typed = [format!("--{}", info.name.replace('_', "-")), "nonsense".into()];
            let matches = command().try_get_matches_from(typed).unwrap();
            let args = RulesArgs::from_arg_matches(&matches).unwrap();
            let error = args.apply(&mut RulesSpec::default()).unwrap_err();
            assert!(matches!(error, ParamError::Value { name, .. } if name == info.name));
        }
    }
}
