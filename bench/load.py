"""Loading speed compared with scikit-learn, XGBoost and pyarrow, alternately in one run, from the same web-like data.

    python3 bench/load.py                260k rows of 136 features
    python3 bench/load.py --rounds 5     how often each program loads; best and median are shown
    python3 bench/load.py --rows 60000   smaller
    python3 bench/load.py --only parquet one file format

Every program runs in its own process and ends with its own form of the data in memory: scikit-learn with a sparse matrix, XGBoost
with a DMatrix, pyarrow with a numpy array of float32, Rankwise with a dataset in canonical order, every row hashed and sorted.
Only loading is timed, with the file in the system's cache. MB are those of the file.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import peers

peers.enter_venv()

# Name, file format, threads.
LOADERS = [
    ("scikit-learn", "letor", 1),
    ("XGBoost", "letor", 1),
    ("Rankwise", "letor", 1),
    ("Rankwise", "letor", 2),
    ("pyarrow", "csv", 1),
    ("Rankwise", "csv", 1),
    ("Rankwise", "csv", 2),
    ("pyarrow", "parquet", 1),
    ("pyarrow", "parquet", 2),
    ("Rankwise", "parquet", 1),
    ("Rankwise", "parquet", 2),
    ("Rankwise", "cache", 1),
]
ENDINGS = {"letor": "txt", "csv": "csv", "parquet": "parquet", "cache": "rwcache"}


def worker(program, form, path, threads):
    """Runs in its own process: loads once, prints seconds."""
    import time

    if program == "scikit-learn":
        from sklearn.datasets import load_svmlight_file

        started = time.perf_counter()
        load_svmlight_file(path, dtype="float32", query_id=True)
    elif program == "XGBoost":
        import xgboost

        started = time.perf_counter()
        xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)
    else:
        import numpy
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet

        pyarrow.set_cpu_count(threads)
        # The first table that a process reads takes half a second longer.
        pyarrow.parquet.write_table(pyarrow.table({"x": [1.0]}), path + ".warm")
        pyarrow.parquet.read_table(path + ".warm")
        started = time.perf_counter()
        if form == "csv":
            table = pyarrow.csv.read_csv(path, read_options=pyarrow.csv.ReadOptions(use_threads=threads > 1))
        else:
            table = pyarrow.parquet.read_table(path, use_threads=threads > 1)
        values = numpy.empty((table.num_rows, table.num_columns), dtype=numpy.float32, order="F")
        for idx, column in enumerate(table.columns):
            values[:, idx] = column.to_numpy()
    print(time.perf_counter() - started)


def load(program, form, path, threads, binary, folder):
    if program == "Rankwise":
        settings = ["--set", "num_trees=1", "--set", "num_leaves=2", "--threads", threads]
        report = peers.rankwise(binary, "train", path, "--out", folder / "model.json", *settings)
        return report["seconds"]["load"]
    command = [sys.executable, __file__, "--worker", json.dumps([program, form, str(path), threads])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=260_000)
    parser.add_argument("--only", choices=ENDINGS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(*json.loads(args.worker))
    binary = peers.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {form: folder / f"web.{ending}" for form, ending in ENDINGS.items()}
        peers.rankwise(binary, "synth", "--rows", args.rows, "--seed", 1, "--out", folder / "named.txt")
        # Document ids are text, which does not fit in an array of numbers.
        with open(folder / "named.txt") as named, open(files["letor"], "w") as letor:
            letor.writelines(line.split(" #", 1)[0].rstrip() + "\n" for line in named)
        for form in ("csv", "parquet", "cache"):
            peers.rankwise(binary, "convert-data", files["letor"], files[form])
        seconds = {loader: [] for loader in LOADERS if args.only in (None, loader[1])}
        for _ in range(args.rounds):
            for (program, form, threads), times in seconds.items():
                times.append(load(program, form, files[form], threads, binary, folder))
        report(seconds, files)


def report(seconds, files):
    print(f"{'form':9}{'program':15}{'threads':>8}{'best':>9}{'median':>9}{'MB/s':>9}{'best of Rankwise on 1 thread':>31}")
    for (program, form, threads), times in seconds.items():
        megabytes = files[form].stat().st_size / 1e6
        best, median = min(times), statistics.median(times)
        ratio = best / min(seconds["Rankwise", form, 1])
        print(f"{form:9}{program:15}{threads:8}{best:9.3f}{median:9.3f}{megabytes / best:9.0f}{ratio:29.2f} x")


main()
