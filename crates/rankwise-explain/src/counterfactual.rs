//! What would have to change for a document to overtake another: the smallest change of one feature, and of two.
//!
//! A score of trees changes only where a value passes a threshold, so one value of each interval between thresholds is enough: the one
//! that is nearest to the document's own, if the dataset has one. The size of a change is the share of the dataset's rows that it passes:
//! those whose values lie between the old and the new one, and half of those that have one of the two. Two changes add up. Every answer
//! has been scored by the model.
//!
//! For two features, the change of the score is that of each alone plus, for trees that use both, what is left over. A tree has few
//! thresholds of a feature, so its part is constant on rectangles of the grid of intervals; rectangles are summed by their corners.

use rankwise_model::{Model, Output, Precision, Tree, TreeEnsemble};
use rayon::prelude::*;

use crate::{ExplainError, Ranges};

/// Sums in another order may differ by so much, relative to the sum of absolute leaf values. Answers are scored exactly.
const ROUNDING: f64 = 1e-9;

/// A changed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The feature's index in the model's list.
    pub feature: usize,
    /// The document's value; NaN is missing.
    pub from: f64,
    /// The new value.
    pub to: f64,
    /// The share of the dataset's rows that the change passes.
    pub share: f64,
}

/// Changes that make a document overtake another, and its score after them.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterfactual {
    /// One change, or two.
    pub changes: Vec<Change>,
    /// The new score.
    pub score: f64,
}

impl Counterfactual {
    /// The size of the changes.
    pub fn share(&self) -> f64 {
        self.changes.iter().map(|change| change.share).sum()
    }
}

/// A possible new value of a feature.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The interval that it leads to.
    interval: usize,
    value: f64,
    /// Twice the number of rows that it passes.
    half_rows: usize,
    /// Thresholds between them.
    steps: usize,
}

/// Smaller changes come first; then fewer thresholds, then lower features.
type Rank = (usize, usize, [usize; 2], [usize; 2]);

/// Two changes, how they rank, and the score that they lead to.
type PairFound = (Rank, [(usize, Move); 2], f64);

struct Search<'a> {
    model: &'a Model,
    ensemble: &'a TreeEnsemble,
    ranges: &'a Ranges,
    values: &'a [f64],
    /// The score to exceed.
    goal: f64,
    moves: Vec<Vec<Move>>,
}

/// The smallest change of one feature, and of two, with which the document `values` scores higher than `goal`; `None` if no such change
/// exists. Values are rounded values of the model's features.
pub fn counterfactuals(
    model: &Model,
    ranges: &Ranges,
    values: &[f64],
    goal: f64,
) -> Result<[Option<Counterfactual>; 2], ExplainError> {
    let ensemble = model.tree_ensemble()?;
    if *ensemble.output() != Output::Sum {
        return Err(ExplainError::SeveralOutputs);
    }
    let mut search = Search { model, ensemble, ranges, values, goal, moves: Vec::new() };
    search.moves = (0..values.len()).map(|feature| search.moves_of(feature)).collect();
    Ok([search.one(), search.two()])
}

impl Search<'_> {
    /// One move into each interval but the document's own.
    fn moves_of(&self, feature: usize) -> Vec<Move> {
        let intervals = &self.ranges.features[feature];
        let value = self.values[feature];
        let own = (!value.is_nan()).then(|| intervals.of(value));
        let to = |interval: usize| {
            let found = intervals.found[interval];
            let is_up = own.is_none_or(|own| own < interval);
            let value = match (found, is_up) {
                (Some([smallest, _]), true) => smallest,
                (Some([_, largest]), false) => largest,
                (None, true) if interval > 0 => self.just_above(intervals.thresholds[interval - 1]),
                (None, _) => intervals.thresholds[interval],
            };
            let half_rows = intervals.half_rows_passed(self.values[feature], value);
            Move { interval, value, half_rows, steps: interval.abs_diff(own.unwrap_or(0)) }
        };
        let is_one = |moved: &Move| !moved.value.is_infinite() && intervals.of(moved.value) == moved.interval;
        if intervals.thresholds.is_empty() {
            return Vec::new();
        }
        (0..intervals.found.len()).filter(|interval| Some(*interval) != own).map(to).filter(is_one).collect()
    }

    fn just_above(&self, threshold: f64) -> f64 {
        match self.model.precision() {
            Precision::F64 => threshold.next_up(),
            // The smallest f32 above the threshold.
            Precision::F32 => {
                let near = threshold as f32;
                f64::from(if f64::from(near) > threshold { near } else { near.next_up() })
            }
        }
    }

    /// The score with some values changed, if it exceeds the goal.
    fn scored(&self, changes: &[(usize, Move)]) -> Option<f64> {
        let mut values = self.values.to_vec();
        for (feature, to) in changes {
            values[*feature] = to.value;
        }
        Some(self.model.score_rounded(&values)).filter(|score| *score > self.goal)
    }

    fn answer(&self, changes: &[(usize, Move)], score: f64) -> Counterfactual {
        let change = |(feature, to): &(usize, Move)| Change {
            feature: *feature,
            from: self.values[*feature],
            to: to.value,
            share: to.half_rows as f64 / (2 * self.ranges.n_rows.max(1)) as f64,
        };
        Counterfactual { changes: changes.iter().map(change).collect(), score }
    }

    fn one(&self) -> Option<Counterfactual> {
        let all = self.moves.iter().enumerate().flat_map(|(feature, moves)| moves.iter().map(move |to| (feature, *to)));
        let reached = all.filter_map(|(feature, to)| Some((feature, to, self.scored(&[(feature, to)])?)));
        let smallest = reached.min_by_key(|(feature, to, _)| (to.half_rows, to.steps, *feature, to.interval))?;
        Some(self.answer(&[(smallest.0, smallest.1)], smallest.2))
    }

    fn two(&self) -> Option<Counterfactual> {
        let alone: Vec<Vec<f64>> = (0..self.values.len()).into_par_iter().map(|feature| self.alone(feature)).collect();
        let sizes = self.ensemble.trees().iter().flat_map(|tree| &tree.parts().leaf_value).map(|value| value.abs());
        let need = self.goal - self.model.score_rounded(self.values) - ROUNDING * sizes.sum::<f64>();
        let movable: Vec<usize> = (0..self.values.len()).filter(|feature| !self.moves[*feature].is_empty()).collect();
        let pairs: Vec<[usize; 2]> = movable
            .iter()
            .enumerate()
            .flat_map(|(place, first)| movable[place + 1..].iter().map(move |second| [*first, *second]))
            .collect();
        let best = pairs.par_iter().filter_map(|pair| self.pair(*pair, &alone, need)).min_by_key(|(rank, ..)| *rank);
        best.map(|(_, changes, score)| self.answer(&changes, score))
    }

    /// By move of a feature, how much it changes the score.
    fn alone(&self, feature: usize) -> Vec<f64> {
        let mut values = self.values.to_vec();
        let only = [feature];
        let trees: Vec<&Tree> = self.trees_with(&only).collect();
        let sum = |values: &[f64]| trees.iter().map(|tree| tree.parts().leaf_value[tree.leaf(values)]).sum::<f64>();
        let before = sum(&values);
        let change = |to: &Move| {
            values[feature] = to.value;
            sum(&values) - before
        };
        self.moves[feature].iter().map(change).collect()
    }

    fn trees_with<'b>(&'b self, features: &'b [usize]) -> impl Iterator<Item = &'b Tree> {
        let uses = |tree: &Tree, feature: usize| tree.parts().feature.iter().any(|other| *other as usize == feature);
        self.ensemble.trees().iter().filter(move |tree| features.iter().all(|feature| uses(tree, *feature)))
    }

    /// The smallest change of exactly these two features.
    fn pair(&self, pair: [usize; 2], alone: &[Vec<f64>], need: f64) -> Option<PairFound> {
        let [first, second] = pair;
        let together = self.together(pair);
        let mut best: Option<PairFound> = None;
        for (place, a) in self.moves[first].iter().enumerate() {
            for (other, b) in self.moves[second].iter().enumerate() {
                let gain =
                    alone[first][place] + alone[second][other] + together[place * self.moves[second].len() + other];
                let rank = (a.half_rows + b.half_rows, a.steps + b.steps, pair, [a.interval, b.interval]);
                if gain < need || best.as_ref().is_some_and(|(smallest, ..)| *smallest <= rank) {
                    continue;
                }
                let changes = [(first, *a), (second, *b)];
                if let Some(score) = self.scored(&changes) {
                    best = Some((rank, changes, score));
                }
            }
        }
        best
    }

    /// For each pair of moves, what trees that use both features add beyond the changes of each feature alone.
    fn together(&self, pair: [usize; 2]) -> Vec<f64> {
        let [first, second] = pair.map(|feature| &self.moves[feature]);
        let (n_rows, n_columns) = (first.len(), second.len());
        // Differences at the corners of rectangles, with a row and a column beyond the last.
        let mut corners = vec![0.0; (n_rows + 1) * (n_columns + 1)];
        let mut is_needed = false;
        for tree in self.trees_with(&pair) {
            is_needed = true;
            let [rows, columns] =
                [(pair[0], first), (pair[1], second)].map(|(feature, moves)| runs(tree, feature, moves));
            let value = |row: Option<usize>, column: Option<usize>| {
                let mut values = self.values.to_vec();
                row.inspect(|row| values[pair[0]] = first[*row].value);
                column.inspect(|column| values[pair[1]] = second[*column].value);
                tree.parts().leaf_value[tree.leaf(&values)]
            };
            for row in rows.array_windows() {
                for column in columns.array_windows() {
                    let [top, bottom] = *row;
                    let [left, right] = *column;
                    let rest = value(Some(top), Some(left)) - value(Some(top), None) - value(None, Some(left))
                        + value(None, None);
                    for (row, column, sign) in
                        [(top, left, 1.0), (top, right, -1.0), (bottom, left, -1.0), (bottom, right, 1.0)]
                    {
                        corners[row * (n_columns + 1) + column] += sign * rest;
                    }
                }
            }
        }
        let mut sums = vec![0.0; n_rows * n_columns];
        if is_needed {
            let mut above = vec![0.0; n_columns];
            for row in 0..n_rows {
                let mut left = 0.0;
                for column in 0..n_columns {
                    left += corners[row * (n_columns + 1) + column];
                    above[column] += left;
                    sums[row * n_columns + column] = above[column];
                }
            }
        }
        sums
    }
}

/// Where runs of moves begin whose values a tree does not distinguish, and the number of moves.
fn runs(tree: &Tree, feature: usize, moves: &[Move]) -> Vec<usize> {
    let parts = tree.parts();
    let mut thresholds: Vec<f64> = (0..tree.n_nodes())
        .filter(|node| parts.feature[*node] as usize == feature)
        .map(|node| parts.threshold[node])
        .collect();
    thresholds.sort_unstable_by(f64::total_cmp);
    let side = |to: &Move| thresholds.partition_point(|threshold| *threshold < to.value);
    let starts = (0..moves.len()).filter(|place| *place == 0 || side(&moves[*place]) != side(&moves[*place - 1]));
    starts.chain([moves.len()]).collect()
}
