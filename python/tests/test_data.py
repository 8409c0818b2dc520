"""Kinds of data, and the errors they make."""

import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import rankwise
from rankwise import Dataset, Ranker


def model(X, data, **more):
    more.setdefault("qid", data.qid)
    return Ranker(num_trees=6, num_leaves=31).fit(X, data.y, **more).model_


def test_arrays_of_any_layout_are_the_same(train):
    expected = model(train.X, train)
    wide = np.asfortranarray(train.X)
    assert model(wide, train) == expected
    assert model(train.X.astype(np.float64), train) == expected
    assert model(np.repeat(train.X, 2, axis=1)[:, ::2], train) == expected
    assert model(train.X.tolist(), train) == expected
    ranker = Ranker(num_trees=6).fit(train.X, train.y, qid=train.qid)
    for X in (wide, train.X.astype(np.float64), np.asfortranarray(train.X.astype(np.float64)), train.X[:, ::1]):
        assert np.array_equal(ranker.predict(X), ranker.predict(train.X))
    # More documents than one task has.
    many = np.tile(train.X, (9, 1))
    for X in (many, np.asfortranarray(many)):
        assert np.array_equal(ranker.predict(X), np.tile(ranker.predict(train.X), 9))


def test_frames_of_any_library_are_the_same(train):
    names = [f"f{i}" for i in range(6)]
    frame = pd.DataFrame(train.X, columns=names)
    expected = model(frame, train)
    assert expected.feature_names == names
    for X in (pl.DataFrame(train.X, schema=names), pa.table(frame), frame.astype("Float32"), frame.astype("Float64")):
        assert model(X, train) == expected


def test_missing_values(train):
    X = train.X.copy()
    X[::7, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    nullable = frame.astype("Float64")
    nullable.iloc[::7, 0] = pd.NA
    polars = pl.DataFrame({name: [None if np.isnan(v) else float(v) for v in frame[name]] for name in frame})
    expected = model(frame, train)
    assert model(nullable, train) == expected
    assert model(polars, train) == expected
    assert model(pa.table({name: pa.array(frame[name], from_pandas=True) for name in frame}), train) == expected


def test_integers_and_booleans(train):
    frame = pd.DataFrame({"a": (train.X[:, 0] * 10).astype(np.int64), "b": train.X[:, 1] > 0, "c": train.X[:, 2]})
    expected = model(frame.astype(np.float64), train)
    assert model(frame, train) == expected
    assert model(pl.from_pandas(frame), train) == expected


def test_sparse_matrices(train):
    X = np.where(train.X > 0.3, train.X, 0).astype(np.float32)
    expected = model(sp.csr_matrix(X), train)
    assert expected.absent == "zero"
    for matrix in (sp.csc_matrix(X), sp.coo_matrix(X), sp.csr_array(X.astype(np.float64))):
        assert model(matrix, train) == expected
    with pytest.raises(ValueError, match="does not apply to a sparse matrix"):
        Dataset(sp.csr_matrix(X), train.y, qid=train.qid, absent="missing")
    dense = model(X, train)
    assert np.array_equal(dense.predict(sp.csr_matrix(X)), dense.predict(X))
    ranker = Ranker(num_trees=6).fit(sp.csr_matrix(X), train.y, qid=train.qid)
    assert np.array_equal(ranker.predict(sp.csr_matrix(X)), ranker.predict(X))


def letor(path, X, y, qid):
    with open(path, "w") as file:
        for values, label, query in zip(X, y, qid):
            features = " ".join(f"{i}:{value!r}" for i, value in enumerate(values.tolist()))
            file.write(f"{label:g} qid:{query} {features}\n")


def test_files_and_the_command_line(train, tmp_path, program):
    letor(tmp_path / "train.txt", train.X, train.y, train.qid)
    data = rankwise.read_letor(tmp_path / "train.txt")
    assert (data.n_rows, data.n_queries) == (1000, 40)
    params = {"num_trees": 6, "objective": "yetirank", "seed": 3, "sample": "bagging", "bagging_fraction": 0.5}
    from_file = rankwise.train(params, data)
    from_array = rankwise.train(params, Dataset(train.X, train.y, qid=train.qid))
    assert from_file == from_array
    settings = [f"--set={name}={value}" for name, value in params.items()]
    out = tmp_path / "model.json"
    subprocess.run([program, "train", tmp_path / "train.txt", "--quiet", "--out", out, *settings], check=True)
    assert out.read_bytes() == from_array.to_bytes()
    assert rankwise.load_model(out) == from_array
    scores = tmp_path / "scores.txt"
    predict = [program, "predict", out, tmp_path / "train.txt", "--out", scores, "--quiet"]
    subprocess.run(predict, check=True)
    assert np.array_equal(np.loadtxt(scores), from_array.predict(train.X))


def test_sparse_data_and_the_command_line(train, tmp_path, program):
    X = np.where(train.X > 0.3, train.X, 0).astype(np.float32)
    with open(tmp_path / "train.txt", "w") as file:
        for values, label, query in zip(X.tolist(), train.y, train.qid):
            features = " ".join(f"{i}:{value!r}" for i, value in enumerate(values) if value != 0)
            file.write(f"{label:g} qid:{query} {features}\n")
    out = tmp_path / "model.json"
    settings = ["--set=num_trees=6", "--set=num_leaves=31", "--set=absent=zero"]
    subprocess.run([program, "train", tmp_path / "train.txt", "--quiet", "--out", out, *settings], check=True)
    assert out.read_bytes() == model(sp.csr_matrix(X), train).to_bytes()


def test_names_and_the_command_line(train, tmp_path, program):
    frame = pd.DataFrame(train.X, columns=[f"feature {i}" for i in range(6)])
    frame.assign(label=train.y, qid=train.qid).to_parquet(tmp_path / "train.parquet")
    out = tmp_path / "model.json"
    command = [program, "train", tmp_path / "train.parquet", "--quiet", "--out", out, "--set=num_trees=6", "--set=num_leaves=31"]
    subprocess.run(command, check=True)
    assert out.read_bytes() == model(frame, train).to_bytes()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (dict(X=np.zeros(3)), "X has 1 dimensions; expected 2"),
        (dict(X=np.zeros((3, 2))), "y has 1000 entries, but X has 3 rows|qid has 1000 entries, but X has 3 rows"),
        (dict(X=np.array([["a", "b"]] * 1000)), "X has dtype <U1; expected numbers"),
        (dict(X=pd.DataFrame({"a": np.zeros(1000), "b": ["x"] * 1000})), "column 'b' has dtype"),
        (dict(X=np.zeros((1000, 0))), "0 feature"),
        (dict(X=np.zeros((0, 3)), y=np.zeros(0), qid=np.zeros(0)), "0 sample"),
        (dict(y=np.full(1000, np.nan)), "y is NaN in row 0"),
        (dict(y=np.full(1000, -1.0)), "label"),
        (dict(y=np.full(1000, np.inf)), "label"),
        (dict(y=["a"] * 1000), "y has dtype"),
        (dict(y=None), "y"),
        (dict(qid=None), "ranking needs queries"),
        (dict(qid=np.zeros(7)), "qid has 7 entries, but X has 1000 rows"),
        (dict(qid=np.full(1000, 0.5)), "not integers"),
        (dict(qid=[None] * 1000), "qid has missing values"),
        (dict(qid=None, group=[3, 4]), "add up to 7, but X has 1000 rows"),
        (dict(qid=None, group=[-5, 1005]), "negative"),
        (dict(group=[1000]), "qid or group, not both"),
        (dict(sample_weight=np.ones(3)), "sample_weight has 3 entries"),
        (dict(sample_weight=np.full(1000, -1.0)), "weight"),
        (dict(query_weight=np.ones(3)), "weight"),
        (dict(eval_set=[(np.zeros((4, 2)), np.zeros(4))], eval_qid=[np.zeros(4)]), "eval_set.0. has 2 features"),
        (dict(eval_set=[(np.zeros((4, 6)), np.zeros(4))], eval_qid=[]), "eval_qid has 0 entries"),
        (dict(eval_metric="ndgc"), "unknown metric 'ndgc'; did you mean 'ndcg'"),
    ],
)
def test_bad_data_is_an_error(train, change, problem):
    given = {"X": train.X, "y": train.y, "qid": train.qid, **change}
    X, y = given.pop("X"), given.pop("y")
    with pytest.raises(ValueError, match=problem):
        Ranker(num_trees=2).fit(X, y, **given)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        (dict(num_leaves=1), "'num_leaves': 1 is out of range"),
        (dict(objective="lambdamrt"), "'objective'"),
        (dict(learning_rate="fast"), "'learning_rate'"),
        (dict(metric="ndcg@0"), "ndcg@0"),
        (dict(label_gain=[0, 1, -3]), "label_gain"),
    ],
)
def test_bad_parameters_are_errors(train, params, problem):
    with pytest.raises(ValueError, match=problem):
        Ranker(**params).fit(train.X, train.y, qid=train.qid)
    with pytest.raises(TypeError, match="'num_leaves'"):
        Ranker(num_leaves=object()).fit(train.X, train.y, qid=train.qid)


def test_models_that_do_not_match_the_data(train):
    fitted = model(train.X, train)
    with pytest.raises(ValueError, match="the model uses feature"):
        fitted.predict(train.X[:, :1])
    with pytest.raises(ValueError, match="the model uses feature"):
        fitted.predict(sp.csr_matrix(train.X[:, :1]))
    named = model(pd.DataFrame(train.X, columns=list("abcdef")), train)
    with pytest.raises(ValueError, match="X lacks columns that the model uses: 'a'"):
        named.predict(pd.DataFrame(train.X, columns=list("xbcdef")))


def test_datasets_with_other_columns_are_refused(train, tmp_path):
    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    mixed = frame[list("bacdef")]
    data, other = (Dataset(X, train.y, qid=train.qid) for X in (frame, mixed))
    fitted = rankwise.train({"num_trees": 3}, data)
    assert np.array_equal(fitted.predict(data), fitted.predict(frame))
    with pytest.raises(ValueError, match="feature 0 is 'a', but in the dataset it is 'b'"):
        fitted.predict(other)
    with pytest.raises(ValueError, match="valid_0 differ from those of the training data"):
        rankwise.train({"num_trees": 3}, data, valid_sets=[other])
    with pytest.raises(ValueError, match="feature 0 is 'a'"):
        rankwise.train({"num_trees": 3}, other, init_model=fitted)
    with pytest.raises(ValueError, match="position cannot be given for data in files"):
        Dataset(tmp_path / "x.txt", position=[1])


def test_model_files(train, tmp_path):
    fitted = model(train.X, train)
    fitted.save(tmp_path / "m.json")
    assert rankwise.load_model(tmp_path / "m.json") == fitted
    fitted.export(tmp_path / "m.txt", "lightgbm")
    assert np.allclose(rankwise.load_model(tmp_path / "m.txt").predict(train.X), fitted.predict(train.X))
    with pytest.raises(FileNotFoundError, match="no such file"):
        rankwise.load_model(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="bad.json"):
        rankwise.load_model(tmp_path / "bad.json")
    with pytest.raises(ValueError, match="'nonsense' is unknown"):
        fitted.export(tmp_path / "x", "nonsense")
    with pytest.raises(FileNotFoundError):
        Dataset(tmp_path / "none.txt")
