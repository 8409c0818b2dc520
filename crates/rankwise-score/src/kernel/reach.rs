//! Turns answers into leaves: which documents reach which node, and their leaf numbers as bit planes.
//!
//! ```text
//!           1111                    documents that reach the root; its test passes 0110
//!          /    \
//!      0110      1001               each edge is one AND
//!     /    \
//!  0100    0010                     leaf 0, leaf 1, leaf 2: plane 0 (numbers 1, 3, ..) is 0010, plane 1 (2, 3, ..) 1001
//! ```

use crate::plan::Node;

/// Number of leaves whose planes are combined at once.
const GROUP: usize = 8;
/// Number of bits of a leaf's index in its group.
const GROUP_PLANES: usize = 3;
/// Maximum number of bits of a leaf number.
pub(crate) const MAX_PLANES: usize = 14;

/// Consecutive words of documents.
pub(crate) type Words<const W: usize> = [u64; W];

/// Finds the leaves of all documents: `planes[bit]` has the documents whose leaf number has this bit. `reach` is a
/// buffer for the nodes and then the leaves.
#[inline(always)]
pub(crate) fn planes<const W: usize>(
    nodes: &[Node],
    answers: &[Words<W>],
    reach: &mut [Words<W>],
    planes: &mut [Words<W>],
) {
    let n_nodes = nodes.len();
    reach[0] = [u64::MAX; W];
    for (place, node) in nodes.iter().enumerate() {
        let (here, passes) = (reach[place], answers[node.test as usize]);
        reach[usize::from(node.left)] = zip(here, passes, |here, passes| here & passes);
        reach[usize::from(node.right)] = zip(here, passes, |here, passes| here & !passes);
    }
    // The leaves give the lowest planes. They are merged into groups, which give the next planes, and so on.
    let mut n_left = n_nodes + 1;
    let leaves = &mut reach[n_nodes..];
    for planes in planes.chunks_mut(GROUP_PLANES) {
        let n_groups = n_left.div_ceil(GROUP);
        leaves[n_left..n_groups * GROUP].fill([0; W]);
        let mut low = [[0; W]; GROUP_PLANES];
        for group in 0..n_groups {
            let of = leaves.as_chunks::<GROUP>().0[group];
            let [of_01, of_23, of_45, of_67] = std::array::from_fn(|pair| or(of[2 * pair], of[2 * pair + 1]));
            let upper = or(of_45, of_67);
            low[0] = or(low[0], or(or(of[1], of[3]), or(of[5], of[7])));
            low[1] = or(low[1], or(of_23, of_67));
            low[2] = or(low[2], upper);
            leaves[group] = or(or(of_01, of_23), upper);
        }
        planes.copy_from_slice(&low[..planes.len()]);
        n_left = n_groups;
    }
}

#[inline(always)]
fn or<const W: usize>(a: Words<W>, b: Words<W>) -> Words<W> {
    zip(a, b, |a, b| a | b)
}

#[inline(always)]
fn zip<const W: usize>(a: Words<W>, b: Words<W>, join: impl Fn(u64, u64) -> u64) -> Words<W> {
    std::array::from_fn(|word| join(a[word], b[word]))
}

/// The buffer size that [`planes`] needs for a tree.
pub(crate) fn room(n_nodes: usize) -> usize {
    n_nodes + (n_nodes + 1).next_multiple_of(GROUP)
}
