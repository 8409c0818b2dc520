//! Public datasets in the folder that `RANKWISE_DATA` names.

use std::path::Path;

use rankwise_data::{Absent, Dataset};
use rankwise_io::read_dataset;
use rankwise_testing::public_data;

fn read(path: &Path) -> Dataset {
    read_dataset(path, Absent::Missing).unwrap()
}

#[test]
fn mq2008_has_document_ids() {
    let Some(folder) = public_data("mq2008") else { return };
    let parts: Vec<Dataset> = (1..=5).map(|part| read(&folder.join(format!("S{part}.txt.zst")))).collect();
    assert_eq!(parts.iter().map(|part| part.n_rows()).sum::<usize>(), 15_211);
    assert_eq!(parts.iter().map(|part| part.n_queries()).sum::<usize>(), 784);
    assert!(parts.iter().all(|part| part.n_features() <= 46 && part.has_doc_ids()));
    let query = parts[0].queries().find(|query| query.id == "10002").unwrap();
    let doc = query.input_rows.iter().position(|row| *row == 0).unwrap();
    assert_eq!(query.doc_id(doc), "GX008-86-4444840");
    assert_eq!(parts[0].column_of(1).unwrap().get(query.rows.start + doc), 0.007_477);
}

#[test]
fn lightgbm_example_has_query_sizes() {
    let Some(folder) = public_data("lightgbm-lambdarank") else { return };
    for (name, n_rows, n_queries) in [("rank.train", 3_005, 201), ("rank.test", 768, 50)] {
        let data = read(&folder.join(name));
        assert_eq!((data.n_rows(), data.n_queries()), (n_rows, n_queries), "{name}");
    }
}

#[test]
fn mslr_sample_is_dense() {
    let Some(path) = public_data("mslr-sample/union.txt.zst") else { return };
    let data = read(&path);
    assert_eq!((data.n_rows(), data.n_queries(), data.n_features()), (15_469, 140, 136));
}
