//! Ranges of numbers.

use std::fmt;

use crate::value::LIST;
use crate::{ParamError, ParamName, ParamValue};

/// An interval of numbers, open or closed at each end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    low_open: bool,
    high: f64,
    high_open: bool,
}

impl Range {
    /// Any finite number; also used for parameters that are not numbers.
    pub const ANY: Self = Self { low: f64::NEG_INFINITY, low_open: true, high: f64::INFINITY, high_open: true };

    /// From `low` to `high`, inclusive.
    pub const fn closed(low: f64, high: f64) -> Self {
        Self { low, low_open: false, high, high_open: false }
    }

    /// `low` or more.
    pub const fn at_least(low: f64) -> Self {
        Self { low, low_open: false, ..Self::ANY }
    }

    /// More than `low`.
    pub const fn above(low: f64) -> Self {
        Self { low, ..Self::ANY }
    }

    /// More than `low`, at most `high`.
    pub const fn above_to(low: f64, high: f64) -> Self {
        Self { low, low_open: true, high, high_open: false }
    }

    /// Between `low` and `high`, exclusive.
    pub const fn between(low: f64, high: f64) -> Self {
        Self { low, low_open: true, high, high_open: true }
    }

    /// A noun with the range: `a number above 0`, `an integer from 1 to 9`, `comma-separated numbers, each at least 0`.
    pub fn of(&self, noun: &str) -> String {
        let is_single = ["integer", "number", "value"].iter().any(|single| noun.ends_with(single));
        match self.to_string() {
            _ if *self == Self::ANY => noun.to_owned(),
            range if noun.starts_with(LIST) => format!("{noun}, each {range}"),
            range if !is_single => format!("{noun}, {range}"),
            range if range.starts_with("at ") => format!("{noun} of {range}"),
            range => format!("{noun} {range}"),
        }
    }

    /// Whether the numbers of a value are in the range.
    pub fn check(self, name: &ParamName, value: &impl ParamValue) -> Result<(), ParamError> {
        match value.numbers().into_iter().find(|number| !self.contains(*number)) {
            Some(bad) => Err(ParamError::OutOfRange { name: name.clone(), value: bad.to_string(), range: self }),
            None => Ok(()),
        }
    }

    /// Whether `value` is in the range; NaN never is.
    pub fn contains(&self, value: f64) -> bool {
        let above = if self.low_open { value > self.low } else { value >= self.low };
        let below = if self.high_open { value < self.high } else { value <= self.high };
        above && below
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_open { "above" } else { "at least" };
        let high = if self.high_open { "below" } else { "at most" };
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if !self.low_open && !self.high_open => write!(f, "from {} to {}", self.low, self.high),
            (true, true) => write!(f, "{low} {} and {high} {}", self.low, self.high),
            (true, false) => write!(f, "{low} {}", self.low),
            (false, true) => write!(f, "{high} {}", self.high),
            (false, false) => write!(f, "finite"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_open_or_closed_as_declared() {
        assert!(Range::closed(0.0, 1.0).contains(0.0) && Range::closed(0.0, 1.0).contains(1.0));
        assert!(!Range::above(0.0).contains(0.0) && Range::above(0.0).contains(1e-300));
        assert!(Range::between(0.0, 1.0).contains(0.5) && !Range::between(0.0, 1.0).contains(1.0));
        assert!(!Range::above_to(0.0, 1.0).contains(1.5) && Range::above_to(0.0, 1.0).contains(1.0));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Range::ANY.contains(value), "{value}");
        }
        assert_eq!(Range::above_to(0.0, 1.0).to_string(), "above 0 and at most 1");
    }

    #[test]
    fn a_noun_with_its_range_is_a_phrase() {
        let phrases = [
            (Range::above(0.0), "auto or a number", "auto or a number above 0"),
            (Range::at_least(0.0), "an integer", "an integer of at least 0"),
            (Range::closed(1.0, 9.0), "an integer", "an integer from 1 to 9"),
            (Range::at_least(0.0), "comma-separated numbers", "comma-separated numbers, each at least 0"),
            (Range::ANY, "a name", "a name"),
        ];
        for (range, noun, phrase) in phrases {
            assert_eq!(range.of(noun), phrase);
        }
    }
}
