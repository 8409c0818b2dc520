//! Several members, each with some of the queries and its own thread pool, train the same model as one member with all
//! queries, byte for byte.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use rankwise::data::Reduce;
use rankwise::objectives::ObjectiveKind;
use rankwise::prelude::*;
use rankwise::train::{TrainError, Training};

use crate::one_answer::{RESCALED, SETTINGS, docs_with_twins};
use crate::{Doc, dataset, params, web_docs};

const MEMBERS: usize = 4;

/// The exchange between members in one process.
#[derive(Default)]
struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    round: usize,
    said: Vec<Option<Vec<u8>>>,
    heard: Vec<Vec<u8>>,
}

struct Member<'a> {
    number: usize,
    meeting: &'a Meeting,
    caller: Mutex<Option<ThreadId>>,
}

impl Member<'_> {
    fn combine(&self, values: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
        let mine: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let all = self.gather(&mine);
        assert!(all.iter().all(|bytes| bytes.len() == mine.len()), "members must ask for the same things");
        for (idx, value) in values.iter_mut().enumerate() {
            let of_members = all.iter().map(|bytes| u64::from_le_bytes(bytes[8 * idx..][..8].try_into().unwrap()));
            *value = of_members.reduce(&combine).unwrap();
        }
    }
}

impl Reduce for Member<'_> {
    fn n_members(&self) -> usize {
        MEMBERS
    }

    fn sum(&self, values: &mut [u64]) {
        self.combine(values, u64::wrapping_add);
    }

    fn min(&self, values: &mut [u64]) {
        self.combine(values, u64::min);
    }

    fn max(&self, values: &mut [u64]) {
        self.combine(values, u64::max);
    }

    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let caller = *self.caller.lock().unwrap().get_or_insert(std::thread::current().id());
        assert_eq!(caller, std::thread::current().id(), "one thread of a member calls");
        let mut state = self.meeting.state.lock().unwrap();
        state.said.resize(MEMBERS, None);
        state.said[self.number] = Some(mine.to_vec());
        if state.said.iter().all(Option::is_some) {
            state.heard = state.said.iter_mut().map(|said| said.take().unwrap()).collect();
            state.round += 1;
            self.meeting.changed.notify_all();
            return state.heard.clone();
        }
        let round = state.round;
        let (state, waited) = self
            .meeting
            .changed
            .wait_timeout_while(state, Duration::from_mins(2), |state| state.round == round)
            .unwrap();
        assert!(!waited.timed_out(), "member {} waits for members that do not come", self.number);
        state.heard.clone()
    }
}

/// The member that a query belongs to; parts have different sizes, in no order.
fn member_of(qid: &str) -> usize {
    let hash = qid.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    [0, 1, 1, 2, 2, 2, 3, 3, 3, 3][(hash % 10) as usize]
}

fn parts(docs: &[Doc]) -> Vec<Dataset> {
    let of_member = |member: usize| docs.iter().filter(move |doc| member_of(&doc.qid) == member);
    (0..MEMBERS).map(|member| dataset(&of_member(member).cloned().collect::<Vec<_>>())).collect()
}

/// What every member trains.
fn train_together(
    params: &TrainParams,
    train: &[Dataset],
    valid: Option<&[Dataset]>,
) -> Vec<Result<Trained, TrainError>> {
    let meeting = Meeting::default();
    std::thread::scope(|scope| {
        let members: Vec<_> = (0..MEMBERS)
            .map(|number| {
                let meeting = &meeting;
                scope.spawn(move || {
                    let reduce = Member { number, meeting, caller: Mutex::default() };
                    let sets: Vec<ValidSet<'_>> =
                        valid.iter().map(|valid| ValidSet { name: "valid", data: &valid[number] }).collect();
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + number % 2).build().unwrap();
                    pool.install(|| {
                        Training::new(params, &train[number]).valid(&sets).together(&reduce).run(&mut Silent)
                    })
                })
            })
            .collect();
        members.into_iter().map(|member| member.join().unwrap()).collect()
    })
}

/// Trains alone and together, and compares models and validation metrics.
fn check(docs: &[Doc], valid: Option<&[Doc]>, settings: &[(&str, &str)]) {
    let common = [("num_trees", "6"), ("min_data_in_leaf", "5")].into_iter();
    let is_default = |(name, _): &(&str, &str)| settings.iter().all(|(given, _)| given != name);
    let settings: Vec<(&str, &str)> = common.filter(is_default).chain(settings.iter().copied()).collect();
    let params = params(&settings);
    let (all, all_valid) = (dataset(docs), valid.map(dataset));
    let sets: Vec<ValidSet<'_>> = all_valid.iter().map(|data| ValidSet { name: "valid", data }).collect();
    let alone = Training::new(&params, &all).valid(&sets).run(&mut Silent).unwrap();
    assert!(alone.model.to_json().contains("\"threshold\":["), "{settings:?}");
    let valid_parts = valid.map(parts);
    for (member, trained) in train_together(&params, &parts(docs), valid_parts.as_deref()).into_iter().enumerate() {
        let trained = trained.unwrap();
        assert_eq!(trained.model.to_json(), alone.model.to_json(), "member {member}, {settings:?}");
        assert_eq!(
            (trained.values, trained.stopped, trained.outliers),
            (alone.values.clone(), alone.stopped, alone.outliers),
            "member {member}, {settings:?}"
        );
    }
}

/// Documents with duplicates, and a feature that only the documents of one query have.
fn docs(with_ids: bool) -> Vec<Doc> {
    let mut docs = docs_with_twins(with_ids);
    let qid = docs[0].qid.clone();
    for (idx, doc) in docs.iter_mut().filter(|doc| doc.qid == qid).enumerate() {
        doc.features.push((900, idx as f32));
    }
    docs
}

#[test]
fn samples_learners_steps_and_growth_policies_are_those_of_one_member() {
    for with_ids in [true, false] {
        let docs = docs(with_ids);
        for settings in SETTINGS.into_iter().chain(RESCALED) {
            check(&docs, None, settings);
        }
    }
    let docs = docs(true);
    for settings in [
        &[("engine", "plain"), ("grow", "leafwise")][..],
        &[("engine", "plain"), ("grow", "levelwise"), ("min_data_in_leaf", "40")],
        &[("grow", "levelwise"), ("histogram_pool_mb", "0"), ("num_leaves", "60")],
        &[
            ("histogram_pool_mb", "0"),
            ("num_leaves", "60"),
            ("min_data_in_leaf", "40"),
            ("min_sum_hessian_in_leaf", "0"),
        ],
        &[("sample", "selective"), ("p_high", "20"), ("step", "line"), ("objective", "ranknet")],
        &[("lambda_form", "xgboost"), ("bin_construct_sample_cnt", "100")],
        &[("learner", "dart"), ("langevin", "false"), ("drop_rate", "0.5"), ("skip_drop", "0"), ("grow", "oblivious")],
    ] {
        check(&docs, None, settings);
    }
}

#[test]
fn every_objective_is_that_of_one_member() {
    let docs = docs(true);
    let mut binary = docs.clone();
    for doc in &mut binary {
        doc.label = doc.label.min(1.0);
    }
    for kind in ObjectiveKind::ALL {
        let docs = if *kind == ObjectiveKind::Logistic { &binary } else { &docs };
        check(docs, None, &[("objective", &kind.render())]);
    }
}

#[test]
fn early_stopping_is_that_of_one_member() {
    let valid = web_docs(900, 24, 9);
    for settings in [
        &[("metric", "ndcg@5,map,auc"), ("early_stopping_rounds", "3"), ("num_trees", "60"), ("learning_rate", "0.4")]
            [..],
        &[("metric", "auc"), ("early_stopping_rounds", "2"), ("num_trees", "40"), ("objective", "rmse")],
        &[
            ("metric", "mrr"),
            ("empty", "skip"),
            ("learner", "dart"),
            ("early_stopping_rounds", "4"),
            ("num_trees", "20"),
        ],
        &[("metric", "ndcg"), ("objective", "multiclass"), ("early_stopping_rounds", "2"), ("num_trees", "20")],
    ] {
        check(&docs(true), Some(&valid), settings);
    }
}

#[test]
fn an_error_of_one_member_is_an_error_of_all() {
    let docs = docs(true);
    let errors = |train: &[Dataset], settings: &[(&str, &str)]| -> Vec<String> {
        let all = train_together(&params(settings), train, None);
        all.into_iter().map(|trained| trained.unwrap_err().to_string()).collect()
    };
    // A label that the objective rejects, in one part only.
    let mut bad = docs.clone();
    bad[0].label = 1.5;
    let found = errors(&parts(&bad), &[("objective", "multiclass")]);
    let own = member_of(&bad[0].qid);
    for (member, error) in found.iter().enumerate() {
        let expected = if member == own { "1.5" } else { "another member of the run failed" };
        assert!(error.contains(expected), "{member}: {error}");
    }
    // A query of two members.
    let mut split = parts(&docs);
    split[0] = dataset(&docs[..40]);
    split[1] = dataset(&docs[..60]);
    assert!(errors(&split, &[]).iter().all(|error| error.contains("in the data of two members")));
}

/// One of two members, which loses the other after some exchanges.
struct LosesTheOther {
    n_left: AtomicUsize,
}

impl LosesTheOther {
    fn exchange(&self) {
        let _ = self.n_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }
}

impl Reduce for LosesTheOther {
    fn n_members(&self) -> usize {
        2
    }

    fn sum(&self, _: &mut [u64]) {
        self.exchange();
    }

    fn min(&self, _: &mut [u64]) {
        self.exchange();
    }

    fn max(&self, _: &mut [u64]) {
        self.exchange();
    }

    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        self.exchange();
        vec![mine.to_vec()]
    }

    fn failure(&self) -> Option<String> {
        (self.n_left.load(Ordering::Relaxed) == 0).then(|| "the network is down".to_owned())
    }
}

#[test]
fn a_member_that_is_left_alone_ends_with_an_error() {
    let data = dataset(&docs(true)[..600]);
    for settings in SETTINGS {
        let params = params(settings);
        for exchanges in [0, 1, 5, 20, 100, 400] {
            let reduce = LosesTheOther { n_left: AtomicUsize::new(exchanges) };
            let error = Training::new(&params, &data).together(&reduce).run(&mut Silent).unwrap_err();
            assert!(error.to_string().contains("cannot be reached: the network is down"), "{error}");
        }
    }
}

/// The search for the parameter that prevents splits involves the other members, too.
#[test]
fn members_agree_on_why_there_is_no_tree() {
    let docs = web_docs(1200, 6, 3);
    for (name, value) in [("min_gain_to_split", "1000000000"), ("min_data_in_leaf", "100000"), ("lambda_l1", "1000000")]
    {
        let params = params(&[(name, value)]);
        let alone = train(&params, &dataset(&docs), &[], &mut Silent).unwrap().no_trees.unwrap();
        assert!(alone.to_string().contains(&format!("{name}={value}")), "{alone}");
        for together in train_together(&params, &parts(&docs), None) {
            assert_eq!(together.unwrap().no_trees.as_ref(), Some(&alone));
        }
    }
}

/// Timestamps that are equal as f32, within parts or only across parts.
#[test]
fn members_agree_on_features_that_are_f64() {
    let part_of = |qid: usize| qid % MEMBERS;
    let build = |step: f64, qids: &[usize]| {
        let rows: Vec<(usize, usize)> = qids.iter().flat_map(|qid| (0..12).map(move |doc| (*qid, doc))).collect();
        let second =
            |(qid, doc): &(usize, usize)| 1_700_000_000.0 + step * (doc * 37 % 60) as f64 + part_of(*qid) as f64;
        let values: Vec<f64> = rows.iter().flat_map(|row| [second(row), (row.0 + row.1 * 5) as f64 * 0.1]).collect();
        let labels: Vec<u8> = rows.iter().map(|(_, doc)| u8::from(doc * 37 % 60 >= 30)).collect();
        let qids: Vec<usize> = rows.iter().map(|(qid, _)| *qid).collect();
        Dataset::from_dense(&values, 2).labels(&labels).qids(&qids).build().unwrap()
    };
    let qids: Vec<usize> = (0..24).collect();
    let parts = |step: f64| -> Vec<Dataset> {
        let of_member = |member| qids.iter().copied().filter(|qid| part_of(*qid) == member).collect::<Vec<_>>();
        (0..MEMBERS).map(|member| build(step, &of_member(member))).collect()
    };
    let params = params(&[("num_trees", "6"), ("min_data_in_leaf", "3")]);
    let all = build(1.0, &qids);
    assert_eq!(all.f64_features(), [0]);
    let alone = Training::new(&params, &all).run(&mut Silent).unwrap();
    assert!(alone.model.to_json().contains("\"f64_features\": [0]"));
    for trained in train_together(&params, &parts(1.0), None) {
        assert_eq!(trained.unwrap().model.to_json(), alone.model.to_json());
    }
    // Timestamps differ as f32 within each part, but not across the two.
    assert!(parts(256.0).iter().all(|part| part.f64_features().is_empty()));
    for trained in train_together(&params, &parts(256.0), None) {
        assert!(trained.unwrap_err().to_string().contains("feature 0"));
    }
}
