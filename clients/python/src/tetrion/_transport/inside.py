"""Calls of the services in this process: no server, no port, no socket.

The extension module `tetrion._native` contains the services. A process starts them once, and its clients share them.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from tetrion import _native
from tetrion._checks import arguments
from tetrion._transport.native import Native

# How many threads play the games of evaluations in this process; unset: one per core.
THREADS = "TETRION_THREADS"

_lock = threading.Lock()
# The services by process: a forked child, which has none of its parent's threads, starts some of its own.
_services: dict[int, Any] = {}


def _begin_child() -> None:
    global _lock
    # Another thread of the parent may have had it.
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def _started() -> Any:
    """The services of this process."""
    with _lock:
        services = _services.get(os.getpid())
        if services is None:
            named = os.environ.get(THREADS) or "0"
            if not (named.isdecimal() and int(named) <= 1024):
                raise arguments.wrong(THREADS, named, "a number of threads from 0, one per core, to 1024")
            services = _services[os.getpid()] = _native.Services(int(named))
        return services


class Inside(Native):
    """The services of this process."""

    is_inside = True

    def __init__(self) -> None:
        """Starts them unless they run."""
        super().__init__(_started())

    def close(self) -> None:
        """Does nothing: other clients use the services too."""
