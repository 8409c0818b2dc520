//! Distributed training: each member has whole queries, and the result is the same, to the byte, as with one member.
//!
//! ```text
//! member 0: q1 q4 q5 --+                           +--> the same sums, minima and lists
//! member 1: q2 q6    --+--> Reduce: sum, min, max, +--> in every member
//! member 2: q3       --+     gather                +--> so all take the same decisions
//! ```
//!
//! [`Reduce`] is the only way members communicate. Everything that a decision depends on goes through it. Integers are
//! summed. Anything else is gathered, and [`Share`] puts it into canonical order, so that floats are added in the same
//! order as with one member. All members call the same methods in the same order, from one thread, never inside a
//! parallel loop.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::documents::Identity;
use crate::{Absent, DataError, Documents, MAX_ROWS, reduce};

/// The exchange between members that train together. All members must call each method with lists of the same length.
pub trait Reduce: Send + Sync {
    /// The number of members.
    fn n_members(&self) -> usize;

    /// Replaces each number by its sum over all members, modulo 2^64.
    fn sum(&self, values: &mut [u64]);

    /// Replaces each number by the minimum over all members.
    fn min(&self, values: &mut [u64]);

    /// Replaces each number by the maximum over all members.
    fn max(&self, values: &mut [u64]);

    /// The bytes of all members, by member number. Lengths may differ.
    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>>;

    /// Why the other members can no longer be reached, if so. After a failure the other methods return at once: numbers
    /// stay unchanged, and `gather` returns only this member's bytes. The boosting loop checks this after every round
    /// and stops with an error.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// A single member, with nothing to exchange.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Reduce for Alone {
    fn n_members(&self) -> usize {
        1
    }

    fn sum(&self, _: &mut [u64]) {}

    fn min(&self, _: &mut [u64]) {}

    fn max(&self, _: &mut [u64]) {}

    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        vec![mine.to_vec()]
    }
}

/// The queries of one member, and its connection to the others.
#[derive(Clone)]
pub struct Share<'a> {
    /// The queries of this member.
    pub data: &'a Documents,
    /// The connection to the other members.
    pub reduce: &'a dyn Reduce,
    /// The index of each query of this member among all queries; `None` if there is one member.
    places: Option<Vec<u32>>,
    whole: Whole<'a>,
}

/// The data of all members taken together.
#[derive(Clone, Debug)]
struct Whole<'a> {
    n_rows: usize,
    n_queries: usize,
    fingerprint: u128,
    feature_ids: Cow<'a, [u32]>,
    feature_names: Cow<'a, [(u32, String)]>,
    f64_features: Cow<'a, [u32]>,
}

impl fmt::Debug for Share<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.reduce.n_members();
        formatter.debug_struct("Share").field("members", &members).field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl<'a> Share<'a> {
    /// The share of a single member: all of the data.
    pub fn alone(data: &'a Documents) -> Self {
        let whole = Whole {
            n_rows: data.n_rows(),
            n_queries: data.n_queries(),
            fingerprint: data.fingerprint,
            feature_ids: Cow::Borrowed(&data.feature_ids),
            feature_names: Cow::Borrowed(&data.feature_names),
            f64_features: Cow::Borrowed(&data.f64_features),
        };
        Self { data, reduce: &Alone, places: None, whole }
    }

    /// This member's part of the data. All members must call this together. If a query is in two parts, or the parts
    /// are incompatible, all members get an error.
    pub fn new(data: &'a Documents, reduce: &'a dyn Reduce) -> Result<Self, DataError> {
        if reduce.n_members() == 1 {
            return Ok(Self::alone(data));
        }
        let parts: Vec<Part> =
            reduce.gather(&Part::of(data).to_bytes()).iter().map(|bytes| Part::read(bytes)).collect();
        if let Some(problem) = reduce.failure() {
            return Err(DataError::MembersLost { problem });
        }
        let mut qids: Vec<&str> = parts.iter().flat_map(|part| part.qids.iter().map(String::as_str)).collect();
        qids.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        if let Some([qid, _]) = qids.array_windows().find(|[a, b]| a == b) {
            return Err(DataError::QueryInTwoParts { qid: (*qid).to_owned() });
        }
        if parts.iter().any(|part| part.absent != parts[0].absent) {
            return Err(DataError::PartsDiffer { what: "what an absent feature means" });
        }
        if parts.iter().any(|part| part.has_id_keys != parts[0].has_id_keys) {
            return Err(DataError::PartsDiffer { what: "whether every document of a query has an id of its own" });
        }
        if let Some(part) = parts.iter().find(|part| part.f64_features != parts[0].f64_features) {
            let is_in_one = |id: &&u32| part.f64_features.contains(id) != parts[0].f64_features.contains(id);
            let feature = *part.f64_features.iter().chain(&parts[0].f64_features).find(is_in_one).expect("they differ");
            return Err(DataError::WideInOnePart { feature });
        }
        let place =
            |qid: &str| qids.binary_search_by(|one| one.as_bytes().cmp(qid.as_bytes())).expect("it is among all");
        let places = data.qids.iter().map(|qid| place(qid) as u32).collect();
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        let mut ids: Vec<u32> = Vec::new();
        for part in &parts {
            ids.extend(&part.feature_ids);
            for (id, name) in &part.feature_names {
                if names.insert(*id, name.clone()).is_some_and(|before| before != *name) {
                    return Err(DataError::PartsDiffer { what: "the names of the features" });
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        let n_rows: usize = parts.iter().map(|part| part.n_rows as usize).sum();
        if n_rows > MAX_ROWS {
            return Err(DataError::TooManyRows { rows: n_rows, limit: MAX_ROWS });
        }
        let whole = Whole {
            n_rows,
            n_queries: qids.len(),
            fingerprint: parts.iter().fold(0, |sum: u128, part| sum.wrapping_add(part.fingerprint)),
            feature_ids: Cow::Owned(ids),
            feature_names: Cow::Owned(names.into_iter().collect()),
            f64_features: Cow::Borrowed(&data.f64_features),
        };
        Ok(Self { data, reduce, places: Some(places), whole })
    }

    /// This member's part of a subset: `data` must be a [`Documents::subset`] of this share's documents. All members
    /// must call this together.
    pub fn of_subset<'s>(&self, data: &'s Documents) -> Share<'s>
    where
        'a: 's,
    {
        let Some(places) = &self.places else { return Share::alone(data) };
        let mut counts = [data.n_rows() as u64, data.n_queries() as u64];
        self.reduce.sum(&mut counts);
        // The queries of a subset keep their order.
        let mut own = self.data.qids.iter().zip(places);
        let place = |qid: &str| *own.find(|(one, _)| *one == qid).expect("a subset has no other queries").1;
        let whole = Whole {
            n_rows: counts[0] as usize,
            n_queries: counts[1] as usize,
            fingerprint: self.whole.fingerprint,
            feature_ids: Cow::Owned(Vec::new()),
            feature_names: Cow::Owned(Vec::new()),
            f64_features: Cow::Owned(Vec::new()),
        };
        Share { data, reduce: self.reduce, places: Some(data.qids.iter().map(place).collect()), whole }
    }

    /// Whether there is one member.
    pub fn is_alone(&self) -> bool {
        self.places.is_none()
    }

    /// The number of documents of all members.
    pub fn all_rows(&self) -> usize {
        self.whole.n_rows
    }

    /// The number of queries of all members.
    pub fn all_queries(&self) -> usize {
        self.whole.n_queries
    }

    /// The fingerprint of all rows.
    pub fn all_fingerprint(&self) -> u128 {
        self.whole.fingerprint
    }

    /// The features that at least one document of any member has, ascending.
    pub fn all_feature_ids(&self) -> &[u32] {
        &self.whole.feature_ids
    }

    /// The features that training treats as f64, ascending.
    pub fn all_f64_features(&self) -> &[u32] {
        &self.whole.f64_features
    }

    /// The name of a feature, if it has one.
    pub fn feature_name(&self, feature: u32) -> Option<&str> {
        let names = &self.whole.feature_names;
        let place = names.binary_search_by_key(&feature, |(id, _)| *id).ok()?;
        Some(&names[place].1)
    }

    /// Whether `holds` is true for any member.
    pub fn any(&self, holds: bool) -> bool {
        let mut any = [u64::from(holds)];
        self.reduce.max(&mut any);
        any[0] > 0
    }

    /// The sum of a count over all members.
    pub fn count(&self, own: usize) -> usize {
        let mut sum = [own as u64];
        self.reduce.sum(&mut sum);
        sum[0] as usize
    }

    /// Turns an error of one member into an error of all, so that no member waits for one that has stopped.
    pub fn agree<T, E: From<DataError>>(&self, result: Result<T, E>) -> Result<T, E> {
        match (self.any(result.is_err()), result) {
            (true, Ok(_)) => Err(DataError::OtherMember.into()),
            (_, result) => result,
        }
    }

    /// The sum of one number per query over all queries, in canonical order.
    pub fn sum_by_query(&self, values: Vec<f64>) -> f64 {
        reduce::sum(self.gather_queries(values))
    }

    /// Gathers one number per query from all members, in canonical order.
    pub fn gather_queries(&self, values: Vec<f64>) -> Vec<f64> {
        if self.is_alone() {
            return values;
        }
        self.gather_lists(values.into_iter().map(|value| vec![value]).collect()).concat()
    }

    /// Gathers one number per document from all members, in canonical order.
    pub fn gather_rows(&self, values: Vec<f64>) -> Vec<f64> {
        if self.is_alone() {
            return values;
        }
        let bounds = self.data.bounds().array_windows();
        self.gather_lists(bounds.map(|[start, end]| values[*start..*end].to_vec()).collect()).concat()
    }

    /// For each query of this member, the index of its first document among those of all members.
    pub fn row_starts(&self) -> Vec<usize> {
        let Some(places) = &self.places else { return self.data.bounds()[..self.data.n_queries()].to_vec() };
        let sizes = self
            .gather_queries((0..self.data.n_queries()).map(|query| self.data.query_rows(query).len() as f64).collect());
        let starts: Vec<usize> = sizes
            .iter()
            .scan(0, |next, size| {
                let start = *next;
                *next += *size as usize;
                Some(start)
            })
            .collect();
        // A subset has only some of the queries, but numbers them as in the whole.
        let numbers = self.gather_queries(places.iter().map(|place| f64::from(*place)).collect());
        let start = |place: &u32| starts[numbers.partition_point(|number| *number < f64::from(*place))];
        places.iter().map(start).collect()
    }

    /// Gathers one list per query from all members, in canonical order.
    pub fn gather_lists(&self, lists: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let Some(places) = &self.places else { return lists };
        let mut bytes = Vec::new();
        for (place, list) in places.iter().zip(&lists) {
            bytes.extend(place.to_le_bytes());
            bytes.extend((list.len() as u32).to_le_bytes());
            bytes.extend(list.iter().flat_map(|value| value.to_le_bytes()));
        }
        let mut all: Vec<(u32, Vec<f64>)> = Vec::new();
        for bytes in self.reduce.gather(&bytes) {
            let mut bytes = Bytes(&bytes);
            while !bytes.0.is_empty() {
                let (place, len) = (bytes.integer(), bytes.integer());
                all.push((place, (0..len).map(|_| f64::from_le_bytes(bytes.take())).collect()));
            }
        }
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, list)| list).collect()
    }
}

/// What members tell each other about their data at the start.
struct Part {
    n_rows: u32,
    fingerprint: u128,
    absent: Absent,
    has_id_keys: bool,
    qids: Vec<String>,
    feature_ids: Vec<u32>,
    f64_features: Vec<u32>,
    feature_names: Vec<(u32, String)>,
}

impl Part {
    fn of(data: &Documents) -> Self {
        Self {
            n_rows: data.n_rows() as u32,
            fingerprint: data.fingerprint,
            absent: data.absent,
            has_id_keys: matches!(data.identity, Identity::Ids(_)),
            qids: data.qids.iter().map(str::to_owned).collect(),
            feature_ids: data.feature_ids.clone(),
            f64_features: data.f64_features.clone(),
            feature_names: data.feature_names.clone(),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        bytes.extend(self.n_rows.to_le_bytes());
        bytes.extend(self.fingerprint.to_le_bytes());
        bytes.extend([u8::from(self.absent == Absent::Zero), u8::from(self.has_id_keys)]);
        bytes.extend((self.qids.len() as u32).to_le_bytes());
        self.qids.iter().for_each(|qid| text(&mut bytes, qid));
        for ids in [&self.feature_ids, &self.f64_features] {
            bytes.extend((ids.len() as u32).to_le_bytes());
            bytes.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
        }
        bytes.extend((self.feature_names.len() as u32).to_le_bytes());
        for (id, name) in &self.feature_names {
            bytes.extend(id.to_le_bytes());
            text(&mut bytes, name);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Self {
        let mut bytes = Bytes(bytes);
        let n_rows = bytes.integer();
        let fingerprint = u128::from_le_bytes(bytes.take());
        let [is_zero, has_id_keys] = bytes.take().map(|byte| byte != 0);
        let absent = if is_zero { Absent::Zero } else { Absent::Missing };
        let qids = (0..bytes.integer()).map(|_| bytes.text()).collect();
        let [feature_ids, f64_features] = [(); 2].map(|()| (0..bytes.integer()).map(|_| bytes.integer()).collect());
        let feature_names = (0..bytes.integer()).map(|_| (bytes.integer(), bytes.text())).collect();
        Self { n_rows, fingerprint, absent, has_id_keys, qids, feature_ids, f64_features, feature_names }
    }
}

/// The unread rest of bytes that another member wrote.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    /// The next bytes; zeros after the end, as happens when the exchange fails.
    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((first, rest)) = self.0.split_first_chunk() else {
            self.0 = &[];
            return [0; N];
        };
        self.0 = rest;
        *first
    }

    pub(crate) fn integer(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn text(&mut self) -> String {
        let len = self.integer() as usize;
        let (text, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}
