"""docs/libraries.md and training.md are true: each program runs by itself, with the versions named there."""

import importlib.util
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[4] / "docs"


def programs():
    """Each program and the output below it, if the page shows one."""
    for page in ("libraries.md", "training.md"):
        text = (DOCS / page).read_text()
        for found in re.finditer(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.S):
            before = text[: found.start()]
            section = re.findall(r"^## (.+)$", before, re.M)[-1]
            if section == "Data sets":
                continue  # test_datasets.py runs these
            line = before.count("\n") + 2
            yield pytest.param(found[1], found[2], id=f"{page}, line {line}: {section}")


@pytest.mark.parametrize(("program", "shown"), list(programs()))
def test_a_program_runs(program, shown, tmp_path):
    for module in re.findall(r"^(?:from|import) (\w+)", program, re.M):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    file = tmp_path / "program.py"
    file.write_text(program)
    env = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}  # see conftest.py
    env |= {"OMP_NUM_THREADS": "1", "MINARI_DATASETS_PATH": str(tmp_path), "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    ours = [line for line in done.stderr.splitlines() if re.search(r"/tetrion/\w+\.py:\d+: \w*Warning", line)]
    assert not ours, ours
    if shown is not None:
        assert done.stdout == shown


def test_the_table_has_the_versions_of_the_tests():
    rows = re.findall(r"^\| \[([\w-]+)\].*?\| (?:scripts, torch )?([\d.]+) \|", (DOCS / "libraries.md").read_text(), re.M)
    assert len(rows) == 9
    packages = {"RLlib": "ray", "CleanRL": "torch"}
    for library, version in rows:
        package = packages.get(library, library)
        if importlib.util.find_spec(package.lower().replace("-", "_")) is not None:
            assert metadata.version(package).split("+")[0] == version, library
