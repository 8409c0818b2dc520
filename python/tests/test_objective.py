"""LambdaMART written in Python grows the tree of the built-in objective."""

import json

import numpy as np

from rankwise import Ranker


def lambdas_of_query(label, score):
    n_docs = len(label)
    order = np.argsort(-score, kind="stable")
    gain = 2.0**label - 1
    discount = np.empty(n_docs)
    discount[order] = 1 / np.log2(2 + np.arange(n_docs))
    ideal = np.sort(gain)[::-1] @ (1 / np.log2(2 + np.arange(n_docs)))
    grad, hess = np.zeros(n_docs), np.zeros(n_docs)
    if ideal == 0:
        return grad, hess
    total = 0.0
    for high in range(n_docs):
        for low in np.flatnonzero(label < label[high]):
            change = abs(gain[high] - gain[low]) * abs(discount[high] - discount[low]) / ideal
            difference = score[high] - score[low]
            change /= 0.01 + abs(difference)
            chance = 1 / (1 + np.exp(difference))
            grad[high] -= change * chance
            grad[low] += change * chance
            hess[[high, low]] += change * chance * (1 - chance)
            total += 2 * change * chance
    norm = np.log2(1 + total) / total if total > 0 else 1.0
    return grad * norm, hess * norm


def lambdamart(label, score, query):
    grad, hess = np.zeros(len(label)), np.zeros(len(label))
    for number in np.unique(query):
        rows = query == number
        grad[rows], hess[rows] = lambdas_of_query(label[rows].astype(np.float64), score[rows])
    return grad, hess


def test_the_first_tree_is_that_of_the_built_in(make):
    train = make(n_queries=25, n_docs=20)
    # Scores without ties, whose order would be arbitrary.
    start = Ranker(num_trees=100, num_leaves=15, objective="rmse", min_data_in_leaf=3)
    start.fit(train.X, train.y, qid=train.qid)
    assert len(set(start.predict(train.X))) == train.n_rows
    trees = []
    for objective in (None, lambdamart):
        ranker = Ranker(num_trees=1, num_leaves=15)
        ranker.fit(train.X, train.y, qid=train.qid, init_model=start, objective=objective)
        trees.append(json.loads(ranker.model_.to_bytes())["trees"][-1])
    built_in, custom = trees
    values = np.array([built_in.pop("leaf_value"), custom.pop("leaf_value")])
    assert values.shape[1] > 5 and np.abs(values[0] - values[1]).max() < 1e-5
    for name in ("feature", "threshold", "left", "right"):
        assert built_in[name] == custom[name], name
