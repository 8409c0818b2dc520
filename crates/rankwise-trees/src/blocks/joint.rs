//! Strips whose columns hold several features each.
//!
//! A byte of such a column stands for a combination of bins that some row has, and a table says which. One addition to a
//! histogram then stands for several, and the sums of each feature are got from those of its column once all rows are in.

use std::collections::BTreeMap;

/// What the columns of a strip stand for.
#[derive(Clone, Debug)]
pub(crate) struct JointStrip {
    n_bytes: usize,
    blocks: Vec<Vec<Member>>,
}

impl JointStrip {
    /// A strip with these members, by block and lane; none of its rows has a byte of `n_bytes` or more.
    pub(super) fn new(n_bytes: usize, blocks: Vec<Vec<Member>>) -> Self {
        Self { n_bytes, blocks }
    }

    /// A power of two that no byte reaches.
    pub(crate) fn height(&self) -> usize {
        self.n_bytes.next_power_of_two()
    }

    /// The features of each block of the strip, in the order of their lanes.
    pub(crate) fn blocks(&self) -> &[Vec<Member>] {
        &self.blocks
    }
}

/// A feature that shares a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    column: usize,
    rest: u8,
    runs: Vec<Run>,
}

/// Bins of a feature, each of which as many bytes mean.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    bins: Vec<u8>,
    /// Those of the first bin, then those of the second, and so on.
    bytes: Vec<u8>,
}

impl Member {
    /// A feature in the column with this number, and the bin that each byte of the column means.
    pub(super) fn new(column: usize, bin_of_byte: &[u8]) -> Self {
        let mut by_bin: Vec<Vec<u8>> = vec![Vec::new(); 256];
        for (byte, bin) in bin_of_byte.iter().enumerate() {
            by_bin[usize::from(*bin)].push(byte as u8);
        }
        let rest = (0..=255u8).rev().max_by_key(|bin| by_bin[usize::from(*bin)].len()).unwrap_or(0);
        let mut by_count: BTreeMap<usize, Run> = BTreeMap::new();
        for (bin, mut bytes) in (0..=255u8).zip(by_bin) {
            if bin != rest && !bytes.is_empty() {
                let run = by_count.entry(bytes.len()).or_insert_with(|| Run { bins: Vec::new(), bytes: Vec::new() });
                run.bins.push(bin);
                run.bytes.append(&mut bytes);
            }
        }
        Self { column, rest, runs: by_count.into_values().collect() }
    }

    /// Its column in the strip.
    pub(crate) fn column(&self) -> usize {
        self.column
    }

    /// The bin that most bytes mean.
    pub(crate) fn rest(&self) -> u8 {
        self.rest
    }

    /// The other bins that some byte means, those together that as many bytes mean: the bins, how many bytes each has, and
    /// the bytes of the first bin, of the second, and so on. A loop over them takes the same turns again and again.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&[u8], usize, &[u8])> {
        self.runs.iter().map(|run| (&run.bins[..], run.bytes.len() / run.bins.len(), &run.bytes[..]))
    }

    /// The bin that a byte means.
    #[cfg(test)]
    pub(super) fn bin(&self, byte: u8) -> u8 {
        let place = |run: &Run| run.bytes.iter().position(|of| *of == byte);
        let found = self.runs.iter().find_map(|run| Some(run.bins[place(run)? / (run.bytes.len() / run.bins.len())]));
        found.unwrap_or(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_with_as_many_bytes_stand_together() {
        let member = Member::new(3, &[7, 0, 7, 2, 7, 5, 9, 9]);
        assert_eq!((member.column(), member.rest()), (3, 7));
        let runs: Vec<(&[u8], usize, &[u8])> = member.runs().collect();
        assert_eq!(runs, [(&[0, 2, 5][..], 1, &[1, 3, 5][..]), (&[9][..], 2, &[6, 7][..])]);
        assert_eq!((0..8).map(|byte| member.bin(byte)).collect::<Vec<_>>(), [7, 0, 7, 2, 7, 5, 9, 9]);
    }
}
