//! LightGBM's own ranking example must reach the value that LightGBM's test requires.

use rankwise::data::Absent;
use rankwise::io::read_dataset;
use rankwise::prelude::*;
use rankwise_testing::public_data;

use crate::params;

#[test]
fn reaches_what_the_peers_test_asks() {
    let Some(folder) = public_data("lightgbm-lambdarank") else { return };
    // The example's sparse text omits zeros.
    let read = |name: &str| read_dataset(&folder.join(name), Absent::Zero).unwrap();
    let (data, test) = (read("rank.train"), read("rank.test"));
    let sets = [ValidSet { name: "test", data: &test }];
    let settings = [("num_trees", "24"), ("metric", "ndcg@1,ndcg@3")];
    let trained = train(&params(&settings), &data, &sets, &mut Silent).unwrap();
    let (ndcg1, ndcg3) = (trained.values[0].value, trained.values[1].value);
    assert!(ndcg1 > 0.5674 && ndcg3 > 0.578, "ndcg@1 {ndcg1}, ndcg@3 {ndcg3}");
}
