"""Compares `rankwise refit` with LightGBM's: new leaf values on new data, with the same splits.

    python3 peers/refit.py BINARY [--seed S]

LightGBM trains models, saves them, and refits them on other documents; the real binary refits the saved files on the same
documents. Scores must agree to 1e-12 of the largest change for squared error, and to 1e-2 for LambdaMART: LightGBM looks up its
sigmoid in a table, and if that swaps two documents with nearly equal scores, all later trees differ. Otherwise the largest
differences are shown and the exit code is 1.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402

N_FEATURES = 8
QUERY_DOCS = 25
N_TREES = 30
DECAYS = (0.0, 0.3, 0.9)
# LightGBM's name, ours, and the tolerance of scores relative to the largest change.
OBJECTIVES = (("regression", "rmse", 1e-12), ("lambdarank", "lambdamart", 1e-2))


def documents(rng, n_queries, turn):
    """Rows and labels; `turn` is the weight of the second feature."""
    rows = rng.normal(size=(n_queries * QUERY_DOCS, N_FEATURES)).astype(np.float32)
    rows[:, 3][rng.random(len(rows)) < 0.2] = np.nan
    signal = rows[:, 0] + turn * rows[:, 1] + np.nan_to_num(rows[:, 3]) + rng.normal(scale=0.5, size=len(rows))
    labels = np.argsort(np.argsort(signal)) * 5 // len(rows)
    return rows, labels, np.full(n_queries, QUERY_DOCS)


def write(path, rows, labels):
    with open(path, "w") as out:
        for row, (values, label) in enumerate(zip(rows, labels)):
            # LightGBM treats features that are absent from a line as 0.
            features = " ".join(f"{idx}:{value!r}" for idx, value in enumerate(values.tolist()))
            out.write(f"{label} qid:{row // QUERY_DOCS} {features}\n")


def run(binary, *arguments):
    subprocess.run([binary, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    binary = Path(args.binary).resolve()
    rng = np.random.default_rng(args.seed)
    first, second = documents(rng, 120, 1.0), documents(rng, 60, -1.0)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "new.txt", *second[:2])
        for theirs, ours, tolerance in OBJECTIVES:
            params = {"objective": theirs, "boost_from_average": False, "learning_rate": 0.2, "num_leaves": 15,
                      "lambda_l2": 0.5, "verbose": -1, "num_threads": 1, "deterministic": True}
            data = lightgbm.Dataset(first[0], first[1], group=first[2])
            booster = lightgbm.train(params, data, N_TREES)
            booster.save_model(folder / "model.txt")
            before = booster.predict(second[0])
            groups = {"group": second[2]} if theirs == "lambdarank" else {}
            for decay in DECAYS:
                expected = booster.refit(second[0], second[1], decay_rate=decay, **groups).predict(second[0])
                run(binary, "refit", folder / "model.txt", folder / "new.txt", "--out", folder / "new.json", "--decay", decay,
                    "--objective", ours, "--set", "learning_rate=0.2", "--set", "lambda_l2=0.5", "--set", "ties=input")
                run(binary, "predict", folder / "new.json", folder / "new.txt", "--out", folder / "scores.txt")
                found = np.loadtxt(folder / "scores.txt")
                largest, change = np.abs(found - expected).max(), np.abs(expected - before).max()
                print(f"{theirs}, decay {decay}: scores change by up to {change:.3f}, differ by up to {largest:.1e}")
                if not largest <= tolerance * change or change < 0.05:
                    failures += 1
                    worst = np.argsort(-np.abs(found - expected))[:5]
                    for row in worst:
                        print(f"  row {row}: {found[row]!r}, LightGBM {expected[row]!r}", file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
