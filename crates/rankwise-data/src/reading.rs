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
