"""Our TPE against Optuna's TPE and random search: all drive Rankwise over the same space (space.toml), with the same data and number of trials.

    python3 experiments/tune/run.py --binary target/release/rankwise --data $RANKWISE_DATA --jobs 16
    python3 experiments/tune/run.py ... --seeds 2 --trials 12 --trees 20     a small one, to see that it runs

The value of a trial is its best validation NDCG@10 over at most 200 trees, on fold 1 of MQ2007 (S1 to S3 train, S4 validates).
A search and all its trainings have the same seed, so that searches of a seed differ only in what they try.
Finished searches stay in --work, and are not run again. Needs `pip install optuna zstandard`.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPACE = HERE / "space.toml"
INTEGERS = {"num_leaves", "min_data_in_leaf"}
# Name: the options of `rankwise tune`; None for Optuna.
SEARCHES = {
    "random": ["--search", "random", "--parallel", "1"],
    "Optuna's TPE": None,
    "our TPE": ["--search", "tpe", "--parallel", "1"],
    "our TPE, 4 at a time": ["--search", "tpe", "--parallel", "4"],
}
METRIC = "ndcg@10"


def rankwise(args, *options):
    command = [args.binary, *options, "--json", "--quiet", "--threads", "1", "--metric", METRIC, "--set", f"num_trees={args.trees}"]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else {"error": run.stderr}


def files(args):
    parts = [args.data / "mq2007" / f"S{part}.txt.zst" for part in range(1, 6)]
    return parts[:3], parts[3], parts[4]


def ours(args, options, seed, folder):
    train, valid, test = files(args)
    # With test data, all validation queries decide. A value as large as num_trees means no early stopping.
    where = [*train, "--valid", valid, "--test", test, "--space", SPACE, "--out", folder / "model.json", "--seed", seed]
    patience = ["--set", f"early_stopping_rounds={args.trees}"]
    found = rankwise(args, "tune", *where, "--trials", args.trials, *options, *patience)
    if "error" in found:
        raise SystemExit(found["error"])
    return [trial.get("value") for trial in found["trials"]]


def optunas(args, seed, folder):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = tomllib.loads(SPACE.read_text())
    train, valid, _ = files(args)

    def suggest(trial, name, values):
        if isinstance(values, list):
            return trial.suggest_categorical(name, values)
        is_log = "log" in values
        low, high = values["log" if is_log else "uniform"]
        if name in INTEGERS:
            return trial.suggest_int(name, low, high, log=is_log)
        return trial.suggest_float(name, low, high, log=is_log)

    def objective(trial):
        settings = [f"--set={name}={suggest(trial, name, values)}" for name, values in space.items()]
        found = rankwise(args, "train", *train, "--valid", valid, "--out", folder / "model.json", "--seed", seed, *settings)
        if "error" in found:
            raise optuna.TrialPruned(found["error"])
        return found["valid"][METRIC]

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=args.trials)
    return [trial.value for trial in study.trials]


def search(args, name, seed):
    """The values of the trials of one search."""
    label = "".join(letter if letter.isalnum() else "-" for letter in name)
    result = args.work / f"{label}-{args.trials}-{args.trees}-{seed}.json"
    if not result.exists():
        folder = args.work / f"{result.stem}.part"
        folder.mkdir(parents=True, exist_ok=True)
        options = SEARCHES[name]
        values = optunas(args, seed, folder) if options is None else ours(args, options, seed, folder)
        partial = folder / "values.json"
        partial.write_text(json.dumps(values))
        partial.replace(result)
        print(f"{name}, seed {seed}: {best(values):.4f}", flush=True)
    return json.loads(result.read_text())


def best(values, n_trials=None):
    return max(value for value in values[:n_trials] if value is not None)


def table(args, found):
    after = [n_trials for n_trials in (10, 20, 30, 50, 100) if n_trials <= args.trials]
    after = after if after and after[-1] == args.trials else [*after, args.trials]
    heads = " | ".join(f"after {n_trials}" for n_trials in after)
    lines = [f"| search | {heads} | minus Optuna's TPE |", "|---" * (len(after) + 2) + "|"]
    theirs = [best(values) for values in found["Optuna's TPE"]]
    for name, runs in found.items():
        means = " | ".join(f"{statistics.mean(best(values, n_trials) for values in runs):.4f}" for n_trials in after)
        differences = [best(values) - their for values, their in zip(runs, theirs)]
        spread = 1.96 * statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.nan
        last = "" if name == "Optuna's TPE" else f"{statistics.mean(differences):+.4f} ± {spread:.4f}"
        lines.append(f"| {name} | {means} | {last} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=HERE.parent.parent / "target" / "release" / "rankwise")
    parser.add_argument("--data", type=Path, default=os.environ.get("RANKWISE_DATA"), help="the folder that has mq2007")
    parser.add_argument("--jobs", type=int, default=2, help="searches at a time, each on one thread")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--trees", type=int, default=200, help="the most of a trial")
    parser.add_argument("--work", type=Path, default=Path("tune-work"), help="folder for finished searches")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    tasks = [(name, seed) for seed in range(args.seeds) for name in SEARCHES]
    with ThreadPoolExecutor(args.jobs) as pool:
        values = dict(zip(tasks, pool.map(lambda task: search(args, *task), tasks)))
    found = {name: [values[name, seed] for seed in range(args.seeds)] for name in SEARCHES}
    head = (
        "# Searches for parameters\n\n"
        f"`python3 experiments/tune/run.py --seeds {args.seeds} --trials {args.trials} --trees {args.trees}`. MQ2007, fold 1. The mean over "
        f"{args.seeds} seeds of the best validation NDCG@10 of the first trials, at most {args.trees} trees each; the last column after "
        f"{args.trials} trials, with its 95 % interval over seeds.\n\n"
    )
    args.out.write_text(head + table(args, found))
    print(args.out.read_text())


if __name__ == "__main__":
    main()
