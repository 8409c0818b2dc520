"""Speed of NDCG@10 compared with pytrec_eval and ranx, on judged queries that all three have in memory.

    python3 bench/eval.py [--queries 1000000] [--docs 20] [--rounds 3]

The peers get their own objects (dictionaries for pytrec_eval, Qrels and Run for ranx, whose code is compiled beforehand); only the
evaluation call is timed. For `rankwise eval` it is the phase "measure", on a TREC run with its judgements. Rounds alternate, so
that all meet the same conditions. The best time of each is shown, and the loading time separately.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "peers"))
import environment  # noqa: E402

environment.enter()

import numpy as np  # noqa: E402


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def make(n_queries, n_docs):
    """Labels and scores; documents have the same ids in every query."""
    rng = np.random.default_rng(1)
    labels = rng.choice(5, size=(n_queries, n_docs), p=[0.5, 0.2, 0.15, 0.1, 0.05])
    scores = np.round(rng.standard_normal((n_queries, n_docs)) + labels * 0.5, 6)
    return labels, scores, [f"d{doc:03}" for doc in range(n_docs)]


def write(folder, labels, scores, docs):
    with open(folder / "qrels.txt", "w") as qrels, open(folder / "run.txt", "w") as run:
        for query, (grades, values) in enumerate(zip(labels.tolist(), scores.tolist())):
            qrels.write("".join(f"q{query} 0 {doc} {grade}\n" for doc, grade in zip(docs, grades)))
            run.write("".join(f"q{query} Q0 {doc} 0 {value!r} bench\n" for doc, value in zip(docs, values)))


class Rankwise:
    def __init__(self, binary, folder, threads):
        self.name = f"rankwise, {threads} thread{'s' * (threads > 1)}"
        self.call = [binary, "eval", "--run", "run.txt", "--qrels", "qrels.txt", "--metric", "ndcg@10", "--gain", "linear"]
        self.call = [*map(str, self.call), "--threads", str(threads), "--json", "--quiet"]
        self.folder, self.load = folder, None

    def evaluate(self):
        done = json.loads(subprocess.run(self.call, cwd=self.folder, check=True, capture_output=True).stdout)
        self.load = min(self.load or 1e9, done["seconds"]["load"])
        return done["seconds"]["measure"], done["metrics"]["ndcg@10"]


class PytrecEval:
    name = "pytrec_eval"

    def __init__(self, qrels, run):
        import pytrec_eval

        self.load, self.evaluator = timed(lambda: pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}))
        self.run = run

    def evaluate(self):
        seconds, values = timed(lambda: self.evaluator.evaluate(self.run))
        return seconds, float(np.mean([value["ndcg_cut_10"] for value in values.values()]))


class Ranx:
    name = "ranx"

    def __init__(self, qrels, run):
        warnings.simplefilter("ignore")
        from ranx import Qrels, Run, evaluate

        self.evaluate_run = evaluate
        self.load, (self.qrels, self.run) = timed(lambda: (Qrels(qrels), Run(run)))
        self.evaluate()

    def evaluate(self):
        return timed(lambda: float(self.evaluate_run(self.qrels, self.run, "ndcg@10", save_results_in_run=False)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--docs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--binary", type=Path, help="the program; by default it is built")
    args = parser.parse_args()
    if args.binary is None:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
        args.binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "rankwise"
    labels, scores, docs = make(args.queries, args.docs)
    qrels = {f"q{query}": dict(zip(docs, grades)) for query, grades in enumerate(labels.tolist())}
    run = {f"q{query}": dict(zip(docs, values)) for query, values in enumerate(scores.tolist())}
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), labels, scores, docs)
        binary = args.binary.resolve()
        systems = [PytrecEval(qrels, run), Ranx(qrels, run), *(Rankwise(binary, folder, n) for n in (1, 2))]
        best = {}
        for _ in range(args.rounds):
            for system in systems:
                seconds, value = system.evaluate()
                known, _ = best.get(system.name, (1e9, 0))
                best[system.name] = (min(known, seconds), value)
    print(f"NDCG@10 over {args.queries:,} queries of {args.docs} documents, best of {args.rounds} rounds")
    print(f"{'':22} {'measure s':>10} {'load s':>8} {'NDCG@10':>10}   times slower than rankwise with 2 threads (with 1)")
    ours = {threads: best[f"rankwise, {threads} thread{'s' * (threads > 1)}"][0] for threads in (1, 2)}
    for system in systems:
        seconds, value = best[system.name]
        print(f"{system.name:22} {seconds:10.3f} {system.load:8.1f} {value:10.6f}   {seconds / ours[2]:6.1f} ({seconds / ours[1]:.1f})")
    values = [value for _, value in best.values()]
    if max(values) - min(values) > 1e-6:
        sys.exit("the values differ")


if __name__ == "__main__":
    main()
