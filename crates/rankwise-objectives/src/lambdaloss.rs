//! LambdaLoss (Wang et al., "The LambdaLoss Framework for Ranking Metric Optimization", CIKM 2018): the weight of a
//! pair at ranks i and j, with ranks from 0, D(r) = 1/log2(2 + r), and gains G over the ideal DCG.
//!
//! ```text
//! 1     G_better * D(rank of the better document)
//! 2     |G_i - G_j| * |D(|i - j| - 1) - D(|i - j|)|
//! 2++   |G_i - G_j| * (|D(i) - D(j)| + mu * |D(|i - j| - 1) - D(|i - j|)|)
//! ```

use crate::kernel::pairs::{Importance, LANES};
use crate::params::LambdaLossVariant;
use crate::swap::SwapColumns;

/// The pair weights of a variant.
#[derive(Clone, Debug)]
pub(crate) struct LossWeights {
    variant: LambdaLossVariant,
    discounts: Vec<f32>,
    /// By rank distance d, at `LANES + d`.
    near: Vec<f32>,
}

impl LossWeights {
    /// `discounts` cover the longest list.
    pub(crate) fn new(variant: LambdaLossVariant, mu: f64, discounts: &[f64]) -> Self {
        let factor = match variant {
            LambdaLossVariant::One => 0.0,
            LambdaLossVariant::Two => 1.0,
            LambdaLossVariant::TwoPlus => mu,
        };
        let drops = discounts.windows(2).map(|pair| (factor * (pair[0] - pair[1])) as f32);
        // Distance 1 comes after LANES and distance 0.
        let mut near = vec![0.0; LANES + 1];
        near.extend(drops);
        near.resize(LANES + discounts.len().next_multiple_of(LANES) + LANES, 0.0);
        Self { variant, discounts: discounts.iter().map(|discount| *discount as f32).collect(), near }
    }

    pub(crate) fn importance(&self) -> Importance {
        if self.variant == LambdaLossVariant::One { Importance::Better } else { Importance::SwapAndNear }
    }

    pub(crate) fn near(&self) -> &[f32] {
        &self.near
    }

    /// Rows, weights and columns for values in rank order.
    pub(crate) fn fill(&self, values: &[f32], swaps: &mut SwapColumns<'_>) {
        let n_docs = values.len();
        for column in [&mut *swaps.rows, swaps.columns] {
            column.clear();
            match self.variant {
                LambdaLossVariant::One => {
                    column.extend(values.iter().zip(&self.discounts).map(|(value, discount)| value * discount));
                }
                LambdaLossVariant::Two => column.resize(n_docs, 0.0),
                LambdaLossVariant::TwoPlus => column.extend_from_slice(&self.discounts[..n_docs]),
            }
        }
        swaps.weights.clear();
        swaps.weights.resize(n_docs, 1.0);
    }
}
