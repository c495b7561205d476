"""Calls by the extension module `tetrion._native`, to the services in this process or to a server.

A transport hands encoded messages to the extension module, and reads its answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tetrion import _native
from tetrion._checks.failures import from_call, invalid_answer
from tetrion._transport.transport import METHODS, Answers, Metadata, Transport
from tetrion.errors import TetrionError


@contextlib.contextmanager
def translated(*, inside: bool = False) -> Iterator[None]:
    """Turns the exceptions of the extension module and of messages into those of this package."""
    try:
        yield
    except (_native.CallError, _native.AnswerError) as error:
        raise exception_of(error, inside=inside) from None


def exception_of(error: _native.CallError | _native.AnswerError, *, inside: bool) -> TetrionError:
    """The exception of this package for one of the extension module."""
    if isinstance(error, _native.AnswerError):
        return invalid_answer(str(error))
    return from_call(*error.args, inside=inside)


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
        self.cancel = call.cancel

    def __iter__(self) -> _Answers:
        return self

    def __next__(self) -> Any:
        with translated(inside=self.is_inside):
            return self._decode(next(self._call))
