"""Calls by the extension module `tetrion._native`, to the services in this process or to a server.

Python encodes and decodes the messages; the extension module makes the calls.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from tetrion._checks.failures import from_call, invalid_answer
from tetrion._transport.transport import METHODS, Answers, Exchange, Metadata, Transport

module: Any
try:
    from tetrion import _native as module
except ImportError:  # A package without it uses servers alone, through grpcio.
    module = None


class Native(Transport):
    """Calls that the extension module makes."""

    def __init__(self, caller: Any) -> None:
        """Makes calls through `caller`, a `_native.Services` or a `_native.Channel`."""
        self._caller = caller

    def call(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Makes a call with one answer."""
        path, _, answer = METHODS[method]
        try:
            return answer.FromString(self._caller.call(path, request.SerializeToString(), metadata, timeout))
        except module.CallError as error:
            raise from_call(*error.args) from None
        except DecodeError as error:
            raise invalid_answer(str(error)) from None

    def stream(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Answers:
        """Begins a call with one request and many answers."""
        path, _, answer = METHODS[method]
        try:
            call = self._caller.stream(path, request.SerializeToString(), metadata, timeout)
        except module.CallError as error:
            raise from_call(*error.args) from None
        return _Answers(call, answer)

    def exchange(self, method: str, metadata: Metadata) -> Exchange:
        """Begins a call with many requests and many answers."""
        path, _, answer = METHODS[method]
        try:
            call = self._caller.exchange(path, metadata)
        except module.CallError as error:
            raise from_call(*error.args) from None
        return _Answers(call, answer)


class _Answers:
    """The answers of a call, decoded, with failures as `TetrionError`s."""

    def __init__(self, call: Any, answer: Any) -> None:
        self._call = call
        self._decode = answer.FromString
        self.end = call.end
        self.cancel = call.cancel

    def __iter__(self) -> _Answers:
        return self

    def __next__(self) -> Any:
        try:
            return self._decode(next(self._call))
        except module.CallError as error:
            raise from_call(*error.args) from None
        except DecodeError as error:
            raise invalid_answer(str(error)) from None

    def send(self, request: Any) -> None:
        self._call.send(request.SerializeToString())
