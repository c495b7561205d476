"""Unknown names: error texts with the probably intended name and all known names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """An error text: `no preset is called 'labb', did you mean 'lab'? expected one of simplified, lab, ...`."""
    return f"no {kind} is called {name!r}{expected(name, known)}"


def expected(name: object, known: Iterable[str]) -> str:
    """The end of such a text: the closest known name, if any is close, and all of them."""
    names = list(known)
    close = closest(str(name), names)
    return f"{f', did you mean {close!r}?' if close else ','} expected one of {', '.join(names)}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name with the most similar spelling, if any is similar."""
    by_plain = {plain(other): other for other in reversed(list(known))}
    close = difflib.get_close_matches(plain(name), by_plain, 1)
    return by_plain[close[0]] if close else None


def plain(name: str) -> str:
    """A name in a form that all its spellings share: `same_step`, `SAME-STEP` and `SameStep` are equal."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
