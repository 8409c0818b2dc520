//! The data that models are trained on and validated with.

use std::path::Path;

use rankwise::WantedFeatures;
use rankwise::data::{Absent, Dataset, Documents, Keep, LoadedData};
use rankwise::io::{FeatureOwner, Format, LayoutSpec, PartReport, ReadData, ReadOptions};
use rankwise::model::{Model, Precision};

use crate::data_paths::DataPaths;
use crate::failure::user_at;
use crate::files;
use crate::output::Output;

/// What determines how data is read.
pub(crate) struct Inputs<'a> {
    /// A file of pairs to learn from.
    pub(crate) pairs: Option<&'a Path>,
    pub(crate) layout: LayoutSpec,
    pub(crate) absent: Absent,
    /// The start model.
    pub(crate) start: Option<&'a Model>,
    pub(crate) output: Output,
}

impl Inputs<'_> {
    fn options(&self, keep: Keep) -> ReadOptions {
        // The start model scores all documents.
        let scores_f64 = self.start.is_some_and(|model| model.precision() == Precision::F64);
        let keep = if scores_f64 { Keep::All } else { keep };
        ReadOptions { layout: self.layout.clone(), keep, ..ReadOptions::new(self.absent) }
    }

    /// How the training data is read, as far as its lines are concerned.
    pub(crate) fn read_options(&self) -> ReadOptions {
        self.options(Keep::WhereNeeded)
    }

    /// Reads the training data, which needs labels or pairs.
    pub(crate) fn training_data(&self, paths: &DataPaths) -> anyhow::Result<ReadData<LoadedData>> {
        let read = self.read_training_data(paths)?;
        let is_table = |part: &PartReport| part.format.is_some_and(|format| format != Format::Letor);
        let has_none = self.layout.label_column.as_deref() == Some("none");
        if self.pairs.is_none() && has_none && read.report.parts.iter().any(is_table) {
            let message = "there are no labels (--label-column none); training needs a label column";
            return Err(user_at(paths.place(), message));
        }
        Ok(read)
    }

    /// Reads training data with its values, which a cache of binned data does not have.
    pub(crate) fn training_values(&self, paths: &DataPaths) -> anyhow::Result<ReadData> {
        files::read_data(paths, &self.read_options())
    }

    fn read_training_data(&self, paths: &DataPaths) -> anyhow::Result<ReadData<LoadedData>> {
        let pairs = self.pairs.map(Path::to_path_buf);
        // With pairs, labels are not needed.
        let options = ReadOptions { is_label_optional: pairs.is_some(), pairs, ..self.options(Keep::WhereNeeded) };
        let Some(model) = self.start else { return files::read_training_data(paths, &options) };
        let features = Some(model.named_features()).filter(|names| !names.is_empty());
        let is_named_by_lightgbm = rankwise::is_named_by_lightgbm(model);
        let feature_owner = FeatureOwner::StartModel;
        let options =
            ReadOptions { features, feature_owner, takes_more_features: true, is_named_by_lightgbm, ..options };
        // A start model needs values.
        let ReadData { data, report } = files::read_data(paths, &options)?;
        if !model.features().is_empty() {
            if model.feature_names().is_empty() {
                let known = "the start model identifies features by number; use names in both or in neither";
                files::check_unnamed(&data, paths.place(), known, model.features())?;
            }
            files::check_named(model, &data, paths.place(), FeatureOwner::StartModel)?;
            let offset = self.layout.feature_offset;
            files::warn_features(WantedFeatures::of_start_model(model), &data, paths.place(), offset, self.output);
        }
        Ok(ReadData { data: LoadedData::Values(data), report })
    }

    /// Reads the validation sets, with the columns of the training data in any order.
    pub(crate) fn valid_data(&self, sets: &[DataPaths], training: &Documents) -> anyhow::Result<Vec<ReadData>> {
        let features = Some(training.feature_names().to_vec()).filter(|names| !names.is_empty());
        let is_unnamed = features.is_none() && training.n_features() > 0;
        let is_label_optional = self.pairs.is_some();
        let keep = if training.f64_features().is_empty() { Keep::Rounded } else { Keep::All };
        let feature_owner = FeatureOwner::TrainingData;
        let options = ReadOptions { features, feature_owner, is_label_optional, ..self.options(keep) };
        let read = |paths: &DataPaths| {
            let read = files::read_data(paths, &options)?;
            if is_unnamed {
                files::check_unnamed(
                    &read.data,
                    paths.place(),
                    "the training data identifies features by number; use names in both or in neither",
                    training.feature_ids(),
                )?;
            }
            self.check_valid(training, &read.data, paths.place())?;
            Ok(read)
        };
        sets.iter().map(read).collect()
    }

    /// Rejects a validation set that cannot evaluate the model, and warns of suspicious ones.
    fn check_valid(&self, training: &Documents, data: &Dataset, path: &Path) -> anyhow::Result<()> {
        let has_any = || training.feature_ids().iter().any(|id| data.feature_ids().binary_search(id).is_ok());
        if training.n_features() > 0 && !has_any() {
            let n_features = training.n_features();
            let message = format!(
                "none of the {n_features} features of the training data are in this validation set, so every model would give all \
                 documents the same score; check the feature ids"
            );
            return Err(user_at(path, message));
        }
        let offset = self.layout.feature_offset;
        files::warn_features(WantedFeatures::of_training(training), data, path, offset, self.output);
        if training.n_rows() == data.n_rows() && training.fingerprint() == data.fingerprint() {
            self.output.warn(&format!(
                "{}: this is the training data, so its metrics are too optimistic to select the best iteration; use other data \
                 for validation",
                files::shown(path)
            ));
        }
        Ok(())
    }
}
