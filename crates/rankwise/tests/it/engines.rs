//! The fast engine trains the same model as the plain engine, byte for byte, on every instruction set.

use proptest::prelude::*;
use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{Absent, DatasetBuilder, Row, SimdLevel};
use rankwise::prelude::*;
use rankwise::train::Training;

use crate::params;

/// A choice of the parameters that affect the engines.
fn settings() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let choose = |name: &'static str, values: &'static [&'static str]| {
        prop::sample::select(values).prop_map(move |value| (name, value.to_owned()))
    };
    let shape = (
        choose("grow", &["leafwise", "levelwise", "oblivious", "oblivious"]),
        choose("num_leaves", &["2", "7", "31", "80"]),
        choose("max_depth", &["-1", "3", "8"]),
        choose("min_data_in_leaf", &["0", "1", "5", "20", "60"]),
        choose("min_sum_hessian_in_leaf", &["0", "0.001", "0.5", "5"]),
        choose("max_bin", &["255", "63", "15", "2"]),
    );
    let penalties = (
        choose("lambda_l1", &["0", "0", "0", "0.05", "1", "1e12"]),
        choose("lambda_l2", &["0", "0", "0", "1", "20", "1e9", "1e160", "1e300"]),
        choose("min_gain_to_split", &["0", "0", "0.1"]),
        choose("monotone_constraints", &["", "", "3:1", "2:-1,5:1,9:-1"]),
        choose("structure", &["newton", "newton", "gradient"]),
    );
    let samples = (
        choose("feature_fraction", &["1", "1", "0.3"]),
        choose("feature_fraction_bynode", &["1", "1", "0.5"]),
        choose("bagging_fraction", &["1", "0.5"]),
        choose("objective", &["lambdamart", "lambdamart", "rmse"]),
        choose("truncation_level", &["30", "3"]),
        choose("lambda_norm", &["true", "false"]),
    );
    (shape, penalties, samples).prop_map(|(a, b, c)| {
        let is_bagged = c.2.1 != "1";
        let mut all = vec![a.0, a.1, a.2, a.3, a.4, a.5, b.0, b.1, b.2, b.3, b.4, c.0, c.1, c.2, c.3, c.4, c.5];
        all.push(("bagging_freq", if is_bagged { "1".into() } else { "0".into() }));
        all.push(("num_trees", "4".into()));
        all
    })
}

fn preset() -> impl Strategy<Value = Preset> {
    prop::sample::select(&[Preset::Web, Preset::Long, Preset::Wide][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn engines_agree_to_the_byte(
        settings in settings(), preset in preset(), rows in 150usize..1500, features in 10usize..90, seed in 0u64..1000,
        pool in prop::sample::select(&["256", "0", "-1"][..]),
    ) {
        let data = SynthSpec { preset, rows, features: Some(features), seed }.check().unwrap().dataset();
        let known = |constraint: &str| {
            let ids = constraint.split(',').filter_map(|pair| pair.split(':').next()?.parse::<u32>().ok());
            ids.into_iter().all(|id| data.feature_ids().contains(&id))
        };
        prop_assume!(settings.iter().all(|(name, value)| *name != "monotone_constraints" || known(value)));
        let model = |engine: &str, simd: SimdLevel, pool: &str| {
            let mut all: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
            all.extend([("engine", engine), ("histogram_pool_mb", pool)]);
            Training::new(&params(&all), &data).simd(simd).run(&mut Silent).map(|trained| trained.model.to_json())
        };
        // The fast engine drops and recomputes histograms; the plain one keeps them all.
        let plain = model("plain", SimdLevel::PORTABLE, "-1");
        for simd in SimdLevel::available() {
            prop_assert_eq!(&plain, &model("fast", simd, pool), "{}", simd.name());
        }
    }
}

/// Thousands of sparse features: the fast engine bundles them, and leaves out those that cannot be split.
#[test]
fn engines_agree_on_wide_data() {
    for (absent, present) in [(Absent::Missing, 40), (Absent::Zero, 40), (Absent::Zero, 7)] {
        let mut builder = DatasetBuilder::new(absent);
        for row in 0..700u32 {
            let value = |place: u32| (row.wrapping_mul(2_654_435_761).wrapping_add(place * 40_503) >> 7) % 9973;
            let mut ids: Vec<u32> = (0..present).map(|place| value(place) % 1500).collect();
            ids.sort_unstable();
            ids.dedup();
            let features: Vec<(u32, f32)> = ids.iter().map(|id| (*id, (value(*id) % 4) as f32)).collect();
            let label = ids.iter().filter(|id| *id % 7 == 0).count().min(4) as f32;
            builder.push(&Row { qid: &(row / 20).to_string(), label, features: &features, ..Row::default() }).unwrap();
        }
        let data = builder.finish().unwrap();
        for (grow, min_data) in [("leafwise", "1"), ("leafwise", "15"), ("levelwise", "5"), ("oblivious", "10")] {
            let model = |engine: &str| {
                let mut settings = vec![("engine", engine), ("grow", grow), ("min_data_in_leaf", min_data)];
                settings.extend([("num_trees", "3"), ("num_leaves", "12"), ("feature_fraction_bynode", "0.8")]);
                settings.push(("absent", if absent == Absent::Zero { "zero" } else { "missing" }));
                Training::new(&params(&settings), &data).run(&mut Silent).unwrap().model.to_json()
            };
            assert_eq!(model("plain"), model("fast"), "{absent:?}, {present} features, {grow}, {min_data}");
        }
    }
}

/// Nodes with thousands of rows are divided among threads and merged. Tests nodes of several sizes, and layouts that
/// divide evenly or not.
#[test]
fn large_nodes_are_summed_alike_by_any_number_of_threads() {
    for (features, leaves) in [(40, "15"), (75, "40"), (136, "7")] {
        let spec = SynthSpec { preset: Preset::Web, rows: 20_000, features: Some(features), seed: 3 };
        let data = spec.check().unwrap().dataset();
        let model = |engine: &str, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = [("engine", engine), ("num_trees", "3"), ("num_leaves", leaves), ("min_data_in_leaf", "30")];
            let params = params(&settings);
            pool.install(|| Training::new(&params, &data).run(&mut Silent)).unwrap().model.to_json()
        };
        let plain = model("plain", 2);
        for threads in [1, 2, 3] {
            assert_eq!(plain, model("fast", threads), "{features} features, {threads} threads");
        }
    }
}
