//! RankSVM (Herbrich et al. 2000, Joachims 2002) in the primal:
//!
//! ```text
//! |w|^2 / 2 + c * sum of max(0, 1 - (s_i - s_j))^2 over the pairs in which document i is better than j
//! ```
//!
//! or without the square. The sum and its derivatives take O(n log n) for a query of n documents, however many pairs it
//! has ([`margins`]). The squared loss is minimised by L-BFGS, the plain one by cutting planes ([`bundle`]).

mod bundle;
mod margins;

use rankwise_data::{Documents, reduce};
use rankwise_params::ParamValue as _;
use rayon::prelude::*;

use self::bundle::Bundle;
use self::margins::Margins;
use super::inputs::Inputs;
use super::linear::{Descent, regularised};
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, SvmLoss, TrainError};

/// A linear ranker that separates pairs by a margin.
pub(crate) struct RankSvm<'a> {
    losses: Losses<'a>,
    way: Way,
}

enum Way {
    Squared(Box<Descent>),
    Plain(Bundle),
}

/// The losses of all queries as a function of scores.
#[derive(Clone, Copy)]
pub(crate) struct Losses<'a> {
    data: &'a Documents,
    loss: SvmLoss,
    c: f64,
}

/// The sum of the losses of all queries, and its derivative by each score.
pub(crate) struct OfScores {
    pub(crate) loss: f64,
    pub(crate) slopes: Vec<f64>,
}

impl<'a> RankSvm<'a> {
    pub(crate) fn new(task: Task<'a>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let losses = Losses { data: task.train, loss: params.svm_loss, c: params.c_for(task.train) };
        if !losses.has_pairs() {
            return Err(TrainError::NoPairs { learner: task.params.boosting().learner.render() });
        }
        let way = match params.svm_loss {
            SvmLoss::SquaredHinge => Way::Squared(Box::new(Descent::new(&task)?)),
            SvmLoss::Hinge => Way::Plain(Bundle::new(&task)?),
        };
        Ok(Self { losses, way })
    }
}

impl Losses<'_> {
    /// Whether some query with a weight has a pair with a weight.
    fn has_pairs(&self) -> bool {
        (0..self.data.n_queries()).any(|query| {
            let view = self.data.query(query);
            view.weight > 0.0 && Margins::new(self.data, query).has_pairs()
        })
    }

    fn of_scores(&self, scores: &[f64]) -> OfScores {
        let of_query = |query: usize| {
            let (rows, weight) = (self.data.query_rows(query), f64::from(self.data.query_weight(query)));
            let mut slopes = vec![0.0; rows.len()];
            let loss = Margins::new(self.data, query).add(&scores[rows], self.loss, &mut slopes);
            for slope in &mut slopes {
                *slope *= weight;
            }
            (weight * loss, slopes)
        };
        let (losses, slopes): (Vec<f64>, Vec<Vec<f64>>) =
            (0..self.data.n_queries()).into_par_iter().map(of_query).unzip();
        OfScores { loss: reduce::sum(losses), slopes: slopes.concat() }
    }

    fn at(&self, inputs: &Inputs, weights: &[f64]) -> super::lbfgs::Point {
        let OfScores { loss, slopes } = self.of_scores(&inputs.scores(weights));
        regularised(inputs, weights, self.c, loss, &slopes)
    }
}

impl Learning for RankSvm<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        let losses = self.losses;
        Ok(match &mut self.way {
            Way::Squared(descent) => descent.descend(&|inputs, weights| losses.at(inputs, weights)),
            Way::Plain(bundle) => bundle.step(losses.c, &|scores| losses.of_scores(scores)),
        })
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        match &self.way {
            Way::Squared(descent) => descent.scores(set),
            Way::Plain(bundle) => bundle.scores(set),
        }
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        match &self.way {
            Way::Squared(descent) => descent.fitted(),
            Way::Plain(bundle) => bundle.fitted(),
        }
    }

    fn save(&self) -> Vec<u8> {
        match &self.way {
            Way::Squared(descent) => descent.save(),
            Way::Plain(bundle) => bundle.save(),
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        match &mut self.way {
            Way::Squared(descent) => descent.load(bytes),
            Way::Plain(bundle) => bundle.load(bytes),
        }
    }
}
