"""The progress of an evaluation: a callback for reports, and a bar on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tetrion._checks import arguments
from tetrion._pb.records import EvaluationProgress
from tetrion.errors import InvalidArgumentError

Progress = Callable[[EvaluationProgress], None]


def listener(progress: bool, on_progress: Progress | None) -> Progress | None:
    """The callback for the reports of an evaluation: a new bar, the caller's function, or None.

    Raises:
        InvalidArgumentError: `progress` is not True or False, `on_progress` is not callable, or both are given.
    """
    if on_progress is not None and not callable(on_progress):
        raise arguments.wrong("on_progress", on_progress, "a function that takes a report")
    if not arguments.flag("progress", progress):
        return on_progress
    if on_progress is not None:
        raise InvalidArgumentError("on_progress", "is given with progress=True, expected one of the two")
    return Bar()


class Bar:
    """Shows progress on stderr: with tqdm's bar if it is installed, otherwise with a line every few seconds."""

    def __init__(self) -> None:
        """Draws nothing before the first report."""
        self._bar: Any = None
        self._next = 0.0

    def __call__(self, progress: EvaluationProgress) -> None:
        """Draws a report."""
        try:
            from tqdm import tqdm
        except ImportError:
            self._line(progress)
            return
        if self._bar is None:
            self._bar = tqdm(total=progress.num_games, unit="game")
        self._bar.set_postfix_str(f"{progress.pieces_done / 1e6:.1f} M pieces", refresh=False)
        self._bar.update(progress.games_done - self._bar.n)
        if progress.games_done == progress.num_games:
            self._bar.close()

    def _line(self, progress: EvaluationProgress) -> None:
        now = time.monotonic()
        last = progress.games_done == progress.num_games
        if now >= self._next or last:
            self._next = now + 5.0
            print(
                f"{progress.games_done:,} of {progress.num_games:,} games, {progress.pieces_done / 1e6:.1f} M pieces",
                file=sys.stderr,
            )
