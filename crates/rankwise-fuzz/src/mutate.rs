//! Damages valid inputs.

/// The largest input.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// One of this many inputs is enlarged, to find readers that use too much memory or time.
const RUNS_PER_LARGE: u64 = 4096;
/// Maximum number of damages per input.
const MAX_DAMAGES: u64 = 6;

/// Difficult cases for readers: numbers at the limits of their ranges, markers of formats, look-alike characters.
const WORDS: [&[u8]; 48] = [
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"0.1",
    b"1e-400",
    b"1e400",
    b"-1e400",
    b"nan",
    b"inf",
    b"-inf",
    b"NA",
    b"null",
    b"true",
    b"4294967295",
    b"4294967296",
    b"18446744073709551616",
    b"340282346638528859811704183484516925440",
    b"1e38",
    b"3.5e38",
    b"0x10",
    b"1_000",
    b"+1",
    b".5",
    b"5.",
    b"1e",
    b"qid:",
    b"qid:1",
    b"1:1",
    b":",
    b"::",
    b"#",
    b"# docid = 1",
    b"\r\n",
    b"\t",
    b"\0",
    b"\x0b",
    b"\x7f",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xc2\xa0",
    b"PAR1",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"[[",
    b"\"\"\"",
];

/// Makes inputs, each a function of the seed and its number.
pub(crate) struct Mutator {
    whole: Vec<Vec<u8>>,
    /// The words of the seeds, to replace others.
    words: Vec<Vec<u8>>,
    seed: u64,
}

impl Mutator {
    pub(crate) fn new(whole: Vec<Vec<u8>>, seed: u64) -> Self {
        let mut words: Vec<Vec<u8>> = WORDS.iter().map(|word| word.to_vec()).collect();
        for input in &whole {
            words.extend(input.split(|byte| !is_word(*byte)).filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
        }
        words.sort();
        words.dedup();
        Self { whole, words, seed }
    }

    /// The input with this number. The first ones are the seeds.
    pub(crate) fn input(&self, number: u64) -> Vec<u8> {
        if let Some(whole) = self.whole.get(number as usize) {
            return whole.clone();
        }
        let mut draws = Draws::new(self.seed, number);
        let mut input = self.whole[draws.below(self.whole.len())].clone();
        for _ in 0..=draws.below(MAX_DAMAGES as usize) {
            self.damage(&mut input, &mut draws);
        }
        if number.is_multiple_of(RUNS_PER_LARGE) && !input.is_empty() {
            blow_up(&mut input, &mut draws);
        }
        input.truncate(MAX_BYTES);
        input
    }

    fn damage(&self, input: &mut Vec<u8>, draws: &mut Draws) {
        let len = input.len();
        let (start, end) = draws.range(len);
        match draws.below(12) {
            0 if len > 0 => input[start.min(len - 1)] ^= 1 << draws.below(8),
            1 if len > 0 => input[start.min(len - 1)] = draws.next() as u8,
            2 => {
                input.drain(start..end);
            }
            3 => {
                let copy = input[start..end].to_vec();
                let at = draws.below(len + 1);
                input.splice(at..at, copy);
            }
            4 => input.truncate(start),
            5 => {
                let other = &self.whole[draws.below(self.whole.len())];
                let (from, to) = draws.range(other.len());
                input.splice(start..start, other[from..to].iter().copied());
            }
            6 => {
                // Numbers in binary files: the limits of their widths.
                let bytes = [u64::MAX, 0, 1 << 31, 1 << 63, 0x7f, 0x80][draws.below(6)].to_le_bytes();
                let width = [1, 2, 4, 8][draws.below(4)].min(len - start);
                input[start..start + width].copy_from_slice(&bytes[..width]);
            }
            7 => {
                let (first, second) = (line_at(input, start), line_at(input, draws.below(len + 1)));
                let copy = input[second].to_vec();
                input.splice(first, copy);
            }
            8 => {
                let line = line_at(input, start);
                input.drain(line);
            }
            _ => {
                let word = &self.words[draws.below(self.words.len())];
                input.splice(word_at(input, start), word.iter().copied());
            }
        }
    }
}

/// Repeats a part (a line, a word or anything) until the input is large.
fn blow_up(input: &mut Vec<u8>, draws: &mut Draws) {
    let (start, end) = draws.range(input.len());
    let part = match draws.below(3) {
        0 => line_at(input, start),
        1 => word_at(input, start),
        _ => start..end,
    };
    let copy = input[part.clone()].to_vec();
    let size = draws.below(MAX_BYTES);
    if let Some(times) = size.checked_div(copy.len()) {
        input.splice(part, copy.repeat(times));
    }
}

/// The line around a position, with its newline.
fn line_at(input: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = input[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = input[at..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |newline| at + newline + 1);
    start..end
}

/// The word around a position; empty between words.
fn word_at(input: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = input[..at].iter().rposition(|byte| !is_word(*byte)).map_or(0, |before| before + 1);
    let end = input[at..].iter().position(|byte| !is_word(*byte)).map_or(input.len(), |after| at + after);
    start..end
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte) || byte >= 0x80
}

/// Random numbers, the same on every machine (SplitMix64).
struct Draws(u64);

impl Draws {
    fn new(seed: u64, number: u64) -> Self {
        let mut draws = Self(seed);
        draws.0 = draws.next() ^ number;
        draws
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the limit, which must be positive.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A range within `len` bytes, usually a short one.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let start = self.below(len + 1);
        let longest = if self.below(8) == 0 { len - start } else { (len - start).min(16) };
        (start, start + self.below(longest + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_differ_come_again_and_stay_small() {
        let mutator = |seed| Mutator::new(vec![b"1 qid:1 1:0.5 7:3\n0 qid:1 2:3 # d\n".to_vec()], seed);
        let inputs = |seed| (0..20_000).map(|number| mutator(seed).input(number)).collect::<Vec<_>>();
        let first = inputs(1);
        assert!(first == inputs(1) && first != inputs(2));
        assert!(first.iter().all(|input| input.len() <= MAX_BYTES));
        assert!(first.iter().any(|input| input.len() > 10_000));
        let distinct: std::collections::BTreeSet<&[u8]> = first.iter().map(Vec::as_slice).collect();
        assert!(distinct.len() > 12_000, "{}", distinct.len());
    }

    #[test]
    fn lines_and_words_are_found_around_a_place() {
        let text = b"ab cd\nef";
        assert_eq!((line_at(text, 4), line_at(text, 7), line_at(text, 8)), (0..6, 6..8, 6..8));
        assert_eq!((word_at(text, 1), word_at(text, 4), word_at(text, 8)), (0..2, 3..5, 6..8));
        assert_eq!(line_at(b"", 0), 0..0);
    }
}
