"""Compares the metrics of the real binary with those of scikit-learn, SciPy, CatBoost, LightGBM, XGBoost, pytrec_eval and ranx.

    python3 peers/metrics.py BINARY [--sets N] [--seed S]

Random datasets of a few short queries have scores on a coarse grid of dyadic numbers, so that there are many ties. ranx has no
defined order of equal scores, so it gets datasets without ties. All datasets go to the binary as queries of one file. Its values
are compared query by query, and its mean with the peer's mean if the peer has one. LightGBM and XGBoost have no values per query:
for them, means over parts of the queries are compared. If values differ, the first differences are shown with their data and the
exit code is 1.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import environment

environment.enter()

import numpy as np  # noqa: E402

# CatBoost, scikit-learn and trec_eval compute in doubles.
TOLERANCE = 1e-9
SHOWN = 5


class Query:
    """One query: labels and scores by document, and which documents were judged and returned."""

    def __init__(self, rng, qid, is_tied):
        n = int(rng.choice([1, 2, 3, 5, 8, 12, 20]))
        self.qid = qid
        self.docs = [f"d{name:03}" for name in rng.permutation(100)[:n]]
        grades = rng.choice([2, 3, 5])
        self.grades = np.where(rng.random(n) < rng.choice([0.2, 0.5, 1.0]), rng.integers(0, grades, n), 0)
        levels = rng.choice([1, 3, 6, 16])
        # Never 0, which CatBoost's FilteredDCG selects and ours does not.
        tied = (rng.integers(0, levels, n) - levels // 2) / 4 + 0.125
        self.scores = tied if is_tied else rng.permutation(4 * n)[:n] / 8 - n / 4 + 1 / 16
        self.is_judged = rng.random(n) < rng.choice([0.5, 1.0])
        self.is_returned = rng.random(n) < rng.choice([0.6, 1.0])
        better, worse = np.nonzero(self.grades[:, None] > self.grades[None, :])
        kept = rng.random(len(better)) < 0.5
        self.pairs = list(zip(better[kept].tolist(), worse[kept].tolist()))
        self.weight = int(rng.integers(0, 5)) / 2

    def labels(self, kind):
        if kind == "graded":
            return self.grades.astype(float)
        if kind == "binary":
            return (self.grades > 0).astype(float)
        return self.grades / 4

    def __repr__(self):
        return f"{self.qid}: grades {self.grades.tolist()}, scores {self.scores.tolist()}, docs {self.docs}"


def make_sets(rng, n_sets, is_tied):
    return [
        [Query(rng, f"s{number:04}q{query}", is_tied) for query in range(rng.integers(1, 5))] for number in range(n_sets)
    ]


class Binary:
    """The program under test, with its input files."""

    def __init__(self, path, folder, queries):
        self.path, self.folder, self.queries = path, folder, queries
        scores = []
        for kind in ["graded", "binary", "probability"]:
            lines, pairs, row = [], [], 0
            for query in queries:
                labels = query.labels(kind)
                lines += [f"{l:g} qid:{query.qid} 1:1 # {d}" for l, d in zip(labels, query.docs)]
                pairs += [f"{row + a}\t{row + b}" for a, b in query.pairs]
                row += len(labels)
            (folder / f"{kind}.txt").write_text("\n".join(lines) + "\n")
            (folder / f"{kind}-pairs.txt").write_text("\n".join(lines) + "\n")
            (folder / f"{kind}-pairs.txt.pairs").write_text("\n".join(pairs) + "\n")
            (folder / f"{kind}-weights.txt").write_text("\n".join(lines) + "\n")
            (folder / f"{kind}-weights.txt.query_weight").write_text("\n".join(str(query.weight) for query in queries) + "\n")
        for query in queries:
            scores += [repr(float(score)) for score in query.scores]
        (folder / "scores.txt").write_text("\n".join(scores) + "\n")
        qrels, run = [], []
        for query in queries:
            for doc, grade, score, judged, returned in zip(
                query.docs, query.grades, query.scores, query.is_judged, query.is_returned
            ):
                if judged:
                    qrels.append(f"{query.qid} 0 {doc} {grade}")
                if returned:
                    run.append(f"{query.qid} Q0 {doc} 0 {float(score)!r} test")
        (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
        (folder / "run.txt").write_text("\n".join(run) + "\n")

    def eval(self, what, metrics, *rules):
        """Values by (metric, query) and means by metric."""
        source = ["--run", "run.txt", "--qrels", "qrels.txt"] if what == "run" else [f"{what}.txt", "--scores", "scores.txt"]
        call = [self.path, "eval", *source, "--metric", ",".join(metrics), *rules, "--per-query", "q.tsv", "--json", "--quiet"]
        done = subprocess.run(list(map(str, call)), cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, call))}: {done.stderr}")
        header, *rows = [line.split("\t") for line in (self.folder / "q.tsv").read_text().splitlines()]
        values = {}
        for row in rows:
            for metric, value in zip(header[3:], row[3:]):
                values[metric, row[0]] = float(value) if value else None
        return values, json.loads(done.stdout)["metrics"]


class Comparison:
    """Counts comparisons and keeps the differences."""

    def __init__(self):
        self.counts, self.differences = Counter(), []

    def check(self, peer, metric, ours, theirs, data):
        self.counts[peer, metric] += 1
        if ours is None or math.isnan(theirs) or abs(ours - theirs) > TOLERANCE * max(1.0, abs(theirs)):
            self.differences.append(f"{peer} {metric}: {theirs!r}, rankwise {ours!r}\n  {data!r}")

    def report(self):
        peers = sorted({peer for peer, _ in self.counts})
        for peer in peers:
            metrics = {metric: n for (known, metric), n in self.counts.items() if known == peer}
            print(f"{peer}: {sum(metrics.values()):,} values; " + ", ".join(f"{m} {n:,}" for m, n in metrics.items()))
        if self.differences:
            print(f"\n{len(self.differences):,} values differ; the first:", file=sys.stderr)
            print("\n".join(self.differences[:SHOWN]), file=sys.stderr)
            sys.exit(1)
        print(f"all {sum(self.counts.values()):,} values agree to {TOLERANCE}")


def against_catboost(binary, comparison):
    from catboost.utils import eval_metric

    def compare(kind, rules, pairs_of_names):
        values, means = binary.eval(kind, [ours for ours, _ in pairs_of_names], "--convention", "catboost", *rules)
        labels_of = kind.removesuffix("-pairs")
        everything = [np.concatenate(parts) for parts in zip(*[(q.labels(labels_of), q.scores) for q in binary.queries])]
        groups = np.repeat(np.arange(len(binary.queries)), [len(query.docs) for query in binary.queries])
        for ours, theirs in pairs_of_names:
            name = f"{theirs} {' '.join(rules)}".strip()
            if theirs != "AUC":
                for query in binary.queries:
                    if kind.endswith("-pairs") and not query.pairs:
                        continue
                    (value,) = eval_metric(
                        query.labels(labels_of),
                        query.scores,
                        theirs,
                        group_id=np.zeros(len(query.docs), int),
                        pairs=query.pairs if kind.endswith("-pairs") else None,
                        thread_count=1,
                    )
                    comparison.check("CatBoost", name, values[ours, query.qid], value, query)
            # Its pair metrics are means over all pairs of all queries.
            if not kind.endswith("-pairs"):
                (value,) = eval_metric(*everything, theirs, group_id=groups, thread_count=1)
                comparison.check("CatBoost", f"mean {name}", means[ours], value, "all queries")

    def compare_weighted(kind, pairs_of_names):
        _, means = binary.eval(f"{kind}-weights", [ours for ours, _ in pairs_of_names], "--convention", "catboost")
        sizes = [len(query.docs) for query in binary.queries]
        columns = [np.concatenate(parts) for parts in zip(*[(q.labels(kind), q.scores) for q in binary.queries])]
        weights = np.repeat([query.weight for query in binary.queries], sizes)
        for ours, theirs in pairs_of_names:
            groups = np.repeat(np.arange(len(sizes)), sizes)
            (value,) = eval_metric(*columns, theirs, group_id=groups, group_weight=weights, thread_count=1)
            comparison.check("CatBoost", f"weighted mean {theirs}", means[ours], value, "all queries")

    ranked = [("ndcg", "NDCG"), ("ndcg@3", "NDCG:top=3"), ("dcg", "DCG"), ("dcg@5", "DCG:top=5")]
    compare("graded", [], ranked)
    compare("graded", ["--gain", "exp"], [(ours, theirs + ":;"[":" in theirs] + "type=Exp") for ours, theirs in ranked])
    by_rank = [(ours, theirs + ":;"[":" in theirs] + "denominator=Position") for ours, theirs in ranked]
    compare("graded", ["--discount", "rank"], by_rank + [("dcg-rr", "FilteredDCG")])
    binary_metrics = [
        ("map", "MAP"),
        ("map@3", "MAP:top=3"),
        ("mrr", "MRR"),
        ("mrr@2", "MRR:top=2"),
        ("p@3", "PrecisionAt:top=3"),
        ("p@10", "PrecisionAt:top=10"),
        ("recall@3", "RecallAt:top=3"),
        ("recall@10", "RecallAt:top=10"),
    ]
    compare("graded", [], binary_metrics)
    compare("probability", [], binary_metrics)
    compare("binary", [], [("query-auc", "QueryAUC:type=Classic"), ("auc", "AUC")])
    found = [("err", "ERR"), ("err@3", "ERR:top=3"), ("pfound", "PFound"), ("pfound@3", "PFound:top=3")]
    compare("probability", [], found)
    # Its other metrics ignore query weights.
    compare_weighted("graded", ranked + [("mrr", "MRR")])
    compare_weighted("probability", found)
    compare("probability", ["--pfound-decay", "0.5"], [("pfound", "PFound:decay=0.5")])
    compare("graded-pairs", [], [("pair-accuracy", "PairAccuracy"), ("pair-logit", "PairLogit")])


def against_sklearn(binary, comparison):
    from scipy.stats import kendalltau
    from sklearn.metrics import dcg_score, label_ranking_average_precision_score, ndcg_score, roc_auc_score

    values, _ = binary.eval("graded", ["ndcg", "ndcg@3", "dcg", "dcg@3", "kendall-tau"], "--convention", "sklearn")
    for query in binary.queries:
        labels, scores = [query.labels("graded")], [query.scores]
        if len(query.docs) == 1:
            continue
        for name, score, k in [("ndcg", ndcg_score, None), ("ndcg@3", ndcg_score, 3), ("dcg", dcg_score, None), ("dcg@3", dcg_score, 3)]:
            comparison.check("scikit-learn", f"{score.__name__} k={k}", values[name, query.qid], score(labels, scores, k=k), query)
        tau = kendalltau(query.labels("graded"), query.scores).statistic
        if not math.isnan(tau):
            comparison.check("SciPy", "kendalltau", values["kendall-tau", query.qid], tau, query)
    values, means = binary.eval("binary", ["query-auc", "lrap", "auc"], "--convention", "sklearn")
    for query in binary.queries:
        labels = query.labels("binary")
        lrap = label_ranking_average_precision_score([labels], [query.scores])
        comparison.check("scikit-learn", "label_ranking_average_precision_score", values["lrap", query.qid], lrap, query)
        if 0 < labels.sum() < len(labels):
            auc = roc_auc_score(labels, query.scores)
            comparison.check("scikit-learn", "roc_auc_score", values["query-auc", query.qid], auc, query)
    labels = np.concatenate([query.labels("binary") for query in binary.queries])
    scores = np.concatenate([query.scores for query in binary.queries])
    comparison.check("scikit-learn", "roc_auc_score of all", means["auc"], roc_auc_score(labels, scores), "all queries")


# Number of queries whose mean is compared if a peer has no values per query.
PART = 40


def parts(queries):
    return [queries[start : start + PART] for start in range(0, len(queries), PART)]


def compare_means(peer, binary, comparison, kind, metrics, values, their_means):
    for part in parts(binary.queries):
        theirs = their_means(
            np.concatenate([query.labels(kind) for query in part]),
            np.concatenate([query.scores for query in part]),
            [len(query.docs) for query in part],
        )
        for metric in metrics:
            ours = math.fsum(values[metric, query.qid] for query in part) / len(part)
            comparison.check(peer, f"{metric} of {kind} labels", ours, theirs[metric], part)


def against_lightgbm(binary, comparison):
    import lightgbm

    def their_means(metric, labels, scores, sizes):
        # The scores are given, and a constant tree is added.
        rng = np.random.default_rng(0)
        train = lightgbm.Dataset(rng.random((len(labels), 1)), label=labels, group=sizes)
        same = lightgbm.Dataset(np.zeros((len(labels), 1)), label=labels, group=sizes, init_score=scores, reference=train)
        found = {}
        params = {"objective": "lambdarank", "metric": metric, "eval_at": [1, 3, 10], "learning_rate": 1e-9}
        params |= {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}
        lightgbm.train(params, train, 1, [same], ["same"], callbacks=[lightgbm.record_evaluation(found)])
        return {name: history[0] for name, history in found["same"].items()}

    for metric in ["ndcg", "map"]:
        names = [f"{metric}@{cutoff}" for cutoff in (1, 3, 10)]
        values, _ = binary.eval("graded", names, "--convention", "lightgbm")
        means = lambda *data, metric=metric: their_means(metric, *data)  # noqa: E731
        compare_means("LightGBM", binary, comparison, "graded", names, values, means)


def against_xgboost(binary, comparison):
    import xgboost

    def their_means(metrics, labels, scores, sizes):
        # No tree: the scores are the margins.
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels, base_margin=scores, nthread=1)
        data.set_group(sizes)
        params = {"objective": "rank:pairwise", "eval_metric": metrics, "base_score": 0, "verbosity": 0, "nthread": 1}
        said = xgboost.train(params, data, num_boost_round=0).eval(data, "on")
        return {name: float(value) for name, value in (part.rsplit(":", 1) for part in said.replace("on-", "").split()[1:])}

    for kind, names in [
        ("graded", ["ndcg", "ndcg@3", "ndcg@3-"]),
        ("binary", ["map", "map@3", "map@3-", "pre", "pre@3", "pre@10"]),
    ]:
        values, _ = binary.eval(kind, names, "--convention", "xgboost")
        means = lambda *data, names=names: their_means(names, *data)  # noqa: E731
        compare_means("XGBoost", binary, comparison, kind, names, values, means)


TREC = {
    "map": "map",
    "map@5": "map_cut_5",
    "map@10": "map_cut_10",
    "ndcg": "ndcg",
    "ndcg@5": "ndcg_cut_5",
    "ndcg@10": "ndcg_cut_10",
    "mrr": "recip_rank",
    "p@5": "P_5",
    "p@10": "P_10",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "hits@1": "success_1",
    "hits@5": "success_5",
    "r-precision": "Rprec",
    "bpref": "bpref",
    "f1": "set_F",
}


def against_pytrec_eval(binary, comparison):
    import pytrec_eval

    qrels, run = {}, {}
    for query in binary.queries:
        for doc, grade, score, judged, returned in zip(
            query.docs, query.grades, query.scores, query.is_judged, query.is_returned
        ):
            if judged:
                qrels.setdefault(query.qid, {})[doc] = int(grade)
            if returned:
                run.setdefault(query.qid, {})[doc] = float(score)
    measures = {"map", "map_cut", "ndcg", "ndcg_cut", "recip_rank", "P", "recall", "success", "Rprec", "bpref", "set_F"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    values, means = binary.eval("run", list(TREC), "--convention", "trec_eval")
    queries = {query.qid: query for query in binary.queries}
    for ours, name in TREC.items():
        for qid, found in theirs.items():
            data = (queries[qid], queries[qid].is_judged.tolist(), queries[qid].is_returned.tolist())
            comparison.check("pytrec_eval", name, values[ours, qid], found[name], data)
        mean = math.fsum(found[name] for found in theirs.values()) / len(theirs)
        comparison.check("pytrec_eval", f"mean {name}", means[ours], mean, "all queries")


RANX = {
    "hits@3": "hit_rate@3",
    "p@3": "precision@3",
    "p@10": "precision@10",
    "recall@3": "recall@3",
    "recall": "recall",
    "f1": "f1",
    "r-precision": "r-precision",
    "mrr": "mrr",
    "map": "map",
    "map@3": "map@3",
    "ndcg": "ndcg",
    "ndcg@3": "ndcg@3",
}


def against_ranx(binary, comparison):
    import warnings

    warnings.simplefilter("ignore")
    from ranx import Qrels, Run, evaluate

    qrels, run = {}, {}
    for query in binary.queries:
        judged = {d: int(g) for d, g, known in zip(query.docs, query.grades, query.is_judged) if known and g > 0}
        returned = {d: float(s) for d, s, known in zip(query.docs, query.scores, query.is_returned) if known}
        # It supports neither queries without relevant documents nor empty results.
        if judged and returned:
            qrels[query.qid], run[query.qid] = judged, returned
    names = list(RANX) + ["rbp", "ndcg@5"]
    values, _ = binary.eval("run", names, "--convention", "ranx", "--rbp-persistence", "0.95")
    burges, _ = binary.eval("run", ["ndcg@5"], "--convention", "ranx", "--gain", "exp")
    queries = {query.qid: query for query in binary.queries}

    def compare(theirs, ours, values, qrels):
        found, known = Qrels(qrels), Run(run)
        evaluate(found, known, theirs, return_mean=False)
        for qid, value in known.scores[theirs].items():
            data = (queries[qid], queries[qid].is_judged.tolist(), queries[qid].is_returned.tolist())
            comparison.check("ranx", theirs, values[ours, qid], float(value), data)

    for ours, theirs in RANX.items():
        compare(theirs, ours, values, qrels)
    compare("ndcg_burges@5", "ndcg@5", burges, qrels)
    # Its RBP weights documents by grade.
    compare("rbp.95", "rbp", values, {qid: dict.fromkeys(judged, 1) for qid, judged in qrels.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        for is_tied, peers in [
            (True, [against_catboost, against_sklearn, against_lightgbm, against_xgboost, against_pytrec_eval]),
            (False, [against_ranx]),
        ]:
            place = Path(folder) / str(is_tied)
            place.mkdir()
            sets = make_sets(rng, args.sets, is_tied)
            binary = Binary(args.binary.resolve(), place, [query for queries in sets for query in queries])
            for against in peers:
                against(binary, comparison)
    print(f"{args.sets:,} data sets with ties, and as many without for ranx")
    comparison.report()


if __name__ == "__main__":
    main()
