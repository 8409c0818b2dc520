"""Custom metrics, schedules of learning rates, and the progress bar."""

import io

import numpy as np
import pytest

import rankwise
from rankwise import Dataset


@pytest.fixture
def sets(train, valid):
    return Dataset(train.X, train.y, qid=train.qid), Dataset(valid.X, valid.y, qid=valid.qid)


def run(sets, params=None, **more):
    data, valid = sets
    return rankwise.train({"num_trees": 12, **(params or {})}, data, valid_sets=[valid], **more)


def test_a_custom_metric_sees_rows_in_input_order(sets, valid):
    seen = []

    def metric(label, score, query):
        assert np.array_equal(label, valid.y)
        assert (np.unique(query, return_counts=True)[1] == 25).all()
        seen.append(score)
        return rankwise.metrics.ndcg(label, score, qid=query, k=10)

    model = run(sets, {"metric": "ndcg@10"}, feval=metric)
    curves = model.info["evals_result"]["valid_0"]
    assert list(curves) == ["ndcg@10", "metric"]
    assert curves["metric"] == pytest.approx(curves["ndcg@10"], abs=1e-12)
    # The model ends with its best round.
    assert np.allclose(seen[model.n_trees - 1], model.predict(valid.X))


def test_custom_metrics_decide_when_to_stop(sets):
    def spread(label, score):
        return "spread", float((score**2).sum()), False

    stopped = run(sets, {"early_stopping_rounds": 3}, feval=spread)
    assert list(stopped.info["evals_result"]["valid_0"]) == ["spread", "ndcg@10"]
    assert (stopped.info["trees_grown"], stopped.n_trees) == (4, 1)
    assert run(sets, {"early_stopping_rounds": 3}, feval=lambda label, score: (score**2).sum()).n_trees == 12
    later = run(sets, {"early_stopping_rounds": 3, "metric": "ndcg@10"}, feval=[spread])
    assert later == run(sets, {"early_stopping_rounds": 3, "metric": "ndcg@10"})


def test_metrics_of_lightgbm(sets):
    def metric(y_true, y_pred, weight, group):
        assert weight is None
        assert group.tolist() == [25] * 20
        return "mine", 1.0, True

    assert run(sets, feval=metric).info["evals_result"]["valid_0"]["mine"] == [1.0] * 12


def test_exceptions_of_metrics_pass_unchanged(sets):
    class OwnError(Exception):
        pass

    def failing(label, score):
        raise OwnError("here")

    with pytest.raises(OwnError, match="here"):
        run(sets, feval=failing)
    with pytest.raises(TypeError, match="must return a number"):
        run(sets, feval=lambda label, score: (1.0, 2.0))
    with pytest.raises(TypeError, match="a metric takes"):
        run(sets, feval=lambda label: 1.0)


def test_learning_rates(sets):
    plain = run(sets, {"learning_rate": 0.3})
    assert run(sets, callbacks=[rankwise.reset_parameter(learning_rate=lambda round: 0.3)]).predict(
        sets[0]
    ) == pytest.approx(plain.predict(sets[0]), abs=0)
    rates = [0.3 * 0.9**round for round in range(12)]
    by_list = run(sets, callbacks=[rankwise.reset_parameter(learning_rate=rates)])
    by_function = run(sets, callbacks=[rankwise.reset_parameter(learning_rate=lambda round: 0.3 * 0.9**round)])
    assert by_list == by_function
    assert not np.array_equal(by_list.predict(sets[0]), plain.predict(sets[0]))
    for bad in ([], [0.1, -1.0], lambda round: 0.0):
        with pytest.raises(ValueError, match="learning_rate"):
            run(sets, callbacks=[rankwise.reset_parameter(learning_rate=bad)])
    with pytest.raises(ZeroDivisionError):
        run(sets, callbacks=[rankwise.reset_parameter(learning_rate=lambda round: 1 / round)])


def test_the_progress_bar(sets, capsys):
    out = io.StringIO()
    model = run(sets, callbacks=[rankwise.progress_bar(out, min_interval=0)])
    lines = out.getvalue().split("\r")
    assert len(lines) == 13 and lines[-1].startswith("100%|####################| 12/12 [00:0")
    last = model.info["evals_result"]["valid_0"]["ndcg@10"][-1]
    assert f"valid_0 ndcg@10 {last:.4f}]" in lines[-1] and lines[-1].endswith("\n")
    # It ends its line also if training ends early, and starts again with the next run.
    bar = rankwise.progress_bar(min_interval=0)
    run(sets, callbacks=[bar, lambda state: state.iteration == 3])
    run(sets, callbacks=[bar])
    shown = capsys.readouterr().err
    assert shown.count("\n") == 2 and " 3/12 [" in shown and " 12/12 [" in shown


def test_the_state_of_a_round(sets):
    states = []
    run(sets, callbacks=[states.append])
    assert [state.iteration for state in states] == list(range(1, 13))
    assert states[0].num_iterations == 12
    curve = [state.evaluation_result_list[0][2] for state in states]
    assert states[-1].best_iteration == int(np.argmax(curve)) + 1
