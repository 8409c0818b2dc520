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
        /// What helps.
        remedy: ShiftRemedy,
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

/// What to do about shifted ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShiftRemedy {
    /// Read the data with the other offset.
    Offset,
    /// Name the features of the data, since the expected ones have names.
    Names,
    /// Renumber the features of the validation set or of the training data: an offset would shift both.
    Renumber,
    /// Score the data with this model alone: the offset would be wrong for other models that read the same data.
    ScoreAlone,
}

impl fmt::Display for FeatureRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about(&self.owner().to_string()))
    }
}

impl FeatureRemark {
    /// The text with a name for what the features belong to, such as the file of one model of several.
    pub fn about(&self, name: &str) -> String {
        let data = if self.owner() == FeatureOwner::TrainingData { "the validation set" } else { "the data" };
        match self {
            Self::NoneThere { wanted, .. } => format!(
                "none of the {wanted} features of {name} are in {data}, so all documents get the same score; check the \
                 feature ids"
            ),
            Self::Shifted { owner, wanted: [first, last], found: [start, end], used_offset, offset, remedy } => {
                let used = match used_offset {
                    offset if *offset == 0 || *owner == FeatureOwner::TrainingData => String::new(),
                    offset => format!(" with `feature_offset` {offset}"),
                };
                let advice = remedy.advice(*offset, data);
                format!(
                    "feature ids seem to be shifted by one: {name} has ids {first} to {last}, but {data} has {start} to \
                     {end}{used}; if so, {advice}"
                )
            }
            Self::ManyAbsent { wanted, absent, .. } => format!(
                "{absent} of the {wanted} features of {name} are not in {data}; check the feature ids, or whether this is \
                 the right data"
            ),
            Self::NumbersForNames { id, name: feature, .. } => format!(
                "{data} has no feature names, but {name} has: features are matched by id, {id} with {feature:?} and so on; \
                 if that is wrong, set `feature_names`"
            ),
        }
    }

    fn remedy(&self) -> Option<ShiftRemedy> {
        if let Self::Shifted { remedy, .. } = self { Some(*remedy) } else { None }
    }

    fn owner(&self) -> FeatureOwner {
        match self {
            Self::NoneThere { owner, .. }
            | Self::Shifted { owner, .. }
            | Self::ManyAbsent { owner, .. }
            | Self::NumbersForNames { owner, .. } => *owner,
        }
    }
}

impl ShiftRemedy {
    fn advice(self, offset: i32, data: &str) -> String {
        match (self, offset) {
            (Self::Offset, 0) => "remove `feature_offset`".into(),
            (Self::Offset, _) => format!("set `feature_offset` {offset}"),
            (Self::Names, _) => format!("name the features of {data} with `feature_names`"),
            (Self::Renumber, _) => "renumber the features of one of them, since `feature_offset` shifts both".into(),
            (Self::ScoreAlone, 0) => {
                "write its scores with `predict` without `feature_offset`, and use them instead of the model".into()
            }
            (Self::ScoreAlone, _) => format!(
                "write its scores with `predict` and `feature_offset` {offset}, and use them instead of the model"
            ),
        }
    }
}

/// Fewer features may match other data by chance.
const MIN_SHIFTED: usize = 3;

/// Suspicious findings about the features of data.
///
/// For several models that read the same data with one offset, see [`share_offset`].
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
            let remedy = match owner {
                _ if first_name.is_some() && data.feature_names().is_empty() => ShiftRemedy::Names,
                FeatureOwner::TrainingData => ShiftRemedy::Renumber,
                FeatureOwner::Model | FeatureOwner::StartModel => ShiftRemedy::Offset,
            };
            let (wanted, found) = ([*first, *last], [*start, *end]);
            remarks.push(FeatureRemark::Shifted { owner, wanted, found, used_offset, offset, remedy });
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

/// Corrects the remedies for several models that read the same data: an offset helps only if it suits all of them. Takes
/// the findings of [`match_features`] for each model.
pub fn share_offset(models: &mut [Vec<FeatureRemark>]) {
    let offsets: Vec<Option<i32>> = models.iter().map(|remarks| offset_of(remarks)).collect();
    let is_shared = offsets.iter().all(|offset| offset.is_some() && *offset == offsets[0]);
    let is_unnamed = |remark: &FeatureRemark| remark.remedy() == Some(ShiftRemedy::Offset);
    let has_unnamed = models.iter().flatten().any(is_unnamed);
    for remark in models.iter_mut().flatten() {
        let FeatureRemark::Shifted { remedy, .. } = remark else { continue };
        match remedy {
            // Names of the data would not help the models without names.
            ShiftRemedy::Names if is_shared && has_unnamed => *remedy = ShiftRemedy::Offset,
            ShiftRemedy::Offset if !is_shared => *remedy = ShiftRemedy::ScoreAlone,
            _ => {}
        }
    }
}

/// The offset that a model needs, if its features are shifted.
fn offset_of(remarks: &[FeatureRemark]) -> Option<i32> {
    remarks.iter().find_map(|remark| match remark {
        FeatureRemark::Shifted { offset, .. } => Some(*offset),
        _ => None,
    })
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
    fn models_with_names_are_matched_by_name() {
        let wanted = WantedFeatures { owner: FeatureOwner::Model, ids: &[0, 1, 2], first_name: Some("price") };
        let told = match_features(wanted, &data(&[1, 2, 3]), 0)[0].about("m.json");
        let expected = "feature ids seem to be shifted by one: m.json has ids 0 to 2, but the data has 1 to 3; if so, name \
                        the features of the data with `feature_names`";
        assert_eq!(told, expected);
    }

    #[test]
    fn an_offset_must_suit_all_models() {
        let advice = |models: &[WantedFeatures<'_>]| {
            let remarks_of = |wanted: &WantedFeatures<'_>| match_features(*wanted, &data(&[1, 2, 3]), 0);
            let mut models: Vec<_> = models.iter().map(remarks_of).collect();
            share_offset(&mut models);
            let remedy = |remarks: &Vec<FeatureRemark>| remarks.iter().find_map(FeatureRemark::remedy);
            models.iter().map(remedy).collect::<Vec<_>>()
        };
        let model = |ids, first_name| WantedFeatures { owner: FeatureOwner::Model, ids, first_name };
        let (from_0, from_1, named) =
            (model(&[0, 1, 2], None), model(&[1, 2, 3], None), model(&[0, 1, 2], Some("price")));
        let (offset, alone, names) =
            (Some(ShiftRemedy::Offset), Some(ShiftRemedy::ScoreAlone), Some(ShiftRemedy::Names));
        assert_eq!(advice(&[from_0]), [offset]);
        assert_eq!(advice(&[from_0, from_0]), [offset, offset]);
        assert_eq!(advice(&[from_0, from_1]), [alone, None]);
        assert_eq!(advice(&[from_1, named]), [None, names]);
        assert_eq!(advice(&[named, named]), [names, names]);
        assert_eq!(advice(&[named, from_0]), [offset, offset]);
        assert_eq!(advice(&[named, from_0, from_1]), [names, alone, None]);
        assert_eq!(advice(&[]), []);
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
