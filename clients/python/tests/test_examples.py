"""The examples run, as they are."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example, address):
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, address], stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    return done.stdout


def test_raw_stubs(server):
    # The first placement every time: a pile at the left wall.
    output = run("raw_stubs.py", server.address)
    assert output.splitlines()[0].startswith("#"), output
    assert output.splitlines()[-1].endswith(" pieces")
