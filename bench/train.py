"""Training speed compared with LightGBM and XGBoost, alternately in one run, with equal parameters.

    python3 bench/train.py              web-like data, and MSRD and LightGBM's example if the data folder has them
    python3 bench/train.py --large      also one million rows, with peak memory (takes a few minutes more)
    python3 bench/train.py --rounds 3   how often each program trains on each dataset; the best time counts
    python3 bench/train.py --draws 5    quality instead: LightGBM and Rankwise on this many draws of 260k rows
    python3 bench/train.py --threads 1,2,4    on each number of threads, with a table of ms per tree at the end
    python3 bench/train.py --before B   B, an older binary of Rankwise, instead of the peers

Every program reads the same text file, in its own process. Only training is timed, without loading and binning. NDCG@10 is
computed by the same program on the same held-out queries. The phases of Rankwise are compared with a lower bound: one cycle for
each document and feature whose bins are summed and, for the other phases, the time of their inner loops on cached data. Work that
is avoided, for example because features share a column, counts as if it were done.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import peers

peers.enter_venv()

import numpy as np  # noqa: E402

PROGRAMS = ["LightGBM", "LightGBM quantised", "XGBoost hist", "Rankwise"]
# For oblivious trees, with the objective that each trains.
OBLIVIOUS = ["CatBoost QueryRMSE", "CatBoost YetiRank", "Rankwise query-rmse", "Rankwise yetirank", "Rankwise"]


class Task:
    """A dataset with parameters; files are created once and shared by all programs."""

    def __init__(self, name, features, train, test, leaves, trees, min_data=50, absent="missing", depth=None):
        """With a depth, trees are oblivious."""
        self.depth = depth
        self.name, self.features, self.leaves, self.trees = name, features, leaves, trees
        self.min_data, self.absent = min_data, absent
        self.train, self.test = Path(train), Path(test)

    def programs(self):
        return OBLIVIOUS if self.depth else PROGRAMS

    def shape(self):
        return f"oblivious, depth {self.depth}" if self.depth else f"{self.leaves} leaves"

    def settings(self):
        shape = {"grow": "oblivious", "max_depth": self.depth} if self.depth else {"num_leaves": self.leaves}
        return shape | {
            "max_bin": 255,
            "learning_rate": 0.1,
            "min_data_in_leaf": self.min_data,
            "min_sum_hessian_in_leaf": 1e-3,
            "lambda_l2": 0.0,
            "num_trees": self.trees,
        }

    def parquet(self, path, binary):
        """The file as Parquet, in the form that CatBoost's arrays are made from."""
        out = path.with_suffix(".parquet")
        if not out.exists():
            peers.rankwise(binary, "convert-data", path, out)
        return out

    def svm(self, path):
        """The file without qid and comments, and its query sizes next to it: the form that LightGBM reads."""
        out = path.with_suffix(".svm")
        if not out.exists():
            sizes, last = [], None
            with open(path) as lines, open(out, "w") as svm:
                for line in lines:
                    label, qid, rest = line.split("#", 1)[0].rstrip().split(" ", 2)
                    svm.write(f"{label} {rest}\n")
                    if qid == last:
                        sizes[-1] += 1
                    else:
                        sizes.append(1)
                        last = qid
            Path(f"{out}.query").write_text("".join(f"{size}\n" for size in sizes))
        return out


def worker(program, task_json):
    """Runs in its own process: trains, writes scores, prints seconds."""
    import time

    task = json.loads(task_json)
    params = task["params"]
    if program.startswith("LightGBM"):
        import lightgbm

        params = {**params, "objective": "lambdarank", "num_threads": task["threads"], "verbose": -1}
        if "quantised" in program:
            params |= {"use_quantized_grad": True, "num_grad_quant_bins": 16, "quant_train_renew_leaf": True}
        rounds = params.pop("num_trees")
        data = lightgbm.Dataset(task["train_svm"], params={"max_bin": params["max_bin"], "verbose": -1, "num_threads": task["threads"]})
        data.construct()
        started = time.perf_counter()
        booster = lightgbm.train(params, data, num_boost_round=rounds)
        seconds, peak = time.perf_counter() - started, peak_memory()
        # The test file may lack features that the training file has.
        scores = booster.predict(task["test_svm"], predict_disable_shape_check=True)
    elif program.startswith("CatBoost"):
        import catboost

        # CatBoost refuses min_data_in_leaf for oblivious trees.
        params = {
            "loss_function": program.split()[1],
            "iterations": params["num_trees"],
            "depth": params["max_depth"],
            "border_count": params["max_bin"] - 1,
            "learning_rate": params["learning_rate"],
            "thread_count": task["threads"],
            "allow_writing_files": False,
            "verbose": False,
        }
        train, test = (read_parquet(task[part]) for part in ("train_parquet", "test_parquet"))
        names = sorted(train["features"])
        absent = np.full(len(test["label"]), np.nan, dtype=np.float32)
        pool = catboost.Pool(np.column_stack([train["features"][name] for name in names]), train["label"], group_id=train["group"])
        # Binning is part of fit: a model of a few trees takes the same time for it.
        first = time.perf_counter()
        catboost.CatBoost(params | {"iterations": 2}).fit(pool)
        started = time.perf_counter()
        booster = catboost.CatBoost(params | {"iterations": params["iterations"] + 2}).fit(pool)
        seconds, peak = time.perf_counter() - started - (started - first), peak_memory()
        # The test file may lack features that the training file has.
        scores = booster.predict(np.column_stack([test["features"].get(name, absent) for name in names]))
    else:
        import xgboost

        params = {
            "objective": "rank:ndcg",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": params["num_leaves"],
            "max_bin": params["max_bin"],
            "eta": params["learning_rate"],
            "min_child_weight": params["min_sum_hessian_in_leaf"],
            "lambda": params["lambda_l2"],
            "lambdarank_num_pair_per_sample": 30,
            "nthread": task["threads"],
            "verbosity": 0,
        } | {"rounds": params["num_trees"]}
        rounds = params.pop("rounds")
        data = xgboost.DMatrix(f"{task['train']}?format=libsvm", nthread=task["threads"])
        started = time.perf_counter()
        booster = xgboost.train(params, data, num_boost_round=rounds)
        seconds, peak = time.perf_counter() - started, peak_memory()
        scores = booster.predict(xgboost.DMatrix(f"{task['test']}?format=libsvm"), validate_features=False)
    np.savetxt(task["scores"], scores, fmt="%.17g")
    print(json.dumps({"seconds": seconds, "peak_memory_bytes": peak}))


def read_parquet(path):
    """Labels, features by name and query numbers of a file that Rankwise wrote."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names if name not in ("qid", "docid")}
    label = columns.pop("label")
    _, group = np.unique(np.array(table["qid"].to_pylist(), dtype=str), return_inverse=True)
    # CatBoost wants the documents of a query next to each other; Rankwise writes them so.
    return {"label": label, "features": {name: column.astype(np.float32) for name, column in columns.items()}, "group": group}


def peak_memory():
    """Peak memory of this process in bytes; the system's figure for a child includes its parent's."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def run_json(command):
    """Runs a command and returns the last line of its output, which is JSON."""
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.strip().splitlines()[-1])


def train_once(program, task, binary, threads, folder):
    """Seconds of training, NDCG@10 on the test file, peak memory and, for Rankwise, the phases."""
    if program.startswith("Rankwise"):
        model = folder / "model.json"
        settings = [f"--set={name}={value}" for name, value in task.settings().items()]
        settings += [f"--objective={objective}" for objective in program.split()[1:] if objective != "before"]
        command = [binary, "train", task.train, "--out", model, "--threads", str(threads), "--json", "--quiet"]
        report = run_json([*map(str, command), *settings, f"--set=absent={task.absent}"])
        seconds = report["seconds"]
        ndcg = peers.rankwise(binary, "eval", task.test, "--model", model)["metrics"]["ndcg@10"]
        phases = {name: 1e3 * value / task.trees for name, value in seconds.items()}
        training = seconds["total"] - seconds["load"] - seconds["bin"]
        return training, ndcg, report["peak_memory_bytes"], (phases, floors(model, task, threads))
    is_lightgbm = program.startswith("LightGBM")
    scores = folder / "scores.txt"
    task_json = json.dumps({
        "params": task.settings(),
        "threads": threads,
        "train": str(task.train),
        "test": str(task.test),
        "train_parquet": str(task.parquet(task.train, binary)) if program.startswith("CatBoost") else "",
        "test_parquet": str(task.parquet(task.test, binary)) if program.startswith("CatBoost") else "",
        "train_svm": str(task.svm(task.train)) if is_lightgbm else "",
        "test_svm": str(task.svm(task.test)) if is_lightgbm else "",
        "scores": str(scores),
    })
    report = run_json([sys.executable, __file__, "--worker", program, task_json])
    metrics = peers.rankwise(binary, "eval", task.test, "--scores", scores)["metrics"]
    return report["seconds"], metrics["ndcg@10"], report["peak_memory_bytes"], None


def compare(task, binaries, threads, rounds, folder):
    """The best ms per tree of each program. Trains with each program in turn; `binaries` has the Rankwise binary that trains or evaluates for each."""
    best = {}
    for _ in range(rounds):
        for program, binary in binaries.items():
            seconds, ndcg, peak, phases = train_once(program, task, binary, threads, folder)
            if program not in best or seconds < best[program][0]:
                best[program] = (seconds, ndcg, peak, phases)
    print(f"\n{task.name}: {task.shape()}, {task.trees} trees, {threads} threads, best of {rounds}")
    print(f"  {'program':20} {'ms per tree':>12} {'Rankwise is':>12} {'ndcg@10':>9} {'peak MB':>9}")
    ours = best["Rankwise"][0]
    for program in binaries:
        seconds, ndcg, peak, _ = best[program]
        ratio = "" if program == "Rankwise" else f"{seconds / ours:.2f} x"
        print(f"  {program:20} {1e3 * seconds / task.trees:12.1f} {ratio:>12} {ndcg:9.4f} {peak / 1e6:9.0f}")
    phases, floor = best["Rankwise"][3]
    print(f"  {'phase':20} {'ms per tree':>12} {'floor':>12} {'distance':>9}")
    for phase in ("gradients", "histograms", "splits", "partition", "scores", "other"):
        least = f"{floor[phase]:12.1f} {phases[phase] / floor[phase]:9.1f}" if floor.get(phase) else ""
        print(f"  {phase:20} {phases[phase]:12.1f} {least}")
    load, binning = (phases[phase] * task.trees / 1e3 for phase in ("load", "bin"))
    print(f"  before the first tree: load {load:.2f} s, bin {binning:.2f} s", flush=True)
    return {program: 1e3 * best[program][0] / task.trees for program in binaries}


def scaling(task, found):
    """Prints ms per tree by program and number of threads."""
    print(f"\n{task.name}, {task.shape()}: ms per tree by threads")
    print(f"  {'program':20}", *(f"{threads:>8}" for threads in found))
    for program in next(iter(found.values())):
        print(f"  {program:20}", *(f"{of_threads[program]:8.1f}" for of_threads in found.values()), flush=True)


# Nanoseconds on one core: per document with 30 pairs, per row partitioned.
GRADIENT_NS, SORT_NS = 26, 0.43


def floors(model, task, threads):
    """The lower bound of each phase in ms per tree, from the shapes of the trees and the clock rate of the machine.

    Histograms are searched while they are summed: the bound covers only the additions, the phase has both.
    """
    trees = json.loads(model.read_text())["trees"]
    summed = sorted_rows = documents = 0
    for tree in trees:
        def rows(code, tree=tree):
            return tree["count"][code] if code >= 0 else tree["leaf_count"][~code]

        of_tree = tree["count"][0] if tree["count"] else 0
        documents += of_tree
        summed += of_tree + sum(min(rows(left), rows(right)) for left, right in zip(tree["left"], tree["right"]))
        sorted_rows += sum(tree["count"])
    ms = 1e-6 / threads / max(len(trees), 1)
    return {
        "gradients": documents * GRADIENT_NS * ms,
        "histograms": summed * task.features / clock_ghz() * ms,
        "partition": sorted_rows * SORT_NS * ms,
    }


@functools.cache
def clock_ghz():
    """The clock rate of the machine under load."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "clock"
        subprocess.run(["rustc", "-O", "--edition", "2024", "-o", program, peers.BENCH / "clock.rs"], check=True)
        ghz = float(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    print(f"the clock runs at {ghz:.2f} GHz")
    return ghz


def compare_draws(binary, threads, n_draws, folder):
    """The mean difference in NDCG@10 over random training sets."""
    values = {"LightGBM": [], "Rankwise": []}
    for draw in range(n_draws):
        task = Task("web 260k x 136", 136, *web(binary, folder, 260_000, seed=10 + draw), leaves=255, trees=60)
        for program, found in values.items():
            found.append(train_once(program, task, binary, threads, folder)[1])
        task.train.unlink()
        task.svm(task.train).unlink()
    differences = [ours - theirs for ours, theirs in zip(values["Rankwise"], values["LightGBM"])]
    error = statistics.stdev(differences) / n_draws**0.5 if n_draws > 1 else float("nan")
    print(f"\nweb 260k x 136: ndcg@10 on {n_draws} draws of the training set, 255 leaves, 60 trees")
    for program, found in values.items():
        print(f"  {program}", " ".join(f"{value:.4f}" for value in found), f" mean {statistics.mean(found):.4f}")
    print(f"  difference {statistics.mean(differences):+.4f}, standard error {error:.4f}")


def web(binary, folder, rows, seed=1):
    train, test = folder / f"web{rows}-{seed}.txt", folder / "webtest.txt"
    peers.rankwise(binary, "synth", "--rows", rows, "--seed", seed, "--out", train)
    if not test.exists():
        peers.rankwise(binary, "synth", "--rows", 60_000, "--seed", 2, "--out", test)
    return train, test


def unpacked(path, folder):
    import zstandard

    out = folder / path.name.removesuffix(".zst")
    with open(path, "rb") as packed, open(out, "wb") as text:
        zstandard.ZstdDecompressor().copy_stream(packed, text)
    return out


def with_qids(path, folder):
    """LightGBM's example as LETOR text."""
    sizes = [int(size) for size in Path(f"{path}.query").read_text().split()]
    qids = [query for query, size in enumerate(sizes) for _ in range(size)]
    out = folder / f"{path.name}.txt"
    lines = [line.split(" ", 1) for line in path.read_text().splitlines()]
    out.write_text("".join(f"{label} qid:{qid} {rest}\n" for (label, rest), qid in zip(lines, qids)))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="2", help="a number, or several with commas between them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--only", default="", help="run only sets whose name contains this")
    parser.add_argument("--without", default="", help="leave out programs whose name contains this")
    parser.add_argument("--before", type=Path, help="compare with this binary in place of the peers")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(*args.worker)
    binary = peers.build()
    all_threads = [int(threads) for threads in args.threads.split(",")]

    def binaries(task):
        if args.before:
            return {"Rankwise before": args.before.resolve(), "Rankwise": binary}
        return {program: binary for program in task.programs() if not args.without or args.without not in program}

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.draws:
            return compare_draws(binary, all_threads[0], args.draws, folder)
        for task in tasks(binary, folder, args):
            found = {n: compare(task, binaries(task), n, args.rounds, folder) for n in all_threads}
            if len(found) > 1:
                scaling(task, found)


def tasks(binary, folder, args):
    def wanted(name):
        return args.only in name

    if wanted("web 260k"):
        files = web(binary, folder, 260_000)
        yield Task("web 260k x 136", 136, *files, leaves=255, trees=60)
        yield Task("web 260k x 136", 136, *files, leaves=31, trees=60)
        yield Task("web 260k x 136", 136, *files, leaves=64, trees=40, min_data=20, depth=6)
    data = peers.data_folder()
    if data is None:
        print("\nMSRD and LightGBM's example: skipped, there is no data folder (set RANKWISE_DATA)")
    else:
        if wanted("MSRD"):
            files = [unpacked(data / "msrd" / f"{part}.txt.zst", folder) for part in ("train", "vali")]
            yield Task("MSRD 263k x 246", 246, *files, leaves=255, trees=60, absent="zero")
        if wanted("example"):
            files = [with_qids(data / "lightgbm-lambdarank" / f"rank.{part}", folder) for part in ("train", "test")]
            yield Task("LightGBM's example 3k x 300", 300, *files, leaves=31, trees=100, min_data=20, absent="zero")
    if args.large and wanted("web 1M"):
        files = web(binary, folder, 1_000_000)
        yield Task("web 1M x 136", 136, *files, leaves=255, trees=30)
        yield Task("web 1M x 136", 136, *files, leaves=31, trees=30)
        yield Task("web 1M x 136", 136, *files, leaves=64, trees=30, min_data=20, depth=6)


if __name__ == "__main__":
    main()
