"""The code in the book runs."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_page_about_python(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 16
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].split()[1]) > 0.9
    assert any(line.startswith("ndcg@10: model ") for line in lines)
