"""The ablation of the StochasticRank paper (Table 3): what each part of StochasticRank contributes, and the variance of its gradients.

    python3 experiments/stochasticrank/table3.py                        MQ2007 and MSRD; writes table3.md
    python3 experiments/stochasticrank/table3.py --trials 2 --folds 1   a small one, to see that it runs
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402
import methods  # noqa: E402

METRIC = "ndcg@5"


def variances(binary, task, folder):
    """The variance of a document's gradient over random draws, at the scores of a trained model, by estimator."""
    model = folder / "model.json"
    settings = ["--set=num_trees=50", "--set=num_leaves=16", "--set=objective=stochasticrank", f"--set=target={METRIC}"]
    lab.peers.rankwise(binary, "train", task.train, "--out", model, *settings)
    command = ["cargo", "run", "--release", "--quiet", "-p", "rankwise", "--example", "gradient_variance", "--"]
    run = subprocess.run([*command, task.train, model, METRIC], cwd=HERE, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def section(binary, tasks, args, folder):
    values = methods.search(binary, list(methods.ABLATION), methods.ABLATION, tasks, METRIC, args.trials, args.jobs)
    spread = variances(binary, tasks[0], folder)
    lines = [
        f"| features | {METRIC} | standard error | above the row before by | p | variance of a gradient |",
        "|---|---|---|---|---|---|",
    ]
    before = None
    for method, table in values.items():
        mean, error = lab.mean_and_error(table.values())
        step = ("", "") if before is None else lab.paired_t(table, values[before])
        shown = "| |" if before is None else f"{step[0]:+.4f} ± {step[1]:.4f} | {step[2]:.4f} |"
        variance = f"{spread[method]:.3e}" if method in spread else ""
        lines.append(f"| {method} | {mean:.4f} | {error:.4f} | {shown} {variance} |")
        before = method
    lines.append(
        f"\n{len(values['CCS'])} queries. p: paired t-test by query, one-sided. Variance: mean over the documents of the first "
        "training part, 200 draws, at the scores of a model of 50 trees.\n"
    )
    return "\n".join(lines)


def main():
    parser = lab.arguments(__doc__, HERE / "table3.md")
    parser.add_argument("--trials", type=int, default=8)
    args = parser.parse_args()
    binary = lab.peers.build()
    head = (
        "# What the parts of StochasticRank add\n\n"
        f"`python3 experiments/stochasticrank/table3.py --trials {args.trials}`. Each row: the best of {args.trials} draws of its "
        f"parameters by the validation part, for each fold; at most {methods.MAX_TREES} trees, early stopping after "
        f"{methods.PATIENCE}; one sample for each gradient. Rules: exponential gain, worst order of ties, queries without relevant "
        "documents count as 0.\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ["mq2007", "msrd"] if args.only is None else [args.only]:
            tasks = lab.tasks(data, folder, args.folds)
            report.put(data, section(binary, tasks, args, folder))


if __name__ == "__main__":
    main()
