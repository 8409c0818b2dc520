//! `--trees`: how many trees of a model to use.

use clap::Args;

/// Which trees of a model to use.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct TreesArgs {
    /// Use only the first N trees (of a multiclass model: N trees per class), or all [default: all; for XGBoost models
    /// with a best iteration: the trees up to it].
    #[arg(long, value_name = "N|all", value_parser = parse)]
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
    let number = typed.parse().ok().filter(|number| *number > 0);
    number.map(TreeChoice::First).ok_or_else(|| "expected a number of trees of at least 1, such as 100, or all".into())
}
