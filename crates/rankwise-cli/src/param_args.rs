//! Training parameters on the command line.

use std::path::PathBuf;

use clap::Args;
use rankwise::io::LayoutSpec;
use rankwise::metrics::MetricName;
use rankwise::params::ParamValue as _;
use rankwise::train::{Preset, TrainSpec};

use crate::args::Global;
use crate::data_args::{DataArgs, RulesArgs};
use crate::failure::user;
use crate::{config, files, options};

#[derive(Debug, Args)]
pub(crate) struct ParamArgs {
    /// Objective, such as lambdamart, xendcg or rmse; `train --help-params objective` lists all.
    #[arg(long, value_name = "NAME")]
    pub(crate) objective: Option<String>,
    /// Metrics, such as ndcg@10 or ndcg@5,dcg. With validation data, the first one selects the best iteration.
    #[arg(long, value_name = "LIST")]
    pub(crate) metric: Option<String>,
    /// Start from the defaults of another program: lightgbm.
    #[arg(long, value_name = "NAME", value_parser = preset)]
    pub(crate) preset: Option<Preset>,
    /// TOML file with parameters, one `name = value` per line; put text in quotes.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set a parameter; overrides --config. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}

impl ParamArgs {
    /// The parameters: the preset, overridden by the file, then by --set, then by the named options.
    pub(crate) fn spec(
        &self,
        rules: &RulesArgs,
        read: &DataArgs,
        global: Global,
    ) -> anyhow::Result<(TrainSpec, LayoutSpec)> {
        let mut spec = self.preset.map_or_else(TrainSpec::default, TrainSpec::preset);
        let mut layout = LayoutSpec::default();
        if let Some(list) = self.metric.as_deref().filter(|list| !list.is_empty()) {
            // Names the wrong parameter and suggests a similar one.
            MetricName::parse_list(list)?;
        }
        if let Some(path) = &self.config {
            config::apply(path, &mut spec, &mut layout)?;
        }
        read.apply(&mut layout)?;
        let settings = self.settings.iter().map(|setting| files::key_and_value(setting));
        let settings = settings.collect::<anyhow::Result<Vec<_>>>()?;
        let named = [
            ("objective", self.objective.is_some()),
            ("metric", self.metric.is_some()),
            ("seed", global.seed.is_some()),
        ];
        let named = named.into_iter().filter(|(_, is_typed)| *is_typed).map(|(name, _)| name);
        files::check_given_once(&settings, named.chain(rules.names()))?;
        settings.iter().try_for_each(|(name, _)| options::check_parameter(name).map_err(user))?;
        spec.set_all(settings)?;
        for (name, value) in [("objective", &self.objective), ("metric", &self.metric)] {
            if let Some(value) = value {
                spec.set(name, value)?;
            }
        }
        if let Some(seed) = global.seed {
            spec.boosting.seed = seed;
        }
        rules.apply(&mut spec.rules)?;
        Ok((spec, layout))
    }
}

fn preset(typed: &str) -> Result<Preset, String> {
    Preset::parse(typed).ok_or_else(|| format!("expected {}", Preset::kind()))
}
