//! Results must not depend on block boundaries or on which thread parses.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use rankwise_data::Absent;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::reader::TextTable;
use crate::blocks::{BlockReader, Cut};
use crate::byte_stream::ByteStream;
use crate::damage::{damaged, edits};
use crate::options::ReadOptions;
use crate::read::Input;

const SAMPLE: &str = "\u{feff}label,qid,\"note, \"\"long\"\"\",docid,a,\"b\nc\"\r\n\
    2,q1,\"one\ntwo \"\"three\"\"\nfour\",D1,0.5,-3e-2\n\
    0,\"q,2\",5\" pipe,\"D \"\"2\"\"\",,NA\n\
    \n\
    1,q1,\"\",,\"1.25\", 7 \r\n\
    0,\"q1\",\"\n\n\",\"\",inf,?";

fn pool(n_threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
}

/// Reads a text in blocks of a given size: the fingerprint and the number of rows, or the error.
fn read(input: impl Read + Send, block_bytes: usize) -> Result<(u128, usize), String> {
    let path = Path::new("data");
    let source = ByteStream::new(input, path).map_err(|error| error.to_string())?;
    let reader = BlockReader::with_block_bytes(source, Cut::Rows { separator: b',' }, block_bytes);
    let mut options = ReadOptions::new(Absent::Missing);
    options.layout.ignore_columns = vec!["2".into()];
    let input = Input::without_side_files(path, &options);
    let source = TextTable { separator: b',', input: &input, options: Cow::Borrowed(&options), description: None };
    source
        .read_rows(reader)
        .and_then(|rows| input.build(rows))
        .map(|data| (data.fingerprint(), data.n_rows()))
        .map_err(|error| error.to_string())
}

#[test]
fn any_block_size_gives_the_same_data() {
    let whole = read(SAMPLE.as_bytes(), 1 << 20).unwrap();
    assert_eq!(whole.1, 4);
    for block_bytes in 1..=SAMPLE.len() + 1 {
        assert_eq!(read(SAMPLE.as_bytes(), block_bytes), Ok(whole), "{block_bytes}");
    }
}

#[test]
fn lines_are_counted_through_quotes_and_blocks() {
    let expected = "data:12:10: \"x\" in column \"a\" is not a number; write a number, or leave the field empty if the \
                    value is missing; `ignore_columns` skips columns";
    let text = format!("{SAMPLE}\n0,q1,ü,,x,1\n");
    for block_bytes in 1..=text.len() {
        assert_eq!(read(text.as_bytes(), block_bytes), Err(expected.into()), "{block_bytes}");
    }
}

static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| [pool(1), pool(3)]);

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    edits(b"\"\"\"\",,\n\n\r 0.-nN\0\xff").prop_map(|edits| damaged(SAMPLE.as_bytes().to_vec(), edits))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn mutated_tables_give_one_result(text in mutated(), block_bytes in 1usize..200) {
        let whole = POOLS[0].install(|| read(&*text, 1 << 16));
        prop_assert_eq!(&whole, &POOLS[1].install(|| read(&*text, 1 << 16)));
        prop_assert_eq!(whole, POOLS[1].install(|| read(&*text, block_bytes)));
    }

    #[test]
    fn any_bytes_give_a_result(text: Vec<u8>, block_bytes in 1usize..100) {
        prop_assert_eq!(read(&*text, 1 << 16), read(&*text, block_bytes));
    }
}
