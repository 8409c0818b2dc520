//! Which features may move the score in one direction only.

use std::collections::BTreeMap;

use rankwise_params::ParamValue;

/// Directions by feature id; features that are not named are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monotone(BTreeMap<u32, i8>);

impl Monotone {
    /// 1, 0 or -1.
    pub fn direction(&self, feature: u32) -> i8 {
        self.0.get(&feature).copied().unwrap_or(0)
    }

    /// The features that are constrained, ascending.
    pub fn features(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
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
        Some(Self(directions))
    }

    fn render(&self) -> String {
        self.0.iter().map(|(feature, direction)| format!("{feature}:{direction}")).collect::<Vec<_>>().join(",")
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
        for text in ["2", "x:1", "3:1,3:-1", "1:", ","] {
            assert_eq!(Monotone::parse(text), None, "{text}");
        }
    }
}
