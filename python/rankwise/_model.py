"""Training, and trained models."""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _rankwise
from ._callbacks import Callback, EarlyStopping, ResetParameter, Round
from ._data import Dataset, Table, as_table, raw_dataset
from ._params import ParamValue

Objective = Callable[..., Any]
Metric = Callable[..., Any]

_logger = logging.getLogger("rankwise")


def logs_remarks() -> bool:
    """Whether remarks about training data are logged."""
    return _logger.isEnabledFor(logging.INFO)


def n_arguments(function: Callable[..., Any], what: str = "an objective") -> int:
    """How many arguments an objective or metric takes: 2 and 4 are LightGBM's forms, 3 is ours."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 3
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [parameter for parameter in parameters if parameter.kind in kinds]
    n_positional = len(positional)
    n_needed = sum(parameter.default is parameter.empty for parameter in positional)
    if n_needed == 2 < n_positional:
        return 2
    if n_positional not in (2, 3, 4):
        raise TypeError(
            f"{what} takes (label, score), (label, score, query) or, as in LightGBM, (label, score, weight, group);"
            f" this one takes {n_positional} arguments"
        )
    return n_positional


def _more_arguments(n_given: int, data: Dataset, weight: Any) -> tuple[Any, ...]:
    """The arguments of an objective or metric after label and score."""
    if n_given == 2:
        return ()
    query = data._raw.queries()[1]
    if n_given == 3:
        return (query,)
    starts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    if len(starts) != data.n_queries:
        raise ValueError("a function with the argument group needs rows that are sorted by query")
    return (weight, np.diff(np.r_[starts, len(query)]))


def _dense(table: Table) -> npt.NDArray[np.float64]:
    values = table.values.toarray() if table.is_sparse else table.values
    return np.ascontiguousarray(values, dtype=np.float64)


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during training. `model` has the trees so far."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; .model has the trees so far")
        self.model = model


@dataclass(frozen=True)
class Explanation:
    """SHAP values of documents; see :meth:`Model.explain`."""

    values: npt.NDArray[np.float64]
    """A row for each document, a column for each feature. With several outputs, a third axis for them."""
    base_value: Any
    """The expected score, or an array of those of each output."""
    data: npt.NDArray[np.float64]
    """The values of the features."""
    feature_names: list[str]
    """The names of the columns."""

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, for the plots of the package `shap`."""
        import shap  # type: ignore[import-untyped]

        base = np.broadcast_to(np.asarray(self.base_value), (len(self.values), *np.shape(self.base_value)))
        return shap.Explanation(
            values=self.values, base_values=base, data=self.data, feature_names=self.feature_names
        )

    def to_pandas(self) -> Any:
        """A frame with a column for each feature; only for a single output."""
        import pandas as pd  # type: ignore[import-untyped]

        if self.values.ndim > 2:
            raise ValueError("to_pandas needs a model with one output")
        return pd.DataFrame(self.values, columns=self.feature_names)


class Model:
    """A trained ranking model.

    Made by :func:`train`, :func:`load_model`, or as `Ranker.model_`. Models are pickled as their file.
    """

    def __init__(self, raw: _rankwise.RawModel, info: dict[str, Any] | None = None) -> None:
        self._raw = raw
        self._facts = raw.facts()
        self._names: set[str] | None = set(self._facts["feature_names"]) or None
        self.info: dict[str, Any] = info or {}
        """Facts about the run that trained the model: `evals_result`, `stopped`, `seconds`, ..."""

    def predict(
        self,
        X: Any,
        *,
        qid: Any = None,
        group: Any = None,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        n_jobs: int | None = None,
    ) -> npt.NDArray[Any]:
        """Scores documents; a higher score is a better rank.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset
            If the model has feature names, columns of a data frame are found by name, and others are ignored. Otherwise
            feature `i` is column `i`.
        qid, group : array, optional
            Queries, as in :class:`Dataset`. Only models that score the documents of a query together need them (`is_listwise`).
        num_iteration : int, optional
            Use only the first rounds of boosting.
        pred_leaf : bool
            Return the number of the leaf in each tree, instead of scores.
        pred_contrib : bool
            Return SHAP values, a column for each column of `X`, and the expected score in the last column, as LightGBM does.
        n_jobs : int, optional
            Number of threads; all cores by default.
        """
        model = self if not num_iteration or num_iteration < 0 else self.first_rounds(num_iteration)
        if pred_leaf and pred_contrib:
            raise ValueError("pred_leaf and pred_contrib exclude each other")
        if pred_contrib:
            found = model.explain(X, n_jobs=n_jobs)
            if found.values.ndim > 2:
                raise ValueError("pred_contrib needs a model with one output; use explain")
            return np.column_stack([found.values, np.full(len(found.values), found.base_value)])
        if isinstance(X, Dataset):
            if pred_leaf:
                raise ValueError("pred_leaf needs an array or a data frame, not a Dataset")
            self._check_names(X)
            for remark in self._raw.remarks(X._raw):
                warnings.warn(remark, UserWarning, stacklevel=2)
            return model._raw.predict(X._raw, n_jobs)
        # Other columns may have anything, such as ids.
        table = as_table(X, only=self._names)
        columns = self._columns(table)
        if self.is_listwise and not pred_leaf:
            return model._raw.predict(self._list_data(table, columns, qid, group, n_jobs), n_jobs)
        if pred_leaf:
            return model._raw.leaves(_dense(table), columns, n_jobs)
        if table.is_sparse:
            if self._facts["features"] and max(self._facts["features"]) >= table.n_columns:
                raise ValueError(self._too_narrow(table))
            data = raw_dataset(table, is_query_optional=True, n_jobs=n_jobs)
            return model._raw.predict(data, n_jobs)
        return model._raw.predict_dense(table.values, columns, n_jobs)

    def _list_data(
        self, table: Table, columns: list[int] | None, qid: Any, group: Any, n_jobs: int | None
    ) -> _rankwise.RawDataset:
        """The documents with their queries, and with features by the numbers that they have in the model."""
        if qid is None and group is None and table.qid is None:
            raise ValueError(
                "the scores of this model depend on the other documents of a query: give qid (the query of each row), group (the"
                " size of each query) or a Dataset"
            )
        if columns is not None:
            values = np.full((table.n_rows, 1 + max(self.feature_ids, default=0)), np.nan)
            values[:, self.feature_ids] = _dense(table)[:, columns]
            table = as_table(values)
        elif self.feature_ids and max(self.feature_ids) >= table.n_columns:
            raise ValueError(self._too_narrow(table))
        return raw_dataset(table, qid=qid, group=group, n_jobs=n_jobs)

    def explain(self, X: Any, *, background: Any = None, n_jobs: int | None = None) -> Explanation:
        """SHAP values: what each feature adds to the score of each document.

        They add up to the score minus the expected score of a document of which nothing is known. LightGBM's `pred_contrib` and the
        `shap` package (`tree_path_dependent`) give the same values.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The documents. Columns of a frame that the model does not know are kept, and have the value 0.
        background : array or data frame, optional
            Compare with these documents instead of the training data (interventional SHAP values). Models of RankLib and linear models need it,
            since they have no counts of training rows.
        n_jobs : int, optional
            Number of threads; all cores by default.

        Examples
        --------
        >>> import numpy as np, rankwise
        >>> X = np.arange(80, dtype=np.float32).reshape(40, 2) % 7
        >>> ranker = rankwise.Ranker(num_trees=5, min_data_in_leaf=5).fit(X, X[:, 0] > 3, group=[20, 20])
        >>> found = ranker.model_.explain(X)
        >>> bool(np.allclose(found.base_value + found.values.sum(axis=1), ranker.predict(X)))
        True
        """
        if isinstance(X, Dataset):
            raise ValueError("explain needs an array or a data frame, not a Dataset")
        table = as_table(X)
        values, columns = _dense(table), self._columns(table)
        if columns is None:
            columns = self.feature_ids
            if columns and max(columns) >= table.n_columns:
                raise ValueError(self._too_narrow(table))
        others = None
        if background is not None:
            other = as_table(background)
            if self._columns(other) not in (None, columns) or other.n_columns != table.n_columns:
                raise ValueError("background must have the columns of X, in the same order")
            others = _dense(other)
        found, expected = self._raw.contributions(values, columns, others, n_jobs)
        shap = np.zeros((len(values), len(expected), table.n_columns))
        shap[:, :, columns] = found.reshape(len(values), len(expected), len(columns))
        names = list(table.names) if table.names is not None else [str(place) for place in range(table.n_columns)]
        if len(expected) == 1:
            return Explanation(shap[:, 0], expected[0], values, names)
        return Explanation(np.moveaxis(shap, 1, 2), np.asarray(expected), values, names)

    def _check_names(self, data: Dataset) -> None:
        """Features of a dataset are found by number, so the names of both must agree."""
        names = data.feature_names
        if names:
            for feature, name in zip(self.feature_ids, self.feature_names):
                if names.get(feature) != name:
                    found = repr(names[feature]) if feature in names else "missing"
                    raise ValueError(f"the model's feature {feature} is {name!r}, but in the dataset it is {found}")

    def _too_narrow(self, table: Table) -> str:
        last = max(self._facts["features"])
        return f"X has {table.n_columns} columns, but the model uses feature {last}, which is column {last + 1}"

    def _columns(self, table: Table) -> list[int] | None:
        """The column of each feature, if found by name."""
        names = self._facts["feature_names"]
        if table.names is None or not names:
            return None
        places = {name: place for place, name in enumerate(table.names)}
        lacking = [name for name in names if name not in places]
        if lacking:
            raise ValueError(f"X lacks columns that the model uses: {', '.join(map(repr, lacking[:5]))}")
        return [places[name] for name in names]

    def first_rounds(self, n_rounds: int) -> Model:
        """The model with its first rounds of boosting only."""
        return Model(self._raw.first_rounds(n_rounds))

    @property
    def objective(self) -> str:
        """The objective that it was trained with."""
        return str(self._facts["objective"])

    @property
    def params(self) -> dict[str, str]:
        """The parameters of training that differ from the defaults."""
        return dict(self._facts["params"])

    @property
    def feature_ids(self) -> list[int]:
        """The ids of its features, in order."""
        return list(self._facts["features"])

    @property
    def feature_names(self) -> list[str]:
        """The names of its features, in the same order; empty if it has none."""
        return list(self._facts["feature_names"])

    @property
    def absent(self) -> str:
        """What a feature means that is absent from a sparse row: "missing" or "zero"."""
        return "zero" if self._facts["absent_is_zero"] else "missing"

    @property
    def is_listwise(self) -> bool:
        """Whether the score of a document depends on the other documents of its query."""
        return bool(self._facts["is_listwise"])

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return int(self._facts["n_trees"])

    def feature_importance(self, importance_type: str = "gain") -> dict[int | str, float]:
        """The importance of each feature, by name or id: the sum of gains ("gain") or the number of splits ("split"). In a linear
        model, "gain" is the absolute weight."""
        if importance_type not in ("gain", "split"):
            raise ValueError(f"importance_type={importance_type!r}: expected 'gain' or 'split'")
        label: dict[int, int | str] = dict(zip(self.feature_ids, self.feature_names or self.feature_ids))
        return {
            label[feature]: gain if importance_type == "gain" else float(splits)
            for feature, splits, gain in self._raw.importance()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file; the command line and :func:`load_model` read it."""
        self._raw.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._raw.to_bytes()

    def export(
        self,
        path: str | os.PathLike[str],
        format: str,
        *,
        missing_as_zero: bool = False,
        allow_rounding: bool = False,
    ) -> None:
        """Writes the model in the format of another program, such as "lightgbm", "xgboost" or "onnx"."""
        bytes = self._raw.export(format, missing_as_zero, allow_rounding)
        with open(path, "wb") as file:
            file.write(bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_bytes, (self.to_bytes(), self.info))

    def __repr__(self) -> str:
        return f"Model(objective={self.objective!r}, n_trees={self.n_trees}, n_features={len(self.feature_ids)})"


def _from_bytes(bytes: bytes, info: dict[str, Any]) -> Model:
    return Model(_rankwise.model_from_bytes(bytes), info)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Reads a model file of Rankwise, LightGBM, XGBoost, CatBoost or RankLib; the format is detected by content."""
    return Model(_rankwise.load_model(os.fspath(path)))


def train(
    params: dict[str, ParamValue] | None,
    train_set: Dataset,
    *,
    valid_sets: Sequence[Dataset] | None = None,
    valid_names: Sequence[str] | None = None,
    objective: Objective | None = None,
    feval: Metric | Sequence[Metric] | None = None,
    init_model: Model | str | os.PathLike[str] | None = None,
    callbacks: Sequence[Callback] | None = None,
    n_jobs: int | None = None,
) -> Model:
    """Trains a model.

    Parameters
    ----------
    params : dict
        Parameters by name or alias; see :class:`Ranker` for all of them.
    train_set : Dataset
        Documents to train on.
    valid_sets : list of Dataset, optional
        Documents to measure after each round. The model ends with the best round of the first one.
    valid_names : list of str, optional
        Their names; "valid_0", "valid_1", ... by default.
    objective : callable, optional
        `objective(label, score, query)` returns the gradients and Hessians of all rows, as two arrays. It is called
        once per round, on this thread, with arrays in input order; `query` has a number for the query of each row.
        Weights of the data are multiplied afterwards. `objective(label, score)` works too, and in `Ranker.fit` also
        LightGBM's `objective(label, score, weight, group)`, which multiplies the weights itself.
    feval : callable or list of callables, optional
        Custom metrics with the same arguments as an objective, for the rows of a validation set. A metric returns a
        number (larger is better), or a tuple of name, value and whether larger is better. If
        `metric` is not set, custom metrics come first, and the first one decides which round is best.
    init_model : Model or path, optional
        A model whose trees come first.
    callbacks : list of callables, optional
        Called after each round; see :func:`progress_bar`, :func:`log_evaluation`, :func:`record_evaluation`,
        :func:`early_stopping` and :func:`reset_parameter`.

    Raises
    ------
    TrainingInterrupted
        After Ctrl-C, with the trees so far. It is a KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> X = np.arange(80, dtype=np.float32).reshape(40, 2) % 7
    >>> data = rankwise.Dataset(X, label=X[:, 0] > 3, group=[20, 20])
    >>> model = rankwise.train({"num_trees": 5, "min_data_in_leaf": 5}, data)
    >>> model
    Model(objective='lambdamart', n_trees=5, n_features=1)
    """
    given = dict(params or {})
    metrics = [] if feval is None else [feval] if callable(feval) else list(feval)
    come_first = not any(given.get(name) for name in METRIC_NAMES)
    model, interrupted = train_model(
        given, train_set, valid_sets, valid_names, objective, init_model, callbacks, n_jobs, None, metrics, come_first
    )
    if interrupted:
        raise TrainingInterrupted(model)
    return model


METRIC_NAMES = ("metric", *(alias for alias, name in _rankwise.aliases().items() if name == "metric"))


def _measured(metric: Metric, sets: Sequence[Dataset]) -> Callable[[int, npt.NDArray[np.float64]], Any]:
    """A function of the number of a validation set and its scores that returns name, value and direction."""
    n_given = n_arguments(metric, "a metric")
    arguments = [(data.label, _more_arguments(n_given, data, None)) for data in sets]
    default = getattr(metric, "__name__", type(metric).__name__)

    def measure(place: int, score: npt.NDArray[np.float64]) -> tuple[str, float, bool]:
        label, more = arguments[place]
        value = metric(label, score, *more)
        if not isinstance(value, tuple):
            return default, float(value), True
        if len(value) != 3:
            raise TypeError("a metric must return a number, or a tuple of name, value and whether larger is better")
        return str(value[0]), float(value[1]), bool(value[2])

    return measure


def check_names(train_set: Dataset, name: str, data: Dataset) -> None:
    """Whether the named features of another dataset are those of the training data."""
    if data.feature_names and train_set.feature_names and data.feature_names != train_set.feature_names:
        raise ValueError(f"the features of {name} differ from those of the training data in name or order")


def warn_of_features(train_set: Dataset, name: str, data: Dataset, stacklevel: int) -> None:
    """Warns of features that another dataset lacks, or that the training data lacks."""
    for remark in train_set._raw.remarks_on_valid(data._raw):
        warnings.warn(f"{name}: {remark}", UserWarning, stacklevel=stacklevel + 1)


def train_model(
    params: dict[str, ParamValue],
    train_set: Dataset,
    valid_sets: Sequence[Dataset] | None,
    valid_names: Sequence[str] | None,
    objective: Objective | None,
    init_model: Model | str | os.PathLike[str] | None,
    callbacks: Sequence[Callback] | None,
    n_jobs: int | None,
    weight: Any = None,
    metrics: Sequence[Metric] = (),
    metrics_come_first: bool = False,
    drops_values: bool = False,
) -> tuple[Model, bool]:
    """The model, and whether training was interrupted. `drops_values` frees memory that only other uses of the data need."""
    if not isinstance(train_set, Dataset):
        raise TypeError(f"train_set must be a rankwise.Dataset, not {type(train_set).__name__}")
    sets = list(valid_sets or [])
    names = list(valid_names) if valid_names is not None else [f"valid_{i}" for i in range(len(sets))]
    if len(names) != len(sets):
        raise ValueError(f"there are {len(names)} names for {len(sets)} validation sets")
    for name, data in zip(names, sets):
        check_names(train_set, name, data)
    calls = list(callbacks or [])
    learning_rate = None
    for call in calls:
        if isinstance(call, EarlyStopping):
            params["early_stopping_rounds"] = call.stopping_rounds
        elif isinstance(call, ResetParameter):
            learning_rate = call.learning_rate
    calls = [call for call in calls if not isinstance(call, (EarlyStopping, ResetParameter))]
    if logs_remarks():
        for remark in train_set.remarks():
            _logger.info("training data: %s", remark)
    for name, data in zip(names, sets):
        warn_of_features(train_set, name, data, 3)
    if train_set.absent == "zero" and params.get("absent") is None:
        params["absent"] = "zero"
    if init_model is not None and not isinstance(init_model, Model):
        init_model = load_model(init_model)
    if init_model is not None:
        init_model._check_names(train_set)

    def after_round(
        iteration: int, num_iterations: int, best_iteration: int, values: list[tuple[str, str, float]]
    ) -> bool:
        state = Round(iteration, num_iterations, best_iteration, values, params)
        # All are called, whatever the first ones return.
        return any([call(state) for call in calls])

    asked = None
    if objective is not None:
        if n_arguments(objective) == 4 and weight is None and train_set._raw.has_weights:
            raise ValueError("an objective with the argument weight needs Ranker.fit; the weights of a Dataset are its own")
        label = train_set.label
        more = _more_arguments(n_arguments(objective), train_set, weight)

        def gradients(score: npt.NDArray[np.float64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
            given = objective(label, score, *more)
            if not isinstance(given, tuple) or len(given) != 2:
                raise TypeError("the objective must return a tuple of gradients and Hessians")
            return tuple(np.ascontiguousarray(part, dtype=np.float64) for part in given)  # type: ignore[return-value]

        asked = (getattr(objective, "__name__", "custom"), gradients)
    if drops_values and init_model is None and not train_set._raw.is_binned:
        train_set._raw = train_set._raw.to_binned(params, n_jobs)
    try:
        raw, facts = _rankwise.train(
            params,
            train_set._raw,
            [(name, set._raw) for name, set in zip(names, sets)],
            None if init_model is None else init_model._raw,
            after_round if calls else None,
            asked,
            ([_measured(metric, sets) for metric in metrics], metrics_come_first) if metrics else None,
            learning_rate,
            n_jobs,
        )
    finally:
        for call in calls:
            if hasattr(call, "close"):
                call.close()
    results: dict[str, dict[str, list[float]]] = {}
    for name, metric, values in facts.pop("history"):
        results.setdefault(name, {})[metric] = values
    facts["evals_result"] = results
    if facts.pop("ignores_pairs"):
        warnings.warn(
            "the objective ignores the pairs of the data; use 'ranknet' or 'hinge' to learn from them",
            UserWarning,
            stacklevel=3,
        )
    if facts["no_trees"] is not None:
        warnings.warn(f"no tree was grown: {facts['no_trees']}", UserWarning, stacklevel=3)
    return Model(raw, facts), bool(facts.pop("interrupted"))
