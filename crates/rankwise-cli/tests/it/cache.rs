//! Bins in place of data.

use crate::sandbox::Sandbox;

#[test]
fn a_cache_gives_the_model_of_its_data() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("convert-data train.txt train.rwcache");
    sandbox.ok("convert-data train.txt coarse --to cache --set max_bin=15 --absent zero");
    for settings in ["", "--valid vali.txt", "--set sample=bagging --set bagging_fraction=0.6 --set grow=oblivious"] {
        let expected = sandbox.train("m.json", settings);
        assert!(sandbox.train_on("train.rwcache", "n.json", settings) == expected, "{settings}");
    }
    let settings = "--set max_bin=15 --set absent=zero";
    assert!(sandbox.train_on("coarse", "n.json", settings) == sandbox.train("m.json", settings));
}

#[test]
fn a_cache_is_for_training_with_its_own_parameters() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("convert-data train.txt train.rwcache");
    sandbox.train("m.json", "");
    sandbox.all_refused(&[
        ("train train.rwcache --out n.json --set max_bin=63", &["max_bin=255, but max_bin=63"]),
        ("train train.rwcache --out n.json --set absent=zero", &["absent=missing, but absent=zero"]),
        ("train train.txt --valid train.rwcache --out n.json", &["cannot be used for validation"]),
        ("predict m.json train.rwcache --out n.txt", &["only be used for training"]),
        ("eval train.rwcache --model m.json --metric ndcg", &["only be used for training"]),
        ("convert-data train.rwcache back.txt", &["only be used for training"]),
        ("train train.rwcache --out n.json --label-column 0", &["no named columns"]),
        ("train train.rwcache --out n.json --data-format letor", &["train.rwcache:1:1"]),
        ("convert-data train.txt n.csv --set max_bin=15", &["only caches have parameters"]),
        ("convert-data train.txt n.rwcache --set max_bins=999", &["max_bin"]),
        ("convert-data train.txt n.rwcache --set num_trees=9", &["not a parameter of caches"]),
        ("convert-data train.txt n.rwcache --set absent=zero", &["--absent"]),
        ("convert-data train.txt n.rwcache --set max_bin", &["no value"]),
    ]);
}

#[test]
fn a_damaged_cache_is_refused() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("convert-data train.txt train.rwcache");
    let bytes = sandbox.bytes("train.rwcache");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for (name, content) in [("cut", &bytes[..bytes.len() - 100]), ("flipped", &flipped), ("bare", &bytes[..8])] {
        sandbox.write(name, content);
        sandbox.all_refused(&[(
            &format!("train {name} --out n.json"),
            &[name, "damaged (the ", "make it again with convert-data"],
        )]);
    }
}
