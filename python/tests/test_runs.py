"""Runs and judgements as dictionaries."""

import numpy as np
import pytest
import pytrec_eval

import rankwise


@pytest.fixture
def judged():
    """Judgements and two runs with ties, unjudged and missed documents, and a query without relevant ones."""
    rng = np.random.default_rng(4)
    qrels, good, poor = {}, {}, {}
    for query in range(30):
        docs = [f"d{doc}" for doc in range(20)]
        grades = rng.integers(0, 3, 20) if query else np.zeros(20, dtype=int)
        qrels[f"q{query}"] = {doc: int(grade) for doc, grade in zip(docs, grades) if rng.random() < 0.8}
        returned = rng.choice(docs, 15, replace=False)
        good[f"q{query}"] = {doc: float(grades[int(doc[1:])] + rng.normal()) for doc in returned}
        poor[f"q{query}"] = {doc: float(rng.integers(0, 4)) for doc in returned}
    return qrels, good, poor


def test_values_are_those_of_trec_eval(judged):
    qrels, *runs = judged
    names = {"ndcg": "ndcg", "map": "map", "recip_rank": "mrr", "P_5": "p@5", "ndcg_cut_5": "ndcg@5", "bpref": "bpref"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names))
    for run in runs:
        expected = evaluator.evaluate(run)
        found = rankwise.evaluate(qrels, run, list(names.values()), convention="trec_eval").to_dict()
        for qid, values in expected.items():
            for theirs, ours in names.items():
                assert found[qid][ours] == pytest.approx(values[theirs], abs=1e-6), (qid, ours)


def test_objects_that_become_dictionaries(judged):
    class Table:
        """As `Qrels` and `Run` of ranx."""

        def __init__(self, values):
            self.values = values

        def to_dict(self):
            return self.values

    qrels, good, _ = judged
    found = rankwise.evaluate(Table(qrels), Table(good), "mrr,p@5")
    assert found.to_dict() == rankwise.evaluate(qrels, good, "mrr,p@5").to_dict()


def test_runs_are_compared(judged):
    qrels, good, poor = judged
    comparison = rankwise.compare(qrels, {"good": good, "poor": poor}, "ndcg@10,map")
    pair = comparison.pairs[0]
    assert (pair["metric"], pair["a"], pair["b"]) == ("ndcg@10", "good", "poor")
    assert pair["difference"] > 0 and pair["p_value"] < 0.05
    means = [rankwise.evaluate(qrels, run, "ndcg@10")["ndcg@10"] for run in (good, poor)]
    assert [pair["mean_a"], pair["mean_b"]] == means


def test_queries_may_be_numbers_and_runs_may_lack_some():
    qrels = {1: {10: 1, 11: 0}, 2: {12: 1}}
    with pytest.warns(UserWarning, match="1 of the judged queries have no results in the run and count as empty lists"):
        found = rankwise.evaluate(qrels, {1: {10: 0.1, 11: 0.2}}, "mrr")
    assert found.to_dict() == {"1": {"mrr": 0.5}, "2": {"mrr": 0.0}}
    with pytest.warns(UserWarning, match="and are ignored"):
        found = rankwise.evaluate(qrels, {1: {10: 0.1, 11: 0.2}}, "mrr", missing_queries="skip")
    assert found.to_dict() == {"1": {"mrr": 0.5}}
    assert found.to_pandas()["mrr"].isna().tolist() == [False, True]


def test_runs_that_do_not_match_are_warned_of():
    qrels = {"q": {"a": 1, "b": 0}}
    with pytest.warns(UserWarning, match="1 of the queries in the run have no judgements and are ignored"):
        rankwise.evaluate(qrels, {"q": {"a": 1.0}, "other": {"a": 1.0}}, "mrr")
    with pytest.warns(UserWarning, match="none of the documents in the run are judged; check the document ids"):
        rankwise.evaluate(qrels, {"q": {"x": 1.0}}, "mrr")
    with pytest.warns(UserWarning, match="poor: none of the documents"):
        rankwise.compare(qrels, {"good": {"q": {"a": 1.0}}, "poor": {"q": {"x": 1.0}}}, "mrr")


@pytest.mark.parametrize(
    ("qrels", "run", "error", "problem"),
    [
        ({"q": {"d": 0.5}}, {"q": {"d": 1.0}}, ValueError, r"qrels\['q'\]\['d'\]: the grade 0.5; expected an integer"),
        ({"q": {"d": "x"}}, {"q": {"d": 1.0}}, TypeError, r"qrels\['q'\]\['d'\]"),
        ({"q": {"d": 1}}, {"q": {"d": float("nan")}}, ValueError, r"run\['q'\]\['d'\]: the score NaN"),
        ({"q": {"d": 1}}, {"q": ["d"]}, TypeError, r"run\['q'\]: expected a dictionary"),
        ({"q": {"d": 1}}, {"other": {"d": 1.0}}, ValueError, "not judged"),
        ({"q": {"d": 1}}, [1.0], TypeError, "must be a dictionary"),
        ({1: {"d": 1}, "1": {"d": 1}}, {"1": {"d": 1.0}}, ValueError, "d"),
        ([1, 2], {"1": {"d": 1.0}}, TypeError, "expected a rankwise.Dataset or a dictionary"),
    ],
)
def test_bad_dictionaries(qrels, run, error, problem):
    with pytest.raises(error, match=problem):
        rankwise.evaluate(qrels, run, "mrr")
