//! All parameters of a training run.

mod effects;
mod learner;
mod learners;
mod preset;
mod sampling;

use std::sync::LazyLock;

use rankwise_data::{BinningParams, BinningSpec, ReadingParams, ReadingSpec};
use rankwise_metrics::{MetricName, Rules, RulesSpec};
use rankwise_objectives::{ObjectiveKind, ObjectiveParams, ObjectiveSpec};
use rankwise_params::{
    CrossCheck, ParamError, ParamGroup, ParamInfo, ParamValue, Range, Setting, Spellings, nearest, normalise,
    param_enum, param_group,
};
use rankwise_trees::{Growth, TreeParams, TreeSpec};

pub use effects::WithoutEffect;
pub use learners::{
    Impurity, LearnerParams, LearnerSpec, Network, Norm, Scaling, SetLearner, SvmLoss, WeakLearner, WeakRanker,
};
pub use preset::Preset;

use crate::StepKind;

/// Parameters that choose between implementations that give the same trees.
pub(crate) const CHOOSES_CODE: [&str; 2] = ["engine", "histogram_pool_mb"];

/// Parameters that models record even if they have their defaults, besides those of which some default is auto.
const SIZES: [&str; 2] = ["num_trees", "learning_rate"];

/// What a model records about its origin besides its parameters.
pub(crate) const RECORDS: [&str; 3] = ["init_model", "pruned", "refit"];

param_enum! {
    /// Which documents a tree is trained on.
    pub enum Sample {
        /// All documents.
        None = "none",
        /// Each document with probability `bagging_fraction`.
        Bagging = "bagging",
        /// Whole queries, each with probability `bagging_fraction`.
        QueryBagging = "query-bagging",
        /// The positive documents of each query and its highest-ranked negative ones.
        Selective = "selective" | "selgb",
        /// As `Selective`, plus the lowest-ranked negative documents.
        HighLow = "high-low" | "high_low_sampl",
        /// The positive documents of each query and a random fraction of its negative ones.
        Negatives = "negatives",
        /// All documents except outliers, which a preliminary model keeps misranking.
        Inliers = "inliers",
        /// The documents with the largest gradients and a random sample of the others, which get larger weights (GOSS).
        Goss = "goss",
        /// Each document with a probability that grows with its gradient, weighted by its inverse (MVS).
        Mvs = "mvs",
    }
}

param_enum! {
    /// The kind of ranker, and how it learns.
    pub enum Learner {
        /// Gradient boosting: each tree corrects all trees before it.
        Gbdt = "gbdt" | "gbrt" | "gbtree",
        /// Gradient boosting with dropout: each tree corrects a random subset of the trees before it.
        Dart = "dart",
        /// Independent trees with equal weights.
        RandomForest = "random-forest" | "rf",
        /// A weighted sum of features that minimises the objective.
        Linear = "linear",
        /// A neural network that minimises the objective.
        Neural = "neural",
        /// Boosted classifiers of relevant and irrelevant documents.
        AdaBoost = "adaboost",
        /// Boosted weak rankers of pairs.
        RankBoost = "rankboost",
        /// A weighted sum of features that separates pairs by a margin.
        RankSvm = "ranksvm" | "rank-svm",
        /// Boosted features, weighted by a metric of each query.
        AdaRank = "adarank",
        /// A weighted sum of features, improved one weight at a time by a metric.
        CoordinateAscent = "coordinate-ascent" | "coordinate_ascent",
    }
}

impl Learner {
    /// Whether it grows trees from the gradients of the objective.
    pub fn is_boosting(self) -> bool {
        matches!(self, Self::Gbdt | Self::Dart | Self::RandomForest)
    }

    /// What a round is called.
    pub fn round_name(self) -> &'static str {
        match self {
            _ if self.is_boosting() => "tree",
            Self::Neural => "epoch",
            _ => "round",
        }
    }

    /// Whether the objective decides what it learns.
    pub fn follows_objective(self) -> bool {
        self.is_boosting() || matches!(self, Self::Linear | Self::Neural)
    }
}

param_enum! {
    /// How a fraction of the documents is rounded to a count.
    pub enum Rounding {
        /// To the nearest integer, halves up.
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
        /// By a factor that approaches 1.
        Decreasing = "decreasing",
    }
}

param_group! {
    /// The boosting loop.
    pub LoopSpec => LoopParams, SetBoosting, "Boosting" {
        /// Maximum number of trees.
        num_trees: usize = 150, Range::closed(1.0, 1e6),
            ["num_iterations", "num_iteration", "n_iter", "num_tree", "num_round", "num_rounds", "nrounds",
             "num_boost_round", "n_estimators", "iterations", "max_iter"];
        /// Factor for the leaf values of each tree.
        learning_rate: f64 = 0.07, Range::above_to(0.0, 10.0), ["shrinkage_rate", "eta"];
        /// Step size of each tree: the learning rate (shrinkage); the learning rate times the step that minimises the loss
        /// (line); or the step that maximises the mean of `target` over the training queries (exact).
        step: StepKind = StepKind::Shrinkage, Range::ANY, [];
        /// Stop when the first metric on the first validation set has not improved for this many rounds; 0 disables early
        /// stopping.
        early_stopping_rounds: usize = 0, Range::at_least(0.0),
            ["early_stopping_round", "early_stopping", "n_iter_no_change", "od_wait"];
        /// Metrics on the validation sets; the first one selects the best iteration.
        metric: Vec<MetricName> = vec![MetricName::parse("ndcg@10").expect("a metric")], Range::ANY,
            ["metrics", "metric_types", "eval_metric", "custom_metric"];
        /// How the documents that each tree is trained on are sampled.
        sample: Sample = Sample::None, Range::ANY, [];
        /// Fraction of the documents (or queries) in a sample.
        bagging_fraction: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_row", "subsample", "bagging"];
        /// bagging, query-bagging: draw a new sample every `bagging_freq` trees. 0 counts as 1 if `sample` is set, and otherwise
        /// means no bagging.
        bagging_freq: usize = 0, Range::at_least(0.0), ["subsample_freq"];
        /// Sample whole queries instead of documents.
        bagging_by_query: bool = false, Range::ANY, [];
        /// selective, high-low: percentage of each query's negative documents (label 0) to keep from the top of its current
        /// ranking; auto is 40 for selective and 20 for high-low.
        p_high: Option<f64> = None, Range::closed(0.0, 100.0), [];
        /// high-low: percentage of the negative documents to keep from the bottom of the ranking; auto is 40.
        p_low: Option<f64> = None, Range::closed(0.0, 100.0), [];
        /// negatives: percentage of each query's negative documents to draw.
        p_negatives: f64 = 20.0, Range::above_to(0.0, 100.0), [];
        /// selective, high-low, negatives: select documents again every `sample_every` trees. The first
        /// `sample_every` - 1 trees use all documents.
        sample_every: usize = 1, Range::at_least(1.0), [];
        /// selective, high-low, negatives: how the number of documents is rounded; it is at least one unless the percentage is
        /// 0.
        sample_rounding: Rounding = Rounding::Nearest, Range::ANY, [];
        /// selective, high-low, negatives: skip queries without a positive document.
        sample_drop_empty: bool = false, Range::ANY, [];
        /// goss: fraction of the documents, those with the largest gradients, that are always kept.
        top_rate: f64 = 0.2, Range::above_to(0.0, 1.0), [];
        /// goss: fraction of the documents to draw from the others.
        other_rate: f64 = 0.1, Range::above_to(0.0, 1.0), [];
        /// mvs: regularisation, the weight of Hessians relative to gradients; auto is (sum of |g| / sum of h)^2.
        mvs_reg: Option<f64> = None, Range::at_least(0.0), ["mvs_lambda"];
        /// inliers: number of trees of the preliminary model.
        outlier_trees: usize = 100, Range::closed(1.0, 1e6), [];
        /// inliers: ranks are checked after each of the last `outlier_last` percent of the preliminary model's trees. A document
        /// that is misplaced after all of them is an outlier.
        outlier_last: f64 = 50.0, Range::above_to(0.0, 100.0), [];
        /// inliers: an irrelevant document is misplaced if it is in the top `outlier_high` percent of its query's ranking, and
        /// also within the first R ranks, where R is the number of relevant documents.
        outlier_high: f64 = 20.0, Range::closed(0.0, 100.0), [];
        /// inliers: a relevant document is misplaced if it is in the bottom `outlier_low` percent of its query's ranking, and
        /// also within the last N ranks, where N is the number of irrelevant documents.
        outlier_low: f64 = 20.0, Range::closed(0.0, 100.0), [];
        /// Kind of ranker: gradient boosting (gbdt), boosting with dropout (dart), independent trees (random-forest), a weighted
        /// sum of features by the objective (linear), by margins of pairs (ranksvm) or by a metric (adarank, coordinate-ascent), a
        /// neural network (neural), or boosted classifiers (adaboost) or rankers of pairs (rankboost).
        learner: Learner = Learner::Gbdt, Range::ANY, ["boosting", "boosting_type", "booster"];
        /// dart: probability of dropping an earlier tree while a new one is grown.
        drop_rate: f64 = 0.1, Range::closed(0.0, 1.0), ["rate_drop"];
        /// dart: maximum number of dropped trees per round; 0 means no limit.
        max_drop: usize = 50, Range::at_least(0.0), [];
        /// dart: probability of skipping the dropout in a round.
        skip_drop: f64 = 0.5, Range::closed(0.0, 1.0), [];
        /// dart: drop all trees with the same probability, instead of favouring trees with larger weights.
        uniform_drop: bool = false, Range::ANY, [];
        /// dart: weight the new tree as XGBoost does.
        xgboost_dart_mode: bool = false, Range::ANY, [];
        /// Stochastic gradient Langevin boosting: add noise that helps training to escape local optima.
        langevin: bool = false, Range::ANY, [];
        /// langevin: inverse temperature; larger values mean less noise.
        diffusion_temperature: f64 = 1e4, Range::above(0.0), [];
        /// Shrinkage of the scores before each tree. They are multiplied by 1 - rate * `learning_rate` (constant) or by
        /// 1 - rate / tree number (decreasing). auto: 0 without langevin; with langevin, 0.001 (constant) or 0.01 (decreasing).
        model_shrink_rate: Option<f64> = None, Range::at_least(0.0), [];
        /// Whether the model shrinks by a constant or a decreasing factor; see `model_shrink_rate`.
        model_shrink_mode: ShrinkMode = ShrinkMode::Constant, Range::ANY, [];
        /// Random seed.
        seed: u64 = 0, Range::at_least(0.0), ["random_seed", "random_state"];
    }
}

impl CrossCheck for LoopSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        if self.metric.is_empty() {
            return Err(ParamError::conflict("metric", "no metric; give at least one, such as ndcg@10"));
        }
        if let Some(name) = self.metric.iter().find(|name| name.check().is_err()) {
            return Err(ParamError::conflict("metric", format!("{} takes no cutoff; remove @k", name.as_str())));
        }
        let largest = match self.model_shrink_mode {
            ShrinkMode::Constant => 1.0 / self.learning_rate,
            ShrinkMode::Decreasing => 1.0,
        };
        if self.model_shrink_rate.is_some_and(|rate| rate >= largest) {
            let problem = format!("the scores would shrink to 0; use less than {largest}");
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

/// All parameters of a run, not yet checked. Set them by field, by a chain of methods with their names (the traits
/// `SetBoosting`, `SetObjective`, `SetTrees`, `SetBinning`, `SetReading` and `SetRules`), or from text.
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
/// assert_eq!(error.to_string(), "parameter 'num_leaves': 1 is out of range; use a value from 2 to 131072");
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
    /// The learners that are not boosted trees.
    pub learner: LearnerSpec,
    /// The bins.
    pub binning: BinningSpec,
    /// The reading parameters.
    pub reading: ReadingSpec,
    /// The metric rules.
    pub rules: RulesSpec,
    /// Whose defaults it began with, if not with ours.
    preset: Option<Preset>,
    /// The names with which parameters were set.
    spellings: Spellings,
}

/// The metrics that some objective can optimise.
const TARGETS: &str = "a metric (ndcg|dcg|map|mrr|err|p|recall|hits|pfound|rbp), optionally with a cutoff @k";

impl TrainSpec {
    /// All parameters by group, each with the group's title.
    pub fn tables() -> Vec<(&'static str, Vec<ParamInfo>)> {
        let mut objective = ObjectiveSpec::table();
        // Any metric can be parsed, but only these can be optimised.
        if let Some(target) = objective.iter_mut().find(|info| info.name == "target") {
            target.kind = TARGETS.into();
        }
        vec![
            (LoopSpec::TITLE, LoopSpec::table()),
            (ObjectiveSpec::TITLE, objective),
            (TreeSpec::TITLE, TreeSpec::table()),
            (LearnerSpec::TITLE, LearnerSpec::table()),
            (BinningSpec::TITLE, BinningSpec::table()),
            (ReadingSpec::TITLE, ReadingSpec::table()),
            (RulesSpec::TITLE, RulesSpec::table()),
        ]
    }

    /// Sets a parameter by any of its names.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        let is_known = self.boosting.set(name, value).map_err(with_sample)?
            || self.objective.set(name, value).map_err(with_targets)?
            || self.trees.set(name, value)?
            || self.learner.set(name, value)?
            || self.binning.set(name, value)?
            || self.reading.set(name, value)?
            || self.rules.set(name, value)?;
        if !is_known {
            return Err(unknown(name));
        }
        self.spellings.remember(canonical_name(name)?, name);
        Ok(())
    }

    /// Sets several parameters, such as those of a file; setting one twice is an error.
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

    /// Whether a parameter was set, be it to its default, or differs from its default or that of the preset.
    pub fn is_set(&self, name: &str) -> bool {
        let defaults = self.preset.map_or_else(Self::default, Self::preset).settings();
        let differs = |(own, default): (Setting, Setting)| own.name == name && own.value != default.value;
        self.spellings.has(name) || self.settings().into_iter().zip(defaults).any(differs)
    }

    /// The current values, in the order of the tables.
    pub fn settings(&self) -> Vec<Setting> {
        [
            self.boosting.settings(),
            self.objective.settings(),
            self.trees.settings(),
            self.learner.settings(),
            self.binning.settings(),
            self.reading.settings(),
            self.rules.settings(),
        ]
        .concat()
    }

    /// Checks all parameters, alone and together.
    pub fn check(self) -> Result<TrainParams, ParamError> {
        let spellings = self.spellings.clone();
        self.check_values().map_err(|error| spellings.explain(error))
    }

    fn check_values(mut self) -> Result<TrainParams, ParamError> {
        if matches!(self.boosting.learner, Learner::Linear | Learner::Neural) && !self.is_set("objective") {
            // LambdaMART's gradients suit trees; this loss is convex.
            self.objective.objective = ObjectiveKind::Softmax;
        }
        let boosting = self.boosting.clone().check()?;
        let rules = Rules::new(&self.rules, boosting.seed)?;
        let mut trees = self.trees.clone();
        if boosting.learner == Learner::RandomForest {
            // Trees that are not corrected by others should be deep where the data is.
            trees.grow.get_or_insert(Growth::Leafwise);
        }
        let trees = trees.check()?;
        learner::check(&boosting, &trees)?;
        Ok(TrainParams {
            boosting,
            objective: self.objective.clone().check()?,
            trees,
            learner: self.learner.clone().check()?,
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

holds!(boosting: LoopSpec, objective: ObjectiveSpec, trees: TreeSpec, learner: LearnerSpec, binning: BinningSpec, reading: ReadingSpec, rules: RulesSpec);

/// Checked parameters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainParams {
    boosting: LoopParams,
    objective: ObjectiveParams,
    trees: TreeParams,
    learner: LearnerParams,
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

    /// The learners that are not boosted trees.
    pub fn learner(&self) -> &LearnerParams {
        &self.learner
    }

    /// The bins.
    pub fn binning(&self) -> &BinningParams {
        &self.binning
    }

    /// The reading parameters.
    pub fn reading(&self) -> &ReadingParams {
        &self.reading
    }

    /// The metric rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The parameters as typed.
    pub(crate) fn spec(&self) -> &TrainSpec {
        &self.spec
    }

    /// A value that conflicts with others or with the data.
    pub(crate) fn conflict(&self, name: &str, problem: impl Into<String>) -> ParamError {
        self.spec.spellings.explain(ParamError::conflict(name, problem))
    }

    /// Every parameter with its value, typed or default.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.spec.settings()
    }

    /// The parameters that a model records: those that differ from their defaults, and those that make the size of a model
    /// whatever their value, with the values that auto stands for. Parameters that only choose an implementation are omitted,
    /// and so are those that the learner does not read and `absent`, which has its own field.
    pub fn changed(&self) -> Vec<Setting> {
        let learner = self.boosting.learner;
        let has_leaves = self.trees.leaf_limit(0) != usize::MAX;
        let is_recorded = |setting: &Setting| match setting.name {
            "absent" => false,
            // The objective may have been chosen for the learner.
            name if !learner.is_boosting() => {
                learner.reads(name) && (!setting.is_default || ["num_trees", "objective"].contains(&name))
            }
            "num_leaves" => has_leaves,
            name => (!setting.is_default || SIZES.contains(&name)) && !CHOOSES_CODE.contains(&name),
        };
        self.resolved().into_iter().filter(is_recorded).collect()
    }

    /// Every parameter, with the values that auto stands for.
    pub fn resolved(&self) -> Vec<Setting> {
        // Checked, so that nothing is auto.
        let trees = self.trees.settings();
        let resolved = |setting: Setting| {
            let checked = trees.iter().find(|checked| checked.name == setting.name);
            checked.cloned().unwrap_or(setting)
        };
        self.spec.settings().into_iter().map(resolved).collect()
    }
}

/// Built once, because every `set` looks up a name.
static TABLES: LazyLock<Vec<(&'static str, Vec<ParamInfo>)>> = LazyLock::new(TrainSpec::tables);

fn canonical_name(typed: &str) -> Result<&'static str, ParamError> {
    let name = normalise(typed);
    let mut all = TABLES.iter().flat_map(|(_, table)| table);
    all.find(|info| info.answers_to(&name)).map(|info| info.name).ok_or_else(|| unknown(typed))
}

/// LightGBM has GOSS among its kinds of boosting.
fn with_sample(error: ParamError) -> ParamError {
    match error {
        ParamError::Value { name, value, expected } if name.name == "learner" && value.eq_ignore_ascii_case("goss") => {
            ParamError::Value { name, value, expected: format!("{expected}; for GOSS, set sample=goss") }
        }
        error => error,
    }
}

/// Any metric can be parsed, but only some can be optimised.
fn with_targets(error: ParamError) -> ParamError {
    match error {
        ParamError::Invalid { name, problem } if name.name == "target" => {
            ParamError::Invalid { name, problem: problem.replace(&<MetricName as ParamValue>::kind(), TARGETS) }
        }
        error => error,
    }
}

fn unknown(name: &str) -> ParamError {
    let all = || TABLES.iter().flat_map(|(_, table)| table);
    let known = all().flat_map(|info| std::iter::once(info.name).chain(info.aliases.iter().copied()));
    // If the nearest name is an alias, but our own name is near too, suggest our own.
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
        assert_eq!((spec.boosting.learning_rate, spec.trees.num_leaves), (0.3, Some(7)));
    }

    #[test]
    fn growth_follows_from_what_is_set() {
        let shape = |pairs: &[(&str, &str)]| {
            let mut spec = TrainSpec::default();
            spec.set_all(pairs.iter().copied()).unwrap();
            let params = spec.check().unwrap();
            let trees = params.trees();
            (trees.growth(), trees.leaves_of(0), trees.l2())
        };
        let leafwise = (Growth::Leafwise, 31, 0.0);
        assert_eq!(shape(&[]), (Growth::Oblivious, 64, 3.0));
        assert_eq!(shape(&[("max_depth", "4")]).0, Growth::Oblivious);
        assert_eq!(shape(&[("num_leaves", "31")]), leafwise);
        assert_eq!(shape(&[("prune", "true")]), leafwise);
        assert_eq!(shape(&[("leaves_schedule", "5:8")]), leafwise);
        assert_eq!(shape(&[("learner", "rf"), ("feature_fraction", "0.5")]), leafwise);
        assert_eq!(shape(&[("grow", "levelwise"), ("lambda_l2", "2")]), (Growth::Levelwise, 31, 2.0));
        assert_eq!(shape(&[("grow", "oblivious"), ("num_leaves", "16")]), (Growth::Oblivious, 16, 3.0));
    }

    #[test]
    fn a_preset_gives_defaults_that_do_not_count_as_set() {
        for preset in Preset::ALL {
            let mut spec = TrainSpec::preset(*preset);
            assert!(preset.settings().iter().all(|(name, _)| !spec.is_set(name)));
            let params = spec.clone().check().unwrap();
            let recorded = params.changed();
            for (name, value) in preset.settings() {
                assert!(recorded.iter().any(|setting| setting.name == *name && setting.value == *value), "{name}");
            }
            let (name, value) = preset.settings()[0];
            spec.set(name, value).unwrap();
            assert!(spec.is_set(name));
        }
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
