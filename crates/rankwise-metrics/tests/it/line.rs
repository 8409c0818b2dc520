//! Compares the best step along a line with a dense grid.

use proptest::prelude::*;
use rankwise_data::{Dataset, DatasetBuilder, Row, Share};
use rankwise_metrics::{AdditiveMetric, Evaluator, MetricName, Rules, best_step};
use rankwise_params::ParamValue;

const NAMES: [&str; 8] = ["ndcg@3", "ndcg", "dcg@2", "err", "mrr", "map", "map@2", "p@2"];
const LIMIT: f64 = 4.0;

/// Query, label, score, direction.
type Doc = (u8, u8, f64, f64);

fn docs() -> impl Strategy<Value = Vec<Doc>> {
    // Round numbers, so that many documents cross at one point, or never.
    let number = || prop_oneof![2 => (-4i8..5).prop_map(|n| f64::from(n) * 0.5), 1 => -2.0..2.0f64];
    prop::collection::vec((0u8..4, 0u8..4, number(), number()), 1..30)
}

fn dataset(docs: &[Doc], is_weighted: bool) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (idx, (query, label, ..)) in docs.iter().enumerate() {
        let (qid, doc_id) = (format!("q{query}"), format!("d{idx}"));
        builder.push(&Row { qid: &qid, label: f32::from(*label), doc_id: &doc_id, features: &[] }).unwrap();
    }
    if is_weighted {
        let mut seen: Vec<u8> = docs.iter().map(|doc| doc.0).collect();
        seen.sort_unstable();
        seen.dedup();
        builder.query_weights((0..seen.len()).map(|query| 1.0 + query as f32).collect());
    }
    builder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No point of a fine grid is better, the value is that of the metric at the step, and it is no worse than at the
    /// start.
    #[test]
    fn nothing_on_a_grid_is_better(docs in docs(),
        name in prop::sample::select(&NAMES[..]), wish in 0.01..5.0f64, is_weighted in any::<bool>(),
    ) {
        let data = dataset(&docs, is_weighted);
        let rules = Rules::default();
        let name = MetricName::parse(name).unwrap();
        let metric = AdditiveMetric::new(&name, &rules, docs.len()).unwrap();
        let evaluator = Evaluator::new(&data, std::slice::from_ref(&name), &rules).unwrap();
        let column = |of: &dyn Fn(&Doc) -> f64| data.from_input_order(&docs.iter().map(of).collect::<Vec<_>>());
        let (start, direction) = (column(&|doc| doc.2), column(&|doc| doc.3));
        let value_at = |step: f64| {
            let scores: Vec<f64> = start.iter().zip(&direction).map(|(a, b)| a + step * b).collect();
            evaluator.evaluate_canonical(&scores).unwrap().metrics[0].mean.unwrap()
        };
        let best = best_step(&Share::alone(&data), &metric, (&start, &direction), LIMIT, wish).unwrap();
        prop_assert!(best.step > 0.0 && best.step < LIMIT);
        prop_assert!((value_at(best.step) - best.value).abs() < 1e-9, "{best:?} but {}", value_at(best.step));
        prop_assert!(best.value >= value_at(0.0) - 1e-9 && best.value >= best.start_value - 1e-12);
        for point in 1..400 {
            let step = LIMIT * (f64::from(point) + 0.317) / 400.0;
            prop_assert!(value_at(step) <= best.value + 1e-9, "{step} is better than {best:?}");
        }
        if (value_at(wish) - best.value).abs() < 1e-12 && wish < LIMIT {
            prop_assert!((value_at(best.step) - value_at(wish)).abs() < 1e-9);
        }
    }
}
