//! Converts numbers to text and back, exactly.
//!
//! Reading rounds to the nearest f64, then to the nearest f32. Writing produces the shortest text that reads back as
//! the same bits.

use std::io::Write;

use rankwise_data::telling_decimals;

/// The powers of ten that are exact in f64 and that a mantissa of at most 19 digits can need.
const POWERS_OF_TEN: [f64; 20] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];
/// Every integer up to here is an f64.
const MAX_EXACT_MANTISSA: u64 = 1 << 53;
/// Decimals whose digits, as an integer, are smaller, and that have at most nine places, can be recovered from their
/// f32. A test in `rankwise-data` shows it.
const TOLD_DIGITS: u64 = 1 << 23;
const TOLD_DECIMALS: usize = 9;
/// Every integer below is an f32.
const F32_EXACT_INTEGERS: f32 = 16_777_216.0;
/// Outside of this range, scientific notation is shorter.
const PLAIN_RANGE: std::ops::Range<f64> = 1e-5..1e16;

/// The value of a number token; `None` if it is not a number.
pub(crate) fn parse(token: &[u8]) -> Option<f64> {
    match parse_short(token) {
        Some(Short { value, len, .. }) if len == token.len() => Some(value),
        _ => parse_any(token),
    }
}

/// A finite number of 0 or more: a label or a weight.
pub(crate) fn parse_weight(token: &[u8]) -> Option<f32> {
    let weight = parse(token)? as f32;
    (weight.is_finite() && weight >= 0.0).then_some(weight)
}

/// The reference implementation for [`parse_short`].
pub(crate) fn parse_any(token: &[u8]) -> Option<f64> {
    fast_float2::parse(token).ok()
}

/// A short plain decimal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    pub(crate) value: f64,
    /// The length of its text.
    pub(crate) len: usize,
    pub(crate) digits: u64,
    pub(crate) n_decimals: usize,
}

impl Short {
    /// Whether it can be recovered from its f32 because it has few digits. Longer decimals need a separate check.
    #[inline]
    pub(crate) fn is_told(self) -> bool {
        self.digits < TOLD_DIGITS && self.n_decimals <= TOLD_DECIMALS
    }
}

/// Parses the plain decimal at the start of `bytes`, if it is short, and returns it with its length. The mantissa and
/// the power of ten are exact, so a single division rounds correctly (Clinger 1990, "How to read floating point numbers
/// accurately").
#[inline]
pub(crate) fn parse_short(bytes: &[u8]) -> Option<Short> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut mantissa = 0u64;
    let mut at = sign;
    while let Some(digit) = digit_at(bytes, at) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
        at += 1;
    }
    let mut n_digits = at - sign;
    let mut n_decimals = 0;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let point = at;
        while let Some(digit) = digit_at(bytes, at) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        n_decimals = at - point;
        n_digits += n_decimals;
    }
    // 19 digits fit in 64 bits; with more, the mantissa has overflowed.
    if n_digits == 0 || n_digits > 19 || mantissa > MAX_EXACT_MANTISSA {
        return None;
    }
    let value = mantissa as f64 / POWERS_OF_TEN[n_decimals];
    Some(Short { value: if sign == 1 { -value } else { value }, len: at, digits: mantissa, n_decimals })
}

#[inline]
fn digit_at(bytes: &[u8], at: usize) -> Option<u64> {
    let digit = bytes.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(digit.into())
}

/// Appends the shortest text that reads back as `value`.
pub(crate) fn push_f32(text: &mut Vec<u8>, value: f32) {
    if value.abs() < F32_EXACT_INTEGERS && value.trunc() == value {
        if value.is_sign_negative() {
            text.push(b'-');
        }
        push_u32(text, value.abs() as u32);
        return;
    }
    if push_short(text, value) {
        return;
    }
    let start = text.len();
    if value.is_finite() && !PLAIN_RANGE.contains(&f64::from(value.abs())) {
        append(text, format_args!("{value:e}"));
    } else {
        push_plain(text, f64::from(value), format_args!("{value}"));
    }
    // The shortest text for an f32 may, through the nearest f64, round to a neighbouring f32. An exhaustive search
    // found one such value and its negative.
    if value.is_finite() && parse(&text[start..]).map(|read| read as f32) != Some(value) {
        text.truncate(start);
        push_f64(text, value.into());
    }
}

/// Appends a value that is a short decimal, as most values in files are; returns whether it was one.
fn push_short(text: &mut Vec<u8>, value: f32) -> bool {
    let magnitude = value.abs();
    let Some(mut n_decimals) = telling_decimals(magnitude) else { return false };
    let scale = POWERS_OF_TEN[n_decimals];
    let scaled = (f64::from(magnitude) * scale).round();
    // The same division as in `parse_short`.
    if (scaled / scale) as f32 != magnitude || f64::from(magnitude) < PLAIN_RANGE.start {
        return false;
    }
    // The bounds keep this below 2^24.
    let mut mantissa = scaled as u32;
    while n_decimals > 0 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
        n_decimals -= 1;
    }
    let power = 10u32.pow(n_decimals as u32);
    if value.is_sign_negative() {
        text.push(b'-');
    }
    push_u32(text, mantissa / power);
    if n_decimals > 0 {
        text.push(b'.');
        let end = text.len() + n_decimals;
        text.resize(end, b'0');
        let mut rest = mantissa % power;
        for digit in text[end - n_decimals..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }
    true
}

/// Appends the shortest text that reads back as `value`.
pub(crate) fn push_f64(text: &mut Vec<u8>, value: f64) {
    if value == 0.0 || !value.is_finite() || PLAIN_RANGE.contains(&value.abs()) {
        push_plain(text, value, format_args!("{value}"));
    } else {
        append(text, format_args!("{value:e}"));
    }
}

fn push_plain(text: &mut Vec<u8>, value: f64, plain: std::fmt::Arguments<'_>) {
    if value.is_nan() {
        text.extend_from_slice(b"nan");
    } else {
        append(text, plain);
    }
}

fn append(text: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a vector takes any text");
}

/// Appends an integer.
pub(crate) fn push_u32(text: &mut Vec<u8>, mut value: u32) {
    let mut digits = [0u8; 10];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() && (a as f32).to_bits() == (b as f32).to_bits()
    }

    #[test]
    fn only_whole_short_decimals_take_the_short_way() {
        for (text, expected) in
            [("0", 0.0), ("-0", -0.0), (".5", 0.5), ("5.", 5.0), ("9007199254740992", 2f64.powi(53))]
        {
            let Short { value, len, .. } = parse_short(text.as_bytes()).unwrap();
            assert!(same(value, expected) && len == text.len(), "{text}");
            assert!(same(parse_any(text.as_bytes()).unwrap(), expected), "{text}");
        }
        for text in ["", "-", ".", "-.", "+1", "nan", "9007199254740993", "00000000000000000000"] {
            assert!(parse_short(text.as_bytes()).is_none(), "{text}");
        }
        for text in ["", "-", ".", "-.", "1.2.3", "1e", "0x10", "1_000", "1,5", " 1", "1 "] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
        assert_eq!(parse(b"1e3"), Some(1000.0));
        assert_eq!(parse(b"+2.5e-1"), Some(0.25));
        assert_eq!(parse(b"-inf"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn extreme_numbers_stay_short() {
        let text = |value: f64| {
            let mut text = Vec::new();
            push_f64(&mut text, value);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(text(f64::MAX), "1.7976931348623157e308");
        assert_eq!(text(5e-324), "5e-324");
        assert_eq!(text(-0.1), "-0.1");
        assert_eq!(text(-0.0), "-0");
        assert_eq!(text(f64::NAN), "nan");
    }

    #[test]
    fn a_text_that_rounds_twice_is_written_longer() {
        // The shortest text for the f32, but its nearest f64 is halfway to the neighbour.
        let value = f32::from_bits(0x15ae_43fd);
        assert_eq!(format!("{value:e}"), "7.038531e-26");
        assert_ne!(parse(b"7.038531e-26").unwrap() as f32, value);
        let mut text = Vec::new();
        push_f32(&mut text, value);
        assert_eq!(parse(&text).unwrap() as f32, value);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_short_way_equals_the_reference(text in "-?[0-9]{0,12}\\.?[0-9]{0,12}") {
            if let Some(Short { value, len, .. }) = parse_short(text.as_bytes()) {
                prop_assert_eq!(len, text.len());
                prop_assert!(same(value, parse_any(text.as_bytes()).unwrap()), "{}", text);
            }
        }

        #[test]
        fn a_prefix_is_never_taken_for_a_whole_number(text in "[-+0-9.e]{0,12}") {
            let (short, reference) = (parse(text.as_bytes()), parse_any(text.as_bytes()));
            prop_assert_eq!(short.map(f64::to_bits), reference.map(f64::to_bits), "{}", text);
        }

        #[test]
        fn f32_comes_back_bit_for_bit(bits: u32) {
            let value = f32::from_bits(bits);
            let mut text = Vec::new();
            push_f32(&mut text, value);
            let read = parse(&text).unwrap() as f32;
            prop_assert!(read.to_bits() == bits || (read.is_nan() && value.is_nan()));
        }

        #[test]
        fn short_decimals_are_written_as_the_standard_library_does(digits in 0u32..20_000_000, power in 0u32..10) {
            let value = (f64::from(digits) / 10f64.powi(power as i32)) as f32;
            for value in [value, -value] {
                let (mut text, mut short) = (Vec::new(), Vec::new());
                push_f32(&mut text, value);
                if push_short(&mut short, value) {
                    prop_assert_eq!(String::from_utf8(short).unwrap(), value.to_string());
                }
                prop_assert_eq!((parse(&text).unwrap() as f32).to_bits(), value.to_bits());
            }
        }

        #[test]
        fn f64_comes_back_bit_for_bit(bits: u64) {
            let value = f64::from_bits(bits);
            let mut text = Vec::new();
            push_f64(&mut text, value);
            let read = parse(&text).unwrap();
            prop_assert!(read.to_bits() == bits || (read.is_nan() && value.is_nan()));
        }

        #[test]
        fn integers_are_written_as_usual(value: u32) {
            let mut text = Vec::new();
            push_u32(&mut text, value);
            prop_assert_eq!(text, value.to_string().into_bytes());
        }
    }
}
