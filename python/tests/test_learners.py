"""Learners that are not gradient boosting, from Python."""

import pickle

import numpy as np
import pandas as pd
import pytest
import rankwise
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

LEARNERS = {
    "linear": {},
    "ranksvm": {},
    "adarank": {"target": "map"},
    "coordinate-ascent": {"restarts": 0},
    "adaboost": {},
    "rankboost": {},
    "neural": {"epochs": 4, "hidden": 8, "heads": 2},
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + rng.normal(scale=0.5, size=600)), 0, 3)
    return X, y, np.repeat(np.arange(30), 20)


def ranker(learner):
    return rankwise.Ranker(learner=learner, n_estimators=10, n_jobs=2, **LEARNERS[learner])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.filterwarnings("ignore:.*has no effect")
def test_every_learner_fits_and_predicts(learner, data):
    X, y, qid = data
    model = ranker(learner).fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    assert 0 < model.best_iteration_ <= 10
    scores = model.predict(X, qid=qid)
    assert np.isfinite(scores).all()
    assert model.score(X, y, qid=qid) > 0.65
    assert pickle.loads(pickle.dumps(model)).model_ == model.model_
    # Columns by name, queries in a column, in another order.
    frame = pd.DataFrame(X, columns=list("abcde")).assign(qid=qid)
    by_name = ranker(learner).fit(frame, y, eval_set=[(frame, y)])
    mixed = np.random.default_rng(2).permutation(len(y))
    assert np.array_equal(by_name.predict(frame.iloc[mixed]), scores[mixed])


@pytest.mark.filterwarnings("ignore:.*has no effect")
def test_models_of_lists_need_queries(data):
    X, y, qid = data
    for model in (ranker("neural"), rankwise.Ranker(learner="linear", scaling="query")):
        model.fit(X, y, qid=qid)
        assert model.model_.is_listwise
        with pytest.raises(ValueError, match="give qid"):
            model.predict(X)
        sizes = np.full(30, 20)
        assert np.array_equal(model.predict(X, group=sizes), model.predict(X, qid=qid))
        assert np.array_equal(model.model_.predict(rankwise.Dataset(X, y, qid=qid)), model.predict(X, qid=qid))
    assert not ranker("linear").fit(X, y, qid=qid).model_.is_listwise


def test_importance_of_a_linear_model_is_the_size_of_its_weights(data):
    X, y, qid = data
    model = ranker("linear").fit(X, y, qid=qid)
    importances = model.feature_importances_
    assert importances.argmax() == 0 and importances.argsort()[-2] == 1
    assert (importances >= 0).all()


def test_cross_validation_works_by_query(data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ranker("ranksvm").set_fit_request(qid=True).set_score_request(qid=True)
        scores = cross_val_score(routed, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
    assert (scores > 0.7).all()
    found = rankwise.cross_validate({"learner": "linear"}, rankwise.Dataset(X, y, qid=qid), folds=3)
    assert "ndcg@10" in repr(found)


def test_bins_are_not_enough_for_a_linear_model(data, tmp_path):
    X, y, qid = data
    path = tmp_path / "bins"
    rankwise.Dataset(X, y, qid=qid).save_binned(path)
    with pytest.raises(ValueError, match="needs feature values"):
        rankwise.train({"learner": "linear"}, rankwise.Dataset(path))
