"""Which servers this package is made for.

The version decides whether both sides mean the same by a message: versions with the same major number do, and while that is
0, versions with the same minor number. The rules version decides whether equal seeds and actions give the same game. The
package refuses a server of another version; it uses one with another rules version, and warns the caller.
"""

from __future__ import annotations

import warnings

from tetrion._pb.messages import GetServerInfoResponse
from tetrion.errors import ForeignServerError, IncompatibleServerError, InvalidAnswerError, TetrionError, VersionWarning

VERSION = "0.1.0"
RULES_VERSION = "tetrion-rules-1"


def is_compatible(ours: str, theirs: str) -> bool:
    """Whether two versions understand each other: `1.4.0` and `1.0.2` do, `0.1.0` and `0.2.0` do not."""

    def significant(version: str) -> tuple[int, int] | None:
        parts = version.split(".")
        if len(parts) < 2 or not (parts[0].isdecimal() and parts[1].isdecimal()):
            return None
        major, minor = int(parts[0]), int(parts[1])
        return major, minor if major == 0 else 0

    return significant(ours) is not None and significant(ours) == significant(theirs)


def check(address: str, info: GetServerInfoResponse, any_version: bool) -> None:
    """Compares the versions of a server with those that this package expects.

    Raises:
        IncompatibleServerError: Its version does not fit this package.
    """
    if not any_version and not is_compatible(VERSION, info.server_version):
        raise IncompatibleServerError(
            f"the server at {address} is Tetrion {info.server_version}, and this package is Tetrion {VERSION}",
            code="FAILED_PRECONDITION",
        )
    if info.rules_version != RULES_VERSION:
        warnings.warn(
            f"the server at {address} has the rules version {info.rules_version}, and this package is made for "
            f"{RULES_VERSION}: equal seeds and actions may give other games",
            VersionWarning,
            stacklevel=2,
        )


# gRPC's messages if the answer on a port is not HTTP/2.
_NOT_HTTP2 = ("SETTINGS frame", "Failed parsing HTTP/2", "http1.x server")


def stranger(address: str, error: TetrionError) -> TetrionError:
    """The error of a first call, or a clearer one if it was not a Tetrion server that answered."""
    if error.reason or isinstance(error, InvalidAnswerError):
        return error
    message = str(error)
    if error.code == "UNIMPLEMENTED":
        why = "it speaks gRPC, but has no service tetrion.v1.EnvironmentService"
    elif error.code in ("INTERNAL", "UNKNOWN") or any(sign in message for sign in _NOT_HTTP2):
        why = f"it does not speak gRPC ({error.details})"
    else:
        return error
    return ForeignServerError(f"the server at {address} is not a Tetrion server: {why}", code=error.code)
