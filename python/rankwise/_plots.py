"""Plots of training, models, rankings and comparisons. They need matplotlib, which is imported when a plot is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._data import Dataset
from ._model import Model
from ._ranker import Ranker
from ._results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which people with colour blindness can tell apart; lines also differ in style.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":")
GREY = "#666666"
MAX_KEYS = 6


def plot_learning_curve(
    source: Model | Ranker | Mapping[str, Mapping[str, list[float]]],
    metric: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plots a metric on the validation sets after each round.

    A dot marks the round with which a model ends.

    Parameters
    ----------
    source : Model, Ranker or dict
        A model trained with validation sets, or what :func:`record_evaluation` recorded.
    metric : str, optional
        The metric to plot; the first one by default.
    ax : matplotlib Axes, optional
        Where to plot; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankwise
    >>> curves = {"train": {"ndcg@10": [0.61, 0.68, 0.71]}, "valid": {"ndcg@10": [0.58, 0.62, 0.61]}}
    >>> ax = rankwise.plot_learning_curve(curves)
    >>> ax.get_ylabel()
    'ndcg@10'
    """
    model = source.booster_ if isinstance(source, Ranker) else source
    curves = model.info.get("evals_result", {}) if isinstance(model, Model) else model
    metrics = list(dict.fromkeys(name for of_set in curves.values() for name in of_set))
    if not metrics:
        raise ValueError("there are no curves to plot: train with validation sets (models read from files have none)")
    if metric is None:
        metric = metrics[0]
    elif metric not in metrics:
        raise ValueError(f"metric={metric!r} was not measured; expected {', '.join(map(repr, metrics))}")
    axes = _axes(ax, 6.0, 3.6)
    first = int(model.info.get("first_round", 1)) if isinstance(model, Model) else 1
    for place, (name, of_set) in enumerate((name, of_set) for name, of_set in curves.items() if metric in of_set):
        values = of_set[metric]
        colour = COLOURS[place % len(COLOURS)]
        rounds = np.arange(first, first + len(values))
        axes.plot(rounds, values, color=colour, linestyle=LINES[place % len(LINES)], linewidth=1.8, label=name)
        if isinstance(model, Model):
            start = int(model.info.get("start_trees", 0))
            last = (model.n_trees - start) // int(model._facts["n_outputs"]) - first
            if 0 <= last < len(values):
                axes.plot(rounds[last], values[last], "o", color=colour, markersize=6, markeredgecolor="white")
    axes.set_xlabel("round")
    axes.set_ylabel(metric)
    _whole_numbers(axes.xaxis)
    if len(curves) > 1:
        axes.legend(frameon=False)
    _tidy(axes, "both")
    return axes


def plot_importance(
    model: Model | Ranker,
    importance_type: str = "gain",
    max_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Plots the most important features.

    Parameters
    ----------
    model : Model or Ranker
        A trained model.
    importance_type : {"gain", "split"}
        The sum of the gains of a feature's splits, or their number.
    max_features : int
        How many features to show.
    ax : matplotlib Axes, optional
        Where to plot; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, rankwise
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> ranker = rankwise.Ranker(num_trees=5).fit(X, X[:, 1] > 0.5, group=[20] * 10)
    >>> ax = rankwise.plot_importance(ranker)
    >>> ax.get_yticklabels()[0].get_text()
    'feature 1'
    """
    if max_features < 1:
        raise ValueError(f"max_features={max_features}: expected at least 1")
    of = model.booster_ if isinstance(model, Ranker) else model
    found = sorted(of.feature_importance(importance_type).items(), key=lambda item: -item[1])
    if not found:
        raise ValueError("the model has no splits, so no feature is important")
    shown = found[:max_features]
    axes = _axes(ax, 6.0, 0.9 + 0.26 * len(shown))
    places = np.arange(len(shown))
    axes.barh(places, [value for _, value in shown], height=0.72, color=COLOURS[0])
    axes.set_yticks(places, [name if isinstance(name, str) else f"feature {name}" for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel("sum of gains" if importance_type == "gain" else "number of splits")
    if importance_type == "split":
        _whole_numbers(axes.xaxis)
    if len(shown) < len(found):
        axes.set_ylabel(f"first {len(shown)} of {len(found)} features")
    _tidy(axes, "x")
    return axes


def plot_query(data: Dataset, scores: Any, qid: int | str, ax: Axes | None = None) -> Axes:
    """Plots the documents of one query in the order of their scores, coloured by label.

    Dark bars at the top are relevant documents that are ranked well. As in the metrics, documents with tied scores
    are in the worst order.

    Parameters
    ----------
    data : Dataset
        Documents with labels and queries.
    scores : array, Model, Ranker, or dict of these
        A score for each document of `data`, or what computes them. A dict names systems, which are drawn side by side;
        the lengths of their bars are scaled, as scores of different systems cannot be compared.
    qid : int or str
        The query.
    ax : matplotlib Axes, optional
        Where to plot; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.Dataset([[0.0]] * 4, label=[0, 2, 1, 0], qid=["shoes"] * 4)
    >>> ax = rankwise.plot_query(data, {"old": [4, 3, 2, 1], "new": [1, 4, 3, 2]}, "shoes")
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['old', 'new']
    """
    names, query = data._raw.queries()
    if str(qid) not in names:
        raise ValueError(f"there is no query {str(qid)!r} in the data")
    rows = np.flatnonzero(query == names.index(str(qid)))
    labels = np.asarray(data.label, dtype=np.float64)[rows]
    is_several = isinstance(scores, Mapping)
    systems = {str(name): _scores_of(of, data)[rows] for name, of in (scores if is_several else {"": scores}).items()}
    if not systems:
        raise ValueError("there are no systems to plot")
    axes = _axes(ax, 1.5 + 1.7 * len(systems) if is_several else 5.0, min(9.0, max(2.6, 0.9 + 0.17 * len(rows))))
    grades, colours = _colours_of_labels(labels)
    for place, of_system in enumerate(systems.values()):
        order = np.lexsort((labels, -of_system))
        ranked = of_system[order]
        spread = float(ranked[0] - ranked[-1])
        if is_several:
            left, lengths = float(place), 0.08 + 0.77 * ((ranked - ranked[-1]) / spread if spread else np.ones(len(rows)))
        else:
            # A score has no zero: bars begin a little below the lowest one, so that every document has a bar.
            left = float(ranked[-1]) - 0.06 * (spread or 1.0)
            lengths = ranked - left
        axes.barh(
            np.arange(1, len(rows) + 1),
            lengths,
            left=left,
            height=0.84,
            color=[colours[int(np.searchsorted(grades, label))] for label in labels[order]],
        )
        if not is_several:
            axes.set_xlim(left=left)
    axes.set_ylim(len(rows) + 0.6, 0.4)
    axes.set_yticks(_rank_ticks(len(rows)))
    axes.set_ylabel("rank")
    if is_several:
        axes.set_xticks(np.arange(len(systems)) + 0.42, list(systems))
        axes.set_xlim(-0.08, len(systems) - 0.08)
        axes.tick_params(axis="x", length=0)
    else:
        axes.set_xlabel("score")
    _key_of_labels(axes, grades, colours)
    _tidy(axes, None)
    return axes


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Plots the differences between systems with their confidence intervals.

    A difference is significant, by the test of the comparison with its correction, if its dot is filled. The numbers
    on the right are the corrected p-values. Intervals are not corrected, so one may exclude 0 although the dot is empty.

    Parameters
    ----------
    comparison : Comparison
        What :func:`compare` returned.
    ax : matplotlib Axes, optional
        Where to plot; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.Dataset([[0.0]] * 4, label=[0, 1, 0, 1], group=[2, 2])
    >>> found = rankwise.compare(data, {"good": [1, 2, 1, 2], "poor": [2, 1, 1, 2]}, "mrr")
    >>> ax = rankwise.plot_comparison(found)
    >>> ax.get_yticklabels()[0].get_text()
    'good − poor'
    """
    pairs = comparison.pairs
    if not pairs:
        raise ValueError("the comparison has no pairs of systems")
    metrics = list(dict.fromkeys(pair["metric"] for pair in pairs))
    axes = _axes(ax, 6.2, 1.0 + 0.34 * (len(pairs) + 0.6 * (len(metrics) - 1)))
    places = [place + 0.6 * metrics.index(pair["metric"]) for place, pair in enumerate(pairs)]
    axes.axvline(0, color=GREY, linewidth=1, zorder=1)
    for place, pair in zip(places, pairs):
        colour = COLOURS[metrics.index(pair["metric"]) % len(COLOURS)]
        if pair["interval"] is not None:
            low, high = pair["interval"]
            axes.plot([low, high], [place, place], color=colour, linewidth=1.8, solid_capstyle="butt", zorder=2)
        is_significant = pair["p_corrected"] is not None and pair["p_corrected"] < comparison.alpha
        axes.plot(
            pair["difference"],
            place,
            "o",
            color=colour,
            markersize=7,
            markerfacecolor=colour if is_significant else "white",
            markeredgewidth=1.6,
            zorder=3,
        )
        if pair["p_corrected"] is not None:
            axes.text(
                1.02, place, _p_value(pair["p_corrected"]), transform=axes.get_yaxis_transform(), va="center", color=GREY
            )
    # Minus signs, not hyphens: the names of systems may have hyphens.
    names = [f"{pair['a']} \N{MINUS SIGN} {pair['b']}" for pair in pairs]
    if len(metrics) > 1:
        names = [f"{pair['metric']}: {name}" for pair, name in zip(pairs, names)]
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(places[-1] + 0.6, -0.6)
    difference = "difference" if len(metrics) > 1 else f"difference of {metrics[0]}"
    axes.set_xlabel(f"{difference}, with {100 * (1 - comparison.alpha):g} % interval")
    axes.locator_params(axis="x", nbins=6)
    _tidy(axes, "x")
    axes.spines["left"].set_visible(False)
    return axes


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install matplotlib") from None
    figure, axes = plt.subplots(figsize=(width, height))
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.08)
    return axes


def _tidy(axes: Axes, grid: str | None) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    if grid is not None:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.7)  # type: ignore[arg-type]


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True))


def _rank_ticks(n_docs: int) -> list[int]:
    """The first rank, and at most eight round ones."""
    step = next(step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if 8 * step >= n_docs)
    return sorted({1, *range(step, n_docs + 1, step)})


def _scores_of(of: Any, data: Dataset) -> npt.NDArray[np.float64]:
    if isinstance(of, Ranker):
        of = of.booster_
    scores = np.asarray(of.predict(data) if isinstance(of, Model) else of, dtype=np.float64)
    if scores.shape != (data.n_rows,):
        raise ValueError(f"there are {scores.size} scores for {data.n_rows} documents")
    return scores


def _colours_of_labels(labels: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], list[Any]]:
    """The labels that occur, and a colour for each: grey for 0, then blue that is darker for larger labels."""
    from matplotlib import colormaps

    grades = np.unique(labels)
    blues = colormaps["Blues"]
    highest = max(float(grades[-1]), 1.0)
    return grades, ["#d9d9d9" if grade <= 0 else blues(0.3 + 0.7 * grade / highest) for grade in grades]


def _key_of_labels(axes: Axes, grades: npt.NDArray[np.float64], colours: list[Any]) -> None:
    from matplotlib.patches import Patch

    shown = np.unique(np.linspace(0, len(grades) - 1, min(len(grades), MAX_KEYS)).round().astype(int))[::-1]
    keys = [Patch(color=colours[place], label=f"{grades[place]:.3g}") for place in shown]
    axes.legend(handles=keys, title="label", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _p_value(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
