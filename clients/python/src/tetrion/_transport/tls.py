"""The certificates and keys of an encrypted connection."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tetrion._checks import arguments
from tetrion.errors import InvalidArgumentError

File = str | os.PathLike[str]


@dataclass(frozen=True)
class Tls:
    """Files in PEM form, read whenever a connection is made, and the name in the server's certificate.

    Attributes:
        ca_cert: The authorities that may sign the server's certificate. None: those that this machine trusts.
        client_cert: The client's certificate and its chain, for a server that asks for one.
        client_key: The key of that certificate.
        server_name: The name that the server's certificate must have. None: the host of the address.
    """

    ca_cert: File | None = None
    client_cert: File | None = None
    client_key: File | None = None
    server_name: str | None = None

    def contents(self) -> tuple[bytes, bytes, bytes, str | None]:
        """The contents of the files, empty for those that are left out, and the name.

        Raises:
            InvalidArgumentError: A file cannot be read or has the wrong content, or a certificate comes without its key.
        """
        if (self.client_cert is None) != (self.client_key is None):
            raise InvalidArgumentError("tls", "needs client_cert and client_key, or neither")
        return (
            _read("tls.ca_cert", self.ca_cert, b"CERTIFICATE"),
            _read("tls.client_cert", self.client_cert, b"CERTIFICATE"),
            _read("tls.client_key", self.client_key, b"PRIVATE KEY"),
            arguments.string("tls.server_name", self.server_name) if self.server_name is not None else None,
        )


def _read(field: str, file: File | None, label: bytes) -> bytes:
    if file is None:
        return b""
    try:
        text = Path(file).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        raise InvalidArgumentError(field, f"cannot be read: {error}") from None
    if b"-----BEGIN " not in text or label + b"-----" not in text:
        raise InvalidArgumentError(field, f"is {os.fspath(file)!r}, which holds no {label.decode()} in PEM form")
    return text
