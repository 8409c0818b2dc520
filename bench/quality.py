"""Quality and time per tree compared with LightGBM at equal parameters.

    python3 bench/quality.py            web-like synthetic data, and MQ2007 and MSRD if the data folder has them
    python3 bench/quality.py --quick    one resample, to see that it runs

Both train on the same resamples of the training queries, alternately, and are evaluated by the same program on the same
held-out queries. Single runs prove nothing: the table gives the mean difference with its standard error.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import peers

peers.enter_venv()

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402

# Names that both programs accept.
PARAMS = {
    "num_leaves": 63,
    "max_bin": 255,
    "learning_rate": 0.1,
    "min_data_in_leaf": 50,
    "min_sum_hessian_in_leaf": 1e-3,
    "lambda_l2": 0.0,
}
TREES = 100
WEB_POOL_ROWS, WEB_TRAIN_ROWS, WEB_TEST_QUERIES = 120_000, 60_000, 500


def train_lightgbm(train, rows, test, threads):
    sizes = [len(list(group)) for group in grouped(train.qids, rows)]
    data = lightgbm.Dataset(train.features[rows], train.labels[rows], group=sizes, params={"max_bin": PARAMS["max_bin"]})
    data.construct()
    params = {**PARAMS, "objective": "lambdarank", "num_threads": threads, "verbose": -1}
    started = time.perf_counter()
    booster = lightgbm.train(params, data, num_boost_round=TREES)
    seconds = time.perf_counter() - started
    width = train.features.shape[1]
    features = np.full((len(test.labels), width), np.nan)
    features[:, : min(width, test.features.shape[1])] = test.features[:, :width]
    return booster.predict(features), seconds


def train_rankwise(binary, train, rows, test_path, threads, folder):
    train_path, model = folder / "train.txt", folder / "model.json"
    train.write(rows, train_path)
    settings = [f"--set={name}={value}" for name, value in {**PARAMS, "num_trees": TREES}.items()]
    report = peers.rankwise(binary, "train", train_path, "--out", model, "--threads", threads, *settings)
    seconds = report["seconds"]
    measured = peers.rankwise(binary, "eval", test_path, "--model", model, "--metric", "ndcg@10")
    return measured["metrics"]["ndcg@10"], seconds["total"] - seconds["load"] - seconds["bin"]


def grouped(qids, rows):
    group = []
    for row in rows:
        if group and qids[group[-1]] != qids[row]:
            yield group
            group = []
        group.append(row)
    yield group


def compare(binary, name, tasks, threads, folder):
    """tasks: (train, rows, test, path of test) for each resample or fold."""
    ours, theirs, our_times, their_times = [], [], [], []
    for train, rows, test, test_path in tasks:
        scores, seconds = train_lightgbm(train, rows, test, threads)
        theirs.append(peers.ndcg(binary, test_path, scores))
        their_times.append(seconds / TREES)
        value, seconds = train_rankwise(binary, train, rows, test_path, threads, folder)
        ours.append(value)
        our_times.append(seconds / TREES)
    differences = [a - b for a, b in zip(ours, theirs)]
    error = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
    our_time, their_time = min(our_times), min(their_times)
    print(f"\n{name}: ndcg@10 on {len(differences)} resamples or folds, {TREES} trees, {threads} threads")
    print("  Rankwise ", " ".join(f"{value:.4f}" for value in ours), f" mean {statistics.mean(ours):.4f}")
    print("  LightGBM ", " ".join(f"{value:.4f}" for value in theirs), f" mean {statistics.mean(theirs):.4f}")
    print(f"  difference {statistics.mean(differences):+.4f}, standard error {error:.4f}")
    print(f"  best ms per tree: Rankwise {1e3 * our_time:.1f}, LightGBM {1e3 * their_time:.1f}, ratio {our_time / their_time:.2f}")


def web_tasks(binary, folder, n_resamples):
    pool_path, big_test, test_path = folder / "pool.txt", folder / "big.txt", folder / "test.txt"
    peers.rankwise(binary, "synth", "--rows", WEB_POOL_ROWS, "--seed", 1, "--out", pool_path)
    peers.rankwise(binary, "synth", "--rows", WEB_TEST_QUERIES * 150, "--seed", 2, "--out", big_test)
    pool, test = peers.Letor.read(pool_path), peers.Letor.read(big_test)
    test_rows = [row for rows in test.queries()[:WEB_TEST_QUERIES] for row in rows]
    test.write(test_rows, test_path)
    test = peers.Letor.read(test_path)
    for resample in range(n_resamples):
        queries = pool.queries()
        np.random.default_rng(resample).shuffle(queries)
        rows = []
        while len(rows) < WEB_TRAIN_ROWS:
            rows.extend(queries.pop())
        yield pool, rows, test, test_path


def mq2007_tasks(data, folder, n_folds, n_resamples):
    """Each fold with its whole training set, then with resamples: 90 % of its queries, with rows shuffled inside them."""
    parts = [peers.Letor.read(data / "mq2007" / f"S{part}.txt.zst") for part in range(1, 6)]
    for fold in range(n_folds):
        train = peers.Letor([line for part in range(3) for line in parts[(fold + part) % 5].lines])
        test, test_path = parts[(fold + 4) % 5], folder / "fold-test.txt"
        test.write(range(len(test.lines)), test_path)
        yield train, [row for rows in train.queries() for row in rows], test, test_path
        for resample in range(n_resamples):
            yield train, resampled(train, resample), test, test_path


def msrd_tasks(data, folder, n_resamples):
    train, test = (peers.Letor.read(data / "msrd" / f"{part}.txt.zst") for part in ("train", "vali"))
    test_path = folder / "msrd-test.txt"
    test.write(range(len(test.lines)), test_path)
    for resample in range(n_resamples):
        yield train, resampled(train, resample), test, test_path


def resampled(train, seed):
    """90 % of the queries, with rows shuffled inside them."""
    random, queries = np.random.default_rng(seed), train.queries()
    random.shuffle(queries)
    kept = queries[: len(queries) * 9 // 10]
    return [row for rows in kept for row in random.permutation(rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", choices=["", "web", "mq2007", "msrd"])
    parser.add_argument("--quick", action="store_true", help="one resample only")
    args = parser.parse_args()
    n_runs = 1 if args.quick else 5
    binary = peers.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.only in ("", "web"):
            compare(binary, "web-shaped 60k x 136, 63 leaves", web_tasks(binary, folder, n_runs), args.threads, folder)
        data = peers.data_folder()
        for name in ("mq2007", "msrd"):
            if args.only not in ("", name):
                continue
            if data is None or not (data / name).is_dir():
                print(f"\n{name}: skipped, it is not in a data folder (set RANKWISE_DATA)")
            elif name == "msrd":
                compare(binary, "MSRD, 63 leaves", msrd_tasks(data, folder, n_runs), args.threads, folder)
            else:
                compare(binary, "MQ2007 five folds, 63 leaves", mq2007_tasks(data, folder, n_runs, 0), args.threads, folder)
                if not args.quick:
                    title = "MQ2007 five folds with resamples, 63 leaves"
                    compare(binary, title, mq2007_tasks(data, folder, n_runs, 5), args.threads, folder)


if __name__ == "__main__":
    main()
