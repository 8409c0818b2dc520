//! Between which values a node's leaves must stay, so that constrained features move the score one way only.

/// An interval of leaf values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// No limit.
    pub const FREE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Whether there is no limit.
    pub fn is_free(self) -> bool {
        self == Self::FREE
    }

    /// The nearest allowed value.
    pub fn clamp(self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// The bounds of two children, given the values they would have as leaves: on a constrained feature they keep to
    /// their sides of the middle.
    pub fn split(self, direction: i8, left: f64, right: f64) -> (Self, Self) {
        let middle = f64::midpoint(left, right);
        match direction {
            1 => (Self { high: middle, ..self }, Self { low: middle, ..self }),
            -1 => (Self { low: middle, ..self }, Self { high: middle, ..self }),
            _ => (self, self),
        }
    }
}
