"""Which servers this package is made for.

The protocol only grows, and every addition raises its revision: a server of a lower revision than this package does not know
all of its fields, and is refused. The rules version decides whether equal seeds and actions give the same game: the package
uses a server with another one, and warns the caller.
"""

from __future__ import annotations

import warnings

from tetrion import _native
from tetrion._pb.messages import GetServerInfoResponse
from tetrion._transport import addresses
from tetrion.errors import (
    ForeignServerError,
    IncompatibleServerError,
    InvalidAnswerError,
    ServerUnavailableError,
    TetrionError,
    VersionWarning,
    visible,
)

VERSION = "0.1.0"
PROTOCOL_REVISION = _native.PROTOCOL_REVISION
RULES_VERSION = _native.RULES_VERSION


def check(address: str, info: GetServerInfoResponse, min_revision: int) -> None:
    """Compares the versions of a server with those that this package expects.

    Raises:
        IncompatibleServerError: Its revision of the protocol is lower than `min_revision`.
    """
    if info.protocol_revision < min_revision:
        raise IncompatibleServerError(
            f"the server at {address} is Tetrion {info.server_version} with protocol_revision {info.protocol_revision}, and "
            f"this package, Tetrion {VERSION}, needs {min_revision}",
            code="FAILED_PRECONDITION",
        )
    if info.rules_version != RULES_VERSION:
        warnings.warn(
            f"the server at {address} has the rules version {visible(info.rules_version)}, and this package is made for "
            f"{RULES_VERSION}: equal seeds and actions may give other games",
            VersionWarning,
            stacklevel=2,
        )


def stranger(address: str, error: TetrionError) -> TetrionError:
    """The error of a first call, or a clearer one if it was not a Tetrion server that answered."""
    if error.reason or isinstance(error, InvalidAnswerError):
        return error
    if error.code == "UNIMPLEMENTED":
        why = "it speaks gRPC, but has no service tetrion.v1.EnvironmentService"
    elif "frame with invalid size" in error.details and addresses.has_certificate(address):
        return ServerUnavailableError(
            "the server has a certificate, and the connection is not encrypted", code="UNAVAILABLE"
        )
    elif error.code in ("INTERNAL", "UNKNOWN"):
        why = f"it does not speak gRPC ({error.details})"
    else:
        return error
    return ForeignServerError(f"the server at {address} is not a Tetrion server: {why}", code=error.code)
