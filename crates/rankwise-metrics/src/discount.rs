//! Rank discounts.

use rankwise_params::param_enum;

param_enum! {
    /// From a rank to its weight in DCG and NDCG.
    pub enum Discount {
        /// 1 / log2(1 + rank), ranks from 1.
        Log2 = "log2" | "log",
        /// 1 / rank, ranks from 1.
        Rank = "rank" | "reciprocal" | "position",
    }
}

/// The discounts of the first ranks.
#[derive(Clone, Debug)]
pub struct Discounts(Vec<f64>);

impl Discounts {
    /// 1 / log2(2 + rank) of the first `n` ranks, from 0.
    pub fn up_to(n: usize) -> Self {
        Self::of(Discount::Log2, n)
    }

    /// The discounts of the first `n` ranks.
    pub fn of(discount: Discount, n: usize) -> Self {
        let at = |rank: usize| match discount {
            Discount::Log2 => 1.0 / libm::log2(2.0 + rank as f64),
            Discount::Rank => 1.0 / (1.0 + rank as f64),
        };
        Self((0..n).map(at).collect())
    }

    /// All of them.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }
}
