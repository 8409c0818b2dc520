//! Cascade metrics: a user goes down the list and stops at a document with a probability that depends on its label.
//! Reciprocal rank, ERR (Chapelle et al. 2009), pFound and hits.
//!
//! The value is the sum over ranks of P(the user stops here) times the weight of the rank. In a group of ties to
//! average over, let s_j be the mean, over all sets of j documents of the group, of the probability to pass them all.
//! Given that the group is reached, the user stops at its rank j with probability s_j - s_(j+1). The s_j are elementary
//! symmetric polynomials over binomial coefficients, and are computed document by document: for the n-th document,
//! passed with probability q, s_j becomes (1 - j/n) s_j + (j/n) q s_(j-1).

use crate::{Gain, Metric, Needs, RankedList};

/// A user who goes down the list.
#[derive(Clone, Debug)]
pub(crate) struct Cascade {
    /// The number of ranks that count.
    pub(crate) cutoff: usize,
    /// When the user stops.
    pub(crate) stop: Stop,
    /// The reward for stopping at a rank.
    pub(crate) reward: Reward,
}

/// The probability that the user stops at a document.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// 1 at relevant documents, otherwise 0.
    Relevant,
    /// Its gain, divided by the largest power of two possible.
    Gain {
        /// 2^label for the maximum label with exponential gain; 1 if the gain is the probability itself.
        scale: f64,
    },
}

impl Stop {
    /// The probability given by a gain.
    pub(crate) fn by_gain(gain: &Gain, max_grade: f64) -> Self {
        Self::Gain { scale: if *gain == Gain::Exp { libm::exp2(max_grade) } else { 1.0 } }
    }

    fn at(&self, list: &RankedList<'_>, rank: usize) -> f64 {
        match self {
            Self::Relevant => f64::from(u8::from(list.is_relevant(list.labels[rank]))),
            Self::Gain { scale } => list.gains[rank] / scale,
        }
    }
}

/// The reward for stopping at a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reward {
    /// 1 / rank.
    Reciprocal,
    /// A constant factor from rank to rank.
    Decay(f64),
}

impl Reward {
    fn at(self, rank: usize) -> f64 {
        match self {
            Self::Reciprocal => 1.0 / (rank + 1) as f64,
            Self::Decay(factor) => libm::pow(factor, rank as f64),
        }
    }
}

impl Cascade {
    fn sum(&self, list: &RankedList<'_>) -> f64 {
        let n_counted = self.cutoff.min(list.labels.len());
        let (mut total, mut reaches) = (0.0, 1.0);
        for group in list.groups().take_while(|group| group.start < n_counted) {
            if group.len() == 1 {
                let stops = self.stop.at(list, group.start);
                total += reaches * stops * self.reward.at(group.start);
                reaches *= 1.0 - stops;
            } else {
                let passes = mean_passes(group.clone().map(|rank| 1.0 - self.stop.at(list, rank)));
                for rank in group.start..group.end.min(n_counted) {
                    let at = rank - group.start;
                    total += reaches * (passes[at] - passes[at + 1]) * self.reward.at(rank);
                }
                reaches *= passes[group.len()];
            }
            if reaches == 0.0 {
                break;
            }
        }
        total
    }
}

/// For j = 0, 1, ...: the mean over all sets of j documents of the probability to pass them all.
fn mean_passes(probabilities: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut means = vec![1.0];
    for (before, probability) in probabilities.enumerate() {
        let n_docs = (before + 1) as f64;
        means.push(0.0);
        for chosen in (1..means.len()).rev() {
            let share = chosen as f64 / n_docs;
            means[chosen] = (1.0 - share) * means[chosen] + share * probability * means[chosen - 1];
        }
    }
    means
}

impl Metric for Cascade {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let is_empty = match self.stop {
            Stop::Relevant => list.n_relevant == 0,
            Stop::Gain { .. } => list.ideal_gains.first().is_none_or(|best| *best == 0.0),
        };
        (!is_empty).then(|| self.sum(list))
    }

    fn is_normalised(&self) -> bool {
        matches!(self.stop, Stop::Relevant)
    }

    fn needs(&self) -> Needs {
        Needs { ideal_depth: 1, ..Needs::ranks(self.cutoff) }
    }
}
