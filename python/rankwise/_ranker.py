"""The estimator, by the conventions of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _rankwise
from ._callbacks import Callback
from ._data import Dataset, Table, as_table, raw_dataset
from ._model import Model, Objective, n_arguments, train_model
from ._params import Parameters, ParamValue
from ._results import evaluate

if TYPE_CHECKING:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...

else:
    try:
        from sklearn.base import BaseEstimator
    except ImportError:

        class BaseEstimator:
            """What is used of scikit-learn's class, where scikit-learn is not installed."""

            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in _NAMES}

            def set_params(self, **params):
                for name, value in params.items():
                    if name not in _NAMES:
                        raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                    setattr(self, name, value)
                return self


_DEFAULTS: dict[str, Any] = {}
_NAMES: list[str] = []


def _learn_defaults() -> None:
    import inspect

    for name, parameter in inspect.signature(Parameters.__init__).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            _NAMES.append(name)
            _DEFAULTS[name] = parameter.default


_learn_defaults()


class Ranker(Parameters, BaseEstimator):
    __doc__ = (
        """A ranking model with scikit-learn's interface.

    Takes the place of `LGBMRanker`, `XGBRanker` and `CatBoostRanker`: their parameter names are aliases.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((200, 4)), np.repeat(np.arange(10), 20)
    >>> y = np.floor(4 * X[:, 0])
    >>> ranker = rankwise.Ranker(n_estimators=10, num_leaves=5).fit(X, y, qid=qid)
    >>> ranker.n_features_in_
    4

    Attributes
    ----------
    model_ : Model
        The trained model.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, if X was a data frame.
    feature_importances_ : array
        Importance of each column, of the type `importance_type`.
    best_iteration_ : int
        Number of rounds in the model.
    evals_result_ : dict
        The metrics after each round, by validation set and metric.

"""
        + "    "
        + (Parameters.__doc__ or "").split("\n\n", 1)[-1].strip()
        + "\n    "
    )

    importance_type: str = "gain"
    model_: Model

    def _set_others(self, others: dict[str, ParamValue]) -> None:
        self._others: dict[str, ParamValue] = {}
        for name, value in others.items():
            self._set_other(name, value)

    def _set_other(self, name: str, value: ParamValue) -> None:
        if name not in _ALIASES:
            near = _rankwise.nearest_parameter(name)
            hint = f"; did you mean {near!r}?" if near else ""
            raise TypeError(f"unknown parameter {name!r}{hint}")
        self._others[name] = value
        setattr(self, name, value)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(_NAMES)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, and the aliases that were given."""
        return {**{name: getattr(self, name) for name in _NAMES}, **self._others}

    def set_params(self, **params: Any) -> Ranker:
        """Sets parameters by name or alias."""
        for name, value in params.items():
            if name in _DEFAULTS:
                setattr(self, name, value)
            elif name in self._others or name in _ALIASES:
                self._set_other(name, value)
            else:
                near = _rankwise.nearest_parameter(name)
                hint = f"; did you mean {near!r}?" if near else ""
                raise ValueError(f"Invalid parameter {name!r} for estimator Ranker{hint}")
        return self

    def _training_params(self) -> dict[str, ParamValue]:
        changed = {name: getattr(self, name) for name in _NAMES if name != "n_jobs"}
        changed = {name: value for name, value in changed.items() if not _is_same(value, _DEFAULTS[name])}
        return {**changed, **self._others}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_qid: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_metric: str | Sequence[str] | None = None,
        early_stopping_rounds: int | None = None,
        callbacks: Sequence[Callback] | None = None,
        init_model: Ranker | Model | str | os.PathLike[str] | None = None,
        objective: Objective | None = None,
    ) -> Ranker:
        """Trains the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features. NaN is missing. A column `qid` of a data frame holds the queries.
        y : array
            Relevance labels, 0 or more.
        qid, group : array
            The query of each row, in any order; or the number of rows of each query.
        sample_weight, query_weight : array, optional
            Weights of rows, and of queries in order of first appearance.
        eval_set : list of (X, y), optional
            Validation sets; their queries are in `eval_qid` or `eval_group`, or in a column `qid`.
        eval_names : list of str, optional
            Their names.
        eval_metric : str or list of str, optional
            Metrics on the validation sets; overrides the parameter `metric`.
        early_stopping_rounds : int, optional
            Overrides the parameter of this name.
        callbacks : list of callables, optional
            Called after each round.
        init_model : Ranker, Model or path, optional
            A model whose trees come first.
        objective : callable, optional
            A custom objective; see :func:`rankwise.train`.
        """
        params = self._training_params()
        if eval_metric is not None:
            params["metric"] = eval_metric if isinstance(eval_metric, str) else list(eval_metric)
        if early_stopping_rounds is not None:
            params["early_stopping_rounds"] = early_stopping_rounds
        table = as_table(X)
        self._check_rows(table)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        weight = sample_weight
        if objective is not None and n_arguments(objective) == 4:
            # LightGBM's form: the objective multiplies the weights.
            if query_weight is not None:
                raise ValueError("an objective with the arguments weight and group cannot use query_weight")
            sample_weight = None
        train_set = _dataset(table, y, qid, group, sample_weight, query_weight, params, self.n_jobs)
        sets = self._valid_sets(table, eval_set, eval_qid, eval_group, params)
        start = init_model.model_ if isinstance(init_model, Ranker) else init_model
        model, interrupted = train_model(
            params, train_set, sets, eval_names, objective, start, callbacks, self.n_jobs, weight
        )
        self.model_ = model
        self.n_features_in_ = table.n_columns
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.evals_result_ = model.info["evals_result"]
        self.best_iteration_ = model.n_trees // int(model._facts["n_outputs"])
        if interrupted:
            raise KeyboardInterrupt
        return self

    def _check_rows(self, table: Table) -> None:
        if table.n_rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if table.n_columns == 0:
            raise ValueError(f"0 feature(s) (shape={table.values.shape}) while a minimum of 1 is required.")

    def _valid_sets(
        self,
        table: Table,
        eval_set: Sequence[tuple[Any, Any]] | None,
        eval_qid: Sequence[Any] | None,
        eval_group: Sequence[Any] | None,
        params: dict[str, ParamValue],
    ) -> list[Dataset]:
        sets = list(eval_set or [])
        for name, given in (("eval_qid", eval_qid), ("eval_group", eval_group)):
            if given is not None and len(given) != len(sets):
                raise ValueError(f"{name} has {len(given)} entries, but eval_set has {len(sets)}")
        made = []
        for place, (X, y) in enumerate(sets):
            other = as_table(X)
            _check_columns(other, table.names, table.n_columns, f"eval_set[{place}]")
            qid = eval_qid[place] if eval_qid is not None else None
            group = eval_group[place] if eval_group is not None else None
            made.append(_dataset(other, y, qid, group, None, None, params, self.n_jobs))
        return made

    def predict(
        self, X: Any, *, num_iteration: int | None = None, pred_leaf: bool = False
    ) -> npt.NDArray[Any]:
        """Scores documents; a higher score is a better rank. See :meth:`Model.predict`."""
        self._check_fitted()
        table = as_table(X)
        names = self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None
        _check_columns(table, names, self.n_features_in_, "X")
        plain = table.values
        return self.model_.predict(plain, num_iteration=num_iteration, pred_leaf=pred_leaf, n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: Any = None) -> float:
        """The mean of the first metric of the parameter `metric` (NDCG@10 by default), by its rules."""
        self._check_fitted()
        table = as_table(X)
        names = self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None
        _check_columns(table, names, self.n_features_in_, "X")
        data = Dataset.__new__(Dataset)
        data._raw = raw_dataset(table, y, qid, group, sample_weight, n_jobs=self.n_jobs)
        data.absent = "missing"
        params = self.get_params()
        # An alias that was given takes the place of the parameter.
        metric: Any = next((self._others[name] for name in _METRIC_ALIASES if self._others.get(name)), self.metric)
        names_of_metrics = metric.split(",") if isinstance(metric, str) else [str(name) for name in metric]
        first = names_of_metrics[0].strip()
        rules = {name: params[name] for name in _RULES if not _is_same(params[name], _DEFAULTS[name])}
        scores = self.model_.predict(table.values, n_jobs=self.n_jobs)
        return float(evaluate(data, scores, first, n_jobs=self.n_jobs, **rules)[first])

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The importance of each column."""
        self._check_fitted()
        importances = np.zeros(self.n_features_in_)
        for feature, splits, gain in self.model_._raw.importance():
            importances[feature] = gain if self.importance_type == "gain" else splits
        return importances

    @property
    def booster_(self) -> Model:
        """The trained model, by LightGBM's name."""
        self._check_fitted()
        return self.model_

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            message = "This Ranker instance is not fitted yet. Call 'fit' with appropriate arguments first."
            try:
                from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped]
            except ImportError:
                raise AttributeError(message) from None
            raise NotFittedError(message)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


_METRIC_ALIASES = ("metrics", "metric_types", "eval_metric", "custom_metric")
_RULES = [
    "gain",
    "ties",
    "empty",
    "discount",
    "relevant_from",
    "map_denominator",
    "precision_denominator",
    "err_max_grade",
    "rbp_persistence",
    "pfound_decay",
    "convention",
]


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


_ALIASES = frozenset(_rankwise.aliases())


def _check_columns(table: Table, names: list[str] | None, n_columns: int, what: str) -> None:
    """Whether the columns are those of the training data, in the same order."""
    if names is not None and table.names is not None and table.names != names:
        lacking = [name for name in names if name not in table.names]
        more = [name for name in table.names if name not in names]
        if lacking:
            raise ValueError(f"{what} lacks columns of the training data: {', '.join(map(repr, lacking[:5]))}")
        if more:
            raise ValueError(f"{what} has columns that the training data lacks: {', '.join(map(repr, more[:5]))}")
        raise ValueError(f"{what} has the columns of the training data in another order")
    if table.n_columns != n_columns:
        raise ValueError(
            f"X has {table.n_columns} features, but Ranker is expecting {n_columns} features as input"
            if what == "X"
            else f"{what} has {table.n_columns} features, but the training data has {n_columns}"
        )


def _dataset(
    table: Table,
    y: Any,
    qid: Any,
    group: Any,
    weight: Any,
    query_weight: Any,
    params: dict[str, ParamValue],
    n_jobs: int | None,
) -> Dataset:
    data = Dataset.__new__(Dataset)
    absent = params.get("absent")
    data.absent = str(absent) if absent else ("zero" if table.is_sparse else "missing")
    data._raw = raw_dataset(
        table, y, qid, group, weight, query_weight, absent=data.absent if table.is_sparse else None, n_jobs=n_jobs
    )
    return data
