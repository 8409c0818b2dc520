//! The smallest changes against a search over all of them.

use proptest::prelude::*;
use rankwise_data::{Absent, Dataset};
use rankwise_explain::{Counterfactual, Ranges, counterfactuals};
use rankwise_model::Model;

use crate::models::{documents, model, tree};

const FEATURES: usize = 4;
/// A value of each interval between thresholds, which lie at 0.5, 1.5, ...; the values of documents are among them.
const VALUES: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

/// Twice the rows that a change passes: those between the two values, and half of those with one of them; missing values come first.
fn half_rows_passed(data: &[f32], feature: usize, from: f64, to: f64) -> usize {
    let values = data.chunks(FEATURES).map(|row| f64::from(row[feature])).filter(|value| !value.is_nan());
    let weight = |value: f64| {
        let is_between = if from.is_nan() { value < to } else { from.min(to) < value && value < from.max(to) };
        if is_between { 2 } else { usize::from(value == from || value == to) }
    };
    values.map(weight).sum()
}

/// Twice the least number of rows that changes of exactly these features pass, if they can exceed the goal.
fn least(model: &Model, data: &[f32], doc: &[f64], goal: f64, n_changes: usize) -> Option<usize> {
    let mut least: Option<usize> = None;
    let mut values = doc.to_vec();
    let mut visit = |changes: &[(usize, f64)]| {
        values.copy_from_slice(doc);
        for (feature, to) in changes {
            values[*feature] = *to;
        }
        if model.score(&values) > goal {
            let rows = changes.iter().map(|(feature, to)| half_rows_passed(data, *feature, doc[*feature], *to)).sum();
            least = Some(least.map_or(rows, |least| least.min(rows)));
        }
    };
    // A value that the model does not tell from the document's own is no change.
    let parts = || model.tree_ensemble().unwrap().trees().iter().map(rankwise_model::Tree::parts);
    let thresholds = [0.5, 1.5, 2.5, 3.5];
    let is_used = |feature: usize, at: f64| {
        let uses = |parts: &rankwise_model::TreeParts| {
            parts.feature.iter().zip(&parts.threshold).any(|(other, found)| *other as usize == feature && *found == at)
        };
        parts().any(uses)
    };
    let is_apart = |feature: usize, a: f64, b: f64| {
        thresholds.into_iter().any(|at| is_used(feature, at) && (a <= at) != (b <= at))
    };
    let changes_to = |feature: usize, to: f64| {
        let column = || data.chunks(FEATURES).map(|row| f64::from(row[feature])).filter(|value| !value.is_nan());
        // A value that occurs in the data is preferred to others that the model does not tell from it.
        let is_preferred = column().any(|value| value == to) || column().all(|value| is_apart(feature, value, to));
        let is_used = thresholds.into_iter().any(|at| is_used(feature, at));
        is_preferred && if doc[feature].is_nan() { is_used } else { is_apart(feature, doc[feature], to) }
    };
    for first in 0..FEATURES {
        for a in VALUES.into_iter().filter(|to| changes_to(first, *to)) {
            if n_changes == 1 {
                visit(&[(first, a)]);
                continue;
            }
            for second in first + 1..FEATURES {
                for b in VALUES.into_iter().filter(|to| changes_to(second, *to)) {
                    visit(&[(first, a), (second, b)]);
                }
            }
        }
    }
    least
}

fn half_rows(found: &Counterfactual, n_rows: usize) -> usize {
    (found.share() * 2.0 * n_rows as f64).round() as usize
}

proptest! {
    #[test]
    fn changes_are_the_smallest_and_work(
        trees in prop::collection::vec(tree(FEATURES as u32, 8), 1..5),
        values in documents(FEATURES, 12),
        lead in 0.0..3.0,
    ) {
        let model = model(FEATURES as u32, trees);
        let data = Dataset::from_dense(&values, FEATURES).labels(&[1.0; 12]).group_sizes(&[12]).build().unwrap();
        prop_assert_eq!(data.absent(), Absent::Missing);
        let ranges = Ranges::new(&model, model.tree_ensemble().unwrap(), &data);
        let doc: Vec<f64> = values[..FEATURES].iter().map(|value| f64::from(*value)).collect();
        let goal = model.score(&doc) + lead;
        let found = counterfactuals(&model, &ranges, &doc, goal).unwrap();
        for (n_changes, found) in [1, 2].into_iter().zip(&found) {
            let expected = least(&model, &values, &doc, goal, n_changes);
            prop_assert_eq!(found.as_ref().map(|found| half_rows(found, 12)), expected, "{} changes", n_changes);
            let Some(found) = found else { continue };
            let mut changed = doc.clone();
            found.changes.iter().for_each(|change| changed[change.feature] = change.to);
            prop_assert_eq!(found.changes.len(), n_changes);
            prop_assert_eq!(model.score(&changed), found.score);
            prop_assert!(found.score > goal);
        }
    }
}
