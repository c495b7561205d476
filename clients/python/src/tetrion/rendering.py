"""Pictures made from the server's drawings, so that this package need not know the game."""

from __future__ import annotations

import sys
import time

import numpy as np
import numpy.typing as npt

from tetrion.errors import InvalidArgument
from tetrion.names import expected
from tetrion.session import Session

MODES = ("human", "ansi", "rgb_array")

# Red, green and blue for each character of a drawing.
_COLOURS = {".": (24, 26, 32), "#": (94, 147, 214), "@": (238, 178, 74)}
_EDGE = (44, 48, 58)
_CELL = 16  # pixels, with the edge on all four sides; every video codec takes multiples of 16


def checked_mode(render_mode: str | None) -> str | None:
    """The render mode, if it exists.

    Raises:
        InvalidArgument: There is no render mode of that name.
    """
    if render_mode is not None and render_mode not in MODES:
        raise InvalidArgument("render_mode", f"is {render_mode!r}{expected(render_mode, MODES)}")
    return render_mode


def ansi(session: Session) -> list[str]:
    """A drawing in coloured text for each environment."""
    return session.render(format="ansi")


def rgb(session: Session) -> list[npt.NDArray[np.uint8]]:
    """A picture for each environment, uint8 [16 height, 16 width, 3]."""
    return [paint(frame) for frame in session.render(format="ascii")]


def paint(drawing: str) -> npt.NDArray[np.uint8]:
    """The picture of a drawing with one character a cell, the top row first."""
    cells = np.array([[_COLOURS[cell] for cell in row] for row in drawing.split("\n")], np.uint8)
    picture = cells.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
    for edge in (0, _CELL - 1):
        picture[edge::_CELL] = _EDGE
        picture[:, edge::_CELL] = _EDGE
    return picture


class Screen:
    """Draws the first environment on the terminal at a steady pace."""

    def __init__(self) -> None:
        """The first drawing does not wait."""
        self._due = 0.0

    def show(self, session: Session, fps: float) -> None:
        """Draws over the last drawing, or below it if stdout is a file, at most `fps` times a second.

        Args:
            session: The session of the environment.
            fps: Drawings a second; 0: no pause.
        """
        time.sleep(max(0.0, self._due - time.monotonic()))
        began = time.monotonic()
        home = "\x1b[H\x1b[J" if sys.stdout.isatty() else ""
        print(home + session.render([0], format="ansi")[0], flush=True)
        self._due = began + (1.0 / fps if fps else 0.0)
