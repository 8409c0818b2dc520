//! Feature importance in tree models.

use crate::{Model, ModelError};

/// The importance of one feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureImportance {
    /// The feature's id.
    pub feature: u32,
    /// The number of splits that use it.
    pub splits: u64,
    /// The sum of their gains.
    pub gain: f64,
}

impl Model {
    /// The features of a tree model by descending gain (ties: lower id first).
    pub fn importance(&self) -> Result<Vec<FeatureImportance>, ModelError> {
        let unused = |feature: &u32| FeatureImportance { feature: *feature, splits: 0, gain: 0.0 };
        let mut all: Vec<FeatureImportance> = self.features().iter().map(unused).collect();
        for tree in self.tree_ensemble()?.trees() {
            for (slot, gain) in tree.parts().feature.iter().zip(&tree.parts().gain) {
                all[*slot as usize].splits += 1;
                all[*slot as usize].gain += gain;
            }
        }
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.feature.cmp(&b.feature)));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn gains_and_splits_are_summed_by_feature() {
        let model = crate::model::tests::model();
        let seen: Vec<(u32, u64, f64)> =
            model.importance().unwrap().iter().map(|entry| (entry.feature, entry.splits, entry.gain)).collect();
        assert_eq!(seen, [(3, 1, 3.0), (9, 1, 1.0)]);
    }
}
