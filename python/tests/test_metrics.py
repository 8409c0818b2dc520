"""Metrics and comparisons."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import rankwise
from rankwise import metrics


def test_ndcg_is_that_of_scikit_learn(valid):
    scores = valid.X[:, 0].astype(np.float64)
    shape = (20, 25)
    expected = ndcg_score(valid.y.reshape(shape), scores.reshape(shape), k=10)
    assert metrics.ndcg(valid.y, scores, qid=valid.qid, k=10, gain="linear") == pytest.approx(expected, abs=1e-12)
    assert metrics.ndcg(valid.y, scores, group=valid.group, k=10, convention="sklearn") == pytest.approx(expected)


def test_every_function_is_the_metric_of_its_name(valid):
    data = rankwise.Dataset(valid.X, valid.y, qid=valid.qid)
    scores = valid.X[:, 1]
    found = rankwise.evaluate(data, scores, ["ndcg@5", "dcg@5", "map", "mrr", "err", "p@3", "recall@3"])
    given = dict(qid=valid.qid)
    assert found["ndcg@5"] == metrics.ndcg(valid.y, scores, k=5, **given)
    assert found["dcg@5"] == metrics.dcg(valid.y, scores, k=5, **given)
    assert found["map"] == metrics.average_precision(valid.y, scores, **given)
    assert found["mrr"] == metrics.mrr(valid.y, scores, **given)
    assert found["err"] == metrics.err(valid.y, scores, **given)
    assert found["p@3"] == metrics.precision(valid.y, scores, k=3, **given)
    assert found["recall@3"] == metrics.recall(valid.y, scores, k=3, **given)
    assert len(found) == 7 and list(found) == list(found.keys())
    assert found.per_query["map"].mean() == pytest.approx(found["map"])
    frame = found.to_pandas()
    assert frame.shape == (20, 7) and frame.index[0] == "1"
    assert "<td>map</td>" in found._repr_html_()
    assert repr(found).startswith("ndcg@5 0.")


def test_rules(valid):
    data = rankwise.Dataset(valid.X, valid.y, qid=valid.qid)
    tied = np.zeros(valid.n_rows)
    worst, best = (rankwise.evaluate(data, tied, "ndcg", ties=ties)["ndcg"] for ties in ("worst", "best"))
    assert worst < best == 1.0
    with pytest.raises(TypeError, match="unknown rule 'tie'; did you mean 'ties'"):
        rankwise.evaluate(data, tied, tie="worst")
    with pytest.raises(ValueError, match="'ties'"):
        rankwise.evaluate(data, tied, ties="wurst")
    with pytest.raises(ValueError, match="3 scores for 500 documents"):
        rankwise.evaluate(data, tied[:3])
    with pytest.raises(ValueError, match="did you mean 'ndcg@10'"):
        rankwise.evaluate(data, tied, "ndgc@10")


def test_comparison(valid):
    data = rankwise.Dataset(valid.X, valid.y, qid=valid.qid)
    systems = {"good": valid.X[:, 0] + 0.5 * valid.X[:, 1], "poor": valid.X[:, 5]}
    compared = rankwise.compare(data, systems, "ndcg@10,map")
    (pair, other) = compared.pairs
    assert (pair["a"], pair["b"], pair["metric"], other["metric"]) == ("good", "poor", "ndcg@10", "map")
    assert pair["difference"] > 0 and pair["p_value"] < 0.01 and pair["wins"] + pair["ties"] + pair["losses"] == 20
    assert pair["interval"][0] < pair["difference"] < pair["interval"][1]
    assert repr(compared).startswith("ndcg@10: good 0.")
    assert compared.to_pandas().shape[0] == 2 and "<th>p_corrected</th>" in compared._repr_html_()
    with pytest.raises(ValueError):
        rankwise.compare(data, {"alone": systems["good"]})


def test_models_are_measured_and_compared(train, valid):
    data = rankwise.Dataset(valid.X, valid.y, qid=valid.qid)
    ranker = rankwise.Ranker(num_trees=5).fit(train.X, train.y, qid=train.qid)
    scores = ranker.predict(valid.X)
    for system in (ranker, ranker.model_, scores):
        assert rankwise.evaluate(data, system)["ndcg@10"] == rankwise.evaluate(data, scores)["ndcg@10"]
    systems = {"model": ranker, "feature": valid.X[:, 0], "noise": valid.X[:, 5]}
    found = rankwise.compare(data, systems, baseline="noise", alpha=0.1)
    assert [(pair["a"], pair["b"]) for pair in found.pairs] == [("model", "noise"), ("feature", "noise")]
    assert {system["system"] for system in found.systems} == set(systems)
    low, high = found.systems[0]["interval"]
    assert low < found.systems[0]["mean"] < high
    wider = rankwise.compare(data, systems, baseline="noise", alpha=0.01)
    assert wider.systems[0]["interval"][0] < low and wider.alpha == 0.01
    assert " to " in found._repr_html_() and "p < 0.0001" in repr(found)
    one = rankwise.compare(data, systems, one_sided=True, test="t").pairs[0]["p_value"]
    two = rankwise.compare(data, systems, test="t").pairs[0]["p_value"]
    assert one == pytest.approx(two / 2)
    for bad in (dict(test="chi"), dict(alpha=0), dict(baseline="x"), dict(test="t", permutations=5)):
        with pytest.raises(ValueError):
            rankwise.compare(data, systems, **bad)
