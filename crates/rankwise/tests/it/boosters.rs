//! AdaBoost and RankBoost end to end.

use rankwise::data::Absent;
use rankwise::io::read_dataset;
use rankwise::prelude::*;
use rankwise::train::{Checkpoint, Flow, Observer, Progress, StopReason, TrainError, Training};
use rankwise_testing::public_data;

use crate::{Doc, dataset, params, web_docs};

type Settings<'a> = &'a [(&'a str, &'a str)];

/// Every weak learner and weak ranker.
const SETTINGS: [Settings<'static>; 8] = [
    &[("learner", "rankboost")],
    &[("learner", "rankboost"), ("weak_ranker", "threshold-exact"), ("max_bin", "16")],
    &[("learner", "rankboost"), ("weak_ranker", "correlation")],
    &[("learner", "rankboost"), ("weak_ranker", "search")],
    &[("learner", "adaboost")],
    &[("learner", "adaboost"), ("weak_learner", "tree"), ("prune_lambda", "0.002"), ("relevant_from", "2")],
    &[("learner", "adaboost"), ("weak_learner", "tree"), ("impurity", "entropy"), ("max_depth", "3")],
    &[("learner", "adaboost"), ("impurity", "error"), ("min_data_in_leaf", "5")],
];

/// Keeps the checkpoint of every round.
#[derive(Default)]
struct Keeper(Vec<Vec<u8>>);

impl Observer for Keeper {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        self.0.extend(progress.checkpoint());
        Flow::Continue
    }
}

fn with_rounds(settings: Settings<'_>, rounds: &'static str) -> TrainParams {
    params(&[settings, &[("num_trees", rounds), ("metric", "map")]].concat())
}

#[test]
fn a_run_resumed_from_any_round_gives_the_same_model() {
    let (data, valid) = (dataset(&web_docs(900, 12, 1)), dataset(&web_docs(400, 12, 2)));
    let sets = [ValidSet { name: "valid", data: &valid }];
    for settings in SETTINGS {
        let params = with_rounds(settings, "8");
        let mut keeper = Keeper::default();
        let whole = train(&params, &data, &sets, &mut keeper).unwrap();
        assert!(keeper.0.len() > 2, "{settings:?}");
        for bytes in &keeper.0 {
            let checkpoint = Checkpoint::read(bytes).unwrap();
            let resumed = Training::new(&params, &data).valid(&sets).from_checkpoint(checkpoint).run(&mut Silent);
            let resumed = resumed.unwrap();
            assert_eq!(resumed.model.to_json(), whole.model.to_json(), "{settings:?}");
            assert_eq!(resumed.values, whole.values, "{settings:?}");
        }
        let measured = Evaluator::new(&valid, &[MetricName::parse("map").unwrap()], params.rules()).unwrap();
        let scores = rankwise::predict_canonical(&whole.model, &valid);
        assert_eq!(measured.evaluate_canonical(&scores).unwrap().metrics[0].mean.unwrap(), whole.values[0].value);
    }
}

#[test]
fn neither_threads_nor_the_order_of_rows_show() {
    let docs = web_docs(900, 12, 3);
    let turned: Vec<Doc> = docs.iter().rev().cloned().collect();
    let (data, turned) = (dataset(&docs), dataset(&turned));
    for settings in SETTINGS {
        let params = with_rounds(settings, "6");
        let model = |data: &Dataset, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&params, data, &[], &mut Silent).unwrap().model.to_json())
        };
        let expected = model(&data, 1);
        assert!(expected == model(&data, 4) && expected == model(&turned, 3), "{settings:?}");
    }
}

#[test]
fn labels_and_features_that_allow_no_learning_are_named() {
    let mut docs = web_docs(200, 5, 1);
    for doc in &mut docs {
        doc.label = 1.0;
    }
    let data = dataset(&docs);
    let error = |learner: &str| train(&params(&[("learner", learner)]), &data, &[], &mut Silent).unwrap_err();
    assert!(matches!(error("adaboost"), TrainError::OneClass { .. }));
    assert!(matches!(error("rankboost"), TrainError::NoPairs { .. }));
    // One value for each query: no pair can be told apart.
    for (idx, doc) in docs.iter_mut().enumerate() {
        doc.features = vec![(1, doc.qid.bytes().map(f32::from).sum())];
        doc.label = (idx % 2) as f32;
    }
    let data = dataset(&docs);
    let error = train(&params(&[("learner", "rankboost")]), &data, &[], &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::NothingLearnt { .. }), "{error}");
}

/// RankLib's RankBoost (300 rounds, 10 thresholds) has a mean test MAP of 0.4776.
#[test]
fn rankboost_ranks_mq2008_as_well_as_ranklib() {
    let Some(folder) = public_data("mq2008") else { return };
    let text = |part: usize| {
        let name = folder.join(format!("S{}.txt.zst", part % 5 + 1));
        read_dataset(&name, Absent::Missing).unwrap()
    };
    let parts: Vec<Dataset> = (0..5).map(text).collect();
    let maps = (0..5).map(|fold| {
        let train_data = join([0, 1, 2].map(|part| &parts[(fold + part) % 5]));
        let (valid, test) = (&parts[(fold + 3) % 5], &parts[(fold + 4) % 5]);
        let sets = [ValidSet { name: "valid", data: valid }];
        let trained = train(&params(&[("learner", "rankboost"), ("metric", "map")]), &train_data, &sets, &mut Silent);
        let trained = trained.unwrap();
        assert_eq!(trained.stopped, StopReason::Finished);
        let evaluator = Evaluator::new(test, &[MetricName::parse("map").unwrap()], &Rules::default()).unwrap();
        let scores = rankwise::predict_canonical(&trained.model, test);
        evaluator.evaluate_canonical(&scores).unwrap().metrics[0].mean.unwrap()
    });
    let maps: Vec<f64> = maps.collect();
    let mean = maps.iter().sum::<f64>() / 5.0;
    println!("MAP {mean:.4} of {maps:.4?}");
    assert!(mean >= 0.4776 - 0.005, "{mean} of {maps:?}");
}

/// The documents of several datasets, whose queries differ.
fn join(parts: [&Dataset; 3]) -> Dataset {
    let mut builder = rankwise::data::DatasetBuilder::default();
    for part in parts {
        let columns: Vec<(u32, _)> =
            part.feature_ids().iter().map(|id| (*id, part.column_of(*id).expect("it has the feature"))).collect();
        for query in part.queries() {
            for (doc, row) in query.rows.clone().enumerate() {
                let features: Vec<(u32, f32)> = columns.iter().map(|(id, column)| (*id, column.get(row))).collect();
                let row =
                    Row { qid: query.id, label: query.labels[doc], doc_id: query.doc_id(doc), features: &features };
                builder.push(&row).unwrap();
            }
        }
    }
    builder.finish().unwrap()
}
