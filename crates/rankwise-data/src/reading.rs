//! What the reader is told by the parameters of training.

use rankwise_params::{CrossCheck, Range, param_group};

use crate::Absent;

param_group! {
    /// What data means where it says nothing.
    pub ReadingSpec => ReadingParams, SetReading, "Reading" {
        /// What a feature left out of a LETOR line means.
        absent: Absent = Absent::Missing, Range::ANY, [];
    }
}

impl CrossCheck for ReadingSpec {}

/// What is kept of values that f32 does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: values are rounded to f32.
    Rounded,
    /// Everything, but features are f32 unless that would make two different values of a feature equal. For training.
    #[default]
    WhereNeeded,
    /// Everything, at 64 bits. For models that compare f64 values, such as LightGBM's, and for conversions.
    All,
}
