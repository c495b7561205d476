"""Addresses of servers."""

from __future__ import annotations

import re
import socket
from typing import Any

from tetrion._checks import arguments

# Besides HOST:PORT gRPC takes these, followed by a colon; see its page on naming.
_SCHEMES = ("unix", "unix-abstract", "vsock", "dns", "ipv4", "ipv6", "xds")
# A host has none of the characters that end it in an address of the web: what is before an @ would be dropped.
_HOST_AND_PORT = re.compile(r"([^:/\s@?#\\\[\]]+|\[[^\]/\s@?#\\]+\]):(\d{1,5})")


def check(address: Any, field: str = "address") -> None:
    """Checks an address, which errors call `field`.

    Raises:
        InvalidArgumentError: It is not `host:port`, and has no scheme of gRPC.
    """
    expected = "'host:port' without a scheme, such as '127.0.0.1:50451'"
    arguments.string(field, address, expected)
    found = _HOST_AND_PORT.fullmatch(address)
    if not (found or (":" in address and _scheme(address))):
        raise arguments.wrong(field, address, expected)
    # gRPC would take the rest of a division by 65536.
    if found and not 1 <= int(found[2]) <= 65535:
        raise arguments.wrong(field, address, "a port from 1 to 65535")


def is_socket(address: str) -> bool:
    """Whether an address is a socket in the file system."""
    return _scheme(address) == "unix"


def is_of_grpc(address: str) -> bool:
    """Whether gRPC alone knows the scheme of an address."""
    return _scheme(address) not in ("", "unix")


def has_certificate(address: str) -> bool:
    """Whether the server at `host:port` answers HTTP/2 without encryption by an alert of TLS."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=5) as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            return connection.recv(1) == b"\x15"
    except (OSError, ValueError):
        return False


def _scheme(address: str) -> str:
    """The scheme of an address, if it has one."""
    scheme = address.partition(":")[0]
    return scheme if scheme in _SCHEMES else ""
