//! Tests that training learns something.

use rankwise::data::Absent;
use rankwise::objectives::ObjectiveKind;
use rankwise::prelude::*;
use rankwise::train::{Flow, Observer, Progress, StopReason};
use rankwise::trees::Growth;

use crate::{dataset, ensemble, ndcg10, params, trees_of, web_docs, with_trees};

#[test]
fn every_growth_policy_beats_the_best_feature_by_far() {
    let (train_data, test) = (dataset(&web_docs(6000, 60, 1)), dataset(&web_docs(4000, 60, 2)));
    let metric = MetricName::parse("ndcg@10").unwrap();
    let best = rankwise::best_feature(&train_data, &metric, &Rules::default()).unwrap().unwrap();
    let baseline = ndcg10(&test, &best.scores_canonical(&test));
    for grow in Growth::ALL.iter().map(Growth::render) {
        let settings = [("grow", grow.as_str()), ("num_trees", "40"), ("num_leaves", "16"), ("min_data_in_leaf", "10")];
        let trained = train(&params(&settings), &train_data, &[], &mut Silent).unwrap();
        let value = ndcg10(&test, &rankwise::predict_canonical(&trained.model, &test));
        assert!(value > baseline + 0.08, "{grow}: {value} against {baseline}");
        assert_eq!((trees_of(&trained.model).len(), trained.stopped), (40, StopReason::Finished));
    }
}

#[test]
fn rmse_fits_labels() {
    let data = dataset(&web_docs(3000, 40, 1));
    let error = |scores: &[f64]| -> f64 {
        let squares = scores.iter().zip(data.labels()).map(|(score, label)| (score - f64::from(*label)).powi(2));
        squares.sum::<f64>() / data.n_rows() as f64
    };
    let trained = train(&params(&[("objective", "rmse")]), &data, &[], &mut Silent).unwrap();
    let base = error(&vec![ensemble(&trained.model).base_score(); data.n_rows()]);
    let fitted = error(&rankwise::predict_canonical(&trained.model, &data));
    assert!(fitted < 0.5 * base, "{fitted} against {base}");
}

/// On new queries, every ranking objective beats the best feature; the objective for selection beats showing all
/// documents.
#[test]
fn every_objective_ranks_or_selects() {
    let (train_data, test) = (dataset(&web_docs(6000, 60, 1)), dataset(&web_docs(4000, 60, 2)));
    let metric = MetricName::parse("ndcg@10").unwrap();
    let best = rankwise::best_feature(&train_data, &metric, &Rules::default()).unwrap().unwrap();
    let baseline = ndcg10(&test, &best.scores_canonical(&test));
    let mean = |data: &Dataset, metric: &str, scores: &[f64]| {
        let names = [MetricName::parse(metric).unwrap()];
        Evaluator::new(data, &names, &Rules::default()).unwrap().evaluate_canonical(scores).unwrap().metrics[0]
            .mean
            .unwrap()
    };
    // Labels as probabilities, for the only objective that requires them.
    let shares: Vec<_> =
        web_docs(6000, 60, 1).into_iter().map(|doc| crate::Doc { label: doc.label / 4.0, ..doc }).collect();
    let shares = dataset(&shares);
    for kind in ObjectiveKind::ALL {
        let objective = kind.render();
        // Regularise small leaves, where this loss would make large jumps.
        let lambda_l2 = if *kind == ObjectiveKind::PListMle { "1" } else { "0" };
        let common = [("num_trees", "40"), ("num_leaves", "16"), ("min_data_in_leaf", "10")];
        // If only the sign of a score counts, steps are small compared with the noise.
        let rate = if *kind == ObjectiveKind::SelectWithOrder { "1" } else { "0.1" };
        let own = [("objective", objective.as_str()), ("lambda_l2", lambda_l2), ("learning_rate", rate)];
        let settings = [&common[..], &own].concat();
        let data = if *kind == ObjectiveKind::Logistic { &shares } else { &train_data };
        let trained = train(&params(&settings), data, &[], &mut Silent).unwrap();
        let scores = rankwise::predict_canonical(&trained.model, &test);
        let (value, baseline) = match kind {
            ObjectiveKind::SelectWithOrder => {
                let (selected, all) =
                    (rankwise::predict_canonical(&trained.model, &train_data), vec![1.0; train_data.n_rows()]);
                (mean(&train_data, "dcg-rr", &selected), mean(&train_data, "dcg-rr", &all))
            }
            _ => (mean(&test, "ndcg@10", &scores), baseline),
        };
        assert!(value > baseline + 0.04, "{objective}: {value} against {baseline}");
    }
}

/// Probabilities of relevance are learned as such.
#[test]
fn logistic_fits_probabilities() {
    let docs: Vec<_> = web_docs(3000, 40, 1)
        .into_iter()
        .map(|doc| crate::Doc { label: f32::from(u8::from(doc.label >= 2.0)), ..doc })
        .collect();
    let data = dataset(&docs);
    let settings = [("objective", "logistic")];
    let trained = train(&params(&settings), &data, &[], &mut Silent).unwrap();
    let loss = |scores: &[f64]| -> f64 {
        let of = |(score, label): (&f64, &f32)| (1.0 + (-score * f64::from(2.0 * label - 1.0)).exp()).ln();
        scores.iter().zip(data.labels()).map(of).sum::<f64>() / data.n_rows() as f64
    };
    let (base, fitted) = (
        loss(&vec![ensemble(&trained.model).base_score(); data.n_rows()]),
        loss(&rankwise::predict_canonical(&trained.model, &data)),
    );
    assert!(fitted < 0.6 * base, "{fitted} against {base}");
}

#[test]
fn early_stopping_keeps_the_best_tree() {
    let (train_data, valid) = (dataset(&web_docs(3000, 40, 1)), dataset(&web_docs(1500, 40, 2)));
    let settings =
        [("num_trees", "500"), ("early_stopping_rounds", "5"), ("learning_rate", "0.5"), ("metric", "ndcg@5,ndcg@10")];
    let sets = [ValidSet { name: "valid", data: &valid }];
    let trained = train(&params(&settings), &train_data, &sets, &mut Silent).unwrap();
    assert_eq!(trained.stopped, StopReason::EarlyStopping);
    assert_eq!(trained.trees_grown, trees_of(&trained.model).len() + 5);
    assert_eq!(trained.values.iter().map(|value| value.metric.as_str()).collect::<Vec<_>>(), ["ndcg@5", "ndcg@10"]);
    assert_eq!(trained.values[1].value, ndcg10(&valid, &rankwise::predict_canonical(&trained.model, &valid)));
}

/// Stops after some trees.
struct StopAt(usize);

impl Observer for StopAt {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.round == self.0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn an_interrupted_run_is_the_start_of_a_whole_one() {
    let data = dataset(&web_docs(1500, 20, 1));
    let whole = train(&params(&[("num_trees", "9")]), &data, &[], &mut Silent).unwrap();
    let part = train(&params(&[("num_trees", "9")]), &data, &[], &mut StopAt(4)).unwrap();
    assert_eq!((part.stopped, trees_of(&part.model).len()), (StopReason::Interrupted, 4));
    let scores = |n_trees: usize| {
        rankwise::predict_canonical(&with_trees(&whole.model, trees_of(&whole.model)[..n_trees].to_vec()), &data)
    };
    assert_eq!(rankwise::predict_canonical(&part.model, &data), scores(4));
}

#[test]
fn nothing_to_learn_ends_the_run() {
    let mut docs = web_docs(400, 10, 1);
    for doc in &mut docs {
        // The only feature is uninformative: every query has one document with each combination of label and value.
        doc.features = vec![(1, 1.0)];
    }
    docs[0].features = vec![(1, 2.0)];
    let data = dataset(&docs);
    let trained = train(&params(&[("min_data_in_leaf", "20")]), &data, &[], &mut Silent).unwrap();
    assert_eq!((trained.stopped, trees_of(&trained.model).len()), (StopReason::NothingToLearn, 0));
    assert!(rankwise::predict_canonical(&trained.model, &data).iter().all(|score| *score == 0.0));
}

#[test]
fn constraints_hold_in_a_trained_model() {
    let data = dataset(&web_docs(3000, 20, 1));
    let free = train(&params(&[("grow", "leafwise"), ("num_trees", "20")]), &data, &[], &mut Silent).unwrap().model;
    let feature = free.importance().unwrap()[0].feature;
    for direction in [1, -1] {
        let constraint = format!("{feature}:{direction}");
        let settings = [("grow", "leafwise"), ("num_trees", "20"), ("monotone_constraints", &constraint)];
        let model = train(&params(&settings), &data, &[], &mut Silent).unwrap().model;
        let slot = model.features().iter().position(|id| *id == feature).expect("the feature stays in use");
        for row in (0..data.n_rows()).step_by(50) {
            let mut values: Vec<f64> =
                model.features().iter().map(|id| data.column_of(*id).unwrap().get(row).into()).collect();
            let mut last = f64::NEG_INFINITY * f64::from(direction);
            for step in 0..40 {
                values[slot] = f64::from(step) * 2.5 - 20.0;
                let score = model.score(&values);
                assert!((score - last) * f64::from(direction) >= 0.0, "{score} after {last}");
                last = score;
            }
        }
    }
}

/// Query, label and features of a document.
type Features<'a> = (&'a str, f32, &'a [(u32, f32)]);

/// A document's score does not depend on whether another document of the file has a feature that is absent from it.
#[test]
fn a_feature_that_no_document_names_is_absent_like_any_other() {
    for absent in [Absent::Missing, Absent::Zero] {
        let build = |docs: &[Features<'_>]| {
            let mut builder = DatasetBuilder::new(absent);
            for (qid, label, features) in docs {
                builder.push(&Row { qid, label: *label, doc_id: "", features }).unwrap();
            }
            builder.finish().unwrap()
        };
        let data = build(&[
            ("a", 1.0, &[(1, 1.0), (2, -1.0)]),
            ("a", 0.0, &[(1, 1.0), (2, 2.0)]),
            ("b", 2.0, &[(1, 1.5)]),
            ("b", 0.0, &[(1, 1.0), (2, 1.0)]),
        ]);
        let model =
            train(&params(&[("num_trees", "5"), ("min_data_in_leaf", "1")]), &data, &[], &mut Silent).unwrap().model;
        assert!(model.features().contains(&2));
        let alone = rankwise::predict_canonical(&model, &build(&[("q", 0.0, &[(1, 1.5)])]));
        let beside = build(&[("q", 0.0, &[(1, 1.5)]), ("r", 0.0, &[(2, 5.0)])]);
        assert_eq!(alone[0].to_bits(), rankwise::predict_canonical(&model, &beside)[0].to_bits(), "{absent:?}");
    }
}
