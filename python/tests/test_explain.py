"""SHAP values."""

import numpy as np
import pandas as pd
import pytest
import rankwise
import scipy.sparse
from rankwise import Ranker


@pytest.fixture
def ranker(train):
    return Ranker(num_trees=20, num_leaves=8).fit(train.X, train.y, qid=train.qid)


def check_sums(found, scores):
    sizes = np.abs(found.values).sum(axis=1) + np.abs(found.base_value)
    assert (np.abs(found.base_value + found.values.sum(axis=1) - scores) <= 1e-9 * sizes).all()


def test_values_add_up_to_scores(train, ranker):
    found = ranker.model_.explain(train.X)
    assert found.values.shape == train.X.shape and isinstance(found.base_value, float)
    assert found.feature_names == ["0", "1", "2", "3", "4", "5"]
    assert np.array_equal(found.data, train.X)
    check_sums(found, ranker.predict(train.X))
    # The label follows the first two features.
    assert set(np.argsort(-np.abs(found.values).mean(axis=0))[:2]) == {0, 1}
    assert np.array_equal(found.values, ranker.model_.explain(train.X, n_jobs=1).values)
    alone = ranker.model_.explain(train.X[7:8])
    assert np.array_equal(alone.values[0], found.values[7])


def test_pred_contrib_has_the_shape_of_lightgbm(train, ranker):
    found = ranker.predict(train.X, pred_contrib=True)
    assert found.shape == (train.n_rows, 7)
    assert np.allclose(found.sum(axis=1), ranker.predict(train.X), rtol=0, atol=1e-12)
    some = ranker.predict(train.X, pred_contrib=True, num_iteration=3)
    assert np.allclose(some.sum(axis=1), ranker.predict(train.X, num_iteration=3), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="pred_leaf and pred_contrib exclude each other"):
        ranker.predict(train.X, pred_contrib=True, pred_leaf=True)


def test_lightgbm_gives_the_same_values(train, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X = train.X.astype(np.float64)
    X[::7, 2] = np.nan
    peer = lightgbm.LGBMRanker(n_estimators=30, verbose=-1, n_jobs=1).fit(X, train.y.astype(int), group=train.group)
    peer.booster_.save_model(tmp_path / "model.txt")
    found = rankwise.load_model(tmp_path / "model.txt").predict(X, pred_contrib=True)
    assert np.abs(found - peer.predict(X, pred_contrib=True)).max() < 1e-12


def test_the_shap_package_gives_the_same_values(train, ranker, tmp_path):
    shap = pytest.importorskip("shap")
    lightgbm = pytest.importorskip("lightgbm")
    ranker.model_.export(tmp_path / "model.txt", "lightgbm")
    booster = lightgbm.Booster(model_file=str(tmp_path / "model.txt"))
    X = train.X[:200].astype(np.float64)
    found = ranker.model_.explain(X)
    explainer = shap.TreeExplainer(booster, feature_perturbation="tree_path_dependent")
    assert np.abs(found.values - explainer.shap_values(X)).max() < 1e-6
    ours = found.to_shap()
    assert isinstance(ours, shap.Explanation) and ours.values.shape == X.shape
    assert np.allclose(ours.base_values + ours.values.sum(axis=1), ranker.predict(X))
    assert list(ours.feature_names) == found.feature_names


def test_frames_and_sparse_matrices(train):
    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    ranker = Ranker(num_trees=10).fit(frame, train.y, qid=train.qid)
    found = ranker.model_.explain(frame)
    assert found.feature_names == list("abcdef")
    assert list(found.to_pandas().columns) == list("abcdef")
    # A model finds the columns by name; values belong to the columns that were given.
    other = ranker.model_.explain(frame[list("fedcba")])
    assert other.feature_names == list("fedcba")
    assert np.array_equal(other.values[:, ::-1], found.values)
    plain = Ranker(num_trees=10).fit(train.X, train.y, qid=train.qid).model_
    assert np.array_equal(plain.explain(scipy.sparse.csr_matrix(train.X)).values, found.values)
    wide = np.c_[train.X, train.X[:, :2]]
    assert np.array_equal(plain.explain(wide).values[:, :6], found.values)
    assert not plain.explain(wide).values[:, 6:].any()
    with pytest.raises(ValueError):
        plain.explain(train.X[:, :1])


def test_documents_to_compare_with(train, ranker):
    found = ranker.model_.explain(train.X[:20], background=train.X[100:130])
    assert found.base_value == pytest.approx(ranker.predict(train.X[100:130]).mean())
    check_sums(found, ranker.predict(train.X[:20]))
    # A document compared with itself has nothing to explain.
    assert not ranker.model_.explain(train.X[:1], background=train.X[:1]).values.any()
    with pytest.raises(ValueError, match="background must have the columns of X"):
        ranker.model_.explain(train.X, background=train.X[:, :5])
    with pytest.raises(ValueError, match="no documents to compare with"):
        ranker.model_.explain(train.X, background=train.X[:0])


def test_several_outputs(train):
    model = Ranker(objective="multiclass", num_trees=5).fit(train.X, train.y, qid=train.qid).model_
    found = model.explain(train.X)
    assert found.values.shape == (train.n_rows, 6, len(found.base_value))
    with pytest.raises(ValueError, match="one output"):
        model.predict(train.X, pred_contrib=True)
    with pytest.raises(ValueError, match="one output"):
        found.to_pandas()


def test_a_dataset_is_refused(train, ranker):
    data = rankwise.Dataset(train.X, train.y, qid=train.qid)
    with pytest.raises(ValueError, match="not a Dataset"):
        ranker.model_.explain(data)


def test_no_documents(train, ranker):
    assert ranker.model_.explain(train.X[:0]).values.shape == (0, 6)
