"""AdaBoost and RankBoost on LETOR's five folds, beside the default gradient boosting.

    RANKWISE_DATA=FOLDER python3 experiments/boosters/run.py              MQ2008; writes results.md
    RANKWISE_DATA=FOLDER python3 experiments/boosters/run.py --only mq2007 --out /tmp/results.md

Fold k trains on parts k, k + 1 and k + 2, keeps the round with the best MAP on part k + 3, and is measured on part k + 4. The
binary is `target/release/rankwise`, or the one that `RANKWISE_BINARY` names.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("RANKWISE_BINARY", HERE.parents[1] / "target" / "release" / "rankwise")
METRICS = ["map", "ndcg@10"]
METHODS = [
    ("`rankboost`", {"learner": "rankboost"}),
    ("`rankboost`, 300 rounds", {"learner": "rankboost", "num_trees": 300}),
    ("`weak_ranker=threshold-exact`", {"learner": "rankboost", "weak_ranker": "threshold-exact"}),
    ("`weak_ranker=correlation`", {"learner": "rankboost", "weak_ranker": "correlation"}),
    ("`weak_ranker=search`", {"learner": "rankboost", "weak_ranker": "search"}),
    ("`adaboost`", {"learner": "adaboost"}),
    ("`adaboost`, `impurity=error`", {"learner": "adaboost", "impurity": "error"}),
    ("`adaboost`, `weak_learner=tree`", {"learner": "adaboost", "weak_learner": "tree"}),
    ("`adaboost`, `weak_learner=tree`, `max_depth=4`", {"learner": "adaboost", "weak_learner": "tree", "max_depth": 4}),
    ("`gbdt` with `lambdamart`", {}),
]


def rankwise(*arguments):
    run = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, check=True)
    return run.stdout


def measure(parts, fold, settings, folder):
    """The metrics of the test part, and the number of rounds."""
    *train, valid, test = (parts[(fold + place) % 5] for place in range(5))
    joined, model = folder / f"train{fold}.txt", folder / "model.json"
    if not joined.exists():
        joined.write_bytes(b"".join(part.read_bytes() for part in train))
    sets = [f"--set={name}={value}" for name, value in settings.items()]
    rankwise("train", joined, "--valid", valid, "--metric", "map", "--out", model, "--quiet", *sets)
    report = json.loads(rankwise("eval", test, "--model", model, "--metric", ",".join(METRICS), "--json"))
    return [report["metrics"][name] for name in METRICS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["mq2007", "mq2008"], default="mq2008")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    options = parser.parse_args()
    data = Path(os.environ["RANKWISE_DATA"]) / options.only
    lines = [
        f"# AdaBoost and RankBoost on {options.only.upper()}",
        "",
        "`python3 experiments/boosters/run.py`: mean test metrics of five folds, with the best round by MAP on the validation part.",
        "Defaults otherwise, with up to 150 rounds. Rules: worst order of ties, queries without relevant documents count as 0,",
        "exponential gain.",
        "",
        "| method | MAP | NDCG@10 | MAP by fold |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = []
        for part in range(1, 6):
            parts.append(folder / f"S{part}.txt")
            with parts[-1].open("wb") as file:
                subprocess.run(["zstd", "-dcq", data / f"S{part}.txt.zst"], stdout=file, check=True)
        for title, settings in METHODS:
            folds = [measure(parts, fold, settings, folder) for fold in range(5)]
            means = [sum(values) / 5 for values in zip(*folds)]
            by_fold = ", ".join(f"{values[0]:.4f}" for values in folds)
            lines.append(f"| {title} | {means[0]:.4f} | {means[1]:.4f} | {by_fold} |")
            print(lines[-1], flush=True)
    options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
