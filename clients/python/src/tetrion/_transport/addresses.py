"""Addresses of servers."""

from __future__ import annotations

import re
import socket
from typing import Any

from tetrion._checks import arguments
from tetrion.errors import ServerUnavailableError

# The name of several servers, as gRPC writes it.
_DNS = "dns:///"
_UNIX = "unix:"
# A host has none of the characters that end it in an address of the web: what is before an @ would be dropped.
_HOST_AND_PORT = re.compile(r"([^:/\s@?#\\\[\]]+|\[[^\]/\s@?#\\]+\]):(\d{1,5})")


def check(address: Any, field: str = "address") -> None:
    """Checks an address, which errors call `field`.

    Raises:
        InvalidArgumentError: It is neither `host:port`, `dns:///host:port` nor `unix:/path`.
    """
    expected = "'host:port' without a scheme, such as '127.0.0.1:50451'"
    arguments.string(field, address, expected)
    if is_socket(address):
        return
    found = _HOST_AND_PORT.fullmatch(address.removeprefix(_DNS))
    if found is None:
        raise arguments.wrong(field, address, expected)
    if not 1 <= int(found[2]) <= 65535:
        raise arguments.wrong(field, address, "a port from 1 to 65535")


def is_socket(address: str) -> bool:
    """Whether an address is a socket in the file system."""
    return address.startswith(_UNIX)


def split(address: str) -> tuple[str, int]:
    """The host and the port in a checked address that is no socket."""
    host, _, port = address.removeprefix(_DNS).rpartition(":")
    return host.strip("[]"), int(port)


def target(address: str) -> str:
    """The address without the scheme `dns`, as the extension module takes it."""
    return address.removeprefix(_DNS)


def look_up(address: str) -> list[str]:
    """The addresses with a number as the host that an address stands for, each once.

    Raises:
        ServerUnavailableError: The host is unknown.
    """
    if is_socket(address):
        return [address]
    try:
        found = socket.getaddrinfo(*split(address), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ServerUnavailableError(f"the host of {address!r} is not known: {error}", code="UNAVAILABLE") from None
    hosts = [(str(place[0]), int(place[1])) for _, _, _, _, place in found]
    return list(dict.fromkeys(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in hosts))


def has_certificate(address: str) -> bool:
    """Whether the server at an address answers HTTP/2 without encryption by an alert of TLS."""
    try:
        with socket.create_connection(split(address), timeout=5) as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            return connection.recv(1) == b"\x15"
    except (OSError, ValueError):
        return False
