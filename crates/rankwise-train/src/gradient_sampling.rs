//! Gradient sampling. After the objective has run, rows are drawn by the size of their gradients and Hessians. These
//! are divided by the probability of drawing the row, so that every sum keeps its expectation.
//!
//! The Hessian here is the one that the split search uses; with `structure=gradient` it is the weight of the document.
//! With several outputs, their sums determine the sample; a round uses the same rows for all outputs.

mod goss;
mod mvs;

use rankwise_data::{Draw, Purpose, Share, SimdLevel, reduce};
use rankwise_trees::Derivative;
use rayon::prelude::*;

use self::goss::Goss;
use self::mvs::Mvs;
use crate::{LoopParams, Sample, TrainParams};

/// Rows that one task works on.
const ROWS_PER_TASK: usize = 1 << 12;

/// A drawn row, and the factor for its gradient and Hessian.
type Drawn = (u32, f64);

/// Rows drawn again for each round.
pub(crate) struct GradientSampling {
    method: Method,
    seed: u64,
    structure: Derivative,
    simd: SimdLevel,
    /// The rows of the round, ascending.
    pub(crate) rows: Vec<u32>,
    /// The weights of all rows, if any, after multiplying those of the drawn rows.
    pub(crate) weights: Vec<f32>,
}

enum Method {
    Goss(Goss),
    Mvs(Mvs),
}

impl GradientSampling {
    /// `None` if the parameters disable it.
    pub(crate) fn new(params: &TrainParams, simd: SimdLevel) -> Option<Self> {
        let boosting = params.boosting();
        let method = Method::new(boosting)?;
        let structure = params.trees().structure;
        Some(Self { method, seed: boosting.seed, structure, simd, rows: Vec::new(), weights: Vec::new() })
    }

    /// Draws the rows of a round and multiplies their gradients and Hessians, stored output by output.
    pub(crate) fn draw(
        &mut self,
        share: &Share<'_>,
        round: u32,
        (grad, hess): (&mut [f32], &mut [f32]),
        weights: &[f32],
    ) {
        let data = share.data;
        let n_rows = data.n_rows();
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        let second = match self.structure {
            Derivative::Newton => &*hess,
            Derivative::Gradient => weights,
        };
        // Weights are the same for all outputs.
        let planes: Vec<Plane<'_>> = grad.chunks_exact(n_rows).zip(second.chunks_exact(n_rows).cycle()).collect();
        let (draw, simd) = (Draw::new(self.seed, Purpose::Bagging, round), self.simd);
        let drawn = match &self.method {
            Method::Goss(goss) if goss.is_warming_up(round) => (0..n_rows as u32).map(|row| (row, 1.0)).collect(),
            Method::Goss(goss) => {
                let sizes = sums_by_row(&planes, |grad, hess| (grad * hess).abs());
                draw_among_all(share, sizes, (simd, &draw), |sizes, numbers| goss.draw(sizes, numbers))
            }
            Method::Mvs(mvs) => {
                let lambda = mvs.lambda(|of: &(dyn Fn(f64, f64) -> f64 + Sync)| {
                    let planes = planes.iter();
                    reduce::sum(planes.flat_map(|plane| share.gather_rows(sums_by_row(&[*plane], of))))
                });
                let mut sizes = sums_by_row(&planes, |grad, hess| grad * grad + lambda * hess * hess);
                sizes.par_iter_mut().with_min_len(ROWS_PER_TASK).for_each(|size| *size = libm::sqrt(*size));
                draw_among_all(share, sizes, (simd, &draw), |sizes, numbers| mvs.draw(sizes, numbers.first))
            }
        };
        for plane in grad.chunks_exact_mut(n_rows).chain(hess.chunks_exact_mut(n_rows)) {
            multiply_rows(plane, &drawn);
        }
        multiply_rows(&mut self.weights, &drawn);
        self.rows.clear();
        self.rows.extend(drawn.iter().map(|(row, _)| *row));
    }
}

impl Method {
    fn new(params: &LoopParams) -> Option<Self> {
        match params.sample {
            Sample::Goss => Some(Self::Goss(Goss::new(params))),
            Sample::Mvs => Some(Self::Mvs(Mvs::new(params))),
            _ => None,
        }
    }
}

/// The random numbers of rows.
struct Numbers<'a> {
    /// The first number of each row, in (0, 1].
    first: &'a [f64],
    /// Gives another one, for few rows.
    second: &'a (dyn Fn(usize) -> f64 + Sync),
}

/// Draws rows of this member, by size among the rows of all members; `draw_all(sizes, numbers)` draws among all.
fn draw_among_all(
    share: &Share<'_>,
    sizes: Vec<f64>,
    (simd, draw): (SimdLevel, &Draw),
    draw_all: impl Fn(&[f64], &Numbers<'_>) -> Vec<Drawn>,
) -> Vec<Drawn> {
    let data = share.data;
    let mut first = vec![0.0; sizes.len()];
    first.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, numbers)| {
        let start = task * ROWS_PER_TASK;
        data.draws(simd, draw, start..start + numbers.len(), numbers);
        for number in numbers {
            *number = 1.0 - *number;
        }
    });
    let second = |row: usize| {
        let (key, ordinal) = data.doc_keys(row..row + 1).of(0);
        draw.uniforms(key, ordinal)[1]
    };
    if share.is_alone() {
        return draw_all(&sizes, &Numbers { first: &first, second: &second });
    }
    let second = share.gather_rows((0..sizes.len()).map(second).collect());
    let numbers = Numbers { first: &share.gather_rows(first), second: &|row| second[row] };
    let drawn = draw_all(&share.gather_rows(sizes), &numbers);
    let starts = share.row_starts();
    let own_row = |(row, factor): Drawn| {
        let query = starts.partition_point(|start| *start <= row as usize).checked_sub(1)?;
        let (place, rows) = (row as usize - starts[query], share.data.query_rows(query));
        (place < rows.len()).then_some(((rows.start + place) as u32, factor))
    };
    drawn.into_iter().filter_map(own_row).collect()
}

/// The gradients of an output, and what divides them.
type Plane<'a> = (&'a [f32], &'a [f32]);

/// What `of` says about the gradient and Hessian of each row, summed over outputs.
fn sums_by_row(planes: &[Plane<'_>], of: impl Fn(f64, f64) -> f64 + Sync) -> Vec<f64> {
    let mut sums = vec![0.0; planes[0].0.len()];
    sums.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, sums)| {
        let rows = task * ROWS_PER_TASK..task * ROWS_PER_TASK + sums.len();
        for (grad, hess) in planes {
            let pairs = grad[rows.clone()].iter().zip(&hess[rows.clone()]);
            for (sum, (grad, hess)) in sums.iter_mut().zip(pairs) {
                *sum += of(f64::from(*grad), f64::from(*hess));
            }
        }
    });
    sums
}

/// Multiplies the values of drawn rows, which ascend, by their factors.
fn multiply_rows(values: &mut [f32], drawn: &[Drawn]) {
    values.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, values)| {
        let start = task * ROWS_PER_TASK;
        let before = |end: usize| drawn.partition_point(|(row, _)| (*row as usize) < end);
        let drawn = &drawn[before(start)..before(start + values.len())];
        for (row, factor) in drawn.iter().filter(|(_, factor)| *factor != 1.0) {
            multiply(&mut values[*row as usize - start], *factor);
        }
    });
}

/// Multiplies, limited to the largest finite number.
fn multiply(value: &mut f32, factor: f64) {
    let largest = f64::from(f32::MAX);
    *value = (f64::from(*value) * factor).clamp(-largest, largest) as f32;
}

#[cfg(test)]
mod tests {
    use rankwise_data::{Dataset, DatasetBuilder, Row};

    use super::*;
    use crate::TrainSpec;

    fn sampling(settings: &[(&str, &str)]) -> GradientSampling {
        let mut spec = TrainSpec::default();
        spec.set_all(settings.iter().copied()).unwrap();
        GradientSampling::new(&spec.check().unwrap(), SimdLevel::best()).unwrap()
    }

    fn data(n_rows: usize) -> Dataset {
        let mut builder = DatasetBuilder::default();
        for doc in 0..n_rows {
            builder.push(&Row { qid: "q", doc_id: &format!("d{doc}"), ..Row::default() }).unwrap();
        }
        builder.finish().unwrap()
    }

    /// Over many rounds, the mean of the sampled sums equals the sum over all rows.
    #[test]
    fn sums_keep_their_expectation() {
        const ROWS: usize = 60;
        const ROUNDS: u32 = 4000;
        let data = data(ROWS);
        // Two outputs.
        let grad: Vec<f32> = (0..2 * ROWS).map(|idx| ((idx * 37 % 101) as f32 - 50.0) / 20.0).collect();
        let hess: Vec<f32> = (0..2 * ROWS).map(|idx| 0.1 + (idx * 11 % 17) as f32 / 9.0).collect();
        let weights: Vec<f32> = (0..ROWS).map(|row| 1.0 + (row % 3) as f32).collect();
        let total = |values: &[f32], rows: &[u32]| -> f64 {
            let planes = values.chunks_exact(ROWS);
            planes.flat_map(|plane| rows.iter().map(|row| f64::from(plane[*row as usize]))).sum()
        };
        let all: Vec<u32> = (0..ROWS as u32).collect();
        for settings in [
            &[("sample", "goss"), ("learning_rate", "10")][..],
            &[("sample", "goss"), ("learning_rate", "10"), ("structure", "gradient")],
            &[("sample", "mvs"), ("bagging_fraction", "0.3")],
            &[("sample", "mvs"), ("bagging_fraction", "0.3"), ("structure", "gradient"), ("mvs_reg", "0.5")],
        ] {
            let mut sampling = sampling(settings);
            let (mut sums, mut n_drawn) = ([0.0; 3], 0);
            for round in 0..ROUNDS {
                let (mut drawn_grad, mut drawn_hess) = (grad.clone(), hess.clone());
                sampling.draw(&Share::alone(&data), round, (&mut drawn_grad, &mut drawn_hess), &weights);
                assert!(sampling.rows.is_sorted_by(|a, b| a < b));
                n_drawn += sampling.rows.len();
                for (sum, values) in sums.iter_mut().zip([&drawn_grad, &drawn_hess, &sampling.weights]) {
                    *sum += total(values, &sampling.rows) / f64::from(ROUNDS);
                }
            }
            let share = n_drawn as f64 / (ROWS as f64 * f64::from(ROUNDS));
            assert!((share - 0.3).abs() < 0.01, "{settings:?}: {share}");
            for (sum, values) in sums.iter().zip([&grad, &hess, &weights]) {
                let (exact, size) = (total(values, &all), values.iter().map(|value| value.abs()).sum::<f32>());
                assert!((sum - exact).abs() < 0.02 * f64::from(size), "{settings:?}: {sum} for {exact}");
            }
        }
    }
}
