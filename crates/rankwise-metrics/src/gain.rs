//! What a grade is worth.

use rankwise_data::Dataset;
use rankwise_params::ParamValue;

use crate::MetricError;

/// Past this label, 2^label summed over the largest data set would no longer be finite.
const MAX_EXP_LABEL: f32 = 990.0;

/// From a label to its gain.
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
    /// The gain of a label that [`Self::check`] has let pass.
    pub fn of(&self, label: f32) -> f64 {
        match self {
            Self::Exp => libm::exp2(f64::from(label)) - 1.0,
            Self::Linear => f64::from(label),
            Self::Table(gains) => gains[label as usize],
        }
    }

    /// Makes sure that every label has a gain.
    pub fn check(&self, data: &Dataset) -> Result<(), MetricError> {
        for query in data.queries() {
            for label in query.labels {
                if let Some(problem) = self.problem(*label) {
                    return Err(MetricError::Label { label: *label, query: query.id.to_owned(), problem });
                }
            }
        }
        Ok(())
    }

    fn problem(&self, label: f32) -> Option<String> {
        match self {
            Self::Exp if label > MAX_EXP_LABEL => {
                Some(format!("is too large for exponential gain (at most {MAX_EXP_LABEL}); use gain=linear"))
            }
            Self::Table(gains) if label.fract() != 0.0 || label as usize >= gains.len() => Some(format!(
                "has no entry in the table of {} gains (labels 0 to {}); lengthen the table, or use linear gain",
                gains.len(),
                gains.len() - 1
            )),
            _ => None,
        }
    }
}

impl ParamValue for Gain {
    fn kind() -> String {
        "exp|linear|table:0,1,3,...".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(entries) = text.strip_prefix("table:") {
            let gains = Vec::<f64>::parse(entries)?;
            let is_usable = !gains.is_empty() && gains.iter().all(|gain| gain.is_finite() && *gain >= 0.0);
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
    fn text_and_limits() {
        for text in ["exp", "linear", "table:0,1,3.5"] {
            assert_eq!(Gain::parse(text).unwrap().render(), text);
        }
        for text in ["", "table:", "table:-1", "table:1,inf", "exponent"] {
            assert_eq!(Gain::parse(text), None, "{text}");
        }
        assert!(Gain::Exp.problem(991.0).is_some() && Gain::Exp.problem(990.0).is_none());
        assert!(Gain::Exp.of(990.0).is_finite());
        let table = Gain::Table(vec![0.0, 1.0]);
        assert!(table.problem(2.0).is_some() && table.problem(0.5).is_some() && table.problem(1.0).is_none());
    }
}
