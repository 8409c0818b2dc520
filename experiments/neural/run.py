"""Neural rankers against linear ones and LambdaMART, on the five folds of MQ2007.

    python3 experiments/neural/run.py                     writes results.md

Each fold trains on three parts. The next part chooses the best epoch, iteration or tree by NDCG@10, and the last one is
measured. Queries without relevant documents are skipped. All parameters are the defaults, which were tuned on the validation
parts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
METRIC = "ndcg@10"
RANKERS = {
    "neural, attention": ["learner=neural"],
    "neural, attention, batch norm": ["learner=neural", "norm=batch"],
    "neural, multi-layer perceptron": ["learner=neural", "network=mlp"],
    "linear, softmax": ["learner=linear", "objective=softmax"],
    "LambdaMART": [],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    args = parser.parse_args()
    binary = os.environ.get("RANKWISE_BINARY", HERE.parents[1] / "target/release/rankwise")
    data = os.environ.get("RANKWISE_DATA")
    if not data:
        sys.exit("set RANKWISE_DATA to the folder with mq2007")
    parts = [Path(data) / "mq2007" / f"S{part}.txt.zst" for part in range(1, 6)]
    with tempfile.TemporaryDirectory() as folder:
        rows = {name: measure(binary, parts, settings, Path(folder)) for name, settings in RANKERS.items()}
    lines = [
        "# Neural rankers",
        "",
        "`python3 experiments/neural/run.py`: MQ2007, five folds, defaults; NDCG@10 (exponential gain, queries without relevant",
        "documents skipped) of the part that chooses the best round, and of the test part. Seconds of training are those of the",
        "slowest fold.",
        "",
        "| ranker | validation | test | test of each fold | seconds |",
        "|---|---|---|---|---|",
    ]
    for name, folds in rows.items():
        valid, test, seconds = zip(*folds)
        each = ", ".join(f"{value:.4f}" for value in test)
        lines.append(f"| {name} | {sum(valid) / 5:.4f} | {sum(test) / 5:.4f} | {each} | {max(seconds):.1f} |")
    args.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def measure(binary, parts, settings, folder):
    """Validation and test metric and seconds of each fold."""
    found = []
    for fold in range(5):
        turned = parts[fold:] + parts[:fold]
        model = folder / "model.json"
        sets = [word for setting in [*settings, f"metric={METRIC}", "empty=skip"] for word in ("--set", setting)]
        report = rankwise(binary, "train", *turned[:3], "--valid", turned[3], "--out", model, *sets)
        measured = rankwise(binary, "eval", "--model", model, turned[4], "--metric", METRIC, "--empty", "skip")
        found.append((max(report["history"]["curves"][0]["values"]), measured["metrics"][METRIC], report["seconds"]["total"]))
    return found


def rankwise(binary, *arguments):
    done = subprocess.run([binary, *map(str, arguments), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
