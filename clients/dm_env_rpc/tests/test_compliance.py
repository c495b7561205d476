"""The gateway as seen by dm_env_rpc's own client: all of its compliance suite and of dm_env's tests."""

import re
import subprocess
import sys
from pathlib import Path

import grpc
import numpy as np
import pytest
from absl.testing import absltest
from dm_env import StepType, test_utils
from dm_env_rpc.v1 import compliance, connection, dm_env_adaptor, dm_env_rpc_pb2, tensor_utils

# Worlds as small as they get, so that twenty steps are several games.
SETTINGS = {
    name: tensor_utils.pack_tensor(value)
    for name, value in {"width": 4, "height": 4, "preview": 2, "features": "bcts8", "seed": 3}.items()
}
INVALID = {
    name: tensor_utils.pack_tensor(value)
    for name, value in {"no_such_setting": 1, "width": 3, "height": "tall", "seed": 1.5}.items()
}


class Connected:
    """A connection of its own for each test, and a world on it."""

    world_name = None

    @pytest.fixture(autouse=True)
    def _gateway(self, gateway):
        self.address = gateway

    def setUp(self):
        self.channel = grpc.insecure_channel(self.address)
        self.link = connection.Connection(self.channel)
        self.begin()
        super().setUp()

    def tearDown(self):
        super().tearDown()
        self.link.close()
        self.channel.close()

    def begin(self):
        self.world_name = self.link.send(dm_env_rpc_pb2.CreateWorldRequest(settings=SETTINGS)).world_name

    def join_world(self, **request):
        request = request or {"world_name": self.world_name}
        return self.link.send(dm_env_rpc_pb2.JoinWorldRequest(**request)).specs

    @property
    def connection(self):
        return self.link


class TestCreateDestroyWorld(Connected, compliance.CreateDestroyWorld):
    required_world_settings = {}  # noqa: RUF012
    invalid_world_settings = INVALID
    has_multiple_world_support = True

    def begin(self):
        pass


class TestJoinLeaveWorld(Connected, compliance.JoinLeaveWorld):
    invalid_join_settings = INVALID
    world_name = None


class TestReset(Connected, compliance.Reset):
    pass


class TestResetWorld(Connected, compliance.ResetWorld):
    world_name = None

    def join_world(self):
        return Connected.join_world(self)


class TestStep(Connected, compliance.Step):
    specs = None

    def begin(self):
        super().begin()
        self.specs = self.join_world()


class TestDmEnv(Connected, test_utils.EnvironmentTestMixin, absltest.TestCase):
    def make_object_under_test(self):
        return dm_env_adaptor.DmEnvAdaptor(self.link, self.join_world())

    def make_action_sequence(self):
        # The first column again and again: a game of some pieces, many times over.
        yield from ({"action": np.int32(0)} for _ in range(60))


def test_nothing_is_left_out():
    suites = [TestCreateDestroyWorld, TestJoinLeaveWorld, TestReset, TestResetWorld, TestStep, TestDmEnv]
    assert sum(name.startswith("test_") for suite in suites for name in dir(suite)) == 44


def test_the_lines_of_the_readme(gateway):
    page = (Path(__file__).parents[1] / "README.md").read_text()
    (lines,) = re.findall(r"```python\n(from dm_env_rpc.*?)```", page, re.DOTALL)
    lines = lines.replace("127.0.0.1:50452", gateway) + "print(step.step_type.name)"
    done = subprocess.run([sys.executable, "-c", lines], stdout=subprocess.PIPE, text=True, check=True, timeout=20)
    assert done.stdout == "MID\n"


def test_a_game_through_the_adaptor(gateway):
    channel = grpc.insecure_channel(gateway)
    env, _ = dm_env_adaptor.create_and_join_world(
        connection.Connection(channel), create_world_settings={"seed": 11, "preview": 1}, join_world_settings={}
    )
    assert set(env.observation_spec()) >= {"board", "current", "queue", "action_mask", "lines"}
    spec = env.action_spec()["action"]
    assert (spec.dtype, spec.minimum, spec.maximum) == (np.int32, 0, 39)
    step = env.reset()
    assert (step.step_type, step.reward, step.discount) == (StepType.FIRST, None, None)
    pieces, rewards = 0, 0.0
    while not step.last():
        action = np.flatnonzero(step.observation["action_mask"])[-1]
        step = env.step({"action": np.int32(action)})
        pieces, rewards = pieces + 1, rewards + step.reward
    assert step.discount == 0.0
    assert (step.observation["pieces"], step.observation["lines"]) == (pieces, rewards)
    assert step.observation["board"].shape == (20, 10)
    env.close()
    channel.close()
