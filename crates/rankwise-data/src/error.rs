//! Errors in rows, independent of any file format.

/// Rows that do not make a valid dataset. Rows are counted from 1, in input order.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DataError {
    /// There are no rows.
    #[error("there are no rows; a dataset needs at least one document")]
    Empty,
    /// The label is negative, infinite or not a number.
    #[error("row {row}: label {label} is not a number from 0 to 3.4e38")]
    Label {
        /// The row.
        row: usize,
        /// Its label.
        label: f32,
    },
    /// The weight is negative, infinite or not a number.
    #[error("{what} {index}: weight {weight} is not a number from 0 to 3.4e38")]
    Weight {
        /// "row", "query" or "pair".
        what: &'static str,
        /// Which one.
        index: usize,
        /// Its weight.
        weight: f32,
    },
    /// The product of a row weight and its query weight overflows.
    #[error("row {row}: the product of the document weight and the query weight exceeds 3.4e38; use smaller weights")]
    WeightProduct {
        /// The row.
        row: usize,
    },
    /// Weights or positions come from two sources.
    #[error("{what} are given twice, in a column and in a separate file; keep one of them")]
    GivenTwice {
        /// What is given twice.
        what: &'static str,
    },
    /// The rows of a query disagree about its weight.
    #[error("row {row}: the query weight is {weight} here, but {first} in an earlier row; use one weight per query")]
    QueryWeightDiffers {
        /// The row.
        row: usize,
        /// The weight in this row.
        weight: f32,
        /// The weight in the first row of the query.
        first: f32,
    },
    /// Weights are given by query id, but not for this query.
    #[error("query {qid:?} has no weight; give one for every query")]
    QueryWeightMissing {
        /// The query.
        qid: String,
    },
    /// A query has two weights.
    #[error("query {qid:?} has two weights; keep one")]
    QueryWeightTwice {
        /// The query.
        qid: String,
    },
    /// A pair is invalid. Pairs are counted from 1.
    #[error("pair {pair}: {problem}")]
    Pair {
        /// The pair.
        pair: usize,
        /// What is wrong with it.
        problem: PairProblem,
    },
    /// A value that is not a probability. Pairs are counted from 1.
    #[error("the probability of pair {pair} is {probability}; give a number from 0 to 1")]
    Probability {
        /// The pair.
        pair: usize,
        /// The given value.
        probability: f32,
    },
    /// A feature is given twice in one row.
    #[error("row {row}: feature {feature} is given twice; keep one value")]
    DuplicateFeature {
        /// The row.
        row: usize,
        /// The feature.
        feature: u32,
    },
    /// A list has another length than the number of rows or queries.
    #[error("the number of {what} is {given}, but the number of {of} is {expected}; the two must be equal")]
    Length {
        /// What the list contains.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many were needed.
        expected: usize,
        /// What they belong to.
        of: &'static str,
    },
    /// The number of values is not a multiple of the number of features.
    #[error(
        "{values} values cannot be divided into rows of {features} features; give every row a value for each feature"
    )]
    Shape {
        /// The number of values.
        values: usize,
        /// The number of features.
        features: usize,
    },
    /// A column has another length than the first. Columns are counted from 0, like features.
    #[error("column {column} has {given} values, but column 0 has {expected}; give all columns one value per row")]
    Column {
        /// The column.
        column: usize,
        /// Its length.
        given: usize,
        /// The length of the first column.
        expected: usize,
    },
    /// Invalid sparse rows.
    #[error("sparse rows: {problem}; use the layout of scipy's csr_matrix")]
    Csr {
        /// What is wrong.
        problem: String,
    },
    /// Nothing says which rows belong to which query.
    #[error("the rows have no queries; give a query id for each row, or the number of rows of each query")]
    NoQueries,
    /// An empty query id.
    #[error("row {row}: the query id is empty; give every row the id of its query")]
    EmptyQueryId {
        /// The row.
        row: usize,
    },
    /// A name that belongs to no feature, or to two.
    #[error("{name:?} is empty or the name of two features; give each feature a unique name")]
    FeatureName {
        /// The name.
        name: String,
    },
    /// The sizes of the queries do not add up to the number of rows.
    #[error("the query sizes add up to {sum}, but there are {rows} rows; give the number of rows of each query")]
    GroupSizes {
        /// What they add up to.
        sum: usize,
        /// The number of rows.
        rows: usize,
    },
    /// More rows than a dataset can hold.
    #[error("{rows} rows exceed the limit of {limit} per dataset; split the data by query")]
    TooManyRows {
        /// The number of rows.
        rows: usize,
        /// The limit.
        limit: usize,
    },
    /// The bins were made with another parameter value.
    #[error(
        "its bins were made with {name}={then}, but {name}={now} is set; use the same value, or make the cache again"
    )]
    CachedWith {
        /// The parameter.
        name: &'static str,
        /// The value at that time.
        then: String,
        /// The value now.
        now: String,
    },
    /// Two members have documents of the same query.
    #[error("query {qid:?} is in the data of two members; give each member whole queries")]
    QueryInTwoParts {
        /// The query.
        qid: String,
    },
    /// The members' parts of the data are incompatible.
    #[error("the members' data differ in {what}; prepare all of it in the same way")]
    PartsDiffer {
        /// What differs.
        what: &'static str,
    },
    /// A feature has different values that are equal as f32, in one part or across parts.
    #[error(
        "feature {feature} has different values that are equal as f32, which is not supported with several members; \
         round the feature to f32, or train on one machine"
    )]
    WideInOnePart {
        /// The feature.
        feature: u32,
    },
    /// Cached bins were made from one part alone.
    #[error("cached bins were made from a part of the data; give every member data with values")]
    CachedPart,
    /// Another member of the run has reported an error.
    #[error("another member of the run failed; see its message")]
    OtherMember,
    /// Other members of the run can no longer be reached.
    #[error("the other members of the run cannot be reached: {problem}")]
    MembersLost {
        /// Why.
        problem: String,
    },
    /// The table of bins would not fit into memory.
    #[error("{rows} rows of {features} features need {} MB for their bins, more than is available; use fewer features",
        rows * features / 1_000_000)]
    TooLarge {
        /// The number of rows.
        rows: usize,
        /// The number of features that are not constant.
        features: usize,
    },
}

/// What can be wrong with a pair of documents. Rows are counted from 0, as in the list of pairs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairProblem {
    /// It refers to a row that does not exist.
    #[error("there is no row {row}; pairs count rows from 0, so the last one is {}", rows - 1)]
    Row {
        /// The row number in the pair.
        row: u32,
        /// The number of rows.
        rows: usize,
    },
    /// It prefers a row to itself.
    #[error("row {row}, counted from 0, is both winner and loser; name two rows")]
    Itself {
        /// The row.
        row: u32,
    },
    /// Its rows belong to two queries.
    #[error("its rows belong to the queries {:?} and {:?}; both must be of the same query (pairs count rows from 0)", qids[0], qids[1])]
    Queries {
        /// The queries of winner and loser.
        qids: [String; 2],
    },
}
