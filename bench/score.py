"""Scoring speed on one thread: LightGBM, XGBoost, CatBoost, lleaves and tl2cgen compared with Rankwise, on the same models.

    python3 bench/score.py               1000 trees of 64 leaves, 500 of 255, oblivious trees of depth 6
    python3 bench/score.py --rounds 5    how often each program scores a batch of 10,000; the best time counts
    python3 bench/score.py --quick       a tenth of the trees, to see that it runs
    python3 bench/score.py --before E    E, an older build of the example score_speed, instead of the peers

Models are trained by the peers on web-like data and imported by Rankwise. Every program scores the same documents, all in
memory, in batches of 10,000, 100 and 1. Times are per document, for the scoring call: the best of all rounds for batches of
10,000 and the median for smaller ones.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import peers

peers.enter_venv()

import numpy as np

BATCHES = [10_000, 100, 1]
TRAIN_ROWS = 20_000


def make_models(letor, trees, folder, with_compilers):
    """Name of the model, its file, and the programs that score it."""
    import catboost
    import lightgbm
    import xgboost

    features, labels = letor.features, letor.labels
    sizes = [len(rows) for rows in letor.queries()]
    models = []
    for leaves, n_trees in ((64, trees), (255, trees // 2)):
        params = {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": 0.05, "min_data_in_leaf": 5}
        booster = lightgbm.train(
            {**params, "verbose": -1, "num_threads": 2}, lightgbm.Dataset(features, labels, group=sizes), n_trees
        )
        path = folder / f"lightgbm{leaves}.txt"
        booster.save_model(path)
        name = f"LightGBM, {n_trees} x {leaves} leaves"
        compiled = compile_peers(path, folder / f"compiled{leaves}") if leaves == 64 and with_compilers else {}
        models.append((name, path, {"LightGBM": lambda x, b=booster: b.predict(x, num_threads=1), **compiled}))

    params = {"objective": "rank:ndcg", "max_leaves": 64, "max_depth": 0, "grow_policy": "lossguide", "eta": 0.05}
    booster = xgboost.train({**params, "nthread": 2}, xgboost.DMatrix(features, labels, group=sizes), trees)
    booster.set_param({"nthread": 1})
    path = folder / "xgboost.json"
    booster.save_model(path)
    models.append((f"XGBoost, {trees} x 64 leaves", path, {"XGBoost": booster.inplace_predict}))

    groups = np.repeat(np.arange(len(sizes)), sizes)
    cat = catboost.CatBoost({"loss_function": "QueryRMSE", "iterations": trees, "depth": 6, "verbose": 0, "thread_count": 2})
    cat.fit(catboost.Pool(features, labels, group_id=groups))
    path = folder / "catboost.json"
    cat.save_model(str(path), format="json")
    predict = {"CatBoost": lambda x: cat.predict(x, thread_count=1)}
    models.append((f"CatBoost, {trees} oblivious, depth 6", path, predict))
    return models


def compile_peers(path, folder):
    import lleaves
    import tl2cgen
    import treelite

    folder.mkdir()
    compiled = lleaves.Model(model_file=str(path))
    # With inlined functions, a thousand trees take more than ten minutes and five gigabytes to compile.
    compiled.compile(cache=str(folder / "lleaves.o"), finline=False)
    library = folder / "model.so"
    model = treelite.frontend.load_lightgbm_model(str(path))
    tl2cgen.export_lib(model, toolchain="gcc", libpath=str(library), params={"parallel_comp": 16, "quantize": 0})
    predictor = tl2cgen.Predictor(str(library), nthread=1)
    return {
        "lleaves": lambda x: compiled.predict(x, n_jobs=1),
        "tl2cgen": lambda x: predictor.predict(tl2cgen.DMatrix(x, dtype="float64")),
    }


def clock(predict, values, batch, rounds):
    times = []
    for turn in range(rounds):
        first = turn * batch % (len(values) - batch + 1)
        part = values[first : first + batch]
        started = time.perf_counter()
        predict(part)
        times.append(time.perf_counter() - started)
    return (min(times) if batch == BATCHES[0] else float(np.median(times))) / batch * 1e6


def clock_example(example, model, values, width, batch, rounds):
    """The same with the example score_speed."""
    command = [example, model, values, width, batch, rounds]
    out = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    median, least = (float(word) / batch * 1e6 for word in out.split())
    return least if batch == BATCHES[0] else median


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--before", type=Path, help="compare with this build of the example in place of the peers")
    args = parser.parse_args()
    binary = peers.build()
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "-p", "rankwise", "--example", "score_speed"], cwd=peers.ROOT, check=True
    )
    examples = {"Rankwise": peers.ROOT / "target" / "release" / "examples" / "score_speed"}
    if args.before:
        examples = {"before": args.before.resolve(), **examples}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peers.rankwise(binary, "synth", "--rows", TRAIN_ROWS, "--seed", 1, "--out", folder / "web.txt")
        letor = peers.Letor.read(folder / "web.txt")
        letor.features[np.isnan(letor.features)] = 0.0
        values = letor.features
        values.astype("<f4").tofile(folder / "values")
        print(f"{'model':36}{'program':>12}{'batch':>8}{'us a document':>16}{'Rankwise is':>14}")
        for model, path, programs in make_models(letor, 100 if args.quick else 1000, folder, with_compilers=not args.before):
            for batch in BATCHES:
                rounds = args.rounds if batch == BATCHES[0] else 200
                best = {}
                if args.before:
                    programs = {}
                # Alternately, so that a slow moment of the machine affects all.
                for _ in range(5 if args.before else 3):
                    for program, predict in programs.items():
                        best[program] = min(best.get(program, np.inf), clock(predict, values, batch, rounds))
                    for program, example in examples.items():
                        micros = clock_example(example, path, folder / "values", values.shape[1], batch, rounds)
                        best[program] = min(best.get(program, np.inf), micros)
                for program, micros in best.items():
                    ratio = "" if program == "Rankwise" else f"{micros / best['Rankwise']:.1f} x"
                    print(f"{model:36}{program:>12}{batch:8}{micros:16.2f}{ratio:>14}", flush=True)


main()
