//! An engine with its own layout of rows, bins and histograms grows the same trees as the others: `Engine` is the only
//! interface between it and the boosting loop.

use std::collections::BTreeMap;

use rankwise::data::Alone;
use rankwise::model::Tree;
use rankwise::prelude::*;
use rankwise::train::Training;
use rankwise::trees::{
    Bounds, Engine, EngineSetup, FixedPoint, Group, GroupSplit, Growth, Judge, LeafSums, MakeEngine, OpenTree,
    PhaseTimes, Root, Side, Split, Sums, TreeInput, TreeParams, WideScale, Width,
};

use crate::one_answer::{RESCALED, SETTINGS, docs_with_twins};
use crate::{dataset, params};

/// Its bins, by row.
struct MapEngine<'d> {
    params: &'d TreeParams,
    feature_ids: Vec<u32>,
    n_value_bins: Vec<u8>,
    uppers: Vec<Vec<f64>>,
    rows: Vec<Vec<u8>>,
}

struct MakeMapEngine;

impl MakeEngine for MakeMapEngine {
    fn make<'d>(&self, setup: EngineSetup<'d>) -> Box<dyn Engine + 'd> {
        let EngineSetup { data, params, .. } = setup;
        let features = 0..data.n_features();
        let upper = |feature: usize| {
            let bins = data.bins(feature);
            (0..bins.missing_bin()).map(|bin| bins.upper(bin)).collect()
        };
        Box::new(MapEngine {
            params,
            feature_ids: data.feature_ids().to_vec(),
            n_value_bins: features.clone().map(|feature| data.bins(feature).missing_bin()).collect(),
            uppers: features.clone().map(upper).collect(),
            rows: (0..data.n_rows()).map(|row| features.clone().map(|of| data.column(of)[row]).collect()).collect(),
        })
    }
}

impl MapEngine<'_> {
    fn goes_left(&self, row: u32, split: &Split) -> bool {
        let bin = self.rows[row as usize][split.feature];
        if bin == self.n_value_bins[split.feature] { split.missing_left } else { bin <= split.bin }
    }

    fn leaf_of(&self, tree: &Tree, row: usize) -> usize {
        tree.walk(|node| {
            let feature = tree.parts().feature[node] as usize;
            let bin = self.rows[row][feature];
            match self.uppers[feature].get(usize::from(bin)) {
                Some(upper) => *upper <= tree.parts().threshold[node],
                None => tree.parts().missing_left[node],
            }
        })
    }
}

impl Engine for MapEngine<'_> {
    fn begin<'t>(&'t mut self, input: TreeInput<'t>) -> Box<dyn OpenTree + 't> {
        let fixed = FixedPoint::new(input.structure, input.rows, &Alone);
        let rows = input.rows.to_vec();
        Box::new(MapTree { engine: self, input, nodes: vec![(rows, Bounds::FREE)], features: BTreeMap::new(), fixed })
    }

    fn add_grown(&self, _: usize, tree: &Tree, scores: &mut [f64]) {
        self.add_tree(tree, 1.0, scores);
    }

    fn add_tree(&self, tree: &Tree, factor: f64, scores: &mut [f64]) {
        for (row, score) in scores.iter_mut().enumerate() {
            *score += tree.parts().leaf_value[self.leaf_of(tree, row)] * factor;
        }
    }
}

struct MapTree<'t, 'd> {
    engine: &'t MapEngine<'d>,
    input: TreeInput<'t>,
    fixed: FixedPoint,
    /// The rows of each node, and its bounds.
    nodes: Vec<(Vec<u32>, Bounds)>,
    /// The requested features, by group.
    features: BTreeMap<usize, Vec<usize>>,
}

impl MapTree<'_, '_> {
    fn side<'r>(&self, rows: impl Iterator<Item = &'r u32>) -> Side {
        let (packed, count) =
            rows.fold((0u64, 0), |(sum, count), row| (sum.wrapping_add(self.fixed.packed()[*row as usize]), count + 1));
        Side { sums: Sums::unpack(packed), count }
    }

    /// The gain of a split for some nodes together; `None` if it is not allowed.
    fn score(&self, judge: &Judge<'_>, nodes: &[usize], split: &Split) -> Option<f64> {
        let params = self.engine.params;
        let shares = params.growth() == Growth::Oblivious;
        let direction = f64::from(params.monotone_constraints.direction(self.engine.feature_ids[split.feature]));
        let (mut total, mut divides) = (0.0, false);
        for node in nodes {
            let (rows, bounds) = &self.nodes[*node];
            let left = self.side(rows.iter().filter(|row| self.engine.goes_left(**row, split)));
            let right = self.side(rows.iter().filter(|row| !self.engine.goes_left(**row, split)));
            if shares && (left.count == 0 || right.count == 0) {
                total += judge.term(self.side(rows.iter()), *bounds);
                continue;
            }
            let least = params.min_data_in_leaf.max(1);
            let is_leaf = |side: Side| side.count as usize >= least && judge.has_enough_hess(side);
            let rise = judge.value(right, *bounds) - judge.value(left, *bounds);
            if !is_leaf(left) || !is_leaf(right) || rise * direction < 0.0 {
                return None;
            }
            total += judge.pair_score(left, right, *bounds);
            divides = true;
        }
        divides.then_some(total)
    }

    fn best(&self, nodes: &[usize], features: &[usize]) -> Option<Split> {
        let judge = Judge::new(self.engine.params, self.fixed.scales());
        let mut best: Option<Split> = None;
        for feature in features {
            for bin in 0..self.engine.n_value_bins[*feature] {
                for missing_left in [true, false] {
                    let split = Split { feature: *feature, bin, missing_left, gain: 0.0 };
                    let score =
                        self.score(&judge, nodes, &split).filter(|score| best.is_none_or(|best| *score > best.gain));
                    best = score.map(|gain| Split { gain, ..split }).or(best);
                }
            }
        }
        let best = best?;
        let whole = nodes.iter().map(|node| (self.side(self.nodes[*node].0.iter()), self.nodes[*node].1));
        judge.gain(best.gain, whole).map(|gain| Split { gain, ..best })
    }
}

impl OpenTree for MapTree<'_, '_> {
    fn root(&self) -> Root {
        Root { whole: self.side(self.input.rows.iter()), scales: self.fixed.scales() }
    }

    fn width(&self) -> Width {
        Width { ahead: 2, applied: 3 }
    }

    fn propose(&mut self, groups: Vec<Group>) -> Vec<Option<Split>> {
        let mut splits = Vec::new();
        for group in groups {
            group.nodes.iter().for_each(|node| self.nodes[node.id].1 = node.bounds);
            let nodes: Vec<usize> = group.nodes.iter().map(|node| node.id).collect();
            let features = group.features.unwrap_or_else(|| self.input.features.to_vec());
            splits.push(self.best(&nodes, &features));
            self.features.insert(nodes[0], features);
        }
        splits
    }

    fn confirm(&mut self, splits: &[GroupSplit<'_>]) -> Vec<Option<Split>> {
        // Its search has already checked counts.
        splits.iter().map(|group| Some(group.split)).collect()
    }

    fn apply(&mut self, splits: &[GroupSplit<'_>]) -> Vec<[Side; 2]> {
        let mut sides = Vec::new();
        for GroupSplit { nodes, split } in splits {
            assert!(self.features[&nodes[0]].contains(&split.feature));
            for node in *nodes {
                let rows = self.nodes[*node].0.clone();
                let (left, right) = rows.iter().partition::<Vec<u32>, _>(|row| self.engine.goes_left(**row, split));
                sides.push([self.side(left.iter()), self.side(right.iter())]);
                self.nodes.extend([(left, Bounds::FREE), (right, Bounds::FREE)]);
            }
        }
        sides
    }

    fn sum_leaves(&mut self, leaves: &[usize]) -> Vec<LeafSums> {
        let derivatives = self.input.leaves;
        let scales =
            derivatives.largest(self.input.rows, &Alone).map(|largest| WideScale::new(largest, self.input.rows.len()));
        let sum = |leaf: usize, scale: WideScale, of: &[f32]| {
            scale.value(self.nodes[leaf].0.iter().map(|row| scale.fixed(of[*row as usize])).sum())
        };
        let leaf = |leaf: &usize| LeafSums {
            grad: sum(*leaf, scales[0], derivatives.grad),
            hess: sum(*leaf, scales[1], derivatives.hess),
        };
        leaves.iter().map(leaf).collect()
    }

    fn finish(self: Box<Self>, _: &[usize]) -> PhaseTimes {
        PhaseTimes::default()
    }
}

#[test]
fn another_engine_grows_the_same_trees() {
    let docs = docs_with_twins(true);
    let data = dataset(&docs[..180]);
    for settings in SETTINGS.into_iter().chain(RESCALED) {
        let common = [("num_trees", "3"), ("min_data_in_leaf", "3")].into_iter();
        let is_default = |(name, _): &(&str, &str)| settings.iter().all(|(given, _)| given != name);
        let settings: Vec<(&str, &str)> = common.filter(is_default).chain(settings.iter().copied()).collect();
        let params = params(&settings);
        let expected = Training::new(&params, &data).run(&mut Silent).unwrap();
        let found = Training::new(&params, &data).engine(&MakeMapEngine).run(&mut Silent).unwrap();
        assert_eq!(found.model.to_json(), expected.model.to_json(), "{settings:?}");
        assert_eq!(found.train_scores_canonical, expected.train_scores_canonical, "{settings:?}");
    }
}
