"""What users of LGBMRanker, XGBRanker and CatBoostRanker do, done with Ranker; beside the other library where both can run."""

import copy
import inspect
import pickle
import re
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import rankwise
from rankwise import Dataset, Ranker, evaluate
from rankwise._ranker import _with_cutoffs

# Other libraries warn about their own future; that is not our concern.
peer = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def lightgbm():
    return pytest.importorskip("lightgbm")


@pytest.fixture
def xgboost():
    return pytest.importorskip("xgboost")


def fit(data, ranker, **more):
    return ranker.fit(data.X, data.y, qid=data.qid, **more)


def measured(data, scores, metric="ndcg@10", **rules):
    return evaluate(Dataset(data.X, data.y, qid=data.qid), scores, metric, **rules)[metric]


# LightGBM


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg"])
def test_lambdarank_and_xendcg_stop_early_at_the_best_round(train, valid, objective):
    ranker = Ranker(objective=objective, n_estimators=300, learning_rate=0.3, random_state=1).fit(
        train.X,
        train.y,
        group=train.group,
        eval_set=[(valid.X, valid.y)],
        eval_group=[valid.group],
        eval_metric="ndcg",
        eval_at=[1, 3],
        callbacks=[rankwise.early_stopping(10)],
    )
    curve = ranker.evals_result_["valid_0"]["ndcg@1"]
    assert list(ranker.evals_result_["valid_0"]) == ["ndcg@1", "ndcg@3"]
    assert ranker.best_iteration_ == np.argmax(curve) + 1 == ranker.n_estimators_ == ranker.n_iter_ < 300
    assert ranker.best_score_["valid_0"]["ndcg@1"] == max(curve) > 0.85
    at_3 = measured(valid, ranker.predict(valid.X), "ndcg@3")
    assert ranker.best_score_["valid_0"]["ndcg@3"] == pytest.approx(at_3, abs=1e-12)


@peer
@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg"])
def test_as_good_as_lightgbm(make, valid, objective, lightgbm):
    given = dict(objective=objective, n_estimators=50, num_leaves=15, min_child_samples=10, reg_lambda=1.0, random_state=2)
    ours, theirs = [], []
    for seed in range(10, 15):
        train = make(seed=seed)
        ours.append(measured(valid, Ranker(**given).fit(train.X, train.y, group=train.group).predict(valid.X)))
        peer = lightgbm.LGBMRanker(verbose=-1, n_jobs=1, **given).fit(train.X, train.y, group=train.group)
        theirs.append(measured(valid, peer.predict(valid.X)))
    assert np.mean(ours) > np.mean(theirs) - 0.01 > 0.9


@peer
def test_metrics_are_those_of_lightgbm(train, valid, lightgbm):
    weight = np.random.default_rng(0).uniform(0, 3, valid.n_rows)
    peer = lightgbm.LGBMRanker(n_estimators=4, num_leaves=8, verbose=-1, n_jobs=1).fit(
        train.X,
        train.y,
        group=train.group,
        eval_set=[(valid.X, valid.y), (valid.X, valid.y)],
        eval_group=[valid.group, valid.group],
        eval_sample_weight=[None, weight],
        eval_metric=["ndcg", "map"],
        eval_at=[3, 10],
    )
    for n_rounds in range(1, 5):
        scores = peer.predict(valid.X, num_iteration=n_rounds)
        for metric in ("ndcg@3", "ndcg@10", "map@3", "map@10"):
            theirs = peer.evals_result_["valid_0"][metric][n_rounds - 1]
            assert measured(valid, scores, metric, convention="lightgbm") == pytest.approx(theirs, abs=1e-9)
        ours = Ranker(metric="ndcg@3", convention="lightgbm")
        ours.model_, ours.n_features_in_ = peer_model(peer, n_rounds), 6
        theirs = peer.evals_result_["valid_1"]["ndcg@3"][n_rounds - 1]
        assert ours.score(valid.X, valid.y, group=valid.group, sample_weight=weight) == pytest.approx(theirs, abs=1e-6)


def peer_model(peer, n_rounds):
    """A model of LightGBM, as ours."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        peer.booster_.save_model(path, num_iteration=n_rounds)
        return rankwise.load_model(path)


def test_weights_of_validation_sets_change_the_metrics_only(train, valid):
    given = dict(eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    by_query = np.linspace(0, 4, 20)
    plain = fit(train, Ranker(n_estimators=5), **given)
    queries = fit(train, Ranker(n_estimators=5), **given, eval_query_weight=[by_query])
    rows = fit(train, Ranker(n_estimators=5), **given, eval_sample_weight=[np.repeat(by_query, 25)])
    assert plain.model_ == queries.model_ == rows.model_
    assert queries.evals_result_ == rows.evals_result_ != plain.evals_result_
    # Queries in order of first appearance, in a frame and in mixed order.
    order = np.random.default_rng(2).permutation(valid.n_rows)
    frame = pd.DataFrame(valid.X[order]).assign(qid=valid.qid[order])
    mixed = fit(
        train,
        Ranker(n_estimators=5),
        eval_set=(frame, valid.y[order]),
        eval_sample_weight=[np.repeat(by_query, 25)[order]],
    )
    assert mixed.evals_result_["valid_0"]["ndcg@10"] == pytest.approx(queries.evals_result_["valid_0"]["ndcg@10"])
    with pytest.raises(ValueError, match="not both"):
        fit(train, Ranker(), **given, eval_query_weight=[by_query], eval_sample_weight=[np.ones(valid.n_rows)])
    with pytest.raises(ValueError, match="eval_sample_weight has 2 entries, but eval_set has 1"):
        fit(train, Ranker(), **given, eval_sample_weight=[None, None])
    with pytest.raises(ValueError, match="there are 3 weights for 500 rows"):
        fit(train, Ranker(), **given, eval_sample_weight=[np.ones(3)])


def test_cutoffs_of_metrics(train, valid):
    def names(**more):
        ranker = Ranker(n_estimators=1, **more.pop("params", {}))
        return list(fit(train, ranker, eval_set=(valid.X, valid.y), eval_qid=[valid.qid], **more).evals_result_["valid_0"])

    assert names(eval_at=5, eval_metric="ndcg") == ["ndcg@5"]
    assert names(eval_at=(1, 5), eval_metric=["ndcg", "map"]) == ["ndcg@1", "ndcg@5", "map@1", "map@5"]
    assert names(eval_at=[3, 4], eval_metric="ndcg@7,map") == ["ndcg@7", "map@3", "map@4"]
    assert _with_cutoffs("ndcg@7, map", [3, 4]) == ["ndcg@7", "map@3", "map@4"]
    assert names(eval_at=[3], params={"metric": "map"}) == ["map@3"]
    assert names(eval_at=[3], params={"eval_metric": "map"}) == ["map@3"]
    assert names() == ["ndcg@10"]
    for bad in (5, [5], ["ndcg", None]):
        with pytest.raises(TypeError):
            names(eval_metric=bad)


def test_functions_as_metrics_and_objectives(train, valid):
    """As in LightGBM in `fit`, and as in XGBoost and LightGBM in the constructor."""

    def spread(y_true, y_pred):
        return "spread", float((y_pred**2).sum()), False

    sets = dict(eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    in_fit = fit(train, Ranker(n_estimators=20), eval_metric=spread, early_stopping_rounds=3, **sets)
    assert list(in_fit.evals_result_["valid_0"]) == ["spread", "ndcg@10"]
    assert in_fit.best_iteration_ == 1
    in_constructor = fit(train, clone(Ranker(n_estimators=20, eval_metric=spread)), early_stopping_rounds=3, **sets)
    assert in_constructor.model_ == in_fit.model_
    assert 0 < in_constructor.score(valid.X, valid.y, qid=valid.qid) <= 1
    later = fit(train, Ranker(n_estimators=20), eval_metric=["ndcg@5", spread], early_stopping_rounds=3, **sets)
    assert list(later.evals_result_["valid_0"]) == ["ndcg@5", "spread"]
    assert later.best_iteration_ > 1

    def squared_error(y_true, y_pred):
        return y_pred - y_true, np.ones_like(y_pred)

    with_function = fit(train, clone(Ranker(n_estimators=5, objective=squared_error)))
    assert with_function.model_ == fit(train, Ranker(n_estimators=5), objective=squared_error).model_


def test_a_parameter_may_be_set_by_another_of_its_names(train):
    ranker = Ranker(n_estimators=5).set_params(num_trees=9)
    assert fit(train, ranker).n_estimators_ == 9
    assert "n_estimators" not in ranker.get_params()
    assert fit(train, ranker.set_params(n_estimators=3)).n_estimators_ == 3
    assert fit(train, clone(ranker).set_params(num_boost_round=4)).n_estimators_ == 4
    search = GridSearchCV(Ranker(n_estimators=5), {"num_trees": [2, 3]}, cv=GroupKFold(2))
    frame = pd.DataFrame(train.X).add_prefix("f").assign(qid=train.qid)
    search.fit(frame, train.y, groups=train.qid)
    assert search.best_estimator_.n_estimators_ in (2, 3)


def test_settings_of_how_much_is_printed_have_no_effect(train, capfd):
    quiet = fit(train, clone(Ranker(n_estimators=3, verbose=-1, verbosity=0, silent=True)))
    assert quiet.model_ == fit(train, Ranker(n_estimators=3)).model_
    fit(train, Ranker(n_estimators=3, verbose=10))
    assert capfd.readouterr() == ("", "")


def test_the_training_set_can_be_measured(train):
    ranker = fit(train, Ranker(n_estimators=8), eval_set=[(train.X, train.y)], eval_qid=[train.qid])
    assert ranker.score(train.X, train.y, qid=train.qid) == ranker.best_score_["valid_0"]["ndcg@10"]


def test_continued_training(train, valid, tmp_path):
    first = fit(train, Ranker(n_estimators=5))
    path = tmp_path / "first.json"
    first.save_model(path)
    more = [fit(train, Ranker(n_estimators=7), init_model=start) for start in (first, first.model_, path, str(path))]
    assert more[0].model_.n_trees == 12
    assert all(other.model_ == more[0].model_ for other in more)
    sets = dict(eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    best = fit(train, Ranker(n_estimators=7), init_model=first, **sets)
    curve = best.evals_result_["valid_0"]["ndcg@10"]
    # The first value is that of the start model.
    assert len(curve) == 1 + 7 and best.best_iteration_ == 5 + np.argmax(curve)
    assert curve[0] == pytest.approx(measured(valid, first.predict(valid.X)), abs=1e-12)
    assert best.best_score_["valid_0"]["ndcg@10"] == max(curve)
    assert max(curve) == pytest.approx(measured(valid, best.predict(valid.X)), abs=1e-12)


@peer
def test_training_continues_a_model_of_lightgbm(train, valid, lightgbm, tmp_path):
    peer = lightgbm.LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1).fit(train.X, train.y, group=train.group)
    path = tmp_path / "model.txt"
    peer.booster_.save_model(path)
    ranker = Ranker().load_model(path)
    assert np.array_equal(ranker.predict(valid.X), peer.predict(valid.X))
    more = fit(train, Ranker(n_estimators=20, num_leaves=31, learning_rate=0.1), init_model=path)
    assert np.array_equal(more.predict(valid.X, num_iteration=5), peer.predict(valid.X))
    assert measured(train, more.predict(train.X)) > measured(train, peer.predict(train.X))


@peer
def test_importances_are_those_of_lightgbm(train, lightgbm, tmp_path):
    peer = lightgbm.LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1, importance_type="split").fit(train.X, train.y, group=train.group)
    peer.booster_.save_model(tmp_path / "model.txt")
    ours = Ranker(importance_type="split").load_model(tmp_path / "model.txt")
    assert ours.feature_importances_.tolist() == peer.feature_importances_[: len(ours.feature_importances_)].tolist()
    ours.importance_type = "gain"
    gains = peer.booster_.feature_importance("gain")[: len(ours.feature_importances_)]
    assert ours.feature_importances_ == pytest.approx(gains, rel=1e-5)


@pytest.mark.parametrize("again", [pickle.loads, copy.deepcopy, "joblib"], ids=["pickle", "deepcopy", "joblib"])
def test_copies_of_a_fitted_ranker(train, valid, again, tmp_path):
    ranker = fit(train, Ranker(n_estimators=5, reg_lambda=0.1), eval_set=(valid.X, valid.y), eval_qid=[valid.qid])
    if again == "joblib":
        joblib.dump(ranker, tmp_path / "ranker")
        other = joblib.load(tmp_path / "ranker")
    else:
        other = again(pickle.dumps(ranker) if again is pickle.loads else ranker)
    assert other.model_ == ranker.model_ and other.get_params() == ranker.get_params()
    assert np.array_equal(other.predict(valid.X), ranker.predict(valid.X))
    for name in ("evals_result_", "best_score_", "best_iteration_", "n_features_in_"):
        assert getattr(other, name) == getattr(ranker, name)
    # A copy can be fitted again.
    assert fit(train, other).model_ == fit(train, Ranker(n_estimators=5, reg_lambda=0.1)).model_


def test_absent_values_of_a_start_model(train):
    zero = fit(train, Ranker(n_estimators=2, absent="zero"))
    assert zero.model_.absent == "zero" and fit(train, Ranker(n_estimators=2)).model_.absent == "missing"
    assert fit(train, Ranker(n_estimators=2), init_model=zero).model_.absent == "zero"


def test_clones_are_not_fitted(train):
    ranker = fit(train, Ranker(n_estimators=3))
    assert not clone(ranker).__sklearn_is_fitted__()
    assert fit(train, clone(ranker)).model_ == ranker.model_


@peer
@pytest.mark.parametrize(
    "name", ["n_features_", "n_features_in_", "feature_name_", "n_estimators_", "n_iter_", "best_score_", "evals_result_"]
)
def test_attributes_have_the_form_of_lightgbm(train, valid, lightgbm, name):
    sets = dict(eval_set=[(valid.X, valid.y)], eval_group=[valid.group], eval_names=["mine"], eval_metric="ndcg", eval_at=[5])
    peer = lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1).fit(train.X, train.y, group=train.group, **sets)
    ours = Ranker(n_estimators=3).fit(train.X, train.y, group=train.group, **sets)

    def form(value):
        if isinstance(value, dict):
            return {key: form(inner) for key, inner in value.items()}
        if isinstance(value, list) and not isinstance(value[0], str):
            return [form(inner) for inner in value]
        return "number" if isinstance(value, float) else value

    assert form(getattr(ours, name)) == form(getattr(peer, name))


def test_names_of_features(train):
    names = ["title", "body", "age", "price", "clicks", "stock"]
    ranker = fit(train, Ranker(n_estimators=3), feature_name=names)
    assert ranker.feature_names_in_.tolist() == ranker.feature_name_ == names
    assert ranker.model_.feature_names[0] == "title"
    frame = pd.DataFrame(train.X, columns=names)
    assert ranker.model_ == Ranker(n_estimators=3).fit(frame, train.y, qid=train.qid).model_
    assert np.array_equal(ranker.predict(frame), ranker.predict(train.X))
    with pytest.raises(ValueError, match="feature_name has 1 entries, but X has 6 columns"):
        fit(train, Ranker(), feature_name=["title"])
    assert fit(train, Ranker(n_estimators=3), feature_name="auto").feature_name_[1] == "Column_1"


def test_columns_are_checked_unless_told_otherwise(train):
    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    ranker = Ranker(n_estimators=3).fit(frame, train.y, qid=train.qid)
    renamed = frame.rename(columns=str.upper)
    with pytest.raises(ValueError, match="lacks columns of the training data: 'a'"):
        ranker.predict(renamed)
    assert np.array_equal(ranker.predict(renamed, validate_features=False), ranker.predict(frame))
    assert np.array_equal(ranker.predict(frame, raw_score=True), ranker.predict(frame))


@pytest.mark.parametrize(
    "of",
    [
        np.asarray,
        np.asfortranarray,
        lambda X: X[:, ::-1][:, ::-1],
        lambda X: X.astype(np.float64),
        lambda X: X.tolist(),
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.csr_array,
        pd.DataFrame,
    ],
    ids=["array", "fortran", "strided", "float64", "list", "csr", "csc", "csr array", "pandas"],
)
def test_kinds_of_data(train, valid, of):
    ranker = Ranker(n_estimators=5).fit(of(train.X), train.y.tolist(), group=train.group.tolist())
    assert np.array_equal(ranker.predict(of(valid.X)), fit(train, Ranker(n_estimators=5)).predict(valid.X))


def test_labels_in_a_column(train):
    expected = fit(train, Ranker(n_estimators=2)).model_
    for y in (train.y.reshape(-1, 1), pd.DataFrame({"label": train.y}), pd.Series(train.y), train.y.astype(int)):
        assert Ranker(n_estimators=2).fit(train.X, y, qid=train.qid).model_ == expected


def test_missing_values_are_a_branch_of_their_own(train):
    X = np.random.default_rng(0).normal(size=train.X.shape)
    X[train.y > 0, 2] = np.nan
    ranker = Ranker(n_estimators=5).fit(X, train.y > 0, qid=train.qid)
    assert ranker.score(X, train.y > 0, qid=train.qid) == 1.0


# XGBoost


@peer
def test_metrics_and_scores_are_those_of_xgboost(train, valid, xgboost, tmp_path):
    peer = xgboost.XGBRanker(n_estimators=6, max_depth=4, eval_metric=["ndcg@5", "ndcg"])
    peer.fit(train.X, train.y, qid=train.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    peer.save_model(tmp_path / "model.json")
    ours = Ranker().load_model(tmp_path / "model.json")
    assert ours.predict(valid.X) == pytest.approx(peer.predict(valid.X), abs=1e-5)
    for n_rounds in range(1, 7):
        scores = peer.predict(valid.X, iteration_range=(0, n_rounds))
        assert ours.predict(valid.X, num_iteration=n_rounds) == pytest.approx(scores, abs=1e-5)
        for metric in ("ndcg@5", "ndcg"):
            theirs = peer.evals_result()["validation_0"][metric][n_rounds - 1]
            assert measured(valid, scores, metric, convention="xgboost") == pytest.approx(theirs, abs=1e-6)


@peer
@pytest.mark.parametrize("objective", ["rank:ndcg"])
def test_as_good_as_xgboost(make, valid, objective, xgboost):
    given = dict(objective=objective, n_estimators=50, learning_rate=0.1, max_depth=4, reg_lambda=1.0)
    ours, theirs = [], []
    for seed in range(10, 15):
        train = make(seed=seed)
        ours.append(measured(valid, fit(train, Ranker(**given)).predict(valid.X)))
        theirs.append(measured(valid, fit(train, xgboost.XGBRanker(**given)).predict(valid.X)))
    assert np.mean(ours) > np.mean(theirs) - 0.01 > 0.9


@peer
def test_a_frame_with_its_queries_in_both_libraries(train, valid, xgboost):
    names = [f"f{i}" for i in range(6)]
    frame = pd.DataFrame(train.X, columns=names).assign(qid=train.qid)
    other = pd.DataFrame(valid.X, columns=names).assign(qid=valid.qid)
    peer = xgboost.XGBRanker(n_estimators=10, eval_metric="ndcg@10").fit(frame, train.y, eval_set=[(other, valid.y)])
    ours = Ranker(n_estimators=10, eval_metric="ndcg@10").fit(frame, train.y, eval_set=[(other, valid.y)])
    assert len(ours.evals_result()["valid_0"]["ndcg@10"]) == len(peer.evals_result()["validation_0"]["ndcg@10"]) == 10
    assert ours.n_features_in_ == 6 and ours.score(other, valid.y) > 0.9 < peer.score(other, valid.y)
    # The column may be anywhere, and is not a feature.
    moved = frame[["f0", "qid", *names[1:]]]
    first, last = (Ranker(n_estimators=3).fit(X, train.y).model_ for X in (moved, frame))
    assert first == last and "qid" not in first.feature_names


def test_a_validation_set_selects_the_best_round_as_in_catboost(train, valid):
    """LightGBM and XGBoost do this with early stopping only."""
    ranker = fit(train, Ranker(n_estimators=20, num_leaves=31, learning_rate=0.1), eval_set=(valid.X, valid.y), eval_qid=[valid.qid])
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert len(curve) == 20 and ranker.best_iteration_ == 1 + np.argmax(curve) < 20
    all_rounds = fit(train, Ranker(n_estimators=20, num_leaves=31, learning_rate=0.1))
    assert all_rounds.best_iteration_ == 20
    assert np.array_equal(all_rounds.predict(valid.X, num_iteration=ranker.best_iteration_), ranker.predict(valid.X))


def test_weights_of_queries_decide_which_query_is_learned():
    """A feature that is right for some queries and wrong for the others: the heavier queries win."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 1))
    qid = np.repeat(np.arange(20), 20)
    likes_large = qid < 10
    y = np.where(likes_large, X[:, 0] > 0.5, X[:, 0] < 0.5).astype(int)
    for heavy, is_rising in ((likes_large, True), (~likes_large, False)):
        by_query = np.where(heavy[::20], 5.0, 1.0)
        given = [{"query_weight": by_query}, {"sample_weight": np.repeat(by_query, 20)}]
        for weights in given:
            low, high = Ranker(n_estimators=5).fit(X, y, qid=qid, **weights).predict(np.array([[0.1], [0.9]]))
            assert (high > low) == is_rising
    with pytest.raises(ValueError, match="sample_weight has 20 entries, but X has 400 rows; .* query_weight"):
        Ranker().fit(X, y, qid=qid, sample_weight=np.ones(20))


def test_queries_of_weight_zero_teach_nothing(train):
    keep = train.qid <= 20
    weights = np.where(np.arange(40) < 20, 1.0, 0.0)
    some = Ranker(n_estimators=10, objective="ranknet", min_data_in_leaf=1)
    weighted = clone(some).fit(train.X, train.y, qid=train.qid, query_weight=weights)
    noise = train.y.copy()
    noise[~keep] = np.random.default_rng(0).permutation(noise[~keep])
    other = clone(some).fit(train.X, noise, qid=train.qid, query_weight=weights)
    assert np.array_equal(weighted.predict(train.X), other.predict(train.X))
    assert not np.array_equal(weighted.predict(train.X), fit(train, clone(some)).predict(train.X))


def test_early_stopping_is_a_parameter(train, valid):
    sets = dict(eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    by_parameter = fit(train, Ranker(n_estimators=300, early_stopping_rounds=4, eval_metric=["ndcg@3", "ndcg@9"]), **sets)
    in_fit = fit(train, Ranker(n_estimators=300), early_stopping_rounds=4, eval_metric=["ndcg@3", "ndcg@9"], **sets)
    assert by_parameter.best_iteration_ == in_fit.best_iteration_ < 300
    assert by_parameter.evals_result() == in_fit.evals_result()
    # The first metric decides.
    other = fit(train, Ranker(n_estimators=300), early_stopping_rounds=4, eval_metric=["ndcg@9", "ndcg@3"], **sets)
    assert other.best_iteration_ == 1 + np.argmax(other.evals_result_["valid_0"]["ndcg@9"])


def test_a_single_validation_set(train, valid):
    one = fit(train, Ranker(n_estimators=3), eval_set=(valid.X, valid.y), eval_qid=[valid.qid])
    listed = fit(train, Ranker(n_estimators=3), eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    assert one.evals_result_ == listed.evals_result_ != {}


def test_printed_progress(train, valid, capsys):
    sets = dict(eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    fit(train, Ranker(n_estimators=6), **sets)
    assert capsys.readouterr().out == ""
    for verbose, rounds in ((True, [1, 2, 3, 4, 5, 6]), (3, [3, 6])):
        fit(train, Ranker(n_estimators=6), verbose=verbose, **sets)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == [f"[{n}]" for n in rounds]


def test_saved_and_loaded_models(train, valid, tmp_path):
    frame = pd.DataFrame(train.X, columns=list("abcdef"))
    ranker = Ranker(n_estimators=5).fit(frame, train.y, qid=train.qid)
    ranker.save_model(tmp_path / "model.json")
    loaded = Ranker(learning_rate=0.7).load_model(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(valid.X), ranker.predict(valid.X))
    assert loaded.get_booster() == ranker.booster_ and loaded.best_iteration_ == 5 and loaded.objective_ == "lambdamart"
    assert loaded.score(valid.X, valid.y, qid=valid.qid) == ranker.score(valid.X, valid.y, qid=valid.qid)
    assert loaded.learning_rate == 0.7
    # What was known about earlier data is forgotten.
    assert not hasattr(ranker.load_model(tmp_path / "model.json"), "n_features_in_")


def test_unsorted_queries_need_no_sorting(train, xgboost):
    order = np.random.default_rng(0).permutation(train.n_rows)
    with pytest.raises(Exception, match="(?i)sorted|non-decreasing"):
        xgboost.XGBRanker(n_estimators=1).fit(train.X[order], train.y[order], qid=train.qid[order])
    mixed = Ranker(n_estimators=3).fit(train.X[order], train.y[order], qid=train.qid[order])
    assert mixed.model_ == fit(train, Ranker(n_estimators=3)).model_


# CatBoost


def test_names_of_catboost(train):
    theirs = dict(iterations=5, depth=4, l2_leaf_reg=3, random_seed=7, border_count=128, loss_function="YetiRank")
    ours = dict(num_trees=5, max_depth=4, lambda_l2=3, seed=7, max_bin=128, objective="yetirank")
    by_alias = fit(train, Ranker(grow_policy="SymmetricTree", rsm=0.5, **theirs))
    assert by_alias.model_ == fit(train, Ranker(grow="oblivious", feature_fraction=0.5, **ours)).model_
    assert by_alias.predict(train.X, pred_leaf=True).max() < 2**4


@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE", "QuerySoftMax", "PairLogit", "StochasticRank", "RMSE"])
def test_losses_of_catboost_learn(train, valid, loss):
    ranker = Ranker(loss_function=loss, iterations=40, learning_rate=0.2, depth=5, grow_policy="SymmetricTree")
    assert fit(train, ranker).score(valid.X, valid.y, qid=valid.qid) > 0.85


def test_text_and_numbers_as_ids_of_queries(train):
    expected = fit(train, Ranker(num_trees=3)).model_
    for qid in ([str(q) for q in train.qid], pd.Series(train.qid), train.qid.astype(np.uint8), train.qid.tolist()):
        assert Ranker(num_trees=3).fit(train.X, train.y, qid=qid).model_ == expected


def test_cross_validation_keeps_queries_together(train):
    scores = []
    for part, rest in GroupKFold(4).split(train.X, groups=train.qid):
        assert not set(train.qid[part]) & set(train.qid[rest])
        ranker = Ranker(n_estimators=20).fit(train.X[part], train.y[part], qid=train.qid[part])
        scores.append(ranker.score(train.X[rest], train.y[rest], qid=train.qid[rest]))
    assert np.mean(scores) > 0.85 and np.std(scores) < 0.1


# Arguments that are missing on purpose, or that need more than this class.
NOT_TAKEN = {
    "lightgbm fit": {"init_score", "eval_init_score", "categorical_feature", "eval_X", "eval_y"},
    "lightgbm predict": {"start_iteration", "kwargs"},
    "xgboost fit": {"base_margin", "base_margin_eval_set", "feature_weights", "sample_weight_eval_set", "xgb_model"},
    "xgboost predict": {"base_margin", "iteration_range", "output_margin"},
}


@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_arguments_that_are_taken(request, library, method):
    module = request.getfixturevalue(library)
    peer = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}[library]
    theirs = set(inspect.signature(getattr(getattr(module, peer), method)).parameters)
    ours = set(inspect.signature(getattr(Ranker, method)).parameters)
    assert theirs - ours == NOT_TAKEN[f"{library} {method}"]


# The guide

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
PARAMETERS = rankwise.Ranker.__mro__[1]


def rows_of_table(heading):
    """The rows of the first table after a line, as lists of cells."""
    lines = GUIDE.read_text().split(heading, 1)[1].splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("|---"))
    for line in lines[start + 1 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def code(cell):
    return re.findall("`([^`]+)`", cell)


def names_and_aliases():
    """The aliases of each parameter, from the documentation of the class."""
    found = {}
    text = PARAMETERS.__doc__.split("----------\n", 1)[1].rstrip()
    for part in re.split(r"^    (?=\w+ : )", text, flags=re.MULTILINE)[1:]:
        name = part.split(" : ")[0].strip()
        aliases = re.search(r"Aliases: (.*?)\.\s*$", part, re.DOTALL)
        found[name] = re.split(r",\s+", aliases.group(1)) if aliases else []
    assert set(found) == set(Ranker().get_params())
    assert {alias for aliases in found.values() for alias in aliases} == set(rankwise._rankwise.aliases())
    return found


TABLES = [(library, row) for library in ("LightGBM", "XGBoost", "CatBoost") for row in rows_of_table(f"Parameters of {library}\n")]


def test_tables_of_the_guide_are_long_enough():
    assert [sum(row[0] == library for row in TABLES) for library in ("LightGBM", "XGBoost", "CatBoost")] == [34, 29, 23]


@pytest.mark.parametrize("library, row", TABLES, ids=[f"{library}: {row[0]}" for library, row in TABLES])
def test_parameters_in_the_guide(library, row):
    there, here, note = row
    known = names_and_aliases()
    for name in code(there):
        if here == "None":
            with pytest.raises(TypeError, match=f"unknown parameter '{name}'"):
                Ranker(**{name: 1})
            continue
        if here == "accepted":
            assert Ranker(**{name: 1}).get_params()[name] == 1
            continue
        ours = name if here == "the same" else code(here)[0]
        assert len(code(here)) <= 1
        if ours == "importance_type":
            assert name == ours and Ranker(importance_type="split").importance_type == "split"
            continue
        assert ours in known and (name == ours or name in known[ours])
        assert Ranker(**{name: 1}).get_params()[name] == 1
    # Parameters in notes exist, with these values.
    for given in code(note):
        if found := re.fullmatch(r'(\w+)=(?:"([\w-]+)"|(\d+)|(True))', given):
            name, text, number, _ = found.groups()
            assert name in known
            options = re.search(rf"\n    {name} : (.*), default", PARAMETERS.__doc__).group(1)
            assert text is None or text in re.split(r"[|,]", options)


def defaults_in(note):
    """What a note says about defaults here: `X here` or `default X`."""
    for pattern in (r"([\w.`]+) here", r"default `?([\w@.]+)`?"):
        if found := re.search(pattern, note):
            return found.group(1).strip("`")
    return None


def test_defaults_in_the_guide(lightgbm):
    ours = Ranker().get_params()
    checked = 0
    for library, (there, here, note) in TABLES:
        if here in ("None", "accepted"):
            continue
        said = defaults_in(note)
        for name in code(there):
            own = name if here == "the same" else code(here)[0]
            if said is not None and own in ours and said not in ("limit", "gain"):
                assert str(ours[own]) == said, (library, own, note)
                checked += 1
            elif library == "LightGBM" and not note and name in lightgbm.LGBMRanker().get_params():
                # A row without a note claims that the defaults are equal.
                theirs = lightgbm.LGBMRanker().get_params()[name]
                assert ours[own] == theirs, (name, theirs)
                checked += 1
    assert checked > 25


def test_objectives_in_the_guide(train):
    rows = list(rows_of_table("The names of objectives"))
    assert len(rows) == 8
    for there, here in rows:
        for name in code(there):
            ranker = fit(train, Ranker(objective=name, num_trees=1))
            assert ranker.objective_ == code(here)[0]
    refused = ("rank:map", "YetiRank:mode=NDCG", "YetiRankPairwise", "PairLogitPairwise")
    for name in refused:
        assert f"`{name}`" in GUIDE.read_text()
        with pytest.raises(ValueError, match="invalid value"):
            fit(train, Ranker(objective=name))
    for instead in (
        dict(objective="lambdamart", target="map"),
        dict(objective="yetirank", yetirank_mode="metric", target="ndcg"),
        dict(sample="goss"),
        dict(sample="mvs", bagging_fraction=0.5),
        dict(sample="bagging", bagging_fraction=0.5),
        dict(gain="linear"),
        dict(lambda_form="xgboost"),
        dict(boosting_type="rf", feature_fraction=0.5),
        dict(booster="gbtree"),
        dict(booster="dart"),
        dict(grow_policy="depthwise"),
        dict(grow_policy="SymmetricTree"),
        dict(monotone_constraints=[1, 0, 0, 0, 0, 0]),
    ):
        assert fit(train, Ranker(num_trees=2, **instead)).model_.n_trees == 2
    with pytest.raises(ValueError, match="bagging_freq"):
        fit(train, Ranker(subsample=0.5))
    with pytest.raises(ValueError, match="at most 31"):
        Ranker().fit(train.X, train.y * 11, qid=train.qid)
    assert Ranker(num_trees=1).fit(train.X, train.y + 0.5, qid=train.qid).model_.n_trees == 1


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_settings_like_those_of_other_libraries(train, valid, library):
    names = {"rankwise": rankwise}
    block = re.search(rf"```python\n(like_{library} = .*?)```", GUIDE.read_text(), re.DOTALL).group(1)
    exec(block, names)
    ranker = fit(train, names[f"like_{library}"].set_params(num_trees=20))
    assert ranker.predict(train.X, pred_leaf=True).max() < 64
    assert ranker.score(valid.X, valid.y, qid=valid.qid) > 0.8


def test_methods_and_arguments_in_the_guide():
    for _, here in rows_of_table("then check the defaults"):
        for given in code(here):
            name = re.match(r"(?:rankwise\.)?(\w+)", given).group(1)
            arguments = {**inspect.signature(Ranker.fit).parameters, **Ranker().get_params()}
            assert hasattr(Ranker, name) or hasattr(rankwise, name) or name in arguments or name == "model_", given


def test_defaults_of_catboost_in_the_guide(train):
    catboost = pytest.importorskip("catboost")
    settings = dict(iterations=2, verbose=False, allow_writing_files=False, thread_count=1)
    theirs = {
        loss: catboost.CatBoostRanker(loss_function=loss, **settings)
        .fit(catboost.Pool(train.X, train.y, group_id=train.qid))
        .get_all_params()
        for loss in ("QueryRMSE", "YetiRank")
    }
    checked = set()
    for there, _, note in rows_of_table("Parameters of CatBoost\n"):
        name, found = code(there)[0], re.search(r"`?([\w.]+)`? there", note)
        if found and name in theirs["QueryRMSE"] and name != "iterations":
            value = theirs["QueryRMSE"][name]
            said = found.group(1) if isinstance(value, str) else float(found.group(1))
            assert said == (value if isinstance(value, str) else pytest.approx(value)), name
            checked.add(name)
    assert checked >= {"learning_rate", "depth", "grow_policy", "l2_leaf_reg", "min_data_in_leaf", "subsample", "bootstrap_type"}
    assert theirs["YetiRank"]["l2_leaf_reg"] < 1e-9
