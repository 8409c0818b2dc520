//! Random models, and documents with values at their thresholds.

use rankwise_model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};

/// The size and shape of a model.
pub(crate) struct Shapes {
    pub(crate) n_trees: usize,
    pub(crate) max_leaves: usize,
    pub(crate) n_features: usize,
    /// Number of different thresholds per feature.
    pub(crate) n_thresholds: usize,
    pub(crate) precision: Precision,
    pub(crate) kind: Kind,
}

/// The shape of its trees.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Up to the maximum number of leaves.
    Any,
    /// Exactly the maximum number of leaves.
    Whole,
    /// Complete, with one split per level.
    Oblivious,
}

/// A pseudo-random generator (Steele, Lea and Flood 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

fn threshold(place: usize, precision: Precision) -> f64 {
    let value = place as f64 * 0.013 - 1.0;
    match (precision, place) {
        (Precision::F32, 0) => f64::from(f32::MAX),
        (Precision::F64, 0) => 1e300,
        (_, 1) => 0.0,
        (_, 2) => -0.0,
        (Precision::F32, _) => f64::from(value as f32),
        (Precision::F64, _) => value,
    }
}

pub(crate) fn model(shapes: &Shapes, seed: u64) -> Model {
    let mut draws = Draws(seed);
    let features = (0..shapes.n_features as u32).map(|feature| 3 * feature).collect();
    let header = Header { objective: "rmse".into(), ..Header::new(AbsentFeature::Missing, shapes.precision, features) };
    let trees = (0..shapes.n_trees).map(|_| tree(shapes, &mut draws)).collect();
    Model::new(header, TreeEnsemble::new(0.125, Output::Sum, trees).unwrap()).unwrap()
}

fn question(shapes: &Shapes, draws: &mut Draws) -> (u32, f64, bool) {
    let feature = draws.below(shapes.n_features) as u32;
    (feature, threshold(draws.below(shapes.n_thresholds), shapes.precision), draws.next().is_multiple_of(2))
}

/// Splits one leaf after another.
fn tree(shapes: &Shapes, draws: &mut Draws) -> Tree {
    let depth = draws.below(shapes.max_leaves.ilog2() as usize + 1);
    let n_leaves = match shapes.kind {
        Kind::Any => 1 + draws.below(shapes.max_leaves),
        Kind::Whole => shapes.max_leaves,
        Kind::Oblivious => 1 << depth,
    };
    let levels: Vec<(u32, f64, bool)> = (0..16).map(|_| question(shapes, draws)).collect();
    let mut parts = TreeParts { leaf_value: vec![0.0], leaf_count: vec![1], ..TreeParts::default() };
    // For each leaf: the edge that leads to it, and its level.
    let mut edges: Vec<(Option<(usize, bool)>, usize)> = vec![(None, 0)];
    for node in 0..n_leaves - 1 {
        let is_oblivious = shapes.kind == Kind::Oblivious;
        let shallowest = (0..edges.len()).min_by_key(|leaf| edges[*leaf].1).unwrap();
        let leaf = if is_oblivious { shallowest } else { draws.below(edges.len()) };
        let (edge, level) = edges[leaf];
        let (feature, threshold, missing_left) = if is_oblivious { levels[level] } else { question(shapes, draws) };
        parts.feature.push(feature);
        parts.threshold.push(threshold);
        parts.missing_left.push(missing_left);
        parts.left.push(!(leaf as i32));
        parts.right.push(!(edges.len() as i32));
        parts.gain.push(1.0);
        parts.count.push(1);
        match edge {
            Some((parent, true)) => parts.right[parent] = node as i32,
            Some((parent, false)) => parts.left[parent] = node as i32,
            None => {}
        }
        edges[leaf] = (Some((node, false)), level + 1);
        edges.push((Some((node, true)), level + 1));
    }
    parts.leaf_value = (0..n_leaves).map(|_| draws.next() as i32 as f64 / 1e9).collect();
    parts.leaf_count = vec![1; n_leaves];
    Tree::new(parts).unwrap()
}

/// Values at and next to thresholds, and missing and infinite values.
pub(crate) fn values(model: &Model, n_docs: usize, seed: u64) -> Vec<f64> {
    let mut draws = Draws(!seed);
    let thresholds: Vec<f64> =
        model.tree_ensemble().unwrap().trees().iter().flat_map(|tree| tree.parts().threshold.iter().copied()).collect();
    let mut value = || {
        let near = if thresholds.is_empty() { 0.5 } else { thresholds[draws.below(thresholds.len())] };
        match draws.below(12) {
            0 => f64::NAN,
            1 => [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-300, -1e300][draws.below(6)],
            2 => near.next_up(),
            3 => near.next_down(),
            4 | 5 => near,
            6 => f64::from((near as f32).next_up()),
            _ => draws.next() as i32 as f64 / 1e9,
        }
    };
    (0..n_docs * model.features().len()).map(|_| value()).collect()
}
