//! Reads and writes models and datasets by file name.

use std::path::{Path, PathBuf};

use rankwise_data::{Absent, Dataset, Keep};
use rankwise_formats::{ImportedModel, ImportedTrees, import_with};
use rankwise_io::{ReadOptions, read_bytes, read_datasets, write_atomically};
use rankwise_model::{AbsentFeature, Model, Precision};

use crate::Error;

/// Model files.
///
/// ```
/// # use rankwise::model::{AbsentFeature, Header, LinearRanker, Precision};
/// use rankwise::prelude::*;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.json");
/// # let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![0]);
/// # let model = Model::new(header, LinearRanker::new(0.5, vec![2.0])?)?;
/// model.save(&path)?;
/// assert_eq!(Model::load(&path)?, model);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub trait ModelFile: Sized {
    /// Reads a model file of Rankwise, LightGBM, XGBoost, CatBoost or RankLib; the format is detected by content. If an
    /// XGBoost file has a best iteration, only the trees up to it are used, as in `XGBRanker.predict`.
    fn load(path: impl AsRef<Path>) -> Result<Self, Error>;

    /// [`Self::load`] with a choice of trees; also returns the best iteration.
    fn load_with(path: impl AsRef<Path>, trees: ImportedTrees) -> Result<ImportedModel, Error>;

    /// Writes the model in Rankwise's format. The file is replaced as a whole or stays unchanged; names that end in
    /// `.gz` or `.zst` are compressed.
    fn save(&self, path: impl AsRef<Path>) -> Result<(), Error>;
}

impl ModelFile for Model {
    fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self::load_with(path, ImportedTrees::UpToBest)?.model)
    }

    fn load_with(path: impl AsRef<Path>, trees: ImportedTrees) -> Result<ImportedModel, Error> {
        let path = path.as_ref();
        import_with(&read_bytes(path, u64::MAX)?, trees)
            .map_err(|source| Error::ModelFile { path: path.into(), source: Box::new(source) })
    }

    fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(write_atomically(path.as_ref(), |out| out.write_all(self.to_json().as_bytes()))?)
    }
}

/// Dataset files.
///
/// ```
/// use rankwise::prelude::*;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "1 qid:7 0:0.9 # doc1\n0 qid:7 0:0.1 # doc2\n").unwrap();
/// let data = Dataset::read(&path)?;
/// assert_eq!((data.n_rows(), data.n_queries()), (2, 1));
/// # Ok::<(), rankwise::Error>(())
/// ```
pub trait DatasetFile: Sized {
    /// Reads LETOR, CSV, TSV or Parquet, detected by content and name, with its side files. Absent features of LETOR
    /// lines are missing. The path can be a folder or a pattern, such as `part-*.csv`, for data in several files
    /// ([`read_datasets`]).
    fn read(path: impl AsRef<Path>) -> Result<Self, Error>;

    /// [`Self::read`] with options.
    fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error>;

    /// Reads several files, folders or patterns as one dataset ([`read_datasets`]).
    ///
    /// ```
    /// use rankwise::io::ReadOptions;
    /// use rankwise::prelude::*;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let [monday, tuesday] = ["mon.txt", "tue.txt"].map(|name| folder.path().join(name));
    /// std::fs::write(&monday, "1 qid:7 0:0.9\n0 qid:7 0:0.1\n").unwrap();
    /// std::fs::write(&tuesday, "2 qid:8 0:0.5\n").unwrap();
    /// let data = Dataset::read_all(&[monday, tuesday], &ReadOptions::new(Absent::Missing))?;
    /// assert_eq!((data.n_rows(), data.n_queries()), (3, 2));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    fn read_all(paths: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Self, Error>;

    /// Reads data for a model to score: absent features have the same meaning as in training, named columns are matched
    /// with the model's features, and labels are optional.
    fn read_for(path: impl AsRef<Path>, model: &Model) -> Result<Self, Error>;
}

impl DatasetFile for Dataset {
    fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read_with(path, &ReadOptions::new(Absent::Missing))
    }

    fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        Ok(read_datasets(&[path.as_ref().to_path_buf()], options)?)
    }

    fn read_all(paths: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Self, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        Ok(read_datasets(&paths, options)?)
    }

    fn read_for(path: impl AsRef<Path>, model: &Model) -> Result<Self, Error> {
        let mut options = ReadOptions::new(match model.absent() {
            AbsentFeature::Missing => Absent::Missing,
            AbsentFeature::Zero => Absent::Zero,
        });
        options.is_label_optional = true;
        options.keep = keep_for(model);
        options.features = Some(model.named_features()).filter(|names| !names.is_empty());
        options.is_named_by_lightgbm = is_named_by_lightgbm(model);
        let data = Self::read_with(&path, &options)?;
        let is_numbered = model.feature_names().is_empty() && !model.features().is_empty();
        if is_numbered && !data.feature_names().is_empty() {
            return Err(Error::NamedColumns { path: path.as_ref().into(), ids: model.features().to_vec() });
        }
        Ok(data)
    }
}

/// How data for a model must keep values that f32 cannot represent.
pub fn keep_for(model: &Model) -> Keep {
    match model.precision() {
        Precision::F32 => Keep::Rounded,
        Precision::F64 => Keep::All,
    }
}

/// Whether LightGBM wrote the feature names of a model. Models of other programs have no facts about training data, and
/// of those only LightGBM's compare values as f64.
pub fn is_named_by_lightgbm(model: &Model) -> bool {
    model.trained_on().fingerprint.is_empty() && model.precision() == Precision::F64
}
