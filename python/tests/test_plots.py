"""Plots: what is drawn, read back from the Axes."""

import sys

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise import Dataset, Ranker, plot_comparison, plot_importance, plot_learning_curve, plot_query

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def ranker(train, valid):
    return Ranker(num_trees=20, num_leaves=31).fit(
        pd.DataFrame(train.X, columns=list("abcdef")),
        train.y,
        qid=train.qid,
        eval_set=[(valid.X, valid.y), (train.X, train.y)],
        eval_qid=[valid.qid, train.qid],
        eval_names=["valid", "train"],
        eval_metric=["ndcg@5", "map"],
    )


@pytest.fixture
def data(valid):
    return Dataset(valid.X, valid.y, qid=valid.qid)


def lines(ax):
    """The curves by label, without the marks."""
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def marks(ax):
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "o"]


def test_learning_curves(ranker):
    ax = plot_learning_curve(ranker)
    curve = ranker.evals_result_["valid"]["ndcg@5"]
    found = lines(ax)
    assert list(found) == ["valid", "train"] == [text.get_text() for text in ax.get_legend().get_texts()]
    assert found["valid"].get_ydata().tolist() == curve and found["valid"].get_xdata().tolist() == list(range(1, 21))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("round", "ndcg@5", "")
    assert marks(ax)[0] == (ranker.best_iteration_, max(curve)) and len(marks(ax)) == 2
    # Told apart without colour, too.
    assert found["valid"].get_linestyle() != found["train"].get_linestyle()


def test_learning_curves_of_models_and_records(ranker):
    of_model, recorded = plot_learning_curve(ranker.model_, "map"), plot_learning_curve(ranker.evals_result_, metric="map")
    for ax in (of_model, recorded):
        assert ax.get_ylabel() == "map"
        assert lines(ax)["train"].get_ydata().tolist() == ranker.evals_result_["train"]["map"]
    assert marks(of_model) and not marks(recorded)
    with pytest.raises(ValueError, match="'ndcg@7' was not measured; expected 'ndcg@5', 'map'"):
        plot_learning_curve(ranker, "ndcg@7")
    ranker.evals_result_.clear()
    with pytest.raises(ValueError, match="train with validation sets"):
        plot_learning_curve(ranker.model_)


def test_learning_curve_that_continues_a_model(train, valid):
    first = Ranker(num_trees=2).fit(train.X, train.y, qid=train.qid)
    more = Ranker(num_trees=5).fit(
        train.X, train.y, qid=train.qid, init_model=first, eval_set=(valid.X, valid.y), eval_qid=[valid.qid]
    )
    ax = plot_learning_curve(more)
    curve = more.evals_result_["valid_0"]["ndcg@10"]
    assert lines(ax)["valid_0"].get_xdata().tolist() == [0, 1, 2, 3, 4, 5]
    assert marks(ax) == [(np.argmax(curve), max(curve))]
    assert ax.get_legend() is None


def bars(ax):
    return list(ax.patches)


def test_importances(ranker):
    for importance_type, label in (("gain", "sum of gains"), ("split", "number of splits")):
        found = sorted(ranker.model_.feature_importance(importance_type).items(), key=lambda item: -item[1])
        ax = plot_importance(ranker, importance_type)
        assert [bar.get_width() for bar in bars(ax)] == [value for _, value in found]
        assert [text.get_text() for text in ax.get_yticklabels()] == [name for name, _ in found]
        assert (ax.get_xlabel(), ax.get_ylabel()) == (label, "")
        # The most important feature is at the top.
        assert ax.get_ylim()[0] > ax.get_ylim()[1]
    ax = plot_importance(ranker.model_, max_features=2)
    assert len(bars(ax)) == 2 and ax.get_ylabel() == "first 2 of 6 features"
    with pytest.raises(ValueError, match="'cover'"):
        plot_importance(ranker, "cover")
    with pytest.raises(ValueError, match="max_features=0"):
        plot_importance(ranker, max_features=0)


def test_importances_without_names(train):
    ranker = Ranker(num_trees=5).fit(train.X, train.y, qid=train.qid)
    assert plot_importance(ranker).get_yticklabels()[0].get_text() == "feature 0"


def test_documents_of_a_query(ranker, data, valid):
    ax = plot_query(data, ranker, 3)
    rows = np.flatnonzero(valid.qid == 3)
    scores = ranker.predict(valid.X)[rows]
    order = np.argsort(-scores)
    drawn = bars(ax)
    ends = [bar.get_x() + bar.get_width() for bar in drawn]
    assert ends == pytest.approx(scores[order]) and all(bar.get_width() > 0 for bar in drawn)
    assert [bar.get_y() + bar.get_height() / 2 for bar in drawn] == pytest.approx(range(1, 26))
    keys = {text.get_text(): key for text, key in zip(ax.get_legend().get_texts(), ax.get_legend().get_patches())}
    for bar, label in zip(drawn, valid.y[rows][order]):
        assert to_hex(bar.get_facecolor()) == to_hex(keys[f"{label:g}"].get_facecolor())
    assert len({to_hex(key.get_facecolor()) for key in keys.values()}) == len(keys) == 4
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "rank")
    assert ax.get_ylim()[0] > ax.get_ylim()[1] and ax.get_yticks().tolist() == [1, 5, 10, 15, 20, 25]


def test_darker_documents_are_more_relevant(data):
    ax = plot_query(data, np.zeros(data.n_rows), "3")
    brightness = [sum(patch.get_facecolor()[:3]) for patch in ax.get_legend().get_patches()]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["3", "2", "1", "0"]
    assert brightness == sorted(brightness)
    # Ties are in the worst order: the most relevant document is the last one.
    assert to_hex(bars(ax)[-1].get_facecolor()) == to_hex(ax.get_legend().get_patches()[0].get_facecolor())


def test_queries_of_several_systems(ranker, data, valid):
    systems = {"model": ranker.model_, "ranker": ranker, "feature": valid.X[:, 0]}
    ax = plot_query(data, systems, 3)
    assert [text.get_text() for text in ax.get_xticklabels()] == list(systems)
    columns = np.array([bar.get_x() for bar in bars(ax)]).reshape(3, 25)
    assert columns.tolist() == [[0.0] * 25, [1.0] * 25, [2.0] * 25]
    widths = np.array([bar.get_width() for bar in bars(ax)]).reshape(3, 25)
    assert widths.max() < 1 and (np.diff(widths) <= 0).all()
    colours = [[to_hex(bar.get_facecolor()) for bar in bars(ax)[place : place + 25]] for place in (0, 25, 50)]
    assert colours[0] == colours[1] != colours[2] and sorted(colours[0]) == sorted(colours[2])


def test_many_labels_have_a_short_key(valid):
    y = np.random.default_rng(0).random(valid.n_rows)
    ax = plot_query(Dataset(valid.X, y, qid=valid.qid), valid.X[:, 0], 1)
    assert len(ax.get_legend().get_texts()) == 6


def test_queries_that_cannot_be_plotted(data):
    with pytest.raises(ValueError, match="no query '99' in the data"):
        plot_query(data, np.zeros(data.n_rows), 99)
    with pytest.raises(ValueError, match="there are 3 scores for 500 documents"):
        plot_query(data, [1, 2, 3], 1)
    with pytest.raises(ValueError, match="no systems"):
        plot_query(data, {}, 1)


@pytest.mark.parametrize("n_docs", [1, 2, 7, 8, 9, 25, 100, 1000])
def test_ticks_of_ranks(n_docs):
    ax = plot_query(Dataset(np.zeros((n_docs, 1)), np.zeros(n_docs), group=[n_docs]), np.zeros(n_docs), 1)
    ticks = ax.get_yticks().tolist()
    assert ticks[0] == 1 and ticks[-1] <= n_docs and len(ticks) <= 9


def test_comparisons(ranker, data, valid):
    systems = {"model": ranker.predict(valid.X), "double": 2 * ranker.predict(valid.X), "c": valid.X[:, 1]}
    found = rankwise.compare(data, systems)
    ax = plot_comparison(found)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["model − double", "model − c", "double − c"]
    assert [x for x, _ in marks(ax)] == [pair["difference"] for pair in found.pairs]
    intervals = [tuple(line.get_xdata()) for line in ax.lines if line.get_marker() == "None" and len(set(line.get_ydata())) == 1]
    assert intervals == [pair["interval"] for pair in found.pairs]
    filled = [to_hex(line.get_markerfacecolor()) != "#ffffff" for line in ax.lines if line.get_marker() == "o"]
    assert filled == [pair["p_corrected"] < 0.05 for pair in found.pairs] == [False, True, True]
    assert any(list(line.get_xdata()) == [0, 0] for line in ax.lines)
    assert ax.get_xlabel() == "difference of ndcg@10, with 95 % interval"
    assert len(ax.texts) == 3 and all(text.get_text().startswith("p ") for text in ax.texts)


def test_comparisons_by_several_metrics(data, valid):
    found = rankwise.compare(data, {"a": valid.X[:, 0], "b": valid.X[:, 1]}, "ndcg@10,map")
    ax = plot_comparison(found)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["ndcg@10: a − b", "map: a − b"]
    assert ax.get_xlabel() == "difference, with 95 % interval"
    colours = [to_hex(line.get_color()) for line in ax.lines if line.get_marker() == "o"]
    assert colours[0] != colours[1]


def test_axes_that_are_given_are_used(ranker, data, valid):
    found = rankwise.compare(data, {"a": valid.X[:, 0], "b": valid.X[:, 1]})
    for draw in (
        lambda ax: plot_learning_curve(ranker, ax=ax),
        lambda ax: plot_importance(ranker, ax=ax),
        lambda ax: plot_query(data, ranker, 3, ax=ax),
        lambda ax: plot_comparison(found, ax=ax),
    ):
        figure, ax = plt.subplots()
        before = plt.get_fignums()
        assert draw(ax) is ax and ax.figure is figure and plt.get_fignums() == before
        figure.canvas.draw()
        alone = draw(None)
        assert alone is not ax
        alone.figure.canvas.draw()


def test_without_matplotlib(monkeypatch, ranker):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot_importance(ranker)
