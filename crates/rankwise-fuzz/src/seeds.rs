//! Valid, typical inputs of every kind, written by the program itself, and handwritten lines for what it never writes.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use parquet::data_type::{BoolType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use rankwise::data::Absent;
use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::io::{Format, LetorWriter, read_dataset, write_atomically, write_cache, write_dataset};
use rankwise::model::neural::{Architecture, Inputs, Network, Norm};
use rankwise::model::{ExpectedGain, FeatureScale, LinearRanker, NeuralRanker, Output, Transform, TreeEnsemble};
use rankwise::prelude::*;
use rankwise::train::{Flow, Observer, Progress};
use xxhash_rust::xxh3::xxh3_64;

/// Everything that a line can contain.
const ODD_LETOR: &str = "\u{feff}# a comment\n\n2 qid:10 1:0.5 7:3 9:nan # docid = D1 inc = 1\r\n\
    0 qid:10 3:1e-3 2:-0.5 4:.25 5: 6:NA\n1.5\tqid:a-17\t00004294967295:+1E+3\t# D7\n\
    0 qid:\u{e9}#x 0:1e400 1:-inf 2:123456789012345678901234567890 # docid: \u{1f600}\n3 qid:10 1:0.5 7:3\n";

/// A small training job, for models and checkpoints.
pub(crate) struct Job {
    pub(crate) params: TrainParams,
    pub(crate) data: Dataset,
}

impl Job {
    /// The training data is also the validation set.
    pub(crate) fn valid(&self) -> [ValidSet<'_>; 1] {
        [ValidSet { name: "valid", data: &self.data }]
    }
}

pub(crate) static JOB: LazyLock<Job> = LazyLock::new(|| {
    let mut builder = DatasetBuilder::default();
    for row in 0..24u16 {
        let features = [(1, f32::from(row % 7)), (4, f32::from(row % 5)), (9, f32::from(row * row % 11))];
        let (qid, label) = (format!("q{}", row / 6), f32::from(row % 3));
        builder.push(&Row { qid: &qid, label, doc_id: "", features: &features }).expect("a row");
    }
    let mut spec = TrainSpec::default();
    let settings = [("num_trees", "4"), ("num_leaves", "4"), ("min_data_in_leaf", "2"), ("bagging_fraction", "0.8")];
    spec.set_all(settings.into_iter().chain([("bagging_freq", "2")])).expect("known parameters");
    Job { params: spec.check().expect("parameters that fit"), data: builder.finish().expect("rows") }
});

/// Keeps the checkpoints of all trees.
#[derive(Default)]
struct Keeper(Vec<Vec<u8>>);

impl Observer for Keeper {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        self.0.extend(progress.checkpoint());
        Flow::Continue
    }
}

fn train_job() -> (Model, Vec<Vec<u8>>) {
    let mut keeper = Keeper::default();
    let trained = train(&JOB.params, &JOB.data, &JOB.valid(), &mut keeper).expect("a training that works");
    (trained.model, keeper.0)
}

pub(crate) fn letor() -> Vec<Vec<u8>> {
    let synth = SynthSpec { preset: Preset::Web, rows: 12, features: Some(6), seed: 1 }.check().expect("a small set");
    let mut writer = LetorWriter::new(Vec::new());
    for query in (0..synth.n_queries()).map(|query| synth.query(query)) {
        for doc in &query.docs {
            let row = Row { qid: &query.qid, label: doc.label, doc_id: &doc.doc_id, features: &doc.features };
            writer.write_row(&row).expect("memory takes everything");
        }
    }
    with_compressed(vec![writer.finish().expect("memory takes everything"), ODD_LETOR.into()])
}

/// The rows of the job in one of the table formats.
fn job_as(name: &str, format: Format) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    write_dataset(&JOB.data, &path, format).expect("a table");
    std::fs::read(path).expect("the file that was just written")
}

pub(crate) fn csv() -> Vec<Vec<u8>> {
    let odd = "\u{feff}f1,Query ID,docid,relevance,weight,query_weight,position,\"f2\"\r\n\
        1e-3,\"a, \"\"b\"\"\",D1,2,0.5,3,1,NA\n\n,q,\"\",0,1,0.1,0,True\n-inf,q,x,1.5,1,0.1,7,\" 2 \"\n";
    with_compressed(vec![job_as("d.csv", Format::Csv), odd.into(), b"1,a,0.5\n0,a,-\n".to_vec()])
}

pub(crate) fn parquet() -> Vec<Vec<u8>> {
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let others = versions.into_iter().map(parquet_of_others);
    others.chain([job_as("d.parquet", Format::Parquet)]).collect()
}

/// What our writer does not write: uncompressed pages, where damage reaches the values; dictionaries that are abandoned
/// for plain values in the middle; several types; few and many nulls.
fn parquet_of_others(version: WriterVersion) -> Vec<u8> {
    const SCHEMA: &str =
        "message schema { required int32 label; required int64 qid; required float a; optional double b;
        optional int32 c (UINT_32); optional int64 d (DECIMAL(18,2)); optional float e; optional boolean f; }";
    const DONE: &str = "memory takes everything";
    fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, cells: &[Option<T::T>], is_required: bool) {
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
        let mut column = group.next_column().expect(DONE).expect("the schema has so many columns");
        column.typed::<T>().write_batch(&values, (!is_required).then_some(&levels[..]), None).expect(DONE);
        column.close().expect(DONE);
    }
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_page_size_limit(40)
        .set_data_page_row_count_limit(9)
        .set_write_batch_size(4)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let schema = parse_message_type(SCHEMA).expect("a sound schema");
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).expect(DONE);
    for n_rows in [23i32, 6] {
        let mut group = writer.next_row_group().expect(DONE);
        let rows = || 0..n_rows;
        put::<Int32Type>(&mut group, &rows().map(|row| Some(row % 3)).collect::<Vec<_>>(), true);
        put::<Int64Type>(&mut group, &rows().map(|row| Some(i64::from(row / 5))).collect::<Vec<_>>(), true);
        put::<FloatType>(&mut group, &rows().map(|row| Some((row % 4) as f32)).collect::<Vec<_>>(), true);
        put::<DoubleType>(
            &mut group,
            &rows().map(|row| (row % 5 > 0).then_some(f64::from(row) / 4.0)).collect::<Vec<_>>(),
            false,
        );
        put::<Int32Type>(&mut group, &rows().map(|row| (row % 7 > 0).then_some(row - 3)).collect::<Vec<_>>(), false);
        put::<Int64Type>(&mut group, &rows().map(|row| Some(i64::from(row % 2))).collect::<Vec<_>>(), false);
        put::<FloatType>(&mut group, &rows().map(|_| None).collect::<Vec<_>>(), false);
        put::<BoolType>(&mut group, &rows().map(|row| (row > 3).then_some(row % 2 == 0)).collect::<Vec<_>>(), false);
        group.close().expect(DONE);
    }
    writer.into_inner().expect(DONE)
}

/// Caches as files, and as lists with a marker before each. Such lists can grow and shrink regardless of lengths and
/// checksums; see [`cache_of_lists`].
pub(crate) fn cache() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    // Everything that rows can have.
    let full = "label,qid,docid,weight,query_weight,position,price,size\n2,b,D1,0.5,3,1,0.25,\n0,b,D2,1,3,2,,7\n\
        1,b,D3,2,3,3,1e-9,-0.1\n0,a,D1,1,0.1,1,0,3\n1,a,D4,1,0.1,2,5,4\n";
    std::fs::write(path("full.csv"), full).expect("a file");
    std::fs::write(path("full.csv.pairs"), "0\t2\n4\t3\t0.5\n").expect("a file");
    write_dataset(&JOB.data, &path("job.csv"), Format::Csv).expect("a table");
    let mut files = Vec::new();
    for name in ["job.csv", "full.csv"] {
        let data = read_dataset(&path(name), Absent::Missing).expect("a table that was just written");
        write_cache(&data, JOB.params.binning(), &path("cache")).expect("a cache");
        files.push(std::fs::read(path("cache")).expect("the file that was just written"));
    }
    let as_lists: Vec<Vec<u8>> = files.iter().map(|file| lists_of_cache(file)).collect();
    // Damage behind the checksums matters most.
    [as_lists.clone(), as_lists, files].concat()
}

/// The first bytes of a cache.
const CACHE_MAGIC: &[u8] = b"RWCACHE1";
/// Precedes each list.
const LIST_MARK: &[u8] = b"<list>";

/// The lists of a cache, without their lengths and checksums.
fn lists_of_cache(file: &[u8]) -> Vec<u8> {
    let mut rest = file.strip_prefix(CACHE_MAGIC).expect("a cache");
    let mut lists = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (_checksum, after) = after.split_at(size_of::<u64>());
        let (list, after) = after.split_at(u64::from_le_bytes(*length) as usize);
        lists.extend([LIST_MARK, list].concat());
        rest = after;
    }
    lists
}

/// The cache with these lists, or the input itself if it does not begin with one.
pub(crate) fn cache_of_lists(input: &[u8]) -> Vec<u8> {
    let Some(lists) = input.strip_prefix(LIST_MARK) else { return input.to_vec() };
    let mut file = CACHE_MAGIC.to_vec();
    let mut rest = lists;
    loop {
        let end = rest.windows(LIST_MARK.len()).position(|window| window == LIST_MARK);
        let list = &rest[..end.unwrap_or(rest.len())];
        file.extend((list.len() as u64).to_le_bytes());
        file.extend(xxh3_64(list).to_le_bytes());
        file.extend(list);
        match end {
            Some(end) => rest = &rest[end + LIST_MARK.len()..],
            None => return file,
        }
    }
}

/// The first byte selects the kind of file.
pub(crate) fn side_files() -> Vec<Vec<u8>> {
    let sizes_and_weights = [&b"\x002\n1\n"[..], b"\x011\n0.5\n2e-1\n", b"\x021\n 3 \n\n", b"\x003\r\n"];
    let others = [&b"\x03b\t0.5\na\t2\n"[..], b"\x041\n0\n4294967295\n", b"\x050\t1\n1 0 0.5\n"];
    sizes_and_weights.into_iter().chain(others).map(<[u8]>::to_vec).collect()
}

pub(crate) fn scores() -> Vec<Vec<u8>> {
    with_compressed(vec![b"1\n-2.5e-3\r\n\t+3 \n0.1\n\n".to_vec(), b"0.30000000000000004\n1e-300\n-0".to_vec()])
}

pub(crate) fn qrels() -> Vec<Vec<u8>> {
    with_compressed(vec![b"301 0 FR94-1 1\n301 0 FR94-2 -1\n\n302\t0\tFR94-1\t2\r\n".to_vec()])
}

pub(crate) fn run() -> Vec<Vec<u8>> {
    with_compressed(vec![b"301 Q0 FR94-1 1 12.75 bm25\n301 Q0 d\xc3\xa9 2 -1e-3 bm25\r\n 7 Q0 x 1 0 t\n".to_vec()])
}

pub(crate) fn config() -> Vec<Vec<u8>> {
    let mut all = String::new();
    for info in TrainSpec::tables().into_iter().flat_map(|(_, table)| table) {
        let _ = writeln!(all, "{} = '{}'", info.name, info.default);
    }
    let odd = "# trees\nnum_leaves = 0x3f\n\"eta\" = 5e-2\nmetric = [\"ndcg@5\", 'dcg']\nlambdarank_norm = true\n\
        monotone_constraints = \"1:1,2:-1\"\nlabel_gain = [0, 1.5, +3]\nseed = 1_000\n";
    vec![all.into(), odd.into()]
}

pub(crate) fn params() -> Vec<Vec<u8>> {
    let mut all = String::new();
    let mut aliases = String::new();
    for info in TrainSpec::tables().into_iter().flat_map(|(_, table)| table) {
        let _ = writeln!(all, "{}={}", info.name, info.default);
        let _ = writeln!(aliases, "{}={}", info.aliases.first().unwrap_or(&info.name), info.default);
    }
    let odd = "gain=table:0,1,3\nmetric=ndcg@10,DCG@3,ndcg\nmonotone_constraints=1:1,2:-1\nconvention=trec_eval\n\
        sample=query-bagging\nbagging_fraction=0.5\nearly_stopping_rounds=5\nseed=18446744073709551615\n";
    vec![all.into(), aliases.into(), odd.into()]
}

pub(crate) fn model() -> Vec<Vec<u8>> {
    let one = train_job().0;
    let expected = ExpectedGain { gains: vec![0.0, 3.0], base_scores: vec![0.5, -0.25] };
    let trees = one.tree_ensemble().expect("training grows trees").trees();
    // Trees for whole rounds.
    let trees = trees[..trees.len() / 2 * 2].to_vec();
    let several = TreeEnsemble::new(0.0, Output::ExpectedGain(expected), trees).expect("whole rounds");
    let several = one.with_ranker(several).expect("trees of a model");
    let weights = one.features().iter().map(|feature| f64::from(*feature) * 0.1).collect();
    let linear = LinearRanker::new(-0.5, weights).expect("finite weights");
    let linear = one.with_ranker(linear).expect("a weight for each feature");
    let neural = one.with_ranker(neural_ranker(one.features().len())).expect("an input for each feature");
    [one, several, linear, neural].map(|model| model.to_json().into()).to_vec()
}

/// A small network with everything that a model file can have.
fn neural_ranker(n_features: usize) -> NeuralRanker {
    let network = Architecture {
        network: Network::Attention,
        inputs: n_features + 1,
        hidden: 2,
        layers: 1,
        heads: 2,
        norm: Norm::Batch,
    };
    let transform = Transform::new(true, true, vec![FeatureScale::NONE; n_features]).expect("finite scales");
    let inputs = Inputs::new(transform, vec![0]).expect("a feature");
    let (n_weights, n_running) = network.sizes();
    let weights = (0..n_weights).map(|place| place as f32 * 0.1 - 1.0).collect();
    NeuralRanker::new(network, inputs, weights, vec![0.5; n_running]).expect("finite weights")
}

pub(crate) fn checkpoint() -> Vec<Vec<u8>> {
    train_job().1
}

/// A file that another program wrote, from the tests of the importers.
macro_rules! written {
    ($name:literal) => {
        include_bytes!(concat!("../../rankwise-formats/tests/data/", $name)).to_vec()
    };
}

pub(crate) fn lightgbm() -> Vec<Vec<u8>> {
    vec![
        written!("lightgbm-regression.txt"),
        written!("lightgbm-lambdarank.txt"),
        written!("lightgbm-nothing-missing.txt"),
    ]
}

pub(crate) fn lightgbm_json() -> Vec<Vec<u8>> {
    in_lines(vec![written!("lightgbm-regression.json"), written!("lightgbm-lambdarank.json")])
}

pub(crate) fn xgboost() -> Vec<Vec<u8>> {
    in_lines(vec![written!("xgboost-logistic.json"), written!("xgboost-ndcg-depthwise.json")])
}

pub(crate) fn xgboost_ubj() -> Vec<Vec<u8>> {
    vec![written!("xgboost-squarederror.ubj"), written!("xgboost-names.ubj")]
}

pub(crate) fn catboost() -> Vec<Vec<u8>> {
    vec![
        written!("catboost-rmse-min.json"),
        written!("catboost-rmse-max.json"),
        written!("catboost-yetirank.json"),
        written!("catboost-lossguide.json"),
    ]
}

pub(crate) fn ranklib() -> Vec<Vec<u8>> {
    let narrow = "<ensemble><tree id=\"1\" weight=\"-.5\"><split><feature>7</feature><threshold>1e-3</threshold>\
        <split pos='left'><output>1</output></split><!-- no -->\n<split pos='right'><output>&#50;</output></split>\
        </split></tree></ensemble>";
    vec![written!("ranklib.xml"), narrow.into()]
}

/// The texts, and each again with one field per line, so that whole fields can be lost and swapped.
fn in_lines(mut texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for idx in 0..texts.len() {
        let text = std::str::from_utf8(&texts[idx]).expect("JSON");
        texts.push(text.replace(",\"", ",\n\"").replace(", \"", ",\n\"").into());
    }
    texts
}

/// The texts, and the first one also with both compressions.
fn with_compressed(mut texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["a.gz", "a.zst"] {
        texts.push(through_file(&folder.path().join(name), &texts[0]));
    }
    texts
}

/// Some text, then a line of `len` bytes, compressed into a small file.
#[cfg(test)]
pub(crate) fn compressed_line(text: &str, len: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    through_file(&folder.path().join("a.zst"), &[text.as_bytes(), &vec![b'1'; len]].concat())
}

fn through_file(path: &Path, text: &[u8]) -> Vec<u8> {
    write_atomically(path, |out| out.write_all(text)).expect("a file");
    std::fs::read(path).expect("the file that was just written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_make_the_cache_that_they_were_taken_from() {
        let seeds = cache();
        for (lists, file) in seeds[..2].iter().zip(&seeds[4..]) {
            assert!(file.starts_with(CACHE_MAGIC) && !lists.starts_with(CACHE_MAGIC));
            assert!(cache_of_lists(lists) == *file && cache_of_lists(file) == *file);
        }
    }
}
