//! From values to pixels, and round numbers for axes.

/// Maps a range of values to a range of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    from: [f64; 2],
    to: [f64; 2],
    is_log: bool,
}

impl Scale {
    /// Values in proportion.
    pub(super) fn linear(from: [f64; 2], to: [f64; 2]) -> Self {
        Self { from, to, is_log: false }
    }

    /// Values by their logarithm; those below the first count as the first.
    pub(super) fn log(from: [f64; 2], to: [f64; 2]) -> Self {
        let low = from[0].max(f64::MIN_POSITIVE);
        Self { from: [low.ln(), from[1].max(low).ln()], to, is_log: true }
    }

    /// The pixel of a value, inside the range.
    pub(super) fn at(&self, value: f64) -> f64 {
        let [low, high] = self.from;
        let value = if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        // Not a number: as if at the start.
        let share = if share.is_nan() { 0.0 } else { share };
        self.to[0] + share * (self.to[1] - self.to[0])
    }
}

/// The smallest range of all finite values; 0 to 1 if there are none.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let found = finite.fold(None, |found: Option<[f64; 2]>, value| {
        let [low, high] = found.unwrap_or([value, value]);
        Some([low.min(value), high.max(value)])
    });
    found.unwrap_or([0.0, 1.0])
}

/// A range that begins and ends at ticks, with about `n` round numbers.
pub(super) fn rounded([low, high]: [f64; 2], n: usize) -> ([f64; 2], Vec<f64>) {
    let (low, high) = if high > low { (low, high) } else { widened(low) };
    let step = step((high - low) / n.max(1) as f64);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    if !(step.is_normal() && (last - first) < 100.0) {
        return ([low, high], vec![low, high]);
    }
    let n_steps = (last - first).max(1.0) as usize;
    // Multiples of the step, not sums, so that 0.3 is 0.3; and no negative 0.
    let ticks: Vec<f64> = (0..=n_steps).map(|idx| (first + idx as f64) * step + 0.0).collect();
    ([ticks[0].min(low), ticks[n_steps].max(high)], ticks)
}

/// Around a single value.
fn widened(value: f64) -> (f64, f64) {
    if value == 0.0 { (0.0, 1.0) } else { (value - 0.1 * value.abs(), value + 0.1 * value.abs()) }
}

/// The next of 1, 2, 5, 10, ... times a power of ten.
fn step(at_least: f64) -> f64 {
    let power = 10f64.powf(at_least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= at_least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Ticks of a logarithmic axis from 1: 1, 2, 5, 10, 20, ...
pub(super) fn log_ticks(high: f64) -> Vec<f64> {
    let powers = (0..18).map(|power| 10f64.powi(power));
    powers.flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power)).take_while(|tick| *tick <= high).collect()
}

/// A tick as text, with the decimals that the distance of ticks asks for.
pub(super) fn label(value: f64, step: f64) -> String {
    let size = value.abs().max(step.abs());
    if size >= 1e7 || (size < 1e-5 && size > 0.0) {
        return format!("{value:.0e}");
    }
    let decimals = (-(step.abs() * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.decimals$}");
    if decimals == 0 { grouped(&text) } else { text }
}

/// 12345 as 12,345.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut out = sign.to_owned();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(range: [f64; 2], n: usize) -> Vec<String> {
        let (_, ticks) = rounded(range, n);
        let step = ticks[1] - ticks[0];
        ticks.into_iter().map(|tick| label(tick, step)).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(shown([0.0, 1.0], 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(shown([0.4213, 0.4487], 5), ["0.42", "0.43", "0.44", "0.45"]);
        assert_eq!(shown([0.0, 1234.0], 4), ["0", "500", "1,000", "1,500"]);
        assert_eq!(shown([-0.31, 0.07], 4), ["-0.4", "-0.3", "-0.2", "-0.1", "0.0", "0.1"]);
        assert_eq!(shown([0.0, 1e-7], 2), ["0e0", "5e-8", "1e-7"]);
        for [low, high] in [[0.1, 0.3], [-5.0, 17.0], [3e-9, 4e-9], [1e12, 5e12], [0.0, 1e-300]] {
            for n in 2..8 {
                let ([first, last], ticks) = rounded([low, high], n);
                assert!(first <= low && last >= high && ticks.len() <= 2 * n + 3, "{low} {high} {n}: {ticks:?}");
            }
        }
    }

    #[test]
    fn a_single_value_and_no_value_have_a_range() {
        assert_eq!(range([]), [0.0, 1.0]);
        assert_eq!(range([f64::NAN, f64::INFINITY, 2.0]), [2.0, 2.0]);
        let ([low, high], ticks) = rounded([2.0, 2.0], 4);
        assert!(low < 2.0 && high > 2.0 && ticks.len() >= 3);
        assert_eq!(rounded([0.0, 0.0], 2).0, [0.0, 1.0]);
        let (_, ticks) = rounded([f64::MIN, f64::MAX], 4);
        assert!(ticks.len() >= 2);
    }

    #[test]
    fn values_outside_and_numbers_that_are_none_stay_inside() {
        let scale = Scale::linear([0.0, 10.0], [100.0, 200.0]);
        assert_eq!([-5.0, 0.0, 5.0, 50.0, f64::NAN].map(|value| scale.at(value)), [100.0, 100.0, 150.0, 200.0, 100.0]);
        let log = Scale::log([1.0, 100.0], [0.0, 10.0]);
        assert!((log.at(10.0) - 5.0).abs() < 1e-9 && log.at(0.0) == 0.0 && log.at(-1.0) == 0.0);
        assert_eq!(Scale::linear([1.0, 1.0], [0.0, 10.0]).at(1.0), 5.0);
        assert_eq!(log_ticks(60.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    }
}
