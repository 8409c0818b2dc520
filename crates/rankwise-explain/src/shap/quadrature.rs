//! Gauss-Legendre quadrature on the interval from 0 to 1: `n` points integrate polynomials of a degree up to `2 n - 1` exactly.

/// A point and its weight; the weights add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: f64,
    pub(crate) weight: f64,
}

/// Newton's method doubles the number of right digits in each step; the first guess has at least two.
const NEWTON_STEPS: usize = 8;

/// The points of a rule, ascending.
pub(crate) fn nodes(n: usize) -> Vec<Node> {
    let node = |idx: usize| {
        let guess = std::f64::consts::PI * (idx as f64 + 0.75) / (n as f64 + 0.5);
        let mut root = libm::cos(guess);
        for _ in 0..NEWTON_STEPS {
            let (value, slope) = legendre(n, root);
            root -= value / slope;
        }
        let (_, slope) = legendre(n, root);
        // The rule for -1 to 1 has the weights 2 / ((1 - x^2) p'(x)^2).
        Node { at: 0.5 - 0.5 * root, weight: 1.0 / ((1.0 - root * root) * slope * slope) }
    };
    (0..n).map(node).collect()
}

/// The Legendre polynomial of degree `n` at `x` in (-1, 1), and its derivative.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for degree in 2..=n {
        let degree = degree as f64;
        (before, value) = (value, ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree);
    }
    (value, n as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly() {
        for n in 1..=40 {
            let nodes = nodes(n);
            assert!(nodes.is_sorted_by(|a, b| a.at < b.at) && nodes[0].at > 0.0 && nodes[n - 1].at < 1.0, "{n}");
            for degree in 0..2 * n {
                let found: f64 = nodes.iter().map(|node| node.weight * node.at.powi(degree as i32)).sum();
                let expected = 1.0 / (degree as f64 + 1.0);
                assert!((found - expected).abs() < 1e-13, "{n} {degree}: {found} {expected}");
            }
        }
    }
}
