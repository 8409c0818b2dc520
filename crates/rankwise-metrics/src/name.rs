//! Metrics by name: `ndcg@10`.

use rankwise_params::{ParamValue, param_enum};

use crate::{Dcg, Metric, Ndcg, Rules};

param_enum! {
    /// The metrics there are.
    enum Kind {
        /// Normalised discounted cumulative gain.
        Ndcg = "ndcg",
        /// Discounted cumulative gain.
        Dcg = "dcg",
    }
}

/// A metric as it was typed.
#[derive(Clone, Debug)]
pub struct MetricName {
    kind: Kind,
    cutoff: Option<usize>,
    typed: String,
}

impl MetricName {
    /// The name as it was typed.
    pub fn as_str(&self) -> &str {
        &self.typed
    }

    /// The metric under the rules.
    pub fn build(&self, rules: &Rules) -> Box<dyn Metric> {
        let cutoff = self.cutoff.or(rules.default_cutoff).unwrap_or(usize::MAX);
        match self.kind {
            Kind::Ndcg => Box::new(Ndcg { cutoff }),
            Kind::Dcg => Box::new(Dcg { cutoff }),
        }
    }
}

/// By meaning: `NDCG@10` is `ndcg@10`.
impl PartialEq for MetricName {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.cutoff) == (other.kind, other.cutoff)
    }
}

impl Eq for MetricName {}

impl ParamValue for MetricName {
    fn kind() -> String {
        format!("a metric ({}), with @k to look at the first k documents only", Kind::kind())
    }

    fn parse(text: &str) -> Option<Self> {
        let typed = text.trim();
        let (name, cutoff) = match typed.split_once('@') {
            Some((name, digits)) => (name, Some(digits.parse().ok().filter(|cutoff| *cutoff > 0)?)),
            None => (typed, None),
        };
        Some(Self { kind: Kind::parse(name)?, cutoff, typed: typed.to_owned() })
    }

    fn render(&self) -> String {
        self.cutoff.map_or_else(|| self.kind.render(), |cutoff| format!("{}@{cutoff}", self.kind.render()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_kind_and_perhaps_a_cutoff() {
        assert_eq!(MetricName::parse("NDCG@10").unwrap().cutoff, Some(10));
        assert_eq!(MetricName::parse("NDCG@10"), MetricName::parse("ndcg@10"));
        assert_eq!(MetricName::parse(" NDCG@10").unwrap().as_str(), "NDCG@10");
        assert_eq!(MetricName::parse("NDCG@10").unwrap().render(), "ndcg@10");
        assert_eq!(MetricName::parse("dcg").unwrap().cutoff, None);
        for text in ["", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@1.5", "@5", "ndgc@5", "ndcg@99999999999999999999"] {
            assert_eq!(MetricName::parse(text), None, "{text}");
        }
    }
}
