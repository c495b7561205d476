"""What a new user types first. `make test-release` runs it where only the wheel is installed."""

import subprocess
import sys
import tempfile
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import gymnasium

import tetrion
from tetrion._transport.server import find_program

about = metadata("tetrion")
assert about["License-Expression"] == "MIT OR Apache-2.0"
assert about.get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"]
assert "Typing :: Typed" in about.get_all("Classifier")
assert find_program()[-1].endswith("_program.py"), find_program()
env = gymnasium.make("tetrion/Placement-v0")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
assert observation["board"].sum() == 4
assert env.unwrapped.client.address is None
assert find_spec("grpc") is None
result = tetrion.Client().evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 10), max_pieces=1000)
assert result.pieces.tolist() == [1000] * 10
with tetrion.Server() as server:
    assert (
        tetrion.Client(server).evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 10), max_pieces=1000).lines.tolist()
        == result.lines.tolist()
    )
subprocess.run([sys.executable, "-m", "tetrion", "--version"], check=True)
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-m", "tetrion.lab", folder, "--copy"], check=True)
    assert sorted(path.name for path in Path(folder).rglob("*")) == ["env.py", "lab.ipynb", "tetris"]
command = Path(sys.executable).with_name("tetrion")
subprocess.run([command, "evaluate", "bcts", "--games", "2", "--max-pieces", "100", "--json"], check=True)
