"""Compares scores of imported models, on values that f32 cannot represent, with those of the libraries that trained them.

    python3 peers/exact.py BINARY [--rows N] [--seed S]

Values are timestamps in seconds and milliseconds, large ids, prices with cents, small decimals and random f64. The rows are at
the models' thresholds, and one f64 or one f32 next to them. The same rows are written as LETOR text, CSV and Parquet. LightGBM
compares f64: its scores must be identical to the last bit from all three, and `convert-data` between the formats must not change
them. XGBoost and CatBoost round values to f32, and so do we: XGBoost's scores must agree to the precision of its f32 sums,
CatBoost's to 1e-12. If scores differ, the first differences are shown and the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

N_TRAIN = 4000
QUERY_DOCS = 20
SHOWN = 5
FORMATS = ["txt", "csv", "parquet"]


def training_rows(rng):
    """One column of each kind; labels depend on differences that are lost in f32."""
    seconds = 1_700_000_000 + rng.integers(0, 600, N_TRAIN)
    millis = 1_700_000_000_000 + rng.integers(0, 90_000, N_TRAIN)
    ids = (1 << 40) + rng.integers(0, 50_000, N_TRAIN)
    cents = rng.integers(10_000_000, 40_000_000, N_TRAIN) / 100
    small = rng.integers(0, 1000, N_TRAIN) / 1000
    random = rng.random(N_TRAIN) * 10.0 ** rng.integers(-3, 6, N_TRAIN)
    rows = np.column_stack([seconds, millis, ids, cents, small, random]).astype(np.float64)
    signal = (seconds % 60) / 60 + (millis % 1000) / 1000 + (ids % 7 > 3) + (cents * 100 % 10) / 10 + small
    rows[:, 5][rng.random(N_TRAIN) < 0.1] = np.nan
    return rows, np.argsort(np.argsort(signal + rng.normal(scale=0.2, size=N_TRAIN))) * 5 // N_TRAIN


def models(rows, labels, folder):
    """The name, file, predictions and thresholds of each model."""
    import catboost
    import lightgbm
    import xgboost

    sizes = np.full(N_TRAIN // QUERY_DOCS, QUERY_DOCS)
    params = {"objective": "lambdarank", "num_leaves": 31, "min_data_in_leaf": 5, "num_threads": 1, "verbose": -1}
    booster = lightgbm.train(params, lightgbm.Dataset(rows, labels, group=sizes), 40)
    booster.save_model(folder / "lightgbm.txt")
    (folder / "lightgbm.json").write_text(json.dumps(booster.dump_model()))
    splits = [(int(f), float(t)) for f, t in thresholds(booster.dump_model())]
    for name in ["lightgbm.txt", "lightgbm.json"]:
        yield name, lambda x: booster.predict(x, raw_score=True, num_threads=1), splits

    matrix = xgboost.DMatrix(rows, labels, nthread=1)
    matrix.set_group(sizes)
    other = xgboost.train({"objective": "rank:ndcg", "nthread": 1, "verbosity": 0, "max_depth": 5}, matrix, 40)
    other.save_model(folder / "xgboost.json")
    yield "xgboost.json", lambda x: other.predict(xgboost.DMatrix(x, nthread=1), output_margin=True), []

    groups = np.repeat(np.arange(len(sizes)), sizes)
    cat = catboost.CatBoost({"loss_function": "QueryRMSE", "iterations": 40, "depth": 5, "thread_count": 1, "verbose": 0, "allow_writing_files": False})
    pool = catboost.Pool(rows, labels, group_id=groups)
    cat.fit(pool)
    cat.save_model(folder / "catboost.json", format="json", pool=pool)
    yield "catboost.json", lambda x: cat.predict(x, thread_count=1, prediction_type="RawFormulaVal"), []


def thresholds(value):
    if isinstance(value, list):
        for part in value:
            yield from thresholds(part)
    elif isinstance(value, dict):
        if "split_feature" in value:
            yield value["split_feature"], value["threshold"]
        for part in value.values():
            yield from thresholds(part)


def tricky_rows(rng, rows, splits, n_rows):
    """Rows at and next to thresholds, and rows like those in training."""
    tricky = rows[rng.integers(0, len(rows), n_rows)].copy()
    for feature in range(rows.shape[1]):
        at = np.array(sorted({threshold for known, threshold in splits if known == feature}))
        if len(at) == 0:
            continue
        single = at.astype(np.float32)
        near = np.concatenate([
            at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), single,
            np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf)),
        ]).astype(np.float64)  # fmt: skip
        is_near = rng.random(n_rows) < 0.5
        tricky[:, feature] = np.where(is_near, rng.choice(near, n_rows), tricky[:, feature])
    tricky[rng.random(tricky.shape) < 0.05] = np.nan
    for value in [np.inf, -np.inf, 1e300, -1e300, 0.0, 1e-300]:
        tricky[rng.random(tricky.shape) < 0.005] = value
    return tricky


def write(rows, folder):
    names = [f"f{feature}" for feature in range(rows.shape[1])]
    texts = [[repr(value) for value in row] for row in rows.tolist()]
    lines = (" ".join(f"{feature}:{text}" for feature, text in enumerate(row)) for row in texts)
    (folder / "rows.txt").write_text("".join(f"0 qid:1 {line}\n" for line in lines))
    (folder / "rows.csv").write_text("\n".join([",".join(["label", "qid", *names]), *("0,1," + ",".join(row) for row in texts)]) + "\n")
    columns = {"label": np.zeros(len(rows)), "qid": np.ones(len(rows), np.int64)} | {name: rows[:, idx] for idx, name in enumerate(names)}
    pq.write_table(pa.table(columns), folder / "rows.parquet")


class Binary:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *args):
        done = subprocess.run(list(map(str, [self.path, *args, "--quiet"])), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr}")

    def scores(self, model, data):
        self.run("predict", self.folder / model, data, "--out", self.folder / "scores.txt")
        return np.array((self.folder / "scores.txt").read_text().split(), float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    n_scores, faults = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        binary = Binary(args.binary.resolve(), folder)
        rows, labels = training_rows(rng)
        all_models = list(models(rows, labels, folder))
        tricky = tricky_rows(rng, rows, [split for *_, splits in all_models for split in splits], args.rows)
        finite = np.where(np.isinf(tricky) | (np.abs(tricky) > 1e38), 7.0, tricky)
        for values, kind in [(tricky, "any"), (finite, "finite")]:
            write(values, folder)
            converted = [(source, target) for source in FORMATS for target in FORMATS if source != target]
            for source, target in converted:
                # LightGBM treats features that are absent from a LETOR line as 0.
                binary.run("convert-data", folder / f"rows.{source}", folder / f"from-{source}.{target}", "--absent", "zero")
            for model, predict, _ in all_models:
                is_exact = model.startswith("lightgbm")
                if is_exact != (kind == "any"):
                    continue
                theirs = predict(values)
                limit = 0.0 if is_exact else (2e-6 if model.startswith("xgboost") else 1e-12) * np.maximum(1, np.abs(theirs))
                files = [f"rows.{ending}" for ending in FORMATS]
                files += [f"from-{source}.{target}" for source, target in converted] if is_exact else []
                for data in files:
                    ours = binary.scores(model, folder / data)
                    n_scores += len(ours)
                    for row in np.flatnonzero(~(np.abs(ours - theirs) <= limit))[:SHOWN]:
                        faults.append(f"{model}, {data}: row {row} has {theirs[row]!r} there and {ours[row]!r} here: {values[row].tolist()}")
    print(f"values beyond f32: {n_scores:,} scores of LightGBM (exactly), XGBoost (to 2e-6) and CatBoost (to 1e-12), {len(faults)} differ")
    print("\n".join(faults[:40]), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.exit(main())
