"""Metrics of rankings, one function each.

>>> from rankwise import metrics
>>> metrics.ndcg([0, 2, 1], [0.1, 0.9, 0.4], k=2)
1.0
>>> metrics.mrr([1, 0, 0, 1], [0.3, 0.7, 0.2, 0.9], qid=[1, 1, 2, 2])
0.75

Each takes labels, scores and queries, and the rules that `rankwise.evaluate` takes (`gain`, `ties`, `empty`,
`convention`, ...). Without `qid` and `group`, all documents belong to one query.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ._data import Dataset
from ._results import evaluate

__all__ = [
    "arp",
    "auc",
    "average_precision",
    "bpref",
    "dcg",
    "dcg_rr",
    "err",
    "f1",
    "hits",
    "kendall_tau",
    "lrap",
    "mrr",
    "ndcg",
    "pair_accuracy",
    "pair_logit",
    "pfound",
    "precision",
    "query_auc",
    "r_precision",
    "rbp",
    "recall",
]


class MetricFunction(Protocol):
    """A metric of whole lists."""

    def __call__(self, y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, **rules: Any) -> float: ...


class CutoffFunction(Protocol):
    """A metric of whole lists, or of their first `k` documents."""

    def __call__(
        self, y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any
    ) -> float: ...


def _mean(metric: str, y_true: Any, y_score: Any, qid: Any, group: Any, rules: dict[str, Any]) -> float:
    labels = np.asarray(y_true, dtype=np.float64)
    if qid is None and group is None:
        group = [len(labels)]
    data = Dataset(np.zeros((len(labels), 1), dtype=np.float32), labels, qid=qid, group=group)
    return evaluate(data, y_score, metric, **rules)[metric]


def _of_lists(name: str, metric: str, doc: str) -> MetricFunction:
    def function(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, **rules: Any) -> float:
        return _mean(metric, y_true, y_score, qid, group, rules)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _with_cutoff(name: str, metric: str, doc: str) -> CutoffFunction:
    def function(
        y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any
    ) -> float:
        return _mean(metric if k is None else f"{metric}@{k}", y_true, y_score, qid, group, rules)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


ndcg = _with_cutoff("ndcg", "ndcg", "Normalised discounted cumulative gain.")
dcg = _with_cutoff("dcg", "dcg", "Discounted cumulative gain.")
average_precision = _with_cutoff("average_precision", "map", "Mean average precision (MAP).")
mrr = _with_cutoff("mrr", "mrr", "Mean reciprocal rank of the first relevant document.")
err = _with_cutoff("err", "err", "Expected reciprocal rank.")
precision = _with_cutoff("precision", "p", "Precision among the first `k` documents.")
recall = _with_cutoff("recall", "recall", "Recall among the first `k` documents.")
hits = _with_cutoff("hits", "hits", "Whether a relevant document is among the first `k` (success).")
f1 = _with_cutoff("f1", "f1", "Harmonic mean of precision and recall.")
pfound = _with_cutoff("pfound", "pfound", "Probability that a reader finds something.")
rbp = _with_cutoff("rbp", "rbp", "Rank-biased precision.")
r_precision = _of_lists("r_precision", "r-precision", "Precision at the number of relevant documents.")
auc = _of_lists("auc", "auc", "Area under the ROC curve, over all documents together.")
query_auc = _of_lists("query_auc", "query-auc", "Mean area under the ROC curves of the queries.")
bpref = _of_lists("bpref", "bpref", "bpref.")
dcg_rr = _of_lists("dcg_rr", "dcg-rr", "Gains of selected documents over their ranks.")
pair_accuracy = _of_lists("pair_accuracy", "pair-accuracy", "Share of pairs in the right order.")
kendall_tau = _of_lists("kendall_tau", "kendall-tau", "Kendall's tau-b.")
arp = _of_lists("arp", "arp", "Average relevance position; smaller is better.")
lrap = _of_lists("lrap", "lrap", "Label-ranking average precision.")
pair_logit = _of_lists("pair_logit", "pair-logit", "Logistic loss of pairs; smaller is better.")
