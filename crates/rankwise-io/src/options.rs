//! What a caller can say about the data to be read.

use std::path::{Path, PathBuf};

use rankwise_data::{Absent, DatasetBuilder, Keep};
use rankwise_params::{CrossCheck, ParamValue, Range, param_enum, param_group};

use crate::side_files::without_compression;

param_enum! {
    /// A form of ranking data.
    pub enum Format {
        /// `label qid:ID feature:value ...` in each line.
        Letor = "letor",
        /// Text with commas.
        Csv = "csv",
        /// Text with tabs.
        Tsv = "tsv",
        /// Apache Parquet.
        Parquet = "parquet",
    }
}

impl Format {
    /// The endings of files.
    const ENDINGS: [(&'static str, Self); 7] = [
        ("txt", Self::Letor),
        ("letor", Self::Letor),
        ("svm", Self::Letor),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("parquet", Self::Parquet),
        ("pq", Self::Parquet),
    ];

    /// The format that the end of a name calls for, compressed or not.
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
        /// It does if something stands there that is not a number, where there should be one.
        Auto = "auto",
        /// It does.
        Yes = "yes",
        /// It does not.
        No = "no",
    }
}

param_enum! {
    /// How far a query id reaches in data of several files.
    pub enum QidScope {
        /// Equal ids mean one query, in whatever file they stand.
        Data = "data",
        /// Equal ids in different files mean different queries.
        File = "file",
    }
}

/// What separates the fields of a line: an ASCII character that neither numbers nor ids nor the ends of lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(u8);

impl Separator {
    /// `None` where numbers, ids or lines hold the character.
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
        "one ASCII character that numbers, ids and line ends do not hold, tab".into()
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
    /// How data is laid out in a file: its format, and which columns of a table mean what. A column is given by its name or by
    /// its number, from 0; `none` says that there is no such column.
    pub LayoutSpec => LayoutParams, SetLayout, "Form of the data" {
        /// Form of the data; auto goes by its content and its name.
        data_format: Option<Format> = None, Range::ANY, [];
        /// Column with the labels, by name or by number from 0; none if there is none. The next five options work alike. auto
        /// finds columns by their usual names; without a header the label comes first, then the qid.
        label_column: Option<String> = None, Range::ANY, [];
        /// Column with the ids of the queries.
        qid_column: Option<String> = None, Range::ANY, [];
        /// Column with the ids of the documents.
        doc_column: Option<String> = None, Range::ANY, [];
        /// Column with the weights of the documents.
        weight_column: Option<String> = None, Range::ANY, [];
        /// Column with the weights of the queries.
        query_weight_column: Option<String> = None, Range::ANY, [];
        /// Column with the positions at which documents were shown.
        position_column: Option<String> = None, Range::ANY, [];
        /// Columns to ignore, separated by commas.
        ignore_columns: Vec<String> = Vec::new(), Range::ANY, [];
        /// Whether the first line of CSV or TSV names the columns.
        header: Header = Header::Auto, Range::ANY, [];
        /// What separates the fields of CSV or TSV; auto goes by the format.
        separator: Option<Separator> = None, Range::ANY, [];
        /// File that says which column is what, in CatBoost's format.
        column_description: Option<PathBuf> = None, Range::ANY, [];
        /// Whether equal query ids in several files mean one query (data) or one for each file (file), which is then called
        /// 2/ID in the second file by path.
        qid_scope: QidScope = QidScope::Data, Range::ANY, [];
        /// Number to add to the feature ids of LETOR data, and of tables without names: -1 where the data counts from 1 and the
        /// model from 0.
        feature_offset: Option<i32> = None, Range::ANY, [];
        /// File with the number and the name of a feature in each line, for data that has no names, such as LETOR; tables with a
        /// header have their own. The numbers count after `feature_offset`.
        feature_names: Option<PathBuf> = None, Range::ANY, [];
    }
}

impl CrossCheck for LayoutSpec {}

impl LayoutSpec {
    /// Whether anything is said that only a table can have.
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

    /// The options that name one column, with what the column holds.
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

/// How to read a data set. What is not said is found out from the data.
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
    /// What a feature left out of a LETOR line means.
    pub absent: Absent,
    /// The format, and which columns of a table mean what.
    pub layout: LayoutSpec,
    /// Whether rows may have no label, because nothing depends on it: it is 0 then.
    pub is_label_optional: bool,
    /// Names of features with their ids: the columns with these names are read, and no others. Only for tables that name
    /// their columns.
    pub features: Option<Vec<(u32, String)>>,
    /// Whether `features` were named by LightGBM, which writes `_` for a blank: then a column with either is refused beside one
    /// with the other. Otherwise a column of the very name comes first.
    pub is_named_by_lightgbm: bool,
    /// Whether other columns are read, too, and get ids beyond those.
    pub takes_more_features: bool,
    /// What is kept of values that f32 does not hold.
    pub keep: Keep,
    /// A file of pairs, where there is none beside the data.
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
            is_named_by_lightgbm: false,
            takes_more_features: false,
            keep: Keep::default(),
            pairs: None,
        }
    }
}

impl ReadOptions {
    /// What takes the rows that are read.
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

/// What a column holds.
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
    /// Nothing that is wanted.
    Ignored,
}

impl Role {
    /// The noun of messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Qid => "qid",
            Self::DocId => "document id",
            Self::Weight => "row weight",
            Self::QueryWeight => "query weight",
            Self::Position => "position",
            Self::Feature(_) => "feature",
            Self::Ignored => "nothing",
        }
    }

    /// What users call it.
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

    /// Names that columns of this kind usually have, the first one in files of our own.
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

    /// Whether a column of this name is taken for one of this kind.
    pub(crate) fn is_usual(self, name: &str) -> bool {
        let plain = name.to_ascii_lowercase().replace(['-', ' '], "_");
        self.usual_names().contains(&plain.as_str())
    }
}
