"""A connection to the services, on a server or in this process.

It has their calls with their deadlines, and the patience with a server that went away. It knows nothing of what calls are
about: sessions, environments and evaluations are built on it. How calls travel is up to its `Transport`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, TypedDict

from tetrion import _native
from tetrion._checks import arguments
from tetrion._checks.failures import Failure, from_call
from tetrion._pb import messages as pb
from tetrion._transport import addresses
from tetrion._transport.inside import Inside
from tetrion._transport.native import exception_of
from tetrion._transport.remote import Remote
from tetrion._transport.server import Server
from tetrion._transport.tls import Tls
from tetrion._transport.transport import Answers, Metadata, Transport
from tetrion._transport.versions import PROTOCOL_REVISION, check, stranger
from tetrion.errors import ForkedClientError, InvalidArgumentError, ServerUnavailableError, TetrionError

_LOG = logging.getLogger("tetrion")


class ConnectionSettings(TypedDict, total=False):
    """How to connect: keyword arguments of `Client` and `Servers`. No proxy that the environment names is used.

    Attributes:
        token: The bearer token that the server wants.
        tls: Encrypt: True to trust the system's certificates, or `Tls` with files of your own. Left out: no encryption.
        timeout: Seconds that a call may take, by default 60; evaluations and streams have no limit.
        patience: Seconds to wait for a server that went away to come back, by default 60. The client then makes again what
            the server has lost: sessions from snapshots, evaluations by asking for the missing games. So a server may be
            killed and started again in the middle of everything. A server that is silent, as a frozen one is, counts as
            gone after 10 to 40 seconds; the less patience, the sooner. 0 gives up at once. A server that has never answered
            is given up at once as well. An evaluation waits as long for a server that is busy with others.
        any_version: Use the server even if it does not know all of the protocol; it refuses what it does not know.
    """

    token: str | None
    tls: Tls | bool
    timeout: float
    patience: float
    any_version: bool


class Holder(Protocol):
    """The owner of a session."""

    def set_metadata(self) -> None:
        """Sends other metadata from now on."""
        ...

    def release(self) -> None:
        """Leaves every call to messages."""
        ...

    def close(self) -> None:
        """Ends the session."""
        ...


class _Calling:
    """Turns the exceptions of the extension module into those of this package, within a `with`.

    A class, because a generator takes 1 us, which is as long as a call.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, (_native.CallError, _native.AnswerError)):
            raise self._connection.raised(error) from None


class Connection:
    """A connection to the services. Threads may share one.

    Attributes:
        address: Where the server listens; None: the services are in this process.
        place: The same in words.
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
        tls: Tls | bool = False,
        timeout: float = 60.0,
        patience: float = 60.0,
        any_version: bool = False,
        transport: Transport | None = None,
    ) -> None:
        """Connects at the first call.

        Args:
            address: `host:port`, `unix:/path`, or a `Server`; None: the one that the environment variable TETRION_SERVER
                names, or else the services in this process.
            token: See `ConnectionSettings`, as for all that follow.
            tls: Whether and how to encrypt.
            timeout: Seconds that a call may take.
            patience: Seconds to wait for a server that went away.
            any_version: Use the server even if it does not know all of the protocol.
            transport: What makes the calls; the address is then only a name for it. Left out: it is made for the address.

        Raises:
            InvalidArgumentError: The address is malformed, a setting is out of range, or one about a server is given without
                an address.
        """
        self._owner = os.getpid()
        self.settings: dict[str, Any] = {
            "address": address.address if isinstance(address, Server) else address,
            "token": token,
            "tls": tls,
            "timeout": timeout,
            "patience": patience,
            "any_version": any_version,
        }
        if address is None and (named := os.environ.get("TETRION_SERVER")):
            addresses.check(named, "TETRION_SERVER")
            address = named
        elif transport is None and address is not None and not isinstance(address, Server):
            addresses.check(address)
        if token is not None and not (isinstance(token, str) and token.isascii() and token.isprintable()):
            raise InvalidArgumentError("token", "cannot be sent, expected printable ASCII characters")
        if not isinstance(tls, (Tls, bool)):
            raise arguments.wrong("tls", tls, "True, False or a tetrion.Tls")
        self.server = address if isinstance(address, Server) else None
        self.timeout = arguments.number("timeout", timeout, 0, "seconds, 0 or more")
        self.patience = arguments.number("patience", patience, 0, "seconds, 0 or more")
        self.min_revision = 0 if arguments.flag("any_version", any_version) else PROTOCOL_REVISION
        self.connected = False
        self._closed = False
        self.address = address.address if isinstance(address, Server) else address
        self.place = "this process" if self.address is None else self.address
        if self.address is None:
            for field, value in (("token", token), ("tls", tls)):
                if value:
                    raise InvalidArgumentError(field, "is given without an address, expected that of a server with it")
            transport = Inside()
        elif transport is None:
            transport = Remote(self.address, Tls() if tls is True else tls or None, self.patience)
        self._transport = transport
        self._token = (("authorization", f"Bearer {token}"),) if token is not None else ()
        self._request_id = ""
        self._info: pb.GetServerInfoResponse | None = None
        self._holders: weakref.WeakSet[Holder] = weakref.WeakSet()
        _connections.add(self)
        self._catalog: pb.GetCatalogResponse | None = None

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
        for holder in self._holders:
            holder.set_metadata()

    def metadata(self, of_call: Metadata = ()) -> Metadata:
        """The metadata of a call: what all calls send, and its own."""
        sent = (*self._token, ("x-request-id", self._request_id)) if self._request_id else self._token
        return (*sent, *of_call)

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
                f"process {os.getpid()} was forked from {self._owner} and cannot use its connection to {self.place}",
                code="FAILED_PRECONDITION",
                reason="FORKED",
            )

    def _closed_error(self) -> TetrionError:
        return TetrionError(
            f"the client of {self.place} was closed, and so were its sessions; make a new one, and close it last",
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
            response = self._transport.call(method, request, self.timeout, self.metadata(metadata))
        except TetrionError as error:
            raise self.failure(error) from None
        self.connected = True
        return response

    def failure(self, error: TetrionError) -> TetrionError:
        """The exception for a failed call: that the client was closed, if it was."""
        return self._closed_error() if self._closed else error

    def call_patiently(self, method: str, request: Any) -> Any:
        """Repeats a call until the server answers. The call changes nothing, or its request has an id of its own."""
        patience = Patience(self)
        while True:
            try:
                return self.call(method, request)
            except ServerUnavailableError as error:
                patience.wait(error)

    def hold(self, holder: Holder) -> None:
        """Tells the owner of a session when the connection is closed, also in a forked child, or sends other metadata."""
        self._holders.add(holder)

    def caller(self) -> Any:
        """The one server, a `_native.Channel` or `_native.Services`."""
        (caller,) = self._transport.callers().values()
        return caller

    def call_settings(self) -> tuple[Metadata, float, float, Callable[[Failure, bool], bool]]:
        """How the calls of a session are made: their metadata, the two settings in seconds, and `waits`."""
        return self.metadata(), self.timeout, self.patience, self.waits

    def waits(self, failure: Failure, is_first: bool, /) -> bool:
        """Whether to wait for the server after it was lost; starts a server of this process again that has died.

        Args:
            failure: What is known of the loss.
            is_first: Whether it is the first one of a call.
        """
        if not self.may_come_back:
            return False
        if is_first:
            error = from_call(*failure, inside=self.address is None)
            _LOG.warning("%s; waiting up to %g s for it", error, self.patience)
        self.revive()
        return True

    def raised(self, error: _native.CallError | _native.AnswerError) -> TetrionError:
        """The exception for a failed call of the extension module."""
        return self.failure(exception_of(error, inside=self.address is None))

    def calling(self) -> _Calling:
        """Turns the exceptions of the extension module into those of this package."""
        return _Calling(self)

    def watch(self, request: pb.WatchSessionRequest) -> Answers:
        """Watches a session."""
        self.check_usable()
        self.check_server()
        return self._transport.stream("WatchSession", request, None, self.metadata((("x-session", request.session),)))

    def evaluate_patiently(
        self, request: pb.EvaluatePoliciesRequest, hear: Callable[[pb.EvaluatePoliciesResponse], None] | None = None
    ) -> list[pb.EvaluatePoliciesResponse]:
        """Plays games on one server, from the beginning again if it is lost. Returns all messages.

        Args:
            request: The request.
            hear: Called with each message as it comes. If it raises an exception, the games end.
        """
        self.check_usable()
        self.check_server()
        request.min_revision = self.min_revision
        patience = Patience(self)
        while True:
            messages = []
            call = self._transport.stream("EvaluatePolicies", request, None, self.metadata())
            try:
                for message in call:
                    if hear is not None:
                        hear(message)
                    messages.append(message)
            except TetrionError as error:
                failure = self.failure(error)
                if not isinstance(failure, ServerUnavailableError):
                    raise failure from None
                patience.wait(failure)
            else:
                return messages
            finally:
                call.cancel()

    @contextlib.contextmanager
    def evaluation(self, request: pb.EvaluatePoliciesRequest, num_servers: int) -> Iterator[_native.EvaluationRun]:
        """Plays many games on all servers, of which there are about `num_servers`, however often one is lost.

        Raises:
            TetrionError: A server refuses the request, its answer does not fit, or none has answered for as long as this
                connection is patient.
        """
        self.check_usable()
        self.check_server()
        request.min_revision = self.min_revision
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.calling())
            encoded, servers = request.encode(), self._servers()
            run = _native.EvaluationRun(encoded, servers, num_servers, self.metadata(), self.patience)
            stack.enter_context(contextlib.closing(run))
            yield run

    def lost(self, failure: Failure) -> list[tuple[str, Any]]:
        """Tells that a call of an evaluation was lost. Returns the servers that may take further ones.

        Raises:
            TetrionError: The failure, if nothing can come back.
        """
        if not self.waits(failure, True):
            raise self.failure(from_call(*failure, inside=self.address is None))
        self._transport.refresh()
        return self._servers()

    def _servers(self) -> list[tuple[str, Any]]:
        return list(self._transport.callers().items())

    def check_server(self) -> None:
        """Asks the server for its versions, at the first call."""
        if self._info is None:
            self.server_info()

    def server_info(self) -> pb.GetServerInfoResponse:
        """See `Client.server_info`."""
        try:
            info: pb.GetServerInfoResponse = self.call_patiently("GetServerInfo", pb.GetServerInfoRequest())
        except TetrionError as error:
            raise (stranger(self.place, error) if self._info is None else error) from None
        if self._info is None:
            check(self.place, info, self.min_revision)
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
        """Closes the connection; in this process its sessions end. Does nothing in a forked child."""
        if self.forked:
            return
        if self.address is None and not self._closed:
            for holder in list(self._holders):
                with contextlib.suppress(TetrionError):
                    holder.close()
        self._closed = True
        self._transport.close()
        self._release()

    def _release(self) -> None:
        """Lets the owners of sessions find out what is wrong when they call."""
        for holder in self._holders:
            holder.release()


_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


def _release_in_child() -> None:
    for connection in _connections:
        connection._release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


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
