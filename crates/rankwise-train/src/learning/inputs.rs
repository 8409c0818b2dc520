//! The inputs of linear rankers, made from feature values: how they are scaled, and all of them in tiles.
//!
//! ```text
//! tile 0: documents 0..16     feature 0: 16 inputs, feature 1: 16 inputs, ...
//! tile 1: documents 16..32    feature 0: ...                                     (the last tile is filled with 0)
//! ```
//!
//! A product with weights adds up the features of a document in their order, as [`LinearRanker::score_inputs`] does, 16
//! documents at a time. A product with numbers of documents (a gradient) adds up documents 16 at a time within blocks of
//! a fixed size, and then the blocks in their order, so that it does not depend on the number of threads.

use std::ops::Range;

use rankwise_data::{Absent, Dataset, F64Values};
use rankwise_model::{FeatureScale, LinearRanker, Precision, Transform};
use rayon::prelude::*;

use super::{Fitted, Task};
use crate::{Scaling, TrainError};

/// Number of documents in a tile.
const LANES: usize = 16;
/// Number of tiles in a block.
const TILES_PER_BLOCK: usize = 256;

/// The features that a ranker reads, and how their values become inputs.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// Ascending ids.
    pub(crate) features: Vec<u32>,
    pub(crate) transform: Transform,
    precision: Precision,
}

impl Reader {
    /// Reads all features that differ between training documents, scaled as the parameters say. Missing values become
    /// 0 after scaling: the mean of the feature, or the smallest value of the query.
    pub(crate) fn new(task: &Task<'_>, is_log: bool) -> Result<Self, TrainError> {
        let (features, precision) = differing(task.train)?;
        let data = task.train;
        let scaling = task.params.learner().scaling;
        let logs = Transform::new(is_log, false, Vec::new())?;
        let standard = |feature: &u32| {
            let values = data.f64_values_of(*feature).expect("the feature is in the data");
            standardised(values, data.n_rows(), |value| logs.logged(precision.round(value)))
        };
        let scales = match scaling {
            Scaling::Standard => features.par_iter().map(standard).collect(),
            Scaling::None | Scaling::Query => vec![FeatureScale::NONE; features.len()],
        };
        let transform = Transform::new(is_log, scaling == Scaling::Query, scales)?;
        Ok(Self { features, transform, precision })
    }

    /// Reads all features that differ between training documents, scaled to 0..1 over the training data. Missing values
    /// become the mean of the others.
    pub(crate) fn from_0_to_1(task: &Task<'_>) -> Result<Self, TrainError> {
        let (features, precision) = differing(task.train)?;
        let scale = |feature: &u32| {
            let values = task.train.f64_values_of(*feature).expect("the feature is in the data");
            from_0_to_1(values, task.train.n_rows(), |value| precision.round(value))
        };
        let transform = Transform::new(false, false, features.par_iter().map(scale).collect())?;
        Ok(Self { features, transform, precision })
    }

    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The places of the features that some documents do not have.
    pub(crate) fn missing(&self, data: &Dataset) -> Vec<u32> {
        let has_missing = |feature: &u32| {
            let mut n_present = 0;
            if let Some(values) = data.f64_values_of(*feature) {
                values.for_each_in(0, data.n_rows(), |_, value| n_present += usize::from(!value.is_nan()));
            }
            data.absent() == Absent::Missing && n_present < data.n_rows()
        };
        (0..).zip(&self.features).filter(|(_, feature)| has_missing(feature)).map(|(place, _)| place).collect()
    }

    /// The inputs of all documents, in canonical order.
    pub(crate) fn inputs(&self, data: &Dataset) -> Inputs {
        let n_features = self.n_features();
        let rows = self.rows(data, |values| {
            let mut inputs = vec![0.0; values.len()];
            self.transform.inputs(values, &mut inputs);
            inputs
        });
        let mut tiles = vec![0.0; data.n_rows().div_ceil(LANES) * LANES * n_features];
        for (doc, row) in rows.iter().flat_map(|rows| rows.chunks_exact(n_features)).enumerate() {
            let tile = &mut tiles[doc / LANES * LANES * n_features..][..LANES * n_features];
            for (place, input) in row.iter().enumerate() {
                tile[place * LANES + doc % LANES] = *input;
            }
        }
        Inputs { tiles, n_features, n_docs: data.n_rows() }
    }

    /// What `make` makes of the rounded values of each query, document by document.
    pub(crate) fn rows(&self, data: &Dataset, make: impl Fn(&[f64]) -> Vec<f32> + Sync) -> Vec<Vec<f32>> {
        let n_features = self.n_features();
        let columns: Vec<Option<F64Values<'_>>> =
            self.features.iter().map(|feature| data.f64_values_of(*feature)).collect();
        let absent = f64::from(data.absent().value());
        let of_query = |query: usize| {
            let rows = data.query_rows(query);
            let mut values = vec![absent; rows.len() * n_features];
            for (place, column) in columns.iter().enumerate() {
                let Some(column) = column else { continue };
                column.for_each_in(rows.start, rows.end, |row, value| {
                    values[row * n_features + place] = self.precision.round(value);
                });
            }
            make(&values)
        };
        (0..data.n_queries()).into_par_iter().map(of_query).collect()
    }

    /// The ranker with these weights; features with weight 0 are left out.
    pub(crate) fn ranker(&self, weights: &[f64]) -> Result<Fitted, TrainError> {
        let used: Vec<usize> = (0..weights.len()).filter(|place| weights[*place] != 0.0).collect();
        let scales = used.iter().map(|place| self.transform.scales()[*place]).collect();
        let transform = Transform::new(self.transform.is_log(), self.transform.is_by_query(), scales)?;
        let linear = LinearRanker::new(0.0, used.iter().map(|place| weights[*place]).collect())?;
        Ok(Fitted {
            ranker: linear.with_transform(transform).into(),
            features: used.iter().map(|place| self.features[*place]).collect(),
        })
    }
}

/// The features that differ between documents, and how their values are rounded.
fn differing(data: &Dataset) -> Result<(Vec<u32>, Precision), TrainError> {
    let precision = if data.f64_features().is_empty() { Precision::F32 } else { Precision::F64 };
    let differs = |feature: &u32| data.f64_values_of(*feature).is_some_and(|values| !values.are_equal(data.n_rows()));
    let features: Vec<u32> = data.feature_ids().iter().copied().filter(differs).collect();
    if features.is_empty() { Err(TrainError::ConstantFeatures) } else { Ok((features, precision)) }
}

/// The scale that maps the smallest value to 0 and the largest to 1, or all to 0 if they are equal.
fn from_0_to_1(values: F64Values<'_>, n_rows: usize, change: impl Fn(f64) -> f64) -> FeatureScale {
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    let finite = |value: f64| change(value).clamp(f64::MIN, f64::MAX);
    values.for_each_in(0, n_rows, |_, value| {
        // Comparisons with NaN leave both as they are.
        (low, high) = (low.min(finite(value)), high.max(finite(value)));
    });
    // Halves, so that the difference is not infinite.
    let factor = 0.5 / (high / 2.0 - low / 2.0);
    if !(low < high && factor.is_finite()) {
        return FeatureScale { fill: 0.0, center: 0.0, factor: 0.0 };
    }
    let (mut sum, mut count) = (0.0, 0.0);
    values.for_each_in(0, n_rows, |_, value| {
        let place = (finite(value) - low) * factor;
        if !place.is_nan() {
            sum += place.min(1.0);
            count += 1.0;
        }
    });
    FeatureScale { fill: (sum / count) as f32, center: low, factor }
}

/// The scale that gives a feature mean 0 and deviation 1. Values are divided by the largest first, so that no square is
/// infinite.
fn standardised(values: F64Values<'_>, n_rows: usize, change: impl Fn(f64) -> f64) -> FeatureScale {
    let (mut largest, mut count) = (0.0f64, 0.0);
    values.for_each_in(0, n_rows, |_, value| {
        let value = change(value);
        if !value.is_nan() {
            largest = largest.max(value.abs());
            count += 1.0;
        }
    });
    if largest == 0.0 {
        return FeatureScale { fill: 0.0, center: 0.0, factor: 0.0 };
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    values.for_each_in(0, n_rows, |_, value| {
        let share = change(value) / largest;
        if !share.is_nan() {
            sum += share;
        }
    });
    let mean = sum / count;
    values.for_each_in(0, n_rows, |_, value| {
        let share = change(value) / largest - mean;
        if !share.is_nan() {
            squares += share * share;
        }
    });
    let deviation = (squares / count).sqrt() * largest;
    let factor = 1.0 / deviation;
    // The deviation of values around 1e-320 has no inverse.
    let factor = if deviation > 0.0 && factor.is_finite() { factor } else { 0.0 };
    FeatureScale { fill: 0.0, center: mean * largest, factor }
}

/// The inputs of documents.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    tiles: Vec<f32>,
    n_features: usize,
    n_docs: usize,
}

impl Inputs {
    /// The weighted sum of the inputs of each document.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.n_docs.div_ceil(LANES) * LANES];
        let tiles = self.tiles.par_chunks(LANES * self.n_features.max(1));
        tiles.zip(scores.par_chunks_mut(LANES)).with_min_len(TILES_PER_BLOCK).for_each(|(tile, scores)| {
            for (weight, inputs) in weights.iter().zip(tile.chunks_exact(LANES)) {
                for (score, input) in scores.iter_mut().zip(inputs) {
                    *score += weight * f64::from(*input);
                }
            }
        });
        scores.truncate(self.n_docs);
        scores
    }

    /// For each feature, the sum over documents of its input times the number of the document.
    pub(crate) fn sums(&self, numbers: &[f64]) -> Vec<f64> {
        let blocks = self.tiles.par_chunks(TILES_PER_BLOCK * LANES * self.n_features.max(1));
        let numbers = numbers.par_chunks(TILES_PER_BLOCK * LANES);
        let blocks: Vec<Vec<f64>> =
            blocks.zip(numbers).map(|(tiles, numbers)| self.block_sums(tiles, numbers)).collect();
        let mut sums = vec![0.0; self.n_features];
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, of_block)| *sum += of_block);
        }
        sums
    }

    fn block_sums(&self, tiles: &[f32], numbers: &[f64]) -> Vec<f64> {
        let mut lanes = vec![[0.0; LANES]; self.n_features];
        for (tile, numbers) in tiles.chunks_exact(LANES * self.n_features).zip(numbers.chunks(LANES)) {
            let mut padded = [0.0; LANES];
            padded[..numbers.len()].copy_from_slice(numbers);
            for (sums, inputs) in lanes.iter_mut().zip(tile.chunks_exact(LANES)) {
                for ((sum, input), number) in sums.iter_mut().zip(inputs).zip(&padded) {
                    *sum += f64::from(*input) * number;
                }
            }
        }
        lanes.iter().map(|lanes| lanes.iter().sum()).collect()
    }

    pub(crate) fn n_features(&self) -> usize {
        self.n_features
    }

    /// The inputs of one feature, document by document.
    pub(crate) fn column(&self, feature: usize) -> impl Iterator<Item = f64> + '_ {
        self.part_of_column(feature, 0..self.n_docs)
    }

    fn part_of_column(&self, feature: usize, docs: Range<usize>) -> impl Iterator<Item = f64> + '_ {
        let place = move |doc: usize| doc / LANES * LANES * self.n_features + feature * LANES + doc % LANES;
        docs.map(move |doc| f64::from(self.tiles[place(doc)]))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use rankwise_data::synth::{Preset, SynthSpec};

    use super::*;
    use crate::learning::tests::with_task;
    use crate::{SetLearner as _, TrainSpec};

    fn data(rows: usize) -> Dataset {
        SynthSpec { preset: Preset::Web, rows, features: Some(7), seed: 3 }.check().unwrap().dataset()
    }

    #[test]
    fn inputs_are_those_of_the_model() {
        for (scaling, is_log) in [(Scaling::None, false), (Scaling::Standard, true), (Scaling::Query, false)] {
            let data = data(500);
            with_task(TrainSpec::default().scaling(scaling), &data, |task| {
                let reader = Reader::new(&task, is_log).unwrap();
                let weights: Vec<f64> = (0..reader.n_features()).map(|place| place as f64 - 2.5).collect();
                let scores = reader.inputs(&data).scores(&weights);
                let Fitted { ranker, features } = reader.ranker(&weights).unwrap();
                assert_eq!(features, reader.features);
                for query in 0..data.n_queries() {
                    let rows = data.query_rows(query);
                    let value = |row: usize, feature: &u32| {
                        let mut found = f64::NAN;
                        data.f64_values_of(*feature).unwrap().for_each_in(row, row + 1, |_, value| found = value);
                        found
                    };
                    let values: Vec<f64> =
                        rows.clone().flat_map(|row| features.iter().map(move |feature| value(row, feature))).collect();
                    let rankwise_model::Ranker::Linear(linear) = &ranker else { panic!() };
                    let mut inputs = vec![0.0; values.len()];
                    linear.transform().unwrap().inputs(&values, &mut inputs);
                    let expected = inputs.chunks(features.len()).map(|inputs| linear.score_inputs(inputs).to_bits());
                    assert!(expected.eq(scores[rows].iter().map(|score| score.to_bits())), "{scaling:?}");
                }
            });
        }
    }

    #[test]
    fn standard_inputs_have_mean_0_and_deviation_1() {
        let data = data(3000);
        with_task(TrainSpec::default(), &data, |task| {
            let reader = Reader::new(&task, false).unwrap();
            let inputs = reader.inputs(&data);
            for feature in 0..reader.n_features() {
                let n = data.n_rows() as f64;
                let mean = inputs.column(feature).sum::<f64>() / n;
                let variance = inputs.column(feature).map(|input| input * input).sum::<f64>() / n;
                assert!(mean.abs() < 1e-5 && variance > 0.0 && variance < 1.0 + 1e-4, "{mean} {variance}");
            }
        });
    }

    #[test]
    fn extreme_scales_are_brought_to_one() {
        for size in [1e-30f32, 1.0, 1e30] {
            let values: Vec<f32> = (0..40).map(|row| (row % 7) as f32 * size).collect();
            let labels: Vec<f32> = (0..40).map(|row| (row % 3) as f32).collect();
            let data = Dataset::from_dense(&values, 1).labels(&labels).group_sizes(&[20, 20]).build().unwrap();
            with_task(TrainSpec::default(), &data, |task| {
                let inputs = Reader::new(&task, false).unwrap().inputs(&data);
                let squares = inputs.column(0).map(|input| input * input).sum::<f64>();
                assert!((squares / 40.0 - 1.0).abs() < 1e-4, "{size}: {squares}");
            });
        }
    }

    proptest! {
        #[test]
        fn products_equal_plain_sums(rows in 1..700usize, seed in any::<u8>()) {
            let n_features = 3;
            let number = |place: usize| f64::from(((place * 31 + usize::from(seed)) % 17) as f32) - 8.0;
            let data = {
                let values: Vec<f32> = (0..rows * n_features).map(|place| number(place) as f32).collect();
                let labels: Vec<f32> = (0..rows).map(|row| (row % 3) as f32).collect();
                Dataset::from_dense(&values, n_features).labels(&labels).group_sizes(&[rows]).build().unwrap()
            };
            let transform = Transform::new(false, false, vec![FeatureScale::NONE; n_features]).unwrap();
            let features = data.feature_ids().to_vec();
            prop_assume!(features.len() == n_features);
            let inputs = Reader { features, transform, precision: Precision::F32 }.inputs(&data);
            let weights = [0.5, -2.0, 3.0];
            let numbers: Vec<f64> = (0..rows).map(|row| number(row + 5)).collect();
            let columns: Vec<Vec<f64>> = (0..n_features).map(|feature| inputs.column(feature).collect()).collect();
            let scores = inputs.scores(&weights);
            for row in 0..rows {
                let expected: f64 = (0..n_features).map(|feature| weights[feature] * columns[feature][row]).sum();
                prop_assert!((scores[row] - expected).abs() < 1e-9);
            }
            for (column, sum) in columns.iter().zip(inputs.sums(&numbers)) {
                let expected: f64 = column.iter().zip(&numbers).map(|(input, number)| input * number).sum();
                prop_assert!((sum - expected).abs() < 1e-9);
            }
        }
    }
}
