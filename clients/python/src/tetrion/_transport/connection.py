"""A connection to a server: a channel, its calls with their deadlines, and the patience with a server that went away.

It knows which calls there are and how long they may take, and nothing of what they are about: sessions, environments and
evaluations are built on it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any, TypedDict

import grpc

from tetrion._checks import arguments
from tetrion._checks.failures import from_rpc_error
from tetrion._messages.answers import MAX_BYTES
from tetrion._pb import messages as pb
from tetrion._pb.environment_service_pb2_grpc import EnvironmentServiceStub
from tetrion._pb.evaluation_service_pb2_grpc import EvaluationServiceStub
from tetrion._transport import addresses
from tetrion._transport.server import Server, shared_server
from tetrion._transport.tls import Tls
from tetrion._transport.versions import PROTOCOL_REVISION, check, stranger
from tetrion.errors import ForkedClientError, InvalidArgumentError, ServerUnavailableError, TetrionError

_LOG = logging.getLogger("tetrion")

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
]


class ConnectionSettings(TypedDict, total=False):
    """How to connect: keyword arguments of `Client` and `Servers`.

    Attributes:
        token: The bearer token that the server wants.
        tls: Encrypt: True to trust the system's certificates, `Tls` with files of your own, or credentials of gRPC. Left
            out: no encryption.
        timeout: Seconds that a call may take, by default 60; evaluations and streams have no limit.
        patience: Seconds to wait for a server that went away to come back, by default 60. The client then makes again what
            the server has lost: sessions from snapshots, evaluations by asking for the missing games. So a server may be
            killed and started again in the middle of everything. A server that is silent, as a frozen one is, counts as
            gone after 10 to 40 seconds; the less patience, the sooner. 0 gives up at once. A server that has never answered
            is given up at once as well.
        options: Further options of the gRPC channel; they override ours.
        any_version: Use the server even if it does not know all of the protocol; it refuses what it does not know.
    """

    token: str | None
    tls: Tls | grpc.ChannelCredentials | bool
    timeout: float
    patience: float
    options: Sequence[tuple[str, Any]]
    any_version: bool


class Connection:
    """A connection to a server. Threads may share one.

    Attributes:
        address: Where the server listens.
        server: The server, if it is a child of this process.
        settings: The arguments that make another connection like this one, in another process too.
        timeout: Seconds that a call may take.
        patience: Seconds to wait for a server that went away.
        connected: Whether the server has ever answered.
        min_revision: The revision of the protocol that the server must have; 0 if any will do.
    """

    def __init__(
        self,
        address: str | Server | None,
        *,
        token: str | None = None,
        tls: Tls | grpc.ChannelCredentials | bool = False,
        timeout: float = 60.0,
        patience: float = 60.0,
        options: Sequence[tuple[str, Any]] = (),
        any_version: bool = False,
    ) -> None:
        """Connects at the first call.

        Args:
            address: `host:port`, `unix:/path`, or a `Server`; None: the one that the environment variable TETRION_SERVER
                names, or else a server that is started, one for this process.
            token: See `ConnectionSettings`, as for all that follow.
            tls: Whether and how to encrypt.
            timeout: Seconds that a call may take.
            patience: Seconds to wait for a server that went away.
            options: Further options of the gRPC channel.
            any_version: Use the server even if it does not know all of the protocol.

        Raises:
            InvalidArgumentError: The address is malformed, or a setting is out of range.
            ForkedClientError: This process was forked from one that had made connections.
        """
        _check_fork()
        self._owner = os.getpid()
        self.settings: dict[str, Any] = {
            "address": address.address if isinstance(address, Server) else address,
            "token": token,
            "tls": tls,
            "timeout": timeout,
            "patience": patience,
            "options": checked_options(options),
            "any_version": any_version,
        }
        if address is None and (named := os.environ.get("TETRION_SERVER")):
            addresses.check(named, "TETRION_SERVER")
            address = named
        elif address is None:
            address = shared_server()
        elif not isinstance(address, Server):
            addresses.check(address)
        if token is not None and not (isinstance(token, str) and token.isascii() and token.isprintable()):
            raise InvalidArgumentError("token", "cannot be sent, expected printable ASCII characters")
        if not isinstance(tls, (Tls, grpc.ChannelCredentials, bool)):
            raise arguments.wrong("tls", tls, "True, False, a tetrion.Tls or credentials of gRPC")
        self.server = address if isinstance(address, Server) else None
        self.address = address.address if isinstance(address, Server) else address
        self.timeout = arguments.number("timeout", timeout, 0, "seconds, 0 or more")
        self.patience = arguments.number("patience", patience, 0, "seconds, 0 or more")
        self.min_revision = 0 if arguments.flag("any_version", any_version) else PROTOCOL_REVISION
        self.connected = False
        self._closed = False
        ours = {**dict(_OPTIONS), **_waits(self.patience)}
        self._proxy = ""
        if addresses.is_local(self.address):
            ours["grpc.enable_http_proxy"] = 0
        else:
            self._proxy = addresses.proxy(self.address)
        if tls:
            # The name that certificates are checked against must be the server's own.
            del ours["grpc.default_authority"]
        merged = list({**ours, **dict(self.settings["options"])}.items())
        if tls:
            credentials = tls if isinstance(tls, grpc.ChannelCredentials) else (Tls() if tls is True else tls).credentials()
            self._channel = grpc.secure_channel(self.address, credentials, merged)
        else:
            self._channel = grpc.insecure_channel(self.address, merged)
        self._token = (("authorization", f"Bearer {token}"),) if token is not None else ()
        self._request_id = ""
        self._environment: Any = EnvironmentServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._evaluation: Any = EvaluationServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._info: pb.GetServerInfoResponse | None = None
        self._catalog: pb.GetCatalogResponse | None = None
        _note_use()

    @property
    def request_id(self) -> str:
        """The id that calls carry from now on; empty: the server makes one for each call."""
        return self._request_id

    @request_id.setter
    def request_id(self, request_id: str) -> None:
        fits = isinstance(request_id, str) and len(request_id) <= 128 and all("!" <= letter <= "~" for letter in request_id)
        if not fits:
            raise InvalidArgumentError("request_id", f"is {request_id!r}, expected at most 128 visible ASCII characters")
        self._request_id = request_id

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        """What all calls send."""
        return (*self._token, ("x-request-id", self._request_id)) if self._request_id else self._token

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that made the connection, which alone can use it."""
        return os.getpid() != self._owner

    @property
    def usable(self) -> bool:
        """Whether calls can be made: the connection is open, and this process made it."""
        return not self._closed and not self.forked

    def check_usable(self) -> None:
        """Refuses to use a connection that was closed, or whose threads are in another process: it would wait for ever.

        Raises:
            TetrionError: The connection was closed.
            ForkedClientError: This process is a fork of the one that made the connection.
        """
        if self._closed:
            raise self._closed_error()
        if self.forked:
            raise ForkedClientError(
                f"process {os.getpid()} was forked from {self._owner} and cannot use its connection to {self.address}",
                code="FAILED_PRECONDITION",
                reason="FORKED",
            )

    def _closed_error(self) -> TetrionError:
        return TetrionError(
            f"the client of {self.address} was closed, and so were its sessions; make a new one, and close it last",
            code="CANCELLED",
        )

    @property
    def may_come_back(self) -> bool:
        """Whether to wait for a server that does not answer: it has answered before, and this process has not closed it."""
        return self.connected and not (self.server is not None and self.server.closed)

    def revive(self) -> None:
        """Starts the server again if it is a `Server` of this process and has died."""
        if self.server is not None:
            self.server.revive()

    def call(self, method: str, request: Any, metadata: Sequence[tuple[str, str]] = ()) -> Any:
        """Makes one call of the environment service and returns its answer.

        Raises:
            TetrionError: The call failed.
        """
        self.check_usable()
        if method != "GetServerInfo":
            self.check_server()
        try:
            response = getattr(self._environment, method)(
                request, timeout=_grpc_timeout(self.timeout), metadata=(*self._metadata, *metadata)
            )
        except grpc.RpcError as error:
            raise self.failure(error) from None
        self.connected = True
        return response

    def failure(self, error: grpc.RpcError) -> TetrionError:
        """The exception for a failed call. If no server answered, it names the proxy that was used."""
        if self._closed:
            return self._closed_error()
        made = from_rpc_error(error)
        if self._proxy and not made.reason:
            message = f"{made.details}; the connection to {self.address} went through the proxy {self._proxy}"
            return type(made)(f"{message}: to go without, list the host in no_proxy", code=made.code)
        return made

    def call_patiently(self, method: str, request: Any) -> Any:
        """Repeats a call until the server answers. The call changes nothing, or its request has an id of its own."""
        patience = Patience(self)
        while True:
            try:
                return self.call(method, request)
            except ServerUnavailableError as error:
                patience.wait(error)

    def step_stream(
        self, requests: Iterator[pb.StepStreamRequest], metadata: Sequence[tuple[str, str]]
    ) -> Iterator[pb.StepStreamResponse]:
        """Opens a stream of a session."""
        self.check_usable()
        responses: Iterator[pb.StepStreamResponse] = self._environment.StepStream(
            requests, metadata=(*self._metadata, *metadata)
        )
        return responses

    def watch(self, request: pb.WatchSessionRequest) -> Any:
        """Watches a session: the call, which is an iterator of its messages and can be cancelled."""
        self.check_usable()
        self.check_server()
        return self._environment.WatchSession(request, metadata=(*self._metadata, ("x-session", request.session)))

    def evaluate(
        self, request: pb.EvaluatePoliciesRequest, timeout: float | None = None
    ) -> Generator[pb.EvaluatePoliciesResponse, None, None]:
        """Plays many games and yields the messages as they come. Closing the iterator ends the games on the server."""
        self.check_usable()
        self.check_server()
        timeout = None if timeout is None else _grpc_timeout(timeout)
        request.min_revision = self.min_revision
        call = self._evaluation.EvaluatePolicies(request, timeout=timeout, metadata=self._metadata)
        try:
            for message in call:
                self.connected = True
                yield message
        except grpc.RpcError as error:
            raise self.failure(error) from None
        finally:
            call.cancel()

    def check_server(self) -> None:
        """Asks the server for its versions, at the first call."""
        if self._info is None:
            self.server_info()

    def server_info(self) -> pb.GetServerInfoResponse:
        """See `Client.server_info`."""
        try:
            info: pb.GetServerInfoResponse = self.call_patiently("GetServerInfo", pb.GetServerInfoRequest())
        except TetrionError as error:
            raise (stranger(self.address, error) if self._info is None else error) from None
        if self._info is None:
            check(self.address, info, self.min_revision)
        self._info = info
        return info

    @property
    def limits(self) -> pb.Limits:
        """What the server allowed when it was last asked."""
        self.check_server()
        assert self._info is not None, "checked"
        return self._info.limits

    def catalog(self, width: int = 0) -> pb.GetCatalogResponse:
        """See `Client.catalog`."""
        if width:
            return self._ask_catalog(width)
        if self._catalog is None:
            # The server answers the same while it runs.
            self._catalog = self._ask_catalog(0)
        return self._catalog

    def _ask_catalog(self, width: int) -> pb.GetCatalogResponse:
        catalog: pb.GetCatalogResponse = self.call_patiently("GetCatalog", pb.GetCatalogRequest(width=width))
        return catalog

    def close(self) -> None:
        """Closes the channel; does nothing in a forked child."""
        if not self.forked:
            self._closed = True
            self._channel.close()


# Whether this process ever made a connection. Closing it does not make a fork safe again: threads of gRPC stay for a while,
# and some forked children then hung, also with GRPC_ENABLE_FORK_SUPPORT.
_was_used = False
# The process from which this one was forked when it was too late for that.
_forked_from: int | None = None


def _check_fork() -> None:
    """Refuses to begin a connection where gRPC cannot: it would hang or abort.

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


def checked_options(options: Any) -> tuple[tuple[str, int | str | bytes], ...]:
    """Options of a gRPC channel, checked."""
    expected = "pairs such as [('grpc.max_receive_message_length', 1000)]"
    listed = arguments.items("options", options, expected)
    for place, option in enumerate(listed):
        is_pair = isinstance(option, (tuple, list)) and len(option) == 2
        if not (is_pair and isinstance(option[0], str) and isinstance(option[1], (int, str, bytes))):
            raise arguments.wrong(f"options[{place}]", option, "a name with an integer or a string")
    return tuple((name, value) for name, value in listed)


def _grpc_timeout(seconds: float) -> float | None:
    """A timeout for gRPC, whose clock does not reach further than some centuries."""
    return seconds if seconds < 1e9 else None


def _waits(patience: float) -> dict[str, int]:
    """How long gRPC waits for a peer that is silent, by the patience of the caller: 40 seconds at most, 10 at least."""

    def between(low: int, high: int) -> int:
        return int(min(max(patience, low), high) * 1000)

    return {
        # After so long a silence the peer is asked for a sign, and has so long to give one.
        "grpc.keepalive_time_ms": between(5, 30),
        "grpc.keepalive_timeout_ms": between(5, 10),
        # The same for pings that measure the connection.
        "grpc.http2.ping_timeout_ms": between(5, 10),
        # How long a connection may take. A frozen server takes it, and never speaks.
        "grpc.min_reconnect_backoff_ms": between(5, 20),
    }


class Patience:
    """How long one call waits for a server that went away."""

    def __init__(self, connection: Connection) -> None:
        """The clock starts at the first loss, not now."""
        self._connection = connection
        self._deadline: float | None = None
        self._pause = 0.02

    def wait(self, error: TetrionError) -> None:
        """Waits a little longer each time, and starts a server of this process again that has died.

        Raises:
            TetrionError: The error given: the time is up, or this server has never answered at all.
        """
        now = time.monotonic()
        if self._deadline is None:
            if self._connection.patience and self._connection.may_come_back:
                _LOG.warning("%s; waiting up to %g s for it", error, self._connection.patience)
            self._deadline = now + self._connection.patience
        if now >= self._deadline or not self._connection.may_come_back:
            raise error
        self._connection.revive()
        time.sleep(min(self._pause, self._deadline - now))
        self._pause = min(2 * self._pause, 1.0)
