//! LambdaMART (Burges, "From RankNet to LambdaRank to LambdaMART", 2010) for a target metric, in three forms, and
//! LambdaLoss, which has other pair weights.
//!
//! For documents sorted by score, every pair (i, j) with i among the top `truncation_level`, j below i and different values
//! pushes the better document up and the worse one down by
//!
//! ```text
//! delta  = how much the target changes when i and j are swapped      `swap.rs`; for LambdaLoss `lambdaloss.rs`
//! delta /= 0.01 + |s_i - s_j|                                       with lambda_norm, if not all scores are equal
//! p      = 1 / (1 + exp(sigma * (s_better - s_worse)))
//! lambda = sigma * delta * p        hessian = sigma^2 * delta * p * (1 - p)
//! ```
//!
//! and with `lambda_norm` a query's sums are multiplied by log2(1 + S)/S, where S is twice the sum of its lambdas.
//!
//! | form | pairs | normalised | Hessian |
//! |---|---|---|---|
//! | LightGBM | one of the top 30; ndcg without @k: discounts never end, ideal DCG of the top 30 | yes | as above |
//! | XGBoost | the same with 32 | yes | twice that, and all times queries / sum of their weights |
//! | paper | all | no | as above |
//!
//! The better document of a pair is the one with the larger value, usually its gain. Scores are rounded to f32 here,
//! and tie if they are then equal. The sums run in the order of `kernel/pairs.rs`, which is the same on every machine.

use rankwise_data::{Documents, Share, SimdLevel};
use rankwise_metrics::{MetricName, Rules};
use rankwise_params::ParamValue;

use crate::checks::{has_order, has_weight};
use crate::kernel::pairs::{Importance, PairParams};
use crate::lambdaloss::LossWeights;
use crate::lists::Lists;
use crate::pair_columns::{ByDocument, columns_of};
use crate::params::LambdaForm;
use crate::perturb::Perturbation;
use crate::target::Target;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// LambdaMART or LambdaLoss, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct LambdaMart {
    lists: Lists,
    weights: PairWeights,
    /// The number of documents at the top that are paired with all below them.
    truncation: usize,
    sigma: f32,
    is_normalised: bool,
    perturbation: Perturbation,
    /// The final factors for lambdas and Hessians.
    factors: (f64, f64),
    simd: SimdLevel,
}

/// How pairs are weighted.
#[derive(Clone, Debug)]
enum PairWeights {
    Swap(Target),
    Loss(LossWeights),
}

impl LambdaMart {
    /// Precomputes everything that is the same for all trees. Documents with equal scores are ordered worst first, or
    /// in input order if the rules say so.
    pub fn new(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let form = params.lambda_form;
        let truncation = params.truncation_level.unwrap_or(match form {
            LambdaForm::LightGbm => 30,
            LambdaForm::XgBoost => 32,
            LambdaForm::Paper => usize::MAX,
        });
        let objective = "lambdamart";
        let target = share.agree(Target::new(objective, &params.target, share.data, rules, truncation))?;
        if form == LambdaForm::XgBoost && target.is_binary() {
            share.agree(check_binary(share.data, &params.target))?;
        }
        let mut bound = Self::bind(objective, params, share, rules, &target, simd)?;
        bound.truncation = truncation;
        bound.is_normalised = params.lambda_norm && form != LambdaForm::Paper;
        if form == LambdaForm::XgBoost {
            let total = share.sum_by_query(share.data.queries().map(|query| f64::from(query.weight)).collect());
            let norm = share.all_queries() as f64 / total;
            bound.factors = (norm, 2.0 * norm);
        }
        Ok(bound)
    }

    /// LambdaLoss for NDCG. Without a truncation, all pairs are used, and the ideal DCG is that of the whole list.
    pub fn lambda_loss(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let truncation = params.truncation_level.unwrap_or(usize::MAX);
        let ndcg = MetricName::parse("ndcg").expect("a metric");
        let target = share.agree(Target::new("lambdaloss", &ndcg, share.data, rules, truncation))?;
        let mut bound = Self::bind("lambdaloss", params, share, rules, &target, simd)?;
        let mu = params.mu.unwrap_or(LAMBDALOSS_MU);
        bound.weights = PairWeights::Loss(LossWeights::new(params.variant, mu, target.discounts()));
        bound.truncation = truncation;
        Ok(bound)
    }

    fn bind(
        objective: &'static str,
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        target: &Target,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        if !has_order(share, |a, b| a != b) {
            return Err(ObjectiveError::NoPairs { objective });
        }
        if !has_order(share, |a, b| target.tells_apart(a, b)) {
            return Err(ObjectiveError::OneClass { objective, target: params.target.as_str().to_owned() });
        }
        has_weight(share)?;
        Ok(Self {
            lists: Lists::new(share.data, rules.ties, |query, values| target.values(query.labels, values)),
            weights: PairWeights::Swap(target.clone()),
            truncation: usize::MAX,
            sigma: params.sigmoid as f32,
            is_normalised: false,
            perturbation: Perturbation::new(params),
            factors: (1.0, 1.0),
            simd,
        })
    }
}

/// The default of `mu` for LambdaLoss, from the comparison in the StochasticRank paper.
const LAMBDALOSS_MU: f64 = 5.0;

fn check_binary(data: &Documents, target: &MetricName) -> Result<(), ObjectiveError> {
    for query in data.queries() {
        if let Some(label) = query.labels.iter().find(|label| **label != 0.0 && **label != 1.0) {
            let (query, target) = (query.id.to_owned(), target.as_str().to_owned());
            return Err(ObjectiveError::NotBinary { label: *label, query, target });
        }
    }
    Ok(())
}

impl Objective for LambdaMart {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        out.grad.fill(0.0);
        out.hess.fill(0.0);
        for sample in 0..self.perturbation.n_samples {
            self.add_sample(docs, sample, (&mut *out.grad, &mut *out.hess), scratch);
        }
    }
}

impl LambdaMart {
    /// Adds the gradients for one sample of the noise, or those without noise.
    fn add_sample(
        &self,
        docs: QueryDocs<'_>,
        sample: u32,
        (grad, hess): (&mut [f32], &mut [f32]),
        scratch: &mut Scratch,
    ) {
        let (ByDocument { scores: by_doc, keys, words }, mut columns) = columns_of(scratch);
        self.perturbation.scores(docs, sample, self.simd, words, by_doc);
        let ranked = self.lists.rank(docs.query, by_doc, keys);
        columns.start(ranked, by_doc);
        let (importance, near, n_rows) = match &self.weights {
            PairWeights::Swap(target) => (Importance::Swap, &[][..], columns.swaps.fill(target, columns.values)),
            PairWeights::Loss(loss) => {
                loss.fill(columns.values, &mut columns.swaps);
                (loss.importance(), loss.near(), by_doc.len())
            }
        };
        let divides_by_distance = self.is_normalised && !columns.is_level();
        let n_rows = n_rows.min(self.truncation);
        let params = PairParams { importance, n_rows, sigma: self.sigma, divides_by_distance };
        let sigma = f64::from(self.sigma);
        let sum = 2.0 * sigma * columns.add_pairs(params, near, self.simd);
        let norm = if self.is_normalised && sum > 0.0 { libm::log2(1.0 + sum) / sum } else { 1.0 };
        let norm = norm / f64::from(self.perturbation.n_samples);
        let (grad_scale, hess_scale) = (sigma * norm * self.factors.0, sigma * sigma * norm * self.factors.1);
        for (rank, doc) in ranked.docs().enumerate() {
            grad[doc] += (f64::from(columns.lambdas[rank]) * grad_scale) as f32;
            hess[doc] += (f64::from(columns.hessians[rank]) * hess_scale) as f32;
        }
    }
}
