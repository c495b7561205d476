"""What is refused, that it changes nothing, and that it ends no other stream."""

import grpc
import numpy as np
import pytest
from conftest import packed, refused
from dm_env_rpc.v1 import dm_env_rpc_pb2 as pb
from dm_env_rpc.v1 import tensor_utils
from dm_env_rpc.v1.error import DmEnvRpcError
from google.protobuf.any_pb2 import Any
from tetrion.errors import InvalidRequestError

from tetrion_dm_env_rpc.service import MAX_REQUEST_BYTES
from tetrion_dm_env_rpc.world import World


def int32s(shape, count):
    return pb.Tensor(shape=shape, int32s=pb.Tensor.Int32Array(array=[1] * count))


def texts(shape, array):
    return pb.Tensor(shape=shape, strings=pb.Tensor.StringArray(array=array))


BIG = 2**31 - 1
REFUSED = [
    ("widht", 10, "settings: no setting is called 'widht', did you mean 'width'? expected one of preset, width, "),
    ("", 1, "settings: no setting is called '', expected one of"),
    ("x" * 1000, 1, "settings: no setting is called 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... of 1000 characters"),
    ("width", 3, "settings.width: width is 3, expected 4 to 32"),
    ("width", -(2**63), "settings.width: is -9223372036854775808, expected an integer, 0 or more"),
    ("width", np.int8(-6), "settings.width: is -6, expected an integer, 0 or more"),
    ("width", 10.0, "settings.width: has DOUBLE elements, expected an integer"),
    ("width", "10", "settings.width: has STRING elements, expected an integer"),
    ("width", pb.Tensor(), "settings.width: has no elements, expected an integer"),
    ("width", int32s([1], 1), "settings.width: has shape [1] and 1 elements, expected a scalar"),
    ("width", int32s([BIG, BIG, BIG], 1), "has shape [2147483647, 2147483647, 2147483647] and 1 elements"),
    ("width", int32s([1] * 10_000, 1), "has shape [1, 1, 1, 1, 1, 1, 1, 1, ...] and 1 elements"),
    ("width", int32s([], 0), "has shape [] and 0 elements, expected a scalar"),
    ("width", int32s([], 2), "has shape [] and 2 elements, expected a scalar"),
    ("preview", pb.Tensor(protos=pb.Tensor.ProtoArray(array=[Any()])), "settings.preview: has PROTO elements"),
    ("hold", 2, "settings.hold: is 2, expected 0 or 1"),
    ("hold", 1, "settings: hold needs a preview of at least 1"),
    ("scoring.piece", float("nan"), "settings.scoring.piece: is nan, expected a number"),
    ("scoring.piece", float("inf"), "settings.scoring.piece: scoring.piece is inf, expected a finite number"),
    ("scoring.lines", 1.0, "has shape [] and 1 elements, expected four numbers of shape [4]"),
    ("scoring.lines", int32s([-1, -1], 4), "has shape [-1, -1] and 4 elements"),
    ("scoring.lines", int32s([-1], 1000), "has shape [-1] and 1000 elements"),
    ("scoring.lines", int32s([4], 3), "has shape [4] and 3 elements"),
    ("preset", "chess", 'settings.preset: no preset is called "chess", expected one of simplified, '),
    ("preset", "x" * 1000, "settings.preset: has 1000 bytes, expected at most 128"),
    ("randomizer", "bag", "settings.randomizer: is 'bag', did you mean 'bag7'? expected one of uniform, bag7"),
    ("randomizer", "unspecified", "settings.randomizer: is 'unspecified', expected one of uniform"),
    ("features", "no set", 'settings.features.feature_set: no feature set is called "no set"'),
    ("features", texts([BIG], ["holes"]), "settings.features: has shape [2147483647] and 1 elements"),
    ("features", texts([], []), "settings.features: has shape [] and 0 elements"),
    ("features", texts([0], []), "settings.features: has shape [0] and 0 elements"),
    ("max_episode_steps", -1, "settings.max_episode_steps: is -1, expected an integer"),
    ("invalid_action_policy", "forgive", "settings.invalid_action_policy: is 'forgive', expected one of reject"),
    ("invalid_action_reward", -0.5, "settings.invalid_action_reward: is -0.5, expected 0 unless"),
    ("label", "x" * 129, "settings.label: has 129 bytes, expected at most 128"),
    ("ttl_seconds", float("nan"), "settings.ttl_seconds: is nan, expected seconds"),
    ("ttl_seconds", 1e300, "settings.ttl_seconds: is 1e+300, expected seconds"),
    ("ttl_seconds", 0.0, "settings.ttl_seconds: is 0 s, expected above 0 s and at most 86400 s"),
    ("seed", -1, "settings.seed: is -1, expected an integer from 0 to 18446744073709551615"),
    ("seed", 1.5, "settings.seed: has DOUBLE elements, expected an integer"),
    ("pieces", "IOX", "settings.pieces: 'X' at position 2 names no tetromino, expected one of I O T Z S J L"),
    ("pieces", "", "settings.pieces: has no letters, expected at least one"),
    ("pieces", "I" * 100_001, "settings.pieces: has 100001 letters, expected at most 100000"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_settings_are_refused_by_name(client, name, value, message):
    with pytest.raises(InvalidRequestError) as caught:
        World(client, packed(**{name: value}))
    assert message in caught.value.details
    assert caught.value.reason in ("INVALID_FIELD", "INVALID_TENSOR", "INVALID_RULES", "UNKNOWN_NAME")


def test_refused_requests_change_nothing(links):
    link = links()
    for name, value, _ in REFUSED:
        with pytest.raises(DmEnvRpcError):
            link.create(**{name: value})
    with refused("INVALID_ARGUMENT", "INVALID_FIELD", "settings.seed: is given together with pieces"):
        link.create(seed=1, pieces="I")
    world = link.play(seed=5)
    _, before = link.step()
    with refused("INVALID_ARGUMENT", "UNKNOWN_NAME", "settings: no setting is called 'width', expected one of seed, pieces"):
        link.reset(width=12)
    with refused("INVALID_ARGUMENT", "INVALID_FIELD", "settings.pieces: 'X' at position 0"):
        link.reset_world(world, pieces="X")
    other = links()
    with refused("INVALID_ARGUMENT", "UNKNOWN_NAME", "joining takes no settings"):
        other.send(pb.JoinWorldRequest(world_name=world, settings=packed(seed=1)))
    scalar = tensor_utils.pack_tensor
    for uid, tensor, message in [
        (2, scalar(0, pb.INT32), "actions: this world has no action 2"),
        (2**64 - 1, scalar(0, pb.INT32), "actions: this world has no action 18446744073709551615"),
        (1, scalar(-1, pb.INT32), "actions[0] is -1, expected a number from 0 to 39"),
        (1, scalar(40, pb.INT32), "actions[0] is 40, expected a number from 0 to 39"),
        (1, scalar(0, pb.INT64), "actions[1]: has INT64 elements, expected INT32"),
        (1, scalar(float("nan")), "actions[1]: has DOUBLE elements, expected INT32"),
        (1, int32s([1], 1), "actions[1]: has shape [1] and 1 elements, expected a scalar"),
        (1, int32s([-1], 1), "actions[1]: has shape [-1] and 1 elements"),
        (1, int32s([], 2), "actions[1]: has shape [] and 2 elements"),
        (1, pb.Tensor(), "actions[1]: has no elements, expected INT32"),
    ]:
        with pytest.raises(DmEnvRpcError) as caught:
            link.send(pb.StepRequest(actions={uid: tensor}))
        assert message in caught.value.message
    with refused("INVALID_ARGUMENT", "UNKNOWN_NAME", "this world has no observation 77777"):
        link.send(pb.StepRequest(requested_observations=[1, 77_777]))
    with refused("INVALID_ARGUMENT", "INVALID_FIELD", "payload: is an extension, which this gateway does not support"):
        link.send(Any())
    with refused("INVALID_ARGUMENT", "INVALID_FIELD", "world_name: is required"):
        link.destroy("")
    with refused("NOT_FOUND", "SESSION_NOT_FOUND", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... of 5000 characters"):
        link.destroy("x" * 5000)
    # None of these requests has moved the world.
    state, after = link.step(0)
    assert (state, after["steps"], after["seed"]) == (pb.RUNNING, before["steps"] + 1, 5)


def answers(address, *requests, **options):
    """The answers to bytes."""
    with grpc.insecure_channel(address, options=[("grpc.max_send_message_length", -1)]) as channel:
        process = channel.stream_stream(
            "/dm_env_rpc.v1.Environment/Process", response_deserializer=pb.EnvironmentResponse.FromString
        )
        yield from process(iter(requests), timeout=30, **options)


def test_bytes_that_are_no_request_are_answered(gateway):
    leave = pb.EnvironmentRequest(leave_world=pb.LeaveWorldRequest()).SerializeToString()
    kinds = [answer.WhichOneof("payload") for answer in answers(gateway, b"", b"\xff\xff\xff\xff", leave)]
    assert kinds == ["error", "error", "leave_world"]


def test_a_request_over_the_limit_ends_its_stream_and_no_other(gateway, links):
    link = links()
    link.play()
    destroy = pb.DestroyWorldRequest(world_name="x" * MAX_REQUEST_BYTES)
    request = pb.EnvironmentRequest(destroy_world=destroy).SerializeToString()
    for compression in (None, grpc.Compression.Gzip):  # however few bytes it travels in
        with pytest.raises(grpc.RpcError) as caught:
            list(answers(gateway, request, compression=compression))
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert link.step()[0] == pb.RUNNING


def test_a_bug_is_an_error_and_the_stream_goes_on(links, monkeypatch, caplog):
    link = links()
    link.play()

    def broken(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(World, "step", broken)
        with refused("INTERNAL", "INTERNAL", "internal error"):
            link.step()
    assert "ZeroDivisionError" in caplog.text
    assert link.step()[0] == pb.RUNNING
