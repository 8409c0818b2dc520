//! The rows.

use super::Row;
use super::content as make;
use super::content::Content::{AsItIs, Beside, Bytes, Folder, Made, Text};
use super::models;

const TRAIN: &str = "train @ --out out.json";
const VALID: &str = "train train.txt --valid @ --out out.json";
const PREDICT: &str = "predict model.json @ --out out.txt";
const EVAL: &str = "eval @ --model model.json --per-query out.tsv";
const INSPECT: &str = "inspect @";
const CONVERT: &str = "convert-data @ out.parquet";
const SCORES: &str = "eval train.txt --scores @ --per-query out.tsv";
const RUN: &str = "eval --run @ --qrels qrels.txt --per-query out.tsv";
const QRELS: &str = "eval --run run.txt --qrels @ --per-query out.tsv";
const RUN_BY_DATA: &str = "eval @ --run run.txt --per-query out.tsv";
const MODEL: &str = "predict @ train.txt --out out.txt";
const CONFIG: &str = "train train.txt --config @ --out out.json";
const STDIN: &str = "train - --out out.json < @";

/// Two rows of a query, and no qid.
const SIZED: &str = "1 1:1\n0 1:2\n";
/// The same with one.
const NAMED: &str = "1 qid:a 1:1\n0 qid:a 1:2\n";

/// What is done with `@`, and the files it is done with.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[Row])] = &[
    // Lines of LETOR.
    (TRAIN, &[
        ("d.txt", Text(""), "d.txt: there are no rows; a dataset needs at least one document"),
        ("d.txt", Text("# remark\n\n"), "d.txt: there are no rows"),
        ("d.txt", Text("1 1:0.5\n"), "d.txt:1:3: no qid; write qid:ID after every label ... d.txt.query"),
        ("d.txt", Text("1 qid:1 1:5\n0 1:5\n"), "d.txt:2:3: no qid here, but line 1 has one"),
        ("d.txt", Text("1 qid: 1:5\n"), "d.txt:1:3: \"qid:\" has no id; write the query's id"),
        ("d.txt", Text("1 1:5 qid:1\n"), "d.txt:1:7: unexpected \"qid:1\"; write one qid, right after the label"),
        ("d.txt", Text("1 qid:1 qid:2\n"), "d.txt:1:9: unexpected \"qid:2\""),
        ("d.txt", Text("qid:1 1:1\n"), "d.txt:1:1: label \"qid:1\" is not a number; each line must start with a label"),
        ("d.txt", Text("0 qid:1\n\ngood qid:1\n"), "d.txt:3:1: label \"good\" is not a number"),
        ("d.txt", Text("nan qid:1 1:1\n"), "d.txt:1:1: label \"nan\" is out of range; labels are numbers from 0 to 3.4e38"),
        ("d.txt", Text("-1 qid:1 1:1\n"), "d.txt:1:1: label \"-1\" is out of range"),
        ("d.txt", Text("inf qid:1 1:1\n"), "d.txt:1:1: label \"inf\" is out of range"),
        ("d.txt", Text("1e39 qid:1 1:1\n"), "d.txt:1:1: label \"1e39\" is out of range"),
        ("d.txt", Text("1 qid:1 4294967296:2\n"), "d.txt:1:9: feature 4294967296 is too large; the largest is 4294967295"),
        ("d.txt", Text("1 qid:1 1:1 99999999999999999999:2\n"), "d.txt:1:13: feature 99999999999999999999 is too large"),
        ("d.txt", Text("1 qid:1 -1:2\n"), "d.txt:1:9: feature \"-1\" is not an integer of at least 0"),
        ("d.txt", Text("1 qid:1 price:2\n"), "d.txt:1:9: feature \"price\" is not an integer of at least 0"),
        ("d.txt", Text("1 qid:1 1:5 2:1 1:7\n"), "d.txt:1:17: feature 1 is given twice in this line; keep one value"),
        ("d.txt", Text("1 qid:1 2:abc\n"), "d.txt:1:11: value \"abc\" of feature 2 is not a number ... nan if it is missing"),
        ("d.txt", Text("1 qid:1 2:0,5\n"), "d.txt:1:11: value \"0,5\" of feature 2 is not a number"),
        ("d.txt", Text("1 qid:1 0.5\n"), "d.txt:1:9: \"0.5\" is not feature:value"),
        ("d.txt", Text("1 qid:a\0b 1:1\n"), "d.txt:1:7: qid \"a\\0b\" contains a control character; remove it"),
        ("d.txt", Bytes(b"1 qid:\xff 1:2\n"), "d.txt:1:7: qid \"\\xff\" is not valid UTF-8; save the file as UTF-8"),
        ("d.txt", Bytes(b"1 qid:1 1:2 # \xc3(\n"), "d.txt:1:15: comment \"\\xc3(\" is not valid UTF-8"),
        ("d.txt", Bytes(b"\xff\xfe1\0 \0"), "d.txt: this is UTF-16 text; convert it to UTF-8"),
        ("d.txt", Bytes(b"\x89PNG\r\n\x1a\n"), "d.txt:1:1: label \"\\x89PNG\" is not a number"),
        ("d.txt", Made(make::junk), "d.txt:1:"),
        ("d.txt", Made(make::long_word), "d.txt:1:1: label \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is not a number"),
        ("d.txt", Made(make::long_value), "d.txt:1:11: value \"111111 ... 1...\" of feature 7 is not a number"),
        ("d.txt", Made(make::endless_line), "d.txt:1:1: the line is longer than 64 MB; check that this is text"),
        ("d.txt", Text("label,qid,f1\n1,a,2\n"), "d.txt:1:1: label \"label,qid,f1\" is not a number; if this is a table, set --data-format csv"),
        ("d.txt", Text("1 qid:a 1:1\n1 qid:a 1:2\n"), "d.txt: no query has two documents with different labels"),
        ("d.txt", Text("1 qid:a 1:1\n0 qid:a 1:1\n"), "d.txt: no feature has two different values"),
        ("d.txt", Text("1000 qid:a 1:1\n0 qid:a 1:2\n"), "d.txt: label 1000 in query 'a' is too large for exponential gain"),
    ]),
    // Labels and targets for an objective.
    ("train @ --objective logistic --out out.json", &[
        ("d.txt", Text("1 qid:a 1:1\n2 qid:a 1:2\n"), "d.txt: label 2 in query 'a' is not a probability (from 0 to 1) ... divide the labels by the largest one, or use objective rmse"),
        ("d.txt", Text("1 qid:a 1:1\n1 qid:b 1:2\n"), "d.txt: every document has label 1, so objective 'logistic' has nothing to learn"),
    ]),
    ("train @ --objective multiclass --out out.json", &[
        ("d.txt", Text("1 qid:a 1:1\n0.5 qid:a 1:2\n"), "d.txt: label 0.5 in query 'a' is not an integer ... round the labels, or use objective rmse"),
        ("d.txt", Text("1 qid:a 1:1\n1 qid:a 1:2\n"), "d.txt: every document has label 1, so objective 'multiclass' has nothing to learn"),
        ("d.txt", Text("1000 qid:a 1:1\n1 qid:a 1:2\n"), "d.txt: label 1000 in query 'a' is too large for exponential gain"),
    ]),
    ("train @ --objective softmax --out out.json", &[
        ("d.txt", Text("1 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:2\n"), "d.txt: no query has two documents with different labels, so objective 'softmax' has nothing to learn"),
    ]),
    ("train @ --objective plackett-luce --set target=err --out out.json", &[
        ("d.txt", Text("5 qid:a 1:1\n1 qid:a 1:2\n"), "d.txt: label 5 in query 'a'"),
    ]),
    // Compressed.
    (TRAIN, &[
        ("d.txt.gz", Made(make::empty_gzip), "d.txt.gz: there are no rows"),
        ("d.txt.gz", Made(make::cut_gzip), "d.txt.gz: the gzip data is damaged or cut off ... copy or compress the file again"),
        ("d.txt.gz", Made(make::spoilt_gzip), "d.txt.gz: the gzip data is damaged or cut off after line 4"),
        ("d.txt.gz", Made(make::cut_second_gzip), "d.txt.gz: the gzip data is damaged or cut off after line 7"),
        ("d.txt.gz", Bytes(b"\x1f\x8b"), "d.txt.gz: the gzip data is damaged or cut off"),
        ("d.txt.gz", Made(make::bad_row_in_gzip), "d.txt.gz:5:11: value \"x\" of feature 1 is not a number"),
        ("d.txt.gz", Made(make::gzip_in_gzip), "d.txt.gz:1:1: label \"\\u{1f}\\x8b ... is not a number"),
        ("d.txt.zst", Made(make::cut_zstd), "d.txt.zst: the zstd data is damaged or cut off"),
        ("d.txt.zst", Bytes(b"\x28\xb5\x2f\xfdno zstd at all"), "d.txt.zst: the zstd data is damaged or cut off"),
        ("d.txt.zst", Made(make::wide_window), "d.txt.zst: the zstd data needs more than 128 MB of memory to decompress; compress the file again with a window of 128 MB"),
    ]),
    // Tables.
    (TRAIN, &[
        ("d.csv", Text(""), "d.csv: there are no rows"),
        ("d.csv", Text("label,qid,a\n"), "d.csv: there are no rows"),
        ("d.csv", Text("label,qid,a\n1,q,2\n0,q\n"), "d.csv:3:4: this row has 2 fields, but the table has 3 columns; add \
            the missing fields"),
        ("d.csv", Text("label,qid,a\n1,q,2,5\n"), "d.csv:2:6: this row has 4 fields, but the table has 3 columns; quote fields"),
        ("d.csv", Text("label,qid,a\n1,\"q,2\n0,q,3\n"), "d.csv:2:3: the quoted field that starts with \"q,2 ... is never closed; add the closing quote"),
        ("d.csv", Text("label,qid,a\n1,\"q\"r,2\n"), "d.csv:2:6: unexpected \"r\" after a closing quote"),
        ("d.csv", Text("label,qid,colour\n1,q,red\n"), "d.csv:2:5: \"red\" in column \"colour\" is not a number ... --ignore-columns"),
        ("d.csv", Text("label,qid,a\n-1,q,2\n"), "d.csv:2:1: \"-1\" in column \"label\" is not a label; labels are numbers from 0 to 3.4e38"),
        ("d.csv", Text("label,qid,a\nnan,q,2\n"), "d.csv:2:1: \"nan\" in column \"label\" is not a label"),
        ("d.csv", Text("label,qid,a\n,q,2\n"), "d.csv:2:1: no label in column \"label\""),
        ("d.csv", Text("label,qid,a\n1,,2\n"), "d.csv:2:3: no qid in column \"qid\"; every row needs the id of its query"),
        ("d.csv", Text("label,qid,weight,a\n1,q,-2,2\n"), "d.csv:2:5: \"-2\" in column \"weight\" is not a document weight"),
        ("d.csv", Text("label,qid,position,a\n1,q,1.5,2\n"), "d.csv:2:5: \"1.5\" in column \"position\" is not a position"),
        ("d.csv", Text("a,qid,b\n1,q,2\n"), "d.csv: no label column; name it with --label-column ... \"a\", \"qid\", \"b\""),
        ("d.csv", Text("a,label,b\n1,0,2\n"), "d.csv: no qid column; name it with --qid-column ... d.csv.query"),
        ("d.csv", Text("label,qid,a,a\n1,q,2,3\n"), "d.csv: two columns are named \"a\"; rename one of them"),
        ("d.csv", Text("label,qid,query_id\n1,q,2\n"), "d.csv: columns \"qid\" and \"query_id\" could both be the qid"),
        ("d.csv", Text("label;qid;a\n1;q;2\n"), "d.csv: there is only one column ... --separator"),
        ("d.csv", Bytes(b"label,qid,a\n1,\xff,2\n"), "d.csv:2:3: qid \"\\xff\" is not valid UTF-8"),
        ("d.csv", Bytes(b"label,qid,\xff\n1,q,2\n"), "d.csv:1:11: column name \"\\xff\" is not valid UTF-8"),
        ("d.csv", Made(make::too_many_columns), "d.csv:1:1048577: the table has more than 1048576 columns; check the separator"),
        ("d.tsv", Text("label\tqid\ta\n1\tq\n"), "d.tsv:2:4: this row has 2 fields, but the table has 3 columns"),
    ]),
    ("train @ --label-column grade --out out.json", &[
        ("d.csv", Text("label,qid,a\n1,q,2\n"), "d.csv: --label-column grade: no such column; ... \"label\", \"qid\", \"a\""),
    ]),
    ("train @ --ignore-columns b --out out.json", &[
        ("d.csv", Text("label,qid,a\n1,q,2\n"), "d.csv: --ignore-columns b: no such column"),
    ]),
    // Parquet.
    (TRAIN, &[
        ("d.parquet", Text("PAR1"), "d.parquet: the Parquet data is damaged or cut off"),
        ("d.parquet", Text("1 qid:1 1:1\n"), "d.parquet: not a Parquet file ... --data-format"),
        ("d.parquet", Made(make::cut_parquet), "d.parquet: the Parquet data is damaged or cut off ... write or copy the file again"),
        ("d.parquet.gz", Made(make::gzipped_parquet), "d.parquet.gz: this Parquet file is compressed with gzip; decompress it, since"),
        ("d.parquet", Made(make::text_feature), "d.parquet: column \"title\" contains text, but should be a number ... --ignore-columns"),
        ("d.parquet", Made(make::date_feature), "d.parquet: column \"day\" contains dates"),
        ("d.parquet", Made(make::timestamp_feature), "d.parquet: column \"seen\" contains timestamps"),
        ("d.parquet", Made(make::list_feature), "d.parquet: column \"vector.list.element\" contains nested values"),
        ("d.parquet", Made(make::group_feature), "d.parquet: column \"price.amount\" contains nested values"),
        ("d.parquet", Made(make::text_label), "d.parquet: column \"label\" contains text, but should be a label"),
        ("d.parquet", Made(make::bool_qid), "d.parquet: column \"qid\" contains neither text nor integers"),
        ("d.parquet", Made(make::negative_label), "d.parquet: row 2: \"-2\" in column \"label\" is not a label"),
        ("d.parquet", Made(make::infinite_label), "d.parquet: row 1: \"inf\" in column \"label\" is not a label"),
        ("d.parquet", Made(make::null_label), "d.parquet: row 2: no label in column \"label\""),
        ("d.parquet", Made(make::no_rows), "d.parquet: there are no rows"),
        ("d.parquet", Made(make::no_label_column), "d.parquet: no label column; name it with --label-column; the columns are "),
    ]),
    // Beside the data.
    (BESIDE, &[
        ("d.txt.query", Beside(SIZED, ".query", "3\n"), "d.txt.query: the query sizes add up to 3, but there are 2 rows"),
        ("d.txt.query", Beside(SIZED, ".query", "two\n"), "d.txt.query:1:1: \"two\" is invalid; expected the number of rows of a query"),
        ("d.txt.weight", Beside(NAMED, ".weight", "1\n"), "d.txt.weight: the number of document weights is 1, but the number of rows is 2"),
        ("d.txt.weight", Beside(NAMED, ".weight", "1\n-1\n"), "d.txt.weight:2:1: \"-1\" is invalid; expected a weight of at least 0"),
        ("d.txt.weight", Beside(NAMED, ".weight", "1\n\n1\n"), "d.txt.weight:2:1: the line is empty; expected a weight"),
        ("d.txt.query_weight", Beside(NAMED, ".query_weight", "1\n2\n"), "d.txt.query_weight: the number of query weights is 2"),
        ("d.txt.group_weights", Beside(NAMED, ".group_weights", "b\t1\n"), "d.txt.group_weights: query \"a\" has no weight; give one for every query"),
        ("d.txt.position", Beside(NAMED, ".position", "1\n2\n3\n"), "d.txt.position: the number of positions is 3"),
        ("d.txt.position", Beside(NAMED, ".position", "1\n-2\n"), "d.txt.position:2:1: \"-2\" is invalid; expected a position"),
        ("d.txt.pairs", Beside(NAMED, ".pairs", "0\t7\n"), "d.txt.pairs:1:1: there is no row 7; pairs count rows from 0, so the last one is 1"),
        ("d.txt.pairs", Beside(NAMED, ".pairs", "0\n"), "d.txt.pairs:1:1: \"0\" is invalid; expected the row numbers of winner and loser"),
    ]),
    // The other commands that read.
    (VALID, &[
        ("v.txt", Text("1 qid:1 1:x\n"), "v.txt:1:11: value \"x\" of feature 1 is not a number"),
        ("v.txt", AsItIs, "v.txt: cannot open: no such file; check the name"),
        ("train.rwcache", AsItIs, "train.rwcache: this is a cache of binned data, which"),
    ]),
    (PREDICT, &[
        ("d.txt", Text("1 qid:1 1:1 1:2\n"), "d.txt:1:13: feature 1 is given twice"),
        ("d.csv", Text("qid,f1\nq,1,2\n"), "d.csv:2:4: this row has 3 fields, but the table has 2 columns"),
        ("folder", AsItIs, "folder: no data files in this folder"),
        ("model.json", AsItIs, "model.json: this is a model, but ranking data is expected here"),
    ]),
    (EVAL, &[
        ("d.txt", Text("0 qid:1 1:1\n1 qid:1 1:2 3\n"), "d.txt:2:13: \"3\" is not feature:value"),
        ("d.txt.gz", Made(make::cut_gzip), "d.txt.gz: the gzip data is damaged or cut off"),
        ("train.txt/x", AsItIs, "train.txt/x: cannot open: a part of the path is a file"),
    ]),
    (INSPECT, &[
        ("d.txt", Text("1 qid:1 x:1\n"), "d.txt:1:9: feature \"x\" is not an integer"),
        ("d.parquet", Made(make::list_feature), "d.parquet: column \"vector.list.element\" contains nested values"),
        ("nosuch.txt", AsItIs, "nosuch.txt: cannot open: no such file"),
        ("folder", AsItIs, "folder: no data files in this folder"),
    ]),
    (CONVERT, &[
        ("d.txt", Text("1 qid:1 1:1\n2 qid:1 1\n"), "d.txt:2:9: \"1\" is not feature:value"),
        ("d.tsv.zst", Made(make::cut_zstd), "d.tsv.zst: the zstd data is damaged or cut off"),
        ("e.csv", Folder, "e.csv: no data files in this folder"),
    ]),
    (SCORES, &[
        ("s.txt", Text("1\n2\n"), "s.txt: 2 scores for 900 rows of train.txt"),
        ("s.txt", Text("1\nnan\n"), "s.txt:2:1: \"nan\" is invalid; expected a finite number"),
        ("s.txt", Text("\n1\n"), "s.txt:1:1: the line is empty"),
        ("s.txt.gz", Made(make::spoilt_gzip), "s.txt.gz:1:1: \"2 qid:1 1:0.5 2:1\" is invalid; expected a finite number"),
    ]),
    (MODEL, &[
        ("m.json", Text(""), "m.json: not a Rankwise model: the file is empty"),
        ("m.json", Text("{\"format\": 1"), "m.json:1:12: not a Rankwise model"),
        ("m.json", Made(make::junk), "m.json: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"),
        ("folder", AsItIs, "folder: cannot read: this is a folder"),
    ]),
    (MODEL, models::ROWS),
    (CONFIG, &[
        ("c.toml", Text("num_trees = \n"), "c.toml:1:13: num_trees has no value; write num_trees = VALUE"),
        ("c.toml", Text("num_trees = 5\nnum_leafs = 3\n"), "c.toml:2:1: unknown parameter 'num_leafs'"),
        ("c.toml", Bytes(b"num_trees = \xff\n"), "c.toml: not UTF-8 text"),
    ]),
    (STDIN, &[
        ("d.csv", Text("label,qid,f1\n1,a,2\n"), "<stdin>:1:1: label \"label,qid,f1\" is not a number; if this is a table, set --data-format csv"),
        ("d.txt", Text("1 1:1\n"), "<stdin>:1:3: no qid; write qid:ID after every label"),
        ("d.txt", Text(""), "<stdin>: there are no rows"),
    ]),
    // Runs and judgements.
    (RUN, &[
        ("r.txt", Text("x Q0 d1 1 0.5 t\ny Q0 d1 1 0.5 t\n"), "r.txt:1: none of its 2 queries are judged; check the query ids (the first is 'x') and whether the run belongs to qrels.txt"),
        ("r.txt", Text("a Q0 d1 1 nan t\n"), "r.txt:1:11: "),
        ("r.txt", Text("a Q0 d1 1 0.5 t\na Q0 d2 2 x t\n"), "r.txt:2:11: "),
        ("r.txt", Text("a Q0 d1 1 0.5 t\na Q0 d2 2 0.25 t\na Q0 d1 3 0.125 t\n"), "r.txt:3:1: ... \"d1\" ... line 1"),
        ("r.txt", Text("a Q0 d1 1 0.5\n"), "r.txt:1:14: "),
        ("r.txt", AsItIs, "r.txt: "),
    ]),
    (QRELS, &[
        ("q.txt", Text("a 0 d1 1\na 0 d1 0\n"), "q.txt:2:1: ... \"d1\" ... line 1"),
        ("q.txt", Text("a 0 d1 good\n"), "q.txt:1:8: "),
        ("q.txt", Text("a 0 d1 1000\n"), "q.txt: label 1000 in query 'a' is too large for exponential gain ... --gain linear"),
    ]),
    (RUN_BY_DATA, &[
        ("d.txt", Text("1 qid:a 1:1\n0 qid:b 1:1\n"), "d.txt: its documents have no ids ... --qrels"),
        ("d.txt", Text("1 qid:a 1:1 # d1\n0 qid:a 1:1 # d1\n"), "d.txt: document 'd1' occurs twice in query 'a'"),
    ]),
];

/// The data of a side file.
const BESIDE: &str = "train d.txt --out out.json --valid train.txt";

/// Small files that hold gigabytes.
#[rustfmt::skip]
pub(super) const BOMBS: &[(&str, Row)] = &[
    (TRAIN, ("d.txt.gz", Made(make::gzip_of_newlines), "d.txt.gz: the gzip data expands to more than 500 times its size; check where")),
    (TRAIN, ("d.txt.zst", Made(make::zstd_of_newlines), "d.txt.zst: the zstd data expands to more than 500 times its size")),
    (TRAIN, ("d.txt.gz", Made(make::gzip_of_one_line), "d.txt.gz:1:1: the line is longer than 64 MB")),
    (INSPECT, ("d.txt.zst", Made(make::zstd_of_one_line), "d.txt.zst:1:1: the line is longer than 64 MB")),
    (PREDICT, ("d.txt.zst", Made(make::zstd_of_rows), "d.txt.zst: the zstd data expands to more than 500 times its size")),
    (CONVERT, ("d.csv.zst", Made(make::zstd_of_fields), "d.csv.zst: the zstd data expands to more than 500 times its size")),
    (EVAL, ("d.csv.gz", Made(make::gzip_of_newlines), "d.csv.gz: the gzip data expands to more than 500 times its size")),
    (TRAIN, ("d.parquet.zst", Made(make::zstd_of_one_line), "d.parquet.zst: this Parquet file is compressed with zstd; decompress it, since")),
    (SCORES, ("s.txt.zst", Made(make::zstd_of_numbers), "s.txt.zst: the zstd data expands to more than 500 times its size")),
    (MODEL, ("m.json", Made(make::zstd_of_one_line), "m.json: the zstd data expands to more than 500 times its size")),
    (CONFIG, ("c.toml", Made(make::gzip_of_newlines), "c.toml: the gzip data expands to more than 500 times its size")),
];

/// Whole lines that make no sense, whatever the files are.
#[rustfmt::skip]
pub(super) const ARGUMENTS: &[(&str, &str)] = &[
    // Places that cannot be written to.
    ("train train.txt --out no/where", "no/where: cannot write: its folder does not exist; create the folder first"),
    ("train train.txt --out folder", "folder: cannot write: this is a folder; give a file"),
    ("train train.txt --out old.txt/x", "old.txt/x: cannot write: a part of the path is a file"),
    ("train train.txt --out train.txt", "train.txt: cannot write: this file is also an input"),
    ("train train.txt --out /proc/out.json", "/proc/out.json: cannot write: "),
    ("train train.txt --out out.json --checkpoint old.txt", "old.txt: cannot write: a file with this name exists; give \
                                                          a folder"),
    ("predict model.json train.txt --out no/where", "no/where: cannot write: its folder does not exist"),
    ("predict model.json train.txt --out model.json", "model.json: cannot write: this file is also an input"),
    ("eval train.txt --model model.json --per-query folder", "folder: cannot write: this is a folder"),
    ("convert-data train.txt no/where.csv", "no/where.csv: cannot write: its folder does not exist"),
    ("convert-data train.txt out.unknown", "out.unknown: unknown file extension"),
    ("convert-data train.txt out.parquet.gz", "out.parquet.gz: cannot write: Parquet has its own compression"),
    ("synth --rows 10 --out old.txt/x", "old.txt/x: cannot write: a part of the path is a file"),
    // A disk without room.
    ("train train.txt --out /dev/full --set num_trees=2", "/dev/full: cannot write: the disk is full; free some space"),
    ("predict model.json train.txt --out /dev/full", "/dev/full: cannot write: the disk is full"),
    ("eval train.txt --model model.json --per-query /dev/full", "/dev/full: cannot write: the disk is full"),
    ("convert-data train.txt /dev/full --to csv", "/dev/full: cannot write: the disk is full"),
    ("convert-data train.txt /dev/full --to parquet", "/dev/full: cannot write: the disk is full"),
    ("convert-data train.txt /dev/full --to cache", "/dev/full: cannot write: the disk is full"),
    ("synth --rows 100 --out /dev/full", "/dev/full: cannot write: the disk is full"),
    // What is typed.
    ("trian train.txt --out out.json", "unrecognized subcommand 'trian' ... 'train'"),
    ("train train.txt", "--out <MODEL>"),
    ("train train.txt --out out.json --set num_leafs=3", "unknown parameter 'num_leafs'; did you mean 'num_leaves'?"),
    ("train train.txt --out out.json --set num_leaves=1", "'num_leaves': 1 is out of range"),
    ("train train.txt --out out.json --set learning_rate=nan", "'learning_rate': NaN is out of range"),
    ("train train.txt --out out.json --objective plackett-luce --set target=kendall-tau", "'target': objective 'plackett-luce' cannot optimise the metric 'kendall-tau'"),
    ("train train.txt --out out.json --threads 0", "'--threads <N>': expected an integer from 1 to 1024"),
    ("train train.txt --out out.json --seed -1", "'--seed <S>': expected an integer"),
    ("train train.txt --out out.json --label-column 0", "train.txt: this is read as LETOR text, which has no named columns"),
    ("train train.txt --out out.json --data-format parquet", "train.txt: not a Parquet file"),
    ("train train.txt --out out.json --data-format csv", "train.txt: there is only one column ... set --data-format letor"),
    ("train train.txt --out out.json --separator ab", "one ASCII character"),
    ("train - --valid - --out out.json", "standard input can be read only once; use a file"),
    ("eval train.txt --model model.json --metric ndgc@10", "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"),
    ("eval train.txt --model model.json --scores scores.txt", "cannot be used with '--scores <FILE>'"),
    ("predict model.json train.txt --format json", "invalid value 'json' ... scores, tsv, run"),
    ("convert-data train.txt out.csv --set max_bin=15", "only caches have parameters"),
    // Metrics and their rules.
    ("eval train.txt --scores scores.txt --metric auc@5", "metric 'auc@5' takes no cutoff; remove @k"),
    ("eval train.txt --scores scores.txt --metric ndcg,bpref@10", "metric 'bpref@10' takes no cutoff; remove @k"),
    ("eval train.txt --scores scores.txt --metric err --err-max-grade 2", "is above the maximum label of err and pfound, 2; increase --err-max-grade"),
    ("eval train.txt --scores scores.txt --metric err --gain linear", "has the gain ... use gains as probabilities, from 0 to 1; use --gain exp"),
    ("eval train.txt --scores scores.txt --relevant-from 0", "'0' for '--relevant-from <VALUE>': expected auto or a number above 0"),
    ("eval train.txt --scores scores.txt --rbp-persistence 1", "'1' for '--rbp-persistence <VALUE>': expected a number above 0 and below 1"),
    ("eval train.txt --scores scores.txt --discount log3", "'log3' for '--discount <VALUE>'"),
    // Systems and what they are measured by.
    ("eval --run run.txt", "a run needs judgements; add --qrels FILE, or DATA"),
    ("eval --scores scores.txt --qrels qrels.txt", "--scores needs labelled documents, and --qrels is only for runs; give DATA instead of --qrels"),
    ("eval train.txt --run run.txt --qrels qrels.txt", "--qrels is for runs, in place of DATA; write `--run RUN --qrels FILE` without DATA"),
    ("eval --qrels qrels.txt", "--qrels is for runs, in place of DATA; write `--run RUN --qrels FILE`"),
    ("eval --run - --qrels -", "standard input can be read only once"),
    ("eval --run run.txt --qrels qrels.txt --per-query run.txt", "run.txt: cannot write: this file is also an input"),
];
