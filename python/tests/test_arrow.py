"""Tables through Arrow's C interface."""

import decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from rankwise import Dataset, Ranker


class OnlyStream:
    """A table of some library that has nothing but the interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def features(table, **more):
    n_rows = len(table.table if isinstance(table, OnlyStream) else table)
    return Dataset(table, group=[n_rows], **more).to_numpy()


def test_chunks_are_one_column(train):
    table = pa.table({f"f{i}": train.X[:, i] for i in range(6)})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 500), table.slice(501, 0), table.slice(501)])
    assert chunked.column(0).num_chunks > 1
    for X in (table, chunked, OnlyStream(chunked), pl.from_arrow(chunked)):
        assert np.array_equal(features(X), train.X)
    fitted = Ranker(num_trees=4).fit(OnlyStream(chunked), train.y, qid=train.qid)
    assert fitted.model_ == Ranker(num_trees=4).fit(table, train.y, qid=train.qid).model_
    assert np.array_equal(fitted.predict(OnlyStream(chunked)), fitted.predict(pl.from_arrow(table)))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 3], pa.int8()),
        pa.array([1, None, 3], pa.uint16()),
        pa.array([1, None, 3], pa.int32()),
        pa.array([1, None, 3], pa.uint64()),
        pa.array([1.0, None, 3.0], pa.float32()),
        pa.array([1.0, None, 3.0], pa.float64()),
        pa.array(np.array([1, np.nan, 3], dtype=np.float16)),
        pa.array([decimal.Decimal("1.00"), None, decimal.Decimal("3.00")], pa.decimal128(6, 2)),
        pa.array([1.0, None, 3.0]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array([1, None, 3], pa.int64())),
        pa.array([None, 1, None, 3, None])[1:4],
    ],
    ids=lambda values: str(values.type),
)
def test_numbers_of_any_type_and_nulls(values):
    found = features(pa.table({"a": values, "b": [0.5, 0.25, 0.125]}))
    assert np.array_equal(found[:, 0], [1, np.nan, 3], equal_nan=True)
    assert np.array_equal(found[:, 1], [0.5, 0.25, 0.125])


def test_booleans_and_columns_without_values():
    table = pa.table({"a": [True, None, False], "b": pa.nulls(3), "c": [1.0, 2.0, 3.0]})
    data = Dataset(table, group=[3])
    assert data.feature_names == {0: "a", 1: "b", 2: "c"}
    assert np.array_equal(data.to_numpy()[:, 0], [1, np.nan, 0], equal_nan=True)


def test_large_integers_keep_their_order():
    seconds = [1_700_000_001, 1_700_000_030, 1_700_000_002]
    data = Dataset(pa.table({"t": seconds}), label=[0, 1, 0], group=[3])
    assert Dataset([[float(second)] for second in seconds], label=[0, 1, 0], group=[3])._raw.fingerprint == (
        data._raw.fingerprint
    )


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x", "y"]),
        pa.array(["x", "y"], pa.large_string()),
        pa.array(["x", "y"], pa.string_view()),
        pa.array(["x", "y"]).dictionary_encode(),
        pa.array([[1], [2]]),
        pa.array([0, 1], pa.date32()),
        pa.array([0, 1], pa.timestamp("s")),
        pa.array([b"x", b"y"]),
    ],
    ids=lambda values: str(values.type),
)
def test_what_is_not_a_number_is_refused(values):
    with pytest.raises(ValueError, match=r"column 'colour' has type .*; expected numbers"):
        Dataset(pa.table({"a": [1.0, 2.0], "colour": values}), group=[2])


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 7, 9]),
        pa.array([7, 7, 9], pa.uint8()),
        pa.array([7, 7, 9], pa.uint64()),
        pa.array([7.0, 7.0, 9.0]),
        pa.array(["7", "7", "9"]),
        pa.array(["7", "7", "9"], pa.string_view()),
        pa.array(["7", "7", "9"]).dictionary_encode(),
        pa.chunked_array([["7"], ["7", "9"]]),
    ],
    ids=lambda ids: str(ids.type),
)
def test_a_column_of_queries(ids):
    data = Dataset(pa.table({"a": [1.0, 2.0, 3.0], "qid": ids, "b": [4.0, 5.0, 6.0]}))
    assert data.queries.tolist() == ["7", "9"]
    assert data.qid.tolist() == ["7", "7", "9"]
    assert data.feature_names == {0: "a", 1: "b"}


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (pa.array([1, None]), "qid has missing values"),
        (pa.array(["a", None]), "qid has missing values"),
        (pa.array([0.5, 1.0]), "not integers"),
        (pa.array([[1], [2]]), "expected integers or strings"),
    ],
)
def test_queries_that_cannot_be_used(ids, problem):
    with pytest.raises(ValueError, match=problem):
        Dataset(pa.table({"a": [1.0, 2.0], "qid": ids}))


def test_broken_tables():
    with pytest.raises(ValueError, match="several columns called 'a'"):
        Dataset(pa.table([[1.0], [2.0]], names=["a", "a"]), group=[1])

    class NoCapsule:
        def __arrow_c_stream__(self, requested_schema=None):
            return object()

    class OtherCapsule:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.array([1.0]).__arrow_c_array__()[0]

    for table in (NoCapsule(), OtherCapsule()):
        with pytest.raises((TypeError, ValueError)):
            Dataset(table, group=[1])

    def failing():
        yield pa.record_batch({"a": [1.0]})
        raise RuntimeError("the source is gone")

    schema = pa.schema([("a", pa.float64())])
    with pytest.raises(ValueError, match="the source is gone"):
        Dataset(OnlyStream(pa.RecordBatchReader.from_batches(schema, failing())), group=[1])


def test_a_stream_is_read_once_and_released(train):
    before = pa.total_allocated_bytes()
    table = pa.table({f"f{i}": train.X[:, i].copy() for i in range(6)})
    reader = OnlyStream(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100)))
    data = Dataset(reader, group=[train.n_rows])
    assert data.n_rows == train.n_rows
    del table, reader
    assert pa.total_allocated_bytes() <= before
