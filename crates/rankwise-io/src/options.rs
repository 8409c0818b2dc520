//! What a caller can say about the data to be read.

use std::path::{Path, PathBuf};

use rankwise_data::Absent;

use crate::side_files::without_compression;

/// A form of ranking data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `label qid:ID feature:value ...`
    Letor,
    /// A table with commas.
    Csv,
    /// A table with tabs.
    Tsv,
    /// A table in columns, binary.
    Parquet,
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

/// Whether the first line of a CSV or TSV file names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if something stands there that is not a number, where there should be one.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// How to read a data set.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// What a feature left out of a LETOR line means.
    pub absent: Absent,
    /// The format; otherwise the content and the name tell it.
    pub format: Option<Format>,
    /// Which columns of a table mean what.
    pub columns: ColumnOptions,
    /// Names of features with their ids: the columns with these names are read, and no others. Only for tables that name
    /// their columns.
    pub features: Option<Vec<(u32, String)>>,
    /// Whether other columns are read, too, and get ids beyond those.
    pub takes_more_features: bool,
    /// A file of pairs, where there is none beside the data.
    pub pairs: Option<PathBuf>,
}

impl ReadOptions {
    /// The defaults.
    pub fn new(absent: Absent) -> Self {
        Self {
            absent,
            format: None,
            columns: ColumnOptions::default(),
            features: None,
            takes_more_features: false,
            pairs: None,
        }
    }
}

/// Which columns of a table mean what. A column is given by its name or by its number, from 0; `none` says that there is
/// no such column. What is not given is found by name, or without names by place.
#[derive(Clone, Debug, Default)]
pub struct ColumnOptions {
    /// The relevance.
    pub label: Option<String>,
    /// The query.
    pub qid: Option<String>,
    /// The document's name.
    pub doc_id: Option<String>,
    /// The weight of the row.
    pub weight: Option<String>,
    /// The weight of the query.
    pub query_weight: Option<String>,
    /// Where the document was shown.
    pub position: Option<String>,
    /// Columns to pass over.
    pub ignore: Vec<String>,
    /// Whether the first line names the columns.
    pub header: Header,
    /// What stands between the fields of a line; otherwise the format tells it.
    pub separator: Option<u8>,
    /// A file that says which column is what, as CatBoost reads it.
    pub description: Option<PathBuf>,
    /// Whether rows may have no label, because nothing depends on it: it is 0 then.
    pub is_label_optional: bool,
}

impl ColumnOptions {
    /// Whether anything is said that only a table can have.
    pub(crate) fn are_given(&self) -> bool {
        self.roles().iter().any(|(_, _, typed)| typed.is_some())
            || !self.ignore.is_empty()
            || self.header != Header::Auto
            || self.separator.is_some()
            || self.description.is_some()
    }

    /// The options that name one column, with what the column holds.
    pub(crate) fn roles(&self) -> [(Role, &'static str, Option<&str>); 6] {
        [
            (Role::Label, "`label_column`", self.label.as_deref()),
            (Role::Qid, "`qid_column`", self.qid.as_deref()),
            (Role::DocId, "`doc_column`", self.doc_id.as_deref()),
            (Role::Weight, "`weight_column`", self.weight.as_deref()),
            (Role::QueryWeight, "`query_weight_column`", self.query_weight.as_deref()),
            (Role::Position, "`position_column`", self.position.as_deref()),
        ]
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
