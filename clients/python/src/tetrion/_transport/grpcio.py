"""Connections to servers by grpcio; see `remote` for the cases that need it."""

from __future__ import annotations

import atexit
import ctypes
import os
import queue
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from tetrion._checks.failures import from_call, invalid_answer
from tetrion._messages.answers import MAX_BYTES
from tetrion._transport.tls import Tls
from tetrion._transport.transport import METHODS, Answers, Exchange, Metadata, Transport, waits
from tetrion.errors import ForkedClientError, TetrionError

_OPTIONS: list[tuple[str, Any]] = [
    # Over a Unix socket or a list of addresses gRPC would send an authority that HTTP/2 servers refuse.
    ("grpc.default_authority", "localhost"),
    # An answer has at most so many bytes; what streams wrap around it has far less than 1 KiB.
    ("grpc.max_receive_message_length", MAX_BYTES + 1024),
    # The server has limits of its own and reports them.
    ("grpc.max_send_message_length", -1),
    # No compressed answers: gRPC does not limit what they grow to, a thousandfold at worst. Tetrion servers compress with
    # zstd alone, which it does not read.
    ("grpc.compression_enabled_algorithms_bitset", 1),
    # Error details come as metadata.
    ("grpc.max_metadata_size", 32 << 10),
    # Pings, which the server takes, notice a peer that has vanished, in a long evaluation too.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # A server that comes back is found within a second; gRPC's own pauses grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # We repeat lost calls ourselves, and know how to make lost sessions again; gRPC's own retries cost every call 10 us.
    ("grpc.enable_retries", 0),
    # Like the extension module: no proxy that the environment names.
    ("grpc.enable_http_proxy", 0),
]

_DETAILS_KEY = "grpc-status-details-bin"


class Grpcio(Transport):
    """A gRPC channel."""

    def __init__(
        self,
        address: str,
        tls: Tls | grpc.ChannelCredentials | None,
        patience: float,
        options: Sequence[tuple[str, int | str | bytes]],
    ) -> None:
        """Connects at the first call.

        Raises:
            ForkedClientError: This process was forked from one that had used gRPC.
        """
        _check_fork()
        ours = {**dict(_OPTIONS), **_waits(patience)}
        if tls is not None:
            # The name that certificates are checked against must be the server's own.
            del ours["grpc.default_authority"]
        merged = list({**ours, **dict(options)}.items())
        if tls is None:
            self._channel = grpc.insecure_channel(address, merged)
        else:
            self._channel = grpc.secure_channel(address, _credentials(tls), merged)
        self._calls: dict[str, Any] = {}
        _note_use()

    def call(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Makes a call with one answer."""
        try:
            answer = self._method(method, self._channel.unary_unary)(request, timeout=_seconds(timeout), metadata=metadata)
        except grpc.RpcError as error:
            raise _exception(error) from None
        except ValueError as error:
            # The garbage collector has closed the channel of an environment that was dropped.
            raise TetrionError(str(error), code="CANCELLED") from None
        # gRPC waits for the end of a server that answers twice, until the time is up.
        if answer is None:
            raise invalid_answer("the server answered without a message")
        return answer

    def stream(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Answers:
        """Begins a call with one request and many answers."""
        call = self._method(method, self._channel.unary_stream)(request, timeout=_seconds(timeout), metadata=metadata)
        return _Answers(call)

    def exchange(self, method: str, metadata: Metadata) -> Exchange:
        """Begins a call with many requests and many answers."""
        requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        call = self._method(method, self._channel.stream_stream)(iter(requests.get, None), metadata=metadata)
        return _Exchange(call, requests)

    def _method(self, method: str, kind: Callable[..., Any]) -> Any:
        made = self._calls.get(method)
        if made is None:
            path, request, answer = METHODS[method]
            made = kind(path, request_serializer=request.SerializeToString, response_deserializer=answer.FromString)
            self._calls[method] = made
        return made

    def session(self, name: str) -> None:
        """There is no direct access to a session on a server."""

    def close(self) -> None:
        """Closes the channel."""
        self._channel.close()


_open_calls: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def _keep_calls() -> None:
    """Lets no call be deleted any more.

    As the interpreter ends, it stops gRPC's threads, of which one may hold the lock of a call. To delete the call, the
    interpreter would wait for this lock for ever.
    """
    for call in list(_open_calls):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(call))


def _exception(error: grpc.RpcError) -> TetrionError:
    call: Any = error  # A failed call is a grpc.Call as well, which its type does not say.
    code, message = call.code(), call.details() or ""
    details = next((value for key, value in call.trailing_metadata() or () if key == _DETAILS_KEY), b"")
    return from_call(code.value[0], message, details)


class _Answers:
    """The answers of a call, with failures as `TetrionError`s."""

    def __init__(self, call: Any) -> None:
        self._call = call
        _open_calls.add(call)

    def __iter__(self) -> _Answers:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._call)
        except grpc.RpcError as error:
            raise _exception(error) from None

    def cancel(self) -> None:
        self._call.cancel()


class _Exchange(_Answers):
    """A call with many requests, which gRPC takes from a queue in a thread of its own."""

    def __init__(self, call: Any, requests: queue.SimpleQueue[Any]) -> None:
        super().__init__(call)
        self._requests = requests

    def send(self, request: Any) -> None:
        self._requests.put(request)

    def receive(self, request: Any) -> Any:
        return next(self)

    def end(self) -> None:
        self._requests.put(None)

    def cancel(self) -> None:
        self.end()
        super().cancel()


# Whether this process ever made a channel. Closing it does not make a fork safe again: threads of gRPC stay for a while, and
# some forked children then hung, also with GRPC_ENABLE_FORK_SUPPORT.
_was_used = False
# The process from which this one was forked when it was too late for that.
_forked_from: int | None = None


def _check_fork() -> None:
    """Refuses to make a channel where gRPC cannot: it would hang or abort.

    Raises:
        ForkedClientError: This process was forked from one that had used gRPC.
    """
    if _forked_from is not None:
        raise ForkedClientError(
            f"process {os.getpid()} was forked from {_forked_from}, which had used its clients or environments, so gRPC may "
            "hang or abort here",
            code="FAILED_PRECONDITION",
            reason="FORKED",
        )


def _note_use() -> None:
    global _was_used
    _was_used = True


def _note_fork() -> None:
    global _forked_from
    if _was_used:
        _forked_from = os.getppid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _seconds(timeout: float | None) -> float | None:
    """A timeout for gRPC, whose clock does not reach further than some centuries."""
    return timeout if timeout is not None and timeout < 1e9 else None


def _waits(patience: float) -> dict[str, int]:
    """The options of gRPC for the caller's patience."""
    connect, silence, pong = (int(seconds * 1000) for seconds in waits(patience))
    return {
        "grpc.keepalive_time_ms": silence,
        "grpc.keepalive_timeout_ms": pong,
        # The same for pings that measure the connection.
        "grpc.http2.ping_timeout_ms": pong,
        # A frozen server accepts a connection and never speaks.
        "grpc.min_reconnect_backoff_ms": connect,
    }


def _credentials(tls: Tls | grpc.ChannelCredentials) -> grpc.ChannelCredentials:
    if isinstance(tls, grpc.ChannelCredentials):
        return tls
    ca_cert, client_cert, client_key = (file or None for file in tls.files())
    return grpc.ssl_channel_credentials(ca_cert, client_key, client_cert)
