//! Values of a few adjacent features in a block of documents, and the ranks of one of them.

use std::ops::Range;

use rankwise_model::Precision;
use rankwise_simd::SimdLevel;

use crate::kernel::masks::WORD_DOCS;
use crate::kernel::rank;
use crate::plan::Ruler;
use crate::{Documents, Value as _};

/// Number of features read together: adjacent values if documents are rows.
const FEATURES: usize = 1024;
/// The rank of missing values for tests that they fail.
const FAILS_ALL: u8 = u8::MAX;

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tile {
    features: Range<usize>,
    narrow: Vec<f32>,
    wide: Vec<f64>,
    pub(crate) ranks: Vec<[u8; WORD_DOCS]>,
    /// For each document, whether its value was missing; used only if some are.
    is_missing: Vec<bool>,
}

impl Tile {
    /// Begins a block with this many words of documents.
    pub(crate) fn start(&mut self, n_words: usize) {
        self.features = 0..0;
        self.ranks.resize(n_words, [0; WORD_DOCS]);
    }

    /// Ranks the values of the ruler's feature; missing values have rank 0.
    pub(crate) fn rank<D: Documents>(
        &mut self,
        simd: SimdLevel,
        precision: Precision,
        ruler: &Ruler,
        docs: &D,
        block: &Range<usize>,
        n_features: usize,
    ) {
        let is_wide = D::Value::IS_WIDE && precision == Precision::F64;
        if !self.features.contains(&ruler.feature) {
            self.features = ruler.feature..n_features.min(ruler.feature + FEATURES);
            let n_values = self.features.len() * block.len();
            let (features, block) = (self.features.clone(), block.clone());
            if is_wide {
                self.wide.resize(n_values, 0.0);
                docs.values(features, block, Into::into, &mut self.wide);
            } else {
                self.narrow.resize(n_values, 0.0);
                let saturated = |value: D::Value| value.narrow().clamp(-f32::MAX, f32::MAX);
                match precision {
                    Precision::F32 => docs.values(features, block, saturated, &mut self.narrow),
                    Precision::F64 => docs.values(features, block, D::Value::narrow, &mut self.narrow),
                }
            }
        }
        let start = (ruler.feature - self.features.start) * block.len();
        let ranks = &mut self.ranks.as_flattened_mut()[..block.len()];
        self.is_missing.clear();
        if is_wide {
            let values = &self.wide[start..][..block.len()];
            rank::ranks_f64(simd, &ruler.wide, values, ranks);
            if values.iter().fold(false, |any, value| any | value.is_nan()) {
                self.is_missing.extend(values.iter().map(|value| value.is_nan()));
            }
        } else {
            let values = &self.narrow[start..][..block.len()];
            rank::ranks_f32(simd, &ruler.narrow, values, ranks);
            if values.iter().fold(false, |any, value| any | value.is_nan()) {
                self.is_missing.extend(values.iter().map(|value| value.is_nan()));
            }
        }
    }

    /// Ranks missing values above all thresholds.
    pub(crate) fn fail_missing(&mut self) {
        for (rank, is_missing) in self.ranks.as_flattened_mut().iter_mut().zip(&self.is_missing) {
            *rank = if *is_missing { FAILS_ALL } else { *rank };
        }
    }
}
