"""Ctrl-C in the middle of a call, as in a notebook: the call is done once or not at all, and the next one works."""

import os
import signal

import numpy as np
import pytest

import tetrion

RULES = {"width": 5, "height": 7, "preview": 1}


class Interrupting:
    """The call of a stream, with a Ctrl-C before or behind the next answer."""

    def __init__(self, exchange, behind):
        self.exchange, self.behind = exchange, behind
        self.send, self.cancel = exchange.send, exchange.cancel

    def receive(self, request):
        if self.behind:
            self.exchange.receive(request)
        raise KeyboardInterrupt


class Listener:
    """With one, calls in this process are made with messages, which can be interrupted."""

    unsaved = frozenset()

    def heard(self, kind, request, response):
        pass

    def saved(self, env_ids, states):
        pass


def interrupt(stream, behind):
    if stream._link.direct is not None:
        stream._link.listeners = [Listener()]
    stream._exchange = Interrupting(stream._opened(), behind)


@pytest.mark.parametrize("snapshot_every", [0, 3])
@pytest.mark.parametrize("behind", [False, True])
def test_an_interrupted_step_is_done_once(client, behind, snapshot_every):
    kwargs = {"rules": RULES, "env_seeds": [5, 6], "autoreset_mode": "same_step", "snapshot_every": snapshot_every}
    seen = []
    for interrupted in (set(), {2, 7, 12, 14}):
        with client.create_session(2, **kwargs) as session, session.stream() as stream:
            answer = stream.reset()
            for step in range(20):
                actions = np.zeros(2, np.int64)
                if step in interrupted:
                    interrupt(stream, behind)
                    with pytest.raises(KeyboardInterrupt):
                        stream.step(actions)
                    assert stream.in_flight == 0
                else:
                    answer = stream.step(actions)
            seen.append((answer.observations["board"].tobytes(), answer.infos["seed"].tobytes(), session.sequence_number))
            seen.append(stream.save_state())
    assert seen[0] == seen[2]
    assert seen[1] == seen[3]


def test_an_interrupted_refusal_leaves_the_next_number_free(client):
    with client.create_session(rules=RULES, snapshot_every=0) as session, session.stream() as stream:
        stream.reset(piece_sequences=["OOOO"])
        interrupt(stream, behind=True)
        with pytest.raises(KeyboardInterrupt):
            stream.step([4])
        assert stream.step([0]).infos["pieces"].tolist() == [1]


def test_requests_sent_ahead_are_still_answered(client):
    with client.create_session(2, rules=RULES, env_seeds=[5, 6]) as session, session.stream() as stream:
        stream.reset()
        stream.send_step([0], [0])
        interrupt(stream, behind=False)
        with pytest.raises(KeyboardInterrupt):
            stream.receive_step()
        assert stream.in_flight == 1
        assert stream.receive_step().infos["pieces"].tolist() == [1]
        assert stream.step([0, 0]).infos["pieces"].tolist() == [2, 1]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers that interrupt")
def test_environments_go_on_after_ctrl_c():
    """With the real signal, while the server takes its time to answer."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
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
    finally:
        signal.signal(signal.SIGALRM, before)
