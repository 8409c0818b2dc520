//! `--trees`: how many trees of a model to use.

use clap::Args;

/// Which trees of a model to use.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct TreesArgs {
    /// Use the first N rounds of the model (N trees, or N trees per class of a multiclass model), or all [default: all, except
    /// for XGBoost files with a best iteration, which are used up to it].
    #[arg(long, value_name = "N|all", value_parser = parse, allow_negative_numbers = true)]
    trees: Option<TreeChoice>,
}

/// The value of `--trees`.
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
    typed.parse().map(TreeChoice::First).map_err(|_| "expected a number of trees, such as 100, or all".into())
}
