"""Ctrl-C in the middle of a call, as in a notebook: the call is done once or not at all, and the next one works."""

import os
import signal

import numpy as np
import pytest
from proxy import Proxy

import tetrion

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers that interrupt")

RULES = {"width": 5, "height": 7, "preview": 1}


@pytest.fixture(autouse=True)
def alarms_are_ctrl_c():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def proxy(server):
    proxy = Proxy(server.address)
    yield proxy
    proxy.close()


@pytest.fixture
def client(proxy):
    with tetrion.Client(proxy.address) as client:
        yield client


def interrupt(proxy, behind, call, *arguments):
    """Makes a call and leaves it with Ctrl-C: before the server hears of it, or when its answer is on the way."""
    proxy.hold(answers=behind)
    # Long after the call has begun, also on a busy machine.
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    with pytest.raises(KeyboardInterrupt):
        call(*arguments)
    proxy.release()


@pytest.mark.parametrize("snapshot_every", [0, 3])
@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
def test_an_interrupted_step_is_done_once(proxy, client, streaming, behind, snapshot_every):
    kwargs = {"rules": RULES, "env_seeds": [5, 6], "autoreset_mode": "same_step", "snapshot_every": snapshot_every}
    seen = []
    for interrupted in (set(), {2, 7, 12, 14}):
        with client.create_session(2, **kwargs) as session:
            calls = session.stream() if streaming else session
            answer = calls.reset()
            for step in range(20):
                # Both ways of a step: an array, and a message.
                actions = np.full(2, step % 2) if step % 3 else [step % 2] * 2
                if step in interrupted:
                    interrupt(proxy, behind, calls.step, actions)
                else:
                    answer = calls.step(actions)
            seen.append((answer.observations["board"].tobytes(), answer.infos["seed"].tobytes(), session.sequence_number))
            seen.append(calls.save_state())
            assert session.refresh().sequence_number == 21
    assert seen[0] == seen[2]
    assert seen[1] == seen[3]


@pytest.mark.parametrize("streaming", [False, True])
def test_an_interrupted_refusal_leaves_the_next_number_free(proxy, client, streaming):
    with client.create_session(rules=RULES, snapshot_every=0) as session:
        calls = session.stream() if streaming else session
        calls.reset(piece_sequences=["OOOO"])
        interrupt(proxy, True, calls.step, [4])
        assert calls.step([0]).infos["pieces"].tolist() == [1]


@pytest.mark.parametrize("behind", [False, True])
def test_requests_sent_ahead_are_still_answered(proxy, client, behind):
    with client.create_session(2, rules=RULES, env_seeds=[5, 6]) as session, session.stream() as stream:
        stream.reset()
        proxy.hold(answers=behind)
        stream.send_step([0], [0])
        interrupt(proxy, behind, stream.receive_step)
        assert stream.in_flight == 1
        assert stream.receive_step().infos["pieces"].tolist() == [1]
        assert stream.step([0, 0]).infos["pieces"].tolist() == [2, 1]


class Interrupted:
    """What makes the calls of a stream, with Ctrl-C right after some: they are done, and Python does not know it."""

    def __init__(self, native, *names):
        self._native, self._names = native, names

    def __getattr__(self, name):
        made = getattr(self._native, name)
        if name not in self._names:
            return made

        def call(*arguments):
            made(*arguments)
            raise KeyboardInterrupt

        return call


@pytest.fixture(params=["in process", "server"])
def anywhere(request, server):
    with tetrion.Client() if request.param == "in process" else tetrion.Client(server.address) as client:
        yield client


@pytest.mark.parametrize(
    ("send", "receive"),
    [
        (lambda stream: stream.send_step(np.array([0, 1])), lambda stream: stream.receive_step()),
        (lambda stream: stream.send_step([1, 0], [1, 0]), lambda stream: stream.receive_step()),
        (lambda stream: stream.send_placements(), lambda stream: stream.receive_placements()),
    ],
    ids=["step", "step of some", "placements"],
)
def test_what_was_sent_or_received_before_ctrl_c_is_known(anywhere, send, receive):
    with anywhere.create_session(2, rules=RULES, env_seeds=[5, 6]) as session, session.stream() as stream:
        stream.reset()
        native = stream._native
        for call, left in (send, 1), (receive, 0):
            stream._native = Interrupted(native, "send", "send_step", "receive_step", "receive_placements")
            with pytest.raises(KeyboardInterrupt):
                call(stream)
            stream._native = native
            assert stream.in_flight == native.in_flight() == left
        assert stream.reset().infos["steps"].tolist() == [0, 0]
        assert stream.step([0, 0]).infos["steps"].tolist() == [1, 1]


@pytest.mark.parametrize("env_id", ["PlacementVectorEnv", "AfterstateVectorEnv"])
@pytest.mark.parametrize("when", ["sent", "received"])
def test_rows_sent_ahead_stay_with_their_games_after_ctrl_c(anywhere, env_id, when):
    envs, twins = (getattr(tetrion, env_id)(4, address=anywhere, rules=RULES) for _ in range(2))
    envs.reset(seed=1)
    twins.reset(seed=1)
    stream, native = envs._stream, envs._stream._native
    for games in ([2, 3], [0, 1]):
        twins.send(np.array([1, 0]), games)
    expected = [twins.recv() for _ in range(2)]

    stream._native = Interrupted(native, *(("send", "send_step") if when == "sent" else ()))
    for games in ([2, 3], [0, 1]):
        try:
            envs.send(np.array([1, 0]), games)
        except KeyboardInterrupt:
            assert when == "sent"
    stream._native = native
    if when == "received":
        stream._native = Interrupted(native, "receive_step")
        with pytest.raises(KeyboardInterrupt):
            envs.recv()
        stream._native = native
        expected = expected[1:]
    for observations, rewards, *_, infos in expected:
        seen, rewarded, *_, told = envs.recv()
        assert told["env_id"].tolist() == infos["env_id"].tolist()
        np.testing.assert_array_equal(rewarded, rewards)
        for name, field in observations.items():
            np.testing.assert_array_equal(seen[name], field)
    with pytest.raises(RuntimeError, match="no actions were sent"):
        envs.recv()
    for one, other in zip(envs.step(np.zeros(4, int))[:4], twins.step(np.zeros(4, int))[:4], strict=True):
        np.testing.assert_equal(one, other)


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.step(2),
        lambda env: env.reset(seed=2),
        lambda env: env.restore_state(tetrion.Drawing([], "L"), reseed=4),
    ],
    ids=["step", "reset", "restore"],
)
def test_an_interrupted_call_leaves_no_old_rows_behind(proxy, client, call, behind):
    """The rows of an afterstate environment mean what they show, also after a call that showed none."""
    env, twin = (tetrion.AfterstateEnv(address=client, rules={"width": 6, "height": 8}) for _ in range(2))
    env.reset(seed=1)
    twin.reset(seed=1)
    interrupt(proxy, behind, call, env)
    call(twin)
    (seen, *_), (expected, *_) = env.step(1), twin.step(1)
    for name, array in expected.items():
        np.testing.assert_array_equal(seen[name], array)


@pytest.mark.parametrize("behind", [False, True])
def test_afterstates_sent_ahead_are_still_answered(proxy, client, behind):
    envs, twins = (tetrion.AfterstateVectorEnv(2, address=client, rules=RULES) for _ in range(2))
    envs.reset(seed=1)
    twins.reset(seed=1)
    proxy.hold(answers=behind)
    envs.step_async(np.array([1, 0]))
    interrupt(proxy, behind, envs.step_wait)
    seen, expected = envs.step_wait()[0], twins.step(np.array([1, 0]))[0]
    for name, array in expected.items():
        np.testing.assert_array_equal(seen[name], array)
    assert envs.step(np.array([0, 0]))[4]["pieces"].tolist() == [2, 2]


def test_a_listener_hears_an_interrupted_call_once(proxy, client):
    with client.create_session(env_seeds=[5]) as session, session.stream() as stream:
        recorder = tetrion.Recorder(session)
        stream.reset()
        for step in range(6):
            if step % 2:
                interrupt(proxy, step == 3, stream.step, np.zeros(1, np.int64))
            else:
                stream.step(np.zeros(1, np.int64))
        stream.save_state()
        recording = recorder.recording()
        assert len(recording) == 6
        assert recording.check() is None


def test_environments_go_on_after_ctrl_c():
    """With the real signal, while the server takes its time to answer."""
    with tetrion.Server() as server, tetrion.Client(server) as client:
        env, envs = tetrion.PlacementEnv(address=client), tetrion.PlacementVectorEnv(256, address=client)
        for one, action in ((env, 0), (envs, np.zeros(256, np.int64))):
            one.reset(seed=1)
            for call in (lambda one=one, action=action: one.step(action), one.reset):
                server._process.send_signal(signal.SIGSTOP)
                os.waitpid(server._process.pid, os.WUNTRACED)
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                with pytest.raises(KeyboardInterrupt):
                    call()
                server._process.send_signal(signal.SIGCONT)
                *_, info = one.reset(seed=1)
                assert np.all(np.asarray(info["steps"]) == 0)
                *_, info = one.step(action)
                assert np.all(np.asarray(info["steps"]) == 1)
