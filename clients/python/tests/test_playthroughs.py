"""Games written down for all clients, step by step, played through Gymnasium."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

PLAYTHROUGHS = Path(__file__).parents[3] / "src/core/tests/data/playthroughs"


@pytest.mark.parametrize(
    ("name", "seed", "kwargs"),
    [
        ("simplified_5x6", 42, {"rules": {"width": 5, "height": 6, "preview": 2}}),
        (
            "bag7_4x8",
            0,
            {
                "rules": {
                    "width": 4,
                    "height": 8,
                    "preview": 6,
                    "randomizer": "bag7",
                    "scoring": {"piece": 0.5, "lines": [1, 3, 6, 10], "game_end": -4},
                },
                "max_episode_steps": 9,
            },
        ),
    ],
)
def test_placements(client, name, seed, kwargs):
    env = gymnasium.make("tetrion/Placement-v0", address=client, **kwargs)
    text = (PLAYTHROUGHS / f"{name}.txt").read_text()
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert len(rows) > 10
    observation, _ = env.reset(seed=seed)
    for pieces, action, reward, ended, lines, playfield in rows:
        shown = [int(observation["current"]), *observation["queue"].tolist()]
        assert "".join("IOTZSJL"[piece] for piece in shown) == pieces
        observation, got, terminated, truncated, info = env.step(int(action))
        assert got == float(reward)
        assert (terminated, truncated) == (ended == "terminated", ended == "truncated")
        assert info["lines"] == int(lines)
        cells = np.where(observation["board"] == 1, "#", ".")[::-1]
        assert "/".join("".join(row) for row in cells if "#" in row) == playfield.replace("-", "")
        if terminated or truncated:
            observation, _ = env.reset()
    env.close()
