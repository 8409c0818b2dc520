//! Buffers for scoring.

use crate::tile::Tile;

/// Buffers for scoring, created once and reused.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) tile: Tile,
    pub(crate) answers: Aligned,
    pub(crate) reach: Aligned,
    /// The ranks of one document.
    pub(crate) ranks: Vec<u8>,
    /// The outputs of a block, if there are several: those of the first output, then those of the second, ...
    pub(crate) planes: Vec<f64>,
    /// Values of some documents, feature by feature, for models that score documents one by one.
    pub(crate) columns: Vec<f64>,
    /// The values of one of these documents.
    pub(crate) row: Vec<f64>,
}

/// Words aligned to cache lines, so that no vector crosses two lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligned {
    memory: Vec<u64>,
    len: usize,
}

impl Aligned {
    const LINE_BYTES: usize = 64;

    pub(crate) fn resize(&mut self, len: usize) {
        self.len = len;
        self.memory.resize(len + Self::LINE_BYTES / size_of::<u64>(), 0);
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        let start = self.memory.as_ptr().align_offset(Self::LINE_BYTES);
        &mut self.memory[start..start + self.len]
    }
}
