"""Unknown names: the one that was probably meant, and all that are known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Why a name is refused: `no preset is called 'labb', did you mean 'lab'? expected one of simplified, lab, ...`."""
    return f"no {kind} is called {name!r}{expected(name, known)}"


def expected(name: object, known: Iterable[str]) -> str:
    """What follows a wrong name: the closest known one, if any is close, and all of them."""
    names = list(known)
    plain = {_plain(other): other for other in reversed(names)}
    close = difflib.get_close_matches(_plain(str(name)), plain, 1)
    meant = f", did you mean {plain[close[0]]!r}?" if close else ","
    return f"{meant} expected one of {', '.join(names)}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
