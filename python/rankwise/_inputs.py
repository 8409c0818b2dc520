"""What `Ranker` is given, checked and converted. Errors have the words that scikit-learn looks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._data import Dataset, Table, as_table, raw_dataset
from ._params import ParamValue


def features(X: Any) -> Table:
    """The features of X. Objects that are numbers become numbers. Errors have the words that scikit-learn looks for."""
    try:
        return as_table(X)
    except ValueError as error:
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            raise
        values = np.asarray(X)
        if values.dtype == object:
            return as_table(numbers(values, error))
        if values.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: X has dtype {values.dtype}") from None
        if values.ndim == 1:
            raise ValueError(
                "X has 1 dimensions; expected 2. Reshape your data: X.reshape(1, -1) is one document,"
                " X.reshape(-1, 1) one feature"
            ) from None
        raise


def labels(y: Any) -> Any:
    """Labels. Objects that are numbers become numbers."""
    if isinstance(getattr(y, "dtype", None), np.dtype) and y.dtype == object:
        return numbers(np.asarray(y), ValueError("y has dtype object; expected numbers"))
    return y


def numbers(values: npt.NDArray[Any], error: ValueError) -> npt.NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except ValueError:
        raise error from None


def checked_names(names: Sequence[str], n_columns: int) -> list[str]:
    if len(names) != n_columns:
        raise ValueError(f"feature_name has {len(names)} entries, but X has {n_columns} columns")
    return [str(name) for name in names]


def check_rows(table: Table, y: Any, sample_weight: Any, pairs: Any) -> None:
    if table.n_rows < 2:
        raise ValueError(f"Found array with {table.n_rows} sample(s) while a minimum of 2 is required.")
    if table.n_columns == 0:
        raise ValueError(f"0 feature(s) (shape={table.values.shape}) while a minimum of 1 is required.")
    if y is None and pairs is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sample_weight is not None:
        weights = np.asarray(sample_weight)
        if len(weights) != table.n_rows:
            raise ValueError(
                f"sample_weight has {len(weights)} entries, but X has {table.n_rows} rows;"
                " weights of queries are given as query_weight"
            )
        if not weights.any():
            raise ValueError("all sample weights are zero; give some rows a positive weight")


def mean_weights(weight: Any, qid: Any, group: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """The mean weight of the rows of each query, in the order in which the queries first appear."""
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"there are {len(weights)} weights for {n_rows} rows")
    if group is not None:
        query = np.repeat(np.arange(len(group)), group)
    elif qid is not None:
        _, first, query = np.unique(np.asarray(qid), return_index=True, return_inverse=True)
        query = np.argsort(np.argsort(first))[query]
    else:
        raise ValueError("ranking needs queries: give qid (the query of each row) or group (the size of each query)")
    if len(query) != n_rows:
        raise ValueError(f"there are queries for {len(query)} rows, but X has {n_rows} rows")
    means: npt.NDArray[np.float64] = np.bincount(query, weights) / np.bincount(query)
    return means


def check_columns(table: Table, names: list[str] | None, n_columns: int, what: str) -> None:
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


def dataset(
    table: Table,
    y: Any,
    qid: Any,
    group: Any,
    weight: Any,
    query_weight: Any,
    params: dict[str, ParamValue],
    n_jobs: int | None,
    pairs: Any = None,
    only_bins: bool = False,
) -> Dataset:
    """The dataset; with `only_bins`, one for training with these parameters only, which takes less memory."""
    data = Dataset.__new__(Dataset)
    absent = params.get("absent")
    data.absent = str(absent) if absent else ("zero" if table.is_sparse else "missing")
    data._raw = raw_dataset(
        table,
        labels(y),
        qid,
        group,
        weight,
        query_weight,
        pairs=pairs,
        absent=data.absent if table.is_sparse or absent else None,
        n_jobs=n_jobs,
        bins_for=params if only_bins else None,
    )
    return data
