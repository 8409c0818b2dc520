"""Callbacks of training. A callback is called after each round; it stops training by returning True."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass(frozen=True)
class Round:
    """The state after a round of boosting."""

    iteration: int
    """Rounds so far."""
    num_iterations: int
    """The largest number of rounds."""
    best_iteration: int
    """The round after which the first metric was best; 0 without validation."""
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


@dataclass(frozen=True)
class ResetParameter:
    """A schedule of learning rates, as an entry of `callbacks`."""

    learning_rate: Sequence[float] | Callable[[int], float]

    def __call__(self, state: Round) -> None:
        return None


def reset_parameter(*, learning_rate: Sequence[float] | Callable[[int], float]) -> ResetParameter:
    """Changes the learning rate from round to round.

    Parameters
    ----------
    learning_rate : list of float, or callable
        The rate of each round, of which the last is kept; or a function of the round, from 0.

    Examples
    --------
    >>> import rankwise
    >>> callbacks = [rankwise.reset_parameter(learning_rate=lambda round: 0.2 * 0.99**round)]
    """
    return ResetParameter(learning_rate)


@dataclass
class _ProgressBar:
    file: TextIO | None
    min_interval: float
    started: float = 0.0
    shown_at: float = field(default=float("-inf"))
    first: int = 0
    width: int = 0

    def __call__(self, state: Round) -> None:
        now = time.monotonic()
        if state.iteration <= 1 or self.started == 0.0:
            self.started, self.first, self.width = now, state.iteration - 1, 0
        if state.iteration < state.num_iterations and now - self.shown_at < self.min_interval:
            return
        self.shown_at = now
        share = state.iteration / max(state.num_iterations, 1)
        n_blocks = int(20 * share)
        rate = (state.iteration - self.first) / max(now - self.started, 1e-9)
        left = (state.num_iterations - state.iteration) / max(rate, 1e-9)
        values = "".join(f", {name} {metric} {value:.4f}" for name, metric, value in state.evaluation_result_list[:3])
        line = (
            f"{share:4.0%}|{'#' * n_blocks}{' ' * (20 - n_blocks)}| {state.iteration}/{state.num_iterations} "
            f"[{_clock(now - self.started)}<{_clock(left)}, {rate:.1f} trees/s{values}]"
        )
        # Spaces cover what remains of a longer line.
        self._write("\r" + line + " " * (self.width - len(line)))
        self.width = len(line)

    def close(self) -> None:
        """Ends the line. Called after training, whether or not it ended early."""
        if self.width:
            self._write("\n")
        self.width, self.started = 0, 0.0

    def _write(self, text: str) -> None:
        file = self.file or sys.stderr
        file.write(text)
        file.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"


def progress_bar(file: TextIO | None = None, min_interval: float = 0.1) -> Callback:
    """Shows a progress bar with the metrics of the validation sets, in terminals and notebooks.

    Parameters
    ----------
    file : file object, optional
        Where to write; standard error by default.
    min_interval : float
        The shortest time between two updates, in seconds.

    Examples
    --------
    >>> import rankwise
    >>> callbacks = [rankwise.progress_bar()]
    """
    return _ProgressBar(file, min_interval)
