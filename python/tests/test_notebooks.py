"""The notebooks run, and the outputs that are stored in them are true.

If outputs change for a good reason, run the notebooks and store their outputs with

    python python/tests/test_notebooks.py --write [notebooks/NAME.ipynb ...]

and read them again: the text next to an output may no longer be true.
"""

import copy
import gc
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
TIMEOUT = 120  # seconds for a cell
MAX_BYTES = 300_000
# The same in every notebook, so that nothing of the machine that stored it remains.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path):
    """The notebook with the outputs of a fresh kernel."""
    import nbclient
    import nbformat

    import rankwise

    notebook = nbformat.read(path, as_version=4)
    folders = [str(Path(rankwise.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as folder:
        # Settings of the user and of the environment have no effect on outputs.
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONWARN", "MPL", "IPYTHON"))}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        env["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        env["MATPLOTLIBRC"] = env["IPYTHONDIR"] = folder
        resources = {"metadata": {"path": folder}}
        client = nbclient.NotebookClient(
            notebook, timeout=TIMEOUT, kernel_name="python3", resources=resources, record_timing=False
        )
        client.execute(env=env)
    return notebook


def texts(cell):
    """What a cell shows, without what differs from run to run. A figure counts, but not its picture."""
    shown = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            if shown and shown[-1][0] == output.name:
                shown[-1] = (output.name, shown[-1][1] + output.text)
            else:
                shown.append((output.name, output.text))
        elif output.output_type == "error":
            shown.append(("error", output.evalue))
        elif "image/png" in output.data:
            shown.append(("figure", ""))
        else:
            shown.append(("text", re.sub(r"0x[0-9a-f]{6,}", "0x...", output.data.get("text/plain", ""))))
    return shown


def write(path):
    """Runs a notebook and stores its outputs."""
    import nbformat

    notebook = executed(path)
    notebook.metadata = nbformat.from_dict(copy.deepcopy(METADATA))
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
    nbformat.write(notebook, path)


def test_there_are_notebooks():
    assert NOTEBOOKS


# Warnings in this process are those of Jupyter's messaging; the code of the notebooks runs in another one.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_true(path):
    for module in ("nbformat", "nbclient", "ipykernel", "matplotlib", "pandas", "sklearn"):
        pytest.importorskip(module, reason=f"the notebooks need {module}")
    import nbformat

    stored = nbformat.read(path, as_version=4)
    fresh = executed(path)
    # Sockets and event loops that are left are closed here, where their warnings are ignored.
    gc.collect()
    for number, (before, after) in enumerate(zip(stored.cells, fresh.cells, strict=True), 1):
        assert texts(after) == texts(before), f"{path.name}, cell {number}: the stored output is not what the code prints"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_of_the_machine_is_stored(path):
    nbformat = pytest.importorskip("nbformat", reason="notebooks are read with nbformat")
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) <= MAX_BYTES
    assert not re.search(r"/(home|tmp|root|work|Users)/", text)
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata == METADATA
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in notebook.cells:
        assert cell.metadata == {}
        assert all(output.output_type != "error" and output.get("name") != "stderr" for output in cell.get("outputs", []))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] != ["--write"]:
        sys.exit(f"usage: python {sys.argv[0]} --write [notebooks/NAME.ipynb ...]")
    for path in map(Path, arguments[1:] or NOTEBOOKS):
        write(path)
        print(f"wrote {path}")
