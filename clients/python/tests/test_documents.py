"""The README at the top of the repository: its Python runs."""

import re
from pathlib import Path

README = Path(__file__).parents[3] / "README.md"


def test_its_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names = {}
    exec(compile(code, README, "exec"), names)
    assert names["observations"]["board"].shape == (256, 20, 10)
    assert names["rewards"].shape == (256,)
    names["envs"].close()
