//! How many leaves a tree may have, by its number.

use rankwise_params::ParamValue;

/// Most leaves from a tree on; before the first entry `num_leaves` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeavesSchedule(Vec<(usize, usize)>);

impl LeavesSchedule {
    /// Most leaves of a tree, counted from 0.
    pub(crate) fn at(&self, tree: usize) -> Option<usize> {
        self.0.iter().rev().find(|(first, _)| *first <= tree).map(|(_, leaves)| *leaves)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl ParamValue for LeavesSchedule {
    fn kind() -> String {
        "a list of tree:leaves in ascending order of trees; leaves is an integer".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut entries: Vec<(usize, usize)> = Vec::new();
        for entry in text.split(',').filter(|_| !text.trim().is_empty()) {
            let (tree, leaves) = entry.split_once(':')?;
            let entry = (tree.trim().parse().ok()?, leaves.trim().parse().ok()?);
            if entries.last().is_some_and(|last| last.0 >= entry.0) {
                return None;
            }
            entries.push(entry);
        }
        Some(Self(entries))
    }

    fn render(&self) -> String {
        self.0.iter().map(|(tree, leaves)| format!("{tree}:{leaves}")).collect::<Vec<_>>().join(",")
    }

    /// The range is that of `num_leaves`.
    fn numbers(&self) -> Vec<f64> {
        self.0.iter().map(|(_, leaves)| *leaves as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_hold_from_their_tree_on() {
        let schedule = LeavesSchedule::parse("2:8, 10:16,300:64").unwrap();
        let at = [0, 1, 2, 9, 10, 299, 300, 10_000].map(|tree| schedule.at(tree));
        assert_eq!(at, [None, None, Some(8), Some(8), Some(16), Some(16), Some(64), Some(64)]);
        assert_eq!(LeavesSchedule::parse(&schedule.render()), Some(schedule));
        assert!(LeavesSchedule::parse("").unwrap().is_empty());
        for text in ["8", "a:8", "0:8,0:9", "5:8,2:9", "0:", ",", "-1:4", "0:2.5"] {
            assert_eq!(LeavesSchedule::parse(text), None, "{text}");
        }
    }
}
