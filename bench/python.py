"""The Python package: overhead over the command line, memory, and speed compared with LightGBM, alternately in one run.

    python3 bench/python.py             all of it; installs the package with `pip install .` on the first run
    python3 bench/python.py --rounds 3  how often everything is measured; the best time counts
    python3 bench/python.py --rebuild   install the package anew

Data is synthetic: 260,000 web-like documents with 136 features. Rankwise uses two threads to train, and one to score, as LightGBM does.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peers

peers.enter_venv()

import numpy as np  # noqa: E402

ROWS, TREES, LEAVES = 260_000, 100, 31


def install(rebuild):
    """Builds and installs the package, unless it is there."""
    known = subprocess.run([sys.executable, "-c", "import rankwise"], capture_output=True)
    if rebuild or known.returncode != 0:
        root = Path(__file__).resolve().parent.parent
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", root], check=True)


def best(call, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(command):
    """The peak memory of a process, in MB."""
    measured = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    run = subprocess.run([sys.executable, "-c", measured, *map(str, command)], check=True, capture_output=True, text=True)
    return int(run.stdout) / 1024


FIT = """
import sys
import numpy as np, rankwise
X, y, qid = (np.load(f"{sys.argv[1]}/{name}.npy") for name in ("X", "y", "qid"))
if sys.argv[2] == "fit":
    rankwise.Ranker(num_trees=20, num_leaves=31, n_jobs=2).fit(X, y, qid=qid)
"""


def overhead(binary, folder, rounds):
    import rankwise

    data = rankwise.make_ranking(ROWS)
    X, y, qid = np.ascontiguousarray(data.to_numpy()), data.label, data.qid.astype(np.int64)
    del data
    for name, values in (("X", X), ("y", y), ("qid", qid)):
        np.save(folder / f"{name}.npy", values)
    table = folder / "web.parquet"
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"label": y, "qid": qid} | {f"f{i}": X[:, i] for i in range(X.shape[1])}
    pq.write_table(pa.table(columns), table)
    peers.rankwise(binary, "convert-data", table, folder / "web.txt")
    fits, files = [], {"LETOR text": folder / "web.txt", "Parquet": table}
    totals, trainings = {name: [] for name in files}, {name: [] for name in files}
    for _ in range(rounds):
        start = time.perf_counter()
        ranker = rankwise.Ranker(num_trees=TREES, num_leaves=LEAVES, n_jobs=2).fit(X, y, qid=qid)
        fits.append(time.perf_counter() - start)
        for name, path in files.items():
            shape = ["--set", f"num_trees={TREES}", "--set", f"num_leaves={LEAVES}"]
            run = peers.rankwise(binary, "train", path, "--out", folder / "m.json", "--threads", 2, *shape)
            totals[name].append(run["seconds"]["total"])
            trainings[name].append(run["seconds"]["total"] - run["seconds"]["load"])
    print(f"fit, {ROWS:,} x {X.shape[1]}, {TREES} trees: {min(fits):.2f} s from an array")
    for name in files:
        alone, ratio = min(trainings[name]), min(fits) / min(trainings[name])
        print(f"  command line, {name}: {min(totals[name]):.2f} s, {alone:.2f} s after loading; fit takes {ratio:.3f} of that")
    program = [sys.executable, "-c", FIT, folder]
    loaded, fitted = peak([*program, "load"]), peak([*program, "fit"])
    command = [binary, "train", table, "--out", folder / "m.json", "--threads", "2", "--quiet"]
    alone = peak([*command, "--set", "num_trees=20", "--set", f"num_leaves={LEAVES}"])
    size = X.nbytes / 2**20
    print(f"peak memory: {loaded:.0f} MB with the array of {size:.0f} MB loaded, {fitted:.0f} MB after fit")
    print(f"  fit adds {(fitted - loaded) / size:.2f} times the array; the command line needs {alone:.0f} MB in all")
    return ranker, X


def predict(ranker, X, y, group, rounds):
    import lightgbm

    peer = lightgbm.LGBMRanker(n_estimators=TREES, num_leaves=LEAVES, n_jobs=2, verbose=-1).fit(X, y, group=group)
    model, booster = ranker.model_, peer.booster_
    many, one = X[:100_000], X[:1].copy()
    pairs = {
        "100,000 documents, one thread": (
            lambda: model.predict(many, n_jobs=1),
            lambda: booster.predict(many, num_threads=1),
            1,
        ),
        "one document, model": (
            lambda: [model.predict(one) for _ in range(500)],
            lambda: [booster.predict(one, num_threads=1) for _ in range(500)],
            500,
        ),
        "one document, estimator": (
            lambda: [ranker.predict(one) for _ in range(500)],
            lambda: [peer.predict(one, num_threads=1) for _ in range(500)],
            500,
        ),
    }
    for name, (ours, theirs, calls) in pairs.items():
        a, b = [], []
        for _ in range(rounds):
            a.append(best(ours, 1))
            b.append(best(theirs, 1))
        print(f"predict, {name}: {min(a) / calls * 1e6:.1f} us, LightGBM {min(b) / calls * 1e6:.1f} us, {min(b) / min(a):.1f} times")
    parts = [X[start : start + 20_000] for start in range(0, 160_000, 20_000)]
    with ThreadPoolExecutor(2) as threads:
        score = lambda part: model.predict(part, n_jobs=1)  # noqa: E731
        alone, together = [], []
        for _ in range(rounds):
            alone.append(best(lambda: [score(part) for part in parts], 1))
            together.append(best(lambda: list(threads.map(score, parts)), 1))
    print(f"predict, two Python threads: {min(alone) / min(together):.2f} times one")


def small(rounds):
    import lightgbm
    import rankwise

    rng = np.random.default_rng(0)
    X, group = rng.random((1000, 20)), [20] * 50
    y = (4 * X[:, 0]).astype(int)
    leafwise, defaults, theirs = [], [], []
    for _ in range(rounds):
        leafwise.append(best(lambda: rankwise.Ranker(n_estimators=100, num_leaves=31, learning_rate=0.1).fit(X, y, group=group), 1))
        defaults.append(best(lambda: rankwise.Ranker().fit(X, y, group=group), 1))
        theirs.append(best(lambda: lightgbm.LGBMRanker(n_estimators=100, verbose=-1).fit(X, y, group=group), 1))
    print(
        f"fit, 1,000 x 20: {min(leafwise) * 1e3:.0f} ms for 100 trees of 31 leaves, LightGBM {min(theirs) * 1e3:.0f} ms; "
        f"{min(defaults) * 1e3:.0f} ms with the defaults, 150 oblivious trees"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rebuild", action="store_true")
    options = parser.parse_args()
    install(options.rebuild)
    binary = peers.build()
    with tempfile.TemporaryDirectory() as folder:
        ranker, X = overhead(binary, Path(folder), options.rounds)
        y, qid = (np.load(Path(folder) / f"{name}.npy") for name in ("y", "qid"))
    order = np.argsort(qid, kind="stable")
    _, group = np.unique(qid[order], return_counts=True)
    predict(ranker, np.ascontiguousarray(X[order]), y[order], group, options.rounds)
    small(options.rounds)


if __name__ == "__main__":
    main()
