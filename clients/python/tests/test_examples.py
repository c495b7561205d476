"""The examples run, as they are, and so does what measures."""

import json
import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).parent.parent
EXAMPLES = CLIENT / "examples"


def run(example, address):
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, address], stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    return done.stdout


def test_random_agent(server):
    output = run("random_agent.py", server.address)
    # 64 games of 500 steps are some 1,300 episodes; players at random place about 23 pieces on 10 x 20.
    assert "episodes of 2" in output, output


def test_raw_stubs(server):
    # The first placement every time: a pile at the left wall.
    output = run("raw_stubs.py", server.address)
    assert output.splitlines()[0].startswith("#"), output
    assert output.splitlines()[-1].endswith(" pieces")


def test_bench(server):
    command = [sys.executable, CLIENT / "benches/bench.py", "--quick", "--json", "--address", server.address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    names = {row["name"] for row in report["rows"]}
    assert {"Step of 4096", "StepStream of 1", "EnumeratePlacements of 4096, 8 features"} <= names, names
    for row in report["rows"]:
        assert 0 < row["lowest"] <= row["median"] <= row["highest"], row


def test_afterstate_values(server):
    args = ["--address", server.address, "--iterations", "4", "--states", "300", "--games", "200"]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "afterstate_values.py", *args],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=200,
    )
    # Random play clears no line on 10 x 10; four small iterations are enough for dozens.
    lines = float(re.search(r"([\d,]+) lines a game over 200 fresh games", done.stdout)[1].replace(",", ""))
    assert lines > 20, done.stdout
