"""What a new user types first. `make test-wheel` runs it where only the wheel is installed."""

import subprocess
import sys
from importlib.metadata import metadata

import gymnasium

import tetrion
from tetrion._transport.server import find_binary

about = metadata("tetrion")
assert about["License-Expression"] == "MIT OR Apache-2.0"
assert about.get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT"]
assert "Typing :: Typed" in about.get_all("Classifier")
assert find_binary().parent.name == "_bin", find_binary()
env = gymnasium.make("tetrion/Placement-v0")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
assert observation["board"].sum() == 4
result = tetrion.Client().evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 10), max_pieces=1000)
assert result.pieces.tolist() == [1000] * 10
subprocess.run([sys.executable, "-m", "tetrion", "--version"], check=True)
