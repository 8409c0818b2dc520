"""Defaults of other programs."""

from __future__ import annotations

from . import _rankwise


def preset(name: str) -> dict[str, str | int | float]:
    """The parameters whose defaults differ from those of another program, with its values.

    Parameters
    ----------
    name : str
        "lightgbm".

    Examples
    --------
    >>> import rankwise
    >>> rankwise.preset("lightgbm")
    {'num_trees': 100, 'learning_rate': 0.1, 'grow': 'leafwise', 'num_leaves': 31, 'lambda_l2': 0}
    >>> ranker = rankwise.Ranker(**rankwise.preset("lightgbm"))
    >>> ranker.num_leaves
    31
    """
    return {parameter: _number(value) for parameter, value in _rankwise.preset(name)}


def _number(value: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value
