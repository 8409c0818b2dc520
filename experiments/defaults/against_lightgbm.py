"""`rankwise train DATA --out MODEL` against `lightgbm.train`, both with their defaults and without a validation set.

    python3 experiments/defaults/against_lightgbm.py FOLDER      trains and writes lightgbm.md

The five folds of MQ2007 and MQ2008 (three parts to train on, one to test; the validation part is left out), and MSRD (its `vali` part is
the test part). Both train on two threads, in turns, and the best of some rounds counts: Rankwise without loading, LightGBM from arrays,
both with binning. LightGBM's defaults are those of its objective lambdarank.
"""

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lab  # noqa: E402

OURS, THEIRS, THREADS = "rankwise train", "lightgbm", 2
SETS = ["mq2007", "mq2008", "msrd"]


def places(folder):
    """The place of each fold, by set."""
    found = {name: [task.train.parent for task in lab.letor_folds(name, folder)] for name in SETS[:2]}
    data, place = lab.folder_of("msrd"), folder / "msrd"
    place.mkdir(exist_ok=True)
    train, test = (lab.peers.Letor.read_lines(data / f"{part}.txt.zst") for part in ("train", "vali"))
    lab.write_task(place, train, [], test)
    return {**found, "msrd": [place]}


def ours(binary, place):
    report = lab.peers.rankwise(binary, "train", place / "train.txt", "--out", place / "model.json", "--threads", THREADS)
    lab.peers.rankwise(binary, "predict", place / "model.json", place / "test.txt", "--out", place / f"{OURS}.scores")
    return report["seconds"]["total"] - report["seconds"]["load"]


def theirs(place):
    import lightgbm

    train, test = (lab.arrays(place / f"{part}.txt") for part in ("train", "test"))
    start = time.perf_counter()
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    model = lightgbm.train({"objective": "lambdarank", "num_threads": THREADS, "verbose": -1}, data)
    seconds = time.perf_counter() - start
    scores = model.predict(test.features)
    (place / f"{THEIRS}.scores").write_text("".join(f"{float(score)!r}\n" for score in scores))
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True, parents=True)
    binary = lab.peers.build()
    by_set = places(args.folder)
    seconds = {}
    for name, those in by_set.items():
        best = {place: [float("inf")] * 2 for place in those}
        for _ in range(args.rounds):
            for place in those:
                for side, spent in enumerate((ours(binary, place), theirs(place))):
                    best[place][side] = min(best[place][side], spent)
        seconds[name] = [sum(times[side] for times in best.values()) for side in range(2)]
    text = (
        "# The defaults of `train` against LightGBM's\n\n"
        f"`python3 experiments/defaults/against_lightgbm.py`: {lab.versions()}; no validation set, {THREADS} threads. NDCG@10 with exponential gain and "
        "the worst order of ties, without queries that have no relevant documents. Test queries of all folds are pooled; p-values are "
        f"those of Fisher's randomisation test. Seconds: training with binning, without loading; the best of {args.rounds} rounds in turns, "
        "added up over folds.\n"
    )
    everything = [place for those in by_set.values() for place in those]
    for title, those in [("All", everything), *((name.upper(), those) for name, those in by_set.items())]:
        text += lab.versus(binary, title, those, OURS, [THEIRS])
    text += "\n## Time\n\n| set | Rankwise, s | LightGBM, s | ratio |\n|---|---|---|---|\n"
    for name, (own, their) in seconds.items():
        text += f"| {name.upper()} | {own:.2f} | {their:.2f} | {own / their:.2f} |\n"
    lab.write(HERE / "lightgbm.md", text)


if __name__ == "__main__":
    main()
