"""Compares every objective with the peers that have it: the same data, the same budget of trees, the same early stopping.

    python3 experiments/objectives/quality.py                    MQ2007, MQ2008 and MSRD, 3 seeds; writes quality.md
    python3 experiments/objectives/quality.py --seeds 1 --only mq2008    a small one

Trees have at most 31 leaves (CatBoost: depth 5, and so does Rankwise against CatBoost on MQ2007 and MQ2008). The learning rate is
0.1. Each tree uses 80 % of the documents and of the features, so that seeds differ. Differences are computed per query, after
averaging over seeds.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

TREES, PATIENCE = 300, 30
OURS = {
    "num_trees": TREES, "early_stopping_rounds": PATIENCE, "learning_rate": 0.1, "num_leaves": 31, "min_data_in_leaf": 20,
    "feature_fraction": 0.8, "bagging_fraction": 0.8, "bagging_freq": 1,
}
# Metric, our settings, the peer, its loss.
PAIRS = [
    ("lambdamart", "ndcg@10", {"objective": "lambdamart"}, "LightGBM", "lambdarank"),
    ("xendcg", "ndcg@10", {"objective": "xendcg"}, "LightGBM", "rank_xendcg"),
    ("lambdamart, target MAP", "map", {"objective": "lambdamart", "target": "map"}, "XGBoost", "rank:map"),
    ("yetirank", "ndcg@10", {"objective": "yetirank"}, "CatBoost", "YetiRank"),
    ("query-rmse", "ndcg@10", {"objective": "query-rmse"}, "CatBoost", "QueryRMSE"),
    ("softmax", "ndcg@10", {"objective": "softmax"}, "CatBoost", "QuerySoftMax"),
    ("ranknet", "ndcg@10", {"objective": "ranknet"}, "CatBoost", "PairLogit"),
    ("stochasticrank", "ndcg@5", {"objective": "stochasticrank", "target": "ndcg@5"}, "CatBoost", "StochasticRank:metric=NDCG;top=5;type=Exp"),
    ("stochasticrank", "mrr", {"objective": "stochasticrank", "target": "mrr"}, "CatBoost", "StochasticRank:metric=MRR"),
    ("stochasticrank", "ndcg@5", {"objective": "stochasticrank", "target": "ndcg@5"}, "Rankwise", "lambdamart target=ndcg@5"),
    ("stochasticrank", "mrr", {"objective": "stochasticrank", "target": "mrr"}, "Rankwise", "lambdamart target=mrr"),
]


def run_rankwise(binary, task, metric, settings, seed):
    with tempfile.TemporaryDirectory() as name:
        chosen = {**OURS, "metric": metric, "seed": seed, **settings}
        return lab.train_rankwise(binary, task, chosen, Path(name))[1]


def run_lightgbm(task, metric, loss, seed):
    import lightgbm

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    params = {
        "objective": loss, "metric": "ndcg", "ndcg_eval_at": [10], "num_leaves": 31, "learning_rate": 0.1, "verbose": -1,
        "min_data_in_leaf": 20, "feature_fraction": 0.8, "bagging_fraction": 0.8, "bagging_freq": 1, "seed": seed, "num_threads": 1,
    }
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    held = lightgbm.Dataset(vali.features, vali.labels, group=vali.sizes, reference=data)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return lightgbm.train(params, data, TREES, valid_sets=[held], callbacks=[stop]).predict(test.features)


def run_xgboost(task, metric, loss, seed):
    import xgboost

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    matrices = []
    for part in (train, vali, test):
        labels = (part.labels > 0).astype(float) if loss == "rank:map" else part.labels
        matrices.append(xgboost.DMatrix(part.features, labels))
        matrices[-1].set_group(part.sizes)
    params = {
        "objective": loss, "eval_metric": "map", "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0, "eta": 0.1,
        "colsample_bytree": 0.8, "subsample": 0.8, "seed": seed, "nthread": 1, "lambdarank_pair_method": "topk",
        "tree_method": "hist",
    }
    model = xgboost.train(
        params, matrices[0], TREES, evals=[(matrices[1], "vali")], early_stopping_rounds=PATIENCE, verbose_eval=False
    )
    return model.predict(matrices[2], iteration_range=(0, model.best_iteration + 1))


def run_catboost(task, metric, loss, seed):
    import catboost

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    measured = {"ndcg@10": "NDCG:top=10;type=Exp", "ndcg@5": "NDCG:top=5;type=Exp", "mrr": "MRR"}[metric]
    params = {
        "loss_function": loss, "eval_metric": measured, "iterations": TREES, "learning_rate": 0.1, "depth": 5, "rsm": 0.8,
        "bootstrap_type": "Bernoulli", "subsample": 0.8, "od_type": "Iter", "od_wait": PATIENCE, "random_seed": seed,
        "thread_count": 1, "verbose": False, "allow_writing_files": False,
    }
    if loss == "PairLogit":
        params["loss_function"] = "PairLogit:max_pairs=1000000"
    model = catboost.CatBoost(params)
    model.fit(train.pool(), eval_set=vali.pool())
    return model.predict(test.features)


def values(binary, tasks, seeds, metric, who, what, settings, pool):
    """The mean over seeds, per query."""
    jobs = []
    for task in tasks:
        for seed in seeds:
            if who == "Rankwise":
                jobs.append((task, pool.submit(run_rankwise, binary, task, metric, settings, seed)))
            else:
                run = {"LightGBM": run_lightgbm, "XGBoost": run_xgboost, "CatBoost": run_catboost}[who]
                jobs.append((task, pool.submit(run, task, metric, what, seed)))
    total = {}
    for task, job in jobs:
        for query, value in lab.per_query(binary, task.test, job.result(), metric).items():
            total[query] = total.get(query, 0.0) + value / len(seeds)
    return total


def section(binary, name, tasks, args):
    seeds = range(1, args.seeds + 1)
    lines = [
        "| objective | judged by | against | ours | theirs | difference | paired 95 % interval | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        for objective, metric, settings, who, what in PAIRS:
            if args.objective and objective != args.objective:
                continue
            # Trees of the same shape, if that does not take too long, and the peer's default regularisation.
            if who == "CatBoost":
                shape = {} if name == "msrd" else {"grow": "oblivious", "max_depth": 5}
                settings = {**settings, **shape, "lambda_l2": 3}
            if who == "XGBoost":
                settings = {**settings, "lambda_l2": 1}
            ours = values(binary, tasks, seeds, metric, "Rankwise", objective, settings, pool)
            peer = {}
            if who == "Rankwise":
                kind, *more = what.split()
                peer = {"objective": kind, **dict(setting.split("=") for setting in more)}
            theirs = values(binary, tasks, seeds, metric, who, what, peer, pool)
            difference, low, high = lab.interval(ours, theirs)
            means = [lab.mean_and_error(table.values())[0] for table in (ours, theirs)]
            lines.append(
                f"| {objective} | {metric} | {who} {what.split(':metric')[0]} | {means[0]:.4f} | {means[1]:.4f} | {difference:+.4f} | "
                f"[{low:+.4f}, {high:+.4f}] | {lab.verdict(low, high)} |"
            )
            print(name, lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main():
    parser = lab.arguments(__doc__, HERE / "quality.md")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--objective")
    args = parser.parse_args()
    binary = lab.peers.build()
    head = (
        "# Objectives against their peers\n\n"
        f"`python3 experiments/objectives/quality.py`: {args.seeds} seeds, at most {TREES} trees of 31 leaves (CatBoost: depth 5, and so ours against it but on MSRD), "
        f"learning rate 0.1, early stopping after {PATIENCE} by the same metric on the validation part. {lab.versions()}. Rules of "
        "all figures: exponential gain, worst order of ties, queries without relevant documents count as 0. "
        f"{lab.VERDICT_RULE}\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ["mq2008", "mq2007", "msrd"] if args.only is None else [args.only]:
            tasks = lab.tasks(data, folder, args.folds)
            report.put(data, section(binary, data, tasks, args))


if __name__ == "__main__":
    main()
