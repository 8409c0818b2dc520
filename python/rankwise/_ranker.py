"""The estimator, by the conventions of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _rankwise
from ._callbacks import Callback, log_evaluation
from ._data import Dataset, Table, raw_dataset
from ._inputs import check_columns, check_rows, checked_names, dataset, features, labels, mean_weights
from ._model import METRIC_NAMES, Metric, Model, Objective, load_model, logs_remarks, n_arguments, train_model
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
    best_score_ : dict
        The metrics of the model, by validation set and metric.
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
        if name not in _ALIASES and name != _IMPORTANCE_TYPE and name not in _WITHOUT_EFFECT:
            near = _rankwise.nearest_parameter(name)
            hint = f"; did you mean {near!r}?" if near else ""
            raise TypeError(f"unknown parameter {name!r}{hint}")
        self._others[name] = value
        setattr(self, name, value)

    def _forget_others(self, name: str) -> None:
        """Removes the aliases of a parameter, and sets it to its default."""
        for alias in [alias for alias in self._others if _ALIASES.get(alias) == name]:
            del self._others[alias]
            delattr(self, alias)
        setattr(self, name, _DEFAULTS[name])

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(_NAMES)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, and the aliases that were given."""
        return {name: getattr(self, name) for name in [*_NAMES, *self._others]}

    def set_params(self, **params: Any) -> Ranker:
        """Sets parameters by name or alias. What was set by another name of the same parameter is forgotten."""
        for name, value in params.items():
            if name in _DEFAULTS:
                self._forget_others(name)
                setattr(self, name, value)
            elif name in self._others or name == _IMPORTANCE_TYPE or name in _WITHOUT_EFFECT:
                self._set_other(name, value)
            elif name in _ALIASES:
                self._forget_others(_ALIASES[name])
                self._set_other(name, value)
            else:
                near = _rankwise.nearest_parameter(name)
                hint = f"; did you mean {near!r}?" if near else ""
                raise ValueError(f"Invalid parameter {name!r} for estimator Ranker{hint}")
        return self

    def _training_params(self) -> dict[str, ParamValue]:
        changed = {name: getattr(self, name) for name in _NAMES if name != "n_jobs"}
        changed = {name: value for name, value in changed.items() if not _is_same(value, _DEFAULTS[name])}
        return {**changed, **{name: getattr(self, name) for name in self._others if name in _ALIASES}}

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        pairs: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | tuple[Any, Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_query_weight: Sequence[Any] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_metric: str | Metric | Sequence[str | Metric] | None = None,
        eval_at: int | Sequence[int] | None = None,
        early_stopping_rounds: int | None = None,
        feature_name: Sequence[str] | None = None,
        verbose: bool | int = False,
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
        pairs : array, optional
            Preferences between rows; see :class:`Dataset`. With pairs, y may be None.
        eval_set : list of (X, y), optional
            Validation sets; their queries are in `eval_qid` or `eval_group`, or in a column `qid`. A single (X, y)
            works too.
        eval_sample_weight, eval_query_weight : list of arrays, optional
            Weights of the queries in the metrics. The weight of a query is the mean weight of its rows.
        eval_names : list of str, optional
            Their names.
        eval_metric : str, callable or list of these, optional
            Metrics on the validation sets; overrides the parameter `metric`. For functions, see `feval` of
            :func:`rankwise.train`. The first metric decides which round is best.
        eval_at : int or list of int, optional
            Cutoffs of the metrics that are given without one: `eval_at=[5, 10]` makes "ndcg" "ndcg@5,ndcg@10".
        early_stopping_rounds : int, optional
            Overrides the parameter of this name.
        feature_name : list of str, optional
            Names of the columns; those of a data frame by default.
        verbose : bool or int
            Print the metrics after each round, or after every `verbose` rounds.
        callbacks : list of callables, optional
            Called after each round.
        init_model : Ranker, Model or path, optional
            A model whose trees come first.
        objective : callable, optional
            A custom objective; see :func:`rankwise.train`.
        """
        params = self._training_params()
        metrics: list[Any] = []
        for name in METRIC_NAMES:
            if eval_metric is None and _has_function(params.get(name)):
                eval_metric = params.pop(name)  # type: ignore[assignment]
        if callable(params.get("objective")):
            objective = params.pop("objective") if objective is None else objective  # type: ignore[assignment]
        if eval_metric is not None:
            metrics = [eval_metric] if isinstance(eval_metric, str) or callable(eval_metric) else list(eval_metric)
            if not all(isinstance(metric, str) or callable(metric) for metric in metrics):
                raise TypeError("eval_metric: expected names of metrics, functions, or a list of these")
            named = [metric for metric in metrics if isinstance(metric, str)]
            if named:
                _set_metric(params, ",".join(named))
        if eval_at is not None:
            given_metric = next((params[name] for name in METRIC_NAMES if name in params), self.metric)
            _set_metric(params, _with_cutoffs(given_metric, eval_at))
        if early_stopping_rounds is not None:
            params["early_stopping_rounds"] = early_stopping_rounds
        start = init_model.model_ if isinstance(init_model, Ranker) else init_model
        if start is not None and not isinstance(start, Model):
            start = load_model(start)
        if start is not None and start.absent == "zero":
            # In arrays and frames nothing is absent, so that models of LightGBM can be continued with them.
            params.setdefault("absent", "zero")
        table = features(X)
        if feature_name is not None and feature_name != "auto":
            table.names = checked_names(feature_name, table.n_columns)
        check_rows(table, y, sample_weight, pairs)
        weight = sample_weight
        if objective is not None and n_arguments(objective) == 4:
            # LightGBM's form: the objective multiplies the weights.
            if query_weight is not None:
                raise ValueError("an objective with the arguments weight and group cannot use query_weight")
            sample_weight = None
        # Values are needed to score a start model, and to look for suspicious ones.
        grows_trees = _rankwise.grows_trees(params)
        only_bins = start is None and not logs_remarks() and grows_trees
        train_set = dataset(table, y, qid, group, sample_weight, query_weight, params, self.n_jobs, pairs, only_bins)
        given = {
            "eval_qid": eval_qid,
            "eval_group": eval_group,
            "eval_sample_weight": eval_sample_weight,
            "eval_query_weight": eval_query_weight,
        }
        sets = self._valid_sets(table, [eval_set] if isinstance(eval_set, tuple) else list(eval_set or []), given, params)
        calls = [*(callbacks or []), *([log_evaluation(int(verbose))] if verbose else [])]
        model, interrupted = train_model(
            params,
            train_set,
            sets,
            eval_names,
            objective,
            start,
            calls,
            self.n_jobs,
            weight,
            [metric for metric in metrics if callable(metric)],
            bool(metrics) and callable(metrics[0]),
            drops_values=grows_trees,
        )
        self.model_ = model
        self.n_features_in_ = table.n_columns
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.evals_result_: dict[str, dict[str, list[float]]] = model.info["evals_result"]
        self.best_iteration_ = _n_rounds(model)
        # With a start model, the first values are its own.
        last = self.best_iteration_ - (0 if start is None else _n_rounds(start)) - int(model.info["first_round"])
        self.best_score_: dict[str, dict[str, float]] = {
            name: {metric: values[last] for metric, values in metrics.items() if 0 <= last < len(values)}
            for name, metrics in self.evals_result_.items()
        }
        if interrupted:
            raise KeyboardInterrupt
        return self

    def _valid_sets(
        self,
        table: Table,
        eval_set: Sequence[tuple[Any, Any]],
        given: dict[str, Sequence[Any] | None],
        params: dict[str, ParamValue],
    ) -> list[Dataset]:
        for name, values in given.items():
            if values is not None and len(values) != len(eval_set):
                raise ValueError(f"{name} has {len(values)} entries, but eval_set has {len(eval_set)}")
        made = []
        for place, (X, y) in enumerate(eval_set):
            other = features(X)
            check_columns(other, table.names, table.n_columns, f"eval_set[{place}]")
            qid, group, weight, query_weight = (None if values is None else values[place] for values in given.values())
            if weight is not None:
                if query_weight is not None:
                    raise ValueError("give eval_sample_weight or eval_query_weight, not both")
                query_weight = mean_weights(weight, qid if qid is not None else other.qid, group, other.n_rows)
            made.append(dataset(other, y, qid, group, None, query_weight, params, self.n_jobs))
        return made

    def predict(
        self,
        X: Any,
        *,
        qid: Any = None,
        group: Any = None,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        raw_score: bool = False,
        validate_features: bool = True,
    ) -> npt.NDArray[Any]:
        """Scores documents; a higher score is a better rank.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset
            Features, in the order of the columns in `fit`.
        qid, group : array, optional
            Queries, as in `fit`. Only models that score the documents of a query together need them (`learner="neural"`,
            `scaling="query"`); they may also be a column `qid` of a data frame. Others ignore them.
        num_iteration : int, optional
            Use only the first rounds of boosting.
        pred_leaf : bool
            Return the number of the leaf in each tree, instead of scores.
        pred_contrib : bool
            Return SHAP values and, in the last column, the expected score; see :meth:`Model.explain`.
        raw_score : bool
            Has no effect, as scores are always raw. LightGBM has this argument.
        validate_features : bool
            Whether to check that a data frame has the columns of the training data.
        """
        self._check_fitted()
        if not isinstance(X, Dataset):
            table = features(X)
            if validate_features:
                self._check_columns(table)
            X = table.values
            if qid is None and group is None:
                qid = table.qid
        return self.model_.predict(
            X,
            qid=qid,
            group=group,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            n_jobs=self.n_jobs,
        )

    def score(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> float:
        """The mean of the first metric of the parameter `metric` (NDCG@10 by default), by its rules.

        Parameters
        ----------
        X, y, qid, group : array
            Features, labels and queries, as in `fit`.
        sample_weight, query_weight : array, optional
            Weights of the queries. The weight of a query is the mean weight of its rows.
        """
        self._check_fitted()
        table = features(X)
        self._check_columns(table)
        if sample_weight is not None:
            if query_weight is not None:
                raise ValueError("give sample_weight or query_weight, not both")
            query_weight = mean_weights(sample_weight, qid if qid is not None else table.qid, group, table.n_rows)
        data = Dataset.__new__(Dataset)
        data._raw = raw_dataset(table, labels(y), qid, group, None, query_weight, n_jobs=self.n_jobs)
        data.absent = "missing"
        params = self.get_params()
        # An alias that was given takes the place of the parameter.
        metric: Any = next((params[name] for name in METRIC_NAMES if name in self._others), self.metric)
        if _has_function(metric):
            metric = [name for name in (metric if isinstance(metric, (list, tuple)) else []) if isinstance(name, str)]
        first = _split_metrics(metric or _DEFAULTS["metric"])[0]
        rules = {name: params[name] for name in _RULES if not _is_same(params[name], _DEFAULTS[name])}
        queries = table.qid if qid is None and group is None else qid
        scores = self.model_.predict(table.values, qid=queries, group=group, n_jobs=self.n_jobs)
        return float(evaluate(data, scores, first, n_jobs=self.n_jobs, **rules)[first])

    def _check_columns(self, table: Table) -> None:
        # A model that was read from a file does not know how many columns the training data had.
        if hasattr(self, "n_features_in_"):
            names = None
            if table.names is not None and hasattr(self, "feature_names_in_"):
                names = self.feature_names_in_.tolist()
            check_columns(table, names, self.n_features_in_, "X")

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The importance of each column."""
        self._check_fitted()
        if self.importance_type not in ("gain", "split"):
            raise ValueError(f"importance_type={self.importance_type!r}: expected 'gain' or 'split'")
        found = self.model_._raw.importance()
        n_columns = getattr(self, "n_features_in_", 1 + max((feature for feature, _, _ in found), default=-1))
        importances = np.zeros(n_columns)
        for feature, splits, gain in found:
            importances[feature] = gain if self.importance_type == "gain" else splits
        return importances

    # Names of LightGBM.

    @property
    def booster_(self) -> Model:
        """The trained model."""
        self._check_fitted()
        return self.model_

    @property
    def n_estimators_(self) -> int:
        """The number of rounds in the model."""
        self._check_fitted()
        return _n_rounds(self.model_)

    @property
    def n_iter_(self) -> int:
        """The number of rounds in the model."""
        return self.n_estimators_

    @property
    def n_features_(self) -> int:
        """The number of columns of X."""
        self._check_fitted()
        return self.n_features_in_

    @property
    def feature_name_(self) -> list[str]:
        """The names of the columns; "Column_0", "Column_1", ... if they have none."""
        self._check_fitted()
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"Column_{i}" for i in range(self.n_features_in_)]

    @property
    def objective_(self) -> str:
        """The objective of the model."""
        self._check_fitted()
        return self.model_.objective

    # Names of XGBoost.

    def get_booster(self) -> Model:
        """The trained model."""
        return self.booster_

    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """The metrics after each round, by validation set and metric."""
        self._check_fitted()
        return self.evals_result_

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file."""
        self.booster_.save(path)

    def load_model(self, path: str | os.PathLike[str]) -> Ranker:
        """Reads a model file of Rankwise, LightGBM, XGBoost, CatBoost or RankLib.

        The parameters of this estimator stay as they are.
        """
        model = load_model(path)
        for name in ("n_features_in_", "feature_names_in_", "evals_result_", "best_score_"):
            self.__dict__.pop(name, None)
        self.model_ = model
        self.best_iteration_ = _n_rounds(model)
        return self

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
        tags.target_tags.positive_only = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


_IMPORTANCE_TYPE = "importance_type"
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


_ALIASES = _rankwise.aliases()
# Names of other libraries that have no effect here: training prints nothing.
_WITHOUT_EFFECT = frozenset(["silent", "verbose", "verbosity"])


def _set_metric(params: dict[str, ParamValue], metric: ParamValue) -> None:
    """Sets the metric, in place of what was given by any of its names."""
    for name in METRIC_NAMES:
        params.pop(name, None)
    params["metric"] = metric


def _has_function(metric: Any) -> bool:
    return callable(metric) or (isinstance(metric, (list, tuple)) and any(map(callable, metric)))


def _n_rounds(model: Model) -> int:
    if model.n_trees == 0:
        # Rounds of other learners are not parts of the model.
        return int(model.info.get("rounds_kept", 0))
    return model.n_trees // int(model._facts["n_outputs"])


def _split_metrics(metric: Any) -> list[str]:
    names = metric.split(",") if isinstance(metric, str) else [str(name) for name in metric]
    return [name.strip() for name in names]


def _with_cutoffs(metric: Any, eval_at: int | Sequence[int]) -> list[str]:
    cutoffs = [eval_at] if isinstance(eval_at, int) else list(eval_at)
    return [
        name if "@" in name else f"{name}@{cutoff}"
        for name in _split_metrics(metric)
        for cutoff in (cutoffs[:1] if "@" in name else cutoffs)
    ]
