"""Several equal servers as one: calls go to them in turn, and to another one if a server does not answer.

A lost server rests, longer after each failure. Then one call first asks it whether it is there again, and waits a second at
most. So a machine that vanished without a word costs its callers little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tetrion._pb import messages as pb
from tetrion._transport.transport import Answers, Metadata, Transport
from tetrion.errors import DeadlineExceededError, ServerUnavailableError, TetrionError

# Seconds that a lost server rests: after its first failure, and at most. Each further failure doubles them.
_FIRST_REST, _LONGEST_REST = 0.1, 10.0
# Seconds in which a server that has rested must answer.
_PROBE = 1.0


class _Server:
    """A server and its rest.

    Attributes:
        transport: The connection to it.
        rest: Seconds of the rest after its last failure; 0: it has answered since.
        until: End of the rest, on the monotonic clock.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.rest = 0.0
        self.until = 0.0


class Balanced(Transport):
    """Calls to several servers. Threads may share it."""

    def __init__(self, look_up: Callable[[], Iterable[str]], connect: Callable[[str], Transport]) -> None:
        """Looks for the servers at the first call, and again after each loss.

        Args:
            look_up: The addresses of the servers at present. It may raise a `ServerUnavailableError`.
            connect: The connection to the server at an address.
        """
        self._look_up = look_up
        self._connect = connect
        self._lock = threading.Lock()
        self._servers: dict[str, _Server] = {}
        self._is_stale = True
        self._turn = 0
        self._failure = ServerUnavailableError("the name of the servers has no address", code="UNAVAILABLE")

    def call(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Makes a call with one answer. Repeating it is safe: the server knows a repetition of what changes something."""
        for server in self._in_turn(metadata):
            try:
                return server.transport.call(method, request, timeout, metadata)
            except ServerUnavailableError as error:
                self._lose(server, error)
        raise self._failure

    def stream(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Answers:
        """Begins a call with many answers, all from one server."""
        return _Answers(self, lambda transport: transport.stream(method, request, timeout, metadata), metadata)

    def callers(self) -> dict[str, Any]:
        """The servers by their addresses."""
        with self._lock:
            self._look()
            return {address: caller for address, one in self._servers.items() for caller in one.transport.callers().values()}

    def refresh(self) -> None:
        """Looks the servers up again at the next call."""
        self._is_stale = True

    def close(self) -> None:
        """Ends every call."""
        for server in self._servers.values():
            server.transport.close()

    def _in_turn(self, metadata: Metadata) -> Iterator[_Server]:
        """The servers that a call tries, each once: the next one, and after its failure another."""
        tried: set[_Server] = set()
        while True:
            with self._lock:
                self._look()
                now = time.monotonic()
                left = [server for server in self._servers.values() if server not in tried]
                well = [server for server in left if not server.rest]
                rested = [server for server in left if server.rest and (not well or server.until <= now)]
                # One call takes one risk, unless nothing else is left. No other call takes it meanwhile.
                rested = rested[: 1 if well else None]
                for server in rested:
                    server.until = now + _PROBE
                if well:
                    well = [well[self._turn % len(well)]]
                    self._turn += 1
            chosen = next((server for server in rested if self._answers(server, metadata)), well[0] if well else None)
            if chosen is None:
                return
            tried.add(chosen)
            yield chosen

    def _look(self) -> None:
        """Looks the servers up if one was lost; keeps those that are known if that fails."""
        if not self._is_stale:
            return
        try:
            addresses = list(self._look_up())
        except ServerUnavailableError:
            if not self._servers:
                raise
            addresses = list(self._servers)
        self._servers = {one: self._servers.get(one) or _Server(self._connect(one)) for one in addresses}
        self._is_stale = False

    def _answers(self, server: _Server, metadata: Metadata) -> bool:
        """Whether a server that has rested is there again."""
        try:
            server.transport.call("GetServerInfo", pb.GetServerInfoRequest(), _PROBE, metadata)
        except (DeadlineExceededError, ServerUnavailableError):
            server.rest = min(max(2 * server.rest, _FIRST_REST), _LONGEST_REST)
            server.until = time.monotonic() + server.rest
            return False
        except TetrionError:
            pass  # The server refuses, so it is there; the call that follows shows why.
        server.rest = 0.0
        return True

    def _lose(self, server: _Server, failure: ServerUnavailableError) -> None:
        self._failure, self._is_stale = failure, True
        server.until = time.monotonic() + _FIRST_REST
        server.rest = server.rest or _FIRST_REST


class _Answers:
    """The answers of a call, from the first server that gives one."""

    def __init__(self, balanced: Balanced, begin: Callable[[Transport], Answers], metadata: Metadata) -> None:
        self._balanced = balanced
        self._begin = begin
        self._servers = balanced._in_turn(metadata)
        self._server: _Server | None = None
        self._call: Answers | None = None
        self._has_answered = False

    def __iter__(self) -> _Answers:
        return self

    def __next__(self) -> Any:
        while True:
            if self._call is None:
                self._server = next(self._servers, None)
                if self._server is None:
                    raise self._balanced._failure
                self._call = self._begin(self._server.transport)
            try:
                answer = next(self._call)
            except ServerUnavailableError as error:
                assert self._server is not None, "it has the call"
                self._balanced._lose(self._server, error)
                if self._has_answered:
                    raise
                self._call = None
            else:
                self._has_answered = True
                return answer

    def cancel(self) -> None:
        if self._call is not None:
            self._call.cancel()
