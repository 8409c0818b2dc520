//! Public data sets, where they lie beside the repository.

use std::path::PathBuf;

use rankwise_data::{Absent, Dataset};
use rankwise_io::read_dataset;

fn read(name: &str) -> Option<Dataset> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        println!("skipped: there is no {}", path.display());
        return None;
    }
    Some(read_dataset(&path, Absent::Missing).unwrap())
}

#[test]
fn mq2008_has_document_ids() {
    let parts: Vec<Dataset> = (1..=5).filter_map(|part| read(&format!("mq2008/S{part}.txt.zst"))).collect();
    let Some(first) = parts.first() else { return };
    assert_eq!(parts.iter().map(Dataset::n_rows).sum::<usize>(), 15_211);
    assert_eq!(parts.iter().map(Dataset::n_queries).sum::<usize>(), 784);
    assert!(parts.iter().all(|part| part.n_features() <= 46 && part.has_doc_ids()));
    let query = first.queries().find(|query| query.id == "10002").unwrap();
    let doc = query.input_rows.iter().position(|row| *row == 0).unwrap();
    assert_eq!(query.doc_id(doc), "GX008-86-4444840");
    assert_eq!(first.column_of(1).unwrap().get(query.rows.start + doc), 0.007_477);
}

#[test]
fn lightgbm_example_has_query_sizes() {
    let Some(data) = read("lightgbm-lambdarank/rank.train") else { return };
    assert_eq!((data.n_rows(), data.n_queries()), (3_005, 201));
    let Some(data) = read("lightgbm-lambdarank/rank.test") else { return };
    assert_eq!((data.n_rows(), data.n_queries()), (768, 50));
}

#[test]
fn mslr_sample_is_dense() {
    let Some(data) = read("mslr-sample/union.txt.zst") else { return };
    assert_eq!((data.n_rows(), data.n_queries(), data.n_features()), (15_469, 140, 136));
}
