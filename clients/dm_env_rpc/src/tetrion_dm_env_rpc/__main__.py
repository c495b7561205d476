"""The command: `python -m tetrion_dm_env_rpc`."""

from __future__ import annotations

import argparse
import re
import signal
import sys
import threading
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import tetrion

from tetrion_dm_env_rpc.service import MAX_STREAMS, MAX_WORLDS, serving

_EPILOG = """environment variables:
  TETRION_SERVER  server to play on without --server

SIGTERM and Ctrl-C end the gateway and its worlds; the second one ends it at once.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until a signal comes."""
    parser = argparse.ArgumentParser(
        prog="python -m tetrion_dm_env_rpc",
        description="Serves Tetris environments to clients of dm_env_rpc.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    where = "address to listen on; port 0 picks a free port [default: %(default)s]"
    add("--listen", metavar="HOST:PORT", default="127.0.0.1:50452", help=where)
    where = "Tetrion server to play on, HOST:PORT, or https://HOST:PORT for an encrypted one [default: play in this process]"
    add("--server", metavar="ADDRESS", help=where)
    add("--token-file", metavar="FILE", type=Path, help="file with the access token for the server")
    add("--ca-cert", metavar="FILE", type=Path, help="PEM file with the authorities that may sign the server's certificate")
    add("--max-streams", metavar="N", type=_count, default=MAX_STREAMS, help="most streams at a time [default: %(default)s]")
    add("--max-worlds", metavar="N", type=_count, default=MAX_WORLDS, help="most worlds at a time [default: %(default)s]")
    add("--insecure", action="store_true", help="let other machines connect: a gateway has no encryption and no tokens")
    given = parser.parse_args(arguments)
    address = re.fullmatch(r"\[?([^\[\]/]+?)\]?:(\d{1,5})", given.listen)
    if address is None or int(address[2]) > 65535:
        parser.error(f"--listen is {given.listen!r}, expected HOST:PORT such as 127.0.0.1:50452")
    if not (given.insecure or _is_loopback(address[1])):
        parser.error(
            f"other machines can reach {given.listen}, and a gateway has no encryption and no tokens; --insecure allows it"
        )
    try:
        _serve(given)
    except (tetrion.TetrionError, OSError, RuntimeError, ValueError) as error:
        sys.exit(f"error: {error}")


def _serve(given: argparse.Namespace) -> None:
    ended = threading.Event()

    def end(number: int, _: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    settings: dict[str, Any] = {}
    if given.token_file:
        settings["token"] = given.token_file.read_text().strip("\r\n")
    if given.ca_cert or (given.server or "").startswith("https://"):
        settings["tls"] = tetrion.Tls(ca_cert=given.ca_cert)
    server = given.server and given.server.removeprefix("https://")
    bounds = {"max_streams": given.max_streams, "max_worlds": given.max_worlds}
    with tetrion.Client(server, **settings) as client:
        client.server_info()
        with serving(client, given.listen, **bounds) as address:
            print(f"tetrion_dm_env_rpc listening on {address}", flush=True)
            ended.wait()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 10_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 10000")
    return int(text)


if __name__ == "__main__":
    main()
