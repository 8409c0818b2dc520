//! How much the target metric changes when two documents swap ranks.
//!
//! For rank i above rank j, with values v (see `target.rs`), the current metric minus the metric after the swap is
//!
//! ```text
//! (v_i - v_j) * (row_i - weight_i * column_j)
//! ```
//!
//! for every target. Rows, weights and columns take one pass over the list. Ranks r count from 0, and ranks at or
//! beyond the cutoff count nothing.
//!
//! ```text
//! ndcg, dcg, p   row_r = column_r = the weight of the rank (1/log2(2 + r), or 1), weight 1
//! map            C_r relevant documents among the ranks 0..=r, H_r the sum of 1/(1 + q) over those ranks q <= r
//!                row_r    = (C_r + [r is not relevant]) / (1 + r) - H_r        weight 1
//!                column_r = (C_r + [r is relevant])     / (1 + r) - H_r
//! mrr            f and g the first two relevant ranks, V(r) = 1/(1 + r); only the rows 0..=f matter
//!                row_r = V(r);  column_r = V(f) where r is relevant, else V(min(r, g))     weight 1
//! err            P_r the chance to reach r, S_r the part of the metric that comes after r
//!                weight_r = 1 / (1 - v_r),  row_r = P_r/(1 + r) - S_r * weight_r,  column_r = P_r/(1 + r) - S_(r-1)
//! ```

use rankwise_metrics::MetricKind;

use crate::target::Target;

/// A reader who certainly stops at a document is treated as nearly certain. The probabilities after it are then ratios
/// of small numbers instead of 0/0, and ERR changes by no more than that.
const MOST_CERTAIN: f64 = 1.0 - 1.0 / (1u64 << 30) as f64;

/// Columns by rank.
pub(crate) struct SwapColumns<'a> {
    pub(crate) rows: &'a mut Vec<f32>,
    pub(crate) weights: &'a mut Vec<f32>,
    pub(crate) columns: &'a mut Vec<f32>,
}

impl SwapColumns<'_> {
    /// Fills all columns for values in rank order. Returns the number of relevant rows: swaps among lower ranks change
    /// nothing.
    pub(crate) fn fill(&mut self, target: &Target, values: &[f32]) -> usize {
        self.rows.clear();
        self.columns.clear();
        self.weights.clear();
        match target.kind() {
            MetricKind::Map => self.fill_map(target, values),
            MetricKind::Mrr => return self.fill_mrr(target, values),
            MetricKind::Err => self.fill_err(target, values),
            _ => {
                self.rows.extend_from_slice(&target.worths[..values.len()]);
                self.columns.extend_from_slice(&target.worths[..values.len()]);
                self.weights.resize(values.len(), 1.0);
            }
        }
        target.cutoff().min(values.len())
    }

    /// The weight of a pair of neighbours per difference of their values, at the rank of the upper one.
    pub(crate) fn of_neighbours(&self, n_rows: usize, out: &mut Vec<f32>) {
        out.clear();
        let lower = self.columns.iter().skip(1).take(n_rows);
        let rows = self.rows.iter().zip(&*self.weights);
        out.extend(rows.zip(lower).map(|((row, weight), column)| row - weight * column));
        out.resize(self.columns.len(), 0.0);
    }

    fn fill_map(&mut self, target: &Target, values: &[f32]) {
        let (mut n_relevant, mut harmonic) = (0.0, 0.0);
        let n_counted = target.cutoff().min(values.len());
        self.rows.resize(n_counted, 0.0);
        self.columns.resize(n_counted, 0.0);
        let places = self.rows.iter_mut().zip(self.columns.iter_mut()).zip(target.rank_weights());
        for ((place, share), value) in places.zip(values) {
            let is_relevant = if *value > 0.0 { 1.0 } else { 0.0 };
            n_relevant += is_relevant;
            harmonic += is_relevant * share;
            *place.0 = ((n_relevant + 1.0 - is_relevant) * share - harmonic) as f32;
            *place.1 = ((n_relevant + is_relevant) * share - harmonic) as f32;
        }
        self.rows.resize(values.len(), -harmonic as f32);
        self.columns.resize(values.len(), -harmonic as f32);
        self.weights.resize(values.len(), 1.0);
    }

    fn fill_mrr(&mut self, target: &Target, values: &[f32]) -> usize {
        let mut relevant = (0..values.len()).filter(|rank| values[*rank] > 0.0);
        let (Some(first), second) = (relevant.next(), relevant.next().unwrap_or(values.len())) else {
            for column in [&mut *self.rows, self.columns, self.weights] {
                column.resize(values.len(), 0.0);
            }
            return 0;
        };
        let worth = |rank: usize| target.worths[rank];
        self.rows.extend_from_slice(&target.worths[..values.len()]);
        let of_rank = |rank: usize| worth(if values[rank] > 0.0 { first } else { rank.min(second) });
        self.columns.extend((0..values.len()).map(of_rank));
        self.weights.resize(values.len(), 1.0);
        (first + 1).min(target.cutoff())
    }

    fn fill_err(&mut self, target: &Target, values: &[f32]) {
        let stops = |rank: usize| f64::from(values[rank]).min(MOST_CERTAIN);
        let n_counted = target.cutoff().min(values.len());
        // First store the probabilities to reach a rank in the columns. Then go from the end, so that what comes after
        // a rank is a sum, not a difference of larger numbers.
        let mut reaches = 1.0;
        for rank in 0..n_counted {
            self.columns.push(reaches as f32);
            self.weights.push((1.0 / (1.0 - stops(rank))) as f32);
            reaches *= 1.0 - stops(rank);
        }
        self.columns.resize(values.len(), 0.0);
        self.weights.resize(values.len(), 1.0);
        self.rows.resize(values.len(), 0.0);
        let mut after = 0.0;
        for rank in (0..n_counted).rev() {
            let here = f64::from(self.columns[rank]) * target.rank_weights()[rank];
            let from_here = after + here * stops(rank);
            self.rows[rank] = (here - after / (1.0 - stops(rank))) as f32;
            self.columns[rank] = (here - from_here) as f32;
            after = from_here;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::{Dataset, DatasetBuilder, Row};
    use rankwise_metrics::{Evaluator, Gain, MapDenominator, MetricName, PrecisionDenominator, Rules};
    use rankwise_params::ParamValue;

    use super::*;

    fn dataset(labels: &[f32]) -> Dataset {
        let mut builder = DatasetBuilder::default();
        for (idx, label) in labels.iter().enumerate() {
            let doc_id = format!("d{idx:04}");
            builder.push(&Row { qid: "q", label: *label, doc_id: &doc_id, features: &[] }).unwrap();
        }
        builder.finish().unwrap()
    }

    /// The metric of a list ranked in the order of `labels`.
    fn value(name: &MetricName, rules: &Rules, labels: &[f32]) -> f64 {
        let data = dataset(labels);
        let scores: Vec<f64> = (0..labels.len()).map(|rank| -(rank as f64)).collect();
        let scores = data.from_input_order(&scores);
        let evaluator = Evaluator::new(&data, std::slice::from_ref(name), rules).unwrap();
        evaluator.evaluate_canonical(&scores).unwrap().metrics[0].mean.unwrap_or(0.0)
    }

    fn rules() -> impl Strategy<Value = Rules> {
        (prop_oneof![Just(1.0f32), Just(2.0), Just(f32::from_bits(1))], any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(relevant_from, by_cutoff, by_length, by_rank)| Rules {
                relevant_from,
                map_denominator: if by_cutoff { MapDenominator::Cutoff } else { MapDenominator::Relevant },
                precision_denominator: if by_length {
                    PrecisionDenominator::Length
                } else {
                    PrecisionDenominator::Cutoff
                },
                discount: if by_rank { rankwise_metrics::Discount::Rank } else { rankwise_metrics::Discount::Log2 },
                ..Rules::default()
            })
    }

    /// Checks every pair of ranks by evaluating the metric before and after the swap.
    fn check(name: &str, labels: &[f32], rules: &Rules) -> Result<(), TestCaseError> {
        let name = MetricName::parse(name).unwrap();
        let target = Target::new("lambdamart", &name, &dataset(labels), rules, usize::MAX).unwrap();
        let mut values = Vec::new();
        target.values(labels, &mut values);
        let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
        let (mut rows, mut weights, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        let mut swaps = SwapColumns { rows: &mut rows, weights: &mut weights, columns: &mut columns };
        let n_rows = swaps.fill(&target, &values);
        let before = value(&name, rules, labels);
        for i in 0..labels.len() {
            for j in i + 1..labels.len() {
                let mut swapped = labels.to_vec();
                swapped.swap(i, j);
                let expected = before - value(&name, rules, &swapped);
                let found =
                    if i < n_rows { (values[i] - values[j]) * (rows[i] - weights[i] * columns[j]) } else { 0.0 };
                let unit = before.max(1.0);
                prop_assert!(
                    (f64::from(found) - expected).abs() <= 1e-6 * unit,
                    "{:?} at {} and {}: {} is not {}",
                    name,
                    i,
                    j,
                    found,
                    expected
                );
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn swaps_are_those_of_the_metric(
            labels in prop::collection::vec((0u8..5).prop_map(f32::from), 1..14),
            sparse in any::<bool>(), cutoff in prop::option::of(1usize..16), rules in rules(),
        ) {
            let labels: Vec<f32> =
                labels.iter().enumerate().map(|(idx, label)| if sparse && idx % 4 != 0 { 0.0 } else { *label }).collect();
            let at = cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
            for name in ["ndcg", "dcg", "map", "mrr", "err"] {
                check(&format!("{name}{at}"), &labels, &rules)?;
            }
            check(&format!("p@{}", cutoff.unwrap_or(3)), &labels, &rules)?;
        }

        /// Probabilities as labels, including certainty.
        #[test]
        fn certain_readers_stop(
            labels in prop::collection::vec(prop_oneof![Just(0.0f32), Just(1.0), 0.0f32..1.0], 1..12),
            cutoff in 1usize..14,
        ) {
            let rules = Rules { gain: Gain::Linear, ..Rules::default() };
            check("err", &labels, &rules)?;
            check(&format!("err@{cutoff}"), &labels, &rules)?;
        }
    }
}
