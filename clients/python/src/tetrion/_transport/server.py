"""The server as a child process: found, started on a free port, and ended with this process.

The child watches its standard input and stops when that ends. The operating system closes it however this process ends, so
no server is left behind.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tetrion._checks import arguments
from tetrion.errors import ServerNotFoundError, ServerNotStartedError

_READY = "tetrion listening on "


def find_program() -> list[str]:
    """Finds the `tetrion` program: the command that runs it.

    It is the one that the environment variable TETRION_BINARY names, or else that in this package's extension module.

    Raises:
        ServerNotFoundError: TETRION_BINARY names something that cannot run.
    """
    named = os.environ.get("TETRION_BINARY")
    if not named:
        return [sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "_program.py")]
    found = shutil.which(named)
    if found is None:
        raise ServerNotFoundError(f"TETRION_BINARY is {named!r}, which is not a program that can run")
    return [found]


# The servers of this process that still exist. A forked child must close its ends of their pipes.
_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _without_secrets(command: Sequence[str]) -> list[str]:
    """A command line as it may be shown."""
    shown = ["--token=..." if flag.startswith("--token=") else flag for flag in command]
    return ["..." if before == "--token" else flag for before, flag in zip(["", *shown], shown, strict=False)]


class Server:
    """A server on a free loopback port, which lives as long as this object and no longer than this process."""

    address: str

    def __init__(
        self, binary: str | os.PathLike[str] | None = None, *, args: Sequence[str] = (), timeout: float = 30.0
    ) -> None:
        """Starts a server and waits until it listens.

        Args:
            binary: The program. Left out: the one that the environment variable TETRION_BINARY names, or this package's own.
            args: Further flags of `tetrion serve`.
            timeout: Seconds to wait for it.

        Raises:
            InvalidArgumentError: The flags are not a list, or the timeout is not a number.
            ServerNotFoundError: There is no such program.
            ServerNotStartedError: It did not get ready; its messages are on stderr.
        """
        self._owner = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._program = [os.fspath(binary)] if binary is not None else find_program()
        # Settings that the user made for other servers (tokens, addresses, certificates) are not meant for this one.
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("TETRION_SERVE_") and key != "TETRION_CONFIG"
        }
        self._environment = environment
        flags = arguments.items("args", args, "a list of flags such as ['--threads', '2']")
        self._args = [arguments.string(f"args[{place}]", str(flag), "a flag") for place, flag in enumerate(flags)]
        self._timeout = arguments.number("timeout", timeout, 0, "seconds, 0 or more")
        _servers.add(self)
        self._start("127.0.0.1:0")

    def _start(self, listen: str) -> None:
        command = [*self._program, "serve", "--listen", listen, "--exit-on-stdin-eof", "--log", "warn", *self._args]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                # Not in the terminal's process group: Ctrl-C is for this process, which may want to save its work first.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise ServerNotFoundError(f"cannot run {self._program[0]}: {error.strerror}") from error
        line = self._first_line(self._timeout)
        if not line.startswith(_READY):
            self._end(10.0)
            said = f"printed {line!r}" if line else f"ended with status {self._process.returncode}, see stderr,"
            raise ServerNotStartedError(
                f"`{' '.join(_without_secrets(command))}` {said} within {self._timeout:g} s instead of listening"
            )
        self.address = line.removeprefix(_READY).strip()

    def revive(self) -> None:
        """Starts the server again, at the same address, if it has died. Its sessions are gone; clients make them again.

        Does nothing after `close`, or in a forked child: the server belongs to the parent.
        """
        with self._lock:
            if self._closed or self.running or os.getpid() != self._owner:
                return
            status = self._process.returncode
            self._end(0.0)
            self._start(self.address)
        warnings.warn(
            f"the server at {self.address} ended with status {status} and was started again", RuntimeWarning, stacklevel=2
        )

    def _first_line(self, timeout: float) -> str:
        """The line with the address; what there is of it when the pipe ends or the time is up."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        deadline = time.monotonic() + timeout
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not line.endswith(b"\n") and selector.select(max(0.0, deadline - time.monotonic())):
                chunk = os.read(pipe, 4096)
                if not chunk:
                    break
                line += chunk
        return line.decode(errors="replace")

    def _leave_to_parent(self) -> None:
        """Closes the pipes in a forked child. Otherwise the server would outlive the parent."""
        process = getattr(self, "_process", None)
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def close(self, timeout: float = 10.0) -> None:
        """Ends the server by closing its standard input; kills it after `timeout` seconds.

        Does nothing in a forked child, whose parent may still need it.
        """
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._closed = True
            self._end(timeout)

    def _end(self, timeout: float) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    @property
    def closed(self) -> bool:
        """Whether `close` has ended it for good."""
        return self._closed

    def __enter__(self) -> Server:
        """The server itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the server."""
        self.close()


def _leave_servers_to_parent() -> None:
    for server in list(_servers):
        server._leave_to_parent()
    _servers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_servers_to_parent)
