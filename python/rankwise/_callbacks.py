"""Callbacks of training. A callback is called after each round; it stops training by returning True."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Round:
    """The state after a round of boosting."""

    iteration: int
    """Rounds so far."""
    evaluation_result_list: list[tuple[str, str, float]]
    """Validation set, metric and value."""
    params: dict[str, Any]
    """The parameters of the run."""


Callback = Callable[[Round], "bool | None"]


def record_evaluation(eval_result: dict[str, dict[str, list[float]]]) -> Callback:
    """Records the metrics of each round in a dictionary: `eval_result[set][metric]` is a list.

    >>> import rankwise
    >>> history = {}
    >>> callbacks = [rankwise.record_evaluation(history)]
    """
    eval_result.clear()

    def record(state: Round) -> None:
        for name, metric, value in state.evaluation_result_list:
            eval_result.setdefault(name, {}).setdefault(metric, []).append(value)

    return record


def log_evaluation(period: int = 1, show: Callable[[str], object] | None = None) -> Callback:
    """Prints the metrics after every `period` rounds."""

    def log(state: Round) -> None:
        if period > 0 and state.iteration % period == 0:
            values = "  ".join(f"{name} {metric} {value:.6g}" for name, metric, value in state.evaluation_result_list)
            line = f"[{state.iteration}]  {values}"
            if show is not None:
                show(line)
            else:
                print(line, file=sys.stdout)

    return log


@dataclass(frozen=True)
class EarlyStopping:
    """Early stopping, as an entry of `callbacks`."""

    stopping_rounds: int

    def __call__(self, state: Round) -> None:
        return None


def early_stopping(stopping_rounds: int) -> EarlyStopping:
    """Stops when the first metric on the first validation set has not improved for this many rounds.

    The same as the parameter `early_stopping_rounds`.
    """
    if stopping_rounds < 1:
        raise ValueError(f"stopping_rounds={stopping_rounds}: expected at least 1")
    return EarlyStopping(stopping_rounds)
