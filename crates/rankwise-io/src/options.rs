//! Options for reading data.

use std::fmt;
use std::path::{Path, PathBuf};

use rankwise_data::{Absent, DatasetBuilder, Keep};
use rankwise_params::{CrossCheck, ParamValue, Range, param_enum, param_group};

use crate::side_files::without_compression;

param_enum! {
    /// A format of ranking data.
    pub enum Format {
        /// LETOR text: `label qid:ID feature:value ...` per line.
        Letor = "letor",
        /// Comma-separated text.
        Csv = "csv",
        /// Tab-separated text.
        Tsv = "tsv",
        /// Apache Parquet.
        Parquet = "parquet",
    }
}

impl Format {
    /// File name extensions.
    const ENDINGS: [(&'static str, Self); 7] = [
        ("txt", Self::Letor),
        ("letor", Self::Letor),
        ("svm", Self::Letor),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("parquet", Self::Parquet),
        ("pq", Self::Parquet),
    ];

    /// The format that a file name's extension selects, compressed or not.
    pub fn of_name(path: &Path) -> Option<Self> {
        let plain = without_compression(path);
        let ending = plain.as_deref().unwrap_or(path).extension()?;
        let known = Self::ENDINGS.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name));
        known.map(|(_, format)| *format)
    }
}

param_enum! {
    /// Whether the first line of a CSV or TSV file names the columns.
    pub enum Header {
        /// It does if it has something else where a number is expected.
        Auto = "auto",
        /// It does.
        Yes = "yes",
        /// It does not.
        No = "no",
    }
}

param_enum! {
    /// The scope of query ids in datasets of several files.
    pub enum QidScope {
        /// Equal ids mean the same query in all files.
        Data = "data",
        /// Equal ids in different files mean different queries.
        File = "file",
    }
}

/// A field separator: an ASCII character that does not occur in numbers, ids or line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(u8);

impl Separator {
    /// `None` if the character can occur in numbers, ids or line ends.
    pub fn new(byte: u8) -> Option<Self> {
        let is_taken = byte.is_ascii_alphanumeric() || b"\"+-.\n\r".contains(&byte);
        (byte.is_ascii() && !is_taken).then_some(Self(byte))
    }

    pub(crate) fn byte(self) -> u8 {
        self.0
    }
}

impl ParamValue for Separator {
    fn kind() -> String {
        "one ASCII character other than a letter, a digit, a quote, +, - or . (tab for a tab)".into()
    }
    fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Self::new(b'\t'),
            [byte] => Self::new(*byte),
            _ => None,
        }
    }
    fn render(&self) -> String {
        if self.0 == b'\t' { "tab".into() } else { char::from(self.0).to_string() }
    }
}

param_group! {
    /// The layout of a data file: its format and the roles of its columns. A column is given by name or by number, from 0;
    /// `none` means that there is no such column.
    pub LayoutSpec => LayoutParams, SetLayout, "Data format" {
        /// Data format. auto: detected from the content and the file name.
        data_format: Option<Format> = None, Range::ANY, [];
        /// Label column, by name or by number from 0; `none` if absent. auto: found by its usual names; without a
        /// header, the first column is the label and the second the query id. The next five options work in the same way.
        label_column: Option<String> = None, Range::ANY, [];
        /// Query id column.
        qid_column: Option<String> = None, Range::ANY, [];
        /// Document id column.
        doc_column: Option<String> = None, Range::ANY, [];
        /// Document weight column.
        weight_column: Option<String> = None, Range::ANY, [];
        /// Query weight column.
        query_weight_column: Option<String> = None, Range::ANY, [];
        /// Column with the position at which each document was shown.
        position_column: Option<String> = None, Range::ANY, [];
        /// Columns to ignore, by name or number.
        ignore_columns: Vec<String> = Vec::new(), Range::ANY, [];
        /// Whether the first line of a CSV or TSV file is a header with column names.
        header: Header = Header::Auto, Range::ANY, [];
        /// Field separator of CSV and TSV files. auto: a comma or a tab, by the format.
        separator: Option<Separator> = None, Range::ANY, [];
        /// Column description file in CatBoost's format.
        column_description: Option<PathBuf> = None, Range::ANY, [];
        /// Whether equal query ids in several files mean the same query (data) or one query per file (file). With `file`, files
        /// are numbered in the order of their paths, and the ids of the second one become 2/ID, and so on.
        qid_scope: QidScope = QidScope::Data, Range::ANY, [];
        /// Number to add to the feature ids of LETOR data and of tables without column names, such as -1 if the data counts
        /// from 1 and the model from 0.
        feature_offset: i32 = 0, Range::ANY, [];
        /// File with feature names, one number and name per line, for data without names, such as LETOR. The numbers are
        /// feature ids with `feature_offset` already added.
        feature_names: Option<PathBuf> = None, Range::ANY, [];
    }
}

impl CrossCheck for LayoutSpec {}

impl LayoutSpec {
    /// An option that a column description replaces.
    pub(crate) fn described_option(&self) -> Option<&'static str> {
        let ignored = (!self.ignore_columns.is_empty()).then_some("`ignore_columns`");
        self.roles().into_iter().find_map(|(_, option, typed)| typed.map(|_| option)).or(ignored)
    }

    /// Whether an option is set that applies only to tables.
    pub(crate) fn has_columns(&self) -> bool {
        let of_any_form = Self {
            data_format: self.data_format,
            qid_scope: self.qid_scope,
            feature_offset: self.feature_offset,
            feature_names: self.feature_names.clone(),
            ..Self::default()
        };
        *self != of_any_form
    }

    /// Whether the options ignore a column, by name or number.
    pub(crate) fn ignores(&self, name: &str, number: usize) -> bool {
        self.ignore_columns.iter().any(|typed| typed == name || typed.parse() == Ok(number))
    }

    /// The options that name one column, with the column's role.
    pub(crate) fn roles(&self) -> [(Role, &'static str, Option<&str>); 6] {
        [
            (Role::Label, "`label_column`", self.label_column.as_deref()),
            (Role::Qid, "`qid_column`", self.qid_column.as_deref()),
            (Role::DocId, "`doc_column`", self.doc_column.as_deref()),
            (Role::Weight, "`weight_column`", self.weight_column.as_deref()),
            (Role::QueryWeight, "`query_weight_column`", self.query_weight_column.as_deref()),
            (Role::Position, "`position_column`", self.position_column.as_deref()),
        ]
    }
}

/// What the features belong to that data should have, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureOwner {
    /// A model that scores the data.
    Model,
    /// The start model of a run.
    StartModel,
    /// The training data, if the data is a validation set.
    TrainingData,
}

impl fmt::Display for FeatureOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "the model",
            Self::StartModel => "the start model",
            Self::TrainingData => "the training data",
        })
    }
}

/// How to read a dataset. What is not set is detected from the data.
///
/// ```
/// use rankwise_data::Absent;
/// use rankwise_io::{ReadOptions, SetLayout};
///
/// let options = ReadOptions::new(Absent::Missing).label_column(Some("grade".into())).ignore_columns(vec!["url".into()]);
/// assert_eq!(options.layout.label_column.as_deref(), Some("grade"));
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The value of features that are absent from a LETOR line.
    pub absent: Absent,
    /// The format and the roles of columns.
    pub layout: LayoutSpec,
    /// Whether labels may be missing because they are not needed; they are read as 0.
    pub is_label_optional: bool,
    /// Feature names with their ids: only columns with these names are read as features. Only for tables with column names.
    pub features: Option<Vec<(u32, String)>>,
    /// What the `features` belong to, for messages.
    pub feature_owner: FeatureOwner,
    /// Whether LightGBM named the `features`. It writes `_` for a space, so it is an error if one column has `_` and
    /// another a space. Otherwise the column with the exact name is used.
    pub is_named_by_lightgbm: bool,
    /// Whether other columns are read too; they get larger ids.
    pub takes_more_features: bool,
    /// How values that f32 cannot represent are kept.
    pub keep: Keep,
    /// A file of pairs, used if there is none next to the data.
    pub pairs: Option<PathBuf>,
}

impl ReadOptions {
    /// The defaults.
    pub fn new(absent: Absent) -> Self {
        Self {
            absent,
            layout: LayoutSpec::default(),
            is_label_optional: false,
            features: None,
            feature_owner: FeatureOwner::Model,
            is_named_by_lightgbm: false,
            takes_more_features: false,
            keep: Keep::default(),
            pairs: None,
        }
    }
}

impl ReadOptions {
    /// A builder for the rows.
    pub(crate) fn builder(&self) -> DatasetBuilder {
        let mut builder = DatasetBuilder::new(self.absent);
        if self.keep == Keep::All {
            builder.widen_all();
        }
        builder
    }
}

impl AsMut<LayoutSpec> for ReadOptions {
    fn as_mut(&mut self) -> &mut LayoutSpec {
        &mut self.layout
    }
}

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Label,
    Qid,
    DocId,
    Weight,
    QueryWeight,
    Position,
    /// The feature with this id.
    Feature(u32),
    /// Not used.
    Ignored,
}

impl Role {
    /// Its name in messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Qid => "qid",
            Self::DocId => "document id",
            Self::Weight => "document weight",
            Self::QueryWeight => "query weight",
            Self::Position => "position",
            Self::Feature(_) => "feature",
            Self::Ignored => "nothing",
        }
    }

    /// Its name in options and reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Qid => "qid",
            Self::DocId => "doc",
            Self::Weight => "weight",
            Self::QueryWeight => "query_weight",
            Self::Position => "position",
            Self::Feature(_) => "feature",
            Self::Ignored => "ignored",
        }
    }

    /// Usual names of columns with this role; the first is the one we write.
    pub(crate) fn usual_names(self) -> &'static [&'static str] {
        match self {
            Self::Label => &["label", "relevance", "target", "grade", "rel", "y"],
            Self::Qid => &["qid", "query_id", "queryid", "group_id", "groupid", "query"],
            Self::DocId => &["docid", "doc_id", "document_id", "sample_id"],
            Self::Weight => &["weight", "row_weight", "sample_weight"],
            Self::QueryWeight => &["query_weight", "group_weight"],
            Self::Position => &["position"],
            Self::Feature(_) | Self::Ignored => &[],
        }
    }

    /// Whether a column with this name gets this role by default.
    pub(crate) fn is_usual(self, name: &str) -> bool {
        let plain = name.to_ascii_lowercase().replace(['-', ' '], "_");
        self.usual_names().contains(&plain.as_str())
    }
}
