"""Compares the gradients of the real binary with those of LightGBM and XGBoost.

    python3 peers/objectives.py BINARY [--sets N] [--seed S]

Random datasets of a few short queries. The binary grows trees that separate documents as far as that gains something; the value
of a leaf is -G/(H + l2), with the sums of its documents' gradients and Hessians. The peers' gradients at the same scores are
derived from a tree with one document per leaf: it is grown on other labels and gets new leaf values for the ranking objective
(LightGBM's refit, XGBoost's refresh), once without regularisation and once with very strong regularisation. Both values give g
and h. Every tree is checked at the scores after the trees before it. If values differ, the first differences are shown and the
exit code is 1.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import environment

environment.enter()

import lightgbm as lgb  # noqa: E402
import numpy as np  # noqa: E402
import xgboost as xgb  # noqa: E402

warnings.filterwarnings("ignore")
SHOWN = 5
# The peers compute in f32, LightGBM with a table of the sigmoid function.
TOLERANCE = 3e-4
TREES = 3
L2 = 0.5
LEARNING_RATE = 0.5
# Regularisation so strong that a leaf's value is the gradient.
GREAT = 1e6


class Data:
    """Queries of one length, with labels and weights, and features that separate all documents."""

    def __init__(self, rng, grades, weights):
        self.n_queries, self.n_docs = int(rng.integers(2, 7)), int(rng.integers(3, 16))
        n = self.n_queries * self.n_docs
        self.features = np.column_stack([rng.permutation(n) for _ in range(4)]).astype(float)
        self.labels = rng.integers(0, grades, n)
        # Every query has documents with different labels.
        self.labels[:: self.n_docs], self.labels[1 :: self.n_docs] = 0, 1
        self.labels = np.concatenate([rng.permutation(part) for part in self.by_query(self.labels)])
        self.row_weights = rng.integers(1, 5, n) / 2 if weights == "rows" else None
        self.query_weights = rng.integers(1, 5, self.n_queries) / 2 if weights == "queries" else None

    def by_query(self, column):
        return np.split(column, self.n_queries)

    def groups(self):
        return [self.n_docs] * self.n_queries


class Case:
    """An objective, and its name in a peer."""

    def __init__(self, name, grades, weights, ours, peer, theirs):
        self.name, self.grades, self.weights, self.ours, self.peer, self.theirs = name, grades, weights, ours, peer, theirs


def cases(rng):
    """One of each kind, with random parameters."""
    sigmoid = float(rng.choice([0.5, 1.0, 2.0]))
    top = int(rng.choice([2, 5, 30]))
    norm = bool(rng.integers(0, 2))
    flag = str(norm).lower()
    yield Case(
        f"lightgbm lambdarank sigmoid={sigmoid} truncation={top} norm={norm}",
        5,
        str(rng.choice(["none", "rows"])),
        ["objective=lambdamart", f"sigmoid={sigmoid}", f"truncation_level={top}", f"lambda_norm={flag}"],
        "lightgbm",
        {"objective": "lambdarank", "sigmoid": sigmoid, "lambdarank_truncation_level": top, "lambdarank_norm": norm},
    )
    topk = {"lambdarank_pair_method": "topk", "lambdarank_normalization": norm, "lambdarank_score_normalization": norm}
    xgboost_form = ["objective=lambdamart", "lambda_form=xgboost", f"lambda_norm={flag}"]
    for target, grades in [("ndcg", 5), ("map", 2)]:
        yield Case(
            f"xgboost rank:{target} pairs={top} norm={norm}",
            grades,
            str(rng.choice(["none", "queries"])),
            [*xgboost_form, f"target={target}", f"truncation_level={top}"],
            "xgboost",
            {"objective": f"rank:{target}", "lambdarank_num_pair_per_sample": top, **topk},
        )
    yield Case(
        "xgboost rank:ndcg as it is",
        5,
        "none",
        ["objective=lambdamart", "lambda_form=xgboost"],
        "xgboost",
        {"objective": "rank:ndcg", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 32},
    )
    plain = {"lambdarank_normalization": False, "lambdarank_score_normalization": False}
    yield Case(
        "xgboost rank:pairwise, all pairs, no normalisation",
        5,
        "none",
        ["objective=ranknet"],
        "pairwise",
        {"objective": "rank:pairwise", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 1000, **plain},
    )


def lightgbm_leaves(data, scores, params, l2):
    """The value of a leaf for each document."""
    n = len(scores)
    of_data = {"min_data_in_bin": 1, "max_bin": 255, "feature_pre_filter": False, "verbose": -1}
    of_tree = {"num_leaves": n, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "learning_rate": 1, "num_threads": 1}
    rows = np.arange(n, dtype=float)[:, None]
    dataset = lgb.Dataset(rows, label=rows[::-1, 0], params=of_data)
    tree = lgb.train({"objective": "regression", "verbose": -1, "boost_from_average": False, **of_tree}, dataset, 1)
    assert len(set(tree.predict(rows, pred_leaf=True).ravel())) == n
    tree.params.update(lambda_l2=l2, **params)
    weights = data.row_weights
    refit = tree.refit(
        rows, data.labels, decay_rate=0.0, group=data.groups(), init_score=scores, weight=weights, dataset_params=of_data
    )
    return refit.predict(rows, raw_score=True)


def xgboost_leaves(data, scores, params, l2, folder):
    n = len(scores)
    of_tree = {"eta": 1, "max_depth": 0, "max_leaves": n, "grow_policy": "lossguide", "max_bin": 256, "nthread": 1}
    of_tree |= {"min_child_weight": 0, "base_score": 0, "verbosity": 0}
    rows = np.arange(n, dtype=float)[:, None]
    other = xgb.DMatrix(rows, label=rows[::-1, 0])
    tree = xgb.train({**of_tree, "objective": "reg:squarederror", "lambda": 0, "tree_method": "hist"}, other, 1)
    assert len(set(tree.predict(other, pred_leaf=True).ravel())) == n
    model = str(Path(folder) / "tree.json")
    tree.save_model(model)
    dataset = xgb.DMatrix(rows, label=data.labels, base_margin=scores)
    dataset.set_group(data.groups())
    if data.query_weights is not None:
        dataset.set_weight(data.query_weights)
    update = {"process_type": "update", "updater": "refresh", "refresh_leaf": 1}
    refreshed = xgb.train({**of_tree, **update, **params, "lambda": l2}, dataset, 1, xgb_model=model)
    # Without the scores, which would cost most digits of a small leaf.
    return refreshed.predict(xgb.DMatrix(rows), output_margin=True).astype(float)


def peer_gradients(case, data, scores, folder):
    """g and h of each document; h is unknown if g is 0."""

    def leaves(l2):
        if case.peer == "lightgbm":
            return lightgbm_leaves(data, scores, case.theirs, l2)
        return xgboost_leaves(data, scores, case.theirs, l2, folder)

    # v0 = -g/h and v1 = -g/(h + GREAT).
    free, held = leaves(0.0), leaves(GREAT)
    is_moved = np.abs(held) > 1e-12
    hess = np.where(is_moved, held * GREAT / np.where(is_moved, free - held, 1.0), np.nan)
    grad = np.where(is_moved, -held * (hess + GREAT), 0.0)
    # XGBoost doubles every Hessian, even where ours is that of RankNet.
    return grad, hess / 2 if case.peer == "pairwise" else hess


class Binary:
    def __init__(self, path, folder):
        self.path, self.folder = path, Path(folder)

    def run(self, *args):
        done = subprocess.run([self.path, *args], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            sys.exit(f"{' '.join(args)}\n{done.stderr}")
        return done.stdout

    def write(self, data):
        lines = []
        for row, (label, features) in enumerate(zip(data.labels, data.features)):
            values = " ".join(f"{idx + 1}:{value:g}" for idx, value in enumerate(features))
            lines.append(f"{label} qid:{row // data.n_docs} {values}\n")
        (self.folder / "d.txt").write_text("".join(lines))
        for ending, weights in [("weight", data.row_weights), ("query_weight", data.query_weights)]:
            side = self.folder / f"d.txt.{ending}"
            side.unlink(missing_ok=True)
            if weights is not None:
                side.write_text("".join(f"{weight:g}\n" for weight in weights))

    def scores(self, case, data, n_trees):
        """The scores after this many trees, and the leaves of the last one."""
        settings = [*case.ours, f"num_trees={n_trees}", f"num_leaves={len(data.labels)}", f"lambda_l2={L2}"]
        settings += [f"learning_rate={LEARNING_RATE}", "min_data_in_leaf=1", "min_sum_hessian_in_leaf=0"]
        sets = [word for setting in settings for word in ("--set", setting)]
        self.run("train", "d.txt", "--out", "m.json", "--quiet", "--ties", "input", *sets)
        scores = np.array([float(line) for line in self.run("predict", "m.json", "d.txt").split()])
        self.run("convert", "m.json", "--to", "lightgbm", "--out", "m.txt", "--quiet")
        model = lgb.Booster(model_file=self.folder / "m.txt")
        # Features are numbered from 1.
        rows = np.column_stack([np.zeros(len(scores)), data.features])
        return scores, model.predict(rows, pred_leaf=True, predict_disable_shape_check=True).reshape(len(scores), -1)[:, -1]


def compare(case, data, binary, folder):
    """The differences, as lines, and the number of leaves checked."""
    binary.write(data)
    wrong, n_leaves = [], 0
    before = np.zeros(len(data.labels))
    for tree in range(TREES):
        after, leaf = binary.scores(case, data, tree + 1)
        steps = (after - before) / LEARNING_RATE
        grad, hess = peer_gradients(case, data, before, folder)
        for number in np.unique(leaf):
            docs = np.flatnonzero(leaf == number)
            expected = -grad[docs].sum() / (hess[docs].sum() + L2)
            found = steps[docs[0]]
            if math.isnan(expected):
                continue
            n_leaves += 1
            if not math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 0.1):
                wrong.append(f"{case.name}, tree {tree + 1}, documents {docs.tolist()}: {found} is not {expected}")
        before = after
    return wrong, n_leaves


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    wrong, counts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        binary = Binary(args.binary.resolve(), folder)
        for _ in range(args.sets):
            for case in cases(rng):
                found, n_leaves = compare(case, Data(rng, case.grades, case.weights), binary, folder)
                wrong += found
                kind = " ".join(case.name.split(" ")[:2]).rstrip(",")
                counts[kind] = counts.get(kind, 0) + n_leaves
    print("leaves compared:", ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    for line in wrong[:SHOWN]:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} leaves differ")


main()
