//! All parameters of a training run.

mod effects;
mod learner;
mod sampling;

use std::sync::LazyLock;

use rankwise_data::{BinningParams, BinningSpec, ReadingParams, ReadingSpec};
use rankwise_metrics::{MetricName, Rules, RulesSpec};
use rankwise_objectives::{ObjectiveParams, ObjectiveSpec};
use rankwise_params::{
    CrossCheck, ParamError, ParamGroup, ParamInfo, ParamValue, Range, Setting, nearest, normalise, param_enum,
    param_group,
};
use rankwise_trees::{TreeParams, TreeSpec};

pub use effects::WithoutEffect;

use crate::StepKind;

/// Parameters that choose among code which makes the same trees.
pub(crate) const CHOOSES_CODE: [&str; 2] = ["engine", "histogram_pool_mb"];

/// What a model says of how it came about beside its parameters.
pub(crate) const RECORDS: [&str; 3] = ["init_model", "pruned", "refit"];

param_enum! {
    /// Which documents a tree sees.
    pub enum Sample {
        /// All.
        None = "none",
        /// Each with probability `bagging_fraction`.
        Bagging = "bagging",
        /// All documents of a query, with probability `bagging_fraction`.
        QueryBagging = "query-bagging",
        /// The positive documents of each query, and its highest-ranked negative ones.
        Selective = "selective" | "selgb",
        /// The same, and its lowest-ranked negative ones.
        HighLow = "high-low" | "high_low_sampl",
        /// The positive documents of each query, and a random share of its negative ones.
        Negatives = "negatives",
        /// All but outliers: those that a first model keeps ranking where they do not belong.
        Inliers = "inliers",
        /// Those with the largest gradients, and some of the others, which then count more.
        Goss = "goss",
        /// Each with a probability that grows with its gradient; the less probable count more.
        Mvs = "mvs",
    }
}

param_enum! {
    /// How trees become a model.
    pub enum Learner {
        /// Each tree corrects all before it.
        Gbdt = "gbdt" | "gbrt" | "gbtree",
        /// Each tree corrects those before it but some that are left out at random.
        Dart = "dart",
        /// Trees that know nothing of each other, and count the same.
        RandomForest = "random-forest" | "rf",
    }
}

param_enum! {
    /// How a share of documents becomes a number of them.
    pub enum Rounding {
        /// To the nearest, halves up.
        Nearest = "nearest",
        /// Up.
        Up = "up" | "ceil",
        /// Down.
        Down = "down" | "floor",
    }
}

param_enum! {
    /// How the model shrinks before each tree.
    pub enum ShrinkMode {
        /// By the same factor each time.
        Constant = "constant",
        /// Less and less.
        Decreasing = "decreasing",
    }
}

param_group! {
    /// The boosting loop.
    pub LoopSpec => LoopParams, SetBoosting, "Boosting" {
        /// Most trees.
        num_trees: usize = 100, Range::closed(1.0, 1e6),
            ["num_iterations", "num_iteration", "n_iter", "num_tree", "num_round", "num_rounds", "nrounds",
             "num_boost_round", "n_estimators", "iterations", "max_iter"];
        /// What each tree's values are multiplied by.
        learning_rate: f64 = 0.1, Range::above_to(0.0, 10.0), ["shrinkage_rate", "eta"];
        /// How far to go along each tree: by the learning rate (shrinkage); by the learning rate from where the loss is least
        /// (line); to where the mean of `target` over the training queries is largest (exact).
        step: StepKind = StepKind::Shrinkage, Range::ANY, [];
        /// Stop when the first metric on the first validation set has not improved for this many trees; 0 is never.
        early_stopping_rounds: usize = 0, Range::at_least(0.0),
            ["early_stopping_round", "early_stopping", "n_iter_no_change", "od_wait"];
        /// What to measure on validation sets; the first decides which tree is the last.
        metric: Vec<MetricName> = vec![MetricName::parse("ndcg@10").expect("a metric")], Range::ANY,
            ["metrics", "metric_types", "eval_metric", "custom_metric"];
        /// Which documents each tree is grown from.
        sample: Sample = Sample::None, Range::ANY, [];
        /// Share of the documents (or queries) in a sample.
        bagging_fraction: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_row", "subsample", "bagging"];
        /// Draw a new sample every so many trees; 0 is no sampling.
        bagging_freq: usize = 0, Range::at_least(0.0), ["subsample_freq"];
        /// Sample whole queries.
        bagging_by_query: bool = false, Range::ANY, [];
        /// selective, high-low: percent of each query's negative documents (label 0) that are kept from the top of its current
        /// ranking; auto is 40 for selective, 20 for high-low.
        p_high: Option<f64> = None, Range::closed(0.0, 100.0), [];
        /// high-low: percent that are kept from the bottom; auto is 40.
        p_low: Option<f64> = None, Range::closed(0.0, 100.0), [];
        /// negatives: percent of each query's negative documents that are drawn.
        p_negatives: f64 = 20.0, Range::above_to(0.0, 100.0), [];
        /// selective, high-low, negatives: select anew every so many trees; until the first time all documents are used.
        sample_every: usize = 1, Range::at_least(1.0), [];
        /// selective, high-low, negatives: how a share of the documents is rounded; it is at least one unless the share is 0.
        sample_rounding: Rounding = Rounding::Nearest, Range::ANY, [];
        /// selective, high-low, negatives: leave out queries without a positive document.
        sample_drop_empty: bool = false, Range::ANY, [];
        /// goss: share of the documents that are kept for their large gradients.
        top_rate: f64 = 0.2, Range::above_to(0.0, 1.0), [];
        /// goss: share of the documents that are drawn from the others.
        other_rate: f64 = 0.1, Range::above_to(0.0, 1.0), [];
        /// mvs: how much Hessians count beside gradients; auto is the square of the sum of |g| over the sum of h.
        mvs_reg: Option<f64> = None, Range::at_least(0.0), ["mvs_lambda"];
        /// inliers: trees of the first model.
        outlier_trees: usize = 100, Range::closed(1.0, 1e6), [];
        /// inliers: percent of these trees, the last ones, after each of which an outlier is misplaced.
        outlier_last: f64 = 50.0, Range::above_to(0.0, 100.0), [];
        /// inliers: irrelevant documents are misplaced among this percent of the ranks from the top (and no deeper than there are
        /// relevant documents).
        outlier_high: f64 = 20.0, Range::closed(0.0, 100.0), [];
        /// inliers: relevant documents are misplaced among this percent of the ranks from the bottom (and no higher than there
        /// are irrelevant documents).
        outlier_low: f64 = 20.0, Range::closed(0.0, 100.0), [];
        /// How trees become a model.
        learner: Learner = Learner::Gbdt, Range::ANY, ["boosting", "boosting_type", "booster"];
        /// dart: the probability that an earlier tree is left out while a new one is grown.
        drop_rate: f64 = 0.1, Range::closed(0.0, 1.0), ["rate_drop"];
        /// dart: most trees that are left out; 0 is any number.
        max_drop: usize = 50, Range::at_least(0.0), [];
        /// dart: the probability that no tree is left out.
        skip_drop: f64 = 0.5, Range::closed(0.0, 1.0), [];
        /// dart: leave out every tree with the same probability, not those more often that count more.
        uniform_drop: bool = false, Range::ANY, [];
        /// dart: let the new tree count as XGBoost does.
        xgboost_dart_mode: bool = false, Range::ANY, [];
        /// Boost with Langevin noise, which lets training leave local optima.
        langevin: bool = false, Range::ANY, [];
        /// langevin: the inverse of the temperature; the larger, the less noise.
        diffusion_temperature: f64 = 1e4, Range::above(0.0), [];
        /// How much the scores shrink before each tree: by this times `learning_rate` (constant), or by this over the number
        /// of the tree (decreasing). auto is 0 without langevin, with it 0.001 (constant) or 0.01 (decreasing).
        model_shrink_rate: Option<f64> = None, Range::at_least(0.0), [];
        /// How the model shrinks.
        model_shrink_mode: ShrinkMode = ShrinkMode::Constant, Range::ANY, [];
        /// Every random draw depends on it.
        seed: u64 = 0, Range::at_least(0.0), ["random_seed", "random_state"];
    }
}

impl CrossCheck for LoopSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        if self.metric.is_empty() {
            return Err(ParamError::conflict("metric", "name at least one metric, such as ndcg@10"));
        }
        let largest = match self.model_shrink_mode {
            ShrinkMode::Constant => 1.0 / self.learning_rate,
            ShrinkMode::Decreasing => 1.0,
        };
        if self.model_shrink_rate.is_some_and(|rate| rate >= largest) {
            let problem = format!("nothing would be left of the scores; give less than {largest}");
            return Err(ParamError::conflict("model_shrink_rate", problem));
        }
        self.check_sample()
    }
}

impl LoopParams {
    /// How much the model shrinks before each tree.
    pub fn shrink_rate(&self) -> f64 {
        self.model_shrink_rate.unwrap_or(match (self.langevin, self.model_shrink_mode) {
            (false, _) => 0.0,
            (true, ShrinkMode::Constant) => 1e-3,
            (true, ShrinkMode::Decreasing) => 1e-2,
        })
    }
}

/// What was typed, for every part of a run. Parameters are set by their fields, by a chain of methods of their names (the
/// traits `SetBoosting`, `SetObjective`, `SetTrees`, `SetBinning`, `SetReading` and `SetRules`), or by text.
///
/// ```
/// use rankwise_train::{SetBoosting, TrainSpec};
/// use rankwise_trees::{Growth, SetTrees};
///
/// let params = TrainSpec::default().num_leaves(63).learning_rate(0.05).grow(Growth::Levelwise).check()?;
/// let mut typed = TrainSpec::default();
/// typed.set_all([("max_leaves", "63"), ("eta", "0.05"), ("grow", "levelwise")])?;
/// assert_eq!(typed.check()?, params);
///
/// let error = TrainSpec::default().num_leaves(1).check().unwrap_err();
/// assert_eq!(error.to_string(), "parameter 'num_leaves': 1 is out of range; it must be at least 2 and at most 131072");
/// # Ok::<(), rankwise_params::ParamError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainSpec {
    /// The loop.
    pub boosting: LoopSpec,
    /// The objective.
    pub objective: ObjectiveSpec,
    /// The trees.
    pub trees: TreeSpec,
    /// The bins.
    pub binning: BinningSpec,
    /// What the data is read with.
    pub reading: ReadingSpec,
    /// The metrics' rules.
    pub rules: RulesSpec,
}

impl TrainSpec {
    /// Every parameter there is, under its heading.
    pub fn tables() -> Vec<(&'static str, Vec<ParamInfo>)> {
        vec![
            (LoopSpec::TITLE, LoopSpec::table()),
            (ObjectiveSpec::TITLE, ObjectiveSpec::table()),
            (TreeSpec::TITLE, TreeSpec::table()),
            (BinningSpec::TITLE, BinningSpec::table()),
            (ReadingSpec::TITLE, ReadingSpec::table()),
            (RulesSpec::TITLE, RulesSpec::table()),
        ]
    }

    /// Sets a parameter by any of its names.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        let is_known = self.boosting.set(name, value)?
            || self.objective.set(name, value)?
            || self.trees.set(name, value)?
            || self.binning.set(name, value)?
            || self.reading.set(name, value)?
            || self.rules.set(name, value)?;
        if is_known { Ok(()) } else { Err(unknown(name)) }
    }

    /// Sets parameters that belong together, such as those of a file: none may be given twice.
    pub fn set_all<'a>(&mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ParamError> {
        let mut seen: Vec<(&'static str, &'a str)> = Vec::new();
        for (typed, value) in pairs {
            let name = canonical_name(typed)?;
            if let Some((_, first)) = seen.iter().find(|(known, _)| *known == name) {
                let (name, first, second) = (name.to_owned(), (*first).to_owned(), typed.to_owned());
                return Err(ParamError::Twice { name, first, second });
            }
            seen.push((name, typed));
            self.set(typed, value)?;
        }
        Ok(())
    }

    /// The values held, in the order of the tables.
    pub fn settings(&self) -> Vec<Setting> {
        [
            self.boosting.settings(),
            self.objective.settings(),
            self.trees.settings(),
            self.binning.settings(),
            self.reading.settings(),
            self.rules.settings(),
        ]
        .concat()
    }

    /// Makes sure that every part can be used.
    pub fn check(self) -> Result<TrainParams, ParamError> {
        let boosting = self.boosting.clone().check()?;
        let rules = Rules::new(&self.rules, boosting.seed)?;
        let trees = self.trees.clone().check()?;
        learner::check(&boosting, &trees)?;
        Ok(TrainParams {
            boosting,
            objective: self.objective.clone().check()?,
            trees,
            binning: self.binning.clone().check()?,
            reading: self.reading.clone().check()?,
            rules,
            spec: self,
        })
    }
}

macro_rules! holds {
    ($($part:ident: $spec:ty),*) => {
        $(impl AsMut<$spec> for TrainSpec {
            fn as_mut(&mut self) -> &mut $spec {
                &mut self.$part
            }
        })*
    };
}

holds!(boosting: LoopSpec, objective: ObjectiveSpec, trees: TreeSpec, binning: BinningSpec, reading: ReadingSpec, rules: RulesSpec);

/// Checked parameters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainParams {
    boosting: LoopParams,
    objective: ObjectiveParams,
    trees: TreeParams,
    binning: BinningParams,
    reading: ReadingParams,
    rules: Rules,
    spec: TrainSpec,
}

impl TrainParams {
    /// The loop.
    pub fn boosting(&self) -> &LoopParams {
        &self.boosting
    }

    /// The objective.
    pub fn objective(&self) -> &ObjectiveParams {
        &self.objective
    }

    /// The trees.
    pub fn trees(&self) -> &TreeParams {
        &self.trees
    }

    /// The bins.
    pub fn binning(&self) -> &BinningParams {
        &self.binning
    }

    /// What the data is read with.
    pub fn reading(&self) -> &ReadingParams {
        &self.reading
    }

    /// The metrics' rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What was typed.
    pub(crate) fn spec(&self) -> &TrainSpec {
        &self.spec
    }

    /// Every parameter with its value, as typed or by default.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.spec.settings()
    }

    /// What was typed that differs from the defaults and belongs into the model: not which code is used, and not what a
    /// model has a field for.
    pub fn changed(&self) -> Vec<Setting> {
        let is_recorded = |setting: &Setting| {
            !setting.is_default && setting.name != "absent" && !CHOOSES_CODE.contains(&setting.name)
        };
        self.spec.settings().into_iter().filter(is_recorded).collect()
    }
}

/// Names are looked up for every parameter that is set.
static TABLES: LazyLock<Vec<(&'static str, Vec<ParamInfo>)>> = LazyLock::new(TrainSpec::tables);

fn canonical_name(typed: &str) -> Result<&'static str, ParamError> {
    let name = normalise(typed);
    let mut all = TABLES.iter().flat_map(|(_, table)| table);
    all.find(|info| info.answers_to(&name)).map(|info| info.name).ok_or_else(|| unknown(typed))
}

fn unknown(name: &str) -> ParamError {
    let all = || TABLES.iter().flat_map(|(_, table)| table);
    let known = all().flat_map(|info| std::iter::once(info.name).chain(info.aliases.iter().copied()));
    // Where an alias is nearest but our own name is near too, our own is the one to learn.
    let own = |found| all().find(|info| info.aliases.contains(&found)).and_then(|info| nearest(name, [info.name]));
    let nearest = nearest(name, known).map(|found| own(found).unwrap_or(found).to_owned());
    ParamError::Unknown { name: name.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_parameter_and_every_default_can_be_typed() {
        let mut names = BTreeSet::new();
        for (title, table) in TrainSpec::tables() {
            for info in table {
                for name in std::iter::once(info.name).chain(info.aliases.iter().copied()) {
                    assert!(names.insert(normalise(name)), "{name} in {title} means two parameters");
                    let mut spec = TrainSpec::default();
                    spec.set(name, &info.default).unwrap();
                    assert_eq!(spec, TrainSpec::default(), "{name}={}", info.default);
                }
                assert!(info.help.ends_with('.'), "{}: '{}'", info.name, info.help);
            }
        }
    }

    #[test]
    fn unknown_names_get_a_hint_and_doubles_are_refused() {
        let mut spec = TrainSpec::default();
        let error = spec.set("num_leafs", "3").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown parameter 'num_leafs'; did you mean 'num_leaves'? `docs/parameters.md` lists all"
        );
        let nearest = |name: &str| match TrainSpec::default().set(name, "1").unwrap_err() {
            ParamError::Unknown { nearest, .. } => nearest,
            other => panic!("{other}"),
        };
        assert_eq!(nearest("subsampl").as_deref(), Some("subsample"), "an alias far from our own name");
        assert_eq!(nearest("zebra"), None);
        let error = spec.set_all([("eta", "0.1"), ("learning_rate", "0.2")]).unwrap_err();
        assert!(matches!(error, ParamError::Twice { .. }), "{error}");
        spec.set_all([("eta", "0.3"), ("max_leaves", "7")]).unwrap();
        assert_eq!((spec.boosting.learning_rate, spec.trees.num_leaves), (0.3, 7));
    }

    #[test]
    fn bagging_is_implied_or_refused() {
        let sample = |pairs: &[(&str, &str)]| {
            let mut spec = TrainSpec::default();
            spec.set_all(pairs.iter().copied()).unwrap();
            spec.check().map(|params| (params.boosting().sample, params.boosting().bagging_freq))
        };
        assert_eq!(sample(&[("bagging_fraction", "0.5"), ("bagging_freq", "2")]), Ok((Sample::Bagging, 2)));
        assert_eq!(sample(&[("subsample", "0.5"), ("sample", "query_bagging")]), Ok((Sample::QueryBagging, 1)));
        let by_query = [("subsample", "0.5"), ("bagging_freq", "1"), ("bagging_by_query", "true")];
        assert_eq!(sample(&by_query), Ok((Sample::QueryBagging, 1)));
        assert!(sample(&[("bagging_fraction", "0.5")]).is_err());
        assert!(sample(&[("sample", "bagging")]).is_err());
        assert!(sample(&[("bagging_freq", "1")]).is_ok());
        assert_eq!(sample(&[("sample", "goss")]), Ok((Sample::Goss, 0)));
        assert!(sample(&[("sample", "goss"), ("top_rate", "0.5"), ("other_rate", "0.6")]).is_err());
        assert!(sample(&[("sample", "goss"), ("bagging_fraction", "0.5")]).is_err());
        assert!(sample(&[("sample", "goss"), ("bagging_freq", "1")]).is_err());
        for name in ["selective", "negatives", "inliers"] {
            assert!(sample(&[("sample", name)]).is_ok());
            assert!(sample(&[("sample", name), ("subsample", "0.5")]).is_err(), "{name}");
            assert!(sample(&[("sample", name), ("bagging_freq", "1")]).is_err(), "{name}");
        }
        assert_eq!(sample(&[("sample", "mvs"), ("subsample", "0.5")]), Ok((Sample::Mvs, 0)));
        assert!(sample(&[("sample", "mvs")]).is_err());
        assert!(sample(&[("sample", "mvs"), ("subsample", "0.5"), ("bagging_freq", "2")]).is_err());
    }

    #[test]
    fn learners_refuse_what_they_cannot_do() {
        let said = |pairs: &[(&str, &str)]| {
            let mut spec = TrainSpec::default();
            spec.set_all(pairs.iter().copied()).unwrap();
            spec.check().map_or_else(|error| error.to_string(), |_| "fine".to_owned())
        };
        assert_eq!(said(&[("boosting", "dart"), ("sample", "goss")]), "fine");
        assert_eq!(said(&[("learner", "dart"), ("langevin", "true"), ("model_shrink_rate", "0")]), "fine");
        assert!(said(&[("learner", "dart"), ("langevin", "true")]).contains("model_shrink_rate=0"));
        assert!(said(&[("learner", "dart"), ("step", "exact")]).contains("step=shrinkage"));
        assert!(said(&[("learner", "rf")]).contains("bagging_freq=1"));
        assert_eq!(said(&[("learner", "rf"), ("feature_fraction", "0.5")]), "fine");
        assert_eq!(said(&[("learner", "rf"), ("bagging_fraction", "0.5"), ("bagging_freq", "1")]), "fine");
        assert!(said(&[("learner", "rf"), ("sample", "goss")]).contains("query-bagging"));
        assert!(said(&[("learner", "rf"), ("sample", "selective")]).contains("query-bagging"));
    }
}
