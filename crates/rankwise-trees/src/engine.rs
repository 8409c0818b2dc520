//! What the expand loop asks of the data. Two engines answer: the plain one ([`crate::plain`]) and the fast one
//! ([`crate::fast`]). Both grow the same trees, bit for bit.

use crate::Sums;
use crate::bounds::Bounds;
use crate::context::TreeContext;
use crate::scan::{Side, Split};

/// A node whose best split is wanted.
#[derive(Debug)]
pub(crate) struct ScanNode<'a, H> {
    pub(crate) histogram: &'a H,
    pub(crate) rows: &'a [u32],
    pub(crate) whole: Side,
    pub(crate) bounds: Bounds,
}

/// Nodes that will share a question, and the features it may be about, ascending.
#[derive(Debug)]
pub(crate) struct ScanGroup<'a, H> {
    pub(crate) nodes: Vec<ScanNode<'a, H>>,
    pub(crate) features: Vec<usize>,
}

/// A divided node: its histogram, and its children.
#[derive(Debug)]
pub(crate) struct Parent<'a, H> {
    pub(crate) histogram: H,
    /// The rows of the smaller child.
    pub(crate) small_rows: &'a [u32],
    /// The sums of the smaller child, if it may be split, and of the larger one.
    pub(crate) small: Option<Sums>,
    pub(crate) large: Sums,
}

/// Sums histograms and searches them, for lists of nodes at a time.
pub(crate) trait Engine: Sync {
    /// Sums of gradients by feature and bin for one node.
    type Histogram: Send + Sync;

    /// What an engine keeps of a search whose result it has not made sure of.
    type Search: Send;

    /// How much memory a histogram takes.
    fn histogram_bytes(&self) -> usize;

    /// The histogram of a node, whose sums are given, from its rows alone.
    fn histogram_of(&self, tree: &TreeContext<'_>, rows: &[u32], whole: Sums) -> Self::Histogram;

    /// For each parent, the histograms of its smaller child, if it may be split, and of the larger one, which is what the
    /// parent has left.
    fn children(
        &self,
        tree: &TreeContext<'_>,
        parents: Vec<Parent<'_, Self::Histogram>>,
    ) -> Vec<(Option<Self::Histogram>, Self::Histogram)>;

    /// The best split of each group, if any is worth making. The gain may be too large, never too small, until
    /// [`Engine::confirm`] has made sure of it: most nodes never come that far.
    fn best_splits(
        &self,
        tree: &TreeContext<'_>,
        groups: &[ScanGroup<'_, Self::Histogram>],
    ) -> Vec<Option<(Split, Self::Search)>>;

    /// The best split that is allowed, given the best of the search so far and how many rows of each node it sends left
    /// and right. If it is the same one, the search is over; otherwise its gain may again be too large.
    fn confirm(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, Self::Histogram>,
        proposal: (Split, &[[usize; 2]]),
        search: &mut Self::Search,
    ) -> Option<Split>;

    /// The sums of the rows that a question sends left.
    fn left_sums(&self, histogram: &Self::Histogram, split: &Split) -> Sums;

    /// Takes back a histogram that is no longer needed.
    fn recycle(&self, histogram: Self::Histogram) {
        drop(histogram);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;
    use crate::fast::FastEngine;
    use crate::plain::PlainEngine;
    use crate::testing::{Oracle, TinyData, fixed_point, tiny_context, tiny_data, tiny_params, tiny_rows};

    /// The best split of the parts together, and the sums that go left in each.
    fn best<E: Engine>(
        engine: &E,
        tree: &TreeContext<'_>,
        parts: &[(&[u32], Bounds)],
        oracle: &Oracle<'_>,
    ) -> (Option<Split>, Vec<Sums>) {
        let histograms: Vec<E::Histogram> =
            parts.iter().map(|(rows, _)| engine.histogram_of(tree, rows, oracle.side(rows, |_| true).sums)).collect();
        let nodes = histograms.iter().zip(parts).map(|(histogram, (rows, bounds))| ScanNode {
            histogram,
            rows,
            whole: oracle.side(rows, |_| true),
            bounds: *bounds,
        });
        let group = ScanGroup { nodes: nodes.collect(), features: tree.features.clone() };
        let found = engine.best_splits(tree, std::slice::from_ref(&group)).pop().unwrap();
        let split = found.and_then(|(mut split, mut search)| {
            loop {
                let n_left = |rows: &[u32]| rows.iter().filter(|row| oracle.goes_left(&split, **row)).count();
                let counts: Vec<[usize; 2]> =
                    parts.iter().map(|(rows, _)| [n_left(rows), rows.len() - n_left(rows)]).collect();
                let next = engine.confirm(tree, &group, (split, &counts), &mut search)?;
                if next == split {
                    return Some(split);
                }
                split = next;
            }
        });
        let left = split.iter().flat_map(|split| histograms.iter().map(|histogram| engine.left_sums(histogram, split)));
        (split, left.collect())
    }

    fn check<E: Engine>(
        engine: &E,
        tree: &TreeContext<'_>,
        parts: &[(&[u32], Bounds)],
        (data, oracle): (&TinyData, &Oracle<'_>),
    ) -> Result<(), TestCaseError> {
        let (found, left) = best(engine, tree, parts, oracle);
        prop_assert_eq!(found, oracle.best(parts, tree.allows_empty_sides), "{} features", data.binned.n_features());
        if let Some(split) = found {
            for ((rows, _), left) in parts.iter().zip(left) {
                prop_assert_eq!(left, oracle.side(rows, |row| oracle.goes_left(&split, row)).sums);
            }
        }
        Ok(())
    }

    proptest! {
        /// Both engines, on every instruction set, against trying every threshold and direction on the rows themselves,
        /// with exact counts; with free values and with bound ones.
        #[test]
        fn splits_are_those_of_brute_force(
            rows in tiny_rows(50), params in tiny_params(), cuts in prop::collection::vec(0usize..50, 0..3), is_bound in any::<bool>(),
        ) {
            let data = tiny_data(&rows);
            let fixed = fixed_point(&rows, &data);
            let oracle = Oracle { data: &data.binned, fixed: &fixed, params: &params };
            let bounds = if is_bound { Bounds::FREE.split(1, -0.5, 0.0).1 } else { Bounds::FREE };
            // One node, or several that share a question.
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows.len())).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let parts: Vec<(&[u32], Bounds)> = cuts.windows(2).map(|pair| (&all[pair[0]..pair[1]], bounds)).collect();
            let tree = TreeContext { allows_empty_sides: parts.len() > 1, ..tiny_context(&data, &fixed, &params) };
            check(&PlainEngine::new(&data.binned), &tree, &parts, (&data, &oracle))?;
            // The fast engine looks at one node at a time.
            let tree = TreeContext { allows_empty_sides: false, ..tree };
            for simd in SimdLevel::available() {
                for part in &parts {
                    check(&FastEngine::new(&data.binned, simd), &tree, &[*part], (&data, &oracle))?;
                }
            }
        }
    }
}
