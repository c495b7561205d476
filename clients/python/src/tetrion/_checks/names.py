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
    close = closest(str(name), names)
    return f"{f', did you mean {close!r}?' if close else ','} expected one of {', '.join(names)}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled most like this one, if any is close."""
    by_plain = {plain(other): other for other in reversed(list(known))}
    close = difflib.get_close_matches(plain(name), by_plain, 1)
    return by_plain[close[0]] if close else None


def plain(name: str) -> str:
    """A name without what its spellings differ in: `same_step`, `SAME-STEP` and `SameStep` are one."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
