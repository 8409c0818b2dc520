//! `--trees`: how many trees of a model count.

use clap::Args;

/// Which trees of a model to use.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct TreesArgs {
    /// Use the first N rounds of the model (N trees, or N for each grade of a multiclass model), or all. By default all, but
    /// those up to the best iteration where an XGBoost file names one.
    #[arg(long, value_name = "N|all", value_parser = parse, allow_negative_numbers = true)]
    trees: Option<TreeChoice>,
}

/// What was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeChoice {
    First(usize),
    All,
}

impl TreesArgs {
    pub(crate) fn choice(self) -> Option<TreeChoice> {
        self.trees
    }
}

fn parse(typed: &str) -> Result<TreeChoice, String> {
    if typed == "all" {
        return Ok(TreeChoice::All);
    }
    typed.parse().map(TreeChoice::First).map_err(|_| "give a number of trees, such as 100, or all".into())
}
