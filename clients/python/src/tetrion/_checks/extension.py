"""The extension module, for work that needs no session: recordings, pictures of watched sessions, searches for weights."""

from __future__ import annotations

from typing import Any

from tetrion.errors import ServerNotFoundError


def extension(what: str) -> Any:
    """The extension module; an error says that it does `what`.

    Raises:
        ServerNotFoundError: This package came without it.
    """
    try:
        from tetrion import _native
    except ImportError:
        raise ServerNotFoundError(
            f"this package was installed without its extension module, which {what}. Install it where cargo and a C "
            "compiler are, or from a wheel"
        ) from None
    return _native
