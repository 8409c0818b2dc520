//! The hinge losses of the pairs of one query.
//!
//! A pair of a better document i and a worse one j counts while s_i < s_j + 1. With the documents in ascending order of
//! their scores, the better ones that count for j are those of higher grades before some place, and that place only
//! moves forward with j. So a tree of sums over grades (Fenwick's) holds the documents before the place, and gives the
//! number of higher ones, the sum of their scores and the sum of the squares. The same from above gives, for each
//! document, the worse ones that count.

use rankwise_data::{Documents, Pair};

use crate::SvmLoss;

/// The pairs of one query.
pub(crate) struct Margins<'a> {
    labels: &'a [f32],
    /// The first row of the query.
    first: usize,
    /// The pairs of the data, if it has any.
    pairs: Option<&'a [Pair]>,
}

/// What is summed over documents.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    scores: f64,
    squares: f64,
}

impl<'a> Margins<'a> {
    pub(crate) fn new(data: &'a Documents, query: usize) -> Self {
        let rows = data.query_rows(query);
        let pairs = (!data.pairs().is_empty()).then(|| data.query_pairs(query));
        Self { labels: &data.labels()[rows.clone()], first: rows.start, pairs }
    }

    pub(crate) fn has_pairs(&self) -> bool {
        match self.pairs {
            Some(pairs) => pairs.iter().any(|pair| pair.weight > 0.0),
            None => self.labels.iter().any(|label| *label != self.labels[0]),
        }
    }

    /// The loss; adds its derivative by each score to `slopes`.
    pub(crate) fn add(&self, scores: &[f64], loss: SvmLoss, slopes: &mut [f64]) -> f64 {
        match self.pairs {
            Some(pairs) => self.add_pairs(pairs, scores, loss, slopes),
            None => self.add_grades(scores, loss, slopes),
        }
    }

    /// A pair with probability q counts q times as given and 1 - q times reversed.
    fn add_pairs(&self, pairs: &[Pair], scores: &[f64], loss: SvmLoss, slopes: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for pair in pairs {
            let (weight, share) = (f64::from(pair.weight), f64::from(pair.probability));
            let [winner, loser] = [pair.winner, pair.loser].map(|row| row as usize - self.first);
            for (better, worse, weight) in [(winner, loser, weight * share), (loser, winner, weight * (1.0 - share))] {
                let gap = 1.0 - (scores[better] - scores[worse]);
                if gap > 0.0 && weight > 0.0 {
                    let (value, slope) = match loss {
                        SvmLoss::Hinge => (gap, 1.0),
                        SvmLoss::SquaredHinge => (gap * gap, 2.0 * gap),
                    };
                    total += weight * value;
                    slopes[better] -= weight * slope;
                    slopes[worse] += weight * slope;
                }
            }
        }
        total
    }

    fn add_grades(&self, scores: &[f64], loss: SvmLoss, slopes: &mut [f64]) -> f64 {
        let mut grades: Vec<f32> = self.labels.to_vec();
        grades.sort_unstable_by(f32::total_cmp);
        grades.dedup();
        if grades.len() < 2 {
            return 0.0;
        }
        let grade = |doc: usize| grades.partition_point(|grade| *grade < self.labels[doc]);
        // Differences are all that counts, and small numbers have the smallest rounding errors.
        let middle = scores.iter().sum::<f64>() / scores.len() as f64;
        let score = |doc: usize| scores[doc] - middle;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(a.cmp(b)));
        let mut total = 0.0;
        // Better documents that count for each worse one.
        let (mut tree, mut place) = (Fenwick::new(grades.len()), 0);
        for worse in order.iter().copied() {
            while place < order.len() && score(order[place]) < score(worse) + 1.0 {
                tree.add(grades.len() - 1 - grade(order[place]), score(order[place]));
                place += 1;
            }
            // Grades are counted from the top here, so that higher ones come first.
            let better = tree.before(grades.len() - 1 - grade(worse));
            let edge = 1.0 + score(worse);
            match loss {
                SvmLoss::Hinge => {
                    total += better.count * edge - better.scores;
                    slopes[worse] += better.count;
                }
                SvmLoss::SquaredHinge => {
                    total += better.count * edge * edge - 2.0 * edge * better.scores + better.squares;
                    slopes[worse] += 2.0 * (better.count * edge - better.scores);
                }
            }
        }
        // Worse documents that count for each better one.
        let (mut tree, mut place) = (Fenwick::new(grades.len()), order.len());
        for better in order.iter().rev().copied() {
            while place > 0 && score(better) < score(order[place - 1]) + 1.0 {
                place -= 1;
                tree.add(grade(order[place]), score(order[place]));
            }
            let worse = tree.before(grade(better));
            slopes[better] -= match loss {
                SvmLoss::Hinge => worse.count,
                SvmLoss::SquaredHinge => 2.0 * (worse.count * (1.0 - score(better)) + worse.scores),
            };
        }
        total
    }
}

/// Sums by grade: adding a document and asking for all before a grade take the logarithm of the number of grades.
struct Fenwick(Vec<Sums>);

impl Fenwick {
    fn new(n_grades: usize) -> Self {
        Self(vec![Sums::default(); n_grades + 1])
    }

    fn add(&mut self, grade: usize, score: f64) {
        let mut place = grade + 1;
        while place < self.0.len() {
            let sums = &mut self.0[place];
            sums.count += 1.0;
            sums.scores += score;
            sums.squares += score * score;
            place += place & place.wrapping_neg();
        }
    }

    /// Over all grades before this one.
    fn before(&self, grade: usize) -> Sums {
        let (mut place, mut sums) = (grade, Sums::default());
        while place > 0 {
            let part = self.0[place];
            sums.count += part.count;
            sums.scores += part.scores;
            sums.squares += part.squares;
            place &= place - 1;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair by itself.
    fn plain(labels: &[f32], scores: &[f64], loss: SvmLoss) -> (f64, Vec<f64>) {
        let (mut total, mut slopes) = (0.0, vec![0.0; scores.len()]);
        for better in 0..labels.len() {
            for worse in (0..labels.len()).filter(|worse| labels[*worse] < labels[better]) {
                let gap = 1.0 - (scores[better] - scores[worse]);
                if gap > 0.0 {
                    let (value, slope) = if loss == SvmLoss::Hinge { (gap, 1.0) } else { (gap * gap, 2.0 * gap) };
                    total += value;
                    slopes[better] -= slope;
                    slopes[worse] += slope;
                }
            }
        }
        (total, slopes)
    }

    proptest! {
        #[test]
        fn all_pairs_are_counted(
            docs in prop::collection::vec((0u8..5, -30i32..30, any::<bool>()), 1..40),
            is_plain in any::<bool>(),
        ) {
            let labels: Vec<f32> = docs.iter().map(|doc| f32::from(doc.0) / 2.0).collect();
            // Multiples of a tenth, and of a half, whose differences are exactly 1 at times.
            let scores: Vec<f64> = docs.iter().map(|doc| f64::from(doc.1) * if doc.2 { 0.1 } else { 0.5 }).collect();
            let loss = if is_plain { SvmLoss::Hinge } else { SvmLoss::SquaredHinge };
            let mut slopes = vec![0.0; labels.len()];
            let found = Margins { labels: &labels, first: 0, pairs: None }.add(&scores, loss, &mut slopes);
            let (expected, expected_slopes) = plain(&labels, &scores, loss);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            prop_assert!(close(found, expected), "{found} is not {expected}");
            // Rounding decides which side of the kink of a plain hinge a pair at exactly 1 is on.
            let is_at_a_kink = is_plain && (0..docs.len()).any(|a| (0..docs.len()).any(|b| {
                (scores[a] - scores[b] - 1.0).abs() < 1e-9 && labels[a] > labels[b]
            }));
            for (found, expected) in slopes.iter().zip(&expected_slopes) {
                prop_assert!(is_at_a_kink || close(*found, *expected), "{found} is not {expected}");
            }
        }

        #[test]
        fn pairs_of_the_data_equal_those_of_labels(docs in prop::collection::vec((0u8..3, -9i32..9), 2..12)) {
            let labels: Vec<f32> = docs.iter().map(|doc| f32::from(doc.0)).collect();
            let scores: Vec<f64> = docs.iter().map(|doc| f64::from(doc.1) * 0.3).collect();
            let all = (0..docs.len()).flat_map(|a| (0..docs.len()).map(move |b| (a, b)));
            let better = all.filter(|(a, b)| labels[*a] > labels[*b]);
            let pairs: Vec<Pair> = better.map(|(a, b)| Pair::new(a as u32 + 7, b as u32 + 7)).collect();
            let (mut slopes, mut expected) = (vec![0.0; docs.len()], vec![0.0; docs.len()]);
            let by_pairs = Margins { labels: &labels, first: 7, pairs: Some(&pairs) };
            let found = by_pairs.add(&scores, SvmLoss::SquaredHinge, &mut slopes);
            let by_labels = Margins { labels: &labels, first: 7, pairs: None };
            let wanted = by_labels.add(&scores, SvmLoss::SquaredHinge, &mut expected);
            prop_assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted));
            prop_assert!(slopes.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
        }
    }
}
