"""Several equal servers as one client, without a scheduler and without a load balancer.

Calls without a session (`server_info`, `catalog`, `enumerate_placements`) go to the servers in turn. All give the same
answer, so if one does not answer, another one does. An evaluation is spread over all of them, with the results of one
server, to the last bit. A session lives on one server, which gets all its calls: `create_session` creates each session on
the next server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._pb import messages as pb
from tetrion._sessions.session import Session
from tetrion._transport.addresses import check, look_up, split
from tetrion._transport.balanced import Balanced
from tetrion._transport.connection import Connection, ConnectionSettings
from tetrion._transport.server import Server
from tetrion._transport.tls import Tls
from tetrion._transport.transport import Transport
from tetrion.errors import InvalidArgumentError, ServerUnavailableError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Servers(Client):
    """A `Client` of several servers of the same version. Threads may share it."""

    @keywords.checked
    def __init__(
        self,
        addresses: str | Sequence[str | Server],
        *,
        num_servers: int | None = None,
        **settings: Unpack[ConnectionSettings],
    ) -> None:
        """Connects to the servers, at the first call.

        Args:
            addresses: `host:port` of each server; or one name for all of them, such as `dns:///tetrion:50451`, which only
                takes calls without sessions. The client looks the name up again when it loses a server.
            num_servers: Number of servers behind a name; a guess is good enough.
            **settings: See `ConnectionSettings`. `patience` is the time to wait if no server answers any more.

        Raises:
            InvalidArgumentError: An address is malformed, or a setting does not exist or is out of range.
            ServerUnavailableError: A host in the list is unknown.
        """
        if num_servers is not None:
            num_servers = arguments.integer("num_servers", num_servers, 1)
        self._single: list[Connection] = []
        if isinstance(addresses, str):
            check(addresses)
            place = addresses
            connect = _connector(place, settings)
            connect(place)  # The settings are refused here, and not at the first call.
            transport = Balanced(lambda: look_up(place), connect)
        else:
            listed = arguments.items("addresses", addresses, "a list of addresses")
            if not listed:
                raise arguments.wrong("addresses", addresses, "at least one address")
            if None in listed:
                raise arguments.wrong("addresses", addresses, "addresses of servers")
            self._single = [Connection(address, **settings) for address in listed]
            transports = {connection.place: connection._transport for connection in self._single}
            for address in transports:
                look_up(address)
            addresses = [connection.place for connection in self._single]
            place = ", ".join(transports)
            transport = Balanced(lambda: transports, transports.__getitem__)
        self._num_servers = num_servers or len(self._single) or 4
        self._next = 0
        self._use(Connection(place, transport=transport, **settings))
        self._arguments = {"addresses": addresses, "num_servers": num_servers, **settings}

    def _create(self, request: pb.CreateSessionRequest, snapshot_every: int, copy: bool = True) -> Session:
        """Creates a session on the next server, or on the one after it if that server cannot be reached."""
        if not self._single:
            raise InvalidArgumentError(
                f"a session lives on one server, and {self.address!r} may be several; give their addresses"
            )
        first, self._next = self._next, self._next + 1
        failure: ServerUnavailableError | None = None
        for number in range(first, first + len(self._single)):
            connection = self._single[number % len(self._single)]
            try:
                return Session._create(connection, request, snapshot_every, copy=copy, patient=False)
            except ServerUnavailableError as error:
                failure = error
        assert failure is not None, "there is a server"
        raise failure

    def _connection_for(self, session: str | Session) -> Connection:
        if isinstance(session, str):
            raise arguments.wrong("session", session, "a session or an environment; a Client of its server takes names")
        return session._connection

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._single:
            connection.close()
        super().close()


def _connector(name: str, settings: ConnectionSettings) -> Callable[[str], Transport]:
    """Connects to the servers that a name stands for. The name is that in their certificates, unless `tls` has another."""
    tls = Tls() if settings.get("tls") is True else settings.get("tls")
    if isinstance(tls, Tls) and tls.server_name is None:
        settings = {**settings, "tls": replace(tls, server_name=split(name)[0])}
    return lambda address: Connection(address, **settings)._transport
