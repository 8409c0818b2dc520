"""Our TPE against Optuna's on cheap test functions, over many seeds.

    python3 experiments/tune/functions.py                    100 seeds, 50 trials; prints a table
    python3 experiments/tune/functions.py --parallel 4       trial i sees trials up to i - 4

Needs Optuna; the functions are those of crates/rankwise-tune/examples/tpe_functions.rs.
"""

import argparse
import math
import statistics
import subprocess
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KINDS = ["bowl", "valley", "steps", "branin"]
OBJECTIVES = ["lambdamart", "xendcg", "rmse", "ranknet"]
PENALTIES = dict(zip(OBJECTIVES, [0.1, 0.0, 0.3, 0.05]))


def mixed(trial, kind):
    rate = math.log10(trial.suggest_float("learning_rate", 0.001, 1, log=True))
    l2 = math.log10(trial.suggest_float("lambda_l2", 0.1, 10, log=True))
    leaves = math.log2(trial.suggest_int("num_leaves", 8, 128, log=True))
    depth = trial.suggest_int("max_depth", 2, 20)
    penalty = PENALTIES[trial.suggest_categorical("objective", OBJECTIVES)]
    if kind == "bowl":
        return ((rate + 1.3) / 3) ** 2 + 0.1 * (l2 - 0.3) ** 2 + ((leaves - 4.5) / 4) ** 2 + ((depth - 7) / 18) ** 2 + penalty
    if kind == "valley":
        bend = rate + 1.3 + 0.4 * (leaves - 5)
        return bend**2 + 0.02 * (leaves - 4) ** 2 + 0.05 * (l2 - 0.3) ** 2 + penalty * (1 + 0.1 * depth)
    slope = 1 + rate if rate > -1 else 0.3 * (-1 - rate)
    return slope + 0.1 * math.sin(4 * l2) + 0.02 * abs(depth - 9) + penalty + 0.05 * abs(leaves - 6)


def branin(trial):
    x = 15 * trial.suggest_float("bagging_fraction", 0.001, 1) - 5
    y = 15 * trial.suggest_float("feature_fraction", 0.001, 1)
    third, fourth = trial.suggest_float("drop_rate", 0, 1), trial.suggest_float("skip_drop", 0, 1)
    first = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    value = first * first + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10
    return 0.05 * value + (third - 0.2) ** 2 + (fourth - 0.8) ** 2


def optuna_lowest(task):
    kind, seed, trials = task
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(branin if kind == "branin" else lambda trial: mixed(trial, kind), n_trials=trials)
    return study.best_value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=1, help="of ours; Optuna sees all trials before")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    command = ["cargo", "run", "--quiet", "-p", "rankwise-tune", "--example", "tpe_functions", "--"]
    numbers = [str(number) for number in (args.seeds, args.trials, args.parallel)]
    run = subprocess.run([*command, *numbers], cwd=ROOT, check=True, capture_output=True, text=True)
    found = defaultdict(list)
    for line in run.stdout.splitlines():
        kind, search, _, lowest = line.split()
        found[kind, search].append(float(lowest))
    with ProcessPoolExecutor(args.jobs) as pool:
        for kind in KINDS:
            found[kind, "optuna"] = list(pool.map(optuna_lowest, [(kind, seed, args.trials) for seed in range(args.seeds)]))
    print("| function | random | Optuna's TPE | our TPE | ours - Optuna's |\n|---|---|---|---|---|")
    for kind in KINDS:
        means = {search: statistics.mean(found[kind, search]) for search in ["random", "optuna", "tpe"]}
        errors = [statistics.stdev(found[kind, search]) / math.sqrt(args.seeds) for search in ["optuna", "tpe"]]
        cells = " | ".join(f"{mean:.4f}" for mean in means.values())
        print(f"| {kind} | {cells} | {means['tpe'] - means['optuna']:+.4f} ± {1.96 * math.hypot(*errors):.4f} |")


if __name__ == "__main__":
    main()
