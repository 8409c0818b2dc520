//! Labels as classes (McRank: Li, Burges and Wu 2007). There is one tree per label and round, the softmax of the
//! outputs gives the probabilities of a document's labels, and its score is the expected gain.
//!
//! ```text
//! p_k = exp(s_k) / sum exp(s_j)        loss = -ln p_label        g_k = p_k - [k is the label]        h_k = p_k (1 - p_k)
//! ```
//!
//! The classes are the labels of documents with positive weight, ascending.

use rankwise_data::{Documents, Share};
use rankwise_metrics::Gain;

use crate::{Classes, GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// Maximum number of classes: each takes one tree per round.
const MAX_CLASSES: usize = 32;

/// Cross-entropy of each document's label.
#[derive(Clone, Debug)]
pub struct Multiclass {
    grades: Vec<f32>,
    classes: Classes,
}

impl Multiclass {
    /// The base scores come from the weighted shares of the labels.
    pub fn new(share: &Share<'_>, gain: &Gain) -> Result<Self, ObjectiveError> {
        share.agree(check_grades(share.data, gain))?;
        let mut grades = grades_of(share.data);
        if !share.is_alone() {
            let bytes: Vec<u8> = grades.iter().flat_map(|grade| grade.to_le_bytes()).collect();
            let all = share.reduce.gather(&bytes);
            let chunks = all.iter().flat_map(|bytes| bytes.as_chunks().0);
            grades = chunks.map(|bytes| f32::from_le_bytes(*bytes)).collect();
            grades.sort_by(f32::total_cmp);
            grades.dedup();
        }
        if grades.len() > MAX_CLASSES {
            return Err(ObjectiveError::ManyGrades { most: MAX_CLASSES });
        }
        match grades[..] {
            [] => return Err(ObjectiveError::NoWeight),
            [label] => return Err(ObjectiveError::OneLabel { objective: "multiclass", label }),
            _ => {}
        }
        let share = |grade: &f32| checks::mean(share, |label| f64::from(u8::from(label == *grade)));
        let base_scores =
            grades.iter().map(|grade| Ok(libm::log(share(grade)?))).collect::<Result<Vec<f64>, ObjectiveError>>()?;
        let gains = grades.iter().map(|grade| gain.of(*grade)).collect();
        Ok(Self { grades, classes: Classes { gains, base_scores } })
    }
}

/// Checks that every label is an integer with a gain.
fn check_grades(data: &Documents, gain: &Gain) -> Result<(), ObjectiveError> {
    for query in data.queries() {
        if let Some(label) = query.labels.iter().find(|label| label.fract() != 0.0) {
            return Err(ObjectiveError::NoGrade { label: *label, query: query.id.to_owned() });
        }
    }
    Ok(gain.check(data)?)
}

/// The labels of documents with positive weight, ascending. Stops at one more than the maximum.
fn grades_of(data: &Documents) -> Vec<f32> {
    let mut grades: Vec<f32> = Vec::new();
    for query in data.queries() {
        for (doc, label) in query.labels.iter().enumerate() {
            if grades.len() <= MAX_CLASSES
                && query.weight * query.doc_weight(doc) > 0.0
                && let Err(place) = grades.binary_search_by(|grade| grade.total_cmp(label))
            {
                grades.insert(place, *label);
            }
        }
    }
    grades
}

impl Objective for Multiclass {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn classes(&self) -> Option<&Classes> {
        Some(&self.classes)
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let n_docs = docs.n_docs();
        let powers = &mut scratch.wide[0];
        for (doc, label) in docs.labels.iter().enumerate() {
            let outputs = docs.scores.iter().skip(doc).step_by(n_docs);
            let largest = outputs.clone().copied().fold(f64::NEG_INFINITY, f64::max);
            powers.clear();
            powers.extend(outputs.map(|output| libm::exp(output - largest)));
            let total: f64 = powers.iter().sum();
            for (class, (power, grade)) in powers.iter().zip(&self.grades).enumerate() {
                let (p, at) = (power / total, class * n_docs + doc);
                out.grad[at] = (p - f64::from(u8::from(label == grade))) as f32;
                out.hess[at] = (p * (1.0 - p)) as f32;
            }
        }
    }
}
