//! Tables of systems and their comparison.

use rankwise_data::StringTable;
use rankwise_eval::{Alternative, CompareSpec, Comparison, EvalError, IntervalSpec, Table, Test};
use rankwise_metrics::{Evaluation, MetricValues};

use crate::on_threads;

type System = (String, Evaluation);

/// A system measured by one metric on queries q0, q1, ...
fn system(name: &str, values: &[Option<f64>]) -> System {
    let metric = MetricValues {
        name: "ndcg".into(),
        is_larger_better: true,
        is_pooled: false,
        per_query: values.to_vec(),
        mean: None,
    };
    (name.into(), Evaluation { metrics: vec![metric] })
}

fn table(systems: &[System]) -> Result<Table, EvalError> {
    let n_queries = systems.first().map_or(0, |(_, evaluation)| evaluation.metrics[0].per_query.len());
    let ids: Vec<String> = (0..n_queries).map(|query| format!("q{query}")).collect();
    let ids: StringTable = ids.iter().map(String::as_str).collect();
    Table::new(ids, &vec![1.0; n_queries], systems.to_vec())
}

fn spec(test: Test) -> CompareSpec {
    let intervals = IntervalSpec { resamples: 500, ..IntervalSpec::default() };
    CompareSpec { test, alternative: Alternative::Different, baseline: None, intervals, top: 2 }
}

const FISHER: Test = Test::Fisher { permutations: 999 };
const TESTS: [Test; 4] = [FISHER, Test::T, Test::Wilcoxon, Test::Bootstrap { resamples: 999 }];

fn compare(systems: &[System], spec: &CompareSpec) -> Result<Comparison, EvalError> {
    Comparison::new(&table(systems)?, spec, |_, _| {})
}

#[test]
fn a_pair_has_all_that_was_asked_for() {
    let a = system("a", &[Some(0.5), Some(0.9), None, Some(0.25), Some(0.5), Some(1.0)]);
    let b = system("b", &[Some(0.25), Some(0.9), Some(1.0), Some(0.75), Some(0.375), Some(0.0)]);
    let found = compare(&[a, b], &spec(FISHER)).unwrap();
    let pair = &found.pairs[0];
    assert_eq!((pair.a, pair.b, pair.metric, pair.left_out), (0, 1, 0, 1));
    assert_eq!((pair.wins, pair.ties, pair.losses), (3, 1, 1));
    assert!((pair.difference - 0.875 / 5.0).abs() < 1e-15, "{pair:?}");
    // In eighths, the sum is 2 - 4 + 1 + 8 = 7. With other signs it is any odd number up to 15, and 7, 9, 11, 13 or 15
    // on either side is at least as extreme.
    assert_eq!((pair.p_value, pair.corrected), (Some(10.0 / 16.0), Some(10.0 / 16.0)));
    assert_eq!(pair.best, [(5, 1.0), (0, 0.25)]);
    assert_eq!(pair.worst, [(3, -0.5)]);
    let deviation: f64 =
        [0.25, 0.0, -0.5, 0.125, 1.0].map(|d: f64| (d - 0.175) * (d - 0.175)).iter().sum::<f64>() / 4.0;
    assert!((pair.effect.unwrap() - 0.175 / deviation.sqrt()).abs() < 1e-12, "{pair:?}");
    let interval = pair.interval.unwrap();
    assert!(interval.low < pair.difference && pair.difference < interval.high, "{interval:?}");
    // Each system is summarised over its own queries.
    assert_eq!((found.systems[0][0].n_queries, found.systems[1][0].n_queries), (5, 6));
    assert!((found.systems[0][0].mean.unwrap() - 0.63).abs() < 1e-15);
}

#[test]
fn swapping_negates_the_difference_and_keeps_the_p_value() {
    let values = |factor: u32| (0..50u32).map(|query| Some(f64::from(query * factor % 97) / 96.0)).collect::<Vec<_>>();
    let (a, b) = (system("a", &values(31)), system("b", &values(17)));
    for test in TESTS {
        let forth = compare(&[a.clone(), b.clone()], &spec(test)).unwrap().pairs.remove(0);
        let back = compare(&[b.clone(), a.clone()], &spec(test)).unwrap().pairs.remove(0);
        assert_eq!((forth.difference, forth.p_value), (-back.difference, back.p_value), "{test:?}");
        assert_eq!((forth.wins, forth.losses), (back.losses, back.wins));
        assert_eq!(forth.effect, back.effect.map(|effect| -effect));
        let p = forth.p_value.unwrap();
        assert!(p > 0.0 && p <= 1.0, "{test:?}: {p}");
        // The one-sided p-value is about half of the two-sided one, or 1 minus that.
        let upper = CompareSpec { alternative: Alternative::FirstIsBetter, ..spec(test) };
        let one = compare(&[a.clone(), b.clone()], &upper).unwrap().pairs[0].p_value.unwrap();
        let expected = if forth.difference > 0.0 { p / 2.0 } else { 1.0 - p / 2.0 };
        assert!((one - expected).abs() < 0.1, "{test:?}: {one} for {expected}");
    }
}

#[test]
fn equal_systems_and_single_queries_are_defined() {
    let equal = [system("a", &[Some(0.5); 30]), system("b", &[Some(0.5); 30])];
    for test in TESTS {
        let pair = compare(&equal, &spec(test)).unwrap().pairs.remove(0);
        assert_eq!((pair.p_value, pair.effect, pair.ties), (Some(1.0), Some(0.0), 30), "{test:?}");
        let interval = pair.interval.unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 0.0));
    }
    let single = [system("a", &[Some(0.5)]), system("b", &[Some(0.25)])];
    for (test, expected) in TESTS.into_iter().zip([Some(1.0), None, Some(1.0), None]) {
        let pair = compare(&single, &spec(test)).unwrap().pairs.remove(0);
        assert_eq!((pair.p_value, pair.corrected, pair.interval, pair.effect), (expected, expected, None, None));
        assert_eq!((pair.wins, pair.difference), (1, 0.25));
    }
    let always = [system("a", &[Some(0.5); 30]), system("b", &[Some(0.25); 30])];
    for (test, expected) in TESTS.into_iter().zip([0.001, 0.0, 1e-6, 0.001]) {
        let pair = compare(&always, &spec(test)).unwrap().pairs.remove(0);
        assert!(pair.p_value.unwrap() <= expected && pair.effect.is_none(), "{test:?}: {pair:?}");
    }
}

#[test]
fn pairs_are_all_or_those_with_the_baseline() {
    let worse: Vec<_> = (0..40).map(|query| Some(f64::from(query * 9 % 97) / 960.0)).collect();
    let values = |factor: u32| (0..40u32).map(|query| Some(f64::from(query * factor % 97) / 96.0)).collect::<Vec<_>>();
    let systems = [system("a", &values(3)), system("b", &values(5)), system("c", &values(7)), system("d", &worse)];
    let all = compare(&systems, &spec(FISHER)).unwrap();
    let places = |found: &Comparison| found.pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>();
    assert_eq!(places(&all), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    let mut heard = Vec::new();
    let with_baseline = CompareSpec { baseline: Some("b".into()), ..spec(FISHER) };
    let table = table(&systems).unwrap();
    let found = Comparison::new(&table, &with_baseline, |done, all| heard.push((done, all))).unwrap();
    assert_eq!(places(&found), [(0, 1), (2, 1), (3, 1)]);
    assert_eq!(heard, [(1, 3), (2, 3), (3, 3)]);
    let smallest = |found: &Comparison| {
        let pair = found.pairs.iter().min_by(|a, b| a.p_value.unwrap().total_cmp(&b.p_value.unwrap())).unwrap();
        pair.corrected.unwrap() / pair.p_value.unwrap()
    };
    // The smallest of six, and of three.
    assert!((smallest(&all) - 6.0).abs() < 1e-9 && (smallest(&found) - 3.0).abs() < 1e-9, "{all:?}");
    assert_eq!(found.pairs[0].p_value, all.pairs[0].p_value);
    let unknown = CompareSpec { baseline: Some("x".into()), ..spec(FISHER) };
    assert!(matches!(compare(&systems, &unknown), Err(EvalError::Baseline { .. })));
}

/// If smaller values are better, the first system wins where its values are smaller.
#[test]
fn small_values_may_be_good() {
    let (low, high) = ([Some(1.0), Some(2.0), Some(2.0), Some(1.5)], [Some(3.0), Some(2.5), Some(4.0), Some(1.0)]);
    let mut systems = [system("low", &low), system("high", &high)];
    let one_sided = CompareSpec { alternative: Alternative::FirstIsBetter, ..spec(FISHER) };
    let larger = compare(&systems, &one_sided).unwrap().pairs.remove(0);
    for (_, evaluation) in &mut systems {
        evaluation.metrics[0].is_larger_better = false;
    }
    let table = table(&systems).unwrap();
    let smaller = Comparison::new(&table, &one_sided, |_, _| {}).unwrap().pairs.remove(0);
    assert_eq!((larger.difference, larger.interval), (smaller.difference, smaller.interval));
    assert_eq!((larger.wins, larger.losses, smaller.wins, smaller.losses), (1, 3, 3, 1));
    assert_eq!((&larger.best, &larger.worst), (&smaller.worst, &smaller.best));
    assert!(smaller.favours_first(&table));
    // In halves: -4, -1, -4 and 1, which sum to -8. Three of the 16 sign assignments give -8 or less: -10 and twice -8.
    assert_eq!(smaller.p_value, Some(3.0 / 16.0));
    assert!(larger.p_value.unwrap() > 0.8, "{larger:?}");
    for test in TESTS {
        let one_sided = CompareSpec { test, ..one_sided.clone() };
        let p = Comparison::new(&table, &one_sided, |_, _| {}).unwrap().pairs[0].p_value.unwrap();
        assert!(p < 0.3, "{test:?}: {p}");
    }
}

#[test]
fn threads_change_nothing() {
    let values = |factor: u32| (0..300u32).map(|query| Some(f64::from(query * factor % 97) / 96.0)).collect::<Vec<_>>();
    let systems = [system("a", &values(3)), system("b", &values(5)), system("c", &values(7))];
    for test in TESTS {
        let found = |threads| on_threads(threads, || compare(&systems, &spec(test)).unwrap());
        let one = found(1);
        assert_eq!((&found(2), &found(8)), (&one, &one), "{test:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let a = system("a", &[Some(0.1), None]);
    let refused = |systems: &[System]| compare(systems, &spec(FISHER)).unwrap_err();
    assert_eq!(refused(std::slice::from_ref(&a)), EvalError::Count { given: 1 });
    let many: Vec<System> = (0..21).map(|idx| system(&idx.to_string(), &[Some(0.1)])).collect();
    assert_eq!(refused(&many), EvalError::Count { given: 21 });
    assert_eq!(refused(&[a.clone(), a.clone()]), EvalError::DuplicateName { name: "a".into() });
    let skipped = system("b", &[None, Some(0.2)]);
    assert!(matches!(refused(&[a.clone(), skipped]), EvalError::NothingCounts { .. }));
    let infinite = system("b", &[Some(f64::INFINITY), Some(0.2)]);
    assert!(matches!(refused(&[a.clone(), infinite]), EvalError::Value { .. }));
    let mut pooled = a.clone();
    pooled.1.metrics[0].is_pooled = true;
    assert_eq!(refused(&[pooled, a.clone()]), EvalError::Pooled { metric: "ndcg".into() });
    let mut other = system("b", &[Some(0.1), Some(0.2)]);
    other.1.metrics[0].name = "dcg".into();
    assert_eq!(refused(&[a.clone(), other]), EvalError::Shape { system: "b".into() });
    assert_eq!(refused(&[a, system("b", &[Some(0.5)])]), EvalError::Shape { system: "b".into() });
}
