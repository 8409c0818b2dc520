//! Prunes trees while keeping nearly the same ranking: optimal brain surgeon (Hassibi and Stork 1993) on the trees of a
//! model.
//!
//! ```text
//! G      for two trees, the sum over documents of the product of their values, each centred by query
//! cost   (w - 1)' (G + r I) (w - 1): how far the weighted trees are from the model within queries; all w start at 1
//! B      the inverse of G + r I over the remaining trees
//! step   drop the tree q with the smallest w_q^2 / B_qq, update the others: w -= B_q w_q / B_qq, B -= B_q B_q' / B_qq
//! ```
//!
//! Each step drops the tree that the others can best replace, and gives these the optimal weights. Labels are not used,
//! except that the metric decides when to stop: pruning continues while the metric stays within the bound.

use rankwise_data::{Dataset, reduce};
use rankwise_metrics::{Evaluator, MetricError, MetricName, Rules};
use rankwise_model::{Model, Output, Tree, TreeEnsemble};
use rayon::prelude::*;

use crate::StartError;
use crate::start::{Start, check, model_fingerprint};
use crate::values::Values;

/// How strongly weights are pulled to 1, relative to the mean variation of trees: enough to separate similar trees.
const RIDGE: f64 = 1e-6;
/// At most this many sizes are evaluated first; then those between the last two of them.
const COARSE: usize = 64;

/// A model that cannot be pruned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PruneError {
    /// It does not match the data.
    #[error(transparent)]
    Model(#[from] StartError),
    /// The metric cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// No query counts in the metric.
    #[error(
        "no query has a relevant document and a weight above 0, so '{metric}' cannot tell models apart; use other data"
    )]
    NothingToMeasure {
        /// The metric.
        metric: String,
    },
    /// The bound is negative or not a number.
    #[error("invalid maximum loss {0}; use a number of at least 0")]
    Bound(f64),
    /// The model has several outputs.
    #[error(
        "the model has one output per label (objective=multiclass), which pruning does not support; use a model with one score"
    )]
    Outputs,
    /// There is nothing to drop.
    #[error("the model has no trees, so there is nothing to prune; use another model")]
    NoTrees,
}

/// A model with fewer trees.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// The model.
    pub model: Model,
    /// The metric of the whole model.
    pub before: f64,
    /// The metric of the pruned model.
    pub after: f64,
}

/// Drops as many trees as possible, while the metric on the data decreases by at most `max_loss`.
pub fn prune(
    model: &Model,
    data: &Dataset,
    metric: &MetricName,
    rules: &Rules,
    max_loss: f64,
) -> Result<Pruned, PruneError> {
    if max_loss.is_nan() || max_loss < 0.0 {
        return Err(PruneError::Bound(max_loss));
    }
    let start = Start::new(model)?;
    let (trees, base_score) = (start.ensemble.trees(), start.ensemble.base_score());
    if trees.is_empty() {
        return Err(PruneError::NoTrees);
    }
    if *start.ensemble.output() != Output::Sum {
        return Err(PruneError::Outputs);
    }
    check(start, data.into(), &Output::Sum)?;
    let values = Values::new(model, data, 0..data.n_rows());
    let leaves: Vec<Vec<u32>> = trees.iter().map(|tree| values.leaves(tree)).collect();
    drop(values);
    let evaluator = Evaluator::new(data, std::slice::from_ref(metric), rules)?;
    let measured = |kept: &[(usize, Tree)], base_score: f64| -> Result<f64, PruneError> {
        let value = evaluator.evaluate_canonical(&scores(kept, &leaves, base_score))?.metrics[0].mean;
        value.ok_or_else(|| PruneError::NothingToMeasure { metric: metric.as_str().to_owned() })
    };
    let whole: Vec<(usize, Tree)> = trees.iter().cloned().enumerate().collect();
    let before = measured(&whole, base_score)?;
    let allows = |value: f64| {
        let loss = if metric.kind().is_better(1.0, 0.0) { before - value } else { value - before };
        loss <= max_loss
    };
    let path = Path::new(&gram(data, trees, &leaves));
    let weighted = |n_trees: usize| {
        let kept: Vec<(usize, Tree)> =
            path.of_size(n_trees).iter().map(|(tree, weight)| (*tree, trees[*tree].scaled(*weight))).collect();
        let mean =
            |kept: &[(usize, Tree)]| reduce::sum(scores(kept, &leaves, base_score)) / data.n_rows().max(1) as f64;
        // Weights are fitted within queries; keep the mean of all scores.
        let new_base_score = base_score + (mean(&whole) - mean(&kept));
        (kept, new_base_score)
    };
    let is_allowed = |n_trees: usize| -> Result<bool, PruneError> {
        let (kept, base_score) = weighted(n_trees);
        Ok(allows(measured(&kept, base_score)?))
    };
    let n_trees = trees.len();
    let step = n_trees.div_ceil(COARSE);
    // The last of descending sizes before the first one out of bounds. A smaller size within the bound would be chance.
    let last_allowed = |start: usize, sizes: &mut dyn Iterator<Item = usize>| -> Result<usize, PruneError> {
        let mut last = start;
        for size in sizes {
            if !is_allowed(size)? {
                break;
            }
            last = size;
        }
        Ok(last)
    };
    let coarse = last_allowed(n_trees, &mut (1..n_trees).rev().skip(step - 1).step_by(step))?;
    let n_kept = last_allowed(coarse, &mut (coarse.saturating_sub(step).max(1)..coarse).rev())?;
    if n_kept == n_trees {
        return Ok(Pruned { model: model.clone(), before, after: before });
    }
    let (kept, base_score) = weighted(n_kept);
    let after = measured(&kept, base_score)?;
    let mut header = model.header().clone();
    let made_of = format!("max_loss={max_loss} metric={} {}", metric.as_str(), model_fingerprint(start));
    header.params.insert("pruned".into(), made_of);
    let trees = kept.into_iter().map(|(_, tree)| tree).collect();
    let ensemble = TreeEnsemble::new(base_score, Output::Sum, trees).map_err(StartError::from)?;
    let model = Model::new(header, ensemble).map_err(StartError::from)?;
    Ok(Pruned { model, before, after })
}

/// The scores of all rows by some trees, as their model would compute them.
fn scores(trees: &[(usize, Tree)], leaves: &[Vec<u32>], base_score: f64) -> Vec<f64> {
    let n_rows = leaves.first().map_or(0, Vec::len);
    let mut scores = vec![base_score; n_rows];
    scores.par_chunks_mut(1024).enumerate().for_each(|(chunk, scores)| {
        for (idx, tree) in trees {
            let values = &tree.parts().leaf_value;
            let leaves = &leaves[*idx][chunk * 1024..][..scores.len()];
            scores.iter_mut().zip(leaves).for_each(|(score, leaf)| *score += values[*leaf as usize]);
        }
    });
    scores
}

/// The Gram matrix of all trees.
fn gram(data: &Dataset, trees: &[Tree], leaves: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<f32>> = trees
        .par_iter()
        .zip(leaves)
        .map(|(tree, leaves)| {
            let values = &tree.parts().leaf_value;
            let mut column = Vec::with_capacity(leaves.len());
            for query in 0..data.n_queries() {
                let leaves = &leaves[data.query_rows(query)];
                let sum: f64 = leaves.iter().map(|leaf| values[*leaf as usize]).sum();
                let mean = sum / leaves.len() as f64;
                column.extend(leaves.iter().map(|leaf| (values[*leaf as usize] - mean) as f32));
            }
            column
        })
        .collect();
    let lower: Vec<Vec<f64>> = (0..columns.len())
        .into_par_iter()
        .map(|a| (0..=a).map(|b| product(&columns[a], &columns[b])).collect())
        .collect();
    (0..columns.len())
        .map(|a| (0..columns.len()).map(|b| if b <= a { lower[a][b] } else { lower[b][a] }).collect())
        .collect()
}

/// In eight partial sums, for vector instructions.
fn product(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_parts, b_parts) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_parts.remainder().iter().zip(b_parts.remainder());
    let left: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    for (a, b) in a_parts.zip(b_parts) {
        for lane in 0..LANES {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    sums.into_iter().sum::<f64>() + left
}

/// The remaining trees after each step, from all trees down to one.
struct Path {
    /// The trees, with their weights.
    sizes: Vec<Vec<(usize, f64)>>,
}

impl Path {
    fn new(gram: &[Vec<f64>]) -> Self {
        let n_trees = gram.len();
        let mean = (0..n_trees).map(|tree| gram[tree][tree]).sum::<f64>() / n_trees as f64;
        let ridge = if mean > 0.0 { RIDGE * mean } else { 1.0 };
        let mut inverse = inverse(gram, ridge);
        let mut left: Vec<(usize, f64)> = (0..n_trees).map(|tree| (tree, 1.0)).collect();
        let mut sizes = vec![left.clone()];
        while left.len() > 1 {
            let cost = |(tree, weight): &(usize, f64)| weight * weight / inverse[*tree][*tree];
            let place =
                (0..left.len()).min_by(|a, b| cost(&left[*a]).total_cmp(&cost(&left[*b]))).expect("some tree is left");
            let (dropped, weight) = left.remove(place);
            let row = inverse[dropped].clone();
            let factor = weight / row[dropped];
            for (tree, weight) in &mut left {
                *weight -= factor * row[*tree];
            }
            inverse.par_iter_mut().enumerate().for_each(|(tree, of_tree)| {
                let factor = row[tree] / row[dropped];
                of_tree.iter_mut().zip(&row).for_each(|(value, other)| *value -= factor * other);
            });
            // For similar trees, rounding may give a value that is not positive.
            for (tree, _) in &left {
                inverse[*tree][*tree] = inverse[*tree][*tree].max(f64::MIN_POSITIVE);
            }
            sizes.push(left.clone());
        }
        Self { sizes }
    }

    fn of_size(&self, n_trees: usize) -> &[(usize, f64)] {
        &self.sizes[self.sizes.len() - n_trees]
    }
}

/// The inverse of a positive definite matrix with `ridge` added to its diagonal, by Gauss-Jordan elimination.
fn inverse(matrix: &[Vec<f64>], ridge: f64) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut left: Vec<Vec<f64>> = matrix.to_vec();
    let mut right: Vec<Vec<f64>> = vec![vec![0.0; size]; size];
    for at in 0..size {
        left[at][at] += ridge;
        right[at][at] = 1.0;
    }
    for at in 0..size {
        // A positive definite matrix needs no pivoting.
        let pivot = left[at][at].max(f64::MIN_POSITIVE);
        left[at].iter_mut().chain(&mut right[at]).for_each(|value| *value /= pivot);
        let (of_left, of_right) = (left[at].clone(), right[at].clone());
        left.par_iter_mut().zip(&mut right).enumerate().filter(|(row, _)| *row != at).for_each(|(_, (left, right))| {
            let factor = left[at];
            left[at..].iter_mut().zip(&of_left[at..]).for_each(|(value, other)| *value -= factor * other);
            right.iter_mut().zip(&of_right).for_each(|(value, other)| *value -= factor * other);
        });
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns, the third being the sum of the first two. Dropping it leaves the others with weight 2.
    #[test]
    fn others_take_over_what_is_dropped() {
        let columns = [vec![1.0f32, -1.0, 0.0, 0.0], vec![0.0, 0.0, 3.0, -3.0], vec![1.0, -1.0, 3.0, -3.0]];
        let gram: Vec<Vec<f64>> = columns.iter().map(|a| columns.iter().map(|b| product(a, b)).collect()).collect();
        let path = Path::new(&gram);
        let [(first, a), (second, b)] = path.of_size(2) else { panic!() };
        let total: Vec<f64> =
            (0..4).map(|row| a * f64::from(columns[*first][row]) + b * f64::from(columns[*second][row])).collect();
        for (found, expected) in total.iter().zip([2.0, -2.0, 6.0, -6.0]) {
            assert!((found - expected).abs() < 1e-3, "{total:?}");
        }
        assert_eq!(path.of_size(1).len(), 1);
    }

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, 0.0], vec![0.5, 0.0, 2.0]];
        let inverse = inverse(&matrix, 0.0);
        let entry = |row: usize, column: usize| (0..3).map(|at| matrix[row][at] * inverse[at][column]).sum::<f64>();
        for (row, column) in (0..9).map(|idx| (idx / 3, idx % 3)) {
            assert!((entry(row, column) - f64::from(u8::from(row == column))).abs() < 1e-12);
        }
        assert_eq!(product(&[1.0; 19], &[2.0; 19]), 38.0);
    }
}
