//! What can be wrong with rows, apart from how a file spells them.

/// Rows that cannot make a data set. Rows are counted from 1, in input order.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DataError {
    /// There are no rows.
    #[error("there are no rows; a data set needs at least one document")]
    Empty,
    /// The label is negative, infinite or not a number.
    #[error("row {row}: label {label} is not a finite number of 0 or more")]
    Label {
        /// The row.
        row: usize,
        /// Its label.
        label: f32,
    },
    /// The weight is negative, infinite or not a number.
    #[error("{what} {index}: weight {weight} is not a finite number of 0 or more")]
    Weight {
        /// `row` or `query`.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Its weight.
        weight: f32,
    },
    /// The weights of a row and of its query multiply to more than a number can hold.
    #[error("row {row}: its weight times that of its query is not a finite 32-bit number; scale the weights down")]
    WeightProduct {
        /// The row.
        row: usize,
    },
    /// A feature is given twice in one row.
    #[error("row {row}: feature {feature} is given twice; keep one value")]
    DuplicateFeature {
        /// The row.
        row: usize,
        /// The feature.
        feature: u32,
    },
    /// A list beside the rows has another length than they.
    #[error("the number of {what} is {given}, but the number of {of} is {expected}; give one for each")]
    Length {
        /// What was counted.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many were needed.
        expected: usize,
        /// What they belong to.
        of: &'static str,
    },
    /// The sizes of the queries do not add up to the rows.
    #[error("the query sizes add up to {sum}, but there are {rows} rows; give the number of rows of each query")]
    GroupSizes {
        /// What they add up to.
        sum: usize,
        /// The number of rows.
        rows: usize,
    },
    /// More rows than row numbers can count.
    #[error("{rows} rows are more than the {limit} that one data set can hold; split it by query")]
    TooManyRows {
        /// The number of rows.
        rows: usize,
        /// The limit.
        limit: usize,
    },
    /// The table of bins would not fit into memory.
    #[error("{rows} rows of {features} features need {} MB for their bins, more than there is; leave features out", rows * features / 1_000_000)]
    TooLarge {
        /// The number of rows.
        rows: usize,
        /// The number of features that are not constant.
        features: usize,
    },
}
