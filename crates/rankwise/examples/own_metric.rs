//! A custom metric: `cargo run --release -p rankwise --example own_metric`.
//!
//! A metric sees one query's documents in rank order, with labels and gains, and returns a number. The evaluator
//! handles the mean over queries, weights, ties and queries without relevant documents.

use rankwise::metrics::{Metric, Needs, RankedList};
use rankwise::prelude::*;

/// The rank of the first relevant document, at most `limit`. Smaller is better.
struct FirstRelevantRank {
    limit: usize,
}

impl Metric for FirstRelevantRank {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        if list.n_relevant == 0 {
            return None;
        }
        let rank = list.labels.iter().take(self.limit).position(|label| list.is_relevant(*label));
        Some(rank.map_or(self.limit, |rank| rank + 1) as f64)
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn is_larger_better(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::ranks(self.limit)
    }
}

fn main() -> Result<(), rankwise::Error> {
    // Two queries, with the scores of some ranker in row order.
    let labels = [0, 2, 1, 0, 0, 1];
    let data = Dataset::from_dense(&[0.0; 6], 1).labels(&labels).group_sizes(&[3, 3]).build()?;
    let scores = [0.9, 0.5, 0.1, 0.8, 0.6, 0.4];

    let metrics = MetricName::parse_list("mrr,ndcg")?;
    let evaluator = Evaluator::new(&data, &metrics, &Rules::default())?
        .own_metric("first-relevant-rank", FirstRelevantRank { limit: 10 });
    let evaluation = evaluator.evaluate(&scores)?;
    println!("{evaluation}");
    // Rank 2 in the first query, rank 3 in the second.
    assert_eq!(evaluation.mean("first-relevant-rank"), Some(2.5));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
