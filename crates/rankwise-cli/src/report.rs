//! `--report` and `--plots`: a page about a result, and its plots as files.
//!
//! The commands hand over what they have measured; [`rankings`] remembers what is lost after measuring, the order of the
//! documents. Numbers come from the same functions as the printed tables, so that page and text never differ.

mod deciding;
mod facts;
mod grades;
mod groups;
mod importance;
mod of_comparison;
mod of_data;
mod of_evaluation;
mod of_explanation;
mod of_search;
mod of_training;
mod rankings;
pub(crate) mod tables;

use std::path::{Path, PathBuf};

use clap::Args;
use rankwise_report::Report;

use crate::failure::user;
use crate::files;
use crate::output::Output;
use crate::record::FileKind;

pub(crate) use deciding::{DECIDING, Judged};
pub(crate) use facts::{Facts, Parameters};
pub(crate) use importance::ModelFacts;
pub(crate) use of_comparison::ComparisonPage;
pub(crate) use of_data::{DataPage, distribution};
pub(crate) use of_evaluation::EvaluationPage;
pub(crate) use of_explanation::ExplanationPage;
pub(crate) use of_search::SearchPage;
pub(crate) use of_training::{TrainingPage, learning_curves};
pub(crate) use rankings::{DataFacts, Rankings};

/// Where to write a report.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportArgs {
    /// Write a report to an HTML file: tables, plots, the queries that decide, rules and parameters. It needs no network.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the plots of the report to this folder, as SVG and PNG; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
}

impl ReportArgs {
    /// Whether there is anything to do.
    pub(crate) fn is_wanted(&self) -> bool {
        self.report.is_some() || self.plots.is_some()
    }

    /// Checks before the work starts that the files can be written, and are not inputs or other outputs.
    pub(crate) fn check(&self, inputs: &[&Path], others: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
        if let Some(path) = &self.report {
            if files::is_stream(path) {
                return Err(user("--report -: standard output is used for the result; give a file name"));
            }
            if let Some((flag, _)) = others.iter().find(|(_, other)| *other == Some(path.as_path())) {
                return Err(user(format!("--report and {flag} are the same file; use different names")));
            }
            files::check_output(path, inputs)?;
        }
        if let Some(folder) = &self.plots {
            if files::is_stream(folder) {
                return Err(user("--plots -: plots are several files; give a folder"));
            }
            rankwise::io::create_folders(folder)?;
            files::check_output(&folder.join("plot.svg"), inputs)?;
        }
        Ok(())
    }

    /// Writes the page and the plots.
    pub(crate) fn write(&self, report: &Report, output: Output) -> anyhow::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        if let Some(path) = &self.report {
            output.write_text(path, FileKind::Report, &report.to_html())?;
            written.push(path.clone());
        }
        if let Some(folder) = &self.plots {
            for figure in report.figures().filter(|figure| !figure.plot.is_empty()) {
                let svg = figure.to_svg();
                let path = folder.join(format!("{}.svg", figure.name));
                output.write_text(&path, FileKind::Plot, &svg)?;
                written.push(path);
                #[cfg(feature = "png")]
                {
                    let path = folder.join(format!("{}.png", figure.name));
                    let png = rankwise_report::png(&svg)?;
                    output.write(&path, FileKind::Plot, |out| out.write_all(&png))?;
                    written.push(path);
                }
            }
        }
        Ok(written)
    }

    /// [`Self::write`], with a line on stderr for the page.
    pub(crate) fn write_and_tell(&self, report: &Report, output: Output) -> anyhow::Result<()> {
        self.write(report, output)?;
        if let Some(path) = &self.report {
            output.remark(&format!("wrote {}", path.display()));
        }
        if let Some(folder) = &self.plots {
            output.remark(&format!("wrote plots to {}", folder.display()));
        }
        Ok(())
    }
}

/// The last line of a page.
fn footer() -> String {
    format!("Rankwise {}. This page is one file: it loads nothing and runs nothing.", env!("CARGO_PKG_VERSION"))
}

/// The name of a file for a plot: lower-case letters, digits and hyphens.
fn file_name(words: &str) -> String {
    let mut out = String::new();
    for char in words.chars().take(60) {
        if char.is_ascii_alphanumeric() {
            out.push(char.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_plots_are_harmless() {
        assert_eq!(file_name("difference-NDCG@10 a/../b"), "difference-ndcg-10-a-b");
        assert_eq!(file_name("../"), "");
    }
}
