"""SHAP values: speed and agreement beside LightGBM's `pred_contrib`, alternately in one run.

    python3 bench/explain.py             500 trees of 31 leaves, 10,000 documents of 136 features, one thread each
    python3 bench/explain.py --rounds 5  how often everything is measured; the best time counts

The model is LightGBM's own, and both programs explain the same documents by it. Data is synthetic and web-like.
"""

import argparse
import tempfile
import time
from pathlib import Path

import peers
from python import install

peers.enter_venv()

import numpy as np  # noqa: E402

ROWS, TREES, LEAVES = 10_000, 500, 31


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    install(rebuild=False)
    import lightgbm
    import rankwise

    data = rankwise.make_ranking(ROWS)
    X, y = np.ascontiguousarray(data.to_numpy(), dtype=np.float64), data.label
    order = np.argsort(data.qid, kind="stable")
    X, y = X[order], y[order]
    group = np.unique(data.qid[order], return_counts=True)[1]
    peer = lightgbm.LGBMRanker(n_estimators=TREES, num_leaves=LEAVES, n_jobs=2, verbose=-1).fit(X, y, group=group)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        peer.booster_.save_model(path)
        model = rankwise.load_model(path)
    ours, theirs = [], []
    for _ in range(options.rounds):
        start = time.perf_counter()
        found = model.predict(X, pred_contrib=True, n_jobs=1)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        expected = peer.booster_.predict(X, pred_contrib=True, num_threads=1)
        theirs.append(time.perf_counter() - start)
    print(f"pred_contrib, {TREES} trees of {LEAVES} leaves, {ROWS:,} x {X.shape[1]}, one thread")
    print(f"  {min(ours):.2f} s, LightGBM {min(theirs):.2f} s, {min(theirs) / min(ours):.1f} times")
    scores = model.predict(X)
    print(f"  largest difference from LightGBM {np.abs(found - expected).max():.1e}")
    print(f"  sums differ from scores by {(np.abs(found.sum(axis=1) - scores) / np.abs(found).sum(axis=1)).max():.1e} of their sizes")


if __name__ == "__main__":
    main()
