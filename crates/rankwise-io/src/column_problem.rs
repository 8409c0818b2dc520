//! Errors in the columns of a table or in the features of data.

use rankwise_params::ParamValue as _;

use crate::options::{FeatureOwner, Separator};

/// A column that would have a role by its name, but is used or ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenColumn {
    /// The column.
    pub column: String,
    /// What it is used as; `None` if an option ignores it.
    pub role: Option<&'static str>,
}

/// An error in the columns as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// No column has this name or number.
    #[error("{option} {typed}: no such column; {}he columns are {columns}", advice(nearest.as_deref()))]
    Unknown {
        /// The option that names it.
        option: String,
        /// The name or number.
        typed: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
        /// The existing columns.
        columns: String,
    },
    /// A column has two roles.
    #[error("column {column} is used as {first} and {second}; use different columns")]
    TwoRoles {
        /// The column.
        column: String,
        /// One role.
        first: &'static str,
        /// The other role.
        second: &'static str,
    },
    /// A column that one option names and another ignores.
    #[error("column {column} is named by {option}, but ignored by `ignore_columns`; remove it from one of the two")]
    NamedAndIgnored {
        /// The column.
        column: String,
        /// The option that names it.
        option: &'static str,
    },
    /// Several columns have a usual name for the same role.
    #[error(
        "columns {first} and {second} could both be the {noun}; choose one with {option}, and ignore the other with \
         `ignore_columns`"
    )]
    Ambiguous {
        /// One column.
        first: String,
        /// The other.
        second: String,
        /// The role.
        noun: &'static str,
        /// The option that decides.
        option: &'static str,
    },
    /// There is no label column.
    #[error(
        "no label column{}{}; the columns are {columns}",
        naming_advice(taken.as_ref(), "label", "`label_column`"),
        header_advice(*is_header && taken.is_none())
    )]
    NoLabel {
        /// The column that would be it.
        taken: Option<TakenColumn>,
        /// Whether the names are the first line of a text.
        is_header: bool,
        /// What there is.
        columns: String,
    },
    /// Neither a column nor a side file tells the queries.
    #[error(
        "no qid column{}{}; the columns are {columns}",
        naming_advice(taken.as_ref(), "qid", "`qid_column`"),
        sizes_advice(sizes.as_deref())
    )]
    NoQueries {
        /// The column that would be it.
        taken: Option<TakenColumn>,
        /// The side file that could give query sizes; `None` for streams.
        sizes: Option<String>,
        /// The existing columns.
        columns: String,
    },
    /// A table with only one column, probably because of a wrong separator.
    #[error("there is only one column{}", one_column_advice(*separator, *is_typed))]
    OneColumn {
        /// The current separator.
        separator: Separator,
        /// Whether it was set by an option.
        is_typed: bool,
    },
    /// LETOR text that was read as a table.
    #[error("there is only one column, and its text looks like LETOR; set `data_format` letor")]
    LooksLikeLetor,
    /// Two columns have the same name.
    #[error("two columns are named {name}; rename one of them{}", header_advice(*is_header && is_number(name)))]
    SameName {
        /// The name.
        name: String,
        /// Whether the names are the first line of a text.
        is_header: bool,
    },
    /// A column has no name.
    #[error("column {number}, counted from 0, has no name; name it, or ignore it with `ignore_columns` {number}")]
    NoName {
        /// The column number, from 0.
        number: usize,
    },
    /// A feature of the model or the training data is not in this data.
    #[error(
        "no column {feature}, which is a feature of {owner}; the columns are {columns}{}",
        if *are_numbered { "; if these are the same features under numbers, give their names with `feature_names`, in a file with lines such as 1 bm25" } else { "" }
    )]
    FeatureMissing {
        /// What the feature belongs to.
        owner: FeatureOwner,
        /// The feature.
        feature: String,
        /// The existing columns.
        columns: String,
        /// Whether the names of the feature columns are feature ids.
        are_numbered: bool,
    },
    /// Two columns match a feature of the model.
    #[error(
        "columns {first} and {second} could both be the feature {feature} of {owner}, since LightGBM writes _ for spaces; \
         ignore one of them with `ignore_columns`"
    )]
    TwoColumns {
        /// What the feature belongs to.
        owner: FeatureOwner,
        /// The feature.
        feature: String,
        /// One column.
        first: String,
        /// The other.
        second: String,
    },
    /// A column description names a column that the table does not have.
    #[error("column {number} does not exist; the table has columns 0 to {last}")]
    Described {
        /// The number.
        number: String,
        /// The number of the last column.
        last: usize,
    },
    /// A column description without a line that is needed.
    #[error("no {noun} column; add a line with {kind} to {file}{}", sizes_advice(sizes.as_deref()))]
    NotDescribed {
        /// The role.
        noun: &'static str,
        /// Its name in descriptions.
        kind: &'static str,
        /// The description.
        file: String,
        /// The side file that could give query sizes instead.
        sizes: Option<String>,
    },
    /// Two lines of a column description for the same column.
    #[error("column {column} has two lines; keep one of them")]
    DescribedTwice {
        /// The number of the column.
        column: usize,
    },
    /// Two lines of a column description for the same role.
    #[error("columns {first} and {second} are both {kind}; keep one of them")]
    SameKind {
        /// The number of one column.
        first: usize,
        /// The number of the other.
        second: usize,
        /// The role's name in descriptions.
        kind: &'static str,
    },
    /// A column option next to a column description.
    #[error("{option} cannot be used with a column description; remove it, and give the column in {file}")]
    OptionAndDescription {
        /// The option.
        option: &'static str,
        /// The description.
        file: String,
    },
    /// `feature_offset` for features that have names.
    #[error("features are identified by column name, so an offset has no meaning; remove `feature_offset`")]
    NamedAlready,
    /// Feature numbers or names for a cache, which has its own.
    #[error(
        "a cache of binned data has its own feature numbers and names; set `feature_offset` and `feature_names` when making it"
    )]
    CacheNumbers,
    /// A feature number would become negative or too large.
    #[error("feature {feature} with an offset of {offset} is not a valid id; use another `feature_offset`")]
    Offset {
        /// The feature.
        feature: u32,
        /// The offset.
        offset: i32,
    },
    /// A feature of the data has no name.
    #[error("feature {feature} has no name in {file}; add a line with its number and name")]
    Nameless {
        /// The feature.
        feature: u32,
        /// The file of names.
        file: String,
    },
    /// A feature of the model has no number in the file of names.
    #[error("the feature {feature} of {owner} is not in {file}; add a line with its number and name")]
    NameMissing {
        /// What the feature belongs to.
        owner: FeatureOwner,
        /// The feature.
        feature: String,
        /// The file of names.
        file: String,
    },
    /// A file of names names a feature twice.
    #[error("feature {feature} has two names; keep one of them")]
    NumberTwice {
        /// The feature.
        feature: u32,
    },
    /// A file of names has the same name twice.
    #[error("two features are named {name}; rename one of them")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A file of names is empty.
    #[error("there are no names; write one feature number and name per line")]
    NoNames,
    /// A column is compressed in a way that is not supported.
    #[error(
        "column {column} is compressed with {codec}, which is not supported; write the file with snappy, zstd, gzip \
             or lz4"
    )]
    Codec {
        /// The column.
        column: String,
        /// The codec.
        codec: &'static str,
    },
    /// A column has a type that is not supported for its role.
    #[error("column {column} contains {found}, but should be a {noun}; {advice}")]
    Type {
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// Its role.
        noun: &'static str,
        /// What to do.
        advice: String,
    },
}

fn advice(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "t".into(), |name| format!("did you mean {name}? T"))
}

/// A number is probably not a name.
fn is_number(name: &str) -> bool {
    name.trim_matches('"').parse::<f64>().is_ok()
}

fn header_advice(is_doubtful: bool) -> &'static str {
    if is_doubtful { ", or set `header` no if the first line is not a header" } else { "" }
}

fn one_column_advice(separator: Separator, is_typed: bool) -> String {
    let shown = separator.render();
    match separator.byte() {
        b'\t' if is_typed => " with the separator tab; remove `separator` or set another".into(),
        _ if is_typed => format!(" with the separator '{shown}'; remove `separator` or set another"),
        b'\t' => "; if fields are not separated by tabs, set `separator`".into(),
        _ => "; if fields are not separated by commas, set `separator`".into(),
    }
}

/// Why there is no column for a role, and which option helps.
fn naming_advice(taken: Option<&TakenColumn>, noun: &str, option: &str) -> String {
    let Some(TakenColumn { column, role }) = taken else { return format!("; name it with {option}") };
    match role {
        None => format!(
            ": column {column} is ignored by `ignore_columns`; remove it from there, or name another {noun} column with {option}"
        ),
        Some(role) => format!(
            ": column {column} is used as the {role}; use another column as the {role}, or name another {noun} column with {option}"
        ),
    }
}

fn sizes_advice(sizes: Option<&str>) -> String {
    let place = |sizes: &str| format!(", or write the number of rows of each query to {sizes}, one per line");
    sizes.map_or_else(String::new, place)
}
