//! Compares every metric with its definition, and every tie rule with all orders.

use proptest::prelude::*;
use rankwise_metrics::{
    Discount, Empty, Found, Gain, MapDenominator, Measures, MetricName, PrecisionDenominator, Results, Rules,
    RunResults, Ties,
};
use rankwise_params::ParamValue;

use crate::oracle::{self, BY_ORDER, BY_SCORE, Divides, Doc, Options, Query};

/// Few different scores and labels, so that there are many ties.
fn query(n_docs: usize) -> impl Strategy<Value = Query> {
    let doc = (-1i8..3, 0u8..4, prop::bool::weighted(0.8));
    let docs = prop::collection::vec(doc, 0..n_docs);
    (docs, prop::collection::vec(0u8..4, 0..4)).prop_map(|(docs, missed)| Query {
        docs: docs
            .into_iter()
            .enumerate()
            .map(|(place, (score, label, is_judged))| Doc {
                score: f64::from(score) / 4.0,
                label: if is_judged { label.into() } else { 0.0 },
                is_judged,
                place,
            })
            .collect(),
        missed: missed.into_iter().map(f64::from).collect(),
    })
}

fn options() -> impl Strategy<Value = Options> {
    let cutoff = prop_oneof![1usize..9, Just(usize::MAX)];
    (cutoff, any::<[bool; 4]>(), 1u8..4).prop_map(|(cutoff, [is_exp, is_log2, by_cutoff, by_length], from)| Options {
        cutoff,
        is_exp,
        is_log2,
        relevant_from: from.into(),
        max_grade: 3.0,
        persistence: 0.75,
        decay: 0.85,
        divides: Divides { map_by_cutoff: by_cutoff, precision_by_length: by_length },
    })
}

/// Ids whose order differs from the input order.
fn name(doc: &Doc) -> String {
    format!("d{}", doc.place * 5 % 16)
}

fn rules(options: &Options, ties: Ties) -> Rules {
    Rules {
        gain: if options.is_exp { Gain::Exp } else { Gain::Table(vec![0.0, 0.25, 0.5, 1.0]) },
        discount: if options.is_log2 { Discount::Log2 } else { Discount::Rank },
        ties,
        empty: Empty::Skip,
        relevant_from: options.relevant_from as f32,
        map_denominator: [MapDenominator::Relevant, MapDenominator::Cutoff][usize::from(options.divides.map_by_cutoff)],
        precision_denominator: [PrecisionDenominator::Cutoff, PrecisionDenominator::Length]
            [usize::from(options.divides.precision_by_length)],
        err_max_grade: options.max_grade,
        rbp_persistence: options.persistence,
        pfound_decay: options.decay,
        ..Rules::default()
    }
}

/// The value of a metric for one query, from this crate.
fn found(metric: &str, query: &Query, options: &Options, ties: Ties) -> Option<f64> {
    let takes_cutoff = MetricName::parse(metric).unwrap().kind().takes_cutoff();
    let typed = match options.cutoff {
        cutoff if takes_cutoff && cutoff != usize::MAX => format!("{metric}@{cutoff}"),
        _ => metric.to_owned(),
    };
    let measures = Measures::new(&[MetricName::parse(&typed).unwrap()], &rules(options, ties)).unwrap();
    let mut docs: Vec<(String, &Doc)> = query.docs.iter().map(|doc| (name(doc), doc)).collect();
    docs.sort_by(|a, b| a.0.cmp(&b.0));
    let mut run = RunResults::default();
    for (name, doc) in docs {
        let label = doc.is_judged.then_some(doc.label as f32);
        run.found(Found { doc: &name, score: doc.score, label, place: doc.place as u32 });
    }
    query.missed.iter().for_each(|label| run.missed(*label as f32));
    run.end_query("q", 1.0);
    measures.evaluate(&Results::Run(&run)).unwrap().metrics[0].per_query[0]
}

/// The same query with gains in place of labels, for definitions that take labels as gains.
fn in_gains(query: &Query, options: &Options) -> Query {
    let gain = |label: f64| if options.is_exp { label } else { [0.0, 0.25, 0.5, 1.0][label as usize] };
    Query {
        docs: query.docs.iter().map(|doc| Doc { label: gain(doc.label), ..*doc }).collect(),
        missed: query.missed.iter().map(|label| gain(*label)).collect(),
    }
}

fn is_by_gain(metric: &str) -> bool {
    ["ndcg", "dcg", "err", "pfound", "dcg-rr"].contains(&metric)
}

fn same(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
        (found, expected) => found == expected,
    }
}

/// The documents in rank order, with a given tie rule.
fn ranked(query: &Query, ties: Ties) -> Vec<Doc> {
    let mut docs = query.docs.clone();
    docs.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| match ties {
            Ties::Worst => a.label.total_cmp(&b.label),
            Ties::Best => b.label.total_cmp(&a.label),
            Ties::Input => a.place.cmp(&b.place),
            Ties::DocId => name(b).cmp(&name(a)),
            Ties::Average | Ties::Random => panic!("they decide nothing that is known here"),
        })
    });
    docs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_average_over_ties_is_the_mean_over_all_orders(query in query(7), options in options()) {
        for metric in BY_ORDER {
            let labels = if is_by_gain(metric) { in_gains(&query, &options) } else { query.clone() };
            let expected = oracle::average(metric, &labels, &options);
            let found = found(metric, &query, &options, Ties::Average);
            prop_assert!(same(found, expected), "{metric}: {found:?} is not {expected:?}");
        }
        let expected = oracle::pair_accuracy(&sorted(&query), &query.missed, true);
        let found = found("pair-accuracy", &query, &options, Ties::Average);
        prop_assert!(same(found, expected), "{found:?} is not {expected:?}");
    }

    #[test]
    fn a_rule_that_decides_ties_gives_the_value_of_its_order(query in query(14), options in options()) {
        for ties in [Ties::Worst, Ties::Best, Ties::Input, Ties::DocId] {
            let docs = ranked(&query, ties);
            let ordered = Query { docs: docs.clone(), missed: query.missed.clone() };
            for metric in BY_ORDER {
                let labels = if is_by_gain(metric) { in_gains(&ordered, &options) } else { ordered.clone() };
                let expected = oracle::by_order(metric, &labels.docs, &labels.missed, &options);
                let found = found(metric, &query, &options, ties);
                prop_assert!(same(found, expected), "{metric} {ties:?}: {found:?} is not {expected:?}");
            }
            let expected = oracle::pair_accuracy(&docs, &query.missed, false);
            let found = found("pair-accuracy", &query, &options, ties);
            prop_assert!(same(found, expected), "{ties:?}: {found:?} is not {expected:?}");
        }
    }

    #[test]
    fn metrics_by_score_do_not_depend_on_the_rule_for_ties(query in query(14), options in options()) {
        for metric in BY_SCORE {
            let labels = if is_by_gain(metric) { in_gains(&query, &options) } else { query.clone() };
            let expected = oracle::by_score(metric, &labels, &options);
            for ties in [Ties::Worst, Ties::Best, Ties::Average, Ties::Input, Ties::DocId, Ties::Random] {
                let found = found(metric, &query, &options, ties);
                prop_assert!(same(found, expected), "{metric} {ties:?}: {found:?} is not {expected:?}");
            }
        }
    }

    #[test]
    fn auc_over_all_documents_is_that_of_one_large_query(queries in prop::collection::vec(query(9), 1..5), from in 1u8..3) {
        let options = Options { relevant_from: from.into(), ..plain() };
        let mut run = RunResults::default();
        let mut all = Query { docs: Vec::new(), missed: Vec::new() };
        for (idx, query) in queries.iter().enumerate() {
            for doc in &query.docs {
                let label = doc.is_judged.then_some(doc.label as f32);
                run.found(Found { doc: &format!("{:02}", doc.place), score: doc.score, label, place: 0 });
            }
            query.missed.iter().for_each(|label| run.missed(*label as f32));
            run.end_query(&idx.to_string(), 1.0);
            all.docs.extend(&query.docs);
            all.missed.extend(&query.missed);
        }
        let measures = Measures::new(&[MetricName::parse("auc").unwrap()], &rules(&options, Ties::Worst)).unwrap();
        let values = measures.evaluate(&Results::Run(&run)).unwrap().metrics.remove(0);
        prop_assert!(values.per_query.is_empty());
        let expected = oracle::by_score("query-auc", &all, &options);
        prop_assert!(same(values.mean, expected), "{:?} is not {expected:?}", values.mean);
    }

    #[test]
    fn values_stay_in_their_range(query in query(20), options in options()) {
        for metric in BY_ORDER.iter().chain(&BY_SCORE).chain(&["pair-accuracy"]) {
            let (low, high) = match *metric {
                "dcg" | "dcg-rr" | "arp" | "pair-logit" => (0.0, f64::INFINITY),
                "kendall-tau" => (-1.0, 1.0),
                _ => (0.0, 1.0),
            };
            for ties in [Ties::Worst, Ties::Average, Ties::Random] {
                let found = found(metric, &query, &options, ties).unwrap_or(low);
                prop_assert!(low - 1e-12 <= found && found <= high + 1e-12, "{metric} {ties:?}: {found}");
            }
        }
    }
}

fn plain() -> Options {
    Options {
        cutoff: usize::MAX,
        is_exp: true,
        is_log2: true,
        relevant_from: 1.0,
        max_grade: 4.0,
        persistence: 0.8,
        decay: 0.85,
        divides: Divides::default(),
    }
}

fn sorted(query: &Query) -> Vec<Doc> {
    let mut docs = query.docs.clone();
    docs.sort_by(|a, b| b.score.total_cmp(&a.score));
    docs
}

/// All metrics of a large group of ties are finite: no intermediate value overflows.
#[test]
fn large_tied_groups_have_finite_averages() {
    let docs =
        (0..2000).map(|place| Doc { score: 0.0, label: f64::from(place % 4), is_judged: true, place: place as usize });
    let query = Query { docs: docs.collect(), missed: Vec::new() };
    let options = Options { max_grade: 3.0, ..plain() };
    for metric in BY_ORDER {
        let value = found(metric, &query, &options, Ties::Average).unwrap();
        assert!(value.is_finite() && value > 0.0, "{metric}: {value}");
    }
    // Half of the documents are relevant, so the first hit is at rank 1 with probability 1/2, at 2 with 1/4, ...
    let options = Options { relevant_from: 2.0, ..plain() };
    let mrr = found("mrr", &query, &options, Ties::Average).unwrap();
    assert!((mrr - std::f64::consts::LN_2).abs() < 1e-3, "{mrr}");
}
