"""Pictures, from the server's own drawings, so that nothing about the game is repeated here."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from tetrion.session import Session

# Red, green, blue of what a drawing has in a cell.
_COLOURS = {".": (24, 26, 32), "#": (94, 147, 214), "@": (238, 178, 74)}
_EDGE = (44, 48, 58)
_CELL = 16  # pixels, with the edge


def ansi(session: Session) -> list[str]:
    """Coloured text for a terminal, for each environment."""
    return session.render(format="ansi")


def rgb(session: Session) -> list[npt.NDArray[np.uint8]]:
    """Pictures uint8 [16 height + 1, 16 width + 1, 3], for each environment."""
    return [paint(frame) for frame in session.render(format="ascii")]


def paint(drawing: str) -> npt.NDArray[np.uint8]:
    """The picture of a drawing of one character a cell, the top row first."""
    cells = np.array([[_COLOURS[cell] for cell in row] for row in drawing.split("\n")], np.uint8)
    large = cells.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
    picture = np.pad(large, ((0, 1), (0, 1), (0, 0)))
    picture[::_CELL] = _EDGE
    picture[:, ::_CELL] = _EDGE
    return picture


def show(session: Session) -> None:
    """Draws the first environment over the last drawing on the terminal, or under it where stdout is a file."""
    home = "\x1b[H\x1b[J" if sys.stdout.isatty() else ""
    print(home + session.render([0], format="ansi")[0], flush=True)
