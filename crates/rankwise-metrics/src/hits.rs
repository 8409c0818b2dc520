//! Metrics that count relevant documents at the top, or weight them by rank.

use rankwise_params::param_enum;

use crate::{Metric, Needs, RankedList};

param_enum! {
    /// The denominator of precision for lists shorter than the cutoff.
    pub enum PrecisionDenominator {
        /// The cutoff: missing ranks count as not relevant.
        Cutoff = "cutoff",
        /// The length of the list.
        Length = "length",
    }
}

param_enum! {
    /// The denominator of average precision at a cutoff.
    pub enum MapDenominator {
        /// The number of relevant documents.
        Relevant = "relevant" | "all",
        /// That number, or the cutoff if it is smaller.
        Cutoff = "cutoff" | "min",
    }
}

/// The number of documents at the top, for precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRanks {
    /// The number of ranks that count.
    pub(crate) cutoff: usize,
    /// The denominator of precision.
    pub(crate) denominator: PrecisionDenominator,
}

impl FirstRanks {
    fn n_docs(self, list: &RankedList<'_>) -> f64 {
        let n_docs = list.query.n_docs();
        match self.denominator {
            PrecisionDenominator::Cutoff if self.cutoff != usize::MAX => self.cutoff as f64,
            _ => self.cutoff.min(n_docs) as f64,
        }
    }
}

/// The share of relevant documents at the top.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision(pub(crate) FirstRanks);

impl Metric for Precision {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        (list.n_relevant > 0).then(|| ratio(list.n_hits(self.0.cutoff), self.0.n_docs(list)))
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.0.cutoff)
    }
}

/// The share of the relevant documents that are at the top.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recall {
    /// The number of ranks that count.
    pub(crate) cutoff: usize,
}

impl Metric for Recall {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        (list.n_relevant > 0).then(|| list.n_hits(self.cutoff) / list.n_relevant as f64)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.cutoff)
    }
}

/// The harmonic mean of precision and recall: 2 hits / (documents + relevant). It is linear in the hits, so the
/// expected number of hits gives its mean over all orders of ties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F1(pub(crate) FirstRanks);

impl Metric for F1 {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let total = self.0.n_docs(list) + list.n_relevant as f64;
        (list.n_relevant > 0).then(|| 2.0 * list.n_hits(self.0.cutoff) / total)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.0.cutoff)
    }
}

/// Precision at the number of relevant documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RPrecision;

impl Metric for RPrecision {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        (list.n_relevant > 0).then(|| list.n_hits(list.n_relevant) / list.n_relevant as f64)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::ranks(usize::MAX)
    }
}

/// Rank-biased precision (Moffat and Zobel 2008): a user proceeds to the next rank with a fixed probability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rbp {
    /// The number of ranks that count.
    pub(crate) cutoff: usize,
    /// That probability.
    pub(crate) persistence: f64,
}

impl Metric for Rbp {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let worth = |rank: usize| f64::from(u8::from(list.is_relevant(list.labels[rank])));
        let weight = |rank: usize| libm::pow(self.persistence, rank as f64);
        (list.n_relevant > 0).then(|| (1.0 - self.persistence) * list.weighted_sum(self.cutoff, worth, weight))
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.cutoff)
    }
}

/// Average precision: the mean of the precisions at the ranks of relevant documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AveragePrecision {
    /// The number of ranks that count.
    pub(crate) cutoff: usize,
    /// The denominator.
    pub(crate) denominator: MapDenominator,
}

impl AveragePrecision {
    /// The sum of precisions. In a group of m ties to average over, r of them relevant, each rank has a relevant
    /// document with probability r/m. Given that, each of the j ranks before it in the group has another with
    /// probability (r-1)/(m-1).
    fn sum(self, list: &RankedList<'_>) -> f64 {
        let n_counted = self.cutoff.min(list.labels.len());
        let (mut total, mut n_above) = (0.0, 0.0);
        for group in list.groups().take_while(|group| group.start < n_counted) {
            let n_relevant = list.labels[group.clone()].iter().filter(|label| list.is_relevant(**label)).count() as f64;
            if n_relevant == 0.0 {
                continue;
            }
            let n_docs = group.len() as f64;
            let others = ratio(n_relevant - 1.0, n_docs - 1.0);
            for rank in group.start..group.end.min(n_counted) {
                let n_hits = n_above + 1.0 + (rank - group.start) as f64 * others;
                total += n_relevant / n_docs * n_hits / (rank + 1) as f64;
            }
            n_above += n_relevant;
        }
        total
    }
}

impl Metric for AveragePrecision {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let n_wanted = match self.denominator {
            MapDenominator::Relevant => list.n_relevant,
            MapDenominator::Cutoff => list.n_relevant.min(self.cutoff),
        };
        (list.n_relevant > 0).then(|| self.sum(list) / n_wanted as f64)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.cutoff)
    }
}

/// A quotient; 0/0 is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
