"""One test an exception: how it comes about, and that it says what to do."""

import concurrent.futures
import copy
import functools
import importlib
import multiprocessing
import pickle
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import tetrion
from tetrion._checks.failures import from_call
from tetrion._evaluations.request import evaluation_request
from tetrion._pb import messages as pb
from tetrion._transport.transport import METHODS

CLASSES = [
    kind for kind in vars(tetrion.errors).values() if isinstance(kind, type) and issubclass(kind, tetrion.TetrionError)
]
SPAWN = multiprocessing.get_context("spawn")


def fail(error):
    """In a worker process."""
    raise error


def test_invalid_request_names_the_field(client):
    with pytest.raises(tetrion.InvalidRequestError, match="no_such_preset") as caught:
        client.create_session(rules="no_such_preset")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.code, caught.value.reason) == ("INVALID_ARGUMENT", "UNKNOWN_NAME")
    assert [field for field, _ in caught.value.violations] == ["config.rules.preset"]


def test_rules_without_such_a_field(client):
    with pytest.raises(
        ValueError, match="rules has no field 'widht', did you mean 'width'\\? expected one of preset, width, height"
    ):
        client.create_session(rules={"widht": 6})
    with pytest.raises(
        ValueError, match="scoring has no field 'line', did you mean 'lines'\\? expected one of piece, lines, game_end"
    ):
        tetrion.PlacementEnv(address=client, rules={"scoring": {"line": 1}})


def test_errors_travel_between_processes(client):
    with pytest.raises(tetrion.InvalidRequestError) as caught:
        client.create_session(rules="no_such_preset")
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is tetrion.InvalidRequestError
    assert str(error) == str(caught.value)
    assert vars(error) == vars(caught.value)


def test_every_error_of_the_package_is_known_here():
    assert {
        "TetrionError",
        "InvalidArgumentError",
        "ServerUnavailableError",
        "ServerNotFoundError",
        "ServerNotStartedError",
    } <= {kind.__name__ for kind in CLASSES}
    assert {*tetrion.errors.__all__} - {"VersionWarning"} == {kind.__name__ for kind in CLASSES}
    for name in tetrion.__all__:
        if name.endswith("Error"):
            assert getattr(tetrion, name) is getattr(tetrion.errors, name)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_made_of_a_message_keeps_it(kind):
    """As libraries raise errors again: `type(error)(message)`, with the text or with the error itself."""
    error = kind("one message")
    for made in (
        error,
        kind(str(error)),
        kind(error),
        pickle.loads(pickle.dumps(error)),
        copy.copy(error),
        copy.deepcopy(error),
    ):
        assert type(made) is kind
        assert (str(made), made.args, made.details) == ("one message", ("one message",), "one message")
        assert made.violations == []
        assert made.code == ("INVALID_ARGUMENT" if kind is tetrion.InvalidArgumentError else "UNKNOWN")


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_of_a_call_keeps_what_it_knows(kind):
    if kind is tetrion.InvalidArgumentError:
        error = kind("width", "is 50, expected 4 to 32")
        assert str(error) == "width is 50, expected 4 to 32"
        assert error.violations == [("width", "is 50, expected 4 to 32")]
    else:
        known = {"reason": "SOME_REASON", "metadata": {"key": "value"}, "violations": [("field", "wrong")]}
        error = kind("a message", code="ABORTED", **known, retry_after=2.5, request_id="run-7")
        assert str(error).startswith("a message (ABORTED SOME_REASON, request run-7)")
        assert str(error).endswith(kind.advice)
    for made in (kind(error), pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(made) is kind
        assert (str(made), vars(made)) == (str(error), vars(error))


def test_errors_come_out_of_worker_processes():
    with concurrent.futures.ProcessPoolExecutor(1, SPAWN) as pool:
        for kind in CLASSES:
            error = kind("one message")
            came = pool.submit(fail, error).exception(timeout=60)
            assert (type(came), str(came), vars(came) | vars(error)) == (kind, "one message", vars(came))
    with SPAWN.Pool(1) as pool:
        for kind in CLASSES:
            with pytest.raises(kind, match=r"^one message$"):
                pool.apply(fail, [kind("one message")])


ARGUMENTS = [
    ({"rules": {"widht": 6}}, "rules has no field 'widht', did you mean 'width'?"),
    ({"rules": {"width": "6"}}, "rules.width is '6', expected an integer"),
    ({"observations": "board"}, "observations is 'board', expected a list of names"),
    ({"features": 5}, "features is 5, expected"),
    ({"invalid_action_policy": "ignroe"}, "invalid_action_policy is 'ignroe', did you mean 'ignore'?"),
    ({"render_mode": "asni"}, "render_mode is 'asni'"),
    ({"render_scale": "big"}, "render_scale is 'big'"),
    ({"address": "http://127.0.0.1:1"}, "address is 'http://127.0.0.1:1', expected 'host:port'"),
    ({"token": "a\nb"}, "token cannot be sent"),
    ({"ttl": -1}, "ttl is -1, expected seconds"),
]


@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Keypress-v0"])
@pytest.mark.parametrize(("given", "said"), ARGUMENTS, ids=str)
@pytest.mark.filterwarnings("ignore:.*The environment is being initialised with render_mode:UserWarning")
def test_wrong_arguments_come_out_of_gymnasium(env_id, given, said):
    given = {"address": "127.0.0.1:1", **given}
    one = functools.partial(gymnasium.make, env_id, **given)
    for make in (
        one,
        lambda: gymnasium.make_vec(env_id, num_envs=2, **given),
        lambda: gymnasium.make_vec(env_id, num_envs=2, vectorization_mode="sync", **given),
        lambda: gymnasium.make_vec(env_id, num_envs=2, vectorization_mode="async", **given),
        lambda: SyncVectorEnv([one] * 2),
        lambda: AsyncVectorEnv([one] * 2, context="spawn"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            make()
        assert isinstance(caught.value, tetrion.TetrionError)
        assert str(caught.value).startswith(said)
        assert "with kwargs" not in str(caught.value), "the token would be among them"


def make_for(address):
    return tetrion.PlacementEnv(address=address)


@pytest.mark.filterwarnings("ignore:.*ERROR:UserWarning", "ignore:.*WARN:UserWarning")  # gymnasium's log
def test_errors_come_out_of_the_workers_of_gymnasium(client):
    envs = [functools.partial(make_for, client.address)] * 2
    for context in (None, "spawn"):
        made = SyncVectorEnv(envs) if context is None else AsyncVectorEnv(envs, context=context)
        with pytest.raises(
            tetrion.InvalidArgumentError, match=r"options has 'piece_sequnce', .* did you mean 'piece_sequence'"
        ):
            made.reset(options={"piece_sequnce": "I"})
        made.close()
        made = SyncVectorEnv(envs) if context is None else AsyncVectorEnv(envs, context=context)
        made.reset(seed=1)
        with pytest.raises(tetrion.IllegalActionError, match=r"ACTION_OUT_OF_RANGE, request \w+\); choose among") as caught:
            made.step(np.array([0, 40]))
        assert [field for field, _ in caught.value.violations] == ["actions[0]"]
        made.close()


@pytest.mark.parametrize(("extra", "library"), [("ray", "ray"), ("sb3", "stable_baselines3")])
def test_extras_say_how_to_get_them(monkeypatch, extra, library):
    monkeypatch.setitem(sys.modules, library, None)  # not installed
    monkeypatch.delitem(sys.modules, f"tetrion.{extra}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install './clients/python\[{extra}\]'") as caught:
        importlib.import_module(f"tetrion.{extra}")
    assert caught.value.name == library


def test_illegal_action_moves_nothing(client):
    with client.create_session(3, seed=1) as session:
        mask = session.reset().action_mask
        legal, illegal = mask.argmax(axis=1), mask.argmin(axis=1)
        with pytest.raises(tetrion.IllegalActionError, match="action_masks") as caught:
            session.step([legal[0], illegal[1], legal[2]])
        assert [field for field, _ in caught.value.violations] == ["actions[1]"]
        with pytest.raises(tetrion.IllegalActionError) as caught:
            session.step([legal[0], legal[1], 40])
        assert caught.value.reason == "ACTION_OUT_OF_RANGE"
        assert session.step(legal).infos["pieces"].tolist() == [1, 1, 1]


def test_response_too_large_says_how_many_fit(client):
    with pytest.raises(tetrion.errors.ResponseTooLargeError, match="fewer") as caught:
        client.create_session(65536, rules={"width": 32, "height": 40})
    assert 0 < int(caught.value.metadata["max_rows"]) < 65536


def test_request_too_large(client):
    too_large = bytes(client.server_info().limits.messages.max_request_bytes + 1)
    with pytest.raises(tetrion.errors.RequestTooLargeError, match="split") as caught:
        client.enumerate_placements(too_large)
    assert (caught.value.code, caught.value.reason) == ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE")
    assert caught.value.metadata == {"max_bytes": str(len(too_large) - 1)}


def test_session_not_found(client):
    session = client.create_session()
    session.close()
    with pytest.raises(tetrion.SessionNotFoundError, match="create a new session"):
        session.reset()


def test_reset_needed(client):
    with client.create_session() as session:
        with pytest.raises(tetrion.ResetNeededError, match="call `reset` first") as caught:
            session.step([0])
        assert isinstance(caught.value, gymnasium.error.ResetNeeded)


def test_episode_ended(client):
    with client.create_session(piece_sequences=["O"], autoreset_mode="disabled") as session:
        session.reset()
        assert session.step([0]).truncated.all()
        with pytest.raises(tetrion.EpisodeEndedError, match=r"call `env\.reset\(\)`.*reset_mask"):
            session.step([0])


def test_version_mismatch(client):
    with pytest.raises(tetrion.errors.VersionMismatchError) as caught:
        client.evaluate("bcts", seeds=[1], rules_version="another")
    versions = {"another", client.server_info().rules_version}
    assert {caught.value.metadata["expected"], caught.value.metadata["got"]} == versions


def test_sequence_mismatch_is_cured_by_refresh(client):
    with client.create_session(seed=1) as session:
        other = tetrion.Session(client._connection, session._message)
        session.step([int(session.reset().action_mask[0].argmax())])
        with pytest.raises(tetrion.errors.SequenceMismatchError, match="refresh"):
            other.reset()
        other.refresh()
        assert other.reset().infos["pieces"] == [0]


def test_server_full():
    with tetrion.Server(args=["--max-sessions", "1"]) as server, tetrion.Client(server) as client:
        client.create_session()
        with pytest.raises(tetrion.errors.ServerFullError, match="SESSION_LIMIT") as caught:
            client.create_session()
        assert caught.value.retry_after > 0


def test_unauthenticated():
    with tetrion.Server(args=["--token", "open sesame"]) as server:
        with tetrion.Client(server) as client, pytest.raises(tetrion.errors.UnauthenticatedError, match="token="):
            client.server_info()
        with tetrion.Client(server, token="open sesame") as client:
            assert client.server_info().server_version


def test_server_unavailable():
    with tetrion.Server() as server:
        address = server.address
    with tetrion.Client(address) as client, pytest.raises(tetrion.ServerUnavailableError, match="address is `host:port`"):
        client.server_info()


def test_a_client_that_was_closed_says_so(server):
    client = tetrion.Client(server)
    envs = tetrion.PlacementVectorEnv(2, address=client)
    envs.reset(seed=0)
    env = tetrion.PlacementEnv(address=client, render_mode="rgb_array")
    env.reset(seed=0)
    session = client.create_session(2)
    session.reset()
    recorder = tetrion.Recorder(session)
    session.step([0, 0])
    run = client.start_evaluation("bcts", seeds=[1])
    client.close()
    assert len(recorder.recording(0)) == 1
    for call in (
        lambda: client.create_session(2),
        client.server_info,
        lambda: client.catalog(20),
        lambda: client.evaluate("bcts", seeds=[1]),
        lambda: list(client.start_evaluation("bcts", seeds=[1])),
        lambda: tetrion.PlacementEnv(address=client),
        lambda: client.watch(session),
        run.result,
        lambda: session.step([0, 0]),
        lambda: session.stream().step([0, 0]),
        lambda: envs.reset(seed=0),
        lambda: envs.step(np.array([0, 0])),
        lambda: env.step(0),
        env.save_state,
        env.render,
    ):
        with pytest.raises(tetrion.TetrionError, match=rf"^the client of {server.address} was closed.*; make a new one"):
            call()
    # Ending what is gone is no error.
    session.close()
    envs.close()
    env.close()
    recorder.close()
    client.close()


def test_sessions_stay_in_their_process(client):
    with client.create_session(2) as session, session.stream() as stream:
        for made, name in ((session, "Session"), (stream, "StepStream")):
            for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match=rf"^a {name} cannot be pickled or copied; .*clone\(\)"):
                    duplicate(made)


def test_not_built(client, monkeypatch):
    # What a server cannot do changes from version to version; a method that there is not, it never has.
    nothing = METHODS["GetServerInfo"]._replace(path="/tetrion.v1.EnvironmentService/Nothing")
    monkeypatch.setitem(METHODS, "Nothing", nothing)
    with pytest.raises(tetrion.errors.UnimplementedError, match="server_version"):
        client._connection.call("Nothing", pb.GetServerInfoRequest())


def test_deadline_exceeded(client):
    # A good controller on a large playfield does not lose for hours.
    request = evaluation_request("bcts", seeds=[1])
    messages = client._connection._transport.stream("EvaluatePolicies", request, 0.3, ())
    with pytest.raises(tetrion.errors.DeadlineExceededError, match="timeout"):
        list(messages)


def test_internal_error_keeps_the_id():
    error = from_call("INTERNAL", "internal error 0123", "", {}, [], None, "")
    assert isinstance(error, tetrion.errors.InternalError)
    assert "0123" in str(error)
    assert "report" in str(error)


def test_errors_in_a_stream_leave_it_alive(client):
    with client.create_session(2, seed=1) as session, session.stream() as stream:
        with pytest.raises(tetrion.ResetNeededError):
            stream.step([0, 0])
        mask = stream.reset().action_mask
        with pytest.raises(tetrion.IllegalActionError) as caught:
            stream.step(mask.argmin(axis=1))
        assert [field for field, _ in caught.value.violations] == ["actions[0]", "actions[1]"]
        assert stream.step(mask.argmax(axis=1)).infos["pieces"].tolist() == [1, 1]


def test_actions_that_are_no_integers_are_not_rounded(client):
    with client.create_session(2, seed=1) as session:
        session.reset()
        with pytest.raises(ValueError, match=r"actions\[0\] is 0.5, expected an integer from -2147483648 to 2147483647"):
            session.step(np.array([0.5, 1.0]))


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ([-(2**63) - 1], f"seeds[0] is {-(2**63) - 1}"),
        ([[1, 2], [3, 2**64]], f"seeds[1, 1] is {2**64}"),
        ([7, 2**64], f"seeds[1] is {2**64}"),
        ([0.5, 1.0], "seeds[0] is 0.5"),
        ([1.0, float("nan")], "seeds[1] is nan"),
        (["one"], "seeds[0] is 'one'"),
    ],
)
def test_seeds_that_are_none_are_named(client, seeds, said):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        client.evaluate("bcts", seeds=seeds)
    assert str(caught.value) == f"{said}, expected an integer from 0 to {2**64 - 1}"


def test_errors_show_the_id_of_their_request(client):
    def refused(own):
        with pytest.raises(tetrion.InvalidRequestError) as caught:
            own.create_session(rules="no_such_preset")
        return caught.value

    with tetrion.Client(client.address) as own:
        made = refused(own)
        assert len(made.request_id) == 32
        assert f"(INVALID_ARGUMENT UNKNOWN_NAME, request {made.request_id}); " in str(made)
        own.request_id = "run-7"
        assert refused(own).request_id == "run-7"
        for wrong in ("two words", "\u00e9", "a" * 129, 5):
            with pytest.raises(tetrion.InvalidArgumentError, match=r"request_id is .*, expected at most 128 visible ASCII"):
                own.request_id = wrong
        assert own.request_id == "run-7"
        own.request_id = ""
        assert refused(own).request_id not in ("", "run-7", made.request_id)
