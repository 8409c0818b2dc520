//! Runs the targets with a coverage-guided engine. Each input takes longer than with [`crate::drive`], but it finds
//! more behind several conditions.

use crate::drive::read_watched;
use crate::find;

macro_rules! guided {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                let target = find($name).expect("a target of the table");
                bolero::check!().for_each(|input: &[u8]| {
                    read_watched(target, input).unwrap();
                });
            }
        )*
    };
}

guided! {
    letor: "letor",
    csv: "csv",
    parquet: "parquet",
    cache: "cache",
    side_files: "side-files",
    scores: "scores",
    qrels: "qrels",
    run: "run",
    config: "config",
    params: "params",
    model: "model",
    checkpoint: "checkpoint",
    lightgbm: "lightgbm",
    lightgbm_json: "lightgbm-json",
    xgboost: "xgboost",
    xgboost_ubj: "xgboost-ubj",
    catboost: "catboost",
    ranklib: "ranklib",
}
