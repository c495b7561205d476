"""Calls to a server, over the Rust client's connection, which the extension module has."""

from __future__ import annotations

from tetrion import _native
from tetrion._transport import addresses
from tetrion._transport.native import Native
from tetrion._transport.tls import Tls
from tetrion.errors import InvalidArgumentError


class Remote(Native):
    """A connection to a server. No proxy that the environment names is used."""

    def __init__(self, address: str, tls: Tls | None, patience: float) -> None:
        """Connects at the first call.

        Raises:
            InvalidArgumentError: The address or a certificate cannot be used.
        """
        if tls is not None and addresses.is_socket(address):
            raise InvalidArgumentError("tls", f"is given for {address!r}, expected no encryption over a Unix socket")
        files = tls.contents() if tls is not None else None
        try:
            super().__init__(_native.Channel(addresses.target(address), files, waits(patience)))
        except ValueError as error:
            raise InvalidArgumentError(str(error)) from None

    def close(self) -> None:
        """Ends every call."""
        self._caller.close()


def waits(patience: float) -> tuple[float, float, float]:
    """Times that depend on the caller's patience, in seconds.

    Returns:
        The longest time to connect, the silence after which the peer gets a ping, and the longest time for its answer. So a
        silent peer is given up after 10 to 40 seconds.
    """
    connect, silence, pong = (min(max(patience, 5.0), most) for most in (20.0, 30.0, 10.0))
    return connect, silence, pong
