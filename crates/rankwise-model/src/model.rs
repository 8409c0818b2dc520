//! A model: a ranker of some kind with its header.

use std::collections::BTreeMap;

use crate::{AbsentFeature, Header, ModelError, Precision, Ranker, TrainedOn, TreeEnsemble};

/// A trained ranker with its header. It is checked when it is created, so every `Model` can be scored and saved.
///
/// ```
/// use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};
///
/// // 0.5 + 2 * feature 3 - feature 7
/// let header = Header::new(AbsentFeature::Missing, Precision::F64, vec![3, 7]);
/// let model = Model::new(header, LinearRanker::new(0.5, vec![2.0, -1.0])?)?;
/// assert_eq!(model.score(&[1.5, 0.25]), 3.25);
/// assert_eq!(model.score(&[1.5, f64::NAN]), 3.5, "a missing value adds nothing");
/// assert_eq!(Model::from_json(model.to_json().as_bytes())?, model);
/// assert!(model.tree_ensemble().is_err(), "this model has no trees");
/// # Ok::<(), rankwise_model::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    header: Header,
    ranker: Ranker,
}

impl Model {
    /// Checks the header, and that the ranker uses only features of the header.
    pub fn new(header: Header, ranker: impl Into<Ranker>) -> Result<Self, ModelError> {
        let model = Self { header, ranker: ranker.into() };
        model.header.check()?;
        model.ranker.check(model.header.features.len())?;
        Ok(model)
    }

    /// The same model with another ranker.
    pub fn with_ranker(&self, ranker: impl Into<Ranker>) -> Result<Self, ModelError> {
        Self::new(self.header.clone(), ranker)
    }

    /// The score of one document, given values in the order of [`Self::features`]; NaN is missing.
    pub fn score(&self, values: &[f64]) -> f64 {
        let rounded: Vec<f64> = values.iter().map(|value| self.header.precision.round(*value)).collect();
        self.score_rounded(&rounded)
    }

    /// [`Self::score`] for values that are already rounded.
    pub fn score_rounded(&self, values: &[f64]) -> f64 {
        self.ranker.score(values)
    }

    /// Whether the score of a document depends on the other documents of its list, so that documents can only be scored
    /// together with them.
    pub fn is_listwise(&self) -> bool {
        self.ranker.is_listwise()
    }

    /// The scores of the documents of one list, given their values rounded to [`Self::precision`], one document after the
    /// other in the order of [`Self::features`]; NaN is missing. The order of the documents does not matter.
    ///
    /// # Panics
    /// If there is not a value for each feature of each document.
    pub fn score_list(&self, values: &[f64], scores: &mut [f64]) {
        let n_values = self.features().len() * scores.len();
        assert_eq!(values.len(), n_values, "each document has a value for each feature");
        self.ranker.score_list(values, scores);
    }

    /// What is common to all kinds of rankers.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The ranker.
    pub fn ranker(&self) -> &Ranker {
        &self.ranker
    }

    /// The trees, for code that works only with trees; an error for other kinds of rankers.
    pub fn tree_ensemble(&self) -> Result<&TreeEnsemble, ModelError> {
        self.ranker.tree_ensemble()
    }

    /// The objective; empty if unknown.
    pub fn objective(&self) -> &str {
        &self.header.objective
    }

    /// The non-default parameters, as typed.
    pub fn params(&self) -> &BTreeMap<String, String> {
        &self.header.params
    }

    /// The data it was trained on.
    pub fn trained_on(&self) -> &TrainedOn {
        &self.header.trained_on
    }

    /// The meaning of absent features. Data for the model must be read with the same meaning.
    pub fn absent(&self) -> AbsentFeature {
        self.header.absent
    }

    /// How values are rounded before the ranker sees them.
    pub fn precision(&self) -> Precision {
        self.header.precision
    }

    /// The ids of the features that the ranker uses, ascending.
    pub fn features(&self) -> &[u32] {
        &self.header.features
    }

    /// The names of these features; empty if they have none.
    pub fn feature_names(&self) -> &[String] {
        &self.header.feature_names
    }

    /// The ids of the features that training compared as f64, ascending; empty for most models.
    pub fn f64_features(&self) -> &[u32] {
        &self.header.f64_features
    }

    /// Each feature's id with its name; empty if they have no names.
    pub fn named_features(&self) -> Vec<(u32, String)> {
        self.features().iter().copied().zip(self.feature_names().iter().cloned()).collect()
    }

    /// The name of a feature for users: its name or, without one, its id.
    pub fn feature_label(&self, feature: u32) -> String {
        let place = self.features().binary_search(&feature).ok();
        let name = place.and_then(|place| self.feature_names().get(place));
        name.cloned().unwrap_or_else(|| feature.to_string())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Output, Tree, tree};

    /// Features 3 and 9.
    pub(crate) fn header() -> Header {
        Header {
            objective: "lambdamart".into(),
            params: BTreeMap::from([("num_leaves".into(), "3".into())]),
            trained_on: TrainedOn { fingerprint: "00ff".into(), rows: 10, queries: 2 },
            ..Header::new(AbsentFeature::Missing, Precision::F32, vec![3, 9])
        }
    }

    pub(crate) fn model() -> Model {
        let trees = vec![Tree::new(tree::tests::example()).unwrap(), Tree::constant(1e-17, 10)];
        Model::new(header(), TreeEnsemble::new(0.1, Output::Sum, trees).unwrap()).unwrap()
    }

    #[test]
    fn values_are_rounded_before_they_are_scored() {
        let model = model();
        assert_eq!(model.score(&[1.0, 0.0]), 0.1 + 1.5 + 1e-17);
        // Just above 0.5 in f64, but 0.5 in f32.
        assert_eq!(model.score(&[0.5 + 1e-12, 0.0]), 0.1 - 1.0);
        assert_eq!(model.score_rounded(&[0.5 + 1e-12, 0.0]), 0.1 + 1.5 + 1e-17);
    }

    #[test]
    fn only_what_fits_together_becomes_a_model() {
        let ranker = model().ranker().clone();
        let with_features =
            |features: &[u32]| Model::new(Header { features: features.to_vec(), ..header() }, ranker.clone());
        assert!(with_features(&[3, 9, 10]).is_ok());
        assert!(matches!(with_features(&[3]), Err(ModelError::Tree { tree: 0, .. })));
        assert!(matches!(with_features(&[9, 3]), Err(ModelError::Content { .. })));
    }

    #[test]
    fn features_are_called_by_name_or_by_id() {
        let names = vec!["price".into(), "age".into()];
        let named = Model::new(Header { feature_names: names, ..header() }, model().ranker().clone()).unwrap();
        assert_eq!([3, 9, 4].map(|id| named.feature_label(id)), ["price", "age", "4"]);
        assert_eq!(model().feature_label(3), "3");
    }
}
