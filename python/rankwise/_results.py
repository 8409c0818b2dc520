"""Evaluations and comparisons, as small objects that print well."""

from __future__ import annotations

import html
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _rankwise
from ._data import Dataset

Scores = Any


def _text_of_rules(rules: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in rules.items() if value is not None]


def _metrics(metrics: str | Sequence[str]) -> str:
    return metrics if isinstance(metrics, str) else ",".join(metrics)


class Evaluation:
    """The values of metrics: a mapping from metric to mean, with the values of every query."""

    def __init__(self, queries: list[str], values: list[tuple[str, float | None, list[float | None]]]) -> None:
        self.queries = queries
        """The ids of the queries."""
        self._means = {name: float("nan") if mean is None else mean for name, mean, _ in values}
        self.per_query: dict[str, npt.NDArray[np.float64]] = {
            name: np.array([np.nan if value is None else value for value in of_queries])
            for name, _, of_queries in values
        }
        """By metric, the value of each query; NaN if the query was skipped."""

    def __getitem__(self, metric: str) -> float:
        return self._means[metric]

    def __iter__(self) -> Any:
        return iter(self._means)

    def __len__(self) -> int:
        return len(self._means)

    def keys(self) -> Any:
        return self._means.keys()

    def items(self) -> Any:
        return self._means.items()

    def __repr__(self) -> str:
        return ", ".join(f"{name} {mean:.4f}" for name, mean in self._means.items())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The values by query and metric, as pytrec_eval returns them; skipped queries are left out."""
        values: dict[str, dict[str, float]] = {}
        for name, of_queries in self.per_query.items():
            for qid, value in zip(self.queries, of_queries.tolist()):
                if value == value:
                    values.setdefault(qid, {})[name] = value
        return values

    def to_pandas(self) -> Any:
        """The values by query, as a pandas DataFrame."""
        import pandas as pd  # type: ignore[import-untyped]

        values = {name: values for name, values in self.per_query.items() if len(values) == len(self.queries)}
        return pd.DataFrame(values, index=pd.Index(self.queries, name="qid"))

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{mean:.4f}</td></tr>" for name, mean in self._means.items())
        return f"<table><thead><tr><th>metric</th><th>mean</th></tr></thead><tbody>{rows}</tbody></table>"


class Comparison:
    """Differences between systems, with tests and confidence intervals."""

    def __init__(self, given: dict[str, Any], alpha: float) -> None:
        self.pairs: list[dict[str, Any]] = given["pairs"]
        """One entry per pair of systems and metric."""
        self.systems: list[dict[str, Any]] = given["systems"]
        """One entry per system and metric: the mean with its confidence interval."""
        self.alpha = alpha
        """The significance level. The confidence level of intervals is 1 - alpha."""
        self._text: str = given["text"]

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def to_pandas(self) -> Any:
        """The pairs as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.pairs)

    def _repr_html_(self) -> str:
        names = ["metric", "a", "b", "mean_a", "mean_b", "difference", "interval", "p_corrected", "wins", "ties", "losses"]

        def cell(name: str, value: Any) -> str:
            if isinstance(value, tuple):
                return f"<td>{value[0]:+.4f} to {value[1]:+.4f}</td>"
            if name == "p_corrected" and value is not None and value < 1e-4:
                return "<td>&lt; 0.0001</td>"
            return f"<td>{value:.4f}</td>" if isinstance(value, float) else f"<td>{html.escape(str(value))}</td>"

        head = "".join(f"<th>{name}</th>" for name in names)
        rows = "".join("<tr>" + "".join(cell(name, pair[name]) for name in names) + "</tr>" for pair in self.pairs)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _scores(values: Scores, data: Dataset) -> npt.NDArray[np.float64]:
    # A Ranker has its model in `model_`.
    model: Any = getattr(values, "model_", values)
    if hasattr(model, "predict"):
        values = model.predict(data)
    scores = np.ascontiguousarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"scores have {scores.ndim} dimensions; expected 1")
    if len(scores) != data.n_rows:
        raise ValueError(f"there are {len(scores)} scores for {data.n_rows} documents")
    return scores


def _judgements(data: Any) -> dict[Any, dict[Any, Any]] | None:
    """Judgements or a run as dictionaries, if it is one of these."""
    if isinstance(data, Dataset):
        return None
    if isinstance(data, Mapping):
        return {qid: dict(docs) if isinstance(docs, Mapping) else docs for qid, docs in data.items()}
    if hasattr(data, "to_dict"):
        return _judgements(data.to_dict())
    return None


def _warn(remarks: list[str]) -> None:
    for remark in remarks:
        warnings.warn(remark, UserWarning, stacklevel=3)


def _run(given: Any, name: str) -> dict[Any, dict[Any, Any]]:
    run = _judgements(given)
    if run is None:
        raise TypeError(f"{name} must be a dictionary, as the judgements are: {{query: {{document: score}}}}")
    return run


def evaluate(
    data: Dataset | Mapping[Any, Mapping[Any, int]],
    scores: Scores,
    metrics: str | Sequence[str] = "ndcg@10",
    *,
    n_jobs: int | None = None,
    **rules: Any,
) -> Evaluation:
    """Measures scores, or a run by judgements (qrels).

    Parameters
    ----------
    data : Dataset, or dictionary
        Documents with labels and queries; or judgements, `{query: {document: grade}}`, as pytrec_eval and ranx take them.
    scores : array, Model, Ranker, or dictionary
        A score for each document, in input order, or a model that computes them; with judgements a run,
        `{query: {document: score}}`.
    metrics : str or list of str
        Metrics such as "ndcg@10,map".
    **rules
        How metrics treat gains, ties and queries without relevant documents: `gain`, `ties`, `empty`, `discount`,
        `relevant_from`, `convention` and others.

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.Dataset([[0.0]] * 3, label=[0, 2, 1], group=[3])
    >>> rankwise.evaluate(data, [0.3, 0.9, 0.1], "mrr,p@2")
    mrr 1.0000, p@2 0.5000
    >>> rankwise.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0.2, "d2": 0.7}}, "mrr")
    mrr 0.5000
    """
    qrels = _judgements(data)
    if qrels is not None:
        queries, values, remarks = _rankwise.evaluate_run(
            qrels, _run(scores, "the run"), _metrics(metrics), _text_of_rules(rules), n_jobs
        )
        _warn(remarks)
        return Evaluation(queries, values)
    if not isinstance(data, Dataset):
        raise TypeError(f"expected a rankwise.Dataset or a dictionary of judgements, not {type(data).__name__}")
    values = _rankwise.evaluate(data._raw, _scores(scores, data), _metrics(metrics), _text_of_rules(rules), n_jobs)
    return Evaluation(data._raw.queries()[0], values)


def compare(
    data: Dataset | Mapping[Any, Mapping[Any, int]],
    systems: Mapping[str, Scores],
    metrics: str | Sequence[str] = "ndcg@10",
    *,
    baseline: str | None = None,
    test: str = "fisher",
    one_sided: bool = False,
    permutations: int | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    n_jobs: int | None = None,
    **rules: Any,
) -> Comparison:
    """Compares systems by their scores for the same documents, or by their runs: Fisher's randomisation test with Holm's
    correction, and confidence intervals.

    Parameters
    ----------
    data, metrics, **rules
        As in :func:`evaluate`.
    systems : dict
        The scores, model or run of each system, by name.
    baseline : str, optional
        Compare each of the other systems with this one only.
    test : {"fisher", "t", "wilcoxon", "bootstrap"}
        The significance test.
    one_sided : bool
        Test whether the first system of a pair is better than the second.
    permutations : int, optional
        Number of random permutations of "fisher", or of resamples of "bootstrap".
    alpha : float
        Significance level of the corrected p-values. The confidence level of intervals is 1 - alpha.
    seed : int
        Seed of random draws.

    Examples
    --------

    >>> import rankwise
    >>> data = rankwise.Dataset([[0.0]] * 4, label=[0, 1, 0, 1], group=[2, 2])
    >>> rankwise.compare(data, {"good": [1, 2, 1, 2], "poor": [2, 1, 1, 2]}, "mrr")
    mrr: good 1.0000, poor 0.7500; good - poor +0.2500 (+0.0000 to +0.5000), p 1.0000, wins 1, ties 1, losses 0
    """
    options = (test, permutations, one_sided, baseline, alpha, seed)
    qrels = _judgements(data)
    if qrels is not None:
        runs = [(str(name), _run(run, f"system {name!r}")) for name, run in systems.items()]
        given = _rankwise.compare_runs(qrels, runs, _metrics(metrics), _text_of_rules(rules), options, n_jobs)
        _warn(given["remarks"])
        return Comparison(given, alpha)
    if not isinstance(data, Dataset):
        raise TypeError(f"expected a rankwise.Dataset or a dictionary of judgements, not {type(data).__name__}")
    scored = [(str(name), _scores(scores, data)) for name, scores in systems.items()]
    given = _rankwise.compare(data._raw, scored, _metrics(metrics), _text_of_rules(rules), options, n_jobs)
    return Comparison(given, alpha)
