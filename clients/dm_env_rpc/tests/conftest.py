"""Gateways on free ports of the loopback interface, and streams to them."""

import contextlib
import os
from collections.abc import Iterator

import grpc
import pytest
from dm_env_rpc.v1 import connection, error, tensor_utils
from dm_env_rpc.v1 import dm_env_rpc_pb2 as pb
from google.rpc import code_pb2, error_details_pb2

# Tests start their servers.
os.environ.pop("TETRION_SERVER", None)

import tetrion

from tetrion_dm_env_rpc import serving


@pytest.fixture(scope="session")
def client() -> Iterator[tetrion.Client]:
    """Sessions in this process."""
    with tetrion.Client() as client:
        yield client


@pytest.fixture(scope="session")
def gateway(client: tetrion.Client) -> Iterator[str]:
    """The address of a gateway to the client."""
    with serving(client, "127.0.0.1:0") as address:
        yield address


def packed(**settings):
    """Settings as tensors. `__` stands for the dot in a name."""
    return {
        name.replace("__", "."): value if isinstance(value, pb.Tensor) else tensor_utils.pack_tensor(value)
        for name, value in settings.items()
    }


class Link:
    """A stream, and the requests of the tests."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self._connection = connection.Connection(self.channel)
        self.send = self._connection.send

    def create(self, **settings):
        return self.send(pb.CreateWorldRequest(settings=packed(**settings))).world_name

    def join(self, world):
        self.specs = self.send(pb.JoinWorldRequest(world_name=world)).specs
        return self.specs

    def play(self, **settings):
        """A new world, joined."""
        world = self.create(**settings)
        self.join(world)
        return world

    def reset(self, **settings):
        return self.send(pb.ResetRequest(settings=packed(**settings))).specs

    def leave(self):
        self.send(pb.LeaveWorldRequest())

    def destroy(self, world):
        self.send(pb.DestroyWorldRequest(world_name=world))

    def reset_world(self, world, **settings):
        self.send(pb.ResetWorldRequest(world_name=world, settings=packed(**settings)))

    def step(self, action=None):
        """The state, and every observation by name."""
        actions = {} if action is None else {1: tensor_utils.pack_tensor(action, pb.INT32)}
        answer = self.send(pb.StepRequest(actions=actions, requested_observations=self.specs.observations))
        seen = {
            self.specs.observations[uid].name: tensor_utils.unpack_tensor(tensor)
            for uid, tensor in answer.observations.items()
        }
        return answer.state, seen


@pytest.fixture
def links(gateway):
    """Opens streams to the gateway, or to another address, which close at the end."""
    with contextlib.ExitStack() as stack:

        def link(address=gateway):
            link = Link(address)
            stack.callback(link.channel.close)
            return link

        yield link


@contextlib.contextmanager
def refused(code, reason, message=""):
    """Expects an `error` with this code, this reason, and this part of the message."""
    with pytest.raises(error.DmEnvRpcError) as caught:
        yield
    info = error_details_pb2.ErrorInfo()
    assert caught.value.details[0].Unpack(info)
    assert (code_pb2.Code.Name(caught.value.code), info.reason, info.domain) == (code, reason, "tetrion.dev")
    assert message in caught.value.message
