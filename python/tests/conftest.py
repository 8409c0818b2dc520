"""Data for the tests."""

import os

import numpy as np
import pytest


class Ranking:
    """Made-up documents: the label follows the first two of the features."""

    def __init__(self, n_queries=40, n_docs=25, n_features=6, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.n_rows = n_queries * n_docs
        self.X = rng.normal(size=(self.n_rows, n_features)).astype(dtype)
        signal = self.X[:, 0] + 0.5 * self.X[:, 1] + 0.3 * rng.normal(size=self.n_rows)
        self.y = np.digitize(signal, [-0.5, 0.5, 1.2]).astype(np.float64)
        self.qid = np.repeat(np.arange(1, n_queries + 1), n_docs)
        self.group = np.full(n_queries, n_docs)


@pytest.fixture
def train():
    return Ranking()


@pytest.fixture
def valid():
    return Ranking(n_queries=20, seed=1)


@pytest.fixture
def make():
    return Ranking


@pytest.fixture(scope="session")
def program():
    """The command-line program."""
    path = os.environ.get("RANKWISE_BIN")
    if path is None:
        pytest.skip("RANKWISE_BIN does not name the program")
    return path
