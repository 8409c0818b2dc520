//! Variable-length integers: 7 bits per byte, lowest first; the highest bit says that more bytes follow.

/// Takes one off the front; `None` if it is truncated or too long.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends one.
#[cfg(test)]
pub(super) fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_taken() {
        let mut bytes = Vec::new();
        let values = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        for value in values {
            put(value, &mut bytes);
        }
        let mut rest = &bytes[..];
        assert_eq!(values.map(|_| take(&mut rest)), values.map(Some));
        assert_eq!(take(&mut rest), None);
        assert_eq!(take(&mut &[0x80; 20][..]), None);
    }
}
