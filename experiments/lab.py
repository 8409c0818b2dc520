"""Shared by the experiments: dataset splits, runs of Rankwise and of peers, tables with significance tests.

Every run is evaluated by the same program with the same rules (exponential gain, worst order of ties, queries without
relevant documents count as 0), whichever program trained the model.
"""

import argparse
import functools
import json
import math
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))

import peers  # noqa: E402

peers.enter_venv()

import numpy as np  # noqa: E402


# Files of a dataset may end with different features; all arrays are as wide as the widest.
MIN_WIDTH = 256


@dataclass
class Task:
    """Files for training, early stopping and testing."""

    train: Path
    vali: Path
    test: Path


def letor_folds(name, folder, n_folds=5):
    """The five folds of a LETOR dataset: three parts for training, one for early stopping, one for testing."""
    data = folder_of(name)
    parts = [peers.Letor.read(data / f"S{part}.txt.zst").lines for part in range(1, 6)]
    for fold in range(n_folds):
        place = folder / f"{name}-{fold + 1}"
        place.mkdir(exist_ok=True)
        turned = [parts[(fold + part) % 5] for part in range(5)]
        yield write_task(place, [line for part in turned[:3] for line in part], turned[3], turned[4])


def msrd_task(folder, share=0.25, seed=1):
    """MSRD: its `vali` part for testing; a random share of the training queries for early stopping."""
    data = folder_of("msrd")
    train = peers.Letor.read_lines(data / "train.txt.zst")
    test = peers.Letor.read_lines(data / "vali.txt.zst")
    qids = list(dict.fromkeys(qid(line) for line in train))
    random.Random(seed).shuffle(qids)
    held = set(qids[: int(share * len(qids))])
    place = folder / "msrd"
    place.mkdir(exist_ok=True)
    kept = [line for line in train if qid(line) not in held]
    return write_task(place, kept, [line for line in train if qid(line) in held], test)


def tasks(name, folder, n_folds=5):
    """The tasks of a dataset: its folds, or the single task of MSRD."""
    return [msrd_task(folder)] if name == "msrd" else list(letor_folds(name, folder, n_folds))


def arguments(description, out, data=("mq2007", "mq2008", "msrd")):
    """The options common to experiments on real data."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    parser.add_argument("--only", choices=data)
    parser.add_argument("--out", type=Path, default=out)
    return parser


def qid(line):
    return line.split(None, 2)[1]


def folder_of(name):
    data = peers.data_folder()
    if data is None or not (data / name).is_dir():
        raise SystemExit(f"{name} is not in a data folder; set RANKWISE_DATA to the folder that has it")
    return data / name


def write_task(place, train, vali, test):
    task = Task(place / "train.txt", place / "vali.txt", place / "test.txt")
    for path, lines in [(task.train, train), (task.vali, vali), (task.test, test)]:
        path.write_text("".join(line + "\n" for line in lines))
    return task


def train_rankwise(binary, task, settings, folder):
    """Trains with early stopping on the validation part; returns the report of `train` and the scores of the test part."""
    model, scores = folder / "model.json", folder / "scores.txt"
    sets = [f"--set={key}={value}" for key, value in settings.items()]
    # One thread, because the searches run several trainings at a time.
    arguments = ["--valid", task.vali, "--out", model, "--threads", 1, *sets]
    report = peers.rankwise(binary, "train", task.train, *arguments)
    peers.rankwise(binary, "predict", model, task.test, "--out", scores)
    return report, [float(line) for line in scores.read_text().split()]


@dataclass
class Arrays:
    """A file in the form that peers take, with the rows of a query adjacent."""

    features: np.ndarray
    labels: np.ndarray
    qids: list

    @property
    def sizes(self):
        sizes, last = [], None
        for one in self.qids:
            if one != last:
                sizes.append(0)
                last = one
            sizes[-1] += 1
        return sizes

    def pool(self):
        import catboost

        groups = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return catboost.Pool(self.features, self.labels, group_id=groups)


@functools.lru_cache(maxsize=12)
def arrays(path):
    """The arrays of a file, cached because every trial uses the same ones."""
    letor = peers.Letor.read(path)
    width = max(MIN_WIDTH, letor.features.shape[1])
    features = np.full((len(letor.labels), width), np.nan, dtype=np.float32)
    features[:, : letor.features.shape[1]] = letor.features
    return Arrays(features, letor.labels, letor.qids)


def measure(binary, path, scores, metric):
    return peers.ndcg(binary, path, scores, metric)


def per_query(binary, path, scores, metric):
    """The metric of each query with its mean: the basis of all comparisons."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written, table = folder / "scores.txt", folder / "queries.tsv"
        written.write_text("".join(f"{float(score)!r}\n" for score in scores))
        peers.rankwise(binary, "eval", path, "--scores", written, "--metric", metric, "--per-query", table)
        rows = [line.split("\t") for line in table.read_text().splitlines()]
    column = rows[0].index(metric)
    return {row[0]: float(row[column]) for row in rows[1:]}


def mean_and_error(values):
    values = list(values)
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return mean, spread / math.sqrt(len(values))


def paired_t(first, second):
    """Mean difference over queries, its standard error and the one-sided p-value that `first` is larger."""
    from scipy import stats

    queries = sorted(first)
    a, b = (np.array([table[query] for query in queries]) for table in (first, second))
    mean, error = mean_and_error(a - b)
    p = float(stats.ttest_rel(a, b, alternative="greater").pvalue) if error > 0 else 0.5
    return mean, error, p


def interval(first, second):
    """Mean difference of two methods over queries, and its 95 % confidence interval."""
    difference, error, _ = paired_t(first, second)
    return difference, difference - 1.96 * error, difference + 1.96 * error


# How much lower a metric may be before we call it a loss.
BOUND = 0.003
VERDICT_RULE = (
    f'"No worse": the lower end of the interval is above -{BOUND}; "better": above 0; "worse": the whole interval is below 0 and '
    f'reaches -{BOUND}; "open": the interval holds 0 and reaches -{BOUND}, so that these data cannot tell.'
)


def verdict(low, high):
    """The verdict on a confidence interval of differences, by the rule above; the same for every experiment."""
    if low > 0:
        return "better"
    if low > -BOUND:
        return "no worse" if high >= 0 else "no worse, but lower"
    return "**worse**" if high < 0 else "open"


def pooled_scores(places, names, room):
    """Labels of the test queries of all places in one file, and the scores of each system in the same order. The scores of a system
    are in PLACE/NAME.scores; systems without them in every place are left out."""
    table, systems = room / "test.txt", {}
    with table.open("w") as out:
        for place in places:
            for line in (place / "test.txt").read_text().splitlines():
                label, query = line.split(None, 2)[:2]
                out.write(f"{label} qid:{place.name}-{query[4:]} 1:0\n")
            for name in names:
                scores = place / f"{name}.scores"
                if scores.exists():
                    systems.setdefault(name, []).append(scores.read_text())
    complete = {name: "".join(parts) for name, parts in systems.items() if len(parts) == len(places)}
    for name, text in complete.items():
        (room / name).write_text(text)
    return table, [room / name for name in complete]


def compared(binary, places, first, others, metric="ndcg@10", empty="skip"):
    """The metric of each system over the pooled queries (by default those that have relevant documents), and for each of the others the
    test against the first with the sign that turns its difference into first minus other."""
    with tempfile.TemporaryDirectory() as room:
        table, files = pooled_scores(places, [first, *others], Path(room))
        given = [part for file in files for part in ("--scores", file)]
        rules = ["--metric", metric, "--empty", empty, "--ties", "worst"]
        both = peers.rankwise(binary, "compare", table, *given, *rules)
    means = {Path(system["name"]).name: system["metrics"][metric] for system in both["systems"]}
    pairs = {}
    for test in both["tests"]:
        a, b = Path(test["a"]).name, Path(test["b"]).name
        if first in (a, b):
            pairs[b if a == first else a] = (test, 1 if a == first else -1)
    return means, pairs


def one_sided(test, sign):
    """The one-sided p-value that the first system is better, from the two-sided one of a symmetric test."""
    half = test["p_value"] / 2
    return half if sign * test["difference"] > 0 else 1 - half


def shown_p(p):
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def versus(binary, title, places, first, others):
    """A section with a table of the first system against the others."""
    means, pairs = compared(binary, places, first, others)
    short = first.removeprefix("rankwise ")
    lines = [
        f"\n## {title}\n",
        f"| system | NDCG@10 | `{short}` minus it | 95 % interval | one-sided p |",
        "|---|---|---|---|---|",
        f"| {first} | {means[first]:.4f} | | | |",
    ]
    for name in sorted(set(means) - {first}, key=lambda name: -means[name]):
        test, sign = pairs[name]
        bounds = sorted(sign * test["interval"][end] for end in ("low", "high"))
        lines.append(
            f"| {name.replace('-', ' ')} | {means[name]:.4f} | {sign * test['difference']:+.4f} | [{bounds[0]:+.4f}, {bounds[1]:+.4f}] | "
            f"{shown_p(one_sided(test, sign))} |"
        )
    return "\n".join(lines) + "\n"


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def versions():
    """The program versions behind a table."""
    import catboost
    import lightgbm
    import xgboost

    names = [f"LightGBM {lightgbm.__version__}", f"XGBoost {xgboost.__version__}", f"CatBoost {catboost.__version__}"]
    return ", ".join(names)


def write(path, text):
    """Writes a result next to its script, and prints it."""
    path.write_text(text)
    print(text)


SECTION = "\n## "


class Report:
    """A table in sections, written after each of them. Sections of earlier runs with the same heading are kept, so that a long
    experiment can be run in parts."""

    def __init__(self, path, head):
        self.path, self.head, self.sections = path, head, {}
        before = path.read_text() if path.exists() else ""
        if before.startswith(head):
            for section in before[len(head) :].split(SECTION)[1:]:
                self.sections[section.split("\n", 1)[0]] = section

    def put(self, title, text):
        self.sections[title] = f"{title}\n\n{text}"
        self.path.write_text(self.head + "".join(SECTION + section for section in self.sections.values()))
        print(SECTION + self.sections[title], flush=True)


def read_model(path):
    return json.loads(Path(path).read_text())
