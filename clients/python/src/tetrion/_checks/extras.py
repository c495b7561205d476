"""Optional libraries: the sentence about a missing one."""

from __future__ import annotations


def missing(what: str, library: str, extra: str) -> str:
    """Says what needs a library, and how to install it. The package is in no index, so pip takes it from a checkout."""
    return f"{what} {library}: in a checkout of Tetrion, pip install './clients/python[{extra}]'"
