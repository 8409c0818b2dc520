//! The parameters as text and as a page, made from their declarations.

use std::fmt::Write as _;

use rankwise_metrics::MetricKind;
use rankwise_params::{ParamInfo, ParamValue as _};
use rankwise_train::TrainSpec;

/// Where lines of help are broken.
const TEXT_WIDTH: usize = 100;

/// What `rankwise train --help-params` prints.
pub fn parameters_text() -> String {
    let mut text = String::new();
    for (title, table) in TrainSpec::tables() {
        let _ = writeln!(text, "{title}");
        for info in table {
            let _ = writeln!(text, "\n  {} = {}", info.name, shown_default(&info));
            for line in wrap(&info.help, TEXT_WIDTH) {
                let _ = writeln!(text, "      {line}");
            }
            let _ = writeln!(text, "      {}", info.allowed());
            if !info.aliases.is_empty() {
                for line in wrap(&format!("also: {}", info.aliases.join(", ")), TEXT_WIDTH) {
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
         Every parameter of `rankwise train`, given with `--set name=value` or in a TOML file with `--config`.\n\
         This page is made from the declarations in the code by `cargo xtask docs`; `rankwise train --help-params` prints the same.\n",
    );
    for (title, table) in TrainSpec::tables() {
        let _ =
            write!(page, "\n## {title}\n\n| name | default | value | meaning | other names |\n|---|---|---|---|---|\n");
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

/// The help of an option that takes metrics.
pub fn metric_option() -> String {
    let names = |takes_cutoff: bool| {
        let kinds = MetricKind::ALL.iter().filter(|kind| kind.takes_cutoff() == takes_cutoff);
        kinds.map(MetricKind::render).collect::<Vec<_>>().join(", ")
    };
    let (cut, whole) = (names(true), names(false));
    format!("What to measure, such as ndcg@10 or map,p@5,mrr: {cut}, all with or without @k; {whole}")
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
