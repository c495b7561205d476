"""The programs of the README print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", README.read_text(), re.S)


@pytest.mark.parametrize(("program", "shown"), PROGRAMS)
def test_a_program_prints_what_the_readme_shows(program, shown, url):
    if "trl import GRPO" in program:
        compile(program, README, "exec")  # it would download a model
        return
    program = program.replace("http://127.0.0.1:8000", url)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, shown), done.stderr
