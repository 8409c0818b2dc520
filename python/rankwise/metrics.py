"""Metrics of rankings, one function each.

>>> from rankwise import metrics
>>> metrics.ndcg([0, 2, 1], [0.1, 0.9, 0.4], k=2)
1.0
>>> metrics.mrr([1, 0, 0, 1], [0.3, 0.7, 0.2, 0.9], qid=[1, 1, 2, 2])
0.75

Each takes labels, scores and queries, and the rules that `rankwise.evaluate` takes (`gain`, `ties`, `empty`,
`convention`, ...).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._data import Dataset
from ._results import evaluate


def _mean(metric: str, y_true: Any, y_score: Any, qid: Any, group: Any, k: int | None, rules: dict[str, Any]) -> float:
    labels = np.asarray(y_true, dtype=np.float64)
    if qid is None and group is None:
        group = [len(labels)]
    data = Dataset(np.zeros((len(labels), 1), dtype=np.float32), labels, qid=qid, group=group)
    name = metric if k is None else f"{metric}@{k}"
    return evaluate(data, y_score, name, **rules)[name]


def ndcg(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any) -> float:
    """Normalised discounted cumulative gain."""
    return _mean("ndcg", y_true, y_score, qid, group, k, rules)


def dcg(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any) -> float:
    """Discounted cumulative gain."""
    return _mean("dcg", y_true, y_score, qid, group, k, rules)


def average_precision(
    y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any
) -> float:
    """Mean average precision (MAP)."""
    return _mean("map", y_true, y_score, qid, group, k, rules)


def mrr(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any) -> float:
    """Mean reciprocal rank of the first relevant document."""
    return _mean("mrr", y_true, y_score, qid, group, k, rules)


def err(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int | None = None, **rules: Any) -> float:
    """Expected reciprocal rank."""
    return _mean("err", y_true, y_score, qid, group, k, rules)


def precision(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int, **rules: Any) -> float:
    """Precision among the first k documents."""
    return _mean("p", y_true, y_score, qid, group, k, rules)


def recall(y_true: Any, y_score: Any, *, qid: Any = None, group: Any = None, k: int, **rules: Any) -> float:
    """Recall among the first k documents."""
    return _mean("recall", y_true, y_score, qid, group, k, rules)
