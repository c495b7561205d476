"""Connections break at the worst moment, and every step is still taken once."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from proxy import Proxy

import tetrion


@pytest.fixture
def proxy(server: tetrion.Server) -> Iterator[Proxy]:
    proxy = Proxy(server.address)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("streaming", [True, False])
def test_an_answer_that_was_lost_is_given_again(remote, proxy, streaming):
    with tetrion.Client(proxy.address) as through, through.create_session(3, seed=1) as session:
        calls = session.stream() if streaming else session
        seen = calls.reset()
        twin = remote.create_session(3, seed=1)
        twin.reset()
        watcher = tetrion.Session(remote._connection, session._message)
        for _ in range(3):
            actions = seen.action_mask.argmax(axis=1)
            proxy.swallowing = True
            answers = []
            asking = threading.Thread(target=lambda: answers.append(calls.step(actions)))  # noqa: B023
            before = session.sequence_number if not streaming else watcher.refresh().sequence_number
            asking.start()
            # The server has done the step, and its answer has gone nowhere.
            while watcher.refresh().sequence_number == before:
                assert asking.is_alive()
            proxy.cut()
            asking.join(timeout=60)
            (seen,) = answers
            expected = twin.step(actions)
            assert seen.infos["pieces"].tolist() == expected.infos["pieces"].tolist()
            assert seen.observations["board"].tobytes() == expected.observations["board"].tobytes()
        if streaming:
            calls.close()


def test_a_stream_comes_back_after_a_pause(proxy):
    with tetrion.Client(proxy.address) as client, client.create_session(2, seed=1) as session:
        stream = session.stream()
        stream.reset()
        proxy.cut()
        stream.send_step([0, 0])
        stream.send_step([1, 1])
        pieces = [stream.receive_step().infos["pieces"].tolist() for _ in range(2)]
        assert pieces == [[1, 1], [2, 2]]
        stream.close()


@pytest.mark.parametrize("kind", [tetrion.PlacementVectorEnv, tetrion.AfterstateVectorEnv])
@pytest.mark.parametrize("ahead", [False, True])
def test_an_environment_goes_on_after_its_server_was_away_for_too_long(proxy, kind, ahead):
    """The call fails, and each later answer is that to its own call."""
    with tetrion.Client(proxy.address, patience=0.3) as client:
        envs, twins = (kind(2, address=address, rules={"width": 6, "height": 8}) for address in (client, None))
        actions = np.array([1, 1])
        for env in (envs, twins):
            env.reset(seed=1)
            env.step(actions)
        if ahead:
            proxy.hold(answers=True)
            envs.step_async(actions)
        proxy.leave()
        with pytest.raises(tetrion.ServerUnavailableError):
            envs.step_wait() if ahead else envs.step(actions)
        proxy.come_back()
        if ahead and envs._stream.in_flight:
            with pytest.raises(RuntimeError, match="receive the answers"):
                envs.step(actions)
            envs._stream.receive_step()
        envs.reset(seed=3)
        twins.reset(seed=3)
        for _ in range(3):
            (seen, *_, infos), (expected, *_, wanted) = envs.step(actions), twins.step(actions)
            for name, array in expected.items():
                np.testing.assert_array_equal(seen[name], array)
            np.testing.assert_array_equal(infos["pieces"], wanted["pieces"])
        envs.close()
