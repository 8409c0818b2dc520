//! Growth policies: which nodes are split next, and which must share a split.

use rankwise_params::param_enum;
use smallvec::{SmallVec, smallvec};

use crate::grow::Candidate;

/// The nodes of a group. Most groups have one.
pub(crate) type NodeIds = SmallVec<[usize; 1]>;

param_enum! {
    /// The growth policy of a tree.
    pub enum Growth {
        /// Split the leaf with the largest gain next.
        Leafwise = "leafwise" | "leaf-wise" | "lossguide",
        /// Level by level.
        Levelwise = "levelwise" | "level-wise" | "depthwise",
        /// Level by level, with the same split for all nodes of a level.
        Oblivious = "oblivious" | "symmetric" | "symmetrictree",
    }
}

impl Growth {
    /// New nodes in groups; the nodes of a group are split together or not at all.
    pub(crate) fn group(self, nodes: Vec<usize>) -> Vec<NodeIds> {
        match self {
            Self::Leafwise | Self::Levelwise => nodes.into_iter().map(|node| smallvec![node]).collect(),
            Self::Oblivious => vec![nodes.into()],
        }
    }

    /// Whether a side of a split may stay without rows. Where nodes share a question, it need not divide each of them.
    pub(crate) fn allows_empty_sides(self) -> bool {
        self == Self::Oblivious
    }

    /// Whether a tree with this many leaves may grow on.
    pub(crate) fn has_room(self, n_leaves: usize, limit: usize) -> bool {
        match self {
            Self::Leafwise | Self::Levelwise => n_leaves < limit,
            Self::Oblivious => limit / 2 >= n_leaves,
        }
    }

    /// Takes the candidates to be split now out of the queue; `room` is how many leaves may still be added, and `most` how
    /// many candidates may be taken where one is as good as many.
    pub(crate) fn next(self, queue: &mut Vec<Candidate>, room: usize, most: usize) -> Vec<Candidate> {
        match self {
            Self::Leafwise | Self::Oblivious => {
                let best = (0..queue.len()).min_by(|a, b| by_gain(&queue[*a], &queue[*b]));
                let fits = best.filter(|best| queue[*best].nodes.len() <= room);
                fits.map(|best| queue.swap_remove(best)).into_iter().collect()
            }
            Self::Levelwise => {
                let Some(level) = queue.iter().map(|candidate| candidate.depth).min() else { return Vec::new() };
                let (mut now, later) =
                    std::mem::take(queue).into_iter().partition::<Vec<_>, _>(|candidate| candidate.depth == level);
                *queue = later;
                // The last level may be cut short: the best splits go first, and the others wait, since some of those may
                // turn out not to be allowed.
                now.sort_by(by_gain);
                queue.extend(now.split_off(room.min(most).min(now.len())));
                now
            }
        }
    }

    /// Takes the candidates whose turn will most likely come next, that gain at least `cutoff` and are not applied yet. At most
    /// `most` splits are then applied ahead, those of before included.
    pub(crate) fn next_ahead(self, queue: &mut Vec<Candidate>, most: usize, cutoff: f64) -> Vec<Candidate> {
        // A level is looked at as a whole.
        if self != Self::Leafwise {
            return Vec::new();
        }
        let n_applied = queue.iter().filter(|candidate| candidate.is_applied()).count();
        let best = |queue: &[Candidate]| {
            let places = (0..queue.len()).filter(|idx| !queue[*idx].is_applied() && queue[*idx].split.gain >= cutoff);
            places.min_by(|a, b| by_gain(&queue[*a], &queue[*b]))
        };
        (n_applied..most).map_while(|_| best(queue).map(|best| queue.swap_remove(best))).collect()
    }
}

/// Larger gain first, then the older node.
pub(crate) fn by_gain(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.split.gain.total_cmp(&a.split.gain).then(a.age.cmp(&b.age))
}
