"""The documents of the repository: their Python runs, and prints what they say."""

import re
from pathlib import Path

import pytest

import tetrion

REPOSITORY = Path(__file__).parents[3]
README = REPOSITORY / "README.md"


def test_its_python_prints_what_follows_it(capsys):
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == README.read_text().count("```python\n") >= 2
    with tetrion.Server() as server:
        for code, printed in blocks:
            exec(compile(code.replace("127.0.0.1:50451", server.address), README, "exec"), {})
            assert capsys.readouterr().out == printed


@pytest.mark.parametrize("page", ["rules"])
def test_the_python_of_a_page_prints_what_its_comments_say(page, capsys):
    code = "".join(re.findall(r"```python\n(.*?)```", (REPOSITORY / f"docs/{page}.md").read_text(), re.DOTALL))
    names = {}
    exec(compile(code, page, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == code.count("print(")
    for line in printed:
        assert f"# {line}" in code, line
    names["env"].close()


def test_the_python_of_the_page_about_text_prints_what_follows_it(capsys):
    page = (REPOSITORY / "docs/tasks.md").read_text().split("\n## Games as text\n")[1]
    code, printed = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ["python", "text"])
    exec(compile(code[0], "text", "exec"), {})
    assert capsys.readouterr().out == printed[0]


def test_each_block_of_the_page_about_formulas_runs_alone(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/formulas.md").read_text(), re.DOTALL)
    assert len(blocks) >= 2
    for code in blocks:
        exec(compile(code, "formulas", "exec"), {})
        assert capsys.readouterr().out


def test_the_python_of_the_page_about_the_benchmark_records_every_game(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/results.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "benchmark", "exec"), {})
    recordings = [tetrion.Recording.load(path) for path in sorted((tmp_path / "games").iterdir())]
    assert len({recording.seed for recording in recordings}) == 20
    assert all(recording.check() is None for recording in recordings)
