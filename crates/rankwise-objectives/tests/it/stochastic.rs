//! Smoothed metrics: compares estimates with exact integrals, and fast jumps with slow ones.

use proptest::prelude::*;
use rankwise_data::{Dataset, Share, SimdLevel};
use rankwise_metrics::{Gain, MetricName, Rules};
use rankwise_objectives::{
    Estimator, Objective, ObjectiveError, ObjectiveKind, ObjectiveParams, ObjectiveSpec, Round, ScaleFreeMetric,
    StochasticRank, gradients,
};
use rankwise_params::ParamValue;

use crate::dataset;

const TARGETS: [&str; 10] = ["ndcg", "ndcg@2", "dcg@3", "err", "err@2", "mrr", "mrr@2", "map", "map@3", "p@2"];

fn spec(target: &str) -> ObjectiveSpec {
    let target = MetricName::parse(target).unwrap();
    ObjectiveSpec { objective: ObjectiveKind::StochasticRank, target, sfa: false, ..Default::default() }
}

fn one_query(labels: &[f32]) -> Dataset {
    let docs: Vec<_> = labels.iter().map(|label| (0, *label, 0.0)).collect();
    dataset(&docs)
}

fn gradient(objective: &dyn Objective, data: &Dataset, tree: u32, scores: &[f64]) -> Vec<f64> {
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    let scores = data.from_input_order(scores);
    gradients(objective, data, Round { tree, seed: 7 }, &scores, (&mut grad, &mut hess));
    assert!(hess.iter().all(|hess| *hess == 1.0));
    data.to_input_order(&grad).iter().map(|grad| f64::from(*grad)).collect()
}

/// The metrics, written directly.
#[derive(Clone, Debug)]
struct Plain {
    name: &'static str,
    cutoff: usize,
}

impl Plain {
    fn new(target: &'static str) -> Self {
        let (name, cutoff) = target.split_once('@').unwrap_or((target, "1000"));
        Self { name, cutoff: cutoff.parse().unwrap() }
    }

    fn of(&self, labels: &[f32]) -> f64 {
        let top = || labels.iter().take(self.cutoff).enumerate().map(|(rank, label)| (rank as f64 + 1.0, *label));
        let gain = |label: f32| 2f64.powf(label.into()) - 1.0;
        let dcg = |labels: &[f32]| -> f64 {
            let top = labels.iter().take(self.cutoff).enumerate();
            top.map(|(rank, label)| gain(*label) / (rank as f64 + 2.0).log2()).sum()
        };
        let is_relevant = |label: f32| f64::from(u8::from(label > 0.0));
        let n_relevant: f64 = labels.iter().map(|label| is_relevant(*label)).sum();
        let cascade = |stops: &dyn Fn(f32) -> f64| {
            let mut reaches = 1.0;
            top().fold(0.0, |sum, (rank, label)| {
                let sum = sum + reaches * stops(label) / rank;
                reaches *= 1.0 - stops(label);
                sum
            })
        };
        match self.name {
            "dcg" => dcg(labels),
            "ndcg" => {
                let mut best = labels.to_vec();
                best.sort_by(|a, b| b.total_cmp(a));
                dcg(labels) / dcg(&best)
            }
            "err" => cascade(&|label| gain(label) / 16.0),
            "mrr" => cascade(&is_relevant),
            "map" => {
                let mut hits = 0.0;
                let precisions = top().map(|(rank, label)| {
                    hits += is_relevant(label);
                    is_relevant(label) * hits / rank
                });
                precisions.sum::<f64>() / n_relevant
            }
            _ => top().map(|(_, label)| is_relevant(label)).sum::<f64>() / self.cutoff as f64,
        }
    }
}

impl ScaleFreeMetric for Plain {
    fn value(&self, _: usize, labels: &[f32], order: &[u32]) -> f64 {
        self.of(&order.iter().map(|doc| labels[*doc as usize]).collect::<Vec<_>>())
    }
}

/// All orders of 0..n.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..n).map(move |place| {
            let mut longer = order.clone();
            longer.insert(place, n - 1);
            longer
        })
    };
    orders(n - 1).into_iter().flat_map(insert).collect()
}

/// The derivatives of the smoothed metric: the sum over all orders of the metric times the derivative of the order's
/// probability, P(s_1 > s_2 > ... > s_n), by cumulative integrals on a grid.
fn exact_ascent(metric: &Plain, labels: &[f32], means: &[f64], sigma: f64) -> Vec<f64> {
    const POINTS: usize = 1500;
    let low = means.iter().copied().fold(f64::MAX, f64::min) - 7.0 * sigma;
    let high = means.iter().copied().fold(f64::MIN, f64::max) + 7.0 * sigma;
    let step = (high - low) / POINTS as f64;
    let density = |doc: usize, x: f64, is_derived: bool| {
        let u = (x - means[doc]) / sigma;
        let phi = (-0.5 * u * u).exp() / (sigma * std::f64::consts::TAU.sqrt());
        if is_derived { phi * u / sigma } else { phi }
    };
    let n = labels.len();
    let table: Vec<Vec<[f64; 2]>> = (0..n)
        .map(|doc| {
            let at = |point: usize| low + (point as f64 + 0.5) * step;
            (0..POINTS).map(|point| [false, true].map(|derived| density(doc, at(point), derived))).collect()
        })
        .collect();
    let mut ascent = vec![0.0; n];
    for order in orders(n) {
        let ranked: Vec<f32> = order.iter().map(|doc| labels[*doc]).collect();
        let value = metric.of(&ranked);
        for (by, slope) in ascent.iter_mut().enumerate() {
            // The mass of the documents from the last on, each below the next.
            let mut below = vec![1.0; POINTS];
            for doc in order.iter().rev() {
                let mut sum = 0.0;
                for (point, below) in below.iter_mut().enumerate() {
                    let cell = table[*doc][point][usize::from(*doc == by)] * *below * step;
                    *below = sum + 0.5 * cell;
                    sum += cell;
                }
                if *doc == order[0] {
                    *slope += value * sum;
                }
            }
        }
    }
    ascent
}

/// The mean of 200,000 estimates of each target's gradient is within five standard errors of the exact derivative.
#[test]
fn estimates_are_right_on_average() {
    const BATCHES: u32 = 200;
    let cases: [(&[f32], &[f64]); 3] = [
        (&[2.0, 0.0, 1.0], &[0.3, 0.1, -0.2]),
        (&[0.0, 4.0, 1.0, 0.0], &[0.0, 0.0, 0.0, 1.5]),
        (&[1.0, 0.0, 0.0, 3.0, 1.0, 0.0], &[0.5, 0.7, -0.4, -0.6, 0.1, 0.1]),
    ];
    for (case, (labels, scores)) in cases.into_iter().enumerate() {
        let data = one_query(labels);
        for target in TARGETS {
            for (estimator, mu, sigma) in [(Estimator::Ccs, 0.4, 0.8), (Estimator::Reinforce, 0.0, 1.0)] {
                // The other estimator is known to have more variance; one list of each length is enough.
                if estimator == Estimator::Reinforce && case != 1 {
                    continue;
                }
                let spec = ObjectiveSpec { samples: Some(1000), mu: Some(mu), sigma, estimator, ..spec(target) };
                let params = spec.check().unwrap();
                let objective = params.bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
                let means: Vec<f64> = scores.iter().zip(labels).map(|(z, r)| z - sigma * mu * f64::from(*r)).collect();
                let exact = exact_ascent(&Plain::new(target), labels, &means, sigma);
                let batches: Vec<Vec<f64>> =
                    (0..BATCHES).map(|tree| gradient(&*objective, &data, tree, scores)).collect();
                for (doc, exact) in exact.iter().enumerate() {
                    let values = || batches.iter().map(|batch| -batch[doc]);
                    let mean = values().sum::<f64>() / f64::from(BATCHES);
                    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(BATCHES - 1);
                    let error = (variance / f64::from(BATCHES)).sqrt();
                    assert!(
                        (mean - exact).abs() <= 5.0 * error + 1e-6,
                        "{target} {estimator:?} doc {doc} of {labels:?}: {mean} +- {error}, exact {exact}"
                    );
                }
            }
        }
    }
}

fn lists() -> impl Strategy<Value = Vec<(f32, f64)>> {
    let label = prop_oneof![2 => Just(0.0f32), 1 => (1u8..5).prop_map(f32::from)];
    // Scores so large that the noise is lost tie with each other.
    let score = prop_oneof![4 => -3.0..3.0f64, 2 => (-2i8..3).prop_map(f64::from), 1 => Just(1e12)];
    let len = prop_oneof![8 => 1usize..40, 1 => 40usize..300];
    len.prop_flat_map(move |len| prop::collection::vec((label.clone(), score.clone()), len))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The fast sum equals the sum over all places of each document, computed from metric values alone.
    #[test]
    fn fast_jumps_equal_slow_ones(docs in lists(), target in prop::sample::select(&TARGETS[..]), sure in any::<bool>()) {
        let (mut labels, scores): (Vec<f32>, Vec<f64>) = docs.into_iter().unzip();
        if target.starts_with("err") && sure {
            // With linear gain, the label is the probability itself, and 1 stops every reader.
            labels = labels.iter().map(|label| (label / 3.0).min(1.0)).collect();
        }
        prop_assume!(labels.iter().any(|label| *label != labels[0]));
        let data = one_query(&labels);
        let gain = if target.starts_with("err") && sure { Gain::Linear } else { Gain::Exp };
        let rules = Rules { gain: gain.clone(), ..Rules::default() };
        let params = spec(target).check().unwrap();
        let fast = StochasticRank::new(&params, &Share::alone(&data), &rules, SimdLevel::best()).unwrap();
        let plain: Box<dyn ScaleFreeMetric> =
            if gain == Gain::Linear { Box::new(Chances(Plain::new(target).cutoff)) } else { Box::new(Plain::new(target)) };
        let slow = StochasticRank::of_metric(plain, &params, &Share::alone(&data), &rules).unwrap();
        let [fast, slow] = [&fast, &slow].map(|objective| gradient(objective, &data, 3, &scores));
        let scale = slow.iter().fold(1e-6, |scale: f64, value| scale.max(value.abs()));
        for (doc, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            prop_assert!((fast - slow).abs() <= 2e-5 * scale, "{target} doc {doc}: {fast}, slow {slow}");
        }
    }

    /// All instruction sets give the same bits.
    #[test]
    fn levels_agree_to_the_bit(docs in lists(), target in prop::sample::select(&TARGETS[..])) {
        let (labels, scores): (Vec<f32>, Vec<f64>) = docs.into_iter().unzip();
        prop_assume!(labels.iter().any(|label| *label != labels[0]));
        let data = one_query(&labels);
        let params = ObjectiveSpec { sfa: true, ..spec(target) }.check().unwrap();
        let bits = |level: SimdLevel| {
            let objective = params.bind(&data, &Rules::default(), level).unwrap();
            gradient(&*objective, &data, 0, &scores).iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let portable = bits(SimdLevel::PORTABLE);
        for level in SimdLevel::available() {
            prop_assert_eq!(&portable, &bits(level), "{}", level.name());
        }
    }

    /// The rest of the gradient does not scale the scores.
    #[test]
    fn acceleration_leaves_nothing_along_the_scores(docs in lists(), min_docs in 1usize..6) {
        let (labels, scores): (Vec<f32>, Vec<f64>) = docs.into_iter().map(|(label, z)| (label, z.min(3.0))).unzip();
        prop_assume!(labels.iter().any(|label| *label != labels[0]));
        let data = one_query(&labels);
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let centred: Vec<f64> = scores.iter().map(|score| score - mean).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let norm = dot(&centred, &centred).sqrt();
        prop_assume!(norm > 1e-3);
        let along = |sfa: bool, nu: f64| {
            let params = ObjectiveSpec { sfa, nu, sfa_min_docs: min_docs, ..spec("ndcg") }.check().unwrap();
            let objective = params.bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
            let grad = gradient(&*objective, &data, 1, &scores);
            (dot(&grad, &centred) / norm, dot(&grad, &grad).sqrt())
        };
        let (raw, size) = along(false, 0.0);
        if scores.len() < min_docs {
            prop_assert_eq!(along(true, 0.0).0, raw);
        } else {
            prop_assert!(along(true, 0.0).0.abs() <= 1e-5 * size, "{} of {size}", along(true, 0.0).0);
            // With nu, the remaining share is 1 - (|z| / (|z| + nu))^2.
            let stays = raw * (1.0 - (norm / (norm + 0.5)).powi(2));
            prop_assert!((along(true, 0.5).0 - stays).abs() <= 1e-5 * size);
        }
    }
}

/// ERR with labels as probabilities.
#[derive(Debug)]
struct Chances(usize);

impl ScaleFreeMetric for Chances {
    fn value(&self, _: usize, labels: &[f32], order: &[u32]) -> f64 {
        let mut reaches = 1.0;
        order.iter().take(self.0).enumerate().fold(0.0, |sum, (rank, doc)| {
            let stops = f64::from(labels[*doc as usize]);
            let sum = sum + reaches * stops / (rank as f64 + 1.0);
            reaches *= 1.0 - stops;
            sum
        })
    }
}

/// Each refinement needs fewer draws for the same precision.
#[test]
fn conditional_sampling_has_less_variance_and_acceleration_no_more() {
    let labels: Vec<f32> = (0..20).map(|doc| [0.0, 2.0, 1.0, 0.0, 4.0][doc % 5]).collect();
    let scores: Vec<f64> = (0..20).map(|doc| f64::from(doc * 7 % 20) * 0.1).collect();
    let data = one_query(&labels);
    let variance = |spec: ObjectiveSpec| {
        let objective = spec.check().unwrap().bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
        let draws: Vec<Vec<f64>> = (0..2000).map(|tree| gradient(&*objective, &data, tree, &scores)).collect();
        let of_doc = |doc: usize| {
            let mean = draws.iter().map(|draw| draw[doc]).sum::<f64>() / draws.len() as f64;
            draws.iter().map(|draw| (draw[doc] - mean).powi(2)).sum::<f64>() / draws.len() as f64
        };
        (0..labels.len()).map(of_doc).sum::<f64>()
    };
    for target in ["ndcg", "ndcg@5", "mrr", "err"] {
        let reinforce = variance(ObjectiveSpec { estimator: Estimator::Reinforce, ..spec(target) });
        let ccs = variance(spec(target));
        let accelerated = variance(ObjectiveSpec { sfa: true, ..spec(target) });
        assert!(reinforce > 2.0 * ccs && ccs >= accelerated, "{target}: {reinforce} {ccs} {accelerated}");
    }
}

#[test]
fn softrank_is_neither_accelerated_nor_shifted() {
    let data = one_query(&[2.0, 0.0, 1.0, 0.0]);
    let scores = [0.5, 0.2, 0.1, -0.3];
    let of = |spec: ObjectiveSpec| {
        let objective = spec.check().unwrap().bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
        gradient(&*objective, &data, 5, &scores)
    };
    let soft = of(ObjectiveSpec { objective: ObjectiveKind::SoftRank, sfa: true, mu: Some(2.0), ..spec("ndcg") });
    assert_eq!(soft, of(spec("ndcg")));
    assert_ne!(soft, of(ObjectiveSpec { sfa: true, ..spec("ndcg") }));
}

fn bind_error(spec: ObjectiveSpec, labels: &[f32], rules: &Rules) -> ObjectiveError {
    let params: ObjectiveParams = spec.check().unwrap();
    params.bind(&one_query(labels), rules, SimdLevel::best()).err().unwrap()
}

#[test]
fn what_cannot_be_learnt_is_refused() {
    let rules = Rules::default();
    let said = |target: &str, labels: &[f32], rules: &Rules| bind_error(spec(target), labels, rules).to_string();
    assert!(said("f1@5", &[0.0, 1.0], &rules).contains("cannot optimise the metric 'f1@5'"));
    assert!(said("ndcg", &[1.0, 1.0], &rules).contains("nothing to learn"));
    assert!(said("err", &[0.0, 5.0], &rules).contains("`err_max_grade`"));
    let linear = Rules { gain: Gain::Linear, ..Rules::default() };
    assert!(said("err", &[0.0, 1.5], &linear).contains("1.5"));
    let select = ObjectiveSpec { objective: ObjectiveKind::SelectWithOrder, ..Default::default() };
    assert!(bind_error(select, &[0.0, 0.0], &rules).to_string().contains("nothing to select"));
}

/// Selection: each document's jump from metric values alone, averaged over the selections of the others.
#[test]
fn selection_follows_the_exact_derivative() {
    let labels = [1.0f32, 3.0, 0.0, 2.0];
    let scores = [0.2, -0.4, 0.9, -0.1];
    let sigma = 0.7;
    let gain = |label: f32| 2f64.powf(label.into()) - 1.0;
    let value = |selected: usize| {
        let (mut total, mut rank) = (0.0, 0.0);
        for doc in (0..4).filter(|doc| selected >> doc & 1 == 1) {
            rank += 1.0;
            total += gain(labels[doc]) / rank;
        }
        total
    };
    // P(score + noise > 0), by an integral.
    let above = |score: f64| {
        let step = 1e-4;
        let phi = |u: f64| (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt();
        (0..200_000).map(|cell| -score / sigma + (f64::from(cell) + 0.5) * step).map(|u| phi(u) * step).sum::<f64>()
    };
    let chances = scores.map(above);
    let exact: Vec<f64> = (0..4)
        .map(|by| {
            let phi = (-0.5 * (scores[by] / sigma).powi(2)).exp() / (sigma * std::f64::consts::TAU.sqrt());
            let others = (0..16usize).filter(|selected| selected >> by & 1 == 0);
            let expected: f64 = others
                .map(|selected| {
                    let chance = |doc: usize| if selected >> doc & 1 == 1 { chances[doc] } else { 1.0 - chances[doc] };
                    let probability: f64 = (0..4).filter(|doc| *doc != by).map(chance).product();
                    probability * (value(selected | 1 << by) - value(selected))
                })
                .sum();
            expected * phi
        })
        .collect();
    let data = one_query(&labels);
    for estimator in [Estimator::Ccs, Estimator::Reinforce] {
        let spec = ObjectiveSpec {
            objective: ObjectiveKind::SelectWithOrder,
            sfa: false,
            samples: Some(1000),
            sigma,
            estimator,
            ..Default::default()
        };
        let objective = spec.check().unwrap().bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
        let batches: Vec<Vec<f64>> = (0..200).map(|tree| gradient(&*objective, &data, tree, &scores)).collect();
        for (doc, exact) in exact.iter().enumerate() {
            let mean = batches.iter().map(|batch| -batch[doc]).sum::<f64>() / 200.0;
            let variance = batches.iter().map(|batch| (-batch[doc] - mean).powi(2)).sum::<f64>() / 199.0;
            let error = (variance / 200.0).sqrt();
            assert!((mean - exact).abs() <= 5.0 * error + 1e-6, "{estimator:?} {doc}: {mean} +- {error}, {exact}");
        }
    }
}
