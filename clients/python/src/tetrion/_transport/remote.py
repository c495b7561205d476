"""Connections to servers: the Rust client's, which the extension module has, or grpcio's.

The extension module is faster and connects to `host:port` and `unix:/path`. grpcio is for options and credentials of gRPC,
for address schemes that only gRPC knows, such as `dns:///tetrion:50451`, for TLS over a Unix socket, and for a package
without the extension module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tetrion._transport import addresses, native
from tetrion._transport.native import Native
from tetrion._transport.tls import Tls
from tetrion._transport.transport import Transport, waits
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    import grpc


class Remote(Native):
    """A connection to a server."""

    def __init__(self, address: str, tls: Tls | None, patience: float) -> None:
        """Connects at the first call.

        Raises:
            InvalidArgumentError: The address or a certificate cannot be used.
        """
        files = tls.files() if tls is not None else None
        try:
            super().__init__(native.module.Channel(address, files, waits(patience)))
        except ValueError as error:
            raise InvalidArgumentError(str(error)) from None
        self.channel = self._caller

    def session(self, name: str) -> None:
        """There is no direct access to a session on a server."""

    def close(self) -> None:
        """Ends every call."""
        self._caller.close()


def connect(
    address: str,
    tls: Tls | grpc.ChannelCredentials | bool,
    patience: float,
    options: Sequence[tuple[str, int | str | bytes]],
) -> Transport:
    """Connects to a server, at the first call."""
    files = Tls() if tls is True else tls or None
    only_grpc = options or addresses.is_of_grpc(address) or (files and addresses.is_socket(address))
    if native.module is not None and not only_grpc and (files is None or isinstance(files, Tls)):
        return Remote(address, files, patience)
    from tetrion._transport.grpcio import Grpcio  # only where it is used, since it takes long to load

    return Grpcio(address, files, patience, options)
