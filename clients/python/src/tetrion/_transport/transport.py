"""What a connection makes its calls through: a server, several servers, or the services in this process.

A transport knows how calls travel, and nothing of what they are about. Its failures are `TetrionError`s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tetrion import _native
from tetrion._pb import messages as pb

Metadata = Sequence[tuple[str, str]]


class Method(NamedTuple):
    """A call of the protocol.

    Attributes:
        path: Its path in requests.
        answer: The class of its answers.
        request: The class of its requests.
    """

    path: str
    request: Any
    answer: Any


# Every call of the protocol by its name.
METHODS = {
    name: Method(path, getattr(pb, request), getattr(pb, answer)) for name, path, request, answer in _native.methods()
}


class Answers(Protocol):
    """The answers of a call, one after the other."""

    def __iter__(self) -> Answers:
        """The answers themselves."""
        ...

    def __next__(self) -> Any:
        """Waits for the next answer.

        Raises:
            StopIteration: There are no more.
            TetrionError: The call failed.
        """
        ...

    def cancel(self) -> None:
        """Ends the call; a thread that waits for an answer gets none."""
        ...


class Transport(Protocol):
    """Where calls go."""

    def call(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Makes a call with one answer, and returns it.

        Raises:
            TetrionError: The call failed.
        """
        ...

    def stream(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Answers:
        """Begins a call with one request and many answers."""
        ...

    def callers(self) -> dict[str, Any]:
        """The servers by name, each a `_native.Channel` or `_native.Services`."""
        ...

    def refresh(self) -> None:
        """Looks for servers that have come, at the next call."""
        ...

    def close(self) -> None:
        """Ends every call."""
        ...
