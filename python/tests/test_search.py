"""Cross-validation, tuning and auto."""

import pickle

import numpy as np
import pytest
import rankwise


def ranking(n_queries=60, n_docs=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 5)).astype(np.float32)
    y = np.floor(3 * np.clip(0.7 * X[:, 0] + 0.3 * X[:, 1] + 0.2 * rng.random(len(X)) - 0.1, 0, 0.999))
    return X, y, np.repeat(np.arange(n_queries), n_docs)


def data(**given):
    X, y, qid = ranking(**given)
    return rankwise.Dataset(X, label=y, qid=qid)


def test_cross_validation_scores_each_query_by_a_model_that_has_not_seen_it():
    X, y, qid = ranking()
    folds = qid % 3
    found = rankwise.cross_validate({"num_trees": 5, "min_data_in_leaf": 5}, rankwise.Dataset(X, label=y, qid=qid), folds=folds)
    for fold in range(3):
        rest = folds != fold
        ranker = rankwise.Ranker(num_trees=5, min_data_in_leaf=5).fit(X[rest], y[rest], qid=qid[rest])
        np.testing.assert_array_equal(found.scores["parameters"][~rest], ranker.predict(X[~rest]))
    assert [fold["queries"] for fold in found.folds["parameters"]] == [20, 20, 20]
    whole = rankwise.evaluate(rankwise.Dataset(X, label=y, qid=qid), found.scores["parameters"])
    assert found.means["parameters"]["ndcg@10"] == pytest.approx(whole["ndcg@10"])
    assert len(found.curves["parameters"]) == 5


def test_systems_are_compared_on_the_same_folds_for_any_number_of_threads():
    systems = {"many": {"num_trees": 30}, "one": {"num_trees": 1, "num_leaves": 2}}
    found = [rankwise.cross_validate(systems, data(), folds=4, seed=3, n_jobs=jobs) for jobs in (1, 2)]
    for name in systems:
        np.testing.assert_array_equal(found[0].scores[name], found[1].scores[name])
    pair = found[0].comparison.pairs[0]
    assert (pair["a"], pair["b"]) == ("many", "one") and pair["difference"] > 0
    assert "many" in repr(found[0]) and "<table>" in found[0]._repr_html_()
    assert list(found[0].to_pandas().columns) == ["system", "fold", "queries", "trees", "ndcg@10"]


def test_folds_that_split_a_query_are_refused():
    given = data()
    with pytest.raises(ValueError, match="query '0' is in several folds"):
        rankwise.cross_validate(None, given, folds=np.arange(given.n_rows) % 3)
    with pytest.raises(ValueError, match="720 documents"):
        rankwise.cross_validate(None, given, folds=[0, 1])
    with pytest.raises(TypeError, match="folds: expected a number"):
        rankwise.cross_validate(None, given, folds=np.full(given.n_rows, 0.5))
    with pytest.raises(ValueError, match="folds=1"):
        rankwise.cross_validate(None, given, folds=np.int64(1))
    with pytest.raises(ValueError, match="4 folds"):
        rankwise.cross_validate(None, data(n_queries=3), folds=4)
    with pytest.raises(ValueError, match="num_leaves"):
        rankwise.cross_validate({"num_leafs": 3}, given)
    with pytest.raises(TypeError, match="rankwise.Dataset"):
        rankwise.cross_validate(None, np.zeros((3, 2)))


def test_auto_is_the_same_for_any_number_of_threads_and_one_tree_ensemble(tmp_path):
    reports = []
    found = [rankwise.auto(data(), steps=5, n_jobs=jobs, callback=reports.append) for jobs in (1, 2)]
    assert found[0].model == found[1].model
    assert sorted(report["number"] for report in reports) == sorted(2 * list(range(5)))
    assert [row["name"] for row in found[0].estimates][0] == "random order"
    assert found[0].estimates[-1]["mean"] > found[0].estimates[0]["mean"]
    assert len(found[0].to_pandas()) == 5 and "random order" in repr(found[0])
    found[0].model.export(tmp_path / "model.txt", "lightgbm")
    assert (tmp_path / "model.txt").stat().st_size > 0


def test_auto_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="steps=0"):
        rankwise.auto(data(), steps=0)
    with pytest.raises(ValueError, match="time=-1"):
        rankwise.auto(data(), time=-1.0)
    with pytest.raises(ValueError, match="time or steps"):
        rankwise.auto(data(), time=1.0, steps=2)
    pd = pytest.importorskip("pandas")
    X, y, qid = ranking()
    frames = [pd.DataFrame(X, columns=list(columns)) for columns in ("abcde", "abcdf")]
    one, other = (rankwise.Dataset(frame, label=y, qid=qid) for frame in frames)
    with pytest.raises(ValueError, match="features of valid differ"):
        rankwise.auto(one, other, steps=1)
    with pytest.raises(ValueError, match="features of test differ"):
        rankwise.tune(one, test=other, trials=1)
    with pytest.warns(UserWarning, match="test: "):
        rankwise.tune(data(), test=rankwise.Dataset(X[:, :1], label=y, qid=qid), params={"num_trees": 20}, trials=1)
    with pytest.raises(ValueError, match="dart"):
        rankwise.auto(data(), params={"boosting": "dart"}, steps=1)
    with pytest.raises(ValueError, match="multiclass"):
        rankwise.auto(data(), params={"objective": "multiclass"}, steps=2)
    with pytest.raises(ZeroDivisionError):
        rankwise.auto(data(), steps=3, callback=lambda report: 1 / 0)


def test_auto_ranker_is_an_estimator():
    base = pytest.importorskip("sklearn.base")
    X, y, qid = ranking()
    ranker = rankwise.AutoRanker(steps=3, metric="ndcg@5", refit=True, n_jobs=1)
    assert base.clone(ranker).get_params() == ranker.get_params()
    assert ranker.set_params(steps=2, random_state=4).steps == 2
    ranker.fit(X, y, qid=qid)
    assert len(ranker.auto_.tried) == 2 and ranker.n_features_in_ == 5
    assert ranker.score(X, y, qid=qid) > 0.8
    copied = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copied.predict(X), ranker.predict(X))
    same = rankwise.auto(
        rankwise.Dataset(X, label=y, qid=qid),
        params={"metric": "ndcg@5", "seed": 4},
        steps=2,
        refit=rankwise.Dataset(X, label=y, qid=qid),
    )
    assert ranker.model_ == same.model
    with pytest.raises(ValueError, match="eval_set"):
        ranker.fit(X, y, qid=qid, eval_set=(X, y), eval_qid=[qid])
    ranker.set_params(refit=False).fit(X, y, qid=qid, eval_set=(X, y), eval_qid=[qid])
    assert ranker.auto_.estimates


SPACE = {
    "objective": ["lambdamart", "xendcg"],
    "learning_rate": {"log": (0.01, 0.5)},
    "sigmoid": {"uniform": (0.5, 2), "when": {"objective": "lambdamart"}},
}


def test_tuning_is_the_same_for_any_number_of_threads():
    found = [rankwise.tune(data(), params={"num_trees": 10}, space=SPACE, trials=8, parallel=2, n_jobs=jobs) for jobs in (1, 2)]
    assert found[0].trials == found[1].trials and found[0].model == found[1].model
    values = [trial["value"] for trial in found[0].trials]
    assert values[found[0].best_trial] == max(values)
    assert ("sigmoid" in found[0].best_params) == (found[0].best_params["objective"] == "lambdamart")
    assert not found[0].tested_on_test_data and len(found[0].comparison.pairs) == 1
    assert {"learning_rate", "value"} <= set(found[0].to_pandas().columns)
    again = rankwise.tune(data(), test=data(seed=1), params={"num_trees": 10}, space=SPACE, trials=2, search="random")
    assert again.tested_on_test_data and "trial" in repr(again)


def test_spaces_that_cannot_be_searched_are_refused():
    def refused(space, **more):
        with pytest.raises(ValueError) as error:
            rankwise.tune(data(), space=space, trials=2, **more)
        return str(error.value)

    assert "did you mean 'num_leaves'" in refused({"num_leafs": [3, 7]})
    assert "space['learning_rate']: expected a list of values" in refused({"learning_rate": 0.1})
    assert "space['learning_rate']: expected a list of values" in refused({"learning_rate": {"log": "abc"}})
    assert "learning_rate" in refused({"learning_rate": {"log": (0.5, 0.1)}})
    assert "learning_rate" in refused(SPACE, params={"learning_rate": 0.3})
    assert "search='grid'" in refused(SPACE, search="grid")
