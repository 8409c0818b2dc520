"""The comparison of the StochasticRank paper (Table 2): NDCG@5 and MRR on real data, with all methods tuned by the same random search.

    python3 experiments/stochasticrank/table2.py                        MQ2007 and MSRD; writes table2.md
    python3 experiments/stochasticrank/table2.py --trials 2 --folds 1   a small one, to see that it runs
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402
import methods  # noqa: E402

METRICS = ["ndcg@5", "mrr"]


def section(binary, tasks, metric, args):
    names = [*methods.RANKWISE, *([] if args.no_peers else methods.PEERS)]
    values = methods.search(binary, names, methods.RANKWISE, tasks, metric, args.trials, args.jobs)
    baselines = {method: table for method, table in values.items() if not method.startswith("SR")}
    closest = max(baselines, key=lambda method: lab.mean_and_error(baselines[method].values())[0])
    lines = [f"| method | {metric} | standard error | SR above it by | p |", "|---|---|---|---|---|"]
    for method, table in values.items():
        mean, error = lab.mean_and_error(table.values())
        if method == "SR":
            lines.append(f"| **{method}** | {mean:.4f} | {error:.4f} | | |")
        else:
            difference, spread, p = lab.paired_t(values["SR"], table)
            lines.append(f"| {method} | {mean:.4f} | {error:.4f} | {difference:+.4f} ± {spread:.4f} | {p:.4f} |")
    n_queries = len(values["SR"])
    lines.append(f"\n{n_queries} queries; the closest baseline is {closest}. p: paired t-test by query, one-sided.\n")
    return "\n".join(lines)


def main():
    parser = lab.arguments(__doc__, HERE / "table2.md")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--metric", choices=METRICS, help="this one alone")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    binary = lab.peers.build()
    head = (
        "# Comparison on real data\n\n"
        f"`python3 experiments/stochasticrank/table2.py --trials {args.trials}`. Each method: the best of {args.trials} draws "
        f"of its parameters by the validation part, for each fold; at most {methods.MAX_TREES} trees, early stopping after "
        f"{methods.PATIENCE}. {lab.versions()}. Rules of all figures: exponential gain, worst order of ties, queries without "
        "relevant documents count as 0.\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ["mq2007", "msrd"] if args.only is None else [args.only]:
            tasks = lab.tasks(data, folder, args.folds)
            for metric in METRICS if args.metric is None else [args.metric]:
                report.put(f"{data}, {metric}", section(binary, tasks, metric, args))


if __name__ == "__main__":
    main()
