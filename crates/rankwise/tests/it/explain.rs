//! Why one document is above another, on public data.

use rankwise::data::{Absent, Dataset, Draw, Purpose};
use rankwise::explain::{ModelDocs, Ranges, counterfactuals, difference};
use rankwise::io::read_dataset;
use rankwise::prelude::*;
use rankwise_testing::public_data;

use crate::params;

const PAIRS: usize = 1000;

/// Two documents of a query with different scores, the one with the higher score first.
fn pair(data: &Dataset, scores: &[f64], draw: &Draw, number: u64) -> Option<[usize; 2]> {
    let place = |slot: u32, n: usize| ((draw.uniform(number, slot) * n as f64) as usize).min(n - 1);
    let rows = data.query_rows(place(0, data.n_queries()));
    let [a, b] = [1, 2].map(|slot| rows.start + place(slot, rows.len()));
    match scores[a].total_cmp(&scores[b]) {
        std::cmp::Ordering::Greater => Some([a, b]),
        std::cmp::Ordering::Less => Some([b, a]),
        std::cmp::Ordering::Equal => None,
    }
}

#[test]
fn reasons_of_a_thousand_pairs_add_up_and_changes_turn_them() {
    let Some(folder) = public_data("mq2008") else { return };
    let read = |name: &str| read_dataset(&folder.join(name), Absent::Missing).unwrap();
    let (train, test) = (read("S1.txt.zst"), read("S5.txt.zst"));
    let model = rankwise::prelude::train(&params(&[("num_trees", "40")]), &train, &[], &mut Silent).unwrap().model;
    let docs = ModelDocs::new(&model, &test);
    let scores: Vec<f64> = (0..test.n_rows()).map(|row| model.score_rounded(&docs.values(row))).collect();
    let ranges = Ranges::new(&model, model.tree_ensemble().unwrap(), &test);
    let draw = Draw::new(7, Purpose::Explanation, 0);
    let pairs: Vec<[usize; 2]> = (0..).filter_map(|number| pair(&test, &scores, &draw, number)).take(PAIRS).collect();
    let mut n_changes = [0, 0];
    for [above, below] in pairs {
        let [a, b] = [above, below].map(|row| docs.values(row));
        let parts = difference(&model, &a, &b).unwrap();
        let size: f64 = parts.iter().map(|part| part.abs()).sum();
        let gap = scores[above] - scores[below];
        assert!((parts.iter().sum::<f64>() - gap).abs() <= 1e-9 * size, "{parts:?}, {gap}");
        for (found, n_changes) in
            counterfactuals(&model, &ranges, &b, scores[above]).unwrap().iter().zip(&mut n_changes)
        {
            let Some(found) = found else { continue };
            let mut changed = b.clone();
            found.changes.iter().for_each(|change| changed[change.feature] = change.to);
            assert!(model.score(&changed) > scores[above]);
            *n_changes += 1;
        }
    }
    println!("changes of one feature {}, of two {} of {PAIRS}", n_changes[0], n_changes[1]);
    assert!(n_changes[0] > PAIRS / 4 && n_changes[1] >= n_changes[0], "{n_changes:?}");
}
