"""Cross-validation, tuning and `auto`: searches by query."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _rankwise
from ._data import Dataset
from ._model import Model, TrainingInterrupted, check_names, warn_of_features
from ._params import ParamValue
from ._results import Comparison

Params = Mapping[str, ParamValue]
Report = Callable[[dict[str, Any]], None]


def _raw(data: Any, name: str) -> _rankwise.RawDataset:
    if not isinstance(data, Dataset):
        raise TypeError(f"{name} must be a rankwise.Dataset, not {type(data).__name__}")
    return data._raw


def _raw_like(data: Any, name: str, train_set: Dataset) -> _rankwise.RawDataset | None:
    """Another dataset, whose features are compared with those of the training data."""
    if data is None:
        return None
    raw = _raw(data, name)
    check_names(train_set, name, data)
    warn_of_features(train_set, name, data, 3)
    return raw


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _signed(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return ""
    return f"{value:+.4f}" + ("" if interval is None else f" ({interval[0]:+.4f} to {interval[1]:+.4f})")


def _between(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
    return "\n".join(lines)


def _html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"


class CrossValidation:
    """The result of :func:`cross_validate`."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.metrics: list[str] = facts["metrics"]
        """The names of the metrics."""
        systems: list[dict[str, Any]] = facts["systems"]
        self.means: dict[str, dict[str, float]] = {
            system["name"]: {name: np.nan if mean is None else mean for name, (mean, _) in system["means"].items()}
            for system in systems
        }
        """By system and metric, the mean over all queries."""
        self.intervals: dict[str, dict[str, tuple[float, float] | None]] = {
            system["name"]: {name: interval for name, (_, interval) in system["means"].items()} for system in systems
        }
        """By system and metric, the confidence interval of the mean."""
        self.folds: dict[str, list[dict[str, Any]]] = {
            system["name"]: [
                {"queries": n_queries, "trees": n_trees, **dict(zip(self.metrics, means))}
                for n_queries, n_trees, means in system["folds"]
            ]
            for system in systems
        }
        """By system, the number of queries and trees and the metrics of each fold."""
        self.scores: dict[str, npt.NDArray[np.float64]] = {system["name"]: system["scores"] for system in systems}
        """By system, the score of each row by the model that was trained without its fold. Only scores of the same query can
        be compared."""
        self.curves: dict[str, list[float]] = {system["name"]: system["curve"] for system in systems}
        """By system, the first metric over all queries after each round."""
        given = facts["comparison"]
        self.comparison: Comparison | None = None if given is None else Comparison(given, 0.05)
        """The systems compared with significance, if there are several."""

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [name, metric, _number(mean), _between(self.intervals[name][metric])]
            for name, means in self.means.items()
            for metric, mean in means.items()
        ]
        return ["system", "metric", "mean", "95 % interval"], rows

    def __repr__(self) -> str:
        text = _table(*self._rows())
        return text if self.comparison is None else f"{text}\n{self.comparison!r}"

    def _repr_html_(self) -> str:
        text = _html(*self._rows())
        return text if self.comparison is None else text + self.comparison._repr_html_()

    def to_pandas(self) -> Any:
        """A row per system and fold, as a pandas DataFrame."""
        import pandas as pd  # type: ignore[import-untyped]

        rows = [
            {"system": name, "fold": place + 1, **fold}
            for name, folds in self.folds.items()
            for place, fold in enumerate(folds)
        ]
        return pd.DataFrame(rows)


def cross_validate(
    params: Params | Mapping[str, Params] | None,
    data: Dataset,
    *,
    folds: int | npt.ArrayLike = 5,
    rotate: bool = False,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Trains a model without each fold and measures it on that fold. A query is never split.

    Parameters
    ----------
    params : dict, or dict of dicts
        Parameters; or several sets of them by name, which are compared on the same folds.
    data : Dataset
        Documents.
    folds : int or array
        Number of random folds, or the fold of each row, counted from 0.
    rotate : bool
        Validate on the fold before the one that is measured, and keep the best round; with five folds this is LETOR's
        rotation. Early stopping needs it.
    seed : int
        Seed of random folds, of intervals, and of training unless `params` has a seed; 0 by default.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((600, 3))
    >>> data = rankwise.Dataset(X, label=np.floor(3 * X[:, 0]), group=[20] * 30)
    >>> found = rankwise.cross_validate({"num_trees": 10, "metric": "ndcg@5"}, data, folds=3)
    >>> len(found.folds["parameters"]), found.means["parameters"]["ndcg@5"] > 0.9
    (3, True)
    """
    given = dict(params or {})
    several = bool(given) and all(isinstance(value, Mapping) for value in given.values())
    systems = given if several else {"parameters": given}
    named: list[tuple[str, dict[str, Any]]] = [(str(name), dict(one)) for name, one in systems.items()]  # type: ignore[arg-type]
    if seed is None:
        seed = next((int(one["seed"]) for _, one in named if one.get("seed") is not None), 0)
    else:
        named = [(name, one if _has_seed(one) else {**one, "seed": seed}) for name, one in named]
    return CrossValidation(_rankwise.cross_validate(named, _raw(data, "data"), _folds(folds), rotate, seed, n_jobs))


_SEEDS = ("seed", *(alias for alias, name in _rankwise.aliases().items() if name == "seed"))


def _has_seed(params: Mapping[str, Any]) -> bool:
    return any(params.get(name) is not None for name in _SEEDS)


def _folds(folds: Any) -> Any:
    """A number of folds, or the fold of each row."""
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        if folds < 2:
            raise ValueError(f"folds={folds}: expected at least 2")
        return int(folds)
    given = np.asarray(folds)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError("folds: expected a number of folds, or an array with the fold of each row, counted from 0")
    return np.ascontiguousarray(given, dtype=np.int64)


class Auto:
    """The result of :func:`auto`."""

    def __init__(self, model: Model, facts: dict[str, Any]) -> None:
        self.model = model
        """The combined model, an ordinary tree ensemble."""
        self.tried: list[dict[str, Any]] = facts["tried"]
        """What was trained: name, outcome, value, rounds, and the factor of its scores in the model."""
        self.estimates: list[dict[str, Any]] = facts["estimates"]
        """From random order to the model: means with intervals, measured on queries that did not choose, and what each
        step gained."""
        self.last_doubling: float | None = facts["last_doubling"]
        """What the second half of the models gained over the first half alone."""
        self.last_doubling_interval: tuple[float, float] | None = facts["last_doubling_interval"]
        """Its confidence interval."""

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [row["name"], _number(row["mean"]), _between(row["interval"]), _signed(row["gain"], row["gain_interval"])]
            for row in self.estimates
        ]
        return ["estimate", "mean", "95 % interval", "gain"], rows

    def __repr__(self) -> str:
        return f"{_table(*self._rows())}\n{len(self.tried)} models, {self.model!r}"

    def _repr_html_(self) -> str:
        return _html(*self._rows())

    def to_pandas(self) -> Any:
        """A row per model that was tried, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.tried)


def auto(
    data: Dataset,
    valid: Dataset | None = None,
    *,
    params: Params | None = None,
    time: float | None = None,
    steps: int | None = None,
    refit: Dataset | None = None,
    callback: Report | None = None,
    n_jobs: int | None = None,
) -> Auto:
    """Finds the best ranker: trains models of many kinds and combines them into one tree ensemble.

    Parameters
    ----------
    data : Dataset
        Documents to train on.
    valid : Dataset, optional
        Documents for all choices. By default, every fifth query of `data` is set aside.
    params : dict, optional
        Parameters that every model has, such as `{"metric": "ndcg@5"}`. What is set here is not varied.
    time : float, optional
        Time in seconds; 60 by default. The number of models depends on the machine.
    steps : int, optional
        Number of models to train, instead of a time. The result is then the same on every machine.
    refit : Dataset, optional
        All data: in the end, the chosen models are trained again on it.
    callback : callable, optional
        Called after each model with a dictionary: number, name, outcome, value, rounds.

    Raises
    ------
    TrainingInterrupted
        After Ctrl-C, with the combination of the models so far. It is a KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 3))
    >>> data = rankwise.Dataset(X, label=np.floor(3 * X[:, 0]), group=[20] * 50)
    >>> found = rankwise.auto(data, steps=2)
    >>> [model["name"] for model in found.tried]
    ['oblivious lambdamart', 'oblivious xendcg']
    """
    raw, facts = _rankwise.auto(
        dict(params or {}),
        _raw(data, "data"),
        _raw_like(valid, "valid", data),
        (time, steps),
        _raw_like(refit, "refit", data),
        callback,
        n_jobs,
    )
    found = Auto(Model(raw), facts)
    if facts["interrupted"]:
        raise TrainingInterrupted(found.model)
    return found


class Tuned:
    """The result of :func:`tune`."""

    def __init__(self, model: Model, facts: dict[str, Any]) -> None:
        self.model = model
        """The model of the best trial."""
        self.best_params: dict[str, str] = facts["best_params"]
        """The values of the searched parameters in the best trial."""
        self.best_trial: int = facts["best"]
        """The best trial, counted from 0."""
        self.trials: list[dict[str, Any]] = facts["trials"]
        """All trials: number, settings, outcome, value, rounds."""
        self.default: dict[str, Any] = facts["default"]
        """The trial with the default parameters."""
        self.comparison = Comparison(facts["comparison"], 0.05)
        """The best trial and the default on queries that decided nothing."""
        self.tested_on_test_data: bool = facts["tested_on_test_data"]
        """Whether these are the queries of `test`; otherwise they are half of the validation queries."""

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.best_params.items())
        best = self.trials[self.best_trial]["value"]
        return f"trial {self.best_trial} of {len(self.trials)}: {_number(best)} with {settings}\n{self.comparison!r}"

    def _repr_html_(self) -> str:
        rows = [[name, value] for name, value in self.best_params.items()]
        return _html(["parameter", "value"], rows) + self.comparison._repr_html_()

    def to_pandas(self) -> Any:
        """A row per trial, as a pandas DataFrame; a column for each parameter."""
        import pandas as pd

        columns = ["number", "outcome", "value", "rounds"]
        return pd.DataFrame([{**{name: row[name] for name in columns}, **row["settings"]} for row in self.trials])


def tune(
    data: Dataset,
    valid: Dataset | None = None,
    test: Dataset | None = None,
    *,
    params: Params | None = None,
    space: Mapping[str, Any] | None = None,
    trials: int = 50,
    search: str = "tpe",
    halving: bool = False,
    parallel: int = 4,
    callback: Report | None = None,
    n_jobs: int | None = None,
) -> Tuned:
    """Searches for good values of parameters, and tests the best trial against the default.

    Parameters
    ----------
    data : Dataset
        Documents to train on.
    valid : Dataset, optional
        Documents that decide. By default, every fifth query of `data` is set aside.
    test : Dataset, optional
        Documents on which the best trial is compared with the default. By default, half of the validation queries, which
        then decide nothing.
    params : dict, optional
        Parameters of all trials. Unless set, `num_trees` is 1000 and `early_stopping_rounds` is 50.
    space : dict, optional
        The values to try for each parameter: a list of values, `{"uniform": (low, high)}` or `{"log": (low, high)}`; with
        `"when": {"objective": "lambdamart"}` a parameter is only tried for that value of another one. By default, a
        space that suits the objective.
    trials : int
        Number of trials.
    search : {"tpe", "random"}
        Tree-structured Parzen estimator, or random search.
    halving : bool
        Whether trials that are behind after a ninth or a third of the rounds are stopped.
    parallel : int
        How many trials may run at the same time: trial i learns from trials up to i - `parallel`. The result depends on
        it, not on the number of threads.
    callback : callable, optional
        Called after each trial with a dictionary: number (None for the default), name, outcome, value, rounds.

    Raises
    ------
    TrainingInterrupted
        After Ctrl-C, with the best model so far. It is a KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 3))
    >>> data = rankwise.Dataset(X, label=np.floor(3 * X[:, 0]), group=[20] * 50)
    >>> space = {"learning_rate": {"log": (0.01, 0.5)}, "objective": ["lambdamart", "xendcg"]}
    >>> found = rankwise.tune(data, params={"num_trees": 10}, space=space, trials=3)
    >>> len(found.trials), sorted(found.best_params)
    (3, ['learning_rate', 'objective'])
    """
    raw, facts = _rankwise.tune_parameters(
        dict(params or {}),
        _raw(data, "data"),
        _raw_like(valid, "valid", data),
        _raw_like(test, "test", data),
        None if space is None else {name: values for name, values in space.items()},
        (search, halving, trials, parallel),
        callback,
        n_jobs,
    )
    found = Tuned(Model(raw), facts)
    if facts["interrupted"]:
        raise TrainingInterrupted(found.model)
    return found
