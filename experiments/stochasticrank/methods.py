"""The methods of Tables 2 and 3, the random settings of each, and the random search itself.

The search follows the paper's Appendix F: learning rate log-uniform over [0.001, 1], l2 log-uniform over [0.1, 10] (0 for the
smoothed metrics), noise strength uniform over [0, 1], shrink rate log-uniform over [1e-5, 1e-2], temperature log-uniform over
[1e8, 1e11], mu log-uniform over [0.01, 10]. Trees are leaf-wise with 2^d leaves, d uniform over 3 to 7: the paper's
oblivious trees of depth 6 to 10 would be too large for these datasets. Trials of all methods share the settings that they have
in common.
"""

import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab  # noqa: E402

MAX_TREES, PATIENCE = 1000, 50


def common(rng):
    return {"learning_rate": lab.log_uniform(rng, 1e-3, 1), "num_leaves": 2 ** rng.randint(3, 7)}


def convex(rng):
    return {"lambda_l2": lab.log_uniform(rng, 0.1, 10)}


def noisy(rng):
    return {**convex(rng), "noise": "gumbel", "noise_strength": rng.uniform(0, 1)}


def sglb(rng):
    return {
        "langevin": "true",
        "model_shrink_rate": lab.log_uniform(rng, 1e-5, 1e-2),
        "diffusion_temperature": lab.log_uniform(rng, 1e8, 1e11),
    }


def consistent(rng):
    return {**sglb(rng), "mu": lab.log_uniform(rng, 0.01, 10)}


def nothing(_):
    return {}


SMOOTH = {"objective": "stochasticrank"}
# Name: fixed settings, random settings, and whether MRR can be the target.
RANKWISE = {
    "lambda-MART": ({"objective": "lambdamart"}, convex, True),
    "lambda-Loss": ({"objective": "lambdaloss", "variant": "2++"}, convex, False),
    "E lambda-MART": ({"objective": "lambdamart"}, noisy, True),
    "E lambda-Loss": ({"objective": "lambdaloss", "variant": "2++"}, noisy, False),
    "SoftRank": ({"objective": "softrank"}, nothing, True),
    "SR soft (mu = 0)": (SMOOTH, sglb, True),
    "SR": (SMOOTH, consistent, True),
}
ABLATION = {
    "REINFORCE": ({**SMOOTH, "estimator": "reinforce", "sfa": "false"}, nothing, True),
    "CCS": ({**SMOOTH, "sfa": "false"}, nothing, True),
    "CCS + SFA": (SMOOTH, nothing, True),
    "CCS + SFA + SGLB": (SMOOTH, sglb, True),
    "CCS + SFA + SGLB + mu": (SMOOTH, consistent, True),
}
# Peers get the same random settings under their own names.
PEERS = ["LightGBM lambdarank", "CatBoost YetiRank", "CatBoost StochasticRank"]


def run_rankwise(binary, task, metric, settings):
    with tempfile.TemporaryDirectory() as name:
        chosen = {**settings, "num_trees": MAX_TREES, "early_stopping_rounds": PATIENCE, "metric": metric}
        report, scores = lab.train_rankwise(binary, task, chosen, Path(name))
        return report["valid"][metric], scores


def run_lightgbm(binary, task, metric, settings):
    import lightgbm

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    params = {
        "objective": "lambdarank", "num_threads": 1, "verbose": -1, "metric": "ndcg", "ndcg_eval_at": [5],
        "num_leaves": settings["num_leaves"], "learning_rate": settings["learning_rate"], "lambda_l2": settings["lambda_l2"],
    }
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    held = lightgbm.Dataset(vali.features, vali.labels, group=vali.sizes, reference=data)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    model = lightgbm.train(params, data, MAX_TREES, valid_sets=[held], callbacks=[stop])
    return lab.measure(binary, task.vali, model.predict(vali.features), metric), model.predict(test.features)


def run_catboost(binary, task, metric, settings, loss):
    import catboost

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    params = {
        "loss_function": loss, "eval_metric": "NDCG:top=5;type=Exp" if metric.startswith("ndcg") else "MRR",
        "iterations": MAX_TREES, "learning_rate": settings["learning_rate"], "depth": settings["num_leaves"].bit_length() - 1,
        "od_type": "Iter", "od_wait": PATIENCE, "thread_count": 1, "verbose": False, "allow_writing_files": False,
    }
    if loss.startswith("StochasticRank"):
        keys = ("langevin", "model_shrink_rate", "diffusion_temperature")
        params |= {key: settings[key] for key in keys if key != "langevin"} | {"langevin": True, "l2_leaf_reg": 0}
        params |= {"leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 1, "boost_from_average": False}
    else:
        params["l2_leaf_reg"] = settings["lambda_l2"]
    model = catboost.CatBoost(params)
    model.fit(train.pool(), eval_set=vali.pool())
    return lab.measure(binary, task.vali, model.predict(vali.features), metric), model.predict(test.features)


def run(binary, task, metric, method, settings):
    """One trial: its metric on the validation part, and the scores of the test part."""
    top = metric.split("@")[1] if "@" in metric else None
    if method == "LightGBM lambdarank":
        return run_lightgbm(binary, task, metric, settings)
    if method == "CatBoost YetiRank":
        return run_catboost(binary, task, metric, settings, "YetiRank")
    if method == "CatBoost StochasticRank":
        shape = f"metric=NDCG;top={top};type=Exp" if top else "metric=MRR"
        return run_catboost(binary, task, metric, settings, f"StochasticRank:{shape};mu={settings['mu']}")
    return run_rankwise(binary, task, metric, settings)


def trials(method, table, metric, n_trials):
    """The settings of each trial. Trial t has the same random numbers for all methods, for the settings that they share."""
    drawn = []
    for trial in range(n_trials):
        shared, own = random.Random(f"shared {trial}"), random.Random(f"own {trial}")
        if method in table:
            fixed, draw, takes_target = table[method]
            target = {"target": metric} if takes_target else {}
            drawn.append({**common(shared), **draw(own), **fixed, **target, "seed": trial})
        else:
            draw = consistent if method.endswith("StochasticRank") else convex
            drawn.append({**common(shared), **draw(own)})
    return drawn


def search(binary, methods, table, tasks, metric, n_trials, jobs):
    """For each method and task, the best trial by the validation part: {method: {query: value}} over all tasks."""
    with ProcessPoolExecutor(jobs) as pool:
        waiting = []
        for method in methods:
            if metric == "mrr" and method in table and not table[method][2]:
                continue
            for task in tasks:
                for settings in trials(method, table, metric, n_trials):
                    waiting.append((method, task, settings, pool.submit(run, binary, task, metric, method, settings)))
        best = {}
        for method, task, settings, job in waiting:
            value, scores = job.result()
            key = (method, task.test)
            print(f"{method:26} {task.test.parent.name:10} {metric} {value:.4f}", flush=True)
            if key not in best or value > best[key][0]:
                best[key] = (value, scores)
    values = {}
    for (method, path), (_, scores) in best.items():
        values.setdefault(method, {}).update(lab.per_query(binary, path, scores, metric))
    return values
