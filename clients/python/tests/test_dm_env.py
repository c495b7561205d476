"""`tetrion.dm_env.TetrisEnv`: dm_env's own tests, and the game of the Gymnasium environment."""

from typing import Any, ClassVar

import numpy as np
import pytest

# Part of the extra `test`; the runs with the oldest and the newest libraries of this package go without.
pytest.importorskip("dm_env", reason="the extra `test` is not installed")

from absl.testing import absltest
from dm_env import specs, test_utils

import tetrion
from tetrion.dm_env import TetrisEnv

SMALL = {"width": 4, "height": 6}


class Contract(test_utils.EnvironmentTestMixin):
    """dm_env's own tests, of games that end while they are stepped."""

    options: ClassVar[dict[str, Any]] = {}

    def make_object_under_test(self):
        return TetrisEnv(seed=3, **self.options)

    def make_action_sequence(self):
        last = self.environment.action_spec().num_values - 1
        for step in range(60):
            yield np.int64(last if step % 20 == 19 else 0)


class TestPlacement(Contract, absltest.TestCase):
    pass


class TestCutEpisodes(Contract, absltest.TestCase):
    options: ClassVar = {"rules": SMALL, "max_episode_steps": 5}


class TestAfterstate(Contract, absltest.TestCase):
    options: ClassVar = {
        "env_id": "tetrion/Afterstate-v0",
        "rules": {**SMALL, "preview": 2},
        "observations": ["features", "queue", "current"],
    }


class TestKeypress(Contract, absltest.TestCase):
    options: ClassVar = {"env_id": "tetrion/Keypress-v0", "rules": SMALL, "observe_mask": False}


def test_it_plays_the_game_of_gymnasium(client):
    rng = np.random.default_rng(2)
    env = TetrisEnv(address=client, rules=SMALL, max_episode_steps=4, seed=5)
    twin = tetrion.PlacementEnv(address=client, rules=SMALL, max_episode_steps=4, observe_mask=True)
    expected, _ = twin.reset(seed=5)
    timestep = env.step(0)  # as after a last step: the action is ignored
    ends = []
    for _ in range(80):
        assert timestep.observation.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(timestep.observation[name], array)
        if timestep.last():
            timestep = env.step(0)
            assert timestep.first()
            expected, _ = twin.reset()
            continue
        action = rng.choice(np.flatnonzero(timestep.observation["action_mask"]))
        timestep = env.step(action)
        expected, reward, terminated, truncated, _ = twin.step(action)
        assert (timestep.reward, timestep.last()) == (reward, terminated or truncated)
        # A limit is no loss: the discount says so.
        assert timestep.discount == (0.0 if terminated else 1.0)
        if timestep.last():
            ends.append(terminated)
    assert {True, False} == set(ends)
    state = env.env.save_state()
    assert isinstance(state, bytes)
    env.close()


def test_specs(client):
    env = TetrisEnv(address=client, rules={**SMALL, "preview": 2}, features="bcts8")
    fields = env.observation_spec()
    assert env.action_spec() == specs.DiscreteArray(16, np.int64, "action")
    assert set(fields) == {"board", "current", "queue", "features", "action_mask"}
    assert fields["board"] == specs.BoundedArray((6, 4), np.uint8, 0, 1, "board")
    assert fields["current"].num_values == 8
    assert fields["queue"].maximum.tolist() == [7, 7]
    assert type(fields["features"]) is specs.Array
    for name, array in env.reset().observation.items():
        fields[name].validate(array)


def test_what_is_refused(client):
    for kwargs, said in (
        ({"env_id": "tetrion/Placement"}, "env_id is 'tetrion/Placement', did you mean 'tetrion/Placement-v0'"),
        ({"seed": -(2**63) - 1}, "seed is"),
        ({"height": 6}, "height is not an argument of PlacementEnv, did you mean rules"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            TetrisEnv(address=client, **kwargs)
