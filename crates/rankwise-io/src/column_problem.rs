//! What can be wrong with the columns of a table, or with the features of data: the texts of the errors.

/// What is wrong with the columns as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A name or number that no column has.
    #[error("{option} {typed}: no such column; {}he columns are {columns}", advice(nearest.as_deref()))]
    Unknown {
        /// Where it was given.
        option: String,
        /// What was given.
        typed: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
        /// What there is.
        columns: String,
    },
    /// One column is given two meanings.
    #[error("column {column} is used as {first} and {second}; use different columns")]
    TwoRoles {
        /// The column.
        column: String,
        /// One meaning.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Several columns have a usual name of one kind.
    #[error(
        "columns {first} and {second} could both be the {noun}; choose one with {option}, and ignore the other with \
         `ignore_columns`"
    )]
    Ambiguous {
        /// One column.
        first: String,
        /// The other.
        second: String,
        /// What they could be.
        noun: &'static str,
        /// The option that decides.
        option: &'static str,
    },
    /// No column has labels.
    #[error(
        "no label column{}; name it with `label_column`, or set `header` no if the first line is not a header; the \
         columns are {columns}",
        taken_note(taken.as_ref())
    )]
    NoLabel {
        /// A column that would be taken for it, and what it is used as.
        taken: Option<(String, &'static str)>,
        /// What there is.
        columns: String,
    },
    /// Neither a column nor a side file tells the queries.
    #[error(
        "no qid column{}; name it with `qid_column`{}; the columns are {columns}",
        taken_note(taken.as_ref()),
        sizes_advice(sizes.as_deref())
    )]
    NoQueries {
        /// A column that would be taken for it, and what it is used as.
        taken: Option<(String, &'static str)>,
        /// Where the sizes could be; none beside a stream.
        sizes: Option<String>,
        /// What there is.
        columns: String,
    },
    /// A table of one column, which is none.
    #[error("there is only one column; if fields are not separated by {separator}, set `separator`")]
    OneColumn {
        /// The separator in force.
        separator: &'static str,
    },
    /// Two columns have the same name.
    #[error("two columns are named {name}; rename one of them")]
    SameName {
        /// The name.
        name: String,
    },
    /// A column has no name.
    #[error("column {number} has no name; name it, or ignore it with `ignore_columns` {number}")]
    NoName {
        /// The column, from 0.
        number: usize,
    },
    /// The model or the training data has a feature that is not here.
    #[error("no column {feature}, which is a feature of the model; the columns are {columns}")]
    FeatureMissing {
        /// The feature.
        feature: String,
        /// What there is.
        columns: String,
    },
    /// Two columns could be a feature of the model.
    #[error(
        "columns {first} and {second} could both be the model's feature {feature}, since LightGBM writes _ for spaces; \
         ignore one of them with `ignore_columns`"
    )]
    TwoColumns {
        /// The feature.
        feature: String,
        /// One column.
        first: String,
        /// The other.
        second: String,
    },
    /// Other numbers for features that have names.
    #[error("features are identified by column name, so an offset has no meaning; remove `feature_offset`")]
    NamedAlready,
    /// Numbers or names for a cache, which keeps those it was made with.
    #[error(
        "a cache of binned data has its own feature numbers and names; set `feature_offset` and `feature_names` when making it"
    )]
    CacheNumbers,
    /// A feature whose number would be below 0 or too large.
    #[error("feature {feature} with an offset of {offset} is not a valid id; use another `feature_offset`")]
    Offset {
        /// The feature.
        feature: u32,
        /// What is to be added.
        offset: i32,
    },
    /// A feature of the data without a name.
    #[error("feature {feature} has no name in {file}; add a line with its number and name")]
    Nameless {
        /// The feature.
        feature: u32,
        /// The file of names.
        file: String,
    },
    /// A feature of the model without a number.
    #[error("the feature {feature} of the model is not in {file}; add a line with its number and name")]
    NameMissing {
        /// The feature.
        feature: String,
        /// The file of names.
        file: String,
    },
    /// A file of names gives a feature two names.
    #[error("feature {feature} has two names; keep one of them")]
    NumberTwice {
        /// The feature.
        feature: u32,
    },
    /// A file of names gives two features one name.
    #[error("two features are named {name}; rename one of them")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A file of names without any.
    #[error("there are no names; write one feature number and name per line")]
    NoNames,
    /// A column of a binary table is compressed in a way that is not read.
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
    /// A column of a kind that is not read.
    #[error("column {column} contains {found}, but should be a {noun}; {advice}")]
    Type {
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What it should be.
        noun: &'static str,
        /// What to do.
        advice: &'static str,
    },
}

fn advice(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "t".into(), |name| format!("did you mean {name}? T"))
}

fn taken_note(taken: Option<&(String, &'static str)>) -> String {
    taken.map_or_else(String::new, |(column, role)| format!(": column {column} is used as the {role}"))
}

fn sizes_advice(sizes: Option<&str>) -> String {
    let place = |sizes: &str| format!(", or write the number of rows of each query to {sizes}, one per line");
    sizes.map_or_else(String::new, place)
}
