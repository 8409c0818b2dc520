//! Instruction counts of the hot loops, measured by valgrind: they do not depend on how busy the machine is.
//!
//! Each has a limit, a tenth above its last known count; `cargo xtask counts` fails if it is exceeded. Valgrind does
//! not support AVX-512, so these are the loops compiled for AVX2, if the machine supports it.
//!
//! Lower a limit when a change makes its loop faster; raise one only with a reason in the commit.

#![allow(missing_docs, clippy::needless_pass_by_value)]

use std::hint::black_box;

use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{Absent, Alone, BinnedDataset, BinningSpec, Dataset, DatasetBuilder, Row, Share, SimdLevel};
use rankwise::io::read_letor_from;
use rankwise::metrics::Rules;
use rankwise::objectives::{LambdaMart, ObjectiveSpec, Round, gradients};
use rankwise::trees::{Derivatives, EngineSetup, GrowInput, Grower, TreeParams, TreeSpec};

/// Runs everything on this thread.
fn on_one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    std::mem::forget(pool.expect("a thread can have one pool"));
}

fn config(limit: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(["--cache-sim=no"]);
    callgrind.hard_limits([(EventKind::Ir, limit)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

/// A pseudo-random number in [0, 1) that depends only on `number`.
fn fraction(number: u32) -> f32 {
    (number.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32
}

/// 40 lists of 120 documents, a fifth of them relevant, with scores as after a few trees.
fn lists() -> (Dataset, LambdaMart, Vec<f64>) {
    on_one_thread();
    let mut builder = DatasetBuilder::default();
    for row in 0..40 * 120u32 {
        let label = if row % 5 == 0 { 1.0 + (row % 3) as f32 } else { 0.0 };
        let qid = format!("{}", row / 120);
        builder
            .push(&Row { qid: &qid, label, features: &[(0, fraction(row))], ..Row::default() })
            .expect("rows are fine");
    }
    let data = builder.finish().expect("the data is fine");
    let params = ObjectiveSpec::default().check().expect("the defaults are fine");
    let objective = LambdaMart::new(&params, &Share::alone(&data), &Rules::default(), SimdLevel::best());
    let scores = (0..data.n_rows() as u32).map(|row| f64::from(fraction(row + 7)) * 4.0).collect();
    (data, objective.expect("there are pairs"), scores)
}

#[library_benchmark(config = config(LISTS), setup = lists)]
#[bench::lists_of_120()]
fn lambdas((data, objective, scores): (Dataset, LambdaMart, Vec<f64>)) -> (Vec<f32>, Vec<f32>) {
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    gradients(&objective, &data, Round::default(), &scores, (&mut grad, &mut hess));
    black_box((grad, hess))
}

/// Web-shaped data with 50 features.
fn web(rows: usize) -> Dataset {
    let spec = SynthSpec { preset: Preset::Web, rows, features: Some(50), seed: 1 };
    spec.check().expect("the spec is fine").dataset()
}

struct Ground {
    binned: BinnedDataset,
    params: TreeParams,
    grad: Vec<f32>,
    hess: Vec<f32>,
    rows: Vec<u32>,
}

impl Ground {
    fn grower(&self) -> Grower<'_> {
        let (data, params) = (&self.binned, &self.params);
        Grower::new(EngineSetup { data, params, simd: SimdLevel::best(), reduce: &Alone }, 1)
    }
}

fn ground() -> Ground {
    on_one_thread();
    let data = web(6000);
    let binned = BinnedDataset::new(&data, &BinningSpec::default().check().expect("the defaults are fine"));
    let labels = data.labels();
    let spec = TreeSpec { num_leaves: Some(31), min_data_in_leaf: 50, ..TreeSpec::default() };
    Ground {
        binned: binned.expect("the data fits"),
        params: spec.check().expect("the spec is fine"),
        grad: labels.iter().enumerate().map(|(row, label)| fraction(row as u32) - label).collect(),
        hess: (0..labels.len() as u32).map(|row| 0.5 + fraction(row + 1)).collect(),
        rows: (0..labels.len() as u32).collect(),
    }
}

// Chooses which features share a column, and stores all bins by row.
#[library_benchmark(config = config(LAYOUT), setup = ground)]
#[bench::rows_6000()]
fn layout(ground: Ground) {
    black_box(&ground.grower());
}

// The layout, and the histograms, split searches and partitions of one tree.
#[library_benchmark(config = config(TREE), setup = ground)]
#[bench::leaves_31()]
fn tree(ground: Ground) -> usize {
    let derivatives = Derivatives { grad: &ground.grad, hess: &ground.hess };
    let grown = ground.grower().grow(&GrowInput {
        tree: 0,
        output: 0,
        num_leaves: ground.params.leaves_of(0),
        structure: derivatives,
        leaves: derivatives,
        leaf_noise: None,
        rows: &ground.rows,
        learning_rate: 0.1,
    });
    black_box(grown.tree.n_leaves())
}

fn text() -> Vec<u8> {
    on_one_thread();
    let mut writer = rankwise::io::LetorWriter::new(Vec::new());
    for row in 0..2000u32 {
        let features: Vec<(u32, f32)> =
            (1..=50).map(|id| (id, (fraction(row * 50 + id) * 1e4).round() / 16.0)).collect();
        let qid = format!("{}", row / 100);
        writer.write_row(&Row { qid: &qid, features: &features, ..Row::default() }).expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything")
}

#[library_benchmark(config = config(TEXT), setup = text)]
#[bench::rows_2000()]
fn letor(text: Vec<u8>) -> usize {
    black_box(read_letor_from(&text[..], "text".as_ref(), Absent::Missing).expect("the text is fine").n_rows())
}

fn data() -> Dataset {
    on_one_thread();
    web(3000)
}

#[library_benchmark(config = config(BINS), setup = data)]
#[bench::rows_3000()]
fn binning(data: Dataset) -> usize {
    let binned = BinnedDataset::new(&data, &BinningSpec::default().check().expect("the defaults are fine"));
    black_box(binned.expect("the data fits").n_features())
}

// Maximum number of instructions of each.
const LISTS: u64 = 2_220_000;
const LAYOUT: u64 = 23_500_000;
const TREE: u64 = 40_000_000;
const TEXT: u64 = 45_000_000;
const BINS: u64 = 25_300_000;

library_benchmark_group!(name = hot, benchmarks = [lambdas, layout, tree, letor, binning]);
main!(library_benchmark_groups = hot);
