"""Time to compute gradients, for every objective, and compared with CatBoost's StochasticRank.

    python3 bench/objectives.py            web-like data in lists of 120
    python3 bench/objectives.py --quick    fewer rounds, to see that it runs

All objectives run alternately; a time is the best of all rounds. The time of CatBoost's gradients is the difference between an
iteration with StochasticRank and one with QueryRMSE.
"""

import argparse
import tempfile
import time
from pathlib import Path

import peers

peers.enter_venv()

import catboost  # noqa: E402
import numpy as np  # noqa: E402

LIST = 120
# Name in the table: settings. Labels of the data are 0 to 4, which `logistic` rejects.
OBJECTIVES = {
    "lambdamart": {},
    "lambdamart paper form": {"lambda_form": "paper"},
    "lambdamart map": {"target": "map"},
    "lambdamart err": {"target": "err"},
    "lambdaloss": {},
    "ranknet": {},
    "hinge": {},
    "yetirank": {},
    "yetirank metric": {"yetirank_mode": "metric"},
    "softmax": {},
    "listnet": {},
    "xendcg": {},
    "listmle": {},
    "p-listmle": {},
    "plackett-luce": {},
    "approx-ndcg": {},
    "rmse": {},
    "query-rmse": {},
    "multiclass": {},
    "stochasticrank": {"target": "ndcg"},
    "stochasticrank ndcg@10": {"target": "ndcg@10"},
    "stochasticrank err": {"target": "err"},
    "stochasticrank mrr": {"target": "mrr"},
    "stochasticrank map": {"target": "map"},
    "softrank": {"target": "ndcg"},
    "select-with-order": {},
}


def lists(source, target, n_rows):
    """Writes the rows of a file in lists of one length."""
    with open(source) as lines, open(target, "w") as out:
        for row, line in zip(range(n_rows - n_rows % LIST), lines):
            label, _, rest = line.split(" ", 2)
            out.write(f"{label} qid:{row // LIST} {rest}")


def measure(binary, data, name, settings, trees, threads, leaves, folder):
    """Seconds per tree for gradients, and for everything but loading and binning."""
    objective = name.split()[0]
    chosen = {**settings, "num_trees": trees, "num_leaves": leaves, "min_data_in_leaf": 50}
    if objective == "multiclass":
        # A round has a tree for each of the five labels.
        chosen["num_trees"] = trees // 5
    sets = [f"--set={key}={value}" for key, value in chosen.items()]
    arguments = ["--objective", objective, "--out", folder / "model.json", "--threads", threads, *sets]
    seconds = peers.rankwise(binary, "train", data, *arguments)["seconds"]
    return seconds["gradients"] / trees, (seconds["total"] - seconds["load"] - seconds["bin"]) / trees


def catboost_seconds(data, loss, iterations):
    rows = np.arange(len(data.labels))
    group = rows // LIST
    pool = catboost.Pool(np.nan_to_num(data.features[:, :20]), data.labels / 4, group_id=group)
    model = catboost.CatBoost(
        {"loss_function": loss, "iterations": iterations, "depth": 2, "thread_count": 1, "verbose": False,
         "allow_writing_files": False, "leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 1,
         "leaf_estimation_backtracking": "No", "boost_from_average": False, "metric_period": 1_000_000}
    )
    started = time.perf_counter()
    model.fit(pool)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    n_rounds, n_rows = (1, 24_000) if args.quick else (args.rounds, 240_000)
    binary = peers.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        web, data = folder / "web.txt", folder / "lists.txt"
        peers.rankwise(binary, "synth", "--rows", n_rows, "--seed", 1, "--out", web)
        lists(web, data, n_rows)
        n_rows -= n_rows % LIST
        gradients = {name: [] for name in OBJECTIVES}
        trees = {name: [] for name in OBJECTIVES}
        for _ in range(n_rounds):
            for name, settings in OBJECTIVES.items():
                gradients[name].append(measure(binary, data, name, settings, 10, 1, 7, folder)[0])
                trees[name].append(measure(binary, data, name, settings, 10, 2, 255, folder)[1])
        base = min(trees["lambdamart"])
        print(f"lists of {LIST}, {n_rows:,} documents; gradients on one thread, trees of 255 leaves on two\n")
        print("| objective | gradients, ns a document | ms a tree | of lambdamart's |\n|---|---|---|---|")
        for name in OBJECTIVES:
            cost, tree = min(gradients[name]) / n_rows, min(trees[name])
            print(f"| {name} | {1e9 * cost:.0f} | {1e3 * tree:.1f} | {tree / base:.2f} |")

        small = folder / "small.txt"
        with open(data) as lines:
            small.write_text("".join(line for _, line in zip(range(50 * LIST), lines)))
        part = peers.Letor.read(small)
        n_part = len(part.labels)
        ours, theirs = [], []
        for _ in range(max(n_rounds, 2)):
            plain, smooth = (
                (catboost_seconds(part, loss, 7) - catboost_seconds(part, loss, 2)) / 5
                for loss in ("QueryRMSE", "StochasticRank:metric=NDCG")
            )
            theirs.append((smooth - plain) / n_part)
            ours.append(measure(binary, data, "stochasticrank", {"target": "ndcg"}, 10, 1, 7, folder)[0] / n_rows)
        print(f"\nStochasticRank of full NDCG, per document and iteration on one thread: Rankwise {1e6 * min(ours):.3f} us, "
              f"CatBoost {catboost.__version__} {1e6 * min(theirs):.1f} us, {min(theirs) / min(ours):.0f} times")


if __name__ == "__main__":
    main()
