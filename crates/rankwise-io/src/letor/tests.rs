//! Results must not depend on block boundaries or on which thread parses.

use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use rankwise_data::Absent;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::reader::read_blocks;
use crate::blocks::{BlockReader, Cut, MAX_LINE_BYTES};
use crate::byte_stream::ByteStream;
use crate::damage::{damaged, edits};
use crate::options::ReadOptions;
use crate::read::Input;

const SAMPLE: &str = "\u{feff}2 qid:1 1:3 2:0.5 10:-7.25 # docid = A inc = 1\n\
    # a comment of its own\n\
    0 qid:1 2:1e-3 1:nan 4:NA 5: 4294967295:1 #B\r\n\
    \n\
    1.5 qid:zwei\t3:inf 0:-0.000 7:123456789012345678901 \t# docid: Ö x\n\
    0 qid:1\n\
    4 qid:c#3 007:+1.5#C";

/// Reads a text in blocks of a given size: the fingerprint or the error.
fn read(input: impl Read + Send, block_bytes: usize) -> Result<u128, String> {
    let path = Path::new("data");
    let source = ByteStream::new(input, path).map_err(|error| error.to_string())?;
    let reader = BlockReader::with_block_bytes(source, Cut::Lines, block_bytes);
    let options = ReadOptions::new(Absent::Missing);
    let input = Input::without_side_files(path, &options);
    read_blocks(reader, &input)
        .and_then(|rows| input.build(rows))
        .map(|data| data.fingerprint())
        .map_err(|error| error.to_string())
}

fn pool(n_threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Lines for many blocks, some of them invalid.
fn many_lines(bad: &[usize]) -> String {
    (1..=3000)
        .map(|line| if bad.contains(&line) { "x\n".into() } else { format!("1 qid:{} 1:{line}\n", line / 7) })
        .collect()
}

#[test]
fn any_block_size_gives_the_same_data() {
    let whole = read(SAMPLE.as_bytes(), 1 << 20).unwrap();
    for block_bytes in 1..=SAMPLE.len() + 1 {
        assert_eq!(read(SAMPLE.as_bytes(), block_bytes), Ok(whole), "{block_bytes}");
    }
}

#[test]
fn the_first_fault_in_the_file_is_reported_whoever_finds_it() {
    let expected =
        "data:1500:1: label \"x\" is not a number; each line must start with a label, as in \"2 qid:7 1:0.5\"";
    let text = many_lines(&[1500, 1501, 2000, 2999]);
    for n_threads in [1, 2, 5] {
        let pool = pool(n_threads);
        for block_bytes in [1, 64, 1000, 1 << 20] {
            let found = pool.install(|| read(text.as_bytes(), block_bytes));
            assert_eq!(found, Err(expected.into()), "{n_threads} threads, blocks of {block_bytes}");
        }
    }
}

#[test]
fn a_fault_comes_before_the_damage_behind_it() {
    let mut packed = gzip(many_lines(&[2]).as_bytes());
    packed.truncate(packed.len() - 100);
    for block_bytes in [64, 1000, 1 << 20] {
        assert!(read(&*packed, block_bytes).unwrap_err().starts_with("data:2:1: label"), "{block_bytes}");
    }
}

#[test]
fn mixed_qids_are_found_across_blocks() {
    let mut text = many_lines(&[]);
    text.push_str("1 1:2\n1 qid:x\n");
    for block_bytes in [1, 64, 1 << 20] {
        let expected = "data:3001:3: no qid here, but line 1 has one; write qid:ID after every label";
        assert_eq!(read(text.as_bytes(), block_bytes), Err(expected.into()), "{block_bytes}");
    }
}

#[test]
fn endless_lines_end() {
    let limit = MAX_LINE_BYTES as u64;
    let line = |len: u64| Cursor::new("1 qid:1 #").chain(io::repeat(b'y').take(len - 9));
    let too_long =
        Err("data:1:1: the line is longer than 64 MB; check that this is text with one document per line".into());
    assert!(read(line(limit), 1 << 20).is_ok());
    assert_eq!(read(line(limit + 1), 1 << 20), too_long);
    assert_eq!(read(line(limit + 1).chain(Cursor::new("\n0 qid:1")), 1 << 20), too_long);
    assert_eq!(read(line(limit + 1).chain(Cursor::new("\n0 qid:1")), MAX_LINE_BYTES * 2), too_long);
    let empty = read(io::repeat(b'\n').take(1 << 24), 1 << 16);
    assert_eq!(empty, Err("data: there are no rows; a dataset needs at least one document".into()));
}

static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| [pool(1), pool(3)]);

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    (edits(b" \t\n\r:#.-+eE0919qidna\0\xff"), 0..3u8).prop_map(|(edits, packing)| {
        let text = match packing {
            0 => gzip(SAMPLE.as_bytes()),
            1 => zstd::encode_all(SAMPLE.as_bytes(), 1).unwrap(),
            _ => SAMPLE.as_bytes().to_vec(),
        };
        damaged(text, edits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn mutated_lines_give_one_result(text in mutated(), block_bytes in 1usize..200) {
        let whole = POOLS[0].install(|| read(&*text, 1 << 16));
        prop_assert_eq!(&whole, &POOLS[1].install(|| read(&*text, 1 << 16)));
        // How much damaged data a decoder returns before its error is not specified.
        if !matches!(&whole, Err(error) if error.contains("is damaged")) {
            prop_assert_eq!(whole, POOLS[1].install(|| read(&*text, block_bytes)));
        }
    }

    #[test]
    fn any_bytes_give_a_result(text: Vec<u8>, block_bytes in 1usize..100) {
        prop_assert_eq!(read(&*text, 1 << 16), read(&*text, block_bytes));
    }
}
