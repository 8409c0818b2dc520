//! The parameters as help text and as a page, generated from their declarations.

use std::fmt::Write as _;

use rankwise_metrics::MetricKind;
use rankwise_params::{ParamInfo, ParamValue as _, nearest, normalise};
use rankwise_train::TrainSpec;

/// The line width of help texts.
const TEXT_WIDTH: usize = 100;

/// Parameters with the title of their group.
pub type ParameterGroup = (&'static str, Vec<ParamInfo>);

/// The parameter with this name, in any spelling or with an alias; otherwise those that mention the word in name,
/// values or help. An empty word finds all.
pub fn find_parameters(sought: &str) -> Vec<ParameterGroup> {
    let name = normalise(sought);
    let of_name = |info: &ParamInfo| info.answers_to(&name);
    let word = sought.trim().to_lowercase();
    let holds = |info: &ParamInfo| {
        let mut names = std::iter::once(info.name).chain(info.aliases.iter().copied());
        names.any(|known| normalise(known).contains(&name))
            || info.help.to_lowercase().contains(&word)
            || info.allowed().to_lowercase().contains(&word)
    };
    let has_name = TrainSpec::tables().iter().any(|(_, table)| table.iter().any(of_name));
    let groups = TrainSpec::tables().into_iter().map(|(title, mut table)| {
        table.retain(|info| if has_name { of_name(info) } else { holds(info) });
        (title, table)
    });
    groups.filter(|(_, table)| !table.is_empty()).collect()
}

/// The parameter most similar to a name, if one is similar enough.
pub fn nearest_parameter(name: &str) -> Option<&'static str> {
    let names: Vec<&'static str> =
        TrainSpec::tables().into_iter().flat_map(|(_, table)| table.into_iter().map(|info| info.name)).collect();
    nearest(name, names)
}

/// The output of `rankwise train --help-params` for these.
pub fn parameters_text(groups: &[ParameterGroup]) -> String {
    let mut text = String::new();
    for (title, table) in groups {
        let _ = writeln!(text, "{title}");
        for info in table {
            let _ = writeln!(text, "\n  {} = {}", info.name, shown_default(info));
            for line in wrap(&info.help, TEXT_WIDTH) {
                let _ = writeln!(text, "      {line}");
            }
            let _ = writeln!(text, "      value: {}", info.allowed());
            if !info.aliases.is_empty() {
                for line in wrap(&format!("aliases: {}", info.aliases.join(", ")), TEXT_WIDTH) {
                    let _ = writeln!(text, "      {line}");
                }
            }
        }
        text.push('\n');
    }
    text
}

/// The page `docs/parameters.md`.
pub fn parameters_markdown() -> String {
    let mut page = String::from(
        "# Parameters\n\n\
         Look up every parameter of `rankwise train` here: what it does, its default, its range and its aliases. Set parameters with\n\
         `--set name=value`, or in a TOML file with `--config`.\n\n\
         If a meaning starts with names, such as `goss:` or `ranknet, hinge:`, the parameter applies only with these values of\n\
         `sample`, `learner` or `objective`.\n\n\
         `rankwise train --help-params` prints the same. This page is generated from the code by `cargo xtask docs`.\n",
    );
    for (title, table) in TrainSpec::tables() {
        let _ = write!(page, "\n## {title}\n\n| name | default | value | meaning | aliases |\n|---|---|---|---|---|\n");
        for info in table {
            let aliases: Vec<String> = info.aliases.iter().map(|alias| format!("`{alias}`")).collect();
            let _ = writeln!(
                page,
                "| `{}` | `{}` | {} | {} | {} |",
                info.name,
                shown_default(&info),
                escape(&info.allowed()),
                escape(&info.help),
                aliases.join(", ")
            );
        }
    }
    page
}

/// The module `python/rankwise/_params.py`: a class whose constructor has every parameter as a named argument.
pub fn parameters_python() -> String {
    let mut fields = String::new();
    let mut docs = String::new();
    let mut assignments = String::new();
    for (_, table) in TrainSpec::tables() {
        for info in table {
            let (hint, default) = (python_type(&info), python_value(&info.default));
            let _ = writeln!(fields, "        {}: {hint} = {default},", info.name);
            let _ = writeln!(assignments, "        self.{0} = {0}", info.name);
            let _ = writeln!(docs, "    {} : {}, default {default}", info.name, info.allowed());
            for line in wrap(&info.help, TEXT_WIDTH) {
                let _ = writeln!(docs, "        {line}");
            }
            if !info.aliases.is_empty() {
                for line in wrap(&format!("Aliases: {}.", info.aliases.join(", ")), TEXT_WIDTH) {
                    let _ = writeln!(docs, "        {line}");
                }
            }
        }
    }
    format!(
        "\"\"\"The parameters of training. `cargo xtask docs` generates this module from the code; do not edit it.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import Any, Literal\n\n\
         ParamValue = str | int | float | bool | list[Any] | tuple[Any, ...] | None\n\n\n\
         class Parameters:\n    \
         r\"\"\"Parameters of training, as named arguments. Other arguments are aliases of these.\n\n    \
         Parameters\n    ----------\n{docs}    \
         n_jobs : int, optional\n        \
         Number of threads; -1 or None for all cores, -2 for all but one, and so on.\n    \
         \"\"\"\n\n    \
         def __init__(\n        self,\n        *,\n{fields}        n_jobs: int | None = None,\n        **kwargs: ParamValue,\n    ) -> None:\n\
         {assignments}        self.n_jobs = n_jobs\n        self._set_others(kwargs)\n\n    \
         def _set_others(self, others: dict[str, ParamValue]) -> None:\n        \
         raise NotImplementedError\n"
    )
}

/// The type of a parameter in Python.
fn python_type(info: &ParamInfo) -> String {
    let is_auto = info.kind.starts_with("auto or ");
    let kind = info.kind.trim_start_matches("auto or ");
    let hint = match kind {
        "an integer" => "int".to_owned(),
        "a number" => "float".to_owned(),
        "true|false" => "bool".to_owned(),
        kind if !kind.contains([' ', ':']) => {
            let values: Vec<String> = kind.split('|').map(|value| format!("{value:?}")).collect();
            return format!("Literal[{}]", values.join(", "));
        }
        _ => "str | list[Any] | tuple[Any, ...]".to_owned(),
    };
    if is_auto { format!("{hint} | Literal[\"auto\"]") } else { hint }
}

/// A default in Python.
fn python_value(default: &str) -> String {
    match default {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        number if number.parse::<f64>().is_ok() => number.to_owned(),
        text => format!("{text:?}"),
    }
}

/// The help of options that take metrics.
pub fn metric_option() -> String {
    let names = |takes_cutoff: bool| {
        let kinds = MetricKind::ALL.iter().filter(|kind| kind.takes_cutoff() == takes_cutoff);
        kinds.map(MetricKind::render).collect::<Vec<_>>().join(", ")
    };
    let (cut, whole) = (names(true), names(false));
    format!(
        "Comma-separated metrics, such as ndcg@10 or map,p@5,mrr. With or without a cutoff @k: {cut}. Always without: {whole}"
    )
}

fn shown_default(info: &ParamInfo) -> &str {
    if info.default.is_empty() { "(empty)" } else { &info.default }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
