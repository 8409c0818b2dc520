"""`auto` as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._data import Dataset
from ._inputs import check_rows, dataset, features
from ._model import TrainingInterrupted
from ._ranker import Ranker
from ._search import Auto, Report, auto

_OWN = ("time", "steps", "refit")


class AutoRanker(Ranker):
    """:func:`rankwise.auto` with scikit-learn's interface: it trains models of many kinds and combines them.

    Parameters
    ----------
    time : float, optional
        Time in seconds; 60 by default.
    steps : int, optional
        Number of models to train, instead of a time. The result is then the same on every machine.
    refit : bool, default False
        Without `eval_set`: whether the chosen models are trained again on all data in the end.
    **params
        Parameters of :class:`Ranker`, such as `metric`, `seed` and `n_jobs`. What is set is not varied.

    Attributes
    ----------
    model_ : Model
        The combined model.
    auto_ : Auto
        What was tried, and estimates on queries that decided nothing.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, if X was a data frame.

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((1000, 4)), np.repeat(np.arange(50), 20)
    >>> ranker = rankwise.AutoRanker(steps=2).fit(X, np.floor(4 * X[:, 0]), qid=qid)
    >>> ranker.predict(X).shape
    (1000,)
    """

    auto_: Auto

    def __init__(
        self, *, time: float | None = None, steps: int | None = None, refit: bool = False, **params: Any
    ) -> None:
        self.time = time
        self.steps = steps
        self.refit = refit
        super().__init__(**params)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*super()._get_param_names(), *_OWN])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, and the aliases that were given."""
        return {**super().get_params(deep), **{name: getattr(self, name) for name in _OWN}}

    def set_params(self, **params: Any) -> AutoRanker:
        """Sets parameters by name or alias."""
        for name in [name for name in params if name in _OWN]:
            setattr(self, name, params.pop(name))
        super().set_params(**params)
        return self

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | tuple[Any, Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_query_weight: Sequence[Any] | None = None,
        callback: Report | None = None,
    ) -> AutoRanker:
        """Finds the best ranker.

        Parameters
        ----------
        X, y, qid, group, sample_weight, query_weight : array
            Features, labels, queries and weights, as in :meth:`Ranker.fit`.
        eval_set : (X, y), optional
            Validation data for all choices; its queries are in `eval_qid` or `eval_group`, lists of one array, or in a column
            `qid`. By default, every fifth query of X is set aside.
        callback : callable, optional
            Called after each model with a dictionary; see :func:`rankwise.auto`.
        """
        sets = [eval_set] if isinstance(eval_set, tuple) else list(eval_set or [])
        if len(sets) > 1:
            raise ValueError(f"eval_set has {len(sets)} sets; AutoRanker needs one, or none")
        if self.refit and sets:
            raise ValueError("refit=True trains on all of X in the end; add the rows of eval_set to X, and leave it out")
        params = {name: value for name, value in self._training_params().items() if name not in _OWN}
        table = features(X)
        check_rows(table, y, sample_weight, None)
        data = dataset(table, y, qid, group, sample_weight, query_weight, params, self.n_jobs)
        given = {
            "eval_qid": eval_qid,
            "eval_group": eval_group,
            "eval_sample_weight": None,
            "eval_query_weight": eval_query_weight,
        }
        valid: list[Dataset] = self._valid_sets(table, sets, given, params)
        interrupted: TrainingInterrupted | None = None
        try:
            found = auto(
                data,
                valid[0] if valid else None,
                params=params,
                time=self.time,
                steps=self.steps,
                refit=data if self.refit else None,
                callback=callback,
                n_jobs=self.n_jobs,
            )
            self.auto_, self.model_ = found, found.model
        except TrainingInterrupted as error:
            interrupted, self.model_ = error, error.model
            if hasattr(self, "auto_"):
                del self.auto_
        self.n_features_in_ = table.n_columns
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if interrupted is not None:
            raise KeyboardInterrupt
        return self
