//! Random words for the documents of a query, four at a time: one for each of four samples.

use rankwise_data::SimdLevel;

use crate::QueryDocs;
use crate::kernel::noise::draw_words;
use crate::kernel::pairs::LANES;
use crate::objective::SAMPLE_STEP;

/// A draw has four words.
const SAMPLES_A_DRAW: u32 = 4;

/// The words of a query, and the keys to draw them.
#[derive(Debug, Default)]
pub(crate) struct Words {
    keys: Vec<u64>,
    ordinals: Vec<u32>,
    drawn: Vec<u32>,
}

impl Words {
    /// Draws what a sample needs, and returns which of the four words it uses. Samples are requested in ascending order
    /// from 0.
    pub(crate) fn of_sample(&mut self, docs: QueryDocs<'_>, sample: u32, simd: SimdLevel) -> usize {
        if sample == 0 {
            self.start(docs);
        }
        if sample.is_multiple_of(SAMPLES_A_DRAW) {
            draw_words(simd, &docs.noise.draw(), &self.keys, &self.ordinals, &mut self.drawn);
            self.keys.iter_mut().for_each(|key| *key = key.wrapping_add(SAMPLE_STEP));
        }
        (sample % SAMPLES_A_DRAW) as usize
    }

    /// The four words of each document; those of a group of lanes are contiguous, word by word.
    pub(crate) fn all(&self) -> &[u32] {
        &self.drawn
    }

    fn start(&mut self, docs: QueryDocs<'_>) {
        self.keys.clear();
        self.ordinals.clear();
        for doc in 0..docs.scores.len() {
            let (key, ordinal) = docs.noise.key(doc, 0);
            self.keys.push(key);
            self.ordinals.push(ordinal);
        }
        let n_padded = docs.scores.len().next_multiple_of(LANES);
        self.keys.resize(n_padded, 0);
        self.ordinals.resize(n_padded, 0);
        self.drawn.resize(4 * n_padded, 0);
    }
}
