"""Many threads, forks and Ctrl-C."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rankwise
from rankwise import Ranker


def test_one_model_in_many_threads(train):
    ranker = Ranker(num_trees=20).fit(train.X, train.y, qid=train.qid)
    parts = [np.roll(train.X, shift, axis=0) for shift in range(10)]
    expected = [ranker.predict(part) for part in parts]
    with ThreadPoolExecutor(10) as pool:
        for _ in range(5):
            found = list(pool.map(ranker.predict, parts))
            assert all(np.array_equal(a, b) for a, b in zip(found, expected))


def test_callbacks_may_use_the_same_threads(train):
    data = rankwise.Dataset(train.X, train.y, qid=train.qid)
    values = []

    def measure(state):
        values.append(rankwise.evaluate(data, train.X[:, 0], n_jobs=1)["ndcg@10"])
        inner = Ranker(num_trees=1, n_jobs=1).fit(train.X, train.y, qid=train.qid)
        values.append(inner.model_.n_trees)

    Ranker(num_trees=3, n_jobs=1).fit(train.X, train.y, qid=train.qid, callbacks=[measure])
    assert len(values) == 6 and values[1::2] == [1, 1, 1]


def _fit_again(given):
    X, y, qid = given
    return Ranker(num_trees=5).fit(X, y, qid=qid).model_.to_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_training_after_a_fork(train):
    expected = _fit_again((train.X, train.y, train.qid))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_fit_again, [(train.X, train.y, train.qid)] * 2).get(timeout=60)
    assert found == [expected, expected]


def test_ctrl_c_stops_after_the_current_tree():
    program = textwrap.dedent(
        """
        import os, signal, threading, numpy as np, rankwise
        X = np.random.default_rng(0).random((20000, 20), dtype=np.float32)
        ranker = rankwise.Ranker(num_trees=1000000, num_leaves=255)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            ranker.fit(X, (X[:, 0] * 5).astype(int), group=[20] * 1000)
        except KeyboardInterrupt:
            print("interrupted", ranker.model_.n_trees > 0)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted True\n", done.stderr
    assert signal.SIGINT == 2


def test_free_threaded_python_is_refused_by_name():
    program = """
import sysconfig
sysconfig.get_config_var("prefix")
sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
import rankwise
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: rankwise does not support free-threaded Python" in run.stderr


def test_a_fork_while_other_threads_work(train):
    """The child must not wait for a thread that only its parent has."""
    program = """
import os, threading
import numpy as np, rankwise
rng = np.random.default_rng(0)
X, y, qid = rng.random((2000, 4)), rng.integers(0, 3, 2000), np.repeat(np.arange(100), 20)
ranker = rankwise.Ranker(num_trees=5).fit(X, y, qid=qid)
is_done = False
def work():
    while not is_done:
        for n_jobs in (1, 2):
            ranker.model_.predict(X, n_jobs=n_jobs)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        assert rankwise.Ranker(num_trees=3).fit(X, y, qid=qid).predict(X[:5]).shape == (5,)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
is_done = True
for thread in threads: thread.join()
print("done")
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert run.stdout == "done\n", run.stderr
