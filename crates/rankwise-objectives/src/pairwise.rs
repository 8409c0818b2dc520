//! Pairwise losses: RankNet (Burges et al. 2005) and the squared hinge. Each is a sum over pairs of a better document w
//! and a worse document l, with d = sigmoid * (s_w - s_l):
//!
//! ```text
//! ranknet   ln(1 + exp(-d))
//! hinge     max(0, 1 - d)^2 / 2      squared, because the plain hinge has no second derivative for a Newton step
//! ```
//!
//! Pairs come from the data, with weights. A pair with probability q counts q times as given and 1 - q times reversed.
//! Without pairs in the data, all pairs of documents of a query with different labels are used.

use rankwise_data::{Share, SimdLevel};
use rankwise_metrics::Ties;

use crate::checks::{has_order, has_weight};
use crate::kernel::pairs::{Importance, PairParams};
use crate::lists::Lists;
use crate::pair_columns::{ByDocument, columns_of};
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// The loss of one pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairLoss {
    /// RankNet's loss.
    Logistic,
    /// The squared hinge.
    Hinge,
}

impl PairLoss {
    fn name(self) -> &'static str {
        match self {
            Self::Logistic => "ranknet",
            Self::Hinge => "hinge",
        }
    }

    /// The loss at distance d, for a pair with a probability.
    fn value(self, distance: f64, probability: f64) -> f64 {
        let side = |distance: f64| match self {
            Self::Logistic => (-distance).max(0.0) + libm::log1p(libm::exp(-distance.abs())),
            Self::Hinge => (1.0 - distance).max(0.0).powi(2) / 2.0,
        };
        if probability == 1.0 {
            return side(distance);
        }
        probability * side(distance) + (1.0 - probability) * side(-distance)
    }

    /// First and second derivative with respect to the distance d, for a pair with a probability.
    fn derivatives(self, distance: f64, probability: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                // The smaller of the two probabilities first, which keeps its precision.
                let power = libm::exp(-distance.abs());
                let (small, large) = (power / (1.0 + power), 1.0 / (1.0 + power));
                let (right, wrong) = if distance > 0.0 { (large, small) } else { (small, large) };
                ((1.0 - probability) * right - probability * wrong, small * large)
            }
            Self::Hinge => {
                let side = |distance: f64| if distance < 1.0 { (distance - 1.0, 1.0) } else { (0.0, 0.0) };
                let (straight, turned) = (side(distance), side(-distance));
                let rest = 1.0 - probability;
                (probability * straight.0 - rest * turned.0, probability * straight.1 + rest * turned.1)
            }
        }
    }
}

/// A pairwise loss, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct Pairwise {
    loss: PairLoss,
    sigma: f64,
    pairs: Pairs,
    simd: SimdLevel,
}

#[derive(Clone, Debug)]
enum Pairs {
    /// All pairs with different labels.
    Labels(Lists),
    /// Query `q` has the pairs `bounds[q]..bounds[q + 1]`.
    Given { bounds: Vec<usize>, pairs: Vec<GivenPair> },
}

/// A pair of documents of a query.
#[derive(Clone, Copy, Debug)]
struct GivenPair {
    winner: u32,
    loser: u32,
    weight: f32,
    probability: f32,
}

impl Pairwise {
    /// Takes the pairs of the data or, without any, its labels.
    pub fn new(
        loss: PairLoss,
        params: &ObjectiveParams,
        share: &Share<'_>,
        ties: Ties,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        has_weight(share)?;
        let data = share.data;
        let pairs = if share.any(!data.pairs().is_empty()) {
            given_pairs(loss, share)?
        } else {
            if !has_order(share, |a, b| a != b) {
                return Err(ObjectiveError::NoPairs { objective: loss.name() });
            }
            Pairs::Labels(Lists::new(data, ties, |query, values| {
                values.extend(query.labels.iter().map(|label| f64::from(*label)));
            }))
        };
        Ok(Self { loss, sigma: params.sigmoid, pairs, simd })
    }
}

fn given_pairs(loss: PairLoss, share: &Share<'_>) -> Result<Pairs, ObjectiveError> {
    let data = share.data;
    if !share.any(data.pairs().iter().any(|pair| pair.weight != 0.0)) {
        return Err(ObjectiveError::NoPairWeight { objective: loss.name() });
    }
    let (mut bounds, mut pairs) = (vec![0], Vec::with_capacity(data.pairs().len()));
    for query in 0..data.n_queries() {
        let first = data.query_rows(query).start as u32;
        pairs.extend(data.query_pairs(query).iter().map(|pair| GivenPair {
            winner: pair.winner - first,
            loser: pair.loser - first,
            weight: pair.weight,
            probability: pair.probability,
        }));
        bounds.push(pairs.len());
    }
    Ok(Pairs::Given { bounds, pairs })
}

impl Objective for Pairwise {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, mut out: GradientSlices<'_>, scratch: &mut Scratch) {
        match &self.pairs {
            Pairs::Labels(lists) => self.add_labels(lists, docs, &mut out, scratch),
            Pairs::Given { bounds, pairs } => {
                self.add_pairs(&pairs[bounds[docs.query]..bounds[docs.query + 1]], docs, &mut out, scratch);
            }
        }
    }

    /// Weights of documents multiply gradients, but no loss has such derivatives.
    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        if docs.weights.is_some() {
            return None;
        }
        let distance = |winner: usize, loser: usize| self.sigma * (docs.scores[winner] - docs.scores[loser]);
        Some(match &self.pairs {
            Pairs::Labels(_) => {
                let winners = 0..docs.n_docs();
                let of_winner = |winner: usize| -> f64 {
                    let losers = (0..docs.n_docs()).filter(|loser| docs.labels[*loser] < docs.labels[winner]);
                    losers.map(|loser| self.loss.value(distance(winner, loser), 1.0)).sum()
                };
                winners.map(of_winner).sum()
            }
            Pairs::Given { bounds, pairs } => {
                let pairs = &pairs[bounds[docs.query]..bounds[docs.query + 1]];
                let cost = |pair: &GivenPair| {
                    let distance = distance(pair.winner as usize, pair.loser as usize);
                    f64::from(pair.weight) * self.loss.value(distance, pair.probability.into())
                };
                pairs.iter().map(cost).sum()
            }
        })
    }
}

impl Pairwise {
    fn add_labels(&self, lists: &Lists, docs: QueryDocs<'_>, out: &mut GradientSlices<'_>, scratch: &mut Scratch) {
        let (ByDocument { scores: by_doc, keys, .. }, mut columns) = columns_of(scratch);
        by_doc.clear();
        by_doc.extend(docs.scores.iter().map(|score| *score as f32));
        let ranked = lists.rank(docs.query, by_doc, keys);
        columns.start(ranked, by_doc);
        for column in [&mut *columns.swaps.rows, columns.swaps.weights, columns.swaps.columns] {
            column.clear();
            column.resize(by_doc.len(), 1.0);
        }
        let importance = match self.loss {
            PairLoss::Logistic => Importance::Better,
            PairLoss::Hinge => Importance::Hinge,
        };
        let sigma = self.sigma as f32;
        let params = PairParams { importance, n_rows: by_doc.len(), sigma, divides_by_distance: false };
        columns.add_pairs(params, &[], self.simd);
        for (rank, doc) in ranked.docs().enumerate() {
            out.grad[doc] = (f64::from(columns.lambdas[rank]) * self.sigma) as f32;
            out.hess[doc] = (f64::from(columns.hessians[rank]) * self.sigma * self.sigma) as f32;
        }
    }

    fn add_pairs(&self, pairs: &[GivenPair], docs: QueryDocs<'_>, out: &mut GradientSlices<'_>, scratch: &mut Scratch) {
        let [grad, hess, ..] = &mut scratch.wide;
        for column in [&mut *grad, &mut *hess] {
            column.clear();
            column.resize(docs.scores.len(), 0.0);
        }
        for pair in pairs {
            let (winner, loser) = (pair.winner as usize, pair.loser as usize);
            let distance = self.sigma * (docs.scores[winner] - docs.scores[loser]);
            let (first, second) = self.loss.derivatives(distance, pair.probability.into());
            let weight = self.sigma * f64::from(pair.weight);
            grad[winner] += weight * first;
            grad[loser] -= weight * first;
            hess[winner] += weight * self.sigma * second;
            hess[loser] += weight * self.sigma * second;
        }
        for doc in 0..docs.scores.len() {
            out.grad[doc] = grad[doc] as f32;
            out.hess[doc] = hess[doc] as f32;
        }
    }
}
