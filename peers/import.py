"""Compares the scores of imported models with those of the libraries that trained them: LightGBM, XGBoost and CatBoost.

    python3 peers/import.py BINARY [--rows N] [--seed S] [--keep FOLDER]

Small models of every kind are trained and saved; the real binary scores the same rows with each. Most values are exactly at
a threshold of some model or one f32 next to it; others are missing, zero or infinite. LightGBM's scores must be identical to
the last bit, from text and from JSON, CatBoost's to 1e-12. XGBoost adds leaves in f32: its scores must agree to the precision
of f32, and exactly if our leaves are added in the same way. Models that cannot be expressed must be rejected, with exit
code 2. If scores differ, the first differences are shown with their rows and the exit code is 1.

    python3 peers/import.py --golden crates/rankwise-formats/tests/data

writes the small files for the tests of `rankwise-formats`.
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

N_FEATURES = 6
N_TRAIN = 4000
QUERY_DOCS = 20
MAX_F32 = np.finfo(np.float32).max
# LightGBM writes the space as an underscore.
NAMES = ["price", "clicks", "age", "title match", "stock", "freshness"]
SHOWN = 5


class Data:
    """The training data: smooth, coarse, mostly zero and missing features, labels from 0 to 4."""

    def __init__(self, rng, has_missing=True):
        rows = rng.normal(size=(N_TRAIN, N_FEATURES)).astype(np.float32)
        rows[:, 1] = rng.integers(-3, 8, N_TRAIN)
        rows[:, 2] = np.exp(2 * rows[:, 2])
        rows[rng.random(N_TRAIN) < 0.5, 3] = 0
        if has_missing:
            rows[:, 4][rng.random(N_TRAIN) < 0.3] = np.nan
            rows[:, 1][rng.random(N_TRAIN) < 0.1] = np.nan
        known = np.nan_to_num(rows, nan=0.7)
        signal = known[:, 0] - 0.2 * known[:, 1] + np.sin(known[:, 4]) + (known[:, 3] > 0) * known[:, 5]
        noise = rng.normal(scale=0.3, size=N_TRAIN)
        ranks = np.argsort(np.argsort(signal + noise))
        self.rows, self.labels, self.target = rows, ranks * 5 // N_TRAIN, signal + noise
        self.sizes = np.full(N_TRAIN // QUERY_DOCS, QUERY_DOCS)
        self.groups = np.repeat(np.arange(len(self.sizes)), self.sizes)


class Model:
    """A model in a file, and its own library's scores of rows."""

    def __init__(self, family, name, path, predict, splits, takes_infinite=True, is_named=False, options=()):
        self.family, self.name, self.path, self.predict, self.is_named = family, name, path, predict, is_named
        # Additional arguments for the binary.
        self.options = options
        # Pairs of a feature and a threshold.
        self.splits = splits
        self.takes_infinite = takes_infinite

    def __str__(self):
        return f"{self.family}, {self.name} ({self.path.suffix})"


def nested(value, key):
    """All objects nested in a value that have a key."""
    if isinstance(value, list):
        for part in value:
            yield from nested(part, key)
    elif isinstance(value, dict):
        if key in value:
            yield value
        for part in value.values():
            yield from nested(part, key)


def lightgbm_models(rng, folder, n_trees, n_leaves):
    import lightgbm

    def train(name, data, params, weight=None, names="auto"):
        params = {"num_leaves": n_leaves, "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, "seed": 7} | params
        label = data.target if params["objective"] == "regression" else data.labels
        label = (label > 2) if params["objective"] == "binary" else label
        group = data.sizes if params["objective"] == "lambdarank" else None
        # The parameters of the dataset decide what counts as missing.
        train = lightgbm.Dataset(data.rows, label, group=group, feature_name=names, params=params, **(weight or {}))
        booster = lightgbm.train(params, train, n_trees)
        text, dump = folder / f"lightgbm-{name}.txt", folder / f"lightgbm-{name}.json"
        booster.save_model(text)
        dump.write_text(json.dumps(booster.dump_model()))
        splits = [(s["split_feature"], s["threshold"]) for s in nested(booster.dump_model(), "split_feature")]
        # The scores must not depend on the number of threads of the machine.
        predict = lambda rows: booster.predict(rows, raw_score=True, num_threads=1)  # noqa: E731
        return [Model("LightGBM", name, path, predict, splits, is_named=names != "auto") for path in (text, dump)]

    full, present, growing = Data(rng), Data(rng, has_missing=False), Data(rng, has_missing=False)
    # Zero is the smallest value, so it goes with small values anyway, and every node has some zeros.
    growing.rows = np.abs(growing.rows) * (growing.rows > -0.5)
    growing.target = growing.rows[:, 0].astype(float)
    yield from train("regression", full, {"objective": "regression"})
    yield from train("nothing-missing", present, {"objective": "regression"})
    yield from train("lambdarank", full, {"objective": "lambdarank"}, names=NAMES)
    yield from train("binary", full, {"objective": "binary"})
    yield from train("use-missing-false", full, {"objective": "regression", "use_missing": False})
    yield from train("dart", full, {"objective": "regression", "boosting": "dart", "drop_rate": 0.5})
    yield from train("bagging", full, {"objective": "lambdarank", "bagging_fraction": 0.5, "bagging_freq": 1})
    yield from train("zero-as-missing", growing, {"objective": "regression", "zero_as_missing": True, "num_leaves": 2})
    yield from train("constant", full, {"objective": "regression", "min_data_in_leaf": N_TRAIN})


def xgboost_models(rng, folder, n_trees, n_leaves):
    import xgboost

    def train(name, data, params, names=None):
        params = {"max_leaves": n_leaves, "nthread": 1, "verbosity": 0, "seed": 7} | params
        objective = params["objective"]
        label = data.labels if objective.startswith("rank:") else data.target
        label = (data.labels > 2) if "logi" in objective else label
        matrix = xgboost.DMatrix(data.rows, label, feature_names=names, nthread=1)
        if objective.startswith("rank:"):
            matrix.set_group(data.sizes)
        booster = xgboost.train(params, matrix, n_trees)
        models = save(name, booster, names)
        return booster, models

    def save(name, booster, names):
        text, binary = folder / f"xgboost-{name}.json", folder / f"xgboost-{name}.ubj"
        booster.save_model(text)
        booster.save_model(binary)
        splits = []
        for tree in nested(json.loads(text.read_text()), "split_conditions"):
            parts = zip(tree["left_children"], tree["split_indices"], tree["split_conditions"])
            splits += [(feature, condition) for left, feature, condition in parts if left >= 0]

        def predict(rows):
            return booster.predict(xgboost.DMatrix(rows, feature_names=names, nthread=1), output_margin=True)

        return [
            Model("XGBoost", name, path, predict, splits, takes_infinite=False, is_named=names is not None)
            for path in (text, binary)
        ]

    full, present = Data(rng), Data(rng, has_missing=False)
    lossguide = {"grow_policy": "lossguide", "max_depth": 0}
    yield from train("squarederror", full, {"objective": "reg:squarederror"})[1]
    yield from train("nothing-missing", present, {"objective": "reg:squarederror", **lossguide})[1]
    yield from train("logistic", full, {"objective": "binary:logistic"})[1]
    yield from train("reg-logistic", full, {"objective": "reg:logistic", "base_score": 0.9})[1]
    yield from train("pseudohuber", full, {"objective": "reg:pseudohubererror"})[1]
    yield from train("names", full, {"objective": "rank:pairwise", **lossguide}, names=NAMES)[1]
    yield from train("exact", full, {"objective": "reg:squarederror", "tree_method": "exact", "max_leaves": 0})[1]
    yield from train("forest", full, {"objective": "reg:squarederror", "num_parallel_tree": 3, "subsample": 0.5})[1]
    for name, more in [("ndcg-depthwise", {}), ("ndcg-lossguide", lossguide)]:
        booster, models = train(name, full, {"objective": "rank:ndcg", "base_score": 0, **more})
        yield from models
        # With base score 0, a model of one tree returns the tree's leaf.
        models[0].leaves = [save(f"{name}-tree{tree}", booster[tree], None)[0] for tree in range(n_trees)]
    yield from early_stopped(save, n_trees, n_leaves)


def early_stopped(save, n_trees, n_leaves):
    """A ranker that uses the trees up to the best iteration, and its booster, which uses all."""
    import xgboost

    # Separate random numbers, so that the models after it do not change.
    rng = np.random.default_rng(5)
    data = Data(rng)
    ranker = xgboost.XGBRanker(
        objective="rank:ndcg", n_estimators=n_trees, max_leaves=n_leaves, early_stopping_rounds=2, n_jobs=1
    )
    noise = [(data.rows, rng.permutation(data.labels))]
    ranker.fit(data.rows, data.labels, group=data.sizes, eval_set=noise, eval_group=[data.sizes], verbose=False)
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    for model in save("best-iteration", ranker.get_booster(), None):
        yield Model("XGBoost", "all-iterations", model.path, model.predict, model.splits, False, options=("--trees", "all"))
        model.predict = ranker.predict
        yield model


def catboost_models(rng, folder, n_trees, n_leaves):
    import catboost

    def train(name, data, params, names=None):
        common = {"iterations": n_trees, "depth": 4, "border_count": 4 * n_leaves, "random_seed": 7}
        params = common | {"thread_count": 1, "verbose": False, "allow_writing_files": False} | params
        is_ranking = params["loss_function"] in ("YetiRank", "QueryRMSE")
        label = data.labels if is_ranking else data.target
        label = (data.labels > 2).astype(int) if params["loss_function"] == "Logloss" else label
        pool = catboost.Pool(data.rows, label, group_id=data.groups if is_ranking else None, feature_names=names)
        model = catboost.CatBoost(params)
        model.fit(pool)
        path = folder / f"catboost-{name}.json"
        model.save_model(path, format="json", pool=pool)
        splits = [(s["float_feature_index"], s["border"]) for s in nested(json.loads(path.read_text()), "border")]

        def predict(rows):
            return model.predict(catboost.Pool(rows, feature_names=names), thread_count=1, prediction_type="RawFormulaVal")

        return Model("CatBoost", name, path, predict, splits, is_named=names is not None)

    full, present = Data(rng), Data(rng, has_missing=False)
    by_leaf = {"grow_policy": "Lossguide", "max_leaves": n_leaves}
    yield train("rmse-min", full, {"loss_function": "RMSE", "nan_mode": "Min"})
    yield train("rmse-max", full, {"loss_function": "RMSE", "nan_mode": "Max"})
    yield train("nothing-missing", present, {"loss_function": "RMSE"})
    yield train("yetirank", full, {"loss_function": "YetiRank"}, names=NAMES)
    yield train("queryrmse", full, {"loss_function": "QueryRMSE"})
    yield train("logloss", full, {"loss_function": "Logloss"})
    yield train("lossguide", full, {"loss_function": "RMSE", "nan_mode": "Min", **by_leaf})
    yield train("lossguide-max", full, {"loss_function": "RMSE", "nan_mode": "Max", **by_leaf})
    yield train("depthwise", full, {"loss_function": "QueryRMSE", "grow_policy": "Depthwise"})


def refused_models(rng, folder):
    """Models that cannot be imported, with a part of the expected message."""
    import catboost
    import lightgbm
    import xgboost

    data = Data(rng, has_missing=False)
    kinds = np.abs(data.rows[:, 1]).astype(int) * 7 % 11
    rows = np.column_stack([kinds, data.rows[:, 0]])
    target = (kinds % 3) + data.rows[:, 0]

    def lightgbm_model(name, **params):
        params = {"objective": "regression", "num_threads": 1, "verbose": -1, "num_leaves": 5} | params
        label = data.labels if "num_class" in params else target
        of = lightgbm.Dataset(rows, label, categorical_feature=params.pop("categorical", []), params=params)
        booster = lightgbm.train(params, of, 3)
        booster.save_model(folder / f"{name}.txt")
        (folder / f"{name}.json").write_text(json.dumps(booster.dump_model()))
        return [folder / f"{name}.txt", folder / f"{name}.json"]

    def xgboost_model(name, **params):
        params = {"objective": "reg:squarederror", "nthread": 1, "verbosity": 0} | params
        label = data.labels if "num_class" in params else target
        label = (data.labels > 2) if "binary" in params["objective"] else np.abs(label)
        types = ["c", "q"] if params.pop("categorical", False) else None
        matrix = xgboost.DMatrix(rows, label, feature_types=types, enable_categorical=True, nthread=1)
        booster = xgboost.train(params, matrix, 3)
        for suffix in ["json", "ubj"]:
            booster.save_model(folder / f"{name}.{suffix}")
        return [folder / f"{name}.json", folder / f"{name}.ubj"]

    def catboost_model(name, categorical=(), scale=None, **params):
        params = {"iterations": 3, "thread_count": 1, "verbose": False, "allow_writing_files": False} | params
        table = [[int(row[0]), float(row[1])] for row in rows]
        label = data.labels if params["loss_function"] == "MultiClass" else target
        pool = catboost.Pool(table, label, cat_features=list(categorical))
        model = catboost.CatBoost(params)
        model.fit(pool)
        if scale:
            model.set_scale_and_bias(scale, [0])
        model.save_model(folder / f"{name}.json", format="json", pool=pool)
        return [folder / f"{name}.json"]

    rmse = {"loss_function": "RMSE"}
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    for paths, words in [
        (lightgbm_model("l-categorical", categorical=[0], min_data_per_group=1, cat_smooth=0), "has categorical splits"),
        (lightgbm_model("l-multiclass", objective="multiclass", num_class=5), "has several outputs per document"),
        (lightgbm_model("l-forest", **forest), "is a random forest"),
        (lightgbm_model("l-linear", linear_tree=True), "has linear models in its leaves"),
        (lightgbm_model("l-zero", zero_as_missing=True), "treats zeros specially"),
        (xgboost_model("x-categorical", categorical=True), "has categorical splits"),
        (xgboost_model("x-multiclass", objective="multi:softprob", num_class=5), "has several outputs per document"),
        (xgboost_model("x-dart", booster="dart", rate_drop=0.5), "is a dart booster"),
        (xgboost_model("x-linear", booster="gblinear"), "is a gblinear booster"),
        (xgboost_model("x-raw", objective="binary:logitraw"), "has the objective binary:logitraw"),
        (xgboost_model("x-poisson", objective="count:poisson"), "has the objective count:poisson"),
        (catboost_model("c-categorical", categorical=[0], **rmse), "has categorical splits"),
        (catboost_model("c-one-hot", categorical=[0], one_hot_max_size=50, **rmse), "has categorical splits"),
        (catboost_model("c-multiclass", loss_function="MultiClass"), "has several outputs per document"),
        (catboost_model("c-scaled", scale=2, **rmse), "scales the sum of its trees"),
    ]:
        for path in paths:
            yield path, words


def tricky_rows(rng, models, n_rows):
    """Rows at and next to thresholds, with missing, zero, tiny and huge values."""
    rows = np.empty((n_rows, N_FEATURES), np.float32)
    spread = rng.choice([0.5, 1, 3, 1000], (n_rows, N_FEATURES))
    for feature in range(N_FEATURES):
        found = {threshold for model in models for known, threshold in model.splits if known == feature}
        at = np.array(sorted(found), float).clip(-MAX_F32, MAX_F32).astype(np.float32)
        # The largest f32 replaces infinite values.
        at = at[np.abs(at) < MAX_F32]
        near = np.concatenate([at, np.nextafter(at, np.float32(np.inf)), np.nextafter(at, np.float32(-np.inf))])
        near = np.unique(np.concatenate([near, np.float32([0, 1e-35, -1e-35, 1e-34, 1e-45, -1e-45, 1e38, -1e38])]))
        is_near = rng.random(n_rows) < 0.7
        rows[:, feature] = np.where(is_near, rng.choice(near, n_rows), rng.normal(size=n_rows) * spread[:, feature])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def write_letor(path, rows):
    columns = [[f"{feature}:{value!r}" for value in column] for feature, column in enumerate(rows.T.tolist())]
    path.write_text("".join(f"0 qid:1 {line}\n" for line in map(" ".join, zip(*columns))))


def write_csv(path, rows):
    """Columns by name, in another order, with one that no model uses."""
    columns = {"qid": [1] * len(rows), "unknown": rows[:, 0].tolist()} | dict(zip(NAMES, rows.T.tolist()))
    names = sorted(columns)
    lines = zip(*[map(repr, columns[name]) for name in names])
    path.write_text("\n".join([",".join(names), *map(",".join, lines)]) + "\n")


class Comparison:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.n_values, self.n_models, self.problems = {}, {}, []

    def run(self, model, data, options=()):
        call = [self.binary, "predict", model, data, "--out", self.folder / "scores.txt", "--quiet", *options]
        return subprocess.run(list(map(str, call)), capture_output=True, text=True)

    def scores(self, model, data, options=()):
        done = self.run(model, data, options)
        if done.returncode != 0:
            self.problems.append(f"{model}: exit {done.returncode}: {done.stderr.strip()}")
            return None
        return np.array((self.folder / "scores.txt").read_text().split(), float)

    def check(self, what, how, ours, theirs, limit, rows):
        """Compares scores; `limit` is the largest allowed difference."""
        self.n_values[what.family, how] = self.n_values.get((what.family, how), 0) + len(theirs)
        # Written in this way, because a comparison with NaN is always false.
        bad = np.flatnonzero(~(np.abs(ours - theirs) <= limit))
        for row in bad[:SHOWN]:
            self.problems.append(
                f"{what}, {how}: row {row} has {theirs[row]!r} there and {ours[row]!r} here: {rows[row].tolist()}"
            )
        if len(bad) > SHOWN:
            self.problems.append(f"{what}, {how}: {len(bad) - SHOWN:,} more rows of {len(theirs):,}")

    def report(self):
        for (family, how), n_values in self.n_values.items():
            print(f"{family}: {n_values:,} scores agree {how}, from {self.n_models[family]} files")
        if self.problems:
            print(f"\n{len(self.problems)} problems:", file=sys.stderr)
            print("\n".join(self.problems[:40]), file=sys.stderr)
            sys.exit(1)


def compare(comparison, models, rng, folder, n_rows):
    finite = tricky_rows(rng, models, n_rows)
    infinite = finite.copy()
    for value in [np.inf, -np.inf]:
        infinite[rng.random(finite.shape) < 0.02] = value
    for name, rows in [("finite", finite), ("infinite", infinite)]:
        write_letor(folder / f"{name}.txt", rows)
        write_csv(folder / f"{name}.csv", rows)
    of_text = {}
    for model in models:
        name, rows = ("infinite", infinite) if model.takes_infinite else ("finite", finite)
        family = model.family
        comparison.n_models[family] = comparison.n_models.get(family, 0) + 1
        data = folder / f"{name}.{'csv' if model.is_named else 'txt'}"
        ours = comparison.scores(model.path, data, model.options)
        if ours is None:
            continue
        theirs = model.predict(rows)
        if family == "LightGBM":
            comparison.check(model, "exactly", ours, theirs, 0.0, rows)
        elif family == "CatBoost":
            comparison.check(model, "to 1e-12", ours, theirs, 1e-12 * np.maximum(1, np.abs(theirs)), rows)
        else:
            comparison.check(model, "to 2e-6", ours, theirs, 2e-6 * np.maximum(1, np.abs(theirs)), rows)
            twin = of_text.setdefault(model.name, ours)
            comparison.check(model, "exactly with the other format", ours, twin, 0.0, rows)
        if hasattr(model, "leaves"):
            leaves = [comparison.scores(leaf.path, folder / f"{name}.txt") for leaf in model.leaves]
            total = np.zeros(len(rows), np.float32)
            for leaf in leaves:
                total += leaf.astype(np.float32)
            comparison.check(model, "exactly as sums of f32", total, theirs, 0.0, rows)


def without_options(path):
    """The file; for CatBoost without the 15 kB about its training."""
    if not path.name.startswith("catboost"):
        return path.read_bytes()
    content = json.loads(path.read_text())
    loss = content["model_info"]["params"]["loss_function"]
    content["model_info"] = {"params": {"loss_function": loss}}
    return (json.dumps(content, indent=0) + "\n").encode()


def golden(folder):
    """Small files of every format, with rows and their scores by the libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(11)
    wanted = {
        "lightgbm-regression.txt", "lightgbm-regression.json", "lightgbm-lambdarank.txt", "lightgbm-lambdarank.json",
        "lightgbm-nothing-missing.txt", "xgboost-ndcg-depthwise.json", "xgboost-names.ubj", "xgboost-logistic.json",
        "xgboost-squarederror.ubj", "catboost-rmse-min.json", "catboost-rmse-max.json", "catboost-yetirank.json",
        "catboost-lossguide.json",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        makers = [lightgbm_models, xgboost_models, catboost_models]
        models = [model for maker in makers for model in maker(rng, Path(scratch), 3, 5) if model.path.name in wanted]
        assert {model.path.name for model in models} == wanted
        rows = tricky_rows(rng, models, 24)
        for model in models:
            (folder / model.path.name).write_bytes(without_options(model.path))
    scores = {model.path.name: [float(score) for score in model.predict(rows)] for model in models}
    as_json = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
    lines = [json.dumps(row) for row in as_json]
    of_files = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(scores.items())]
    (folder / "golden.json").write_text(
        '{"rows": [\n' + ",\n".join(lines) + '\n], "scores": {\n' + ",\n".join(of_files) + "\n}}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--golden", type=Path)
    args = parser.parse_args()
    if args.golden:
        return golden(args.golden)
    if not args.binary:
        parser.error("which binary?")
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(args.seed)
        makers = [lightgbm_models, xgboost_models, catboost_models]
        models = [model for maker in makers for model in maker(rng, folder, 10, 15)]
        comparison = Comparison(args.binary.resolve(), folder)
        compare(comparison, models, rng, folder, args.rows)
        n_refused = 0
        for path, words in refused_models(rng, folder):
            done = comparison.run(path, folder / "finite.txt")
            n_refused += 1
            if done.returncode != 2 or words not in done.stderr:
                comparison.problems.append(f"{path.name}: exit {done.returncode}, not '{words}': {done.stderr.strip()}")
        comparison.report()
        print(f"{n_refused} files that cannot be expressed are refused")


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
