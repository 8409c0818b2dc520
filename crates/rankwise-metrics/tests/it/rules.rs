//! Ties, empty queries, weights and row order.

use proptest::prelude::*;
use rankwise_data::{Dataset, DatasetBuilder, Row};
use rankwise_metrics::{Empty, Evaluator, Gain, MetricError, MetricKind, MetricName, Rules, Ties};
use rankwise_params::ParamValue;

/// One document: query, label, score.
type Doc = (u8, u8, u8);

fn dataset(docs: &[Doc]) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (idx, (qid, label, _)) in docs.iter().enumerate() {
        let (qid, doc_id) = (format!("q{qid}"), format!("d{}", idx * 7919 % 101));
        builder.push(&Row { qid: &qid, label: (*label).into(), doc_id: &doc_id, features: &[] }).unwrap();
    }
    builder.finish().unwrap()
}

fn mean(docs: &[Doc], metric: &str, rules: &Rules) -> f64 {
    let data = dataset(docs);
    let scores: Vec<f64> = docs.iter().map(|(_, _, score)| f64::from(*score)).collect();
    let names = [MetricName::parse(metric).unwrap()];
    let evaluation = Evaluator::new(&data, &names, rules).unwrap().evaluate(&scores).unwrap();
    evaluation.metrics[0].mean.unwrap()
}

/// DCG@k averaged over all orders of the documents with descending scores, by enumeration.
fn average_dcg_by_enumeration(docs: &[Doc], cutoff: usize) -> f64 {
    fn visit(left: &mut Vec<Doc>, rank: usize, cutoff: usize) -> f64 {
        let Some(best) = left.iter().map(|doc| doc.2).max() else { return 0.0 };
        let tied: Vec<usize> = (0..left.len()).filter(|idx| left[*idx].2 == best).collect();
        let mut total = 0.0;
        for idx in &tied {
            let doc = left.remove(*idx);
            let gain = (2f64.powi(doc.1.into()) - 1.0) / (2.0 + rank as f64).log2();
            total += if rank < cutoff { gain } else { 0.0 } + visit(left, rank + 1, cutoff);
            left.insert(*idx, doc);
        }
        total / tied.len() as f64
    }
    visit(&mut docs.to_vec(), 0, cutoff)
}

fn docs(n_queries: u8, n_docs: usize) -> impl Strategy<Value = Vec<Doc>> {
    prop::collection::vec((0..n_queries, 0u8..4, 0u8..4), 1..n_docs)
}

/// Every metric, and again with a cutoff if it can have one.
fn every_metric() -> Vec<MetricName> {
    let named = |kind: &MetricKind| {
        let whole = kind.render();
        let cut = kind.takes_cutoff().then(|| format!("{whole}@3"));
        [Some(whole), cut].into_iter().flatten()
    };
    MetricKind::ALL.iter().flat_map(named).map(|name| MetricName::parse(&name).unwrap()).collect()
}

fn rules(ties: Ties) -> Rules {
    Rules { ties, ..Rules::default() }
}

proptest! {
    #[test]
    fn the_average_over_ties_is_the_mean_over_all_orders(docs in docs(1, 7), cutoff in 1usize..8) {
        let expected = average_dcg_by_enumeration(&docs, cutoff);
        let found = mean(&docs, &format!("dcg@{cutoff}"), &rules(Ties::Average));
        prop_assert!((found - expected).abs() < 1e-12, "{} is not {}", found, expected);
    }

    #[test]
    fn worst_and_best_enclose_every_other_rule(docs in docs(3, 40), cutoff in 1usize..20) {
        let name = format!("ndcg@{cutoff}");
        let (worst, best) = (mean(&docs, &name, &rules(Ties::Worst)), mean(&docs, &name, &rules(Ties::Best)));
        for ties in Ties::ALL.iter().copied() {
            let value = mean(&docs, &name, &rules(ties));
            prop_assert!(worst <= value + 1e-12 && value <= best + 1e-12, "{:?}: {} {} {}", ties, worst, value, best);
        }
        prop_assert!((0.0..=1.0 + 1e-12).contains(&worst) && best <= 1.0 + 1e-12);
    }

    #[test]
    fn the_order_of_rows_shows_only_under_the_input_rule(docs in docs(4, 40), shift in 0usize..40) {
        // Document ids move with their documents.
        let keyed: Vec<(Doc, String)> =
            docs.iter().enumerate().map(|(idx, doc)| (*doc, format!("d{idx}"))).collect();
        let value = |keyed: &[(Doc, String)], ties: Ties| {
            let mut builder = DatasetBuilder::default();
            for ((qid, label, _), doc_id) in keyed {
                let qid = format!("q{qid}");
                builder.push(&Row { qid: &qid, label: (*label).into(), doc_id, features: &[] }).unwrap();
            }
            let data = builder.finish().unwrap();
            let scores: Vec<f64> = keyed.iter().map(|((_, _, score), _)| f64::from(*score)).collect();
            // dcg-rr uses the given order, which is the input order for data without positions.
            let names: Vec<_> = every_metric().into_iter().filter(|name| name.kind() != MetricKind::DcgRr).collect();
            let evaluator = Evaluator::new(&data, &names, &rules(ties)).unwrap();
            let evaluation = evaluator.evaluate(&scores).unwrap();
            evaluation.metrics.into_iter().map(|metric| metric.mean.map(f64::to_bits)).collect::<Vec<_>>()
        };
        let mut moved = keyed.clone();
        moved.rotate_left(shift % keyed.len());
        moved.reverse();
        for ties in Ties::ALL.iter().copied().filter(|ties| *ties != Ties::Input) {
            prop_assert_eq!(value(&keyed, ties), value(&moved, ties), "{:?}", ties);
        }
    }
}

#[test]
fn input_order_decides_only_where_asked() {
    let (first, second) = ([(0, 2, 1), (0, 0, 1)], [(0, 0, 1), (0, 2, 1)]);
    assert_eq!(mean(&first, "ndcg", &rules(Ties::Input)), 1.0);
    assert!((mean(&second, "ndcg", &rules(Ties::Input)) - 0.630_929_753_571_457_4).abs() < 1e-15);
    assert_eq!(mean(&first, "ndcg", &rules(Ties::Worst)), mean(&second, "ndcg", &rules(Ties::Worst)));
}

#[test]
fn queries_without_relevant_documents_follow_the_rule() {
    let docs = [(0, 1, 3), (0, 0, 1), (1, 0, 1), (1, 0, 2)];
    let value = |metric: &str, empty: Empty| mean(&docs, metric, &Rules { empty, ..Rules::default() });
    assert_eq!(value("ndcg", Empty::Zero), 0.5);
    assert_eq!(value("ndcg", Empty::One), 1.0);
    assert_eq!(value("ndcg", Empty::Skip), 1.0);
    assert_eq!((value("dcg", Empty::Zero), value("dcg", Empty::One), value("dcg", Empty::Skip)), (0.5, 0.5, 1.0));

    let data = dataset(&docs);
    let names = [MetricName::parse("ndcg").unwrap()];
    let strict = Rules { empty: Empty::Error, ..Rules::default() };
    let error = Evaluator::new(&data, &names, &strict).unwrap().evaluate(&[0.0; 4]).unwrap_err();
    assert_eq!(error, MetricError::NoRelevant { query: "q1".into() });
}

#[test]
fn all_queries_skipped_is_no_number() {
    let data = dataset(&[(0, 0, 1)]);
    let rules = Rules { empty: Empty::Skip, ..Rules::default() };
    let names = [MetricName::parse("ndcg@3").unwrap()];
    let evaluation = Evaluator::new(&data, &names, &rules).unwrap().evaluate(&[0.0]).unwrap();
    assert_eq!((evaluation.metrics[0].mean, evaluation.metrics[0].per_query[0]), (None, None));
}

/// A case for which two peers report 1.82: the second query is empty and has another weight.
#[test]
fn query_weights_weigh_every_query_once() {
    let mut builder = DatasetBuilder::default();
    for (qid, label) in [("a", 1.0), ("a", 0.0), ("b", 0.0), ("b", 0.0)] {
        builder.push(&Row { qid, label, ..Row::default() }).unwrap();
    }
    builder.query_weights(vec![1.0, 0.1]);
    let data = builder.finish().unwrap();
    let scores = [2.0, 1.0, 0.0, 0.0];
    let names = [MetricName::parse("ndcg").unwrap()];
    let value = |empty: Empty| {
        let rules = Rules { empty, ..Rules::default() };
        Evaluator::new(&data, &names, &rules).unwrap().evaluate(&scores).unwrap().metrics[0].mean.unwrap()
    };
    assert_eq!(value(Empty::One), 1.0);
    assert!((value(Empty::Zero) - 1.0 / 1.1).abs() < 1e-8);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let data = dataset(&[(0, 3, 1), (0, 0, 1)]);
    let names = [MetricName::parse("ndcg").unwrap()];
    let table = Rules { gain: Gain::Table(vec![0.0, 1.0]), ..Rules::default() };
    assert!(matches!(Evaluator::new(&data, &names, &table), Err(MetricError::Label { .. })));
    let evaluator = Evaluator::new(&data, &names, &Rules::default()).unwrap();
    assert_eq!(evaluator.evaluate(&[1.0]), Err(MetricError::Length { scores: 1, rows: 2 }));
    assert!(matches!(evaluator.evaluate(&[f64::NAN, 1.0]), Err(MetricError::Score { .. })));
    assert!(evaluator.evaluate(&[f64::NEG_INFINITY, f64::INFINITY]).is_ok());

    let mut builder = DatasetBuilder::default();
    builder.push(&Row { qid: "q", label: 1.0, ..Row::default() }).unwrap();
    let nameless = builder.finish().unwrap();
    assert!(matches!(Evaluator::new(&nameless, &names, &rules(Ties::DocId)), Err(MetricError::NoDocIds)));
}
