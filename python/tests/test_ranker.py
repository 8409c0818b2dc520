"""The estimator, as users of LightGBM, XGBoost and scikit-learn use it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwise
from rankwise import Ranker


def test_learns(train, valid):
    ranker = Ranker(num_trees=40).fit(train.X, train.y, qid=train.qid)
    assert ranker.score(valid.X, valid.y, qid=valid.qid) > 0.85
    scores = ranker.predict(valid.X)
    assert scores.shape == (valid.n_rows,) and scores.dtype == np.float64
    data = rankwise.Dataset(valid.X, valid.y, qid=valid.qid)
    assert ranker.score(valid.X, valid.y, qid=valid.qid) == rankwise.evaluate(data, scores)["ndcg@10"]


def test_group_and_qid_and_unsorted_rows_give_the_same_model(train):
    by_qid = Ranker(num_trees=5).fit(train.X, train.y, qid=train.qid)
    by_group = Ranker(num_trees=5).fit(train.X, train.y, group=train.group)
    assert by_qid.model_ == by_group.model_
    order = np.random.default_rng(3).permutation(train.n_rows)
    mixed = Ranker(num_trees=5).fit(train.X[order], train.y[order], qid=train.qid[order])
    assert mixed.model_ == by_qid.model_
    as_text = Ranker(num_trees=5).fit(train.X, train.y, qid=[str(qid) for qid in train.qid])
    assert as_text.model_ == by_qid.model_


def test_early_stopping(train, valid):
    ranker = Ranker(num_trees=500, learning_rate=0.3).fit(
        train.X,
        train.y,
        qid=train.qid,
        eval_set=[(valid.X, valid.y), (train.X, train.y)],
        eval_qid=[valid.qid, train.qid],
        eval_names=["valid", "train"],
        eval_metric=["ndcg@5", "map"],
        early_stopping_rounds=5,
    )
    curve = ranker.evals_result_["valid"]["ndcg@5"]
    assert set(ranker.evals_result_) == {"valid", "train"} and set(ranker.evals_result_["train"]) == {"ndcg@5", "map"}
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 == ranker.model_.n_trees
    assert len(curve) == ranker.best_iteration_ + 5
    assert ranker.model_.info["stopped"] == "early_stopping"
    callback = Ranker(num_trees=500, learning_rate=0.3).fit(
        train.X,
        train.y,
        qid=train.qid,
        eval_set=[(valid.X, valid.y)],
        eval_group=[valid.group],
        eval_metric="ndcg@5",
        callbacks=[rankwise.early_stopping(5)],
    )
    assert callback.evals_result_["valid_0"]["ndcg@5"] == curve


def test_callbacks_see_every_round_and_stop(train, valid, capsys):
    seen, history = [], {}

    def stop(state):
        seen.append(state.iteration)
        return state.iteration == 4

    ranker = Ranker(num_trees=50).fit(
        train.X,
        train.y,
        qid=train.qid,
        eval_set=[(valid.X, valid.y)],
        eval_qid=[valid.qid],
        callbacks=[stop, rankwise.record_evaluation(history), rankwise.log_evaluation(2)],
    )
    assert seen == [1, 2, 3, 4]
    assert history == ranker.evals_result_
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["[2]", "[4]"]


def test_exceptions_of_callbacks_and_objectives_pass_unchanged(train):
    class Mine(Exception):
        pass

    def fail(*_):
        raise Mine("here")

    with pytest.raises(Mine, match="here"):
        Ranker().fit(train.X, train.y, qid=train.qid, callbacks=[fail])
    with pytest.raises(Mine, match="here"):
        Ranker().fit(train.X, train.y, qid=train.qid, objective=fail)


def test_interrupts_keep_what_is_trained(train):
    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    ranker = Ranker(num_trees=50)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(train.X, train.y, qid=train.qid, callbacks=[interrupt])
    assert ranker.model_.n_trees == 3
    data = rankwise.Dataset(train.X, train.y, qid=train.qid)
    with pytest.raises(KeyboardInterrupt) as raised:
        rankwise.train({"num_trees": 50}, data, callbacks=[interrupt])
    assert isinstance(raised.value, rankwise.TrainingInterrupted)
    assert raised.value.model == ranker.model_


def test_custom_objective(train):
    def squared(label, score, query):
        assert label.shape == score.shape == query.shape == (train.n_rows,)
        assert np.array_equal(np.unique(query, return_index=True)[1] % 25, np.zeros(40))
        return score - label, np.ones_like(score)

    # Leaf values of a mean that starts at 0.
    custom = Ranker(num_trees=20).fit(train.X, train.y, qid=train.qid, objective=squared)
    built_in = Ranker(num_trees=20, objective="rmse").fit(train.X, train.y, qid=train.qid)
    assert custom.model_.objective == "squared"
    assert np.corrcoef(custom.predict(train.X), built_in.predict(train.X))[0, 1] > 0.99
    for bad, problem in [
        (lambda *_: (np.zeros(3), np.zeros(3)), "3 gradients for 1000 rows"),
        (lambda *_: (np.full(1000, np.nan), np.zeros(1000)), "no finite gradients for row 0"),
        (lambda *_: (np.zeros(1000), np.full(1000, -1.0)), "negative Hessian for row 0"),
    ]:
        with pytest.raises(ValueError, match=problem):
            Ranker().fit(train.X, train.y, qid=train.qid, objective=bad)
    with pytest.raises(TypeError, match="tuple of gradients and Hessians"):
        Ranker().fit(train.X, train.y, qid=train.qid, objective=lambda *_: np.zeros(1000))


def test_objectives_of_lightgbm(train):
    weight = np.linspace(0.5, 2, train.n_rows)

    def ours(label, score, query):
        return score - label, np.ones_like(score)

    def two(y_true, y_pred):
        return ours(y_true, y_pred, None)

    def four(y_true, y_pred, weight, group):
        assert group.tolist() == [25] * 40
        grad, hess = two(y_true, y_pred)
        return grad * weight, hess * weight

    def fit(objective, order=slice(None)):
        ranker = Ranker(num_trees=3)
        ranker.fit(train.X[order], train.y[order], qid=train.qid[order], sample_weight=weight[order], objective=objective)
        return ranker.predict(train.X)

    assert np.array_equal(fit(two), fit(ours))
    assert np.allclose(fit(four), fit(ours), atol=1e-6)
    with pytest.raises(ValueError, match="sorted by query"):
        fit(four, np.random.default_rng(0).permutation(train.n_rows))
    with pytest.raises(TypeError, match="this one takes 1"):
        fit(lambda label: None)
    data = rankwise.Dataset(train.X, train.y, qid=train.qid, weight=weight)
    with pytest.raises(ValueError, match="needs Ranker.fit"):
        rankwise.train({}, data, objective=four)


def test_weights(train):
    fit = lambda **more: Ranker(num_trees=5).fit(train.X, train.y, qid=train.qid, **more).model_
    plain = fit()
    assert fit(sample_weight=np.ones(train.n_rows)).to_bytes() != b""
    assert fit(query_weight=np.r_[np.full(20, 5.0), np.ones(20)]) != plain
    assert fit(sample_weight=np.linspace(0.1, 2, train.n_rows)) != plain


def test_parameters_aliases_and_clone():
    ranker = Ranker(n_estimators=7, objective="yetirank", subsample=0.5)
    assert repr(ranker) == "Ranker(n_estimators=7, objective='yetirank', subsample=0.5)"
    copy = clone(ranker)
    assert copy.get_params() == ranker.get_params()
    assert copy.get_params()["n_estimators"] == 7 and copy.n_estimators == 7
    copy.set_params(n_estimators=9, num_leaves=15)
    assert (copy.n_estimators, copy.num_leaves, ranker.n_estimators) == (9, 15, 7)
    with pytest.raises(TypeError, match="'num_leafs'; did you mean 'num_leaves'"):
        Ranker(num_leafs=3)
    with pytest.raises(ValueError, match="'num_leafs'.*did you mean 'num_leaves'"):
        copy.set_params(num_leafs=3)


def test_aliases_reach_training(train):
    by_alias = Ranker(n_estimators=3, eta=0.5, random_state=4).fit(train.X, train.y, qid=train.qid)
    by_name = Ranker(num_trees=3, learning_rate=0.5, seed=4).fit(train.X, train.y, qid=train.qid)
    assert by_alias.model_ == by_name.model_ and by_alias.model_.n_trees == 3
    with pytest.raises(ValueError, match="n_estimators|num_trees"):
        Ranker(n_estimators=3, num_trees=4).fit(train.X, train.y, qid=train.qid)


def test_score_is_the_metric_that_was_set(train):
    data = rankwise.Dataset(train.X, train.y, qid=train.qid)
    for given in (dict(metric="map,ndcg@5"), dict(eval_metric=["map", "ndcg@5"])):
        ranker = Ranker(num_trees=3, **given).fit(train.X, train.y, qid=train.qid)
        expected = rankwise.evaluate(data, ranker.predict(train.X), "map")["map"]
        assert ranker.score(train.X, train.y, qid=train.qid) == expected


def test_pickling(train):
    ranker = Ranker(n_estimators=5).fit(train.X, train.y, qid=train.qid)
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.predict(train.X), ranker.predict(train.X))
    assert again.get_params() == ranker.get_params() and again.evals_result_ == ranker.evals_result_


def test_frames(train, valid):
    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    with_qid = frame.assign(qid=train.qid)
    ranker = Ranker(num_trees=5).fit(with_qid, train.y)
    assert ranker.feature_names_in_.tolist() == list("abcdef") and ranker.n_features_in_ == 6
    plain = Ranker(num_trees=5).fit(frame, train.y, qid=train.qid)
    assert plain.model_ == ranker.model_
    assert np.array_equal(ranker.predict(with_qid), ranker.predict(frame))
    assert ranker.score(with_qid, train.y) == plain.score(frame, train.y, qid=train.qid)
    assert ranker.feature_importances_.argmax() == 0
    assert list(ranker.model_.feature_importance())[0] == "a"
    with pytest.raises(ValueError, match="in another order"):
        ranker.predict(frame[list("bacdef")])
    with pytest.raises(ValueError, match="lacks columns of the training data: 'c'"):
        ranker.predict(frame.drop(columns="c"))
    with pytest.raises(ValueError, match="has columns that the training data lacks: 'x'"):
        ranker.predict(frame.assign(x=1.0))
    with pytest.raises(ValueError, match="given twice"):
        Ranker().fit(with_qid, train.y, qid=train.qid)
    # A model finds the columns by name.
    assert np.array_equal(ranker.model_.predict(frame[list("fedcba")]), ranker.predict(frame))


def test_predict_of_some_rounds_and_leaves(train):
    ranker = Ranker(num_trees=10, num_leaves=8).fit(train.X, train.y, qid=train.qid)
    first = Ranker(num_trees=4, num_leaves=8).fit(train.X, train.y, qid=train.qid)
    assert np.array_equal(ranker.predict(train.X, num_iteration=4), first.predict(train.X))
    leaves = ranker.predict(train.X, pred_leaf=True)
    assert leaves.shape == (train.n_rows, 10) and leaves.min() == 0 and leaves.max() < 8
    sums = {}
    for row, score in zip(map(tuple, leaves), ranker.predict(train.X)):
        assert sums.setdefault(row, score) == score


def test_starting_from_a_model(train):
    first = Ranker(num_trees=3).fit(train.X, train.y, qid=train.qid)
    more = Ranker(num_trees=2).fit(train.X, train.y, qid=train.qid, init_model=first)
    assert more.model_.n_trees == 5
    assert np.array_equal(more.predict(train.X, num_iteration=3), first.predict(train.X))


def test_grid_search_and_cross_validation(train):
    frame = pd.DataFrame(train.X, columns=list("abcdef")).assign(qid=train.qid)
    folds = GroupKFold(3)
    scores = cross_val_score(Ranker(num_trees=5), frame, train.y, groups=train.qid, cv=folds)
    assert len(scores) == 3 and scores.min() > 0.5
    search = GridSearchCV(Ranker(), {"n_estimators": [2, 20], "num_leaves": [4]}, cv=folds)
    search.fit(frame, train.y, groups=train.qid)
    assert search.best_params_ == {"n_estimators": 20, "num_leaves": 4}
    assert search.predict(frame).shape == (train.n_rows,)


def test_pipelines(train):
    steps = make_pipeline(StandardScaler(), Ranker(num_trees=5))
    steps.fit(train.X, train.y, ranker__qid=train.qid)
    assert steps.predict(train.X).shape == (train.n_rows,)


def test_not_fitted(train):
    with pytest.raises(NotFittedError):
        Ranker().predict(train.X)


def test_no_tree_warns_and_predicts_a_constant(train):
    with pytest.warns(UserWarning, match="no tree was grown: .*min_data_in_leaf"):
        ranker = Ranker(min_data_in_leaf=10_000).fit(train.X, train.y, qid=train.qid)
    assert len(set(ranker.predict(train.X))) == 1


def test_threads_give_the_same_model(train):
    models = [Ranker(num_trees=5, n_jobs=jobs).fit(train.X, train.y, qid=train.qid).model_ for jobs in (1, 2, -1)]
    assert models[0] == models[1] == models[2]
    with pytest.raises(ValueError, match="n_jobs=0"):
        Ranker(n_jobs=0).fit(train.X, train.y, qid=train.qid)
