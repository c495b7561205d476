"""Answers that do not fit what was asked, from a server that lies: the client says so, and makes nothing of them."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import protocol as pb
import pytest
from google.protobuf.descriptor import FieldDescriptor
from protocol import tensor

import tetrion
from tetrion._evaluations.games import part_from
from tetrion._transport.transport import METHODS

# What the answers in a stream are called.
STREAMS = {"StepStream": "response", "WatchSession": "event", "EvaluatePolicies": "event"}


class Liar(grpc.GenericRpcHandler):
    """A server that passes calls on to a real one and changes the answers.

    Attributes:
        lies: What is done to an answer, by the name of its call, or of its field in a stream. It returns what is sent
            instead; nothing: the answer as it is now; in streams a list.
    """

    def __init__(self, address, **options):
        self.lies = {}
        self._channel = grpc.insecure_channel(address)
        unlimited = [("grpc.max_send_message_length", -1)]
        self._server = grpc.server(ThreadPoolExecutor(8), handlers=[self], options=unlimited, **options)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, details):
        name = details.method.rpartition("/")[2]
        path, *kinds = METHODS[name]
        request, answer = (pb.CLASSES[kind.NAME] for kind in kinds)
        call = self._channel.stream_stream(path, request.SerializeToString, answer.FromString)

        def answers(requests, context):
            responses = call(requests)
            return self._stream(responses, STREAMS[name]) if name in STREAMS else self._changed(name, responses)

        return grpc.stream_stream_rpc_method_handler(answers, request.FromString, answer.SerializeToString)

    def _changed(self, name, responses):
        for response in responses:
            lie = self.lies.get(name)
            yield (lie(response) or response) if lie is not None else response

    def _stream(self, responses, kind):
        for response in responses:
            name = response.WhichOneof(kind)
            lie = self.lies.get(name)
            told = lie(getattr(response, name)) if lie is not None else None
            messages = [getattr(response, name)] if told is None else told
            for message in messages:
                yield type(response)(**(message if isinstance(message, dict) else {name: message}))

    def close(self):
        self._server.stop(None)
        self._channel.close()


@pytest.fixture(scope="module")
def relay(server):
    relay = Liar(server.address)
    yield relay
    relay.close()


@pytest.fixture
def liar(relay):
    relay.lies.clear()
    return relay


@pytest.fixture
def deceived(liar):
    with tetrion.Client(liar.address, timeout=20, patience=1) as client:
        yield client


def change(path, value):
    """A lie that sets a field of the answer."""

    def lie(message):
        *way, last = path.split(".")
        for name in way:
            message = message[int(name)] if name.isdigit() else getattr(message, name)
        if last.isdigit():
            message[int(last)].CopyFrom(value)
        elif isinstance(value, list):
            getattr(message, last)[:] = value
        elif hasattr(value, "CopyFrom"):
            getattr(message, last).CopyFrom(value)
        else:
            setattr(message, last, value)

    return lie


def caught(call, *arguments, **keywords):
    with pytest.raises(tetrion.errors.InvalidAnswerError) as error:
        call(*arguments, **keywords)
    return str(error.value)


def test_without_a_lie_everything_is_as_ever(deceived):
    envs = tetrion.PlacementVectorEnv(3, address=deceived, autoreset_mode="SameStep", max_episode_steps=2)
    envs.reset(seed=1)
    for _ in range(3):
        envs.step(np.zeros(3, int))
    envs.close()
    assert deceived.evaluate(["bcts", "dt-10"], seeds=range(4), max_pieces=50).lines.size == 8


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (change("session.config.num_envs", 2**32 - 1), "the session has 4294967295 environments, expected 2"),
        (change("session.config.num_envs", 1), "the session has 1 environments, expected 2"),
        (lambda answer: answer.session.observation_specs[0].shape.extend([2**16, 2**16]), "environments of 8589"),
        (change("session.action_spec.high", 1e300), "the session has actions up to 1e+300"),
        (change("session.action_spec.high", float("nan")), "the session has actions up to nan"),
        (change("session.observation_specs.0.dtype", 99), "a field 'board' that no session can have"),
        (change("session.observation_specs.1.high", 1e9), "a field 'current' that no session can have"),
        (change("session.observation_specs.1.name", "board"), "a field 'board' that no session can have"),
    ],
)
def test_sessions_that_nobody_asked_for(liar, deceived, lie, said):
    liar.lies["CreateSession"] = lie
    assert said in caught(deceived.create_session, 2)
    assert said in caught(tetrion.PlacementVectorEnv, 2, address=deceived)


def test_answers_of_other_sizes(liar, deceived):
    session = deceived.create_session(2, seed=1, autoreset_mode="same_step", max_episode_steps=1)
    stream = session.stream()
    session.reset()

    def told(said, call, *arguments, **lies):
        liar.lies.update(lies)
        assert said in caught(call, *arguments)
        liar.lies.clear()
        session.refresh()

    short, many = tensor(np.zeros(1, np.float32)), tensor(np.zeros(2, np.float32))
    many.shape[:] = [2**31, 2**31]
    for name, value, said in (
        ("rewards", short, "rewards: has shape [1], expected [2]"),
        ("rewards", many, "rewards: has shape [2147483648, 2147483648], expected [2]"),
        ("terminated", short, "terminated: has element type FLOAT32, expected BOOL"),
        ("truncated", pb.StepResponse().truncated, "truncated: has no element type, expected BOOL"),
        ("action_mask", tensor(np.ones((2, 3), bool)), "action_mask: has element type BOOL, expected UINT8"),
    ):
        told(said, session.step, [0, 0], Step=change(name, value))
        told(said, stream.step, [0, 0], step=change(name, value))
    told("final_batch.rows: are [5] of 2", stream.step, [0, 0], step=change("final_batch.rows", [5]))
    told(
        "the answer to call 13 is one to call 18446744073709551615",
        stream.step,
        [0, 0],
        step=change("sequence_number", 2**64 - 1),
    )
    told("the answer to step is one to reset", stream.step, [0, 0], step=lambda step: [{"reset": {}}])
    told("the answer to step is one to None", stream.step, [0, 0], step=lambda step: [{}])
    told(
        "4 tensors for the 2 fields",
        session.reset,
        Reset=lambda answer: answer.observations.extend(list(answer.observations)),
    )
    told("1 snapshots of 2 environments", session.save_state, SaveState=change("states", [b"x"]))
    told("0 drawings of 2 environments", session.render, Render=change("frames", []))
    heights = iter([4, 6])
    told(
        "a picture is (4, 2, 3), and the next ones are (6, 2, 3)",
        session.pictures,
        Render=lambda answer: change("pixels", tensor(np.zeros((1, next(heights), 2, 3), np.uint8)))(answer),
    )
    told("has other environments", session.refresh, GetSession=change("session.config.num_envs", 2**31))
    told(
        "lines is float64 (2, 2), expected float64 (",
        lambda: deceived.history(session),
        GetHistory=change("lines", tensor(np.zeros((2, 2)))),
    )
    told(
        "board: has shape [2, 20], expected [2, 20, 10]",
        stream.reset,
        reset=change("observations.0", tensor(np.zeros((2, 20), np.uint8))),
    )
    # Nothing was lost but the answers.
    session.refresh()
    assert stream.step([0, 0]).final is not None
    session.close()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("row_offsets", np.array([0], np.int32), "row_offsets: has shape [1], expected [2]"),
        ("row_offsets", np.array([0, -1], np.int32), "row_offsets: do not ascend from 0 to 17"),
        ("lines", np.zeros(2**10, np.uint8), "lines: has shape [1024], expected [17]"),
        ("features", np.zeros((17, 9), np.float32), "features: has shape [17, 9], expected [17, 1]"),
        ("cells", np.zeros((1, 4, 2), np.int8), "cells: has shape [1, 4, 2], expected [17, any, 2]"),
        ("policy_values", np.zeros(2), "policy_values: has shape [2], expected [17]"),
        ("policy_choices", np.zeros(2, np.int32), "policy_choices: has shape [2], expected [1]"),
    ],
)
def test_placements_of_other_positions(liar, deceived, path, value, said):
    liar.lies["EnumeratePlacements"] = change(path, tensor(value))
    drawing = tetrion.Drawing([], "I")
    assert said in caught(deceived.enumerate_placements, drawing, features=["holes"], cells=True)


def message_of(games):
    columns = {name: tensor(getattr(games, name)) for name in games.__dataclass_fields__}
    return pb.EvaluationResults(**columns)


def games_of(message):
    return part_from(message.SerializeToString(), tetrion.Games)


def results(which):
    """A lie about the results: only those of the chosen rows are sent."""
    return lambda message: [message_of(games_of(message).rows(which))]


@pytest.mark.parametrize(
    ("event", "lie", "said"),
    [
        ("started", change("num_policies", 2**32 - 1), "the evaluation has 4294967295 policies, expected 2"),
        ("started", change("num_seeds", 2**32 - 1), "the evaluation has 4294967295 seeds, expected 3"),
        ("started", change("num_games", 7), "the evaluation has 7 games, expected 6"),
        ("started", lambda started: [], "did not begin with a description"),
        ("results", change("policy_indices", tensor(np.full(6, 2, np.int32))), "not asked for: policy 2, seed"),
        ("results", change("seed_indices", tensor(np.full(6, 3, np.int32))), "not asked for: policy 0, seed 3"),
        (
            "results",
            change("episode_indices", tensor(np.ones(6, np.int32))),
            "not asked for: policy 0, seed 0, episode 1",
        ),
        ("results", change("lines", tensor(np.zeros(5, np.int64))), "lines: has shape [5], expected [6]"),
        ("results", results([0, 1, 2, 3, 4, 4]), "a game of the evaluation came twice"),
        ("results", lambda results: [results, results], "a game of the evaluation came twice"),
        ("results", results([0, 1, 2, 3, 5]), "1 games of the evaluation are missing in its answer"),
        ("results", lambda results: [{"estimates": {}}], "the evaluation sent estimates, expected results"),
        ("results", lambda results: [], "6 games of the evaluation are missing in its answer"),
        ("summary", lambda summary: [], "the evaluation ended without a summary"),
        ("summary", lambda summary: summary.policies.pop(), "is of 1 of 2 policies"),
        ("summary", lambda summary: summary.policies.add(), "is of 3 of 2 policies, and has policy 0 with 0 games"),
        ("summary", change("policies.1.policy_index", 9), "is of 2 of 2 policies, and has policy 9 with 3 games"),
        ("summary", change("policies.0.num_games", 2), "is of 2 of 2 policies, and has policy 0 with 2 games"),
        ("summary", change("paired_differences.0.policy_index", 9), "compares the policies 9 and 0"),
    ],
)
def test_evaluations_that_nobody_asked_for(liar, deceived, event, lie, said):
    ask = {"seeds": [1, 2, 3], "max_pieces": 20, "progress_interval": 0}
    held_back = []

    def at_once(message):
        """All games in one message, however many a busy server makes of it."""
        if event == "results":
            held_back.append(message)
            whole = pb.EvaluationResults()
            for name in tetrion.Games.__dataclass_fields__:
                columns = [getattr(games_of(some), name) for some in held_back]
                getattr(whole, name).CopyFrom(tensor(np.concatenate(columns)))
            order = np.lexsort([games_of(whole).seed_indices, games_of(whole).policy_indices])
            if len(order) < 6:
                return []
            message = message_of(games_of(whole).rows(order))
        told = lie(message)
        return told if isinstance(told, list) else [message]

    liar.lies[event] = at_once
    assert said in caught(deceived.evaluate, ["bcts", "random"], **ask)
    if event == "summary" and said != "the evaluation ended without a summary":
        assert said in caught(deceived.evaluate, ["bcts", "random"], **ask, include_results=False)


def test_games_that_were_not_among_the_pairs(liar, deceived):
    liar.lies["results"] = change("seed_indices", tensor(np.array([1], np.int32)))
    said = caught(deceived.evaluate, "bcts", seeds=[1, 2, 3], max_pieces=20, pairs=[[0, 2]])
    assert "not asked for: policy 0, seed 1, episode 0" in said


def test_placements_of_an_afterstate_environment(liar, deceived):
    env = tetrion.AfterstateEnv(address=deceived, features=["holes", "max_height"], observations=["features", "afterstates"])
    for name, value, said in (
        ("features", tensor(np.zeros((9, 1), np.float32)), "features: has shape [9, 1], expected [9, 2]"),
        ("afterstates", None, "afterstates: is required"),
        ("afterstates", tensor(np.zeros((9, 4), np.uint16)), "afterstates: has shape [9, 4], expected 9 rows of [20]"),
        ("row_offsets", tensor(np.array([0, -1], np.int32)), "row_offsets: do not ascend from 0 to 9"),
        ("row_offsets", tensor(np.array([0, 3, 9], np.int32)), "row_offsets: has shape [3], expected [2]"),
        ("actions", tensor(np.zeros(8, np.int32)), "row_offsets: do not ascend from 0 to 8"),
    ):

        def lie(message, name=name, value=value):
            if value is None:
                message.ClearField(name)
            else:
                change(name, value)(message)

        liar.lies["enumerate_placements"] = lie
        assert said in caught(env.reset, options={"piece_sequence": "OO"})
    liar.lies.clear()
    env.reset(seed=1)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("session.observation_specs.0.shape", [0], 'the session\'s observation "board" is none of its rules'),
        ("session.observation_specs.1.shape", [0], 'the session\'s observation "current" is none of its rules'),
        ("session.config.rules.width", 33, 'the session\'s observation "board" is none of its rules'),
        ("session.config.rules.height", 0, 'the session\'s observation "board" is none of its rules'),
    ],
)
def test_afterstates_of_sessions_that_nobody_asked_for(liar, deceived, path, value, said):
    liar.lies["CreateSession"] = change(path, value)
    assert said in caught(tetrion.AfterstateEnv, address=deceived, max_episode_steps=2)


def test_recordings_of_other_games(liar, deceived):
    ask = {"seeds": [1, 2], "max_pieces": 20, "record": "best"}
    for lie, said in (
        (lambda game: [], "is missing"),
        (change("policy_index", 5), "is missing"),
        (lambda game: game.recording.actions.pop(), "20, 19) lines, pieces and steps when played again"),
    ):
        liar.lies["recording"] = lambda game, lie=lie: told if isinstance(told := lie(game), list) else None
        assert said in caught(deceived.evaluate, "bcts", **ask)


def test_several_servers_that_lie(liar, server):
    liar.lies["started"] = change("num_seeds", 2**31)
    with tetrion.Servers([liar.address]) as servers:
        assert "2147483648 seeds, expected 3" in caught(servers.evaluate, "bcts", seeds=[1, 2, 3], max_pieces=20)


def test_frames_of_another_session(liar, deceived):
    session = deceived.create_session(2, seed=1)
    session.reset()
    for lies, said in (
        ({"started": change("session.config.rules.height", 2**31)}, "the rules have 10 columns and 2147483648 rows"),
        ({"started": lambda started: []}, "did not begin"),
        ({"frame": lambda frame: frame.envs.pop() and None}, "1 environments, expected 2"),
        ({"frame": change("envs.0.colors", b"x")}, "cannot be read"),
        ({"frame": change("envs.0.piece", "?")}, "cannot be read"),
    ):
        liar.lies.update(lies)
        assert said in caught(lambda: next(deceived.watch(session.name)))
        liar.lies.clear()


def fields_of(message):
    """Every field of a message and of those in it, with the message that has it."""
    for field in message.DESCRIPTOR.fields:
        yield message, field
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        value = getattr(message, field.name)
        if hasattr(value, "extend"):
            for part in value:
                yield from fields_of(part)
        elif message.HasField(field.name):
            yield from fields_of(value)


# Numbers of each type that are extreme, or that no enum has.
NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 1, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 1, 2**63, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-1, 0, 77, 2**31 - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: (float("nan"), 1e300, -1.0),
    FieldDescriptor.CPPTYPE_FLOAT: (float("nan"), 1e38, -1.0),
}


def changed(dice):
    """A lie that changes a field of an answer, and the path of the field for the test's message."""
    told = []

    def lie(message):
        owner, field = dice.choice(list(fields_of(message)))
        told.append(f"{owner.DESCRIPTOR.name}.{field.name}")
        value, kind = getattr(owner, field.name), field.cpp_type
        numbers = NUMBERS.get(kind)
        if kind == FieldDescriptor.CPPTYPE_STRING:
            numbers = ("", "\x1b[31m\x07", "x" * 300)
        elif field.type == FieldDescriptor.TYPE_BYTES:
            numbers = (b"", bytes(value)[:-1], b"\xff" * len(value))
        elif kind == FieldDescriptor.CPPTYPE_BOOL:
            numbers = (False, True)
        if hasattr(value, "extend") and (numbers is None or dice.random() < 0.5):
            if len(value) and dice.random() < 0.5:
                value.extend(list(value))
            else:
                owner.ClearField(field.name)
        elif hasattr(value, "extend"):
            value.append(dice.choice(numbers or ("",)) if not isinstance(value, bytes) else b"")
        elif numbers is None or dice.random() < 0.1:
            owner.ClearField(field.name)
        else:
            setattr(owner, field.name, dice.choice(numbers))

    return lie, told


def read(result):
    """Reads what an answer became."""
    repr(result)
    if isinstance(result, (tetrion.Observed, tetrion.Stepped)):
        for arrays in (result.observations, result.infos, getattr(result, "final", None)):
            repr(arrays)
    return result


def about(session):
    repr(session)
    read(session.refresh().config)
    return session.rules, session.ttl, session.num_actions, session.action_digits, session.feature_names


EVALUATION = {"seeds": [1, 2], "max_pieces": 10, "progress_interval": 0}
ASKED = {"policy": "dt-10", "cells": True, "anchors": True, "afterstates": True}


def calls_of(client, session, stream):
    """Calls by the answer that is changed."""
    drawing = tetrion.Drawing(["##.."], "T")
    return {
        "GetServerInfo": client.server_info,
        "GetCatalog": lambda: client.catalog(7),
        "GetPolicy": lambda: client.get_policy("dt-10"),
        "GetTask": lambda: client.task("train", 3),
        "ScoreTask": lambda: client.score_task("train", 3, actions=[]),
        "CreateSession": lambda: about(client.create_session(2, features="bcts8")),
        "GetSession": lambda: about(session),
        "Reset": session.reset,
        "Step": lambda: session.step([0, 0], [0, 1]),
        "Render": lambda: (session.render(), session.pictures()),
        "SaveState": session.save_state,
        "RestoreState": lambda: session.restore_state(drawing),
        "EnumeratePlacements": lambda: client.enumerate_placements(drawing, rules={"width": 6}, features="bcts8", **ASKED),
        "reset": stream.reset,
        "step": lambda: stream.step([0, 0]),
        "enumerate_placements": lambda: stream.enumerate_placements(**ASKED),
        "started": lambda: client.evaluate(["dt-10", "bcts"], **EVALUATION),
        "results": lambda: client.evaluate(["dt-10", "bcts"], **EVALUATION),
        "summary": lambda: client.evaluate(["dt-10", "bcts"], **EVALUATION),
        "recording": lambda: client.evaluate("bcts", **EVALUATION, record="best").recordings[0].replay(),
        "frame": lambda: first_frame(client.watch(session)),
    }


NUM_CALLS = 21


def first_frame(watching):
    with watching:
        return next(watching).picture()


def test_no_change_of_an_answer_makes_a_foreign_exception(liar):
    """Fields of answers, changed at random to what is wrong or extreme: whatever becomes of it, or a `TetrionError`."""
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    refused = []
    with tetrion.Client(liar.address, timeout=20, patience=0.1) as client:
        for _ in range(25):
            for place in range(NUM_CALLS):
                liar.lies.clear()
                client._connection._info = client._connection._catalog = None
                with client.create_session(2, seed=1) as session, session.stream() as stream:
                    session.reset()
                    name, call = list(calls_of(client, session, stream).items())[place]
                    liar.lies[name], told = changed(dice)
                    try:
                        read(call())
                    except tetrion.TetrionError as error:
                        refused.append(str(error))
                    except Exception as error:
                        raise AssertionError(f"{name} with {told}") from error
                    liar.lies.clear()
    assert len(refused) > 100
    assert not any("\x1b" in text for text in refused)


@pytest.mark.parametrize("mode", [None, "next_step", "same_step"])
def test_a_piece_that_does_not_exist(liar, mode):
    """A category beyond those of the space, in a step and in a reset."""

    def lie(answer):
        for field in answer.observations:
            if len(field.data) <= 2:
                field.data = bytes([100] * len(field.data))

    with tetrion.Client(liar.address) as client:
        if mode is None:
            env, action = tetrion.PlacementEnv(address=client), 0
        else:
            env, action = tetrion.PlacementVectorEnv(2, address=client, autoreset_mode=mode), np.zeros(2, int)
        env.reset(seed=1)
        for kind, call in (("step", lambda: env.step(action)), ("reset", env.reset)):
            liar.lies[kind] = lie
            with pytest.raises(tetrion.errors.InvalidAnswerError, match="is 100, "):
                call()
            liar.lies.clear()
        env.reset(seed=1)


BIG = """
import resource, sys, tetrion
with tetrion.Client(sys.argv[1], timeout=30, patience=0) as client:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        client.server_info()
    except tetrion.errors.InvalidAnswerError as error:
        print("refused:", error)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, "MiB")
"""


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_answers_that_are_too_large(server, compression):
    """Compressed, the answer has 130 KB."""
    liar = Liar(server.address, compression=compression)
    liar.lies["GetServerInfo"] = lambda answer: pb.GetServerInfoResponse(server_version="0" * (128 << 20))
    done = subprocess.run([sys.executable, "-c", BIG, liar.address], capture_output=True, text=True, timeout=60, check=True)
    liar.close()
    refused, size = done.stdout.splitlines()
    assert refused.startswith("refused:")
    assert int(size.split()[0]) < 64
