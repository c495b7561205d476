"""The programs of docs/openenv.md print what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs/openenv.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.S)


@pytest.mark.parametrize(("program", "shown"), PROGRAMS)
def test_a_program_prints_what_the_page_shows(program, shown, url):
    if "trl import GRPO" in program:
        compile(program, "docs/openenv.md", "exec")  # it would download a model
        return
    program = program.replace("http://127.0.0.1:8000", url)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, shown), done.stderr
