//! Which features share a column.
//!
//! They need not have few bins for it: those that say much the same, or of which only one at a time differs from 0, make few
//! combinations. Web data has such features by the dozen; of MSRD's 246, most share one of 58 columns.

use std::cmp::Reverse;
use std::collections::VecDeque;

use rayon::prelude::*;

use super::BLOCK_FEATURES;
use rankwise_data::{BinnedDataset, SparseBins};

/// Combinations that a byte can tell apart.
const COMBINATIONS: usize = 256;
/// Rows on which combinations are counted before all are looked at.
const SAMPLE_ROWS: usize = 1 << 14;
/// More combinations than this are not expected of a group that the sample puts together, so that most groups hold.
const EXPECTED_COMBINATIONS: usize = 200;
/// With fewer rows, nodes are so small that picking sums from those of combinations costs more than additions do.
const ROWS_PER_COMBINATION: usize = 64;
/// How often features are put together.
const ROUNDS: usize = 3;
/// Looking for partners takes time: so many times the rows of the sample may be looked at, per feature.
const LOOKS_PER_FEATURE: usize = 64;
/// But no more rows than this in all.
const MAX_LOOKS: usize = 1 << 30;

/// From so many sparse features on, looking for partners in all of them would take too long: those that are never in the
/// same row are bundled.
const MANY_SPARSE: usize = 1024;
/// How many of the last bundles a feature is tried with.
const OPEN_BUNDLES: usize = 64;

/// A column, its features, and what its bytes mean.
#[derive(Clone, Debug)]
pub(super) struct SharedColumn {
    pub(super) features: Vec<usize>,
    /// For each feature, the bin that each byte means.
    pub(super) bins: Vec<Vec<u8>>,
    /// By row.
    pub(super) bytes: Vec<u8>,
}

impl SharedColumn {
    /// A column with one feature.
    pub(super) fn of_one(feature: usize, data: &BinnedDataset) -> Self {
        let bytes = data.column(feature).into_owned();
        let n_bins = bytes.iter().max().map_or(1, |bin| usize::from(*bin) + 1);
        Self { features: vec![feature], bins: vec![(0..n_bins).map(|bin| bin as u8).collect()], bytes }
    }

    /// A column with those of the features that fit, and the others.
    fn of_group(group: &[usize], data: &BinnedDataset) -> (Self, Vec<usize>) {
        let mut column = Self::of_one(group[0], data);
        let mut refused = Vec::new();
        let mut combiner = Combiner::default();
        for feature in &group[1..] {
            match combiner.combine(&column.bytes, &data.column(*feature), COMBINATIONS) {
                Some(pairs) => column.add(*feature, &pairs, &mut combiner.numbers),
                None => refused.push(*feature),
            }
        }
        (column, refused)
    }

    /// Adds a feature, given the pairs of bytes and bins that occur and, by row, the number of its pair.
    fn add(&mut self, feature: usize, pairs: &[(u8, u8)], numbers: &mut Vec<u8>) {
        for bins in &mut self.bins {
            *bins = pairs.iter().map(|(byte, _)| bins[usize::from(*byte)]).collect();
        }
        self.bins.push(pairs.iter().map(|(_, bin)| *bin).collect());
        self.features.push(feature);
        std::mem::swap(&mut self.bytes, numbers);
    }
}

/// Divides features into those that have a column of their own and columns that several share.
pub(super) fn share_columns(data: &BinnedDataset, mut features: Vec<usize>) -> (Vec<usize>, Vec<SharedColumn>) {
    let is_sparse = |feature: usize| data.sparse_column(feature).is_some();
    let n_sparse = features.iter().filter(|feature| is_sparse(**feature)).count();
    let bundled = if n_sparse >= MANY_SPARSE {
        let sparse = features.extract_if(.., |feature| is_sparse(*feature)).collect();
        bundles(sparse, data)
    } else {
        Vec::new()
    };
    let mut search = Search::new(data, &features);
    let (mut single, mut shared) = search.columns(features, data);
    for column in bundled {
        if column.features.len() > 1 { shared.push(column) } else { single.push(column.features[0]) }
    }
    let n_columns = single.len() + shared.len();
    for _ in n_columns..n_columns.next_multiple_of(BLOCK_FEATURES) {
        part(&search.n_bins, &mut single, &mut shared, data);
    }
    (single, shared)
}

/// Gives the feature with most bins that shares a column one of its own. Where there is room for it, that costs nothing, and
/// its sums need not be picked from those of combinations.
fn part(n_bins: &[usize], single: &mut Vec<usize>, shared: &mut Vec<SharedColumn>, data: &BinnedDataset) {
    let most_bins = |column: &SharedColumn| column.features.iter().map(|feature| n_bins[*feature]).max();
    let Some(column) = (0..shared.len()).max_by_key(|idx| (most_bins(&shared[*idx]), Reverse(*idx))) else { return };
    let mut features = shared.swap_remove(column).features;
    features.sort_by_key(|feature| n_bins[*feature]);
    single.extend(features.pop());
    if features.len() == 1 {
        single.append(&mut features);
    } else {
        shared.push(SharedColumn::of_group(&features, data).0);
    }
}

/// Columns of sparse features, no two of which have a bin of their own in the same row.
fn bundles(mut features: Vec<usize>, data: &BinnedDataset) -> Vec<SharedColumn> {
    let sparse = |feature: usize| data.sparse_column(feature).expect("only sparse features are bundled");
    features.sort_by_key(|feature| (Reverse(sparse(*feature).rows.len()), *feature));
    let mut open: VecDeque<Bundle> = VecDeque::new();
    let mut done = Vec::new();
    for feature in features {
        let bins = own_bins(sparse(feature));
        let rows = sparse(feature).rows;
        if let Some(bundle) = open.iter_mut().find(|bundle| bundle.has_room(rows, bins.len())) {
            bundle.add(feature, rows, bins);
            continue;
        }
        if open.len() == OPEN_BUNDLES {
            done.extend(open.pop_front());
        }
        let mut bundle = Bundle::new(data.n_rows());
        bundle.add(feature, rows, bins);
        open.push_back(bundle);
    }
    done.extend(open);
    done.into_par_iter().map(|bundle| bundle.column(data)).collect()
}

/// The bins that a sparse feature has beside the one of most rows.
fn own_bins(column: SparseBins<'_>) -> Vec<u8> {
    let mut bins = column.bins.to_vec();
    bins.sort_unstable();
    bins.dedup();
    bins.retain(|bin| *bin != column.rest);
    bins
}

/// Features that are never in the same row.
struct Bundle {
    /// With the bins of each.
    features: Vec<(usize, Vec<u8>)>,
    n_bins: usize,
    /// Which rows are taken, one bit each.
    taken: Vec<u64>,
}

impl Bundle {
    fn new(n_rows: usize) -> Self {
        Self { features: Vec::new(), n_bins: 0, taken: vec![0; n_rows.div_ceil(64)] }
    }

    fn has_room(&self, rows: &[u32], n_bins: usize) -> bool {
        // One byte means that no feature has a bin of its own.
        self.n_bins + n_bins < COMBINATIONS
            && !rows.iter().any(|row| self.taken[*row as usize / 64] >> (row % 64) & 1 != 0)
    }

    fn add(&mut self, feature: usize, rows: &[u32], bins: Vec<u8>) {
        self.n_bins += bins.len();
        self.features.push((feature, bins));
        for row in rows {
            self.taken[*row as usize / 64] |= 1 << (row % 64);
        }
    }

    fn column(self, data: &BinnedDataset) -> SharedColumn {
        let mut bytes = vec![0; data.n_rows()];
        let (mut features, mut bins_of_bytes) = (Vec::new(), Vec::new());
        let mut first = 1;
        for (feature, bins) in self.features {
            let column = data.sparse_column(feature).expect("only sparse features are bundled");
            for (row, bin) in column.rows.iter().zip(column.bins) {
                if let Ok(place) = bins.binary_search(bin) {
                    bytes[*row as usize] = (first + place) as u8;
                }
            }
            let mut of_bytes = vec![column.rest; self.n_bins + 1];
            of_bytes[first..first + bins.len()].copy_from_slice(&bins);
            first += bins.len();
            features.push(feature);
            bins_of_bytes.push(of_bytes);
        }
        SharedColumn { features, bins: bins_of_bytes, bytes }
    }
}

struct Search {
    /// Bins of some of the rows, by feature; empty for features that are not looked at.
    sample: Vec<Vec<u8>>,
    /// How many these are.
    n_rows: usize,
    /// How many bins the sample has, by feature.
    n_bins: Vec<usize>,
    /// Whether the sample is all rows.
    is_all: bool,
    /// How many combinations may be expected of a group.
    limit: usize,
    /// Rows that may still be looked at.
    looks: usize,
}

impl Search {
    fn new(data: &BinnedDataset, features: &[usize]) -> Self {
        let step = data.n_rows().div_ceil(SAMPLE_ROWS).max(1);
        let mut sample = vec![Vec::new(); data.n_features()];
        let columns = features.par_iter().map(|of| data.column(*of).iter().step_by(step).copied().collect());
        let columns: Vec<Vec<u8>> = columns.collect();
        features.iter().zip(columns).for_each(|(feature, column)| sample[*feature] = column);
        let n_bins = sample.par_iter().map(|column| n_different(column)).collect();
        let limit = if step == 1 { COMBINATIONS } else { EXPECTED_COMBINATIONS };
        let limit = limit.min(data.n_rows() / ROWS_PER_COMBINATION);
        let n_rows = data.n_rows().div_ceil(step);
        let looks = (features.len() * LOOKS_PER_FEATURE * n_rows).min(MAX_LOOKS);
        Self { sample, n_rows, n_bins, is_all: step == 1, limit, looks }
    }

    /// As few columns as can be found.
    fn columns(&mut self, mut waiting: Vec<usize>, data: &BinnedDataset) -> (Vec<usize>, Vec<SharedColumn>) {
        let (mut single, mut shared) = (Vec::new(), Vec::new());
        // What a sample puts together need not fit on all rows: it gets another chance with others.
        for _ in 0..ROUNDS {
            let groups = self.groups(waiting);
            let (pairs, alone): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
                groups.into_iter().partition(|group| group.len() > 1);
            single.extend(alone.into_iter().flatten());
            let filled: Vec<(SharedColumn, Vec<usize>)> =
                pairs.par_iter().with_max_len(1).map(|group| SharedColumn::of_group(group, data)).collect();
            waiting = Vec::new();
            for (column, mut refused) in filled {
                waiting.append(&mut refused);
                if column.features.len() > 1 { shared.push(column) } else { single.push(column.features[0]) }
            }
        }
        single.append(&mut waiting);
        (single, shared)
    }

    /// Groups of features that are likely to fit into a column each. The feature with most bins takes what fits, in order of
    /// bins, then the next one takes of the rest, and so on.
    fn groups(&mut self, mut waiting: Vec<usize>) -> Vec<Vec<usize>> {
        waiting.sort_by_key(|feature| (Reverse(self.n_bins[*feature]), *feature));
        let mut waiting = VecDeque::from(waiting);
        let mut groups = Vec::new();
        while let Some(first) = waiting.pop_front() {
            let group = self.group(first, &waiting);
            // Nothing to take out of a long list, which may be as often as there are features.
            if group.len() > 1 {
                waiting.retain(|feature| !group.contains(feature));
            }
            groups.push(group);
        }
        groups
    }

    fn group(&mut self, first: usize, others: &VecDeque<usize>) -> Vec<usize> {
        let mut group = vec![first];
        if self.n_bins[first] >= self.limit || self.looks == 0 {
            return group;
        }
        // What does not fit beside one feature does not fit beside several.
        let may_fit: Vec<usize> = others
            .par_iter()
            .map_init(Combiner::default, |combiner, other| {
                let fits = self.fits(combiner, &self.sample[first], *other);
                fits.then_some(*other)
            })
            .flatten_iter()
            .collect();
        self.looks = self.looks.saturating_sub(others.len() * COMBINATIONS.min(self.n_rows));
        let mut combiner = Combiner::default();
        let mut of_sample = self.sample[first].clone();
        for other in may_fit {
            if self.looks == 0 {
                break;
            }
            self.looks = self.looks.saturating_sub(self.n_rows);
            if self.fits(&mut combiner, &of_sample, other) {
                std::mem::swap(&mut of_sample, &mut combiner.numbers);
                group.push(other);
            }
        }
        group
    }

    /// Whether a feature is likely to fit beside others, given the numbers of their combinations in the sample.
    fn fits(&self, combiner: &mut Combiner, others: &[u8], feature: usize) -> bool {
        let Some(pairs) = combiner.combine(others, &self.sample[feature], self.limit) else { return false };
        let unseen = if self.is_all { 0 } else { combiner.n_unseen() };
        pairs.len() + unseen <= self.limit
    }
}

/// Numbers pairs of bytes in order of first appearance.
struct Combiner {
    /// The number of each pair that was seen.
    seen: Vec<u16>,
    /// The numbers, by row.
    numbers: Vec<u8>,
}

const UNSEEN: u16 = u16::MAX;

impl Default for Combiner {
    fn default() -> Self {
        Self { seen: vec![UNSEEN; 1 << 16], numbers: Vec::new() }
    }
}

impl Combiner {
    /// How many pairs the sample lacks, judging by how many occur once and how many twice (Chao's estimate, which is rather
    /// too low).
    fn n_unseen(&self) -> usize {
        let mut counts = [0usize; COMBINATIONS];
        self.numbers.iter().for_each(|number| counts[usize::from(*number)] += 1);
        let n_with = |count: usize| counts.iter().filter(|n| **n == count).count();
        let (once, twice) = (n_with(1), n_with(2));
        once * once.saturating_sub(1) / (2 * (twice + 1))
    }

    /// The pairs that occur; `None` where there are more than `limit`, which is at most [`COMBINATIONS`].
    fn combine(&mut self, first: &[u8], second: &[u8], limit: usize) -> Option<Vec<(u8, u8)>> {
        self.numbers.resize(first.len(), 0);
        let mut pairs: Vec<(u8, u8)> = Vec::with_capacity(COMBINATIONS);
        let mut is_full = false;
        for ((a, b), number) in first.iter().zip(second).zip(&mut self.numbers) {
            let seen = &mut self.seen[usize::from(*a) << 8 | usize::from(*b)];
            if *seen == UNSEEN {
                if pairs.len() == limit {
                    is_full = true;
                    break;
                }
                *seen = pairs.len() as u16;
                pairs.push((*a, *b));
            }
            *number = *seen as u8;
        }
        for (a, b) in &pairs {
            self.seen[usize::from(*a) << 8 | usize::from(*b)] = UNSEEN;
        }
        (!is_full).then_some(pairs)
    }
}

fn n_different(bins: &[u8]) -> usize {
    let mut is_seen = [false; 256];
    for bin in bins {
        is_seen[usize::from(*bin)] = true;
    }
    is_seen.iter().filter(|seen| **seen).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::{BinningParams, DatasetBuilder, Row};

    use super::*;

    fn binned(rows: &[Vec<f32>]) -> BinnedDataset {
        let column = |feature: usize| rows.iter().map(|row| row[feature]).collect();
        BinnedDataset::from_columns(&(0..rows[0].len()).map(column).collect::<Vec<_>>())
    }

    #[test]
    fn features_that_say_the_same_share_a_column_whatever_their_bins() {
        // 150 values, twice; 150 that go their own way; a flag.
        let row = |row: u32| [row % 150, 1000 - row % 150, row * row % 149, u32::from(row % 150 > 70)];
        let rows: Vec<Vec<f32>> = (0..12_000).map(|idx| row(idx).map(|value| value as f32).to_vec()).collect();
        let data = binned(&rows);
        let features = || (0..data.n_features()).collect::<Vec<_>>();
        let (single, shared) = Search::new(&data, &features()).columns(features(), &data);
        assert_eq!(single, [2]);
        assert_eq!(shared.iter().map(|column| &column.features[..]).collect::<Vec<_>>(), [[0, 1, 3]]);
        // Four columns are no more work than one.
        assert!(share_columns(&data, features()).1.is_empty());
    }

    /// Bytes lead back to the bins of features that share columns.
    fn check_bytes(shared: &[SharedColumn], data: &BinnedDataset) {
        for (column, feature, bins) in shared.iter().flat_map(|column| {
            column.features.iter().zip(&column.bins).map(move |(feature, bins)| (column, *feature, bins))
        }) {
            let meant: Vec<u8> = column.bytes.iter().map(|byte| bins[usize::from(*byte)]).collect();
            assert_eq!(meant, *data.column(feature));
        }
    }

    #[test]
    fn sparse_features_that_are_never_in_the_same_row_are_bundled() {
        let mut builder = DatasetBuilder::default();
        for row in 0..600u32 {
            let features = [(row * 7 % 300, (row % 5) as f32), (300 + row * 11 % 300, (row % 3) as f32)];
            builder.push(&Row { qid: "q", features: &features, ..Row::default() }).unwrap();
        }
        let data = BinnedDataset::new(&builder.finish().unwrap(), &BinningParams::default()).unwrap();
        let columns = bundles((0..data.n_features()).collect(), &data);
        assert!(columns.len() * 50 < data.n_features(), "{} columns of {}", columns.len(), data.n_features());
        check_bytes(&columns, &data);
        let mut features: Vec<usize> = columns.into_iter().flat_map(|column| column.features).collect();
        features.sort_unstable();
        assert_eq!(features, (0..data.n_features()).collect::<Vec<_>>());
    }

    #[test]
    fn what_does_not_fit_all_rows_stays_alone() {
        // In every second row, which the sample is, the features are alike.
        let other = |row: u32| if row.is_multiple_of(2) { row / 2 % 100 } else { row / 2 * 7 % 101 };
        let rows: Vec<Vec<f32>> =
            (0..2 * SAMPLE_ROWS as u32).map(|row| vec![(row / 2 % 100) as f32, other(row) as f32]).collect();
        let data = binned(&rows);
        assert_eq!(Search::new(&data, &[0, 1]).groups(vec![0, 1]), [[0, 1]]);
        assert_eq!(Search::new(&data, &[0, 1]).columns(vec![0, 1], &data).0, [0, 1]);
    }

    proptest! {
        /// Bytes lead back to the bins of every feature in every row.
        #[test]
        fn bytes_mean_the_bins_of_their_rows(
            rows in prop::collection::vec(prop::collection::vec((0u8..3).prop_map(f32::from), 24), 500..900),
        ) {
            let data = binned(&rows);
            let (single, shared) = share_columns(&data, (0..data.n_features()).collect());
            let mut all = single;
            for column in &shared {
                prop_assert!(column.features.len() > 1);
                all.extend(&column.features);
            }
            check_bytes(&shared, &data);
            all.sort_unstable();
            prop_assert_eq!(all, (0..data.n_features()).collect::<Vec<_>>());
        }
    }
}
