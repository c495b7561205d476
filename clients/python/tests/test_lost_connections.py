"""Connections break at the worst moment, and every step is still taken once."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

import tetrion


class Proxy:
    """Passes bytes on to a server; it can swallow the answers, and cut every connection."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.swallowing = False
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._upstream)
            self._sockets += [client, server]
            threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while data := source.recv(65536):
                if not (answers and self.swallowing):
                    sink.sendall(data)
        except OSError:
            pass  # cut

    def cut(self) -> None:
        self.swallowing = False
        # A client connects again at once; that connection is not to be cut, and goes into a new list.
        ends, self._sockets = self._sockets, []
        for end in ends:
            # shutdown wakes the thread that waits for bytes; close alone does not.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()


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
