"""Compares settings of `train` with LightGBM's defaults, without and with a validation set.

    python3 experiments/defaults/run.py FOLDER [--jobs N] [--binary PATH]    trains and writes results.md
    python3 experiments/defaults/run.py FOLDER --report                      writes results.md from what is there

Finished runs are kept in FOLDER/results.json and not repeated. Each training has one thread. Settings change LightGBM's defaults
(`--preset lightgbm`: 100 leaf-wise trees of 31 leaves, learning rate 0.1, no regularisation); "oblivious" stands for grow=oblivious,
num_leaves=64 (depth 6) and lambda_l2=3, "es" for learning_rate=0.05, num_trees=1000 and early_stopping_rounds=50. "oblivious, rate 0.07,
150 trees" became the defaults of `train`.
"""

import argparse
import json
import math
import random
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

BASE = "LightGBM's defaults"
OBLIVIOUS = {"grow": "oblivious", "num_leaves": 64, "lambda_l2": 3}
STOPPING = {"learning_rate": 0.05, "num_trees": 1000, "early_stopping_rounds": 50}
HALF = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8}
# Rows and seeds of web-shaped data.
WEB = [(10_000, [1, 2, 3, 4]), (60_000, [1, 2]), (260_000, [1])]
SETS = ["mq2008", "mq2007", "msrd", "web10k", "web60k", "web260k"]


def oblivious(**more):
    return {**OBLIVIOUS, **more}


def without_valid():
    settings = {BASE: {}, "oblivious": oblivious()}
    variants = {
        "rate 0.05, 200 trees": {"learning_rate": 0.05, "num_trees": 200}, "rate 0.05": {"learning_rate": 0.05}, "200 trees": {"num_trees": 200},
        "rate 0.15": {"learning_rate": 0.15}, "150 trees": {"num_trees": 150}, "rate 0.07, 150 trees": {"learning_rate": 0.07, "num_trees": 150},
        "lambda_l2 1": {"lambda_l2": 1}, "lambda_l2 10": {"lambda_l2": 10}, "depth 5": {"num_leaves": 32}, "depth 7": {"num_leaves": 128},
        "depth 8": {"num_leaves": 256}, "depth 8, lambda_l2 10": {"num_leaves": 256, "lambda_l2": 10}, "min_data_in_leaf 5": {"min_data_in_leaf": 5},
        "min_data_in_leaf 50": {"min_data_in_leaf": 50}, "samples of 0.8": HALF, "feature_fraction 0.5": {"feature_fraction": 0.5},
        "truncation_level 10": {"truncation_level": 10}, "truncation_level 100": {"truncation_level": 100},
        "lambda_norm false": {"lambda_norm": "false"}, "sigmoid 2": {"sigmoid": 2},
    }
    settings.update({f"oblivious, {name}": oblivious(**more) for name, more in variants.items()})
    settings.update({f"oblivious, {name}": oblivious(objective=name) for name in ("xendcg", "query-rmse", "yetirank", "lambdaloss")})
    leafwise = {
        "lambda_l2 3": {"lambda_l2": 3}, "lambda_l2 10": {"lambda_l2": 10}, "15 leaves": {"num_leaves": 15},
        "rate 0.05, 200 trees": {"learning_rate": 0.05, "num_trees": 200}, "feature_fraction 0.5": {"feature_fraction": 0.5},
        "samples of 0.8": HALF, "min_data_in_leaf 50": {"min_data_in_leaf": 50}, "50 trees": {"num_trees": 50},
    }
    settings.update({f"leaf-wise, {name}": more for name, more in leafwise.items()})
    for depth in (5, 6):
        settings[f"level-wise, depth {depth}, lambda_l2 3"] = {**OBLIVIOUS, "grow": "levelwise", "num_leaves": 2**depth}
    return settings


def with_valid():
    settings = {
        BASE: {}, "oblivious": oblivious(), "oblivious, rate 0.05, 200 trees": oblivious(learning_rate=0.05, num_trees=200),
        "oblivious, depth 8, lambda_l2 10": oblivious(num_leaves=256, lambda_l2=10), "leaf-wise, lambda_l2 3": {"lambda_l2": 3},
        "es, leaf-wise": STOPPING, "es, oblivious": oblivious(**STOPPING),
        "es, oblivious, depth 8, lambda_l2 10": oblivious(num_leaves=256, **{**STOPPING, "lambda_l2": 10}),
    }
    for name in ("softmax", "listnet", "yetirank", "query-rmse", "ranknet", "xendcg"):
        settings[f"es, oblivious, {name}"] = oblivious(objective=name, **STOPPING)
        settings[f"es, leaf-wise, {name}"] = {"objective": name, **STOPPING}
    return settings


def tasks(binary, folder):
    """The tasks of each set; MSRD's `vali` part is halved by query for validation and testing."""
    found = {f"{name}-{place + 1}": task for name in ("mq2008", "mq2007") for place, task in enumerate(lab.letor_folds(name, folder))}
    data = lab.folder_of("msrd")
    train, vali = (lab.peers.Letor.read_lines(data / f"{part}.txt.zst") for part in ("train", "vali"))
    qids = list(dict.fromkeys(lab.qid(line) for line in vali))
    random.Random(1).shuffle(qids)
    held = set(qids[: len(qids) // 2])
    place = folder / "msrd-1"
    place.mkdir(exist_ok=True)
    parts = [line for line in vali if lab.qid(line) in held], [line for line in vali if lab.qid(line) not in held]
    found["msrd-1"] = lab.write_task(place, train, *parts)
    for rows, seeds in WEB:
        for seed in seeds:
            place = folder / f"web{rows // 1000}k-{seed}"
            lab.peers.rankwise(binary, "synth", "--rows", rows, "--seed", seed, "--split", "0.6,0.2,0.2", "--out", place)
            found[place.name] = lab.Task(place / "train.txt", place / "vali.txt", place / "test.txt")
    return found


def train(binary, task, settings, uses_valid, room):
    model, table = room.with_suffix(".json"), room.with_suffix(".tsv")
    valid = ["--valid", task.vali] if uses_valid else []
    sets = [f"--set={key}={value}" for key, value in settings.items()]
    report = lab.peers.rankwise(binary, "train", task.train, *valid, "--out", model, "--threads", 1, "--empty", "skip", "--preset", "lightgbm", *sets)
    lab.peers.rankwise(binary, "eval", task.test, "--model", model, "--metric", "ndcg@10", "--empty", "skip", "--per-query", table)
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    column = rows[0].index("ndcg@10")
    values = {}
    for row in rows[1:]:
        try:
            values[row[0]] = float(row[column])
        except ValueError:
            continue
    model.unlink()
    table.unlink()
    seconds = report["seconds"]
    return {"v": {query: value for query, value in values.items() if value == value}, "trees": report["trees"], "s": seconds["total"], "load": seconds["load"]}


def run(binary, folder, jobs):
    path = folder / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    todo = []
    for name, task in tasks(binary, folder).items():
        for mark, all_settings in (("-", without_valid()), ("v", with_valid())):
            todo += [(f"{title}|{mark}|{name}", task, settings, mark == "v") for title, settings in all_settings.items()]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {}
        for place, (key, task, settings, uses_valid) in enumerate(todo):
            if key not in results:
                waiting[pool.submit(train, binary, task, settings, uses_valid, folder / f"run{place}")] = key
        for job in as_completed(waiting):
            results[waiting[job]] = job.result()
            path.write_text(json.dumps(results))


def pooled(results, title, mark, name):
    """The values of all test queries of a set, and the seconds of training without loading."""
    values, seconds = {}, 0.0
    for key, result in results.items():
        of_title, of_mark, task = key.split("|")
        if (of_title, of_mark, task.rsplit("-", 1)[0]) == (title, mark, name):
            values.update({f"{task}:{query}": value for query, value in result["v"].items()})
            seconds += result["s"] - result["load"]
    return values, seconds


def difference(values, base):
    shared = [values[query] - base[query] for query in values if query in base]
    mean = sum(shared) / len(shared)
    spread = sum((value - mean) ** 2 for value in shared)
    return mean, math.sqrt(spread / len(shared) / (len(shared) - 1))


def section(results, mark, settings):
    base = {name: pooled(results, BASE, mark, name) for name in SETS}
    means = [f"{sum(base[name][0].values()) / len(base[name][0]):.4f}" for name in SETS]
    lines = ["| settings | " + " | ".join(SETS) + " | time |", "|---" * (len(SETS) + 2) + "|"]
    lines.append(f"| {BASE} | " + " | ".join(means) + " | 1 |")
    for title in settings:
        found = {name: pooled(results, title, mark, name) for name in SETS}
        if title == BASE or not all(values for values, _ in found.values()):
            continue
        cells = [f"{mean:+.4f} ± {error:.4f}" for mean, error in (difference(found[name][0], base[name][0]) for name in SETS)]
        ratio = sum(seconds for _, seconds in found.values()) / sum(seconds for _, seconds in base.values())
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {ratio:.1f} |")
    return "\n".join(lines) + "\n"


def report(folder):
    results = json.loads((folder / "results.json").read_text())
    text = (
        "# Settings against LightGBM's defaults\n\n"
        "`python3 experiments/defaults/run.py`: NDCG@10 on test queries with relevant documents (exponential gain, worst order of ties), all folds "
        "and seeds of a set pooled. All trained by Rankwise. Below LightGBM's defaults (`--preset lightgbm`), differences from them with their "
        'standard errors, and the time of training relative to theirs on one thread. "oblivious" is grow=oblivious, num_leaves=64, lambda_l2=3; "es" is learning_rate=0.05, num_trees=1000, '
        "early_stopping_rounds=50. What is not named is LightGBM's default. \"oblivious, rate 0.07, 150 trees\" became the defaults of `train`.\n\n## Without a validation set\n\n"
    )
    text += section(results, "-", without_valid()) + "\n## With a validation set\n\n" + section(results, "v", with_valid())
    lab.write(HERE / "results.md", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--binary", type=Path)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True, parents=True)
    if not args.report:
        run(args.binary or lab.peers.build(), args.folder, args.jobs)
    report(args.folder)


if __name__ == "__main__":
    main()
