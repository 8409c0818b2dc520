//! How the outputs of trees make a score.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// What a document's score is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The base score plus one leaf of each tree.
    #[default]
    Sum,
    /// The expected gain, given the probabilities of the labels.
    ExpectedGain(ExpectedGain),
}

/// One output for each label. Tree `t` adds to output `t` modulo their number; the softmax of the outputs gives the
/// probabilities of the labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedGain {
    /// The gain of each label.
    pub gains: Vec<f64>,
    /// The base score of each output.
    pub base_scores: Vec<f64>,
}

impl Output {
    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        match self {
            Self::Sum => 1,
            Self::ExpectedGain(expected) => expected.gains.len(),
        }
    }

    /// The base score of each output.
    pub fn base_scores(&self, base_score: f64) -> Vec<f64> {
        match self {
            Self::Sum => vec![base_score],
            Self::ExpectedGain(expected) => expected.base_scores.clone(),
        }
    }

    /// Multiplies all base scores.
    pub fn scale_base_scores(&mut self, factor: f64) {
        if let Self::ExpectedGain(expected) = self {
            expected.base_scores.iter_mut().for_each(|score| *score *= factor);
        }
    }

    /// The scores of documents, given outputs stored output by output: all documents for the first, then for the
    /// second, ...
    pub fn scores<'a>(&self, outputs: &'a [f64]) -> Cow<'a, [f64]> {
        match self {
            Self::Sum => Cow::Borrowed(outputs),
            Self::ExpectedGain(expected) => {
                let n_docs = outputs.len() / expected.gains.len();
                let of_doc = |doc: usize| outputs.iter().skip(doc).step_by(n_docs).copied();
                Cow::Owned((0..n_docs).map(|doc| expected.score(of_doc(doc))).collect())
            }
        }
    }

    pub(crate) fn check(&self, n_trees: usize) -> Result<(), ModelError> {
        let Self::ExpectedGain(ExpectedGain { gains, base_scores }) = self else { return Ok(()) };
        let n_grades = gains.len();
        let problem = if n_grades == 0 || base_scores.len() != n_grades {
            format!("there are {} base_scores for {n_grades} gains", base_scores.len())
        } else if gains.iter().chain(base_scores).any(|value| !value.is_finite()) {
            "a gain or a base score is not a finite number".into()
        } else if !n_trees.is_multiple_of(n_grades) {
            format!("{n_trees} trees cannot be shared by {n_grades} outputs")
        } else {
            return Ok(());
        };
        Err(ModelError::Content { problem })
    }
}

impl ExpectedGain {
    /// The expected gain under the softmax of the outputs. Infinite outputs count as the largest finite number.
    pub fn score(&self, outputs: impl Iterator<Item = f64> + Clone) -> f64 {
        let outputs = outputs.map(|output| output.clamp(-f64::MAX, f64::MAX));
        let largest = outputs.clone().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut total) = (0.0, 0.0);
        for (output, gain) in outputs.zip(&self.gains) {
            let power = libm::exp(output - largest);
            sum += power * gain;
            total += power;
        }
        sum / total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_outputs_expect_the_mean_gain_and_large_ones_their_own() {
        let expected = ExpectedGain { gains: vec![0.0, 1.0, 3.0, 8.0], base_scores: vec![0.0; 4] };
        assert_eq!(expected.score([7.0; 4].into_iter()), 3.0);
        assert_eq!(expected.score([0.0, 0.0, 1e6, -1e6].into_iter()), 3.0);
        assert_eq!(expected.score([0.0, f64::INFINITY, 1e6, f64::NEG_INFINITY].into_iter()), 1.0);
        let output = Output::ExpectedGain(expected);
        // Two documents, one output after another.
        let scores = output.scores(&[0.0, 900.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(*scores, [3.0, 0.0]);
        assert_eq!(*Output::Sum.scores(&[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn outputs_that_do_not_fit_are_refused() {
        let output = |gains: &[f64], base_scores: &[f64]| {
            Output::ExpectedGain(ExpectedGain { gains: gains.to_vec(), base_scores: base_scores.to_vec() })
        };
        assert!(output(&[0.0, 1.0], &[0.5, 0.5]).check(4).is_ok());
        for (output, n_trees) in [
            (output(&[], &[]), 0),
            (output(&[0.0, 1.0], &[0.5]), 2),
            (output(&[0.0, 1.0], &[0.5, 0.5]), 3),
            (output(&[0.0, f64::NAN], &[0.5, 0.5]), 2),
            (output(&[0.0, 1.0], &[0.5, f64::INFINITY]), 2),
        ] {
            assert!(output.check(n_trees).is_err(), "{output:?}");
        }
    }
}
