"""Compares samples and learners with LightGBM's at equal parameters: the same data, the same number of trees, no early stopping.

    python3 experiments/sampling/quality.py                      MQ2007 and MSRD, 3 seeds; writes quality.md
    python3 experiments/sampling/quality.py --seeds 1 --only mq2007 --folds 1    a small one

LambdaMART with trees of 31 leaves, learning rate 0.1, and at least 20 documents per leaf. The models after the last tree are
compared, because LightGBM has no early stopping with DART. Differences are computed per query, after averaging over seeds.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

TREES = 200
METRIC = "ndcg@10"
COMMON = {"learning_rate": 0.1, "num_leaves": 31, "min_data_in_leaf": 20}
# The name, the common settings, and the settings of each program.
METHODS = [
    ("all documents", {}, {}, {}),
    ("bagging", {"bagging_fraction": 0.5, "bagging_freq": 1}, {}, {}),
    ("bagging of queries", {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_by_query": "true"}, {}, {}),
    ("GOSS", {"top_rate": 0.2, "other_rate": 0.1}, {"sample": "goss"}, {"data_sample_strategy": "goss"}),
    ("DART", {"drop_rate": 0.1, "skip_drop": 0.5, "max_drop": 50}, {"learner": "dart"}, {"boosting": "dart"}),
    (
        "DART, uniform, XGBoost's factors",
        {"drop_rate": 0.1, "skip_drop": 0.5, "max_drop": 50, "uniform_drop": "true", "xgboost_dart_mode": "true"},
        {"learner": "dart"},
        {"boosting": "dart"},
    ),
    (
        "random forest",
        {"bagging_fraction": 0.6, "bagging_freq": 1, "feature_fraction": 0.8},
        {"learner": "random-forest"},
        {"boosting": "rf"},
    ),
]
# Rankwise only: LightGBM has none of these.
OWN = [
    ("MVS, half of the documents", {"sample": "mvs", "bagging_fraction": 0.5}),
    ("half of the negatives", {"sample": "negatives", "p_negatives": 50}),
    ("without outliers", {"sample": "inliers", "outlier_high": 20, "outlier_low": 20}),
]


def run_rankwise(binary, task, settings, seed):
    with tempfile.TemporaryDirectory() as name:
        model, scores = Path(name) / "model.json", Path(name) / "scores.txt"
        chosen = {**COMMON, "num_trees": TREES, "seed": seed, **settings}
        sets = [f"--set={key}={value}" for key, value in chosen.items()]
        lab.peers.rankwise(binary, "train", task.train, "--out", model, "--threads", 1, *sets)
        lab.peers.rankwise(binary, "predict", model, task.test, "--out", scores)
        return [float(line) for line in scores.read_text().split()]


def run_lightgbm(task, settings, seed):
    import lightgbm

    train, test = lab.arrays(task.train), lab.arrays(task.test)
    params = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, **COMMON, **settings, "seed": seed}
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    return lightgbm.train(params, data, TREES).predict(test.features)


def values(binary, tasks, seeds, run, *args, pool):
    """The mean over seeds, per query."""
    jobs = [(task, pool.submit(run, *args[:-1], task, args[-1], seed)) for task in tasks for seed in seeds]
    total = {}
    for task, job in jobs:
        for query, value in lab.per_query(binary, task.test, job.result(), METRIC).items():
            total[query] = total.get(query, 0.0) + value / len(seeds)
    return total


def row(name, first, second):
    """A row of the table: two methods and their difference."""
    difference, low, high = lab.interval(first, second)
    means = [lab.mean_and_error(table.values())[0] for table in (first, second)]
    return f"| {name} | {means[0]:.4f} | {means[1]:.4f} | {difference:+.4f} | [{low:+.4f}, {high:+.4f}] | {lab.verdict(low, high)} |"


def section(binary, name, tasks, args):
    seeds = range(1, args.seeds + 1)
    lines = [
        "| method | Rankwise | LightGBM | difference | paired 95 % interval | verdict |",
        "|---|---|---|---|---|---|",
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        whole = None
        for method, both, ours, theirs in METHODS:
            if args.method and method not in (args.method, METHODS[0][0]):
                continue
            own = values(binary, tasks, seeds, run_rankwise, binary, {**both, **ours}, pool=pool)
            peer = values(binary, tasks, seeds, run_lightgbm, {**both, **theirs}, pool=pool)
            whole = whole or own
            lines.append(row(method, own, peer))
            print(name, lines[-1], flush=True)
        lines += [
            "\nWhat LightGBM does not have, against Rankwise on all documents:\n",
            "| method | with it | all documents | difference | paired 95 % interval | verdict |",
            "|---|---|---|---|---|---|",
        ]
        for method, settings in OWN:
            if args.method and method != args.method:
                continue
            lines.append(row(method, values(binary, tasks, seeds, run_rankwise, binary, settings, pool=pool), whole))
            print(name, lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main():
    parser = lab.arguments(__doc__, HERE / "quality.md", ("mq2007", "msrd"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--method", help="one of the table, beside all documents")
    args = parser.parse_args()
    import lightgbm

    binary = lab.peers.build()
    seeds = "1 seed" if args.seeds == 1 else f"{args.seeds} seeds"
    head = (
        "# Samples and learners against LightGBM\n\n"
        f"`python3 experiments/sampling/quality.py`: {METRIC} of LambdaMART, {seeds}, {TREES} trees of 31 leaves, learning rate 0.1, "
        f"equal parameters, LightGBM {lightgbm.__version__}. Rules of all figures: exponential gain, worst order of ties, queries without relevant "
        f"documents count as 0. {lab.VERDICT_RULE}\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ["mq2007", "msrd"] if args.only is None else [args.only]:
            tasks = lab.tasks(data, folder, args.folds)
            report.put(data, section(binary, data, tasks, args))


if __name__ == "__main__":
    main()
