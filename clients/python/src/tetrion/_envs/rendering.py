"""The output of an environment's `render`: pictures and texts, which the server draws.

The session remembers from which tetromino each cell comes, so a picture is one call.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._sessions.session import Session

MODES = ("human", "ansi", "rgb_array")


def checked_mode(render_mode: str | None) -> str | None:
    """Checks a render mode.

    Raises:
        InvalidArgumentError: The render mode does not exist.
    """
    return arguments.choice("render_mode", render_mode, MODES) if render_mode is not None else None


class Renderer:
    """Shows the games of a session."""

    def __init__(self, session: Session, mode: str, *, scale: float, palette: str) -> None:
        """Prepares for the games of a session.

        Args:
            session: The session, created with `keep_colors`.
            mode: One of `MODES`; `human` shows the first game only.
            scale: The size of pictures; at 1.0 a cell is 16 x 16 pixels.
            palette: The name of a palette.
        """
        self._session = session
        self._mode = mode
        self._scale = scale
        self._palette = palette
        self._due = 0.0

    def frames(self) -> list[str] | list[npt.NDArray[np.uint8]]:
        """Each game in the form of the render mode: text, or a picture, uint8 [pixels, pixels, 3]."""
        if self._mode == "ansi":
            return self._session.render(style="ansi", palette=self._palette)
        return list(self._session.pictures(render_scale=self._scale, render_palette=self._palette))

    def show(self, fps: float) -> None:
        """Draws the first game on the terminal, over the last drawing or, if stdout is a file, below it.

        Args:
            fps: Most drawings per second; 0: no limit.
        """
        style = "letters" if os.environ.get("NO_COLOR") else "ansi"
        (drawing,) = self._session.render([0], style=style, palette=self._palette)
        time.sleep(max(0.0, self._due - time.monotonic()))
        began = time.monotonic()
        print(("\x1b[H\x1b[J" if sys.stdout.isatty() else "") + drawing, flush=True)
        self._due = began + (1.0 / fps if fps else 0.0)
