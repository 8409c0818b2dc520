"""Compares `rankwise auto` with the best settings of its peers, on data that no choice has seen.

    python3 experiments/auto/run.py prepare FOLDER      training, validation and test files
    python3 experiments/auto/run.py peers FOLDER        trains the peers; --only NAME and --set DATA for some of them
    python3 experiments/auto/run.py auto FOLDER         runs `rankwise auto`
    python3 experiments/auto/run.py report FOLDER       writes results.md

Finished runs are kept in FOLDER and not repeated. On MQ2007 and MQ2008 each of the five folds has a validation part, on which everything
is chosen, and a test part, which is measured once. MSRD is trained on its `train` part; its `vali` part is split by query: one half is
for choices, the other is the test part. All peers have a learning rate of 0.05, at most 1000 trees and stop after 50 trees without a
better NDCG@10 on the validation part; their other parameters are their defaults. FLAML has the time of `auto`.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

np = lab.np
ROUNDS, PATIENCE, RATE, THREADS = 1000, 50, 0.05, 2
# Seconds of `auto` and of FLAML for a fold.
TIMES = {"mq2007": 60, "mq2008": 20, "msrd": 300}
PEERS = [
    "lightgbm-lambdarank", "lightgbm-rank_xendcg", "xgboost-rank:ndcg", "catboost-YetiRank", "catboost-QueryRMSE",
    "catboost-QuerySoftMax", "flaml",
]
AUTO = "rankwise auto"


def prepare(folder):
    for name in ("mq2007", "mq2008"):
        list(lab.letor_folds(name, folder))
    data = lab.folder_of("msrd")
    train = lab.peers.Letor.read_lines(data / "train.txt.zst")
    vali = lab.peers.Letor.read_lines(data / "vali.txt.zst")
    qids = list(dict.fromkeys(lab.qid(line) for line in vali))
    random.Random(1).shuffle(qids)
    held = set(qids[: len(qids) // 2])
    place = folder / "msrd-1"
    place.mkdir(exist_ok=True)
    choices = [line for line in vali if lab.qid(line) in held]
    lab.write_task(place, train, choices, [line for line in vali if lab.qid(line) not in held])


def places(folder, name):
    return sorted(folder.glob(f"{name}-*"))


def task_of(place):
    return lab.Task(place / "train.txt", place / "vali.txt", place / "test.txt")


def lightgbm_scores(task, objective):
    import lightgbm

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    params = {
        "objective": objective, "metric": "ndcg", "ndcg_eval_at": [10], "learning_rate": RATE, "num_threads": THREADS, "verbose": -1,
    }
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    held = lightgbm.Dataset(vali.features, vali.labels, group=vali.sizes, reference=data)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return lightgbm.train(params, data, ROUNDS, valid_sets=[held], callbacks=[stop]).predict(test.features)


def xgboost_scores(task, objective):
    import xgboost

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    matrices = []
    for part in (train, vali, test):
        matrices.append(xgboost.DMatrix(part.features, part.labels))
        matrices[-1].set_group(part.sizes)
    params = {"objective": objective, "eval_metric": "ndcg@10", "eta": RATE, "nthread": THREADS}
    held = [(matrices[1], "vali")]
    model = xgboost.train(params, matrices[0], ROUNDS, evals=held, early_stopping_rounds=PATIENCE, verbose_eval=False)
    return model.predict(matrices[2], iteration_range=(0, model.best_iteration + 1))


def catboost_scores(task, loss):
    import catboost

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    params = {
        "loss_function": loss, "eval_metric": "NDCG:top=10;type=Exp", "iterations": ROUNDS, "learning_rate": RATE, "od_type": "Iter",
        "od_wait": PATIENCE, "thread_count": THREADS, "verbose": False, "allow_writing_files": False,
    }
    model = catboost.CatBoost(params)
    model.fit(train.pool(), eval_set=vali.pool())
    return model.predict(test.features)


def flaml_scores(task, seconds):
    import flaml

    train, vali, test = (lab.arrays(path) for path in (task.train, task.vali, task.test))
    automl = flaml.AutoML()
    automl.fit(
        X_train=train.features, y_train=train.labels.astype(int), groups=train.sizes, X_val=vali.features,
        y_val=vali.labels.astype(int), groups_val=vali.sizes, task="rank", metric="ndcg@10", time_budget=seconds, n_jobs=THREADS,
        verbose=0, eval_method="holdout",
    )
    return automl.predict(test.features)


def run_peer(name, task, seconds):
    program, _, what = name.partition("-")
    if program == "flaml":
        return flaml_scores(task, seconds)
    return {"lightgbm": lightgbm_scores, "xgboost": xgboost_scores, "catboost": catboost_scores}[program](task, what)


def save(place, name, scores, seconds):
    (place / f"{name}.scores").write_text("".join(f"{float(score)!r}\n" for score in scores))
    (place / f"{name}.seconds").write_text(f"{seconds:.1f}")


def peers(folder, only, sets):
    for data in sets:
        for place in places(folder, data):
            for name in only or PEERS:
                if (place / f"{name}.scores").exists():
                    continue
                start = time.time()
                scores = run_peer(name, task_of(place), TIMES[data])
                save(place, name, scores, time.time() - start)
                print(place.name, name, f"{time.time() - start:.1f} s", flush=True)


def auto(folder, sets, binary, threads):
    for data in sets:
        for place in places(folder, data):
            task, model, scores = task_of(place), place / "auto.json", place / f"{AUTO}.scores"
            if scores.exists():
                continue
            start = time.time()
            report = lab.peers.rankwise(
                binary, "auto", task.train, "--valid", task.vali, "--time", f"{TIMES[data]}s", "--threads", threads, "--out", model
            )
            seconds = time.time() - start
            lab.peers.rankwise(binary, "predict", model, task.test, "--out", scores)
            (place / f"{AUTO}.seconds").write_text(f"{seconds:.1f}")
            (place / "auto.report.json").write_text(json.dumps(report))
            print(place.name, AUTO, f"{seconds:.1f} s", flush=True)


def report(folder, binary):
    text = (
        "# auto against its peers\n\n"
        f"`python3 experiments/auto/run.py`: {lab.versions()}. Learning rate {RATE}, at most {ROUNDS} trees, early stopping after "
        f"{PATIENCE} by NDCG@10; {THREADS} threads. `auto` has 60 s for a fold of MQ2007, 20 s for one of MQ2008 and 300 s for MSRD, "
        "on two threads. NDCG@10 with exponential gain and the worst order of ties, without queries that have no relevant documents. Test "
        "queries of all folds are pooled; p-values are those of Fisher's randomisation test.\n"
    )
    titles = [("MQ2007 and MQ2008, pooled", ["mq2007", "mq2008"]), ("MQ2007", ["mq2007"]), ("MQ2008", ["mq2008"]), ("MSRD", ["msrd"])]
    for title, sets in titles:
        if all((place / f"{AUTO}.scores").exists() for data in sets for place in places(folder, data)):
            text += lab.versus(binary, title, [place for data in sets for place in places(folder, data)], AUTO, PEERS)
    lab.write(HERE / "results.md", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "peers", "auto", "report"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=PEERS)
    parser.add_argument("--set", action="append", choices=list(TIMES))
    parser.add_argument("--threads", type=int, default=THREADS)
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True, parents=True)
    sets = args.set or list(TIMES)
    if args.what == "prepare":
        prepare(args.folder)
    elif args.what == "peers":
        peers(args.folder, args.only, sets)
    else:
        binary = lab.peers.build()
        auto(args.folder, sets, binary, args.threads) if args.what == "auto" else report(args.folder, binary)


if __name__ == "__main__":
    main()
