"""Pictures, from the server's own drawings, so that nothing about the game is repeated here."""

from __future__ import annotations

import sys
import time

import numpy as np
import numpy.typing as npt

from tetrion.errors import InvalidArgument
from tetrion.names import expected
from tetrion.session import Session

MODES = ("human", "ansi", "rgb_array")

# Red, green, blue of what a drawing has in a cell.
_COLOURS = {".": (24, 26, 32), "#": (94, 147, 214), "@": (238, 178, 74)}
_EDGE = (44, 48, 58)
_CELL = 16  # pixels, with the edge on all four sides; a multiple of 16 is what every video codec takes


def checked_mode(render_mode: str | None) -> str | None:
    """The render mode, if there is one of that name.

    Raises:
        InvalidArgument: There is none.
    """
    if render_mode is not None and render_mode not in MODES:
        raise InvalidArgument("render_mode", f"is {render_mode!r}{expected(render_mode, MODES)}")
    return render_mode


def ansi(session: Session) -> list[str]:
    """Coloured text for a terminal, for each environment."""
    return session.render(format="ansi")


def rgb(session: Session) -> list[npt.NDArray[np.uint8]]:
    """Pictures uint8 [16 height, 16 width, 3], for each environment."""
    return [paint(frame) for frame in session.render(format="ascii")]


def paint(drawing: str) -> npt.NDArray[np.uint8]:
    """The picture of a drawing of one character a cell, the top row first."""
    cells = np.array([[_COLOURS[cell] for cell in row] for row in drawing.split("\n")], np.uint8)
    picture = cells.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
    for edge in (0, _CELL - 1):
        picture[edge::_CELL] = _EDGE
        picture[:, edge::_CELL] = _EDGE
    return picture


class Screen:
    """The terminal, on which the first environment is drawn at a steady pace."""

    def __init__(self) -> None:
        """Nothing is drawn yet, so the first drawing does not wait."""
        self._due = 0.0

    def show(self, session: Session, fps: float) -> None:
        """Draws over the last drawing, or under it where stdout is a file, `fps` times a second at most.

        Args:
            session: Whose first environment is drawn.
            fps: Drawings a second; 0: without a pause.
        """
        time.sleep(max(0.0, self._due - time.monotonic()))
        began = time.monotonic()
        home = "\x1b[H\x1b[J" if sys.stdout.isatty() else ""
        print(home + session.render([0], format="ansi")[0], flush=True)
        self._due = began + (1.0 / fps if fps else 0.0)
