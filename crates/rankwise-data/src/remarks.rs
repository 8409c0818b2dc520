//! Findings that are legal in a dataset but often a mistake. Each kind is reported once, with a count, examples and
//! advice.

use std::fmt;

use rayon::prelude::*;

use crate::columns::rounded;
use crate::{Column, Dataset, Documents, F64Values};

/// Number of examples per finding.
const MAX_EXAMPLES: usize = 5;
/// A feature is rare if fewer than one document in this many has it.
const RARE: usize = 1000;
/// Whole numbers up to this limit count as grades, however many there are.
const MAX_GRADE: f32 = 100.0;
/// Values tested together: enough for vector instructions.
const CHUNK: usize = 1024;

/// A suspicious finding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// Features that have the same value in every document.
    ConstantFeatures(Features),
    /// Features that hardly any document has.
    RareFeatures(Features),
    /// Features with values beyond the range of f32, or infinite ones.
    CutFeatures(Features),
    /// Queries of several documents that all have the same label.
    OneLabel(Queries),
    /// Queries of several documents without preferences, in data without labels.
    NoPairs(Queries),
    /// Queries of one document.
    OneDoc(Queries),
    /// Queries whose rows are not adjacent in the input.
    Scattered(Queries),
    /// Labels that are whole numbers, but more and larger than grades usually are.
    LabelsLikeIds {
        /// The number of different labels.
        distinct: usize,
        /// The largest label.
        largest: f32,
    },
    /// Rows that are identical to another row.
    Twins {
        /// How many there are, not counting the first of each kind.
        count: usize,
        /// The number of rows.
        of: usize,
        /// Two identical rows, counted from 1 in input order.
        example: [usize; 2],
    },
}

/// Features that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The first few ids.
    pub examples: Vec<u32>,
}

/// Queries that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queries {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The id of the first one.
    pub example: String,
}

impl Dataset {
    /// Suspicious findings in the data.
    pub fn remarks(&self) -> Vec<Remark> {
        let values =
            self.columns.par_iter().zip(&self.unrounded).map(|(column, unrounded)| F64Values { column, unrounded });
        let facts: Vec<ColumnFacts> = values.map(|values| ColumnFacts::new(values, self)).collect();
        let features = |has: fn(&ColumnFacts) -> bool| self.features_where(|slot| has(&facts[slot]));
        let of_features = [
            features(|facts| facts.is_constant).map(Remark::ConstantFeatures),
            features(|facts| facts.is_rare).map(Remark::RareFeatures),
            features(|facts| facts.is_cut).map(Remark::CutFeatures),
        ];
        of_features.into_iter().flatten().chain(self.docs.remarks()).collect()
    }
}

impl Documents {
    /// Suspicious findings in queries and documents, not features.
    pub fn remarks(&self) -> Vec<Remark> {
        let one_label = |query: usize| {
            let labels = self.query(query).labels;
            let says_nothing = labels.len() > 1 && labels.iter().all(|label| *label == labels[0]);
            // Pairs may add information that labels lack.
            says_nothing && self.query_pairs(query).is_empty()
        };
        // Without a label column, all labels are 0.
        let has_labels = self.pairs().is_empty() || self.labels().iter().any(|label| *label != 0.0);
        [
            self.queries_where(one_label).map(if has_labels { Remark::OneLabel } else { Remark::NoPairs }),
            self.queries_where(|query| self.query_rows(query).len() == 1).map(Remark::OneDoc),
            self.queries_where(|query| is_scattered(self.query(query).input_rows)).map(Remark::Scattered),
            self.labels_like_ids(),
            self.twins(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn features_where(&self, is_one: impl Fn(usize) -> bool) -> Option<Features> {
        let found: Vec<u32> =
            (0..self.n_features()).filter(|slot| is_one(*slot)).map(|slot| self.feature_ids[slot]).collect();
        let (count, of) = (found.len(), self.n_features());
        (count > 0).then(|| Features { count, of, examples: found.into_iter().take(MAX_EXAMPLES).collect() })
    }

    fn queries_where(&self, is_one: impl Fn(usize) -> bool) -> Option<Queries> {
        let mut found = (0..self.n_queries()).filter(|query| is_one(*query));
        let first = found.next()?;
        let example = self.query(first).id.to_owned();
        Some(Queries { count: 1 + found.count(), of: self.n_queries(), example })
    }

    fn labels_like_ids(&self) -> Option<Remark> {
        let largest = self.labels.iter().copied().fold(0.0, f32::max);
        if largest <= MAX_GRADE || self.labels.iter().any(|label| label.fract() != 0.0) {
            return None;
        }
        let mut sorted = self.labels.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        sorted.dedup();
        (sorted.len() > MAX_GRADE as usize).then_some(Remark::LabelsLikeIds { distinct: sorted.len(), largest })
    }

    /// Identical rows have the same key, so they are adjacent.
    fn twins(&self) -> Option<Remark> {
        let mut places = (1..self.n_rows()).filter(|row| self.keys[*row] == self.keys[row - 1]);
        let first = places.next()?;
        let mut example = [first - 1, first].map(|row| self.input_row[row] as usize + 1);
        example.sort_unstable();
        Some(Remark::Twins { count: 1 + places.count(), of: self.n_rows(), example })
    }
}

#[derive(Clone, Copy)]
struct ColumnFacts {
    is_constant: bool,
    is_rare: bool,
    is_cut: bool,
}

impl ColumnFacts {
    fn new(exact: F64Values<'_>, data: &Dataset) -> Self {
        let n_rows = data.n_rows();
        let column = exact.rounded();
        let in_use;
        let (values, is_whole) = match column {
            Column::Dense(values) => (values, true),
            Column::Sparse { values, .. } => (values, values.len() == n_rows),
            Column::Coded { codes, values } => {
                in_use = values_in_use(codes, values);
                (&in_use, true)
            }
            Column::Wide(values) => {
                in_use = values.iter().map(|value| rounded(*value)).collect();
                (&in_use, true)
            }
        };
        Self {
            // Different values that are equal as f32 are not constant: training treats them as f64.
            is_constant: is_whole && values.iter().all(|value| *value == values[0]) && exact.are_equal(n_rows),
            is_rare: !is_whole && values.len() * RARE < n_rows,
            // A loop without an early exit becomes vector instructions.
            is_cut: values
                .chunks(CHUNK)
                .any(|some| some.iter().fold(false, |cut, value| cut | (value.abs() == f32::MAX))),
        }
    }
}

/// The values that occur in some row.
fn values_in_use(codes: &[u16], values: &[f32]) -> Vec<f32> {
    let mut is_used = vec![false; values.len()];
    for code in codes {
        is_used[usize::from(*code)] = true;
    }
    values.iter().zip(is_used).filter(|(_, is_used)| *is_used).map(|(value, _)| *value).collect()
}

fn is_scattered(input_rows: &[u32]) -> bool {
    let (first, last) = input_rows.iter().fold((u32::MAX, 0), |(low, high), row| (low.min(*row), high.max(*row)));
    (last - first) as usize + 1 > input_rows.len()
}

impl Remark {
    /// The text, with lines in place of rows if `line` knows the line of a row; both count from 1.
    pub fn in_lines(&self, line: impl Fn(usize) -> Option<u64>) -> String {
        let Self::Twins { count, of, example: [first, second] } = self else { return self.to_string() };
        match (line(*first), line(*second)) {
            (Some(first), Some(second)) => duplicates(*count, *of, &format!("lines {first} and {second}")),
            _ => self.to_string(),
        }
    }
}

fn duplicates(count: usize, of: usize, example: &str) -> String {
    let are = if count == 1 { "is a duplicate" } else { "are duplicates" };
    format!("{count} of {of} rows {are}, for example {example}; remove duplicates that are mistakes")
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConstantFeatures(found) => {
                write!(
                    f,
                    "{found} the same value in every document, which is of no use to trees; check the data's source"
                )
            }
            Self::RareFeatures(found) => {
                write!(f, "{found} a value in fewer than 1 of {RARE} documents; check whether that is intended")
            }
            Self::CutFeatures(found) => write!(
                f,
                "{found} values that are infinite or beyond 3.4e38, which are replaced by the largest f32; scale them \
                 or take logarithms"
            ),
            Self::OneLabel(found) => {
                write!(
                    f,
                    "{found} only one distinct label, so there is no order to learn; check the labels{}",
                    found.if_many()
                )
            }
            Self::NoPairs(found) => write!(f, "{found} no pairs, so nothing is learnt from them"),
            Self::OneDoc(found) => {
                write!(
                    f,
                    "{found} only one document, so there is nothing to rank; check the query ids{}",
                    found.if_many()
                )
            }
            Self::Scattered(found) => write!(
                f,
                "{found} rows that are not contiguous; rows with the same query id count as one query, so give different \
                 queries different ids"
            ),
            Self::LabelsLikeIds { distinct, largest } => write!(
                f,
                "the labels are {distinct} different integers up to {largest}, which look like ids; check which \
                 field is the label: the first one of a LETOR line, or the label column of a table"
            ),
            Self::Twins { count, of, example: [first, second] } => {
                write!(f, "{}", duplicates(*count, *of, &format!("rows {first} and {second}")))
            }
        }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let examples: Vec<String> = self.examples.iter().map(u32::to_string).collect();
        let more = if self.count > examples.len() { ", ..." } else { "" };
        let verb = if self.count == 1 { "has" } else { "have" };
        let ids = format!("({} {}{more})", if self.count == 1 { "id" } else { "ids" }, examples.join(", "));
        match (self.count, self.of) {
            (_, 1) => write!(f, "the only feature {ids} {verb}"),
            (2, 2) => write!(f, "both features {ids} {verb}"),
            (count, of) if count == of => write!(f, "all {of} features {ids} {verb}"),
            (count, of) => write!(f, "{count} of {of} features {ids} {verb}"),
        }
    }
}

impl Queries {
    /// A condition on the advice, unless every query is concerned.
    fn if_many(&self) -> &'static str {
        if self.count == self.of { "" } else { " if there are many such queries" }
    }
}

impl fmt::Display for Queries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.count as f64 / self.of as f64;
        let verb = if self.count == 1 { "has" } else { "have" };
        match (self.count, self.of) {
            (_, 1) => write!(f, "the only query, {}, {verb}", self.example),
            (2, 2) => write!(f, "both queries {verb}"),
            (count, of) if count == of => write!(f, "all {of} queries {verb}"),
            (count, of) => write!(f, "{count} of {of} queries ({share:.1} %), for example {}, {verb}", self.example),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetBuilder, Row};

    type TestRow<'a> = (&'a str, f32, &'a [(u32, f32)]);

    fn remarks(rows: &[TestRow<'_>]) -> Vec<String> {
        let mut builder = DatasetBuilder::default();
        for (qid, label, features) in rows {
            builder.push(&Row { qid, label: *label, doc_id: "", features }).unwrap();
        }
        builder.finish().unwrap().remarks().iter().map(Remark::to_string).collect()
    }

    #[test]
    fn sound_data_gets_none() {
        assert_eq!(remarks(&[("a", 0.0, &[(1, 1.0)]), ("a", 1.0, &[(1, 2.0)])]), Vec::<String>::new());
        // A feature that only some documents have is informative.
        assert_eq!(remarks(&[("a", 0.0, &[(1, 1.0), (2, 1.0)]), ("a", 1.0, &[(1, 2.0)])]), Vec::<String>::new());
    }

    #[test]
    fn every_kind_is_found_counted_and_shown() {
        let found = remarks(&[
            ("a", 0.0, &[(1, 1.0), (2, 7.0), (3, f32::INFINITY)]),
            ("b", 1.0, &[(1, 2.0), (2, 7.0)]),
            ("a", 2.0, &[(1, 3.0), (2, 7.0)]),
            ("b", 1.0, &[(1, 2.0), (2, 7.0)]),
            ("c", 1.0, &[(1, 4.0), (2, 7.0)]),
        ]);
        let expected = [
            "1 of 3 features (id 2) has the same value in every document",
            "1 of 3 features (id 3) has values that are infinite or beyond 3.4e38",
            "1 of 3 queries (33.3 %), for example b, has only one distinct label, so",
            "1 of 3 queries (33.3 %), for example c, has only one document, so there is",
            "2 of 3 queries (66.7 %), for example a, have rows that are not contiguous",
            "1 of 5 rows is a duplicate, for example rows 2 and 4",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn labels_that_are_ids_and_features_that_are_rare() {
        let mut builder = DatasetBuilder::default();
        for row in 0..3000u16 {
            let features = [(1, f32::from(row)), (9, 1.0)];
            let features = if row < 2 { &features[..] } else { &features[..1] };
            builder.push(&Row { qid: "q", label: f32::from(row), doc_id: "", features }).unwrap();
        }
        let data = builder.finish().unwrap();
        let rare = Features { count: 1, of: 2, examples: vec![9] };
        let ids = Remark::LabelsLikeIds { distinct: 3000, largest: 2999.0 };
        assert_eq!(data.remarks(), [Remark::RareFeatures(rare), ids]);
    }
}
