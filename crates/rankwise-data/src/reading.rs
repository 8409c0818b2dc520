//! Training parameters that affect how data is read.

use rankwise_params::{CrossCheck, Range, param_group};

use crate::Absent;

param_group! {
    /// How data is interpreted.
    pub ReadingSpec => ReadingParams, SetReading, "Reading" {
        /// Value of features that are absent from a LETOR line.
        absent: Absent = Absent::Missing, Range::ANY, [];
    }
}

impl CrossCheck for ReadingSpec {}

/// How values that f32 cannot represent are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Rounded to f32.
    Rounded,
    /// As f32, unless rounding would make two different values of a feature equal; then as f64. For training.
    #[default]
    WhereNeeded,
    /// As f64. For models that compare f64 values, such as LightGBM's, and for conversions.
    All,
}
