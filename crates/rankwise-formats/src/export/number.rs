//! Numbers as text that all readers parse alike.

use super::{ExportError, Target};

/// The shortest text that reads back as the same f64.
pub(crate) fn text(number: f64) -> String {
    serde_json::Number::from_f64(number)
        .map_or_else(|| if number > 0.0 { "inf".into() } else { "-inf".into() }, |n| n.to_string())
}

/// Texts separated by spaces.
pub(crate) fn line<T>(numbers: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    numbers.into_iter().map(text).collect::<Vec<_>>().join(" ")
}

/// The nearest f32 as text. The digits are those of the same value as f64, so that readers that parse f64 and then
/// round get the same f32 as those that parse f32.
pub(crate) fn text_f32(number: f32) -> String {
    text(f64::from(number))
}

/// The nearest f32, if it is finite.
pub(crate) fn to_f32(target: Target, what: &'static str, value: f64) -> Result<f32, ExportError> {
    Some(value as f32).filter(|value| value.is_finite()).ok_or(ExportError::Range { target, what, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for value in [0.1, -0.1, 1e-50, -1e-50, 3.5, 1e39, -1e39, 16_777_217.0] {
            assert_eq!(text(value).parse(), Ok(value));
        }
        for value in [0.1_f32, f32::MAX, f32::MIN_POSITIVE, 1e-45, -0.0] {
            assert_eq!(text_f32(value).parse::<f64>().map(|read| read as f32), Ok(value));
            assert_eq!(text_f32(value).parse(), Ok(value));
        }
        assert_eq!((text(f64::INFINITY), text(1e300)), ("inf".into(), "1e+300".into()));
    }
}
