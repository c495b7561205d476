"""Calls by the extension module `tetrion._native`, to the services in this process or to a server.

A transport hands encoded messages to the extension module, and reads its answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tetrion import _native
from tetrion._checks.failures import from_call, invalid_answer
from tetrion._transport.transport import METHODS, Answers, Exchange, Metadata, Transport


class NativeRequest:
    """A request of a stream that the extension module writes, and whose answer it reads.

    This is no abstract class, because `isinstance` takes ten times as long with one.
    """

    __slots__ = ()

    def message(self) -> Any:
        """The same request as a message."""
        raise NotImplementedError

    def send(self, stream: Any) -> None:
        """Sends the request over a stream."""
        raise NotImplementedError

    def receive(self, stream: Any) -> Any:
        """The answer on a stream, or the bytes of a message."""
        raise NotImplementedError


@contextlib.contextmanager
def translated(*, inside: bool = False) -> Iterator[None]:
    """Turns the exceptions of the extension module and of messages into those of this package."""
    try:
        yield
    except _native.CallError as error:
        raise from_call(*error.args, inside=inside) from None
    except _native.AnswerError as error:
        raise invalid_answer(str(error)) from None


def as_message(request: Any) -> Any:
    """A request as a message."""
    return request.message() if isinstance(request, NativeRequest) else request


class Native(Transport):
    """Calls that the extension module makes.

    Attributes:
        is_inside: Whether the services are in this process.
    """

    is_inside = False

    def __init__(self, caller: Any) -> None:
        """Makes calls through `caller`, a `_native.Services` or a `_native.Channel`."""
        self._caller = caller

    def call(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Makes a call with one answer."""
        path, _, answer = METHODS[method]
        with translated(inside=self.is_inside):
            return answer.decode(self._caller.call(path, request.encode(), metadata, timeout))

    def stream(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Answers:
        """Begins a call with one request and many answers."""
        path, _, answer = METHODS[method]
        with translated(inside=self.is_inside):
            call = self._caller.stream(path, request.encode(), metadata, timeout)
        return _Answers(call, answer, is_inside=self.is_inside)

    def exchange(self, method: str, metadata: Metadata) -> Exchange:
        """Begins a call with many requests and many answers."""
        path, _, answer = METHODS[method]
        with translated(inside=self.is_inside):
            call = self._caller.exchange(path, metadata)
        return _Answers(call, answer, is_inside=self.is_inside)

    def callers(self) -> dict[str, Any]:
        """The one server, which needs no name."""
        return {"": self._caller}

    def refresh(self) -> None:
        """Does nothing: there is one server."""


class _Answers:
    """The answers of a call, decoded, with failures as `TetrionError`s."""

    def __init__(self, call: Any, answer: Any, *, is_inside: bool) -> None:
        self._call = call
        self.is_inside = is_inside
        self._decode = answer.decode
        self.end = call.end
        self.cancel = call.cancel

    def __iter__(self) -> _Answers:
        return self

    def __next__(self) -> Any:
        return self.receive(None)

    def receive(self, request: Any) -> Any:
        with translated(inside=self.is_inside):
            answer = request.receive(self._call) if isinstance(request, NativeRequest) else next(self._call)
            return self._decode(answer) if isinstance(answer, bytes) else answer

    def send(self, request: Any) -> None:
        if isinstance(request, NativeRequest):
            request.send(self._call)
        else:
            self._call.send(request.encode())
