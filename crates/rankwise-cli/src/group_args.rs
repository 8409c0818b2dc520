//! Command-line options generated from parameter declarations.

use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rankwise::params::{ParamError, ParamGroup, ParamInfo};

use crate::failure::with_flags;

/// The parameters of a group that were typed, with their values.
#[derive(Clone, Debug)]
pub(crate) struct GroupArgs<G> {
    typed: Vec<(&'static str, String)>,
    group: PhantomData<G>,
}

impl<G: ParamGroup> GroupArgs<G> {
    /// The parameters that were typed.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.typed.iter().map(|(name, _)| *name)
    }

    /// Adds what was typed to a spec.
    pub(crate) fn apply(&self, spec: &mut G) -> Result<(), ParamError> {
        for (name, value) in &self.typed {
            spec.set(name, value)?;
        }
        Ok(())
    }
}

impl<G: ParamGroup> Args for GroupArgs<G> {
    fn augment_args(command: Command) -> Command {
        G::table().into_iter().fold(command, |command, info| command.arg(option::<G>(&info)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: ParamGroup> FromArgMatches for GroupArgs<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self { typed: Vec::new(), group: PhantomData };
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let typed = |info: ParamInfo| Some((info.name, matches.get_one::<String>(info.name)?.clone()));
        self.typed.extend(G::table().into_iter().filter_map(typed));
        Ok(())
    }
}

/// `relevant_from` becomes `--relevant-from`.
fn option<G: ParamGroup>(info: &ParamInfo) -> Arg {
    let flag = |name: &str| name.replace('_', "-");
    let name = info.name;
    let default = if info.default.is_empty() { "none" } else { &info.default };
    Arg::new(name)
        .long(flag(name))
        .aliases(info.aliases.iter().map(|alias| flag(alias)))
        .value_name("VALUE")
        .value_parser(move |typed: &str| checked::<G>(name, typed))
        .help(with_flags(&format!("{} [{}; default: {default}]", info.help, info.allowed())))
        .help_heading(G::TITLE)
}

/// Returns the text if it is a valid value of the parameter.
fn checked<G: ParamGroup>(name: &str, typed: &str) -> Result<String, String> {
    G::default().set(name, typed).map(|_| typed.to_owned()).map_err(|error| match error {
        ParamError::Value { expected, .. } => format!("expected {expected}"),
        ParamError::OutOfRange { .. } => {
            let info = G::table().into_iter().find(|info| info.name == name);
            format!("expected {}", info.map(|info| info.allowed()).unwrap_or_default())
        }
        ParamError::Invalid { problem, .. } => problem,
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use rankwise::io::LayoutSpec;
    use rankwise::metrics::RulesSpec;

    use super::*;

    /// Types the default of every parameter, then a text that is invalid for all of them.
    fn every_parameter_is_an_option<G: ParamGroup + PartialEq + std::fmt::Debug>() {
        let command = || GroupArgs::<G>::augment_args(Command::new("test").no_binary_name(true));
        for info in G::table().into_iter().filter(|info| !info.default.is_empty()) {
            let flag = format!("--{}", info.name.replace('_', "-"));
            let matches = command().try_get_matches_from([&flag, &info.default]).unwrap();
            let args = GroupArgs::<G>::from_arg_matches(&matches).unwrap();
            assert_eq!(args.typed, [(info.name, info.default.clone())]);
            let mut spec = G::default();
            args.apply(&mut spec).unwrap();
            assert_eq!(spec, G::default());
            let error = command().try_get_matches_from([&flag, ""]).unwrap_err().to_string();
            assert!(error.contains(&flag) && error.contains(&info.kind), "{error}");
        }
    }

    #[test]
    fn every_rule_is_an_option() {
        every_parameter_is_an_option::<RulesSpec>();
    }

    #[test]
    fn every_parameter_of_the_layout_is_an_option() {
        every_parameter_is_an_option::<LayoutSpec>();
    }
}
