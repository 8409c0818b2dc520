//! What a leaf is worth.

/// How strongly leaf values are drawn to 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regularisation {
    pub(crate) l1: f64,
    pub(crate) l2: f64,
}

impl Regularisation {
    /// The value that minimises `grad * v + hess * v^2 / 2 + l1 |v| + l2 v^2 / 2`; 0 where that has no minimum.
    pub(crate) fn leaf_value(self, grad: f64, hess: f64) -> f64 {
        let shrunk = (grad.abs() - self.l1).max(0.0).copysign(grad);
        let denominator = hess + self.l2;
        if denominator > 0.0 { -shrunk / denominator } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimises_the_regularised_loss() {
        for (grad, hess, l1, l2) in [(3.0, 2.0, 0.5, 1.0), (-3.0, 2.0, 0.5, 0.0), (0.3, 1.0, 0.5, 0.0)] {
            let value = Regularisation { l1, l2 }.leaf_value(grad, hess);
            let loss = |v: f64| grad * v + hess * v * v / 2.0 + l1 * v.abs() + l2 * v * v / 2.0;
            assert!(loss(value) <= loss(value + 1e-4) && loss(value) <= loss(value - 1e-4), "{value}");
        }
        assert_eq!(Regularisation { l1: 0.0, l2: 0.0 }.leaf_value(1.0, 0.0), 0.0);
    }
}
