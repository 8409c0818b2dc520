"""Learning to rank: train, evaluate, compare and score ranking models.

>>> import numpy as np, rankwise
>>> rng = np.random.default_rng(0)
>>> X = rng.random((400, 5), dtype=np.float32)
>>> y = (X[:, 0] * 4).astype(int)
>>> qid = np.repeat(np.arange(20), 20)
>>> ranker = rankwise.Ranker(num_trees=20, num_leaves=7).fit(X, y, qid=qid)
>>> ranker.predict(X[:3]).shape
(3,)
>>> ranker.score(X, y, qid=qid) > 0.9
True
"""

import sysconfig

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError("rankwise does not support free-threaded Python; use the standard build of this version")

from . import metrics
from ._auto_ranker import AutoRanker
from ._callbacks import early_stopping, log_evaluation, progress_bar, record_evaluation, reset_parameter
from ._data import Dataset, make_ranking, read_letor
from ._model import Explanation, Model, TrainingInterrupted, load_model, train
from ._plots import plot_comparison, plot_importance, plot_learning_curve, plot_query
from ._presets import preset
from ._ranker import Ranker
from ._rankwise import __version__
from ._results import Comparison, Evaluation, compare, evaluate
from ._search import Auto, CrossValidation, Tuned, auto, cross_validate, tune

__all__ = [
    "Auto",
    "AutoRanker",
    "Comparison",
    "CrossValidation",
    "Dataset",
    "Evaluation",
    "Explanation",
    "Model",
    "Ranker",
    "TrainingInterrupted",
    "Tuned",
    "__version__",
    "auto",
    "compare",
    "cross_validate",
    "early_stopping",
    "evaluate",
    "load_model",
    "log_evaluation",
    "make_ranking",
    "metrics",
    "plot_comparison",
    "plot_importance",
    "plot_learning_curve",
    "plot_query",
    "preset",
    "progress_bar",
    "read_letor",
    "record_evaluation",
    "reset_parameter",
    "train",
    "tune",
]
