"""The conventions of scikit-learn: its own checks, metadata routing, searches and pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankwise
from rankwise import Ranker

# Older versions cannot be told which checks must fail.
pytest.importorskip("sklearn", minversion="1.8")

COLUMNS = list("abcdef")


def blocks(X):
    """Queries of 60 rows each."""
    return np.arange(np.asarray(X).shape[0] if not hasattr(X, "shape") else X.shape[0]) // 60


class RankerOfBlocks(RegressorMixin, Ranker):
    """A ranker for data without queries, which is the only kind that the checks have."""

    def fit(self, X, y, *, qid=None, sample_weight=None):
        return super().fit(X, y, qid=blocks(X) if qid is None else qid, sample_weight=sample_weight)

    def score(self, X, y, *, qid=None, sample_weight=None):
        return Ranker.score(self, X, y, qid=blocks(X) if qid is None else qid, sample_weight=sample_weight)


ONE_WITH_WEIGHT_2 = "lambdas depend on ranks and on pairs: two equal documents are not one document of weight 2"
EXPECTED_FAILURES = {
    "check_do_not_raise_errors_in_init_or_set_params": (
        "the check takes **kwargs for a parameter called 'kwargs', which is refused like every unknown name;"
        " test_values_are_checked_by_fit checks the parameters"
    ),
    "check_sample_weight_equivalence_on_dense_data": ONE_WITH_WEIGHT_2,
    "check_sample_weight_equivalence_on_sparse_data": ONE_WITH_WEIGHT_2,
    "check_supervised_y_2d": "labels in one column are taken without a warning, as a frame of one column is common",
}


# Data without a single split is part of the checks.
@pytest.mark.filterwarnings("ignore:no tree was grown:UserWarning")
@parametrize_with_checks(
    [RankerOfBlocks(min_data_in_leaf=1, num_trees=10, gain="linear")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
    xfail_strict=True,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("value", [-1, 3.0, "helloworld", np.array([1.0, 4.0]), [1], {}, []], ids=repr)
def test_values_are_checked_by_fit(value, train):
    """What check_do_not_raise_errors_in_init_or_set_params would check, for every parameter."""
    names = Ranker().get_params()
    ranker = Ranker(**dict.fromkeys(names, value))
    ranker.set_params(**dict.fromkeys(names, value))
    assert all(given is value for given in ranker.get_params().values())
    with pytest.raises((ValueError, TypeError)):
        ranker.fit(train.X, train.y, qid=train.qid)


def test_objects_that_are_numbers(train):
    plain = Ranker(num_trees=3).fit(train.X, train.y, qid=train.qid)
    objects = Ranker(num_trees=3).fit(train.X.astype(object), train.y.astype(object), qid=train.qid)
    assert objects.model_ == plain.model_
    assert np.array_equal(objects.predict(train.X.astype(object)), plain.predict(train.X))
    text = train.X.astype(object)
    text[3, 2] = "red"
    with pytest.raises(ValueError, match="encode text as numbers first"):
        Ranker().fit(text, train.y, qid=train.qid)
    with pytest.raises(ValueError, match="y has dtype object; expected numbers"):
        Ranker().fit(train.X, np.array(["bad", "good"] * 500, dtype=object), qid=train.qid)


def test_infinity_is_a_value(train):
    X = train.X.copy()
    X[:10, 0] = np.inf
    X[10:20, 0] = -np.inf
    ranker = Ranker(num_trees=3).fit(X, train.y, qid=train.qid)
    assert np.isfinite(ranker.predict(X)).all()
    large = train.X.copy()
    large[:10, 0] = 1e30
    assert np.array_equal(ranker.predict(X)[:10], ranker.predict(large)[:10])


def test_aliases_survive_clones_and_changes(train):
    ranker = Ranker(n_estimators=3, reg_lambda=0.5, importance_type="split")
    for copy in (clone(ranker), clone(clone(ranker))):
        assert copy.get_params() == ranker.get_params()
        params = copy.fit(train.X, train.y, qid=train.qid).model_.params
        assert (params["lambda_l2"], params["num_trees"]) == ("0.5", "3")
    # As with every estimator, an attribute may be set.
    ranker.n_estimators = 2
    assert ranker.get_params()["n_estimators"] == 2
    assert clone(ranker).fit(train.X, train.y, qid=train.qid).model_.n_trees == 2


def test_type_of_importance(train):
    ranker = Ranker(num_trees=3, num_leaves=4, importance_type="split").fit(train.X, train.y, qid=train.qid)
    splits = ranker.feature_importances_
    assert splits.sum() == 3 * 3 and clone(ranker).importance_type == "split"
    ranker.set_params(importance_type="gain")
    assert ranker.feature_importances_.sum() != 9
    ranker.importance_type = "cover"
    with pytest.raises(ValueError, match="'cover': expected 'gain' or 'split'"):
        ranker.feature_importances_


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_query(ranker):
    return ranker.set_fit_request(qid=True).set_score_request(qid=True)


def mixed(train):
    """The rows in another order, so that a split of queries would be noticed."""
    order = np.random.default_rng(5).permutation(train.n_rows)
    return train.X[order], train.y[order], train.qid[order]


def expected_scores(ranker, X, y, qid, folds):
    for fit, test in folds.split(X, y, qid):
        fitted = clone(ranker).fit(X[fit], y[fit], qid=qid[fit])
        yield fitted.score(X[test], y[test], qid=qid[test])


def test_cross_validation_routes_queries(train, routing):
    X, y, qid = mixed(train)
    folds = GroupKFold(3)
    ranker = by_query(Ranker(num_trees=5))
    given = {"qid": qid, "groups": qid}
    scores = cross_val_score(ranker, X, y, cv=folds, params=given)
    assert scores.tolist() == list(expected_scores(Ranker(num_trees=5), X, y, qid, folds))
    at_3 = make_scorer(rankwise.metrics.ndcg, k=3).set_score_request(qid=True)
    results = cross_validate(ranker, X, y, cv=folds, params=given, scoring={"at 3": at_3}, return_estimator=True)
    parts = zip(results["estimator"], results["test_at 3"], folds.split(X, y, qid))
    for fitted, score, (_, test) in parts:
        assert score == rankwise.metrics.ndcg(y[test], fitted.predict(X[test]), qid=qid[test], k=3)
    assert cross_val_predict(ranker, X, y, cv=folds, params=given).shape == (train.n_rows,)


def test_queries_that_are_not_requested_are_refused(train, routing):
    with pytest.raises(ValueError, match="qid"):
        cross_val_score(Ranker(num_trees=2), train.X, train.y, cv=GroupKFold(2), params={"qid": train.qid})


def test_searches_route_queries(train, routing):
    X, y, qid = mixed(train)
    folds = GroupKFold(3)
    grid = GridSearchCV(by_query(Ranker(learning_rate=0.2)), {"n_estimators": [1, 30], "num_leaves": [8]}, cv=folds)
    grid.fit(X, y, qid=qid, groups=qid)
    assert grid.best_params_ == {"n_estimators": 30, "num_leaves": 8}
    best = Ranker(learning_rate=0.2, n_estimators=30, num_leaves=8)
    expected = list(expected_scores(best, X, y, qid, folds))
    assert grid.best_score_ == pytest.approx(np.mean(expected), abs=1e-12)
    assert grid.best_estimator_.model_ == best.fit(X, y, qid=qid).model_
    assert grid.score(X, y, qid=qid) == best.score(X, y, qid=qid)
    chance = RandomizedSearchCV(by_query(Ranker()), {"eta": [0.01, 0.3], "num_trees": [2]}, n_iter=2, cv=folds)
    chance.fit(X, y, qid=qid, groups=qid)
    assert chance.best_params_["num_trees"] == 2 and chance.best_estimator_.model_.n_trees == 2


def test_pipelines_route_queries(train, routing):
    X, y, qid = mixed(train)
    steps = Pipeline([("scale", StandardScaler()), ("rank", by_query(Ranker(num_trees=5)))])
    steps.fit(X, y, qid=qid)
    scaled = StandardScaler().fit_transform(X)
    plain = Ranker(num_trees=5).fit(scaled, y, qid=qid)
    assert steps.named_steps["rank"].model_ == plain.model_
    assert steps.score(X, y, qid=qid) == plain.score(scaled, y, qid=qid)
    search = GridSearchCV(steps, {"rank__num_trees": [1, 30]}, cv=GroupKFold(3))
    search.fit(X, y, qid=qid, groups=qid)
    assert search.best_params_ == {"rank__num_trees": 30}


def test_weights_are_routed(train, routing):
    weight = np.where(train.qid % 2 == 0, 3.0, 0.5)
    ranker = Ranker(num_trees=5).set_fit_request(qid=True, sample_weight=True)
    ranker.set_score_request(qid=True, sample_weight=True)
    given = {"qid": train.qid, "groups": train.qid, "sample_weight": weight}
    scores = cross_val_score(ranker, train.X, train.y, cv=GroupKFold(2), params=given)
    for score, (fit, test) in zip(scores, GroupKFold(2).split(train.X, train.y, train.qid)):
        fitted = Ranker(num_trees=5).fit(train.X[fit], train.y[fit], qid=train.qid[fit], sample_weight=weight[fit])
        data = rankwise.Dataset(
            train.X[test], train.y[test], qid=train.qid[test], query_weight=weight[test][::25]
        )
        assert score == rankwise.evaluate(data, fitted.predict(train.X[test]))["ndcg@10"]


def frames(train):
    X, y, qid = mixed(train)
    columns = {name: X[:, place] for place, name in enumerate(COLUMNS)}
    return [pd.DataFrame({**columns, "qid": qid}), pl.DataFrame({**columns, "qid": qid})], X, y, qid


def test_a_frame_with_its_queries_needs_no_routing(train):
    both, X, y, qid = frames(train)
    folds = GroupKFold(3)
    expected = list(expected_scores(Ranker(num_trees=5), X, y, qid, folds))
    splits = list(folds.split(X, y, qid))
    for frame in both:
        assert cross_val_score(Ranker(num_trees=5), frame, y, groups=qid, cv=folds).tolist() == expected
        assert cross_val_score(Ranker(num_trees=5), frame, y, cv=splits).tolist() == expected
        for search in (
            GridSearchCV(Ranker(num_leaves=8), {"n_estimators": [1, 30]}, cv=splits),
            RandomizedSearchCV(Ranker(num_leaves=8), {"n_estimators": [1, 30]}, n_iter=2, cv=splits),
        ):
            search.fit(frame, y)
            assert search.best_params_ == {"n_estimators": 30}
            assert search.best_estimator_.feature_names_in_.tolist() == COLUMNS
            assert np.array_equal(search.predict(frame), search.best_estimator_.predict(X))


def test_pipelines_without_routing(train):
    steps = make_pipeline(StandardScaler(), Ranker(num_trees=5)).fit(train.X, train.y, ranker__qid=train.qid)
    scaled = StandardScaler().fit_transform(train.X)
    assert steps[-1].model_ == Ranker(num_trees=5).fit(scaled, train.y, qid=train.qid).model_
    # Frames keep their names.
    steps = make_pipeline(StandardScaler().set_output(transform="pandas"), Ranker(num_trees=5))
    steps.fit(pd.DataFrame(train.X, columns=COLUMNS), train.y, ranker__qid=train.qid)
    assert steps[-1].feature_names_in_.tolist() == COLUMNS
