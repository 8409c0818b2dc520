"""Datasets from arrays, data frames, sparse matrices and files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._rankwise import RawDataset, arrow_table

QID = "qid"


class Table:
    """A feature matrix: an array or a sparse matrix, and the names of its columns, if any."""

    def __init__(self, values: Any, names: list[str] | None, qid: Any, is_sparse: bool) -> None:
        self.values = values
        self.names = names
        self.qid = qid
        self.is_sparse = is_sparse

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])


def as_table(X: Any, takes_qid: bool = True, only: set[str] | None = None, n_jobs: int | None = None) -> Table:
    """The features of a matrix or data frame. A column called `qid` of a frame holds the queries.

    Of the other columns of a frame, only those with the names in `only` are taken, if it is given.
    """
    if isinstance(X, Dataset):
        raise TypeError("X is a rankwise.Dataset; expected an array or a data frame (rankwise.train takes a Dataset)")
    if hasattr(X, "tocsr"):
        return Table(X.tocsr(), None, None, True)
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc"):
        names, values, qid = arrow_table(X, QID if takes_qid else None, only, n_jobs)
        _check_doubled(names)
        return Table(values, names, qid, False)
    if not hasattr(X, "iloc"):
        return Table(_matrix(X, "X"), None, None, False)
    if only is not None:
        X = X.loc[:, [str(name) in only or (takes_qid and str(name) == QID) for name in X.columns]]
    names = [str(name) for name in X.columns]
    _check_doubled(names)
    qid = None
    if takes_qid and QID in names:
        place = names.index(QID)
        qid = _frame_column(X, place)
        names = names[:place] + names[place + 1 :]
        columns = [_frame_column(X, i) for i in range(len(names) + 1) if i != place]
    else:
        columns = [_frame_column(X, i) for i in range(len(names))]
    return Table(_stack(columns, names, len(X)), names, qid, False)


def _check_doubled(names: list[str]) -> None:
    if len(set(names)) < len(names):
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the data frame has several columns called {doubled!r}")


def _frame_column(X: Any, place: int) -> npt.NDArray[Any]:
    column = X.iloc[:, place]
    # Nullable types have no value that numpy knows; missing values become NaN.
    if hasattr(column.dtype, "na_value") and getattr(column.dtype, "kind", "O") in "fiub":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column)


def _stack(columns: list[npt.NDArray[Any]], names: list[str], n_rows: int) -> npt.NDArray[Any]:
    """Columns as one matrix in Fortran order."""
    for name, column in zip(names, columns):
        _check_kind(column, f"column {name!r}")
    is_single = all(_fits_f32(column.dtype) for column in columns)
    matrix = np.empty((n_rows, len(columns)), dtype=np.float32 if is_single else np.float64, order="F")
    for place, column in enumerate(columns):
        matrix[:, place] = column
    return matrix


def _fits_f32(dtype: np.dtype[Any]) -> bool:
    return dtype == np.float32 or (dtype.kind in "iub" and dtype.itemsize <= 2) or dtype == np.float16


def _check_kind(values: npt.NDArray[Any], what: str) -> None:
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{what} has dtype {values.dtype}; expected numbers (encode text as numbers first)")


def _matrix(X: Any, what: str) -> npt.NDArray[Any]:
    """A two-dimensional array of float32 or float64 in C or Fortran order, without a copy where possible."""
    values = np.asarray(X)
    if values.ndim != 2:
        hint = "; reshape it with X.reshape(-1, 1) or X.reshape(1, -1)" if values.ndim == 1 else ""
        raise ValueError(f"{what} has {values.ndim} dimensions; expected 2{hint}")
    _check_kind(values, what)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float32 if _fits_f32(values.dtype) else np.float64)
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        values = np.ascontiguousarray(values)
    return values


def _vector(values: Any, what: str, n_rows: int | None, dtype: Any = np.float64) -> npt.NDArray[Any]:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{what} has {array.ndim} dimensions; expected 1")
    _check_kind(array, what)
    if n_rows is not None and len(array) != n_rows:
        raise ValueError(f"{what} has {len(array)} entries, but X has {n_rows} rows")
    return np.ascontiguousarray(array, dtype=dtype)


def _qids(values: Any, n_rows: int) -> Any:
    """Query ids as int64, or as a list of strings."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"qid has {array.ndim} dimensions; expected 1")
    if len(array) != n_rows:
        raise ValueError(f"qid has {len(array)} entries, but X has {n_rows} rows")
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)) or not np.all(array == np.floor(array)):
            raise ValueError("qid has values that are not integers; expected integers or strings")
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind in "iub":
        if array.dtype == np.uint64 and len(array) and array.max() > np.iinfo(np.int64).max:
            return [str(value) for value in array]
        return np.ascontiguousarray(array, dtype=np.int64)
    if any(value is None or value != value for value in array.tolist()):
        raise ValueError("qid has missing values")
    return [str(value) for value in array.tolist()]


def _doc_ids(values: Any, n_rows: int) -> list[str]:
    ids = [str(value) for value in (values.to_list() if hasattr(values, "to_list") else values)]
    if len(ids) != n_rows:
        raise ValueError(f"doc_id has {len(ids)} entries, but X has {n_rows} rows")
    return ids


def _pairs(values: Any) -> npt.NDArray[np.float64]:
    """Winner, loser, weight and probability of each pair."""
    pairs = np.asarray(values)
    _check_kind(pairs, "pairs")
    if pairs.ndim != 2 or pairs.shape[1] not in (2, 3, 4):
        raise ValueError(
            f"pairs has shape {pairs.shape}; expected rows of winner and loser, and optionally weight and probability"
        )
    whole = np.ones((len(pairs), 4))
    whole[:, : pairs.shape[1]] = pairs
    return whole


def raw_dataset(
    table: Table,
    label: Any = None,
    qid: Any = None,
    group: Any = None,
    weight: Any = None,
    query_weight: Any = None,
    position: Any = None,
    doc_id: Any = None,
    pairs: Any = None,
    feature_names: Sequence[str] | None = None,
    absent: str | None = None,
    n_jobs: int | None = None,
    is_query_optional: bool = False,
    bins_for: dict[str, Any] | None = None,
) -> RawDataset:
    """A dataset of the extension module. A dense one has only bins if `bins_for` has the parameters to train with."""
    n_rows = table.n_rows
    if qid is None:
        qid = table.qid
    elif table.qid is not None:
        raise ValueError("the queries are given twice: as qid and as a column called 'qid'")
    if qid is not None and group is not None:
        raise ValueError("give qid or group, not both")
    columns: dict[str, Any] = {}
    if group is not None:
        sizes = _vector(group, "group", None, np.int64)
        if sizes.sum() != n_rows:
            raise ValueError(f"the sizes in group add up to {sizes.sum()}, but X has {n_rows} rows")
        columns["group"] = sizes
    elif qid is not None:
        columns["qid"] = _qids(qid, n_rows)
    elif is_query_optional:
        columns["qid"] = np.zeros(n_rows, dtype=np.int64)
    else:
        raise ValueError("ranking needs queries: give qid (the query of each row) or group (the size of each query)")
    if label is not None:
        labels = _vector(label, "y", n_rows)
        if np.isnan(labels).any():
            raise ValueError(f"y is NaN in row {int(np.flatnonzero(np.isnan(labels))[0])}")
        columns["label"] = labels
    if weight is not None:
        columns["weight"] = _vector(weight, "sample_weight", n_rows)
    if query_weight is not None:
        columns["query_weight"] = _vector(query_weight, "query_weight", None)
    if position is not None:
        columns["position"] = _vector(position, "position", n_rows, np.uint32)
    if doc_id is not None:
        columns["doc_id"] = _doc_ids(doc_id, n_rows)
    if pairs is not None:
        columns["pairs"] = _pairs(pairs)
    names = table.names if feature_names is None else [str(name) for name in feature_names]
    if names is not None:
        columns["feature_names"] = names
    if table.is_sparse:
        if absent == "missing":
            raise ValueError("absent='missing' does not apply to a sparse matrix: what it does not store is 0")
        columns["absent"] = "zero"
        csr = table.values
        data = csr.data if csr.data.dtype in (np.float32, np.float64) else csr.data.astype(np.float64)
        return RawDataset.from_csr(
            csr.indptr.astype(np.int64), csr.indices.astype(np.int64), np.ascontiguousarray(data), columns, n_jobs
        )
    if absent is not None:
        columns["absent"] = absent
    return RawDataset.from_dense(table.values, columns, n_jobs, bins_for)


class Dataset:
    """Documents with features, labels and queries, made once and used many times.

    Parameters
    ----------
    data : array, sparse matrix, data frame, or path
        Features by row. A path, or a list of paths, names files in LETOR, CSV or Parquet format, which also have the
        labels and the queries.
    label : array, optional
        Relevance labels, 0 or more.
    qid : array of integers or strings, optional
        The query of each row, in any order. A column called `qid` of a data frame is used if this is not given.
    group : array of integers, optional
        Instead of `qid`: the number of rows of each query, whose rows must be adjacent.
    weight, query_weight : array, optional
        Weights of rows, and of queries in order of first appearance.
    position : array of integers, optional
        The position at which each document was shown.
    doc_id : list of str, optional
        The id of each document, which orders ties in the manner of trec_eval.
    pairs : array, optional
        Preferences, one per row: the row that should rank higher, the row that should rank lower, both counted from 0,
        and optionally a weight and a probability. Objectives of pairs learn from them instead of from labels.
    feature_names : list of str, optional
        Names of the columns; those of a data frame by default.
    absent : {"missing", "zero"}, optional
        For files: what a feature means that is absent from a line, "missing" by default. In a sparse matrix it is 0.

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.Dataset([[0.1], [0.9], [0.4]], label=[0, 1, 2], group=[2, 1])
    >>> data
    Dataset(n_rows=3, n_queries=2, n_features=1)
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        doc_id: Any = None,
        pairs: Any = None,
        feature_names: Sequence[str] | None = None,
        absent: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        paths = _paths(data)
        if paths is not None:
            given = {
                "label": label,
                "qid": qid,
                "group": group,
                "weight": weight,
                "query_weight": query_weight,
                "position": position,
                "doc_id": doc_id,
                "pairs": pairs,
                "feature_names": feature_names,
            }
            for name, value in given.items():
                if value is not None:
                    raise ValueError(f"{name} cannot be given for data in files, which have their own")
            self._raw = RawDataset.from_files(paths, absent or "missing", n_jobs)
            self.absent = self._raw.absent
            return
        table = as_table(data, n_jobs=n_jobs)
        self.absent = absent or ("zero" if table.is_sparse else "missing")
        self._raw = raw_dataset(
            table, label, qid, group, weight, query_weight, position, doc_id, pairs, feature_names, absent, n_jobs
        )

    @classmethod
    def _of(cls, raw: RawDataset) -> Dataset:
        data = cls.__new__(cls)
        data._raw = raw
        data.absent = raw.absent
        return data

    @property
    def n_rows(self) -> int:
        """The number of documents."""
        return self._raw.n_rows

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self._raw.n_queries

    @property
    def feature_ids(self) -> list[int]:
        """The ids of the features that occur, ascending."""
        return self._raw.feature_ids

    @property
    def feature_names(self) -> dict[int, str]:
        """Names of features, by id."""
        return dict(self._raw.feature_names)

    @property
    def label(self) -> npt.NDArray[np.float32]:
        """The labels, in input order."""
        return self._raw.labels

    @property
    def queries(self) -> npt.NDArray[np.str_]:
        """The ids of the queries, sorted."""
        return np.array(self._raw.queries()[0], dtype=np.str_)

    @property
    def qid(self) -> npt.NDArray[np.str_]:
        """The query of each document, in input order."""
        ids, numbers = self._raw.queries()
        return np.array(ids, dtype=np.str_)[numbers]

    @property
    def doc_id(self) -> list[str] | None:
        """The ids of the documents, in input order; None if they have no ids."""
        return self._raw.doc_ids

    def to_numpy(self) -> npt.NDArray[np.float32]:
        """The feature values in input order, with a column for each of `feature_ids`. NaN is missing."""
        return self._raw.to_array()

    def __getitem__(self, queries: Any) -> Dataset:
        """Some of the queries: a slice, numbers or a mask, all of them along `queries`.

        >>> import rankwise
        >>> data = rankwise.Dataset([[0.1], [0.9], [0.4]], label=[0, 1, 2], qid=["a", "a", "b"])
        >>> data[data.queries != "b"]
        Dataset(n_rows=2, n_queries=1, n_features=1)
        """
        numbers = np.arange(self.n_queries)
        chosen = np.atleast_1d(numbers[queries])
        return Dataset._of(self._raw.select(chosen.tolist(), None))

    def select(self, qids: Any) -> Dataset:
        """The queries with these ids. Rows keep their order."""
        places = {qid: place for place, qid in enumerate(self._raw.queries()[0])}
        wanted = [str(qid) for qid in qids]
        lacking = [qid for qid in wanted if qid not in places]
        if lacking:
            raise ValueError(f"there is no query {lacking[0]!r}")
        return Dataset._of(self._raw.select([places[qid] for qid in wanted], None))

    def save_binned(self, path: str | os.PathLike[str], **params: Any) -> None:
        """Writes the data with its values replaced by bins, for training only.

        `rankwise.Dataset(path)` reads it much faster than text. Parameters such as `max_bin` must be the same as in
        training.
        """
        self._raw.save_binned(os.fspath(path), {"absent": self.absent, **params}, None)

    def remarks(self) -> list[str]:
        """What looks like a mistake: constant features, queries with one label, identical rows, ..."""
        return self._raw.remarks()

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"Dataset(n_rows={self.n_rows}, n_queries={self.n_queries}, n_features={len(self.feature_ids)})"


def _paths(data: Any) -> list[str] | None:
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)]
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        return [os.fspath(path) for path in data]
    return None


def read_letor(path: str | os.PathLike[str], *, absent: str = "missing", n_jobs: int | None = None) -> Dataset:
    """Reads a file in LETOR format (`label qid:1 1:0.5 2:1.5 # document`), compressed or not."""
    return Dataset(path, absent=absent, n_jobs=n_jobs)


def make_ranking(
    n_rows: int = 10_000,
    *,
    n_features: int | None = None,
    preset: str = "web",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Dataset:
    """Synthetic ranking data, the same on every machine.

    Parameters
    ----------
    n_rows : int
        Number of documents.
    n_features : int, optional
        Number of features; each preset has a default.
    preset : {"web", "long", "wide"}
        Web search with labels from 0 to 4, long lists, or many sparse features.
    random_state : int
        Selects queries and documents. Data of different states comes from the same population, so one can be used for
        training and another for testing.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.make_ranking(1000, n_features=8).n_rows
    1000
    """
    return Dataset._of(RawDataset.synthetic(preset, n_rows, n_features, random_state, n_jobs))
