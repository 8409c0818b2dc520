//! Whole trees against a grower that keeps lists of rows and tries every split of every leaf at every step.

use proptest::prelude::*;

use rankwise_data::{Alone, SimdLevel};

use super::*;
use crate::question::Question;
use crate::testing::{Oracle, TinyData, TinyRow, fixed_point, tiny_data, tiny_params, tiny_rows};
use crate::{SetTrees as _, TreeSpec};

#[derive(Clone, Debug)]
struct SlowLeaf {
    id: usize,
    rows: Vec<u32>,
    depth: usize,
    bounds: Bounds,
}

/// Grows by exhaustive search; gives the gains in the order of splitting and the final leaves.
fn grow_slowly(rows: &[TinyRow], data: &TinyData, params: &TreeParams) -> (Vec<f64>, Vec<SlowLeaf>) {
    let fixed = fixed_point(data);
    let oracle = Oracle { data: &data.binned, fixed: &fixed, params };
    let mut leaves = vec![SlowLeaf { id: 0, rows: (0..rows.len() as u32).collect(), depth: 0, bounds: Bounds::FREE }];
    let (mut gains, mut next_id) = (Vec::new(), 1);
    loop {
        let room = params.leaf_limit(params.leaves_of(0)) - leaves.len();
        let mut steps: Vec<(Split, Vec<usize>)> = Vec::new();
        let open: Vec<usize> = (0..leaves.len()).filter(|idx| leaves[*idx].depth < params.depth_limit()).collect();
        if params.growth() == Growth::Oblivious {
            let nodes: Vec<(&[u32], Bounds)> =
                open.iter().map(|idx| (&leaves[*idx].rows[..], leaves[*idx].bounds)).collect();
            steps.extend(oracle.best(&nodes, true).filter(|_| open.len() <= room).map(|split| (split, open)));
        } else {
            for idx in open {
                steps.extend(
                    oracle.best(&[(&leaves[idx].rows, leaves[idx].bounds)], false).map(|split| (split, vec![idx])),
                );
            }
            if params.growth() == Growth::Levelwise {
                let level = steps.iter().map(|(_, idx)| leaves[idx[0]].depth).min();
                steps.retain(|(_, idx)| Some(leaves[idx[0]].depth) == level);
            }
            steps.sort_by(|a, b| b.0.gain.total_cmp(&a.0.gain).then(leaves[a.1[0]].id.cmp(&leaves[b.1[0]].id)));
            steps.truncate(if params.growth() == Growth::Leafwise { 1.min(room) } else { room });
        }
        if steps.is_empty() {
            leaves.sort_by_key(|leaf| leaf.rows.clone());
            return (gains, leaves);
        }
        let mut divided = Vec::new();
        for (split, members) in steps {
            gains.push(split.gain);
            for idx in members {
                let leaf = leaves[idx].clone();
                divided.push(leaf.id);
                let (left, right): (Vec<u32>, Vec<u32>) =
                    leaf.rows.iter().partition(|row| oracle.goes_left(&split, **row));
                let value = |rows: &[u32]| {
                    let rows = if left.is_empty() || right.is_empty() { &leaf.rows } else { rows };
                    oracle.value(oracle.side(rows, |_| true), leaf.bounds)
                };
                let direction = params.monotone_constraints.direction(data.binned.feature_ids()[split.feature]);
                let (left_bounds, right_bounds) = leaf.bounds.split(direction, value(&left), value(&right));
                for (rows, bounds) in [(left, left_bounds), (right, right_bounds)] {
                    leaves.push(SlowLeaf { id: next_id, rows, depth: leaf.depth + 1, bounds });
                    next_id += 1;
                }
            }
        }
        leaves.retain(|leaf| !divided.contains(&leaf.id));
        leaves.sort_by_key(|leaf| leaf.id);
    }
}

fn grow(data: &TinyData, params: &TreeParams) -> GrownTree {
    grow_on(data, params, SimdLevel::best()).1
}

fn grow_on<'a>(data: &'a TinyData, params: &'a TreeParams, simd: SimdLevel) -> (Grower<'a>, GrownTree) {
    let rows: Vec<u32> = (0..data.grad.len() as u32).collect();
    let derivatives = Derivatives { grad: &data.grad, hess: &data.hess };
    let mut grower = Grower::new(EngineSetup { data: &data.binned, params, simd, reduce: &Alone }, 1);
    let grown = grower.grow(&GrowInput {
        tree: 0,
        output: 0,
        num_leaves: params.leaves_of(0),
        leaf_noise: None,
        structure: derivatives,
        leaves: derivatives,
        rows: &rows,
        learning_rate: 0.5,
    });
    (grower, grown)
}

/// The leaf of a row, by a walk over bins.
fn leaf_of(tree: &Tree, data: &TinyData, row: usize) -> usize {
    tree.walk(|node| {
        let question = Question::of_node(&data.binned, tree.parts(), node);
        question.goes_left(data.binned.column(question.feature)[row])
    })
}

/// The rows of each leaf.
fn leaf_rows(tree: &Tree, data: &TinyData) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); tree.n_leaves()];
    (0..data.grad.len()).for_each(|row| rows[leaf_of(tree, data, row)].push(row as u32));
    rows
}

fn policy() -> impl Strategy<Value = Growth> {
    prop_oneof![Just(Growth::Leafwise), Just(Growth::Levelwise), Just(Growth::Oblivious)]
}

fn with_shape(params: &TreeParams, grow: Growth, num_leaves: usize, max_depth: i32) -> TreeParams {
    let spec: &TreeSpec = params;
    spec.clone().grow(grow).num_leaves(num_leaves).max_depth(max_depth).check().unwrap()
}

proptest! {
    #[test]
    fn trees_are_those_of_exhaustive_search(
        rows in tiny_rows(40), params in tiny_params(), grow_policy in policy(), num_leaves in 2usize..10, max_depth in -1i32..4,
    ) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() > 0);
        let params = with_shape(&params, grow_policy, num_leaves, max_depth);
        let grown = grow(&data, &params);
        let plain_params = TreeSpec { engine: EngineKind::Plain, ..(*params).clone() }.check().unwrap();
        prop_assert_eq!(&grown.tree, &grow(&data, &plain_params).tree);
        let (gains, leaves) = grow_slowly(&rows, &data, &params);

        let mut found: Vec<(Vec<u32>, f64)> =
            leaf_rows(&grown.tree, &data).into_iter().zip(grown.tree.parts().leaf_value.iter().copied()).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let found_rows: Vec<&[u32]> = found.iter().map(|leaf| &leaf.0[..]).collect();
        let expected_rows: Vec<&[u32]> = leaves.iter().map(|leaf| &leaf.rows[..]).collect();
        prop_assert_eq!(found_rows, expected_rows);
        // Gains are tiny integers over tiny integers here, so sums in any order agree closely.
        let mut expected_gains = gains;
        let mut found_gains = grown.tree.parts().gain.clone();
        found_gains.sort_by(f64::total_cmp);
        expected_gains.sort_by(f64::total_cmp);
        if grow_policy == Growth::Oblivious {
            // The gain of a level is the sum of what its nodes gain.
            let (found, expected): (f64, f64) = (found_gains.iter().sum(), expected_gains.iter().sum());
            prop_assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{} {}", found, expected);
        } else {
            prop_assert_eq!(found_gains, expected_gains);
        }

        // Leaf values are Newton steps on the exact sums, inside the bounds.
        for ((rows, value), leaf) in found.iter().filter(|leaf| !leaf.0.is_empty()).zip(leaves.iter().filter(|leaf| !leaf.rows.is_empty())) {
            let sum = |of: &[f32]| rows.iter().map(|row| f64::from(of[*row as usize])).sum::<f64>();
            let (grad, hess) = (sum(&data.grad), sum(&data.hess));
            let shrunk = (grad.abs() - params.lambda_l1).max(0.0) * grad.signum();
            let newton = if hess + params.l2() > 0.0 { -shrunk / (hess + params.l2()) } else { 0.0 };
            prop_assert!((value - leaf.bounds.clamp(newton) * 0.5).abs() < 1e-12, "{} {}", value, newton);
        }
        // However they are added, rows get the values of their leaves.
        let values = &grown.tree.parts().leaf_value;
        for simd in SimdLevel::available() {
            let (grower, grown) = grow_on(&data, &params, simd);
            let mut scores: Vec<f64> = (0..data.grad.len()).map(|row| row as f64 * 0.1).collect();
            let value = |row: usize| values[leaf_of(&grown.tree, &data, row)];
            let expected: Vec<f64> = scores.iter().enumerate().map(|(row, score)| score + value(row)).collect();
            let mut own = scores.clone();
            grower.add_tree(&grown.tree, 1.0, &mut scores);
            grower.add_grown(0, &grown.tree, &mut own);
            prop_assert_eq!(&scores, &expected);
            prop_assert_eq!(&own, &expected);
            grower.add_tree(&grown.tree, -0.25, &mut scores);
            let expected = expected.iter().enumerate().map(|(row, score)| score - 0.25 * value(row));
            prop_assert_eq!(scores, expected.collect::<Vec<f64>>());
        }
    }

    #[test]
    fn trees_do_not_depend_on_threads(
        rows in tiny_rows(200), params in tiny_params(), num_leaves in 2usize..30, fraction in prop::sample::select(vec![0.5, 1.0]),
    ) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() > 0);
        let spec = TreeSpec { feature_fraction_bynode: fraction, ..(*with_shape(&params, Growth::Leafwise, num_leaves, -1)).clone() };
        let params = spec.check().unwrap();
        let grow_with = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| grow(&data, &params))
        };
        let (alone, together) = (grow_with(1), grow_with(2));
        prop_assert_eq!(&alone.tree, &together.tree);
    }

    /// Nodes of a level that have no room in the pool are searched by their rows.
    #[test]
    fn oblivious_trees_do_not_depend_on_the_pool_or_the_engine(
        rows in tiny_rows(300), params in tiny_params(), max_depth in 1i32..9, pool in prop_oneof![Just(0.0), Just(-1.0)],
    ) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() > 0);
        let spec = (*with_shape(&params, Growth::Oblivious, 31, max_depth)).clone();
        let plain = TreeSpec { engine: EngineKind::Plain, ..spec.clone() }.check().unwrap();
        let expected = grow(&data, &plain).tree;
        let params = TreeSpec { histogram_pool_mb: pool, ..spec }.check().unwrap();
        for simd in SimdLevel::available() {
            for n_threads in [1, 3] {
                let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                prop_assert_eq!(&threads.install(|| grow_on(&data, &params, simd).1).tree, &expected);
            }
        }
    }

    /// Constrained features move the score one way only, whatever the other features are.
    #[test]
    fn constraints_hold_everywhere(rows in tiny_rows(40), params in tiny_params(), grow_policy in policy()) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() == 3);
        let params = with_shape(&params, grow_policy, 8, -1);
        let tree = grow(&data, &params).tree;
        for feature in 0..3usize {
            let direction = f64::from(params.monotone_constraints.direction(feature as u32));
            for (values, _, _) in &rows {
                let mut values: Vec<f64> = values.iter().map(|value| value.map_or(f64::NAN, f64::from)).collect();
                let scores: Vec<f64> = (0..7).map(|value| {
                    values[feature] = f64::from(value);
                    tree.parts().leaf_value[tree.leaf(&values)]
                }).collect();
                for pair in scores.windows(2) {
                    prop_assert!((pair[1] - pair[0]) * direction >= -1e-12, "{:?}", scores);
                }
            }
        }
    }
}

/// Many threads apply many splits ahead of their turn, and some of these never join the tree.
#[test]
fn several_trees_are_the_same_on_any_number_of_threads() {
    let rows: Vec<TinyRow> = (0..6000u32)
        .map(|row| {
            let value = |factor: u32| Some((row.wrapping_mul(factor) >> 7) as u8 % 200);
            (vec![value(2_654_435_761), value(40_503), value(12_289)], (row * row % 23) as i8 - 9, (row % 3) as u8 + 1)
        })
        .collect();
    let data = tiny_data(&rows);
    for (grow, num_leaves, n_threads) in policies_leaves_and_threads() {
        let spec = TreeSpec::default().grow(grow).num_leaves(num_leaves).min_data_in_leaf(3);
        let params = spec.check().unwrap();
        let trees_on = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| trees_with_cores(&data, &params, n_threads))
        };
        assert_eq!(trees_on(n_threads), trees_on(1), "{grow:?}, {num_leaves} leaves, {n_threads} threads");
    }
}

fn policies_leaves_and_threads() -> Vec<(Growth, usize, usize)> {
    let policies = [Growth::Leafwise, Growth::Levelwise, Growth::Oblivious];
    let of = |grow: Growth| {
        let leaves = [6, 60, 300].into_iter();
        leaves.flat_map(move |leaves| [2, 3, 5, 8, 16, 64].map(|n_threads| (grow, leaves, n_threads)))
    };
    policies.into_iter().flat_map(of).collect()
}

/// Three trees of one grower, each fitted to what the last one left.
fn trees_with_cores(data: &TinyData, params: &TreeParams, n_cores: usize) -> Vec<Tree> {
    let setup = EngineSetup { data: &data.binned, params, simd: SimdLevel::best(), reduce: &Alone };
    let histograms = FastHistograms::new(&data.binned, setup.simd, setup.params.min_data_in_leaf).with_cores(n_cores);
    let engine = HostEngine::new(setup, histograms).with_cores(n_cores);
    let mut grower = Grower::with_engine(setup, Box::new(engine), 1);
    let rows: Vec<u32> = (0..data.grad.len() as u32).collect();
    let mut scores = vec![0.0; data.grad.len()];
    let mut trees = Vec::new();
    for tree in 0..3 {
        let grad: Vec<f32> = data.grad.iter().zip(&scores).map(|(grad, score)| grad + *score as f32).collect();
        let derivatives = Derivatives { grad: &grad, hess: &data.hess };
        let grown = grower.grow(&GrowInput {
            tree,
            output: 0,
            num_leaves: params.leaves_of(0),
            leaf_noise: None,
            structure: derivatives,
            leaves: derivatives,
            rows: &rows,
            learning_rate: 0.3,
        });
        grower.add_grown(0, &grown.tree, &mut scores);
        trees.push(grown.tree);
    }
    trees
}

#[test]
fn threads_add_to_runs_of_the_scores() {
    let rows: Vec<TinyRow> = (0..9001u32)
        .map(|row| (vec![Some((row * row % 7) as u8), Some((row % 5) as u8), None], (row % 11) as i8, 1))
        .collect();
    let data = tiny_data(&rows);
    // Leaves of which some were divided once.
    let spec = TreeSpec { num_leaves: Some(20), min_data_in_leaf: 1, prune: true, ..TreeSpec::default() };
    let least =
        grow(&data, &spec.clone().check().unwrap()).tree.parts().gain.iter().fold(0.0, |sum: f64, gain| sum + gain);
    let params = TreeSpec { min_gain_to_split: least / 20.0, ..spec.clone() }.check().unwrap();
    assert!(grow(&data, &params).tree.n_leaves() < grow(&data, &spec.check().unwrap()).tree.n_leaves());
    for n_threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let (own, expected) = pool.install(|| {
            let (grower, grown) = grow_on(&data, &params, SimdLevel::best());
            let (mut own, mut expected) = (vec![0.5; rows.len()], vec![0.5; rows.len()]);
            grower.add_grown(0, &grown.tree, &mut own);
            grower.add_tree(&grown.tree, 1.0, &mut expected);
            (own, expected)
        });
        assert_eq!(own, expected);
    }
}

#[test]
fn nothing_to_gain_is_a_single_leaf() {
    let rows: Vec<TinyRow> = (0..20u8).map(|idx| (vec![Some(idx % 5), None, Some(idx % 2)], 2, 1)).collect();
    let data = tiny_data(&rows);
    for grow_policy in [Growth::Leafwise, Growth::Levelwise, Growth::Oblivious] {
        let params = TreeSpec::default().grow(grow_policy).lambda_l2(0.0).min_data_in_leaf(1).check().unwrap();
        let grown = grow(&data, &params);
        assert_eq!((grown.tree.n_leaves(), grown.tree.parts().leaf_value[0]), (1, -1.0));
    }
}

#[test]
fn missing_values_can_be_split_off() {
    let rows: Vec<TinyRow> = (0..40u8)
        .map(|idx| if idx % 4 == 0 { (vec![None, None, None], -4, 1) } else { (vec![Some(idx % 3), None, None], 1, 1) })
        .collect();
    let data = tiny_data(&rows);
    let params = TreeSpec { num_leaves: Some(2), min_data_in_leaf: 1, ..TreeSpec::default() }.check().unwrap();
    let tree = grow(&data, &params).tree;
    let score = |value: f64| tree.parts().leaf_value[tree.leaf(&[value])];
    assert_eq!((score(f64::NAN), score(0.0), score(2.0), score(1e30)), (2.0, -0.5, -0.5, -0.5));
}

#[test]
fn equal_gains_split_the_lower_node_first() {
    // Feature 0 divides the rows into halves, feature 1 each half in the same way.
    let row = |half: u8, quarter: u8, grad: i8| (vec![Some(half), Some(quarter), None], grad, 1u8);
    let rows: Vec<TinyRow> = (0..8).flat_map(|_| [row(0, 0, 3), row(0, 1, 1), row(1, 0, -1), row(1, 1, -3)]).collect();
    let data = tiny_data(&rows);
    let params = TreeSpec { num_leaves: Some(3), min_data_in_leaf: 1, ..TreeSpec::default() }.check().unwrap();
    let tree = grow(&data, &params).tree;
    assert_eq!((&tree.parts().left[..], &tree.parts().right[..]), (&[1, !0][..], &[!2, !1][..]));
}

#[test]
fn missing_values_that_make_no_difference_go_left() {
    let rows: Vec<TinyRow> = (0..30u8)
        .map(|idx| match idx % 3 {
            0 => (vec![None, None, None], 0, 0),
            1 => (vec![Some(0), None, None], 2, 1),
            _ => (vec![Some(1), None, None], -2, 1),
        })
        .collect();
    let data = tiny_data(&rows);
    let params = TreeSpec { num_leaves: Some(2), min_data_in_leaf: 1, ..TreeSpec::default() }.check().unwrap();
    assert_eq!(grow(&data, &params).tree.parts().missing_left, [true]);
}

/// The number of leaves below a child, where splits without others below them are cut up to a gain; an oracle by recursion.
fn leaves_left(tree: &rankwise_model::Tree, child: rankwise_model::Child, least: f64) -> usize {
    use rankwise_model::Child;
    let Child::Node(node) = child else { return 1 };
    let parts = tree.parts();
    let below = [parts.left[node], parts.right[node]].map(|code| leaves_left(tree, Child::decode(code), least));
    if below == [1, 1] && parts.gain[node] <= least { 1 } else { below[0] + below[1] }
}

proptest! {
    #[test]
    fn pruning_cuts_what_an_oracle_cuts(
        rows in tiny_rows(60), params in tiny_params(), num_leaves in 2usize..12, least in 0.0..6.0f64, is_level in any::<bool>(),
    ) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() > 0);
        let policy = if is_level { Growth::Levelwise } else { Growth::Leafwise };
        let spec = TreeSpec { min_gain_to_split: 0.0, ..(*with_shape(&params, policy, num_leaves, -1)).clone() };
        let whole = grow(&data, &spec.clone().check().unwrap());
        let params = TreeSpec { prune: true, min_gain_to_split: least, ..spec }.check().unwrap();
        let pruned = grow(&data, &params);
        let root = if whole.tree.n_nodes() == 0 { rankwise_model::Child::Leaf(0) } else { rankwise_model::Child::Node(0) };
        prop_assert_eq!(pruned.tree.n_leaves(), leaves_left(&whole.tree, root, least));
        // Leaves hold all rows, each once, and have values of their own.
        let counts: u64 = pruned.tree.parts().leaf_count.iter().sum();
        prop_assert_eq!(counts, rows.len() as u64);
        for (rows, value) in leaf_rows(&pruned.tree, &data).iter().zip(&pruned.tree.parts().leaf_value) {
            let sum = |of: &[f32]| rows.iter().map(|row| f64::from(of[*row as usize])).sum::<f64>();
            if params.monotone_constraints == crate::Monotone::default() {
                let expected = 0.5 * params.leaf_value(rows.len(), (sum(&data.grad), sum(&data.hess)));
                prop_assert!((value - expected).abs() < 1e-9, "{} {}", value, expected);
            }
        }
    }

    #[test]
    fn smoothing_shrinks_each_leaf_by_its_documents(rows in tiny_rows(60), smoothing in 0.0..50.0f64) {
        let data = tiny_data(&rows);
        prop_assume!(data.binned.n_features() > 0);
        let spec = TreeSpec { min_data_in_leaf: 1, num_leaves: Some(8), ..TreeSpec::default() };
        let plain = grow(&data, &spec.clone().check().unwrap()).tree;
        let smooth = grow(&data, &TreeSpec { leaf_smoothing: smoothing, ..spec }.check().unwrap()).tree;
        prop_assert_eq!(&plain.parts().threshold, &smooth.parts().threshold);
        for (leaf, count) in plain.parts().leaf_count.iter().enumerate() {
            let count = *count as f64;
            let expected = plain.parts().leaf_value[leaf] * count / (count + smoothing);
            let found = smooth.parts().leaf_value[leaf];
            prop_assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{} {}", found, expected);
        }
    }
}
