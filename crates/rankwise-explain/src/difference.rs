//! Why one document has a higher score than another: the difference of their scores, divided among the features.
//!
//! The features move from the second document to the first, one after the other. What a feature adds when its turn comes, averaged
//! over all orders, is its contribution: the Shapley value of the game in which a set of features has the first document's values and
//! the others have the second's. Contributions add up to the difference, and features with equal values contribute nothing.
//!
//! A leaf of a tree counts only for hybrids that reach it. Of the features on its path, let `p` need the first document's value, and
//! `n` the second's. Then each of the former adds `value * B(p, n + 1)`, each of the latter `-value * B(p + 1, n)`, where `B` is the beta
//! function.

use rankwise_model::{Child, Model, Output, Ranker, Tree};

use crate::ExplainError;

/// What each feature contributes to the score of `first` minus that of `second`. The documents have rounded values of the model's features,
/// and so have the contributions.
///
/// ```
/// use rankwise_explain::difference;
/// use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};
///
/// let header = Header::new(AbsentFeature::Missing, Precision::F64, vec![3, 7]);
/// let model = Model::new(header, LinearRanker::new(0.5, vec![2.0, -1.0])?)?;
/// assert_eq!(difference(&model, &[1.5, 1.0], &[0.5, 1.0])?, [2.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn difference(model: &Model, first: &[f64], second: &[f64]) -> Result<Vec<f64>, ExplainError> {
    let mut sums = vec![0.0; model.features().len()];
    match model.ranker() {
        Ranker::Trees(ensemble) => {
            if *ensemble.output() != Output::Sum {
                return Err(ExplainError::SeveralOutputs);
            }
            for tree in ensemble.trees() {
                Hybrids { tree, first, second, needs: Vec::new() }.visit(0, &mut sums);
            }
        }
        Ranker::Linear(linear) => {
            check_contributions(model)?;
            let terms = linear.terms(first).into_iter().zip(linear.terms(second));
            sums.iter_mut().zip(terms).for_each(|(sum, (first, second))| *sum = first - second);
        }
        Ranker::Neural(_) => check_contributions(model)?,
    }
    Ok(sums)
}

/// Checks that scores can be divided among features: exactly, and document by document.
pub(crate) fn check_contributions(model: &Model) -> Result<(), ExplainError> {
    let because = match model.ranker() {
        Ranker::Neural(_) => "a network is not a sum over features",
        _ if model.is_listwise() => "its scores depend on the other documents of a list",
        _ => return Ok(()),
    };
    Err(ExplainError::NoContributions { kind: model.ranker().kind(), because })
}

/// A walk over the leaves that some hybrid of two documents reaches.
struct Hybrids<'a> {
    tree: &'a Tree,
    first: &'a [f64],
    second: &'a [f64],
    /// The features of the path on which the documents differ, and whether it is the first document that passes.
    needs: Vec<(u32, bool)>,
}

impl Hybrids<'_> {
    fn visit(&mut self, node: usize, sums: &mut [f64]) {
        let parts = self.tree.parts();
        if self.tree.n_nodes() == 0 {
            return;
        }
        let feature = parts.feature[node];
        let [first, second] = [self.first, self.second].map(|doc| goes_left(self.tree, node, doc));
        for (is_left, code) in [(true, parts.left[node]), (false, parts.right[node])] {
            let need = match (first == is_left, second == is_left) {
                (false, false) => continue,
                (true, true) => None,
                (by_first, _) => Some((feature, by_first)),
            };
            let known = self.needs.iter().find(|(other, _)| *other == feature);
            // No hybrid passes one test with the first document's value and another with the second's.
            if need.zip(known).is_some_and(|(need, known)| need != *known) {
                continue;
            }
            let is_new = need.is_some() && known.is_none();
            self.needs.extend(need.filter(|_| is_new));
            match Child::decode(code) {
                Child::Node(child) => self.visit(child, sums),
                Child::Leaf(leaf) => self.add(parts.leaf_value[leaf], sums),
            }
            if is_new {
                self.needs.pop();
            }
        }
    }

    fn add(&self, value: f64, sums: &mut [f64]) {
        let by_first = self.needs.iter().filter(|(_, by_first)| *by_first).count();
        let by_second = self.needs.len() - by_first;
        for (feature, is_by_first) in &self.needs {
            sums[*feature as usize] +=
                if *is_by_first { value * beta(by_first, by_second) } else { -value * beta(by_second, by_first) };
        }
    }
}

/// The beta function of `a` and `b + 1`, for positive `a`.
fn beta(a: usize, b: usize) -> f64 {
    (1..=b).fold(1.0 / a as f64, |product, k| product * (k as f64 / (a + k) as f64))
}

/// Whether a document goes left at a node.
pub(crate) fn goes_left(tree: &Tree, node: usize, values: &[f64]) -> bool {
    let parts = tree.parts();
    let value = values[parts.feature[node] as usize];
    if value.is_nan() { parts.missing_left[node] } else { value <= parts.threshold[node] }
}
