"""Shared by the benchmarks: a virtual environment with the peers, LETOR files as arrays, and calls of the binary."""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
REQUIREMENTS = [
    "lightgbm==4.7.0",
    "xgboost-cpu==3.2.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "zstandard==0.25.0",
    "scikit-learn==1.9.1",
    "pyarrow==26.0.1",
    "catboost==1.2.10",
    "flaml==2.7.0",
    "lleaves==1.3.0",
    # The newest version that works with lleaves.
    "llvmlite==0.44.0",
    "tl2cgen==1.0.0",
    "treelite==4.8.1",
]


def enter_venv():
    """Creates the virtual environment on first use and restarts the script inside it."""
    python = VENV / "bin" / "python"
    if Path(sys.prefix) == VENV:
        return
    stamp = VENV / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing the peers into", VENV.relative_to(ROOT), file=sys.stderr)
        venv.create(VENV, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])


def data_folder():
    """The folder of public datasets, from RANKWISE_DATA; None if it is not set."""
    name = os.environ.get("RANKWISE_DATA")
    if not name:
        return None
    if not Path(name).is_dir():
        raise SystemExit(f"RANKWISE_DATA={name} is not a folder")
    return Path(name)


def build():
    """Builds the release binary and returns its path; RANKWISE_BINARY can name another one to measure."""
    if "RANKWISE_BINARY" in os.environ:
        return Path(os.environ["RANKWISE_BINARY"]).resolve()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "rankwise"


def rankwise(binary, *args):
    """Runs the binary with --json and returns its output."""
    run = subprocess.run([binary, *map(str, args), "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"rankwise {' '.join(map(str, args))}: {run.stderr}")
    return json.loads(run.stdout)


class Letor:
    """LETOR lines with their features as an array (NaN if a feature is absent)."""

    def __init__(self, lines):
        import numpy as np

        self.lines = lines
        rows, columns, values, labels, qids = [], [], [], [], []
        for row, line in enumerate(lines):
            tokens = line.split("#", 1)[0].split()
            labels.append(float(tokens[0]))
            qids.append(tokens[1][4:])
            for token in tokens[2:]:
                feature, value = token.split(":")
                rows.append(row)
                columns.append(int(feature))
                values.append(float(value))
        self.labels = np.array(labels)
        self.qids = qids
        self.features = np.full((len(lines), max(columns) + 1), np.nan)
        self.features[rows, columns] = np.array(values, dtype=np.float32)

    @classmethod
    def read(cls, path):
        return cls(cls.read_lines(path))

    @staticmethod
    def read_lines(path):
        path = Path(path)
        if path.suffix == ".zst":
            import zstandard

            with open(path, "rb") as file:
                text = zstandard.ZstdDecompressor().stream_reader(file).read().decode()
        else:
            text = path.read_text()
        return [line for line in text.splitlines() if line.strip()]

    def queries(self):
        """The row numbers of each query, in order of first appearance."""
        rows = {}
        for row, qid in enumerate(self.qids):
            rows.setdefault(qid, []).append(row)
        return list(rows.values())

    def write(self, rows, path):
        Path(path).write_text("".join(self.lines[row] + "\n" for row in rows))


def ndcg(binary, data_path, scores, metric="ndcg@10"):
    """The metric of scores with Rankwise's own rules, the same for every peer."""
    with tempfile.NamedTemporaryFile("w", suffix=".scores") as file:
        file.writelines(f"{float(score)!r}\n" for score in scores)
        file.flush()
        return rankwise(binary, "eval", data_path, "--scores", file.name, "--metric", metric)["metrics"][metric]
