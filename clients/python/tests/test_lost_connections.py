"""Connections break at the worst moment, and every step is still taken once."""

import threading
from collections.abc import Iterator

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
