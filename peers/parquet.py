"""Compares the Parquet reader and writer of the real binary with pyarrow's.

    python3 peers/parquet.py BINARY [--tables N] [--seed S]

Random tables have columns of every numeric type, with and without nulls, with few or many different values. pyarrow writes each
with random storage options (version and size of pages, row groups, dictionaries, encodings, compression). The binary converts the
file to CSV, whose values must be those of the table as 64-bit floats, and to Parquet, which pyarrow must read as the same values.
If values differ, the first differences are shown and the exit code is 1.
"""

import argparse
import csv
import decimal
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

SHOWN = 5
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TYPES = [*INTEGERS, pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.decimal128(12, 3)]
CODECS = ["none", "snappy", "zstd", "gzip", "lz4"]


def column(rng, kind, n_rows):
    """A pyarrow array and its values as 64-bit floats, NaN for nulls."""
    n_different = int(rng.choice([1, 2, 20, 300, n_rows]))
    if pa.types.is_boolean(kind):
        different = np.array([False, True])
    elif pa.types.is_integer(kind):
        info = np.iinfo(kind.to_pandas_dtype())
        different = rng.integers(info.min, info.max, n_different, dtype=info.dtype, endpoint=True)
    elif pa.types.is_decimal(kind):
        different = np.array([decimal.Decimal(int(value)).scaleb(-3) for value in rng.integers(-(10**9), 10**9, n_different)])
    else:
        different = (rng.normal(size=n_different) * 10.0 ** rng.integers(-3, 4)).astype(kind.to_pandas_dtype())
    # Runs of equal values between changing ones, as in labels and ids.
    places = rng.integers(0, len(different), n_rows)
    if rng.random() < 0.5:
        places = np.repeat(places, rng.integers(1, 40, n_rows))[:n_rows]
    is_null = rng.random(n_rows) < rng.choice([0.0, 0.0, 0.01, 0.5, 1.0])
    values = different[places]
    array = pa.array(values.tolist() if pa.types.is_decimal(kind) else values, kind, mask=is_null)
    floats = np.array([float(value) for value in values], dtype=np.float64)
    floats[is_null] = np.nan
    return array, floats


def random_table(rng):
    n_rows = int(rng.choice([1, 3, 40, 1000, 30_000], p=[0.1, 0.1, 0.2, 0.4, 0.2]))
    kinds = [TYPES[place] for place in rng.integers(0, len(TYPES), 5)]
    columns = {f"f{idx}": column(rng, kind, n_rows) for idx, kind in enumerate(kinds)}
    qids = np.sort(rng.integers(0, max(n_rows // 20, 1), n_rows))
    qids = pa.array(qids if rng.random() < 0.5 else [f"q{qid}" for qid in qids])
    fields = {"label": pa.array(rng.integers(0, 5, n_rows), pa.int32()), "qid": qids}
    table = pa.table(fields | {name: array for name, (array, _) in columns.items()})
    return table, {name: floats for name, (_, floats) in columns.items()}


def random_form(rng, table):
    """Random storage options for a table."""
    form = {
        "compression": str(rng.choice(CODECS)),
        "data_page_version": str(rng.choice(["1.0", "2.0"])),
        "row_group_size": int(rng.choice([7, 1000, 10_000, 1 << 20])) if table.num_rows < 5000 else 10_000,
        "data_page_size": int(rng.choice([100, 5000, 1 << 20])),
        "dictionary_pagesize_limit": int(rng.choice([50, 2000, 1 << 20])),
        "write_batch_size": int(rng.choice([3, 1024])),
        "use_dictionary": bool(rng.random() < 0.7),
    }
    if not form["use_dictionary"] and rng.random() < 0.5:
        encodings = {}
        for field in table.schema:
            if pa.types.is_integer(field.type) and field.type.bit_width >= 8:
                encodings[field.name] = str(rng.choice(["PLAIN", "DELTA_BINARY_PACKED"]))
            elif field.type in (pa.float32(), pa.float64()):
                encodings[field.name] = str(rng.choice(["PLAIN", "BYTE_STREAM_SPLIT"]))
        form["column_encoding"] = encodings
    return form


def differs(found, expected):
    is_same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return None if is_same.all() else int(np.argmin(is_same))


def from_csv(path, names):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    # A feature that no row has is not in the file.
    number = lambda text: float(text) if text else np.nan
    return {name: np.array([number(row.get(name, "")) for row in rows], dtype=np.float64) for name in names}


def from_parquet(path, names, n_rows):
    table = pq.read_table(path)
    missing = np.full(n_rows, np.nan, dtype=np.float64)
    return {name: table[name].to_numpy().astype(np.float64) if name in table.column_names else missing for name in names}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    n_values, faults = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for idx in range(args.tables):
            rng = np.random.default_rng([args.seed, idx])
            table, expected = random_table(rng)
            form = random_form(rng, table)
            pq.write_table(table, folder / "in.parquet", **form)
            for out in ["out.csv", "out.parquet"]:
                subprocess.run([args.binary, "convert-data", folder / "in.parquet", folder / out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            read = [from_csv(folder / "out.csv", expected), from_parquet(folder / "out.parquet", expected, table.num_rows)]
            for by, (column_name, values) in itertools.product(range(2), expected.items()):
                n_values += len(values)
                found = read[by][column_name]
                # The text of a 32-bit float is the shortest that reads back as that float.
                is_short = pa.types.is_floating(table.schema.field(column_name).type) and table.schema.field(column_name).type.bit_width < 64
                row = differs(found.astype(np.float32) if is_short else found, values)
                if row is not None:
                    place = f"table {idx}, by {['CSV', 'Parquet'][by]}: {table.schema.field(column_name)}, row {row}"
                    faults.append(f"{place}: {found[row]} is not {values[row]}; stored by {form}")
    for fault in faults[:SHOWN]:
        print(fault, file=sys.stderr)
    print(f"Parquet: {n_values} values of {args.tables} tables by pyarrow {pa.__version__}, {len(faults)} columns differ")
    return 1 if faults else 0


sys.exit(main())
