//! The gain of a label.

use rankwise_data::Documents;
use rankwise_params::ParamValue;

use crate::MetricError;

/// Beyond this label, the sum of 2^label over the largest dataset would not be finite.
const MAX_EXP_LABEL: f32 = 990.0;

/// Maps a label to its gain.
#[derive(Clone, Debug, PartialEq)]
pub enum Gain {
    /// 2^label - 1.
    Exp,
    /// The label itself.
    Linear,
    /// The entry at the label, for labels 0, 1, 2, ...
    Table(Vec<f64>),
}

impl Gain {
    /// The gain of a label that passed [`Self::check`].
    pub fn of(&self, label: f32) -> f64 {
        match self {
            Self::Exp => libm::exp2(f64::from(label)) - 1.0,
            Self::Linear => f64::from(label),
            Self::Table(gains) => gains[label as usize],
        }
    }

    /// Checks that every label has a gain.
    pub fn check(&self, data: &Documents) -> Result<(), MetricError> {
        data.queries().try_for_each(|query| self.check_labels(query.id, query.labels))
    }

    /// Checks that the labels of a query have gains.
    pub(crate) fn check_labels(&self, query: &str, labels: &[f32]) -> Result<(), MetricError> {
        // One pass without branches if all labels are valid, as nearly always.
        let is_small = |label: &f32| *label <= MAX_EXP_LABEL;
        if !matches!(self, Self::Table(_)) && labels.iter().fold(true, |all, label| all & is_small(label)) {
            return Ok(());
        }
        let found = labels.iter().find_map(|label| Some((*label, self.problem(*label)?)));
        found.map_or(Ok(()), |(label, problem)| Err(MetricError::Label { label, query: query.to_owned(), problem }))
    }

    fn problem(&self, label: f32) -> Option<String> {
        match self {
            Self::Exp if label > MAX_EXP_LABEL => {
                Some(format!("is too large for exponential gain (at most {MAX_EXP_LABEL}); use `gain` linear"))
            }
            Self::Table(_) if label.fract() != 0.0 => {
                Some("is not an integer, which a gain table needs; round the labels, or use `gain` exp".into())
            }
            Self::Table(gains) if label as usize >= gains.len() => Some(format!(
                "has no entry in the gain table (the last one is for label {}); extend the table, or use `gain` linear",
                gains.len() - 1
            )),
            _ => None,
        }
    }
}

/// Labels 0, 1, 2, ... below this limit have their gains in a table.
const N_SMALL: usize = 32;

/// Gains with a table for labels that are small integers, as most are.
#[derive(Clone, Debug)]
pub(crate) struct Gains {
    gain: Gain,
    /// For labels 0, 1, 2, ...; 0 if a label has no gain.
    small: [f64; N_SMALL],
    /// These labels, by descending gain.
    best_first: [u8; N_SMALL],
}

impl Gains {
    pub(crate) fn new(gain: &Gain) -> Self {
        let small: [f64; N_SMALL] = std::array::from_fn(|label| match gain {
            Gain::Table(gains) => gains.get(label).copied().unwrap_or(0.0),
            _ => gain.of(label as f32),
        });
        let mut best_first: [u8; N_SMALL] = std::array::from_fn(|label| label as u8);
        best_first.sort_by(|a, b| small[usize::from(*b)].total_cmp(&small[usize::from(*a)]));
        Self { gain: gain.clone(), small, best_first }
    }

    /// The gain of a label that passed [`Gain::check`].
    pub(crate) fn of(&self, label: f32) -> f64 {
        small(label).map_or_else(|| self.gain.of(label), |label| self.small[label])
    }

    /// The `depth` largest gains in descending order.
    pub(crate) fn largest(&self, labels: [&[f32]; 2], depth: usize, out: &mut Vec<f64>) {
        out.clear();
        let mut counts = [0u32; N_SMALL];
        let mut are_small = true;
        for labels in labels {
            for label in labels {
                let (whole, is_small) = low_bits(*label);
                counts[whole] += 1;
                are_small &= is_small;
            }
        }
        if are_small {
            for label in self.best_first.map(usize::from).into_iter().filter(|label| counts[*label] > 0) {
                let n_wanted = (counts[label] as usize).min(depth - out.len());
                out.extend(std::iter::repeat_n(self.small[label], n_wanted));
            }
            return;
        }
        out.extend(labels.into_iter().flatten().map(|label| self.of(*label)));
        out.sort_unstable_by(|a, b| b.total_cmp(a));
        out.truncate(depth);
    }
}

/// A label that is a small integer.
fn small(label: f32) -> Option<usize> {
    let (whole, is_small) = low_bits(label);
    is_small.then_some(whole)
}

/// The low bits of the label as an integer, and whether they are the whole label. Adding 2^23 removes the fraction and
/// puts the integer in the low bits. A conversion that checks the range would take several times as long.
fn low_bits(label: f32) -> (usize, bool) {
    const SHIFT: f32 = 8_388_608.0;
    let shifted = label + SHIFT;
    (shifted.to_bits() as usize % N_SMALL, shifted - SHIFT == label && label < N_SMALL as f32)
}

impl ParamValue for Gain {
    fn kind() -> String {
        "exp|linear|table:0,1,3,...".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(entries) = text.strip_prefix("table:") {
            let gains = Vec::<f64>::parse(entries)?;
            let largest = libm::exp2(f64::from(MAX_EXP_LABEL));
            let is_usable = !gains.is_empty() && gains.iter().all(|gain| (0.0..=largest).contains(gain));
            return is_usable.then_some(Self::Table(gains));
        }
        match text.to_ascii_lowercase().as_str() {
            "exp" | "exponential" => Some(Self::Exp),
            "linear" => Some(Self::Linear),
            _ => None,
        }
    }

    fn render(&self) -> String {
        match self {
            Self::Exp => "exp".into(),
            Self::Linear => "linear".into(),
            Self::Table(gains) => format!("table:{}", gains.render()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_of_whole_labels_are_exact() {
        for label in 0..=52u8 {
            assert_eq!(Gain::Exp.of(label.into()), ((1u64 << label) - 1) as f64);
        }
        assert_eq!(Gain::Linear.of(2.5), 2.5);
        assert_eq!(Gain::Table(vec![0.0, 1.0, 7.5]).of(2.0), 7.5);
    }

    #[test]
    fn looked_up_gains_are_the_gains() {
        let labels = [0.0, 3.0, 1.5, 31.0, 32.0, 40.0, 0.25, 3.0];
        for gain in [Gain::Exp, Gain::Linear] {
            let gains = Gains::new(&gain);
            assert!(labels.iter().all(|label| gains.of(*label) == gain.of(*label)));
            for (labels, depth) in [(&labels[..], 4), (&labels, 100), (&labels[..2], 1), (&labels[..2], 5), (&[], 3)] {
                let mut expected: Vec<f64> = labels.iter().map(|label| gain.of(*label)).collect();
                expected.sort_by(|a, b| b.total_cmp(a));
                expected.truncate(depth);
                let mut found = vec![7.0];
                gains.largest([labels, &[]], depth, &mut found);
                assert_eq!(found, expected);
                gains.largest([&[], labels], depth, &mut found);
                assert_eq!(found, expected);
            }
        }
        let mut found = Vec::new();
        Gains::new(&Gain::Table(vec![0.0, 5.0, 2.0])).largest([&[2.0, 1.0, 0.0], &[1.0]], 3, &mut found);
        assert_eq!(found, [5.0, 5.0, 2.0]);
    }

    #[test]
    fn text_and_limits() {
        for text in ["exp", "linear", "table:0,1,3.5"] {
            assert_eq!(Gain::parse(text).unwrap().render(), text);
        }
        for text in ["", "table:", "table:-1", "table:1,inf", "table:0,nan", "table:0,1e308", "exponent"] {
            assert_eq!(Gain::parse(text), None, "{text}");
        }
        assert!(Gain::Exp.problem(991.0).is_some() && Gain::Exp.problem(990.0).is_none());
        assert!(Gain::Exp.of(990.0).is_finite());
        let table = Gain::Table(vec![0.0, 1.0]);
        assert!(table.problem(2.0).is_some() && table.problem(0.5).is_some() && table.problem(1.0).is_none());
    }
}
