"""Compares gradients of the real binary with those of LightGBM, derived from trees with one document per leaf.

    python3 peers/listwise.py BINARY [--runs N] [--seed S]
    python3 peers/listwise.py --golden        prints the values for the unit test of `xendcg.rs`

A tree that separates all documents has the leaf -g/h for each, and -g/(h + 1) with an L2 of 1, so two runs give both.

`rank_xendcg` uses random numbers. LightGBM's are known (a congruential generator, seeded by query): with them, the formulas in
docs/listwise.md must give its gradients, at any scores. Ours are different, so the means over many seeds are compared, at scores of 0.
`multiclass` uses none: base scores and gradients of the first round must agree, except for LightGBM's factor K / (K - 1) of Hessians.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

import lightgbm as lgb  # noqa: E402
import numpy as np  # noqa: E402

ALONE = {
    "learning_rate": 1.0,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 0.0,
    "min_data_in_bin": 1,
    "min_gain_to_split": 0.0,
    "max_bin": 1000,
    "num_leaves": 1000,
    "num_threads": 1,
    "verbose": -1,
    "feature_pre_filter": False,
}


def uniforms(seed, n):
    """LightGBM's random numbers for one query."""
    state, out = seed, []
    for _ in range(n):
        state = (214013 * state + 2531011) % 2**32
        out.append(((state >> 16) & 0x7FFF) / 32768)
    return np.array(out)


def formulas(labels, scores, u):
    if len(labels) == 1:
        return np.zeros(1), np.zeros(1)
    rho = np.exp(scores - scores.max())
    rho /= rho.sum()
    gamma = 2.0**labels - u
    t1 = rho - gamma / gamma.sum()
    a = t1 / (1 - rho)
    t2 = rho * (a.sum() - a)
    b = t2 / (1 - rho)
    return t1 + t2 + rho * (b.sum() - b), rho * (1 - rho)


def theirs(labels, sizes, scores, seed):
    """Gradients and Hessians of LightGBM's rank_xendcg."""
    rows = np.arange(len(labels), dtype=float)[:, None]
    # Squared error with distinct labels separates all documents; refitting keeps the tree and computes another objective's leaves.
    tree = lgb.train({**ALONE, "objective": "regression"}, lgb.Dataset(rows, rows[:, 0] ** 1.5, params=ALONE), 1)
    leaves = []
    for l2 in [0.0, 1.0]:
        tree.params = {**ALONE, "objective": "rank_xendcg", "objective_seed": seed, "lambda_l2": l2}
        refitted = tree.refit(rows, labels, decay_rate=0.0, group=sizes, init_score=scores)
        leaves.append(refitted.predict(rows, raw_score=True))
    plain, damped = leaves
    # plain = -g/h, damped = -g/(h + 1).
    with np.errstate(divide="ignore", invalid="ignore"):
        hess = np.where(plain == 0, np.nan, damped / (plain - damped))
    return -plain * hess, hess


def random_lists(rng, n_lists):
    sizes = rng.choice([1, 2, 3, 5, 8, 12, 20], n_lists)
    labels = [rng.integers(0, 5, size).astype(float) for size in sizes]
    scores = [rng.normal(0, rng.choice([0, 1, 3]), size) for size in sizes]
    return sizes, labels, scores


def check_formulas(rng, failures):
    worst = 0.0
    for _ in range(20):
        sizes, labels, scores = random_lists(rng, 12)
        seed = int(rng.integers(1, 1000))
        grad, hess = theirs(np.concatenate(labels), sizes, np.concatenate(scores), seed)
        parts = np.cumsum(sizes)[:-1]
        for query, (found, curve) in enumerate(zip(np.split(grad, parts), np.split(hess, parts))):
            wanted, wanted_curve = formulas(labels[query], scores[query], uniforms(seed + query, sizes[query]))
            known = ~np.isnan(found)
            scale = np.abs(wanted).max() + 1e-12
            worst = max(worst, (np.abs(found - wanted)[known] / scale).max(initial=0))
            worst = max(worst, (np.abs(curve - wanted_curve)[known] / wanted_curve.max(initial=1e-12)).max(initial=0))
    # Leaves are differences of f32 gradients.
    if worst > 1e-4:
        failures.append(f"xendcg: the formulas are {worst:.1e} off LightGBM's gradients")
    print(f"xendcg: formulas against LightGBM at any scores, largest difference {worst:.1e}")


def first_tree(binary, folder, labels, sizes, settings):
    """The trees of our first round, as (leaf of each document, model)."""
    lines, row = [], 0
    for query, size in enumerate(sizes):
        for _ in range(size):
            lines.append(f"{labels[row]:g} qid:{query:03} 1:{row}")
            row += 1
    (folder / "d.txt").write_text("\n".join(lines) + "\n")
    ours = {"learning_rate": 1, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "num_leaves": 255, "num_trees": 1}
    args = [f"--set={name}={value}" for name, value in {**ours, **settings}.items()]
    subprocess.run([binary, "train", "d.txt", "--out", "m.json", "--quiet", *args], cwd=folder, check=True, capture_output=True)
    model = json.loads((folder / "m.json").read_text())
    return [np.array([leaf(tree, value) for value in range(row)]) for tree in model["trees"]], model


def leaf(tree, value):
    if not tree["feature"]:
        return tree["leaf_value"][0]
    node = 0
    while node >= 0:
        node = tree["left"][node] if value <= tree["threshold"][node] else tree["right"][node]
    return tree["leaf_value"][-node - 1]


def check_means(binary, folder, rng, runs, failures):
    sizes = np.array([2, 3, 5, 12, 20])
    labels = rng.integers(0, 5, sizes.sum()).astype(float)
    labels[:2] = [0, 1]
    ours, others = [], []
    curve = np.concatenate([np.full(size, 1 / size * (1 - 1 / size)) for size in sizes])
    for run in range(runs):
        (values,), _ = first_tree(binary, folder, labels, sizes, {"objective": "xendcg", "seed": run})
        ours.append(-values * curve)
        u = [uniforms(int(rng.integers(1, 2**31)), size) for size in sizes]
        parts = np.split(labels, np.cumsum(sizes)[:-1])
        others.append(np.concatenate([formulas(part, np.zeros(len(part)), v)[0] for part, v in zip(parts, u)]))
    ours, others = np.array(ours), np.array(others)
    error = np.sqrt((ours.var(0) + others.var(0)) / runs)
    off = (np.abs(ours.mean(0) - others.mean(0)) / error).max()
    spread = (ours.std(0) / others.std(0)).mean()
    if off > 5 or abs(spread - 1) > 0.15:
        failures.append(f"xendcg: means are {off:.1f} standard errors apart, spreads {spread:.2f} to 1")
    print(f"xendcg: means over {runs} seeds at most {off:.1f} standard errors apart, spread {spread:.2f} of LightGBM's")


def check_multiclass(binary, folder, rng, failures):
    worst = 0.0
    for _ in range(10):
        sizes = rng.integers(1, 20, 8)
        n_grades = int(rng.integers(2, 6))
        labels = np.concatenate([np.arange(n_grades), rng.integers(0, n_grades, sizes.sum())])[: sizes.sum()].astype(float)
        n_grades = len(set(labels))
        trees, model = first_tree(binary, folder, labels, sizes, {"objective": "multiclass"})
        expected = model["output"]["expected_gain"]
        ours = np.array(trees)
        rows = np.arange(len(labels), dtype=float)[:, None]
        params = {**ALONE, "objective": "multiclass", "num_class": n_grades}
        raw = lgb.train(params, lgb.Dataset(rows, labels, params=params), 1).predict(rows, raw_score=True).T
        base = np.array(expected["base_scores"])[:, None]
        factor = n_grades / (n_grades - 1)
        worst = max(worst, np.abs((base + ours) - (base + (raw - base) * factor)).max())
    if worst > 1e-4:
        failures.append(f"multiclass: outputs after the first round are {worst:.1e} apart")
    print(f"multiclass: outputs after the first round, largest difference {worst:.1e}")


def golden():
    rng = np.random.default_rng(4)
    sizes, labels, scores = np.array([4, 6]), [np.array([0.0, 2, 1, 4])], [np.array([0.3, -1.2, 0.0, 2.5])]
    labels.append(np.array([1.0, 0, 0, 3, 1, 0]))
    scores.append(np.round(rng.normal(0, 1.5, 6), 2))
    grad, hess = theirs(np.concatenate(labels), sizes, np.concatenate(scores), 7)
    for query, part in enumerate([slice(0, 4), slice(4, 10)]):
        u = uniforms(7 + query, sizes[query])
        for doc in range(sizes[query]):
            at = part.start + doc
            print(f"({labels[query][doc]:.1f}, {scores[query][doc]}, {float(u[doc])!r}, {grad[at]:.7f}, {hess[at]:.7f}),")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", action="store_true")
    args = parser.parse_args()
    if args.golden:
        return golden()
    rng, failures = np.random.default_rng(args.seed), []
    check_formulas(rng, failures)
    with tempfile.TemporaryDirectory() as folder:
        binary = str(Path(args.binary).resolve())
        check_means(binary, Path(folder), rng, args.runs, failures)
        check_multiclass(binary, Path(folder), rng, failures)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
