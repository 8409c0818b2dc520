//! Which features may move the score in one direction only.

use std::collections::BTreeMap;

use rankwise_params::ParamValue;

/// Longer lists are not written out in messages.
const MAX_WRITTEN: usize = 8;

/// Directions by feature id; features that are not named are free.
#[derive(Clone, Debug, Default)]
pub struct Monotone {
    directions: BTreeMap<u32, i8>,
    /// Whether it was typed as one direction per feature, for messages.
    is_list: bool,
}

/// However it was typed.
impl PartialEq for Monotone {
    fn eq(&self, other: &Self) -> bool {
        self.directions == other.directions
    }
}

impl Eq for Monotone {}

impl Monotone {
    /// 1, 0 or -1.
    pub fn direction(&self, feature: u32) -> i8 {
        self.directions.get(&feature).copied().unwrap_or(0)
    }

    /// The features that are constrained, ascending.
    pub fn features(&self) -> impl Iterator<Item = u32> {
        self.directions.keys().copied()
    }

    /// What is wrong and what to do, if a constrained feature is not among the ids of the data, which ascend.
    pub fn problem(&self, ids: &[u32]) -> Option<String> {
        let is_known = |feature: &u32| ids.binary_search(feature).is_ok();
        let unknown = self.features().find(|feature| !is_known(feature))?;
        let known = match ids {
            [] => String::new(),
            [only] => format!(" (id {only})"),
            [first, .., last] => format!(" (ids {first} to {last})"),
        };
        if !self.is_list {
            let direction = self.direction(unknown);
            return Some(format!(
                "feature {unknown} is not in the data{known}; correct the id, or remove {unknown}:{direction}"
            ));
        }
        let moved: BTreeMap<u32, i8> =
            self.directions.iter().map(|(feature, direction)| (feature.saturating_add(1), *direction)).collect();
        // A list for ids that count from 1, written as in programs that count from 0.
        if unknown == 0 && ids.first() == Some(&1) && moved.keys().all(is_known) {
            let moved = Self { directions: moved, is_list: true };
            return Some(format!(
                "a list starts with feature 0, which is not in the data{known}; put a 0 in front{}, or write id:direction \
                 pairs, such as {}",
                moved.list().map_or_else(String::new, |list| format!(" ({list})")),
                moved.first_pairs()
            ));
        }
        let example = ids.first().map_or_else(String::new, |first| format!(", such as {first}:1"));
        Some(format!(
            "a list has directions for features 0, 1, 2 and so on, but feature {unknown} is not in the data{known}; correct \
             the list, or write id:direction pairs{example}"
        ))
    }

    /// One direction per feature, if they are few.
    fn list(&self) -> Option<String> {
        let last = self.features().last().filter(|last| (*last as usize) < MAX_WRITTEN)?;
        Some((0..=last).map(|feature| self.direction(feature).to_string()).collect::<Vec<_>>().join(","))
    }

    /// Some pairs, as an example.
    fn first_pairs(&self) -> String {
        let some = self.directions.iter().take(MAX_WRITTEN / 2).map(|(feature, direction)| (*feature, *direction));
        Self { directions: some.collect(), is_list: false }.render()
    }
}

impl ParamValue for Monotone {
    fn kind() -> String {
        "a list of id:direction with directions 1 and -1, or one direction per feature".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
        let mut directions = BTreeMap::new();
        for (position, entry) in text.split(',').enumerate().filter(|_| !text.trim().is_empty()) {
            let (feature, direction) = match entry.split_once(':') {
                Some((feature, direction)) => (feature.trim().parse().ok()?, direction),
                None => (position as u32, entry),
            };
            let direction = direction.trim().trim_start_matches('+').parse().ok()?;
            if !(-1..=1).contains(&direction) || directions.insert(feature, direction).is_some() {
                return None;
            }
        }
        directions.retain(|_, direction| *direction != 0);
        Some(Self { directions, is_list: !text.contains(':') })
    }

    fn render(&self) -> String {
        self.directions
            .iter()
            .map(|(feature, direction)| format!("{feature}:{direction}"))
            .collect::<Vec<_>>()
            .join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_lists_are_read() {
        let pairs = Monotone::parse("3:1, 7:-1").unwrap();
        assert_eq!([3, 7, 1].map(|feature| pairs.direction(feature)), [1, -1, 0]);
        assert_eq!(Monotone::parse("(0,1,-1)").unwrap().render(), "1:1,2:-1");
        assert_eq!(Monotone::parse(&pairs.render()), Some(pairs));
        assert_eq!(Monotone::parse("").unwrap(), Monotone::default());
        assert_eq!(Monotone::parse("0,1"), Monotone::parse("1:1"));
        for text in ["2", "x:1", "3:1,3:-1", "1:", ","] {
            assert_eq!(Monotone::parse(text), None, "{text}");
        }
    }

    #[test]
    fn features_that_the_data_lacks_are_explained_in_the_form_that_was_typed() {
        let problem = |text: &str, ids: &[u32]| Monotone::parse(text).unwrap().problem(ids).unwrap_or_default();
        assert_eq!(problem("1:1,3:-1", &[1, 2, 3]), "");
        assert_eq!(problem("0,1,0,-1", &[1, 2, 3]), "");
        assert_eq!(
            problem("1:1,9:-1", &[1, 2, 3]),
            "feature 9 is not in the data (ids 1 to 3); correct the id, or remove 9:-1"
        );
        assert_eq!(
            problem("1,0,-1", &[1, 2, 3]),
            "a list starts with feature 0, which is not in the data (ids 1 to 3); put a 0 in front (0,1,0,-1), or write \
             id:direction pairs, such as 1:1,3:-1"
        );
        let ids: Vec<u32> = (1..=20).collect();
        let long = problem(&["1"; 20].join(","), &ids);
        assert!(long.ends_with("; put a 0 in front, or write id:direction pairs, such as 1:1,2:1,3:1,4:1"), "{long}");
        // The list would be too long with another entry.
        assert_eq!(
            problem("1,0,0,-1", &[1, 2, 3]),
            "a list has directions for features 0, 1, 2 and so on, but feature 0 is not in the data (ids 1 to 3); correct the \
             list, or write id:direction pairs, such as 1:1"
        );
        assert!(problem("0,0,1", &[0, 1]).contains("feature 2 is not in the data (ids 0 to 1)"));
    }
}
