"""Loads exported models in LightGBM, XGBoost, treelite and onnxruntime, and compares their scores with the model file.

    python3 peers/export.py BINARY [--models N] [--rows N] [--seed S]

Models are trained by the binary on random data with missing values, and by LightGBM and XGBoost. The expected scores are computed
here, from the model file as described in docs/model-file.md, for rows at and next to thresholds, and with missing and infinite
values if the program supports them. Programs that compute in f64 must give the same bits, others the same scores up to rounding
to f32. Formats whose programs cannot be installed (RankLib, Solr, XGBoost's dump) are read here in the same way as by their
programs. If scores differ, the first difference is shown and the exit code is 1.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import environment

environment.enter()

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import treelite  # noqa: E402
import xgboost  # noqa: E402

N_FEATURES = 6
F32_MAX = float(np.finfo(np.float32).max)
SLACK = np.float32(1e-6)


class Model:
    """The native model file, scored as documented."""

    def __init__(self, path):
        self.file = json.loads(Path(path).read_text())

    def rounded(self, rows):
        if self.file["precision"] == "f64":
            return rows
        with np.errstate(over="ignore"):
            return np.clip(rows.astype(np.float32), -F32_MAX, F32_MAX).astype(np.float64)

    def score(self, rows):
        """Scores, and the sums of the absolute values of their terms."""
        values = self.rounded(rows)
        scores = np.full(len(rows), self.file["base_score"])
        sizes = np.abs(scores)
        for tree in self.file["trees"]:
            leaves = np.array(tree["leaf_value"])[self.walk(tree, values)]
            scores = scores + leaves
            sizes = sizes + np.abs(leaves)
        return scores, sizes

    def walk(self, tree, values):
        places = np.full(len(values), 0 if tree["feature"] else -1)
        columns = np.array(self.file["features"], dtype=int)[tree["feature"]] if tree["feature"] else None
        while (inner := places >= 0).any():
            node = places[inner]
            value = values[inner, columns[node]]
            missing = np.isnan(value)
            left = np.where(missing, np.array(tree["missing_left"])[node], value <= np.array(tree["threshold"])[node])
            places[inner] = np.where(left, np.array(tree["left"])[node], np.array(tree["right"])[node])
        return -places - 1

    def thresholds(self):
        found = [threshold for tree in self.file["trees"] for threshold in tree["threshold"]]
        return np.array(found or [0.5])

    def bound(self, sizes):
        """The largest error from rounding leaves and every sum to f32."""
        return (len(self.file["trees"]) + 3) * sizes * 2.0**-24 + 1e-37


def rows_for(model, rng, n):
    """Values at and next to thresholds, and missing and infinite values."""
    near = rng.choice(model.thresholds(), (n, N_FEATURES))
    kind = rng.integers(0, 12, near.shape)
    rows = np.where(kind < 3, near, rng.normal(size=near.shape))
    rows = np.where(kind == 3, np.nextafter(near, np.inf), rows)
    rows = np.where(kind == 4, np.nextafter(near, -np.inf), rows)
    with np.errstate(over="ignore"):
        rows = np.where(kind == 5, np.nextafter(near.astype(np.float32), np.float32(np.inf)), rows)
    rows = np.where(kind == 6, np.nan, rows)
    rows = np.where(kind == 7, rng.choice([np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-300], near.shape), rows)
    return rows


def narrow(rows, infinite=False):
    """The rows as f32."""
    with np.errstate(over="ignore"):
        rows = rows.astype(np.float32)
    return rows if infinite else np.where(np.isinf(rows), np.float32(7.5), rows)


def training_data(rng, n=1500):
    """Features on several scales, with informative missing values, and one that is either present or missing."""
    data = rng.normal(size=(n, N_FEATURES)) * [1, 100, 1e-3, 1, 1, 1]
    data[:, 3] = np.round(data[:, 3])
    data[:, 4] = 1.0
    score = data[:, 0] + data[:, 1] / 100 + np.abs(data[:, 3]) + 300 * data[:, 2]
    for feature, share in [(0, 0.2), (1, 0.4), (4, 0.5)]:
        missing = rng.random(n) < share
        score = score + np.where(missing, rng.choice([-1.5, 1.5]), 0)
        data[missing, feature] = np.nan
    labels = np.digitize(score + 0.2 * rng.normal(size=n), [-1, 0, 1, 2])
    return data, labels


class Refused(Exception):
    """A threshold that Solr cannot represent, so there is nothing to compare."""


class Export:
    """One model in one format, with the expected scores of its rows."""

    def __init__(self, run, model_file, target, *options):
        self.run, self.target = run, target
        if target in ["lightgbm", "xgboost", "onnx", "c"]:
            options = (*options, "--columns", N_FEATURES)
        self.out = run.folder / f"model-{target}.json"
        run.binary("convert", model_file, "--to", target, "--out", self.out, *options)

    def check(self, peer, found, scores, bound=None):
        found = np.asarray(found, dtype=np.float64).reshape(-1)
        far = found != scores if bound is None else ~(np.abs(found - scores) <= bound)
        self.run.n_scores += len(scores)
        self.run.peers.add(f"{self.target} in {peer}")
        if far.any():
            row = int(np.flatnonzero(far)[0])
            print(f"{self.run.what}: {self.target} in {peer}: {far.sum()} of {len(scores)} scores differ, first in row {row}:")
            print(f"  {found[row]!r} where {scores[row]!r} should be, off by {found[row] - scores[row]:e}")
            sys.exit(1)


class Run:
    def __init__(self, binary, folder):
        self.program, self.folder = binary, folder
        self.what, self.n_scores, self.peers = "", 0, set()

    def binary(self, *args):
        done = subprocess.run([self.program, *map(str, args), "--quiet"], capture_output=True, text=True)
        if done.returncode == 2 and "solr adds 0.000001 to thresholds" in done.stderr:
            raise Refused
        if done.returncode != 0:
            print(f"{self.what}: rankwise {' '.join(map(str, args))}: {done.stderr}")
            sys.exit(1)

    def native(self, rng, n_rows, objective):
        """One of our models, in every format."""
        data, labels = training_data(rng)
        # Values that differ only beyond f32 would make a model that f32 formats cannot represent.
        data = data.astype(np.float32)
        lines = []
        for row, label in enumerate(labels):
            values = " ".join(f"{f}:{v!r}" for f, v in enumerate(data[row].tolist()) if f > 0 and not np.isnan(v))
            lines.append(f"{label} qid:{row // 15} {values}\n")
        (self.folder / "train.txt").write_text("".join(lines))
        model_file = self.folder / "model.json"
        settings = {"num_trees": 25, "num_leaves": 12, "min_data_in_leaf": 5, "learning_rate": 0.2}
        options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.binary("train", self.folder / "train.txt", "--objective", objective, "--out", model_file, *options)
        model = Model(model_file)
        rows = rows_for(model, rng, n_rows)
        self.wide_targets(model_file, model, rows)
        self.narrow_targets(model_file, model, rows)
        self.zero_targets(model_file, model, rows)

    def wide_targets(self, model_file, model, rows):
        scores, _ = model.score(rows)
        export = Export(self, model_file, "lightgbm")
        export.check("LightGBM", lightgbm.Booster(model_file=str(export.out)).predict(rows), scores)
        loaded = treelite.frontend.load_lightgbm_model(export.out)
        export.check("treelite", treelite.gtil.predict(loaded, rows, nthread=1), scores)
        compiler = shutil.which("cc")
        export = Export(self, model_file, "c")
        if not compiler:
            environment.skip("exports to C in peers/export.py", "there is no C compiler 'cc'")
        else:
            library = self.folder / f"model{self.n_scores}.so"
            command = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-x", "c", export.out, "-o", library]
            subprocess.run(command, check=True)
            function = ctypes.CDLL(str(library)).rankwise_score
            function.restype = ctypes.c_double
            pointers = [np.ascontiguousarray(row).ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for row in rows]
            export.check("cc", [function(pointer) for pointer in pointers], scores)

    def narrow_targets(self, model_file, model, rows, *options):
        finite = narrow(rows)
        scores, sizes = model.score(finite.astype(np.float64))
        bound = model.bound(sizes)
        export = Export(self, model_file, "xgboost", *options)
        found = xgboost.Booster(model_file=str(export.out)).predict(xgboost.DMatrix(finite), output_margin=True)
        export.check("XGBoost", found, scores, bound)
        loaded = treelite.frontend.load_xgboost_model(export.out, format_choice="json")
        export.check("treelite", treelite.gtil.predict(loaded, finite, nthread=1), scores, bound)
        wild = narrow(rows, infinite=model.file["precision"] == "f32")
        scores, sizes = model.score(wild.astype(np.float64))
        export = Export(self, model_file, "onnx", *options)
        session = onnxruntime.InferenceSession(str(export.out), providers=["CPUExecutionProvider"])
        (found,) = session.run(None, {"values": np.ascontiguousarray(wild)})
        export.check("onnxruntime", found, scores, model.bound(sizes))

    def neural(self, rng):
        """Networks, list by list, against `predict`: their scores are not computed here."""
        data, labels = training_data(rng)
        data, n_docs = narrow(data), 15
        lines = []
        for row, label in enumerate(labels):
            values = " ".join(f"{f}:{v!r}" for f, v in enumerate(data[row].tolist()) if f > 0 and not np.isnan(v))
            lines.append(f"{label} qid:{row // n_docs} {values}\n")
        train, model_file, out = (self.folder / name for name in ["train.txt", "neural.json", "scores.txt"])
        train.write_text("".join(lines))
        for network, norm, scaling in [
            ("attention", "layer", "standard"),
            ("attention", "none", "query"),
            ("mlp", "batch", "standard"),
        ]:
            settings = {"learner": "neural", "epochs": 3, "network": network, "norm": norm, "scaling": scaling}
            options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            self.binary("train", train, "--out", model_file, *options)
            self.binary("predict", model_file, train, "--out", out)
            scores = np.loadtxt(out)
            export = Export(self, model_file, "onnx")
            session = onnxruntime.InferenceSession(str(export.out), providers=["CPUExecutionProvider"])
            lists = np.split(data, range(n_docs, len(data), n_docs))
            found = np.concatenate([session.run(None, {"values": rows})[0] for rows in lists])
            export.check(f"onnxruntime, {network} with norm {norm}", found, scores, 1e-4 * max(1, np.abs(scores).max()))

    def zero_targets(self, model_file, model, rows, *options):
        """Formats that treat missing values as 0, read in the same way as by their programs."""
        known = np.nan_to_num(narrow(rows), nan=0.0)
        scores, sizes = model.score(known.astype(np.float64))
        for target, reader in [("xgboost-dump", read_dump), ("solr", read_solr), ("ranklib", read_ranklib)]:
            try:
                export = Export(self, model_file, target, "--missing-as-zero", *options)
            except Refused:
                continue
            trees = reader(export.out)
            found = [sum((tree(row) for tree in trees), np.float32(0)) for row in known[:500]]
            export.check("this script", found, scores[:500], model.bound(sizes)[:500])

    def foreign(self, rng, n_rows):
        """Models of LightGBM and XGBoost, in the other's format and in ONNX."""
        data, labels = training_data(rng)
        sizes = np.full(len(labels) // 15, 15)
        train = lightgbm.Dataset(data, labels, group=sizes)
        settings = {"objective": "lambdarank", "num_leaves": 12, "verbose": -1, "num_threads": 1}
        theirs = lightgbm.train(settings, train, 20)
        path = self.folder / "lightgbm.txt"
        theirs.save_model(path)
        rows = narrow(rng.normal(size=(n_rows, N_FEATURES)) * [1, 100, 1e-3, 1, 1, 1])
        rows[rng.random(rows.shape) < 0.2] = np.nan
        scores = theirs.predict(rows.astype(np.float64))
        # Thresholds are f64, but all these values are f32, so none changes sides.
        bound = 1e-5 * (1 + np.abs(scores))
        export = Export(self, path, "xgboost", "--allow-rounding")
        found = xgboost.Booster(model_file=str(export.out)).predict(xgboost.DMatrix(rows), output_margin=True)
        export.check("XGBoost, of LightGBM", found, scores, bound)
        export = Export(self, path, "onnx", "--allow-rounding")
        session = onnxruntime.InferenceSession(str(export.out), providers=["CPUExecutionProvider"])
        export.check("onnxruntime, of LightGBM", session.run(None, {"values": rows})[0], scores, bound)
        export = Export(self, path, "lightgbm")
        wide = np.where(np.isnan(rows), np.nan, rng.choice(list(thresholds_of(theirs)), rows.shape))
        found = lightgbm.Booster(model_file=str(export.out)).predict(wide)
        export.check("LightGBM, of LightGBM", found, theirs.predict(wide))

        theirs = xgboost.train({"objective": "rank:ndcg", "max_depth": 4, "nthread": 1}, ranking_matrix(data, labels), 20)
        path = self.folder / "xgboost.json"
        theirs.save_model(path)
        scores = theirs.predict(xgboost.DMatrix(rows), output_margin=True).astype(np.float64)
        # XGBoost splits at 0, and LightGBM treats values within 1e-35 of 0 as 0; none of these values is that small.
        export = Export(self, path, "lightgbm", "--allow-rounding")
        found = lightgbm.Booster(model_file=str(export.out)).predict(rows.astype(np.float64))
        export.check("LightGBM, of XGBoost", found, scores, 1e-5 * (1 + np.abs(scores)))


def ranking_matrix(data, labels):
    return xgboost.DMatrix(data.astype(np.float32), labels, qid=np.arange(len(labels)) // 15)


def thresholds_of(booster):
    for tree in booster.dump_model()["tree_info"]:
        nodes = [tree["tree_structure"]]
        while nodes:
            node = nodes.pop()
            if "threshold" in node:
                yield node["threshold"]
                nodes += [node["left_child"], node["right_child"]]


def read_dump(path):
    """As in the Elasticsearch plugin: values below the condition go to `yes`."""

    def tree(root):
        def score(row):
            node = root
            while "leaf" not in node:
                side = "yes" if np.float32(node["split_condition"]) > row[int(node["split"][1:])] else "no"
                (node,) = [child for child in node["children"] if child["nodeid"] == node[side]]
            return np.float32(node["leaf"])

        return score

    return [tree(root) for root in json.loads(path.read_text())]


def read_solr(path):
    """As in Solr: values up to the threshold plus a slack go left."""

    def tree(root):
        def score(row):
            node = root
            while "feature" in node:
                last = np.float32(node["threshold"]) + SLACK
                node = node["left"] if row[int(node["feature"][1:])] <= last else node["right"]
            return np.float32(node["value"])

        return score

    return [tree(entry["root"]) for entry in json.loads(path.read_text())["params"]["trees"]]


def read_ranklib(path):
    """As in RankLib: lines without comments, children in order."""
    text = "".join(line.strip() for line in path.read_text().splitlines() if not line.startswith("##"))

    def tree(root):
        def score(row):
            node = root
            while node[0].tag == "feature":
                is_left = row[int(node[0].text)] <= np.float32(node[1].text)
                node = node[2] if is_left else node[3]
            return np.float32(node[0].text)

        return score

    return [tree(element[0]) for element in ElementTree.fromstring(text)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(args.binary).resolve(), Path(folder))
        for idx in range(args.models):
            run.what = f"model {idx}, seed {args.seed}"
            rng = np.random.default_rng([args.seed, idx])
            run.native(rng, args.rows, ["lambdamart", "rmse"][idx % 2])
            run.foreign(rng, args.rows)
            run.neural(rng)
    print(f"exports: {run.n_scores} scores of {args.models} models agree, in {len(run.peers)} formats and programs")


if __name__ == "__main__":
    main()
