"""Trains every kind of ranker on MQ2008 and MQ2007 and writes results.md.

    python3 experiments/classics/run.py             everything: about 20 minutes on two cores
    python3 experiments/classics/run.py --only mq2008

LETOR's five folds: three parts for training, one to choose the best round by MAP, one for testing. Parameters are the defaults but for
those in the table. Finished runs are kept in the folder of --keep and not repeated.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

METRICS = ["map", "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"]
FIRST = "LambdaMART"
# Names that the history of the field knows, and how to train them.
RANKERS = {
    FIRST: {},
    "MART": {"objective": "rmse"},
    "BayesRank (Plackett-Luce)": {"objective": "plackett-luce", "target": "map"},
    "AdaBoost, stumps": {"learner": "adaboost"},
    "AdaBoost, trees": {"learner": "adaboost", "weak_learner": "tree"},
    "AdaBoost, trees of depth 4": {"learner": "adaboost", "weak_learner": "tree", "max_depth": "4"},
    "RankBoost, thresholds": {"learner": "rankboost"},
    "RankBoost, exact weights": {"learner": "rankboost", "weak_ranker": "threshold-exact"},
    "RankBoost, values": {"learner": "rankboost", "weak_ranker": "correlation"},
    "RankBoost, values by search": {"learner": "rankboost", "weak_ranker": "search"},
    "RankSVM, squared hinge": {"learner": "ranksvm"},
    "RankSVM, hinge": {"learner": "ranksvm", "svm_loss": "hinge"},
    "AdaRank": {"learner": "adarank", "target": "map"},
    "coordinate ascent": {"learner": "coordinate-ascent", "target": "map"},
    "linear, pairwise logistic": {"learner": "linear", "objective": "ranknet"},
    "linear LambdaRank": {"learner": "linear", "objective": "lambdamart", "target": "map"},
    "linear ListNet": {"learner": "linear", "objective": "listnet"},
    "linear softmax": {"learner": "linear"},
    "RankNet": {"learner": "neural", "network": "mlp", "objective": "ranknet"},
    "LambdaRank": {"learner": "neural", "network": "mlp", "objective": "lambdamart", "target": "map"},
    "ListNet": {"learner": "neural", "network": "mlp", "objective": "listnet"},
    "network, softmax": {"learner": "neural", "network": "mlp"},
    "self-attention": {"learner": "neural"},
}


def train(binary, place, name, settings):
    """Writes the scores of the test part; returns the seconds of training, also of an earlier run."""
    scores, seconds = place / f"{name}.scores", place / f"{name}.seconds"
    if not scores.exists():
        model = place / f"{name}.json"
        sets = [f"--set={key}={value}" for key, value in settings.items()]
        files = [place / "train.txt", "--valid", place / "vali.txt", "--out", model]
        report = lab.peers.rankwise(binary, "train", *files, "--metric", "map", "--threads", 2, *sets)
        lab.peers.rankwise(binary, "predict", model, place / "test.txt", "--out", scores)
        seconds.write_text(str(report["seconds"]["total"] - report["seconds"]["load"]))
    return float(seconds.read_text())


def row(binary, places, name):
    """The mean of each metric over folds."""
    totals = dict.fromkeys(METRICS, 0.0)
    for place in places:
        found = lab.peers.rankwise(
            binary, "eval", place / "test.txt", "--scores", place / f"{name}.scores", "--metric", ",".join(METRICS)
        )
        for metric in METRICS:
            totals[metric] += found["metrics"][metric] / len(places)
    return totals


def table(binary, places, seconds):
    tests = {name: lab.compared(binary, places, FIRST, [name], "map", "zero")[1][name] for name in RANKERS if name != FIRST}
    lines = ["| ranker | settings | MAP | NDCG@1 | @3 | @5 | @10 | p | s |", "|---|---|---|---|---|---|---|---|---|"]
    for name, settings in RANKERS.items():
        means = row(binary, places, name)
        given = " ".join(f"{key}={value}" for key, value in settings.items())
        p = lab.shown_p(tests[name][0]["p_value"]) if name in tests else ""
        values = " | ".join(f"{means[metric]:.4f}" for metric in METRICS)
        lines.append(f"| {name} | {given and f'`{given}`'} | {values} | {p} | {seconds[name]:.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = lab.arguments(__doc__, HERE / "results.md", ("mq2008", "mq2007"))
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    binary = lab.peers.build()
    head = (
        "# Every kind of ranker\n\n`python3 experiments/classics/run.py`. Means over LETOR's five folds; the best round is chosen by MAP on "
        "the validation part. Queries without relevant documents count as 0, ties are in the worst order, NDCG has exponential gain. p: "
        f"Fisher's randomisation test (two-sided) of MAP against {FIRST}, test queries of all folds pooled. s: seconds of training and "
        "choosing, all five folds, two threads.\n"
    )
    report = lab.Report(args.out, head)
    with tempfile.TemporaryDirectory() as room:
        folder = args.keep or Path(room)
        folder.mkdir(exist_ok=True, parents=True)
        for data in ("mq2008", "mq2007"):
            if args.only not in (None, data):
                continue
            list(lab.letor_folds(data, folder, args.folds))
            places = sorted(folder.glob(f"{data}-*"))
            seconds = {}
            for name, settings in RANKERS.items():
                seconds[name] = sum(train(binary, place, name, settings) for place in places)
                print(data, name, f"{seconds[name]:.1f} s", flush=True)
            report.put(data.upper(), table(binary, places, seconds))


if __name__ == "__main__":
    main()
