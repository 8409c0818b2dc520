"""Parts of datasets, bins in files, pairs, and synthetic data."""

import subprocess

import numpy as np
import pytest

import rankwise
from rankwise import Dataset, Ranker


def trained(data, **params):
    return rankwise.train({"num_trees": 5, **params}, data)


def test_queries_of_a_dataset_are_data_of_their_own(train):
    whole = Dataset(train.X, train.y, qid=train.qid)
    assert whole.queries.tolist() == sorted(str(qid) for qid in set(train.qid))
    kept = np.isin(train.qid, [3, 17, 20])
    alone = Dataset(train.X[kept], train.y[kept], qid=train.qid[kept])
    mask = np.isin(whole.queries, ["3", "17", "20"])
    parts = [whole.select([20, 3, 17]), whole[mask], whole[np.flatnonzero(mask)], whole[np.flatnonzero(mask).tolist()]]
    for part in parts:
        assert trained(part) == trained(alone)
        assert np.array_equal(part.label, train.y[kept])
        assert part.qid.tolist() == [str(qid) for qid in train.qid[kept]]
        assert np.array_equal(part.to_numpy(), train.X[kept])
    assert whole[:5].n_queries == 5
    assert whole[-1].queries.tolist() == [whole.queries[-1]]


def test_parts_that_do_not_exist(train):
    data = Dataset(train.X, train.y, qid=train.qid)
    with pytest.raises(ValueError, match="there is no query '999'"):
        data.select([1, 999])
    with pytest.raises(IndexError):
        data[1000]
    with pytest.raises(ValueError):
        data[:0]


def test_bins_in_a_file(train, tmp_path, program):
    data = Dataset(train.X, train.y, qid=train.qid)
    data.save_binned(tmp_path / "train.bin", max_bin=63)
    binned = Dataset(tmp_path / "train.bin")
    assert trained(binned, max_bin=63) == trained(data, max_bin=63)
    scores = np.arange(train.n_rows)
    assert rankwise.evaluate(binned, scores)["ndcg@10"] == rankwise.evaluate(data, scores)["ndcg@10"]
    with pytest.raises(ValueError, match="max_bin"):
        trained(binned)
    with pytest.raises(ValueError, match="only bins"):
        trained(data).predict(binned)
    with pytest.raises(ValueError, match="only bins"):
        binned[:1]
    # The command line reads it too.
    command = [program, "train", str(tmp_path / "train.bin"), "--out", str(tmp_path / "m.json"), "--quiet"]
    subprocess.run([*command, "--set", "num_trees=5", "--set", "max_bin=63"], check=True)
    assert (tmp_path / "m.json").read_bytes() == trained(binned, max_bin=63).to_bytes()


def test_zero_for_what_is_absent_stays_with_the_bins(train, tmp_path):
    import scipy.sparse as sp

    X = sp.csr_matrix(np.where(train.X > 0.5, train.X, 0))
    data = Dataset(X, train.y, qid=train.qid)
    data.save_binned(tmp_path / "train.bin")
    assert Dataset(tmp_path / "train.bin").absent == "zero"
    assert trained(Dataset(tmp_path / "train.bin")) == trained(data)


def test_pairs_teach_what_labels_would(train, tmp_path, program):
    better = [(i, j) for i in range(0, train.n_rows, 25) for j in range(i, i + 25) if train.y[i] > train.y[j]]
    better += [(j, i) for i in range(0, train.n_rows, 25) for j in range(i, i + 25) if train.y[i] < train.y[j]]
    data = Dataset(train.X, qid=train.qid, pairs=better)
    model = trained(data, objective="ranknet", num_trees=30)
    assert rankwise.metrics.ndcg(train.y, model.predict(train.X), qid=train.qid) > 0.8
    weighted = Dataset(train.X, qid=train.qid, pairs=np.c_[better, np.full(len(better), 2.0)])
    assert trained(weighted, objective="ranknet") != trained(data, objective="ranknet")
    likely = Dataset(train.X, qid=train.qid, pairs=np.c_[better, np.ones(len(better)), np.full(len(better), 0.7)])
    assert trained(likely, objective="ranknet") != trained(data, objective="ranknet")
    accuracy = rankwise.evaluate(data, model.predict(train.X), "pair-accuracy")["pair-accuracy"]
    assert 0.8 < accuracy <= 1.0


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([[0, 0]], "pair 1"),
        ([[0, 1], [0, 999999]], "pair 2"),
        ([[0, 999]], "pair 1"),
        ([[0, -1]], r"pairs\[0\]: -1 is not the number of a row"),
        ([[0, 0.5]], r"pairs\[0\]: 0.5 is not the number of a row"),
        ([[0, 1, 1, 1, 1]], "shape"),
        ([0, 1], "shape"),
        ([["a", "b"]], "dtype"),
        ([[0, 1, -1.0]], "weight"),
        ([[0, 1, 1.0, 2.0]], "probability"),
    ],
)
def test_bad_pairs(train, pairs, problem):
    with pytest.raises(ValueError, match=problem):
        Dataset(train.X, qid=train.qid, pairs=pairs)


def test_document_ids_order_ties():
    data = Dataset([[0.0]] * 3, label=[0, 1, 0], group=[3], doc_id=["b", "a", "c"])
    assert data.doc_id == ["b", "a", "c"]
    assert rankwise.evaluate(data, [1, 1, 1], "mrr", ties="docid")["mrr"] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="doc_id has 1 entries, but X has 3 rows"):
        Dataset([[0.0]] * 3, group=[3], doc_id=["b"])


def test_synthetic_data_is_that_of_the_command_line(tmp_path, program):
    command = [program, "synth", "--preset", "web", "--rows", "500", "--seed", "3", "--quiet"]
    subprocess.run([*command, "--out", str(tmp_path / "d.txt")], check=True)
    made = rankwise.make_ranking(500, random_state=3)
    assert made._raw.fingerprint == Dataset(tmp_path / "d.txt")._raw.fingerprint
    assert rankwise.make_ranking(500, random_state=4)._raw.fingerprint != made._raw.fingerprint
    assert rankwise.make_ranking(300, n_features=7).to_numpy().shape == (300, 7)
    for bad in ({"n_rows": 0}, {"n_features": 0}, {"preset": "net"}):
        with pytest.raises(ValueError):
            rankwise.make_ranking(**bad)


def test_remarks(train, caplog):
    data = Dataset(np.c_[train.X, np.ones(train.n_rows)], train.y, qid=train.qid)
    assert any("same value" in remark or "constant" in remark for remark in data.remarks())
    with caplog.at_level("INFO", logger="rankwise"):
        trained(data)
    assert "training data" in caplog.text
    caplog.clear()
    with caplog.at_level("WARNING", logger="rankwise"):
        Ranker(num_trees=2).fit(train.X, train.y, qid=train.qid)
    assert not caplog.text


def test_pairs_in_the_estimator_and_objectives_that_ignore_them(train):
    better = [(0, 1), (2, 3), (26, 27)]
    by_estimator = Ranker(objective="ranknet", num_trees=5, min_data_in_leaf=1).fit(train.X, qid=train.qid, pairs=better)
    data = Dataset(train.X, qid=train.qid, pairs=better)
    assert by_estimator.model_ == trained(data, objective="ranknet", min_data_in_leaf=1)
    with pytest.warns(UserWarning, match="ignores the pairs"):
        trained(Dataset(train.X, train.y, qid=train.qid, pairs=better))
    with pytest.raises(ValueError, match="y is None"):
        Ranker().fit(train.X, qid=train.qid)


def test_shifted_feature_ids_are_warned_of(train, tmp_path):
    """Arrays count from 0, LETOR files from 1."""
    lines = (
        f"{label:g} qid:{qid} " + " ".join(f"{i + 1}:{value:.6g}" for i, value in enumerate(row))
        for label, qid, row in zip(train.y, train.qid, train.X)
    )
    (tmp_path / "data.txt").write_text("\n".join(lines) + "\n")
    file, array = Dataset(tmp_path / "data.txt"), Dataset(train.X, train.y, qid=train.qid)
    with pytest.warns(UserWarning, match="feature ids seem to be shifted by one"):
        trained(array, num_leaves=31).predict(file)
    with pytest.warns(UserWarning, match="valid_0: feature ids seem to be shifted"):
        rankwise.train({"num_trees": 2}, array, valid_sets=[file])


def test_datasets_in_the_estimator(train):
    data = Dataset(train.X, train.y, qid=train.qid)
    ranker = Ranker(num_trees=3).fit(train.X, train.y, qid=train.qid)
    assert np.array_equal(ranker.predict(data), ranker.predict(train.X))
    with pytest.raises(TypeError, match="rankwise.train takes a Dataset"):
        Ranker().fit(data, train.y)


def test_columns_that_a_model_does_not_use_may_have_anything(train):
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    model = Ranker(num_trees=3).fit(frame, train.y, qid=train.qid).model_
    more = frame.assign(name="text", qid=train.qid)[["name", "f", "e", "d", "c", "b", "a", "qid"]]
    for X in (more, pl.from_pandas(more)):
        assert np.array_equal(model.predict(X), model.predict(frame))
