"""`python -m tetrion.lab`: the notebook of the course, in a folder and in Jupyter."""

import json
import sys
from types import SimpleNamespace

import pytest

from tetrion import lab


def test_the_notebook_and_its_module_are_copied_and_kept(tmp_path, capsys):
    lab.main([str(tmp_path / "new"), "--copy"])
    notebook = tmp_path / "new/lab.ipynb"
    assert capsys.readouterr().out == f"{notebook}\n"
    assert json.loads(notebook.read_text())["cells"]
    assert "class TetrisEnv" in (tmp_path / "new/tetris/env.py").read_text()
    notebook.write_text("a student's work")
    lab.main([str(tmp_path / "new"), "--copy"])
    assert notebook.read_text() == "a student's work"


def test_it_opens_in_jupyter_or_says_how_to_get_it(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(lab, "subprocess", SimpleNamespace(call=lambda command: called.append(command) or 0))
    monkeypatch.setattr(lab, "find_spec", lambda name: name == "notebook")
    with pytest.raises(SystemExit) as left:
        lab.main([str(tmp_path)])
    assert left.value.code == 0
    assert called == [[sys.executable, "-m", "notebook", str(tmp_path / "lab.ipynb")]]
    monkeypatch.setattr(lab, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install jupyterlab"):
        lab.main([str(tmp_path)])


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match=r"^error: .*file"):
        lab.main([str(tmp_path / "file"), "--copy"])
