//! Checks whether data has the features of a model or of the training data, and suggests remedies.

use std::fmt;

use rankwise_data::Documents;
use rankwise_io::FeatureOwner;
use rankwise_model::Model;

/// Features that data should have.
#[derive(Clone, Copy, Debug)]
pub struct WantedFeatures<'a> {
    /// What they belong to, for messages.
    pub owner: FeatureOwner,
    /// Their ids, ascending.
    pub ids: &'a [u32],
    /// The name of the first one, if they have names.
    pub first_name: Option<&'a str>,
}

impl<'a> WantedFeatures<'a> {
    /// The features of a model.
    pub fn of_model(model: &'a Model) -> Self {
        let first_name = model.feature_names().first().map(String::as_str);
        Self { owner: FeatureOwner::Model, ids: model.features(), first_name }
    }

    /// The features of a start model.
    pub fn of_start_model(model: &'a Model) -> Self {
        Self { owner: FeatureOwner::StartModel, ..Self::of_model(model) }
    }

    /// The features of training data.
    pub fn of_training(data: &'a Documents) -> Self {
        let first_name = data.feature_names().first().map(|(_, name)| name.as_str());
        Self { owner: FeatureOwner::TrainingData, ids: data.feature_ids(), first_name }
    }
}

/// A suspicious finding. Options are named in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureRemark {
    /// The data has none of the features.
    NoneThere {
        /// What they belong to.
        owner: FeatureOwner,
        /// The number of features.
        wanted: usize,
    },
    /// All features would be found if the data's ids were one larger or smaller.
    Shifted {
        /// What they belong to.
        owner: FeatureOwner,
        /// The first and last expected id.
        wanted: [u32; 2],
        /// The first and the last id of the data.
        found: [u32; 2],
        /// The offset that the ids of the data were read with.
        used_offset: i32,
        /// The offset that they should be read with.
        offset: i32,
        /// Whether the expected features have names, but the data has none.
        lacks_names: bool,
    },
    /// The data lacks many of the features.
    ManyAbsent {
        /// What they belong to.
        owner: FeatureOwner,
        /// The number of features.
        wanted: usize,
        /// The number of missing features.
        absent: usize,
    },
    /// Named features are matched with features that have only ids.
    NumbersForNames {
        /// What they belong to.
        owner: FeatureOwner,
        /// The id of one of them.
        id: u32,
        /// Its name.
        name: String,
    },
}

impl fmt::Display for FeatureRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoneThere { owner, wanted } => write!(
                f,
                "none of the {wanted} features of {owner} are in {}, so all documents get the same score; check the feature \
                 ids",
                data_for(*owner)
            ),
            Self::Shifted { owner, wanted: [first, last], found: [start, end], used_offset, offset, lacks_names } => {
                let used = match used_offset {
                    offset if *offset == 0 || *owner == FeatureOwner::TrainingData => String::new(),
                    offset => format!(" with `feature_offset` {offset}"),
                };
                let advice = match offset {
                    _ if *owner == FeatureOwner::TrainingData && *lacks_names => {
                        "name the features of the validation set with `feature_names`".to_owned()
                    }
                    _ if *owner == FeatureOwner::TrainingData => {
                        "renumber the features of one of them, since `feature_offset` shifts both".to_owned()
                    }
                    0 => "remove `feature_offset`".to_owned(),
                    offset => format!("set `feature_offset` {offset}"),
                };
                write!(
                    f,
                    "feature ids seem to be shifted by one: {owner} has ids {first} to {last}, but {} has \
                     {start} to {end}{used}; if so, {advice}",
                    data_for(*owner)
                )
            }
            Self::ManyAbsent { owner, wanted, absent } => write!(
                f,
                "{absent} of the {wanted} features of {owner} are not in {}; check the feature ids, or whether this is the \
                 right data",
                data_for(*owner)
            ),
            Self::NumbersForNames { owner, id, name } => write!(
                f,
                "{} has no feature names, but {owner} has: features are matched by id, {id} with {name:?} and so on; if that is \
                 wrong, set `feature_names`",
                data_for(*owner)
            ),
        }
    }
}

/// What the data is called next to the owner of the features.
fn data_for(owner: FeatureOwner) -> &'static str {
    if owner == FeatureOwner::TrainingData { "the validation set" } else { "the data" }
}

/// Fewer features may match other data by chance.
const MIN_SHIFTED: usize = 3;

/// Suspicious findings about the features of data.
pub fn match_features(wanted: WantedFeatures<'_>, data: &Documents, used_offset: i32) -> Vec<FeatureRemark> {
    let mut remarks = Vec::new();
    let WantedFeatures { owner, ids, first_name } = wanted;
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return remarks };
    let found = data.feature_ids();
    let n_there = |shift: i64| {
        let is_there =
            |id: &&u32| u32::try_from(i64::from(**id) + shift).is_ok_and(|id| found.binary_search(&id).is_ok());
        ids.iter().filter(is_there).count()
    };
    let n_found = n_there(0);
    if let (Some(start), Some(end), true) = (found.first(), found.last(), n_found < ids.len()) {
        let is_shifted = |shift: &i64| {
            let moved = |id: &u32| i64::from(*id) + shift;
            (ids.len() >= MIN_SHIFTED && n_there(*shift) == ids.len())
                || (moved(first) == i64::from(*start) && moved(last) == i64::from(*end))
        };
        if let Some(shift) = [1, -1].into_iter().find(is_shifted) {
            let offset = used_offset - shift as i32;
            let lacks_names = first_name.is_some() && data.feature_names().is_empty();
            let (wanted, found) = ([*first, *last], [*start, *end]);
            remarks.push(FeatureRemark::Shifted { owner, wanted, found, used_offset, offset, lacks_names });
        }
    }
    let n_absent = ids.len() - n_found;
    if remarks.is_empty() && n_found == 0 {
        remarks.push(FeatureRemark::NoneThere { owner, wanted: ids.len() });
    } else if remarks.is_empty() && 2 * n_absent > ids.len() {
        remarks.push(FeatureRemark::ManyAbsent { owner, wanted: ids.len(), absent: n_absent });
    }
    if let (Some(name), true) = (first_name, data.feature_names().is_empty() && n_found > 0) {
        remarks.push(FeatureRemark::NumbersForNames { owner, id: *first, name: name.to_owned() });
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwise_data::{Dataset, DatasetBuilder, Row};

    fn data(ids: &[u32]) -> Dataset {
        let features: Vec<(u32, f32)> = ids.iter().map(|id| (*id, 1.0)).collect();
        let mut builder = DatasetBuilder::default();
        builder.push(&Row { qid: "a", label: 1.0, doc_id: "", features: &features }).unwrap();
        builder.finish().unwrap()
    }

    fn remarks(wanted: &[u32], found: &[u32]) -> Vec<FeatureRemark> {
        let wanted = WantedFeatures { owner: FeatureOwner::Model, ids: wanted, first_name: None };
        match_features(wanted, &data(found), 0)
    }

    #[test]
    fn shifts_are_told_from_features_that_are_left_out() {
        let shift = |wanted: &[u32], found: &[u32]| match &remarks(wanted, found)[..] {
            [FeatureRemark::Shifted { offset, .. }] => Some(*offset),
            [] => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(shift(&[0, 1, 2, 3], &[1, 2, 3, 4]), Some(-1));
        assert_eq!(shift(&[1, 2, 3, 4], &[0, 1, 2, 3]), Some(1));
        // Each side lacks some features of the other.
        assert_eq!(shift(&[0, 2, 3], &[1, 2, 3, 4, 5]), Some(-1));
        assert_eq!(shift(&[0, 1, 2, 3, 9], &[1, 3, 4, 10]), Some(-1));
        assert_eq!(shift(&[3], &[4]), Some(-1));
        assert_eq!(shift(&[3, 7], &[3, 6, 8]), None);
        // All are found unchanged.
        assert_eq!(shift(&[1, 2, 3], &[1, 2, 3, 4]), None);
        assert_eq!(shift(&[0, 1, 2, 3, 4], &[0, 1, 2, 4]), None);
    }

    #[test]
    fn the_advice_counts_from_the_offset_in_use() {
        let told = |used_offset: i32| {
            let wanted = WantedFeatures { owner: FeatureOwner::Model, ids: &[1, 2, 3], first_name: None };
            match_features(wanted, &data(&[0, 1, 2]), used_offset)[0].to_string()
        };
        assert!(told(0).ends_with("but the data has 0 to 2; if so, set `feature_offset` 1"), "{}", told(0));
        let taken_back = "has 0 to 2 with `feature_offset` -1; if so, remove `feature_offset`";
        assert!(told(-1).ends_with(taken_back), "{}", told(-1));
        assert!(told(4).ends_with("with `feature_offset` 4; if so, set `feature_offset` 5"), "{}", told(4));
    }

    /// The offset applies to both, so it cannot bring them together.
    #[test]
    fn a_shifted_validation_set_is_to_be_renumbered() {
        let wanted = WantedFeatures { owner: FeatureOwner::TrainingData, ids: &[1, 2, 3], first_name: None };
        for used_offset in [0, 1] {
            let told = match_features(wanted, &data(&[0, 1, 2]), used_offset)[0].to_string();
            let expected = "feature ids seem to be shifted by one: the training data has ids 1 to 3, but the validation set \
                            has 0 to 2; if so, renumber the features of one of them, since `feature_offset` shifts both";
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn absent_features_are_counted() {
        assert_eq!(remarks(&[5, 6], &[1, 2]), [FeatureRemark::NoneThere { owner: FeatureOwner::Model, wanted: 2 }]);
        let many = FeatureRemark::ManyAbsent { owner: FeatureOwner::Model, wanted: 5, absent: 3 };
        assert_eq!(remarks(&[1, 3, 5, 7, 9], &[1, 3, 12]), [many]);
        assert_eq!(remarks(&[1, 3, 5, 7], &[1, 3, 12]), []);
        assert_eq!(remarks(&[], &[1]), []);
    }

    #[test]
    fn numbers_for_names_are_told() {
        let wanted = WantedFeatures { owner: FeatureOwner::Model, ids: &[0, 1], first_name: Some("price") };
        let told = match_features(wanted, &data(&[0, 1]), 0);
        assert_eq!(told.len(), 1);
        assert!(told[0].to_string().contains("matched by id, 0 with \"price\""), "{}", told[0]);
    }
}
