"""Compares the losses that linear rankers reach with those of scikit-learn on explicit pairs of documents.

    python3 peers/linear.py BINARY [--seed S]

RankSVM and pairwise logistic regression are linear classifiers of differences of documents, without an intercept. scikit-learn
gets the difference of every pair of each query in both directions; the real binary trains on the documents. The regularised loss
of our weights must be at most 0.1 % above that of scikit-learn's, for several weights of the loss. Otherwise both are shown and the
exit code is 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import environment

environment.enter()

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

N_QUERIES, QUERY_DOCS, N_FEATURES = 40, 20, 8
WORST = 1.001
WEIGHTS = (0.001, 0.05, 2.0)


def documents(rng):
    """Features, and labels from 0 to 3."""
    rows = rng.normal(size=(N_QUERIES * QUERY_DOCS, N_FEATURES)).astype(np.float32)
    signal = rows @ rng.normal(size=N_FEATURES) + rng.normal(scale=2.0, size=len(rows))
    return rows, np.argsort(np.argsort(signal)) * 4 // len(rows)


def differences(rows, labels):
    """Better minus worse document, for every pair of a query."""
    pairs = []
    for query in range(N_QUERIES):
        docs = slice(query * QUERY_DOCS, (query + 1) * QUERY_DOCS)
        better, worse = np.nonzero(labels[docs][:, None] > labels[docs][None, :])
        pairs.append(rows[docs][better].astype(float) - rows[docs][worse])
    return np.concatenate(pairs)


def ours(binary, folder, settings):
    """The weights of a model that the binary trains."""
    sets = [f"--set={name}={value}" for name, value in settings.items()]
    command = [binary, "train", folder / "train.txt", "--out", folder / "model.json", "--quiet", "--set=scaling=none", *sets]
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
    model = json.loads((folder / "model.json").read_text())
    weights = np.zeros(N_FEATURES)
    weights[model["features"]] = model["weights"]
    return weights


def hinge(margins):
    return np.maximum(0, 1 - margins)


def peers(pairs, c):
    """A name, our settings, the loss of a pair, and scikit-learn's weights. Each pair counts twice, so its weight is half."""
    both, sides = np.concatenate([pairs, -pairs]), np.repeat([1, -1], len(pairs))
    exact = {"fit_intercept": False, "tol": 1e-8, "max_iter": 100_000}

    def fitted(model):
        with warnings.catch_warnings():
            # The plain hinge does not converge to this tolerance; what counts is the loss that it reaches.
            warnings.simplefilter("ignore")
            return model.fit(both, sides).coef_[0]

    squared = LinearSVC(C=c / 2, loss="squared_hinge", dual=False, **exact)
    plain = LinearSVC(C=c / 2, loss="hinge", random_state=0, **exact)
    logistic = LogisticRegression(C=c / 2, **exact)
    yield "RankSVM, squared hinge", {"learner": "ranksvm"}, lambda margins: hinge(margins) ** 2, fitted(squared)
    yield "RankSVM, hinge", {"learner": "ranksvm", "svm_loss": "hinge", "num_trees": 1000}, hinge, fitted(plain)
    settings = {"learner": "linear", "objective": "ranknet"}
    yield "pairwise logistic regression", settings, lambda margins: np.logaddexp(0, -margins), fitted(logistic)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rows, labels = documents(np.random.default_rng(args.seed))
    pairs = differences(rows, labels)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(folder / "train.txt", "w") as out:
            for row, (values, label) in enumerate(zip(rows, labels)):
                features = " ".join(f"{idx}:{value!r}" for idx, value in enumerate(values.tolist()))
                out.write(f"{label} qid:{row // QUERY_DOCS} {features}\n")
        for c in WEIGHTS:
            for title, settings, loss, theirs in peers(pairs, c):
                weights = ours(args.binary.absolute(), folder, {**settings, "c": c})
                reached = [w @ w / 2 + c * loss(pairs @ w).sum() for w in (weights, theirs)]
                ratio = reached[0] / reached[1]
                failed |= not ratio <= WORST
                print(f"{title}, c = {c}: loss {reached[0]:.6g}, scikit-learn {reached[1]:.6g}, ratio {ratio:.6f}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
