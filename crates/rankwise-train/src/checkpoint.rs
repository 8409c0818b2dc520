//! The state of a run as bytes, so that another process can resume it and train the same model.
//!
//! A checkpoint has everything that the next round depends on and that does not follow from data and parameters, and the
//! origin of the run ([`origin`]). Of boosting, that is the trees, all scores to the last bit (adding trees up in another
//! order would change them) and the best state so far; of other learners, what they save. The caller handles files.
//!
//! ```text
//! "rankwise-checkpoint\n" | version: u32 | content, in postcard's form | checksum: u64, XXH3 of all before it
//! ```

mod error;
mod origin;

use std::borrow::Cow;

use rankwise_model::Tree;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use self::error::CheckpointError;
pub(crate) use self::origin::Origin;
use crate::MetricValue;

/// Increase this when the content changes, or when the same data and parameters train another model.
const FORMAT_VERSION: u32 = 6;
const MAGIC: &[u8] = b"rankwise-checkpoint\n";
const VERSION_BYTES: usize = size_of::<u32>();
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// A run that can be resumed, read from bytes and verified.
#[derive(Clone, Debug)]
pub struct Checkpoint(pub(crate) Content<'static>);

impl Checkpoint {
    /// Reads the bytes of [`Progress::checkpoint`](crate::Progress::checkpoint). Any bytes give a checkpoint or an
    /// error.
    pub fn read(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let damaged = |problem: &str| CheckpointError::Damaged { problem: problem.into() };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("not a checkpoint"))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut off"))?;
        // Check the version first: a newer program may keep its checksum elsewhere.
        let found = u32::from_le_bytes(*version);
        if found > FORMAT_VERSION {
            return Err(CheckpointError::Newer { found, known: FORMAT_VERSION });
        }
        let (content, checksum) = rest.split_last_chunk().ok_or_else(|| damaged("it is cut off"))?;
        let covered = &bytes[..bytes.len() - CHECKSUM_BYTES];
        if xxh3_64(covered) != u64::from_le_bytes(*checksum) {
            return Err(damaged("wrong checksum"));
        }
        if found != FORMAT_VERSION {
            return Err(CheckpointError::Older { found, known: FORMAT_VERSION });
        }
        let (content, left) = postcard::take_from_bytes(content).map_err(|error| damaged(&error.to_string()))?;
        if !left.is_empty() {
            return Err(damaged("it is too long"));
        }
        Ok(Self(content))
    }

    /// The number of rounds before the checkpoint was made.
    pub fn tree(&self) -> usize {
        match &self.0 {
            Content::Boosting(state) => state.n_tried,
            Content::Rounds(state) => state.n_rounds,
        }
    }

    /// The origin of the run.
    pub(crate) fn origin(&self) -> &Origin {
        match &self.0 {
            Content::Boosting(state) => &state.origin,
            Content::Rounds(state) => &state.origin,
        }
    }
}

/// The content of a checkpoint: borrowed from a run for writing, owned after reading.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Content<'a> {
    Boosting(State<'a>),
    Rounds(RoundsState<'a>),
}

/// The state of a learner that is not boosting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoundsState<'a> {
    pub(crate) origin: Cow<'a, Origin>,
    pub(crate) n_rounds: usize,
    pub(crate) best: Cow<'a, BestRound>,
    /// The metrics after each round; see [`History`](crate::History).
    pub(crate) history: Cow<'a, [f64]>,
    /// What the learner saved.
    pub(crate) learner: Vec<u8>,
}

/// The round with the best validation metric so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BestRound {
    pub(crate) round: usize,
    pub(crate) values: Vec<MetricValue>,
    /// What the learner saved then.
    pub(crate) learner: Vec<u8>,
}

/// The state of a run of boosting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State<'a> {
    pub(crate) origin: Cow<'a, Origin>,
    /// Rounds so far; those without a split are not in `trees`.
    pub(crate) n_tried: usize,
    pub(crate) best: Cow<'a, Best>,
    /// The metrics after each round; see [`History`](crate::History).
    pub(crate) history: Cow<'a, [f64]>,
    /// Features are indices into the binned data.
    pub(crate) trees: Cow<'a, [Tree]>,
    /// The factor of each round in `trees`; empty if all are 1.
    pub(crate) factors: Cow<'a, [f64]>,
    /// In canonical order: for the first output, then for the second, ...
    pub(crate) scores: Cow<'a, [f64]>,
    pub(crate) valid_scores: Vec<Cow<'a, [f64]>>,
    /// The rows that the last tree was grown from, ascending, if they were selected by scores that no longer exist.
    pub(crate) selected: Cow<'a, [u32]>,
}

/// The state with the best validation metric so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Best {
    /// Rounds up to then.
    pub(crate) iteration: usize,
    /// Trees in the model at that time.
    pub(crate) n_trees: usize,
    /// Their factors at that time.
    pub(crate) factors: Vec<f64>,
    pub(crate) values: Vec<MetricValue>,
}

/// The sizes of the parts of a run.
pub(crate) struct Shape<'a> {
    pub(crate) outputs: usize,
    /// Number of scores: one per document and output.
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) valid_rows: &'a [usize],
    pub(crate) metrics: usize,
    /// Whether the factors of trees change.
    pub(crate) has_factors: bool,
    /// Whether a start model was evaluated first.
    pub(crate) has_start: bool,
}

impl Content<'_> {
    /// The bytes of the file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let n_bytes = match self {
            Self::Boosting(state) => {
                let n_valid = state.valid_scores.iter().map(|scores| scores.len()).sum::<usize>();
                (state.scores.len() + n_valid) * size_of::<f64>()
            }
            Self::Rounds(state) => state.learner.len() + state.best.learner.len(),
        };
        let mut bytes = Vec::with_capacity(MAGIC.len() + VERSION_BYTES + n_bytes);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        let mut bytes = postcard::to_extend(self, bytes).expect("numbers, strings and lists always have a form");
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

impl State<'_> {
    /// Checks that a run can resume from this state. The state of a run with the same origin always fits, but the bytes
    /// are not trusted.
    pub(crate) fn check_fit(&self, shape: &Shape<'_>) -> Result<(), CheckpointError> {
        let valid_rows: Vec<usize> = self.valid_scores.iter().map(|scores| scores.len()).collect();
        let mut all_scores = self.valid_scores.iter().chain([&self.scores]).flat_map(|scores| scores.iter());
        let mut features = self.trees.iter().flat_map(|tree| &tree.parts().feature);
        let n_values = self.best.values.len();
        let n_wanted = shape.valid_rows.len() * shape.metrics;
        let n_measured = self.n_tried.saturating_add(usize::from(shape.has_start));
        let n_factors = |n_trees: usize| if shape.has_factors { n_trees / shape.outputs } else { 0 };
        let fits = self.scores.len() == shape.rows
            && valid_rows == shape.valid_rows
            && all_scores.all(|score| score.is_finite())
            && self.selected.is_sorted_by(|a, b| a < b)
            && self.selected.last().is_none_or(|row| (*row as usize) < shape.rows / shape.outputs)
            && features.all(|feature| (*feature as usize) < shape.features)
            && self.trees.len() <= self.n_tried.saturating_mul(shape.outputs)
            && self.trees.len().is_multiple_of(shape.outputs)
            && self.best.n_trees.is_multiple_of(shape.outputs)
            && self.best.n_trees <= self.trees.len()
            && self.factors.len() == n_factors(self.trees.len())
            && self.best.factors.len() == n_factors(self.best.n_trees)
            && self.factors.iter().chain(&self.best.factors).all(|factor| factor.is_finite())
            && self.best.iteration <= self.n_tried
            && self.history.len() == n_wanted.saturating_mul(n_measured)
            && (n_values == n_wanted || (n_values == 0 && self.n_tried == 0));
        if fits { Ok(()) } else { Err(CheckpointError::inconsistent()) }
    }
}

impl RoundsState<'_> {
    /// [`State::check_fit`] for this number of values per round; the learner checks its own part.
    pub(crate) fn check_fit(&self, n_values: usize) -> Result<(), CheckpointError> {
        let best = &self.best;
        let fits = best.round <= self.n_rounds
            && self.history.len() == n_values.saturating_mul(self.n_rounds)
            && best.values.len() == if best.round == 0 { 0 } else { n_values };
        if fits { Ok(()) } else { Err(CheckpointError::inconsistent()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State<'static> {
        State {
            origin: Cow::Owned(Origin::default()),
            n_tried: 3,
            best: Cow::Owned(Best::default()),
            history: Cow::Owned(Vec::new()),
            trees: Cow::Owned(vec![Tree::constant(0.1 + 0.2, 5)]),
            factors: Cow::Owned(vec![0.5]),
            scores: Cow::Owned(vec![0.1 + 0.2, -0.0, f64::MIN_POSITIVE]),
            valid_scores: vec![Cow::Owned(vec![1e-300])],
            selected: Cow::Owned(vec![0, 2]),
        }
    }

    #[test]
    fn a_state_comes_back_bit_for_bit() {
        let bytes = Content::Boosting(state()).to_bytes();
        let read = Checkpoint::read(&bytes).unwrap();
        assert_eq!(read.tree(), 3);
        assert_eq!(read.0.to_bytes(), bytes);
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        let Content::Boosting(read) = read.0 else { panic!() };
        assert_eq!(bits(&read.scores), bits(&state().scores));
    }

    #[test]
    fn rounds_come_back_and_are_checked() {
        let value = MetricValue { set: "valid".into(), metric: "map".into(), value: 0.25 };
        let state = RoundsState {
            origin: Cow::Owned(Origin::default()),
            n_rounds: 2,
            best: Cow::Owned(BestRound { round: 1, values: vec![value], learner: vec![1, 2] }),
            history: Cow::Owned(vec![0.25, 0.125]),
            learner: vec![3],
        };
        let bytes = Content::Rounds(state.clone()).to_bytes();
        let read = Checkpoint::read(&bytes).unwrap();
        assert_eq!((read.tree(), read.0.to_bytes()), (2, bytes));
        assert_eq!(state.check_fit(1), Ok(()));
        assert!(state.check_fit(2).is_err() && state.check_fit(0).is_err());
        let early = RoundsState { n_rounds: 0, ..state };
        assert!(early.check_fit(1).is_err());
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = Content::Boosting(state()).to_bytes();
        for len in 0..bytes.len() {
            assert!(matches!(Checkpoint::read(&bytes[..len]), Err(CheckpointError::Damaged { .. })), "{len} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Checkpoint::read(&damaged).is_err(), "bit {bit}");
        }
        assert!(Checkpoint::read(&[&bytes[..], b"x"].concat()).is_err());
    }

    #[test]
    fn other_versions_are_told_apart_from_damage() {
        let versioned = |version: u32| {
            let mut bytes = Content::Boosting(state()).to_bytes();
            bytes[MAGIC.len()..MAGIC.len() + VERSION_BYTES].copy_from_slice(&version.to_le_bytes());
            let covered = bytes.len() - CHECKSUM_BYTES;
            let checksum = xxh3_64(&bytes[..covered]);
            bytes[covered..].copy_from_slice(&checksum.to_le_bytes());
            Checkpoint::read(&bytes).unwrap_err()
        };
        let known = FORMAT_VERSION;
        assert_eq!(versioned(known + 1), CheckpointError::Newer { found: known + 1, known });
        assert_eq!(versioned(1), CheckpointError::Older { found: 1, known });
    }

    #[test]
    fn a_state_of_another_shape_is_refused() {
        type Damage = fn(&mut State<'static>);
        let shape = Shape {
            outputs: 1,
            rows: 3,
            features: 2,
            valid_rows: &[1],
            metrics: 0,
            has_factors: true,
            has_start: false,
        };
        assert_eq!(state().check_fit(&shape), Ok(()));
        let damages: [Damage; 12] = [
            |state| state.scores.to_mut().truncate(1),
            |state| state.scores.to_mut()[0] = f64::NAN,
            |state| state.valid_scores.clear(),
            |state| state.n_tried = 0,
            |state| state.best.to_mut().n_trees = 2,
            |state| state.best.to_mut().iteration = 4,
            |state| state.history.to_mut().push(0.5),
            |state| state.factors.to_mut().clear(),
            |state| state.factors.to_mut()[0] = f64::INFINITY,
            |state| state.best.to_mut().factors.push(1.0),
            |state| state.selected.to_mut().push(3),
            |state| state.selected.to_mut().reverse(),
        ];
        for damage in damages {
            let mut state = state();
            damage(&mut state);
            assert!(state.check_fit(&shape).is_err(), "{state:?}");
        }
    }
}
