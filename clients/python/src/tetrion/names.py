"""Names that nothing has: which one was probably meant, and which there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Why a name is refused: `no preset is called 'labb', did you mean 'lab'? expected one of simplified, lab, ...`."""
    return f"no {kind} is called {name!r}{expected(name, known)}"


def expected(name: object, known: Iterable[str]) -> str:
    """What follows a wrong name: the one that comes closest, if any does, and all there are."""
    names = list(known)
    plain = {_plain(other): other for other in reversed(names)}
    close = difflib.get_close_matches(_plain(str(name)), plain, 1)
    meant = f", did you mean {plain[close[0]]!r}?" if close else ","
    return f"{meant} expected one of {', '.join(names)}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
