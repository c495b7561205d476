"""Addresses of servers as gRPC takes them, and the proxy that gRPC would use for one.

gRPC sends every connection through the proxy that the environment names, even those to this machine, where no proxy leads.
"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Any
from urllib.parse import urlsplit

from tetrion._checks import arguments

# Besides HOST:PORT gRPC takes these, followed by a colon; see its page on naming.
_SOCKETS = ("unix", "unix-abstract", "vsock")
_SCHEMES = (*_SOCKETS, "dns", "ipv4", "ipv6", "xds")
_HOST_AND_PORT = re.compile(r"([^:/\s]+|\[[^\]/\s]+\]):(\d{1,5})")


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


def is_local(address: str) -> bool:
    """Whether an address is of this machine: a socket in its file system, or loopback addresses."""
    return _scheme(address) in _SOCKETS or all(_is_loopback(host) for host in _hosts(address))


def proxy(address: str) -> str:
    """The proxy that gRPC uses for an address, as `'http://host:port' in https_proxy`; empty: none.

    gRPC takes the first of three variables that is set. It ignores those that hold no `http://` address.
    """
    variable, value = _first_set("grpc_proxy", "https_proxy", "http_proxy")
    without = [entry.strip() for entry in _first_set("no_grpc_proxy", "no_proxy")[1].split(",") if entry]
    if all(any(_matches(host, entry) for entry in without) for host in _hosts(address)):
        return ""
    try:
        url = urlsplit(value)
    except ValueError:
        return ""
    # Without the user's name and password.
    return f"'http://{url.netloc.rpartition('@')[2]}' in {variable}" if url.scheme == "http" and url.hostname else ""


def _first_set(*names: str) -> tuple[str, str]:
    """The first of these variables that is set, with its value."""
    return next(((name, os.environ[name]) for name in names if name in os.environ), ("", ""))


def _scheme(address: str) -> str:
    """The scheme of an address, if it has one."""
    scheme = address.partition(":")[0]
    return scheme if scheme in _SCHEMES else ""


def _hosts(address: str) -> list[str]:
    """The hosts of an address: of one with a scheme like `ipv4:` there may be several."""
    rest = address.removeprefix(_scheme(address) + ":").rpartition("/")[2]
    return [host_and_port.rpartition(":")[0].strip("[]") for host_and_port in rest.split(",")]


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        ip = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None) or ip


def _is_loopback(host: str) -> bool:
    ip = _ip(host)
    if ip is None:
        return f".{host.lower().rstrip('.')}".endswith(".localhost")
    # A server that listens on all addresses says 0.0.0.0, which leads to this machine.
    return ip.is_loopback or ip.is_unspecified


def _matches(host: str, entry: str) -> bool:
    """Whether an entry of `no_proxy` is about a host: the end of its name, or a network of its address."""
    ip = _ip(host)
    if ip is not None and "/" in entry:
        try:
            return ip in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    return host.lower().endswith(entry.lower())
