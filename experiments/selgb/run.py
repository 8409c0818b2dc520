"""Selective gradient boosting, reproduced: Tables 2 and 3 and Figures 2 and 3 of Lucchese, Marcuzzi and Orlando (2023).

    python3 experiments/selgb/run.py                     the long preset, MQ2007 and MSRD; writes results.md and figures
    python3 experiments/selgb/run.py --quick             one small dataset, few trees, to see that it runs

For each dataset, the share p of negative documents that `selective` keeps is chosen on the validation part, then p2 of `high-low`
at the best p1. All methods grow the same number of trees. The test part is used once, at the end. p-values come from Fisher's
randomisation test, one-sided, by `rankwise compare`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402
import plot  # noqa: E402

METRIC = "ndcg@10"
CUTS = [150, 350, 550]
SHARES = {"long": [0.5, 1, 2, 5, 10, 30], "mq2007": [10, 20, 30, 40, 60, 80], "msrd": [10, 20, 30, 40, 60, 80]}
LOW_SHARES = {"long": [0, 0.5, 1, 2, 5, 10], "mq2007": [0, 10, 20, 30, 40, 60], "msrd": [0, 10, 20, 30, 40, 60]}
COMMON = {"learning_rate": 0.05, "num_leaves": 32, "min_data_in_leaf": 20}


class Lab:
    """One dataset: its parts, and runs on them."""

    def __init__(self, binary, name, tasks, trees, folder):
        self.binary, self.name, self.tasks, self.trees, self.folder = binary, name, tasks, trees, folder
        self.trained = {}

    def run(self, task, settings, trees, model):
        """Trains one model; returns seconds per tree."""
        sets = [f"--set={name}={value}" for name, value in {**COMMON, **settings, "num_trees": trees}.items()]
        seconds = lab.peers.rankwise(self.binary, "train", task.train, "--out", model, *sets)["seconds"]
        return (seconds["total"] - seconds["load"] - seconds["bin"]) / trees

    def train(self, settings):
        """The models of all folds, trained once for each combination of settings."""
        key = tuple(sorted(settings.items()))
        if key not in self.trained:
            models = [self.folder / f"{self.name}-{len(self.trained)}-{fold}.json" for fold in range(len(self.tasks))]
            for task, model in zip(self.tasks, models):
                self.run(task, settings, self.trees, model)
            self.trained[key] = models
            print(self.name, settings, flush=True)
        return self.trained[key]

    def seconds(self, methods, rounds=3, trees=100):
        """Seconds per tree on the first fold, with the methods in turn: the best of several rounds."""
        model, best = self.folder / "timed.json", {}
        for method, settings in list(methods.items()) * rounds:
            seconds = self.run(self.tasks[0], settings, min(trees, self.trees), model)
            best[method] = min(seconds, best.get(method, seconds))
        return best

    def scores(self, settings, part, n_trees):
        """The scores of a part, for all folds in sequence."""
        found = []
        for model, task in zip(self.train(settings), self.tasks):
            out = self.folder / "scores.txt"
            path = getattr(task, part)
            lab.peers.rankwise(self.binary, "predict", model, path, "--out", out, "--trees", n_trees)
            found.append(out.read_text())
        return found

    def value(self, settings, part, n_trees):
        """The mean over the queries of all folds."""
        values = []
        for text, task in zip(self.scores(settings, part, n_trees), self.tasks):
            table = lab.per_query(self.binary, getattr(task, part), [float(line) for line in text.split()], METRIC)
            values.extend(table.values())
        return sum(values) / len(values)

    def best(self, choices):
        """The settings with the largest metric on the validation part."""
        values = [(self.value(settings, "vali", self.trees), settings) for settings in choices]
        return max(values, key=lambda pair: pair[0])[1], [value for value, _ in values]

    def share_used(self, settings):
        """The mean share of training documents in the samples of trees."""
        shares = []
        for model, task in zip(self.train(settings), self.tasks):
            with open(task.train) as lines:
                n_rows = sum(1 for _ in lines)
            trees = lab.read_model(model)["trees"]
            shares.append(sum(sum(tree["leaf_count"]) for tree in trees) / len(trees) / n_rows)
        return sum(shares) / len(shares)

    def p_value(self, first, second, n_trees):
        """One-sided p-value that `first` is better than `second` on the test parts, and the difference."""
        texts = [self.scores(settings, "test", n_trees) for settings in (first, second)]
        paths = []
        for name, parts in zip("ab", texts):
            path = self.folder / f"{name}.txt"
            path.write_text("".join(parts))
            paths.append(path)
        whole = self.folder / "test.txt"
        with open(whole, "w") as out:
            for fold, task in enumerate(self.tasks):
                out.write(task.test.read_text())
        arguments = ["--scores", paths[0], "--scores", paths[1], "--metric", METRIC, "--one-sided"]
        test = lab.peers.rankwise(self.binary, "compare", whole, *arguments)["tests"][0]
        return test["difference"], test["p_value"]


def overlap(work, settings, share_low, n_queries=40):
    """Among the negative documents at the bottom of the first fold's training queries after the last tree: the mean share that was
    also at the bottom after every tenth tree (section 4.5)."""
    task = work.tasks[0]
    queries = {}
    with open(task.train) as lines:
        for row, line in enumerate(lines):
            label, qid, _ = line.split(None, 2)
            queries.setdefault(qid, []).append((row, float(label)))
    chosen = [docs for docs in queries.values() if any(label > 0 for _, label in docs)][:n_queries]
    always = None
    model = work.train(settings)[0]
    for n_trees in range(max(work.trees // 10, 1), work.trees + 1, max(work.trees // 10, 1)):
        out = work.folder / "scores.txt"
        lab.peers.rankwise(work.binary, "predict", model, task.train, "--out", out, "--trees", n_trees)
        scores = [float(line) for line in out.read_text().split()]
        bottoms = []
        for docs in chosen:
            negative = sorted((scores[row], row) for row, label in docs if label == 0)
            bottoms.append({row for _, row in negative[: max(1, round(share_low / 100 * len(negative)))]})
        always = bottoms if always is None else [a & b for a, b in zip(always, bottoms)]
    return sum(len(kept) / max(len(bottom), 1) for kept, bottom in zip(always, bottoms)) / len(chosen)


def section(work, with_figures):
    name, trees = work.name, work.trees
    plain = {}
    shares, low_shares = SHARES[name], LOW_SHARES[name]
    selective, swept = work.best([{"sample": "selective", "p_high": share} for share in shares])
    baseline = work.value(plain, "vali", trees)
    p_high = selective["p_high"]
    high_low, swept_low = work.best([{"sample": "high-low", "p_high": p_high, "p_low": share} for share in low_shares])
    # With no documents from the bottom, high-low would be selective: the table shows the best one that differs.
    if high_low["p_low"] == 0:
        place = max(range(1, len(low_shares)), key=lambda idx: swept_low[idx])
        high_low = {"sample": "high-low", "p_high": p_high, "p_low": low_shares[place]}
    methods = {
        "LambdaMART": plain,
        f"selective, p = {p_high} %": selective,
        f"high-low, p1 = {p_high} %, p2 = {high_low['p_low']} %": high_low,
        "GOSS": {"sample": "goss"},
        "bagging, 50 %": {"sample": "bagging", "bagging_fraction": 0.5},
    }
    if with_figures:
        figure = plot.Plot(f"{name}: {METRIC} on the validation part", "percent of negatives kept", METRIC)
        figure.line("selective, by p", shares, swept)
        figure.line(f"high-low, by p2 at p1 = {p_high} %", low_shares, swept_low)
        figure.level("LambdaMART", baseline)
        figure.write(HERE / f"{name}-shares.svg")
    cuts = [cut for cut in CUTS if cut < trees]
    lines = [
        "| " + " | ".join(["method", *(f"{cut} trees" for cut in cuts), f"all {trees}", "high-low above it by", "p", "ms a tree", "documents used"]) + " |",
        "|---" * (len(cuts) + 6) + "|",
    ]
    seconds = work.seconds(methods)
    for method, settings in methods.items():
        values = [work.value(settings, "test", cut) for cut in [*cuts, trees]]
        difference = "", ""
        if settings is not high_low:
            found = work.p_value(high_low, settings, trees)
            difference = f"{found[0]:+.4f}", f"{found[1]:.4f}"
        cells = [f"{value:.4f}" for value in values]
        lines.append(
            f"| {method} | " + " | ".join(cells) + f" | {difference[0]} | {difference[1]} | {1e3 * seconds[method]:.1f} | "
            f"{100 * work.share_used(settings):.1f} % |"
        )
    difference, p = work.p_value(selective, plain, trees)
    lines.append(f"\nSelective is above LambdaMART by {difference:+.4f}, p = {p:.4f}.")
    kept = [overlap(work, settings, high_low["p_low"]) for settings in (selective, high_low)]
    lines.append(
        f"\nOf the lowest {high_low['p_low']} % of negatives after the last tree, so many were there after every tenth of the trees: "
        f"selective {100 * kept[0]:.0f} %, high-low {100 * kept[1]:.0f} %.\n"
    )
    return "\n".join(lines)


def long_task(binary, folder, rows, seed=2):
    """Lists are so long that a million documents make few queries: half of them are for testing."""
    place = folder / "long"
    lab.peers.rankwise(binary, "synth", "--preset", "long", "--rows", rows, "--seed", seed, "--split", "0.3,0.2,0.5", "--out", place)
    return lab.Task(place / "train.txt", place / "vali.txt", place / "test.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=700)
    parser.add_argument("--rows", type=int, default=2_000_000, help="documents of the long preset, all parts together")
    parser.add_argument("--only", choices=["long", "mq2007", "msrd"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    args = parser.parse_args()
    binary = lab.peers.build()
    trees = 30 if args.quick else args.trees
    head = (
        "# Selective gradient boosting\n\n"
        f"`python3 experiments/selgb/run.py`: LambdaMART with {trees} trees of {COMMON['num_leaves']} leaves, learning rate "
        f"{COMMON['learning_rate']}, no early stopping; {METRIC} on the test part (exponential gain, worst order of ties, queries without "
        "relevant documents count as 0). p: Fisher's randomisation test, one-sided, that high-low is better. A tree's time: "
        "the first 100 trees, best of 3 rounds in turn.\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in [args.only] if args.only else ["mq2007"] if args.quick else ["long", "mq2007", "msrd"]:
            if data == "long":
                tasks = [long_task(binary, folder, args.rows)]
            else:
                tasks = lab.tasks(data, folder, 1 if args.quick else 5)
            report.put(data, section(Lab(binary, data, tasks, trees, folder), not args.quick))


if __name__ == "__main__":
    main()
