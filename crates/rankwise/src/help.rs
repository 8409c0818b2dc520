//! The parameters as help text and as a page, generated from their declarations.

use std::fmt::Write as _;

use rankwise_metrics::MetricKind;
use rankwise_params::{ParamInfo, ParamValue as _, nearest, normalise};
use rankwise_train::TrainSpec;

/// The line width of help texts.
const TEXT_WIDTH: usize = 100;

/// Parameters with the title of their group.
pub type ParameterGroup = (&'static str, Vec<ParamInfo>);

/// The parameter with this name, in any spelling or with an alias; otherwise those that mention the word in name or
/// help. An empty word finds all.
pub fn find_parameters(sought: &str) -> Vec<ParameterGroup> {
    let name = normalise(sought);
    let of_name = |info: &ParamInfo| info.answers_to(&name);
    let word = sought.trim().to_lowercase();
    let holds = |info: &ParamInfo| {
        let mut names = std::iter::once(info.name).chain(info.aliases.iter().copied());
        names.any(|known| normalise(known).contains(&name)) || info.help.to_lowercase().contains(&word)
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
