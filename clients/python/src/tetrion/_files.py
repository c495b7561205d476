"""Whole files: a reader finds the old file or the new one.

The program's `src/toolkit/files.rs` does the same.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, which gets its name when the block has ended without an error.

    Links are followed. Bytes for a pipe, a device, or the file behind stdout or stderr go into it. A replaced file keeps its
    permissions, and its owner if the process may give files away.
    """
    try:
        old = os.stat(path)
    except FileNotFoundError:
        if not os.path.basename(path):
            raise
        old = None
    straight = None if old is None else _open_straight(path, old)
    if straight is not None:
        with straight:
            yield straight
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    named = os.path.join(folder, f".tetrion-{secrets.token_hex(8)}")
    try:
        file = _open_new(folder, named)
    except OSError as error:
        error.filename = os.fspath(path)  # the name that the caller knows
        raise
    try:
        with file:
            yield file
            file.flush()
            if old is not None:
                _keep_access(file.fileno(), named, old)
            os.fsync(file.fileno())
            if file.name != named:
                # The path is absolute, so its folder has no effect, but with one Python follows the link.
                os.link(f"/proc/self/fd/{file.fileno()}", named, src_dir_fd=file.fileno())
        os.replace(named, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(named)
        raise
    # The new name should reach the disk too. Not every system can do that, and the file is replaced already.
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _open_straight(path: str | os.PathLike[str], found: os.stat_result) -> BinaryIO | None:
    """What must not be replaced; None for a regular file that may be written."""
    for stream in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(stream)):
                return open(os.dup(stream), "wb")
    if not stat.S_ISREG(found.st_mode):
        return open(path, "wb")
    os.close(os.open(path, os.O_WRONLY))  # a file that may not be written may not be replaced
    return None


def _open_new(folder: str, named: str) -> BinaryIO:
    """A file without a name, which Linux removes however the process ends; elsewhere a file with this name."""
    if hasattr(os, "O_TMPFILE") and os.path.exists("/proc/self/fd"):
        with suppress(OSError):
            return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "wb")
    return open(named, "xb")


def _keep_access(new: int, named: str, old: os.stat_result) -> None:
    """Gives a new file the permissions of the old one, and its owner if the process may give files away."""
    if not hasattr(os, "fchown"):
        os.chmod(named, stat.S_IMODE(old.st_mode))  # Windows
        return
    made = os.fstat(new)
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.fchown(new, old.st_uid, old.st_gid)
    os.fchmod(new, stat.S_IMODE(old.st_mode))
