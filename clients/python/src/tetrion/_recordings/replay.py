"""Replays: games to step through in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages import drawings
from tetrion._messages.records import rules_fields
from tetrion._messages.scenes import Scene, check_pieces, scene
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields


class Replay:
    """A game, step by step. Step 0 is its beginning.

    Attributes:
        player: The player's name; may be empty.
        opponent: The name of the other side's player in a match; may be empty.
    """

    def __init__(self, native: Any, message: pb.Recording) -> None:
        """Wraps a replay. Internal: `Recording.replay` makes replays.

        Args:
            native: The replay, a `_native.Replay`.
            message: The recording.
        """
        self._native = native
        self._rules = message.rules
        self.player = message.player
        self.opponent = message.opponent.player

    @property
    def rules(self) -> RulesFields:
        """The rules, with every field filled in."""
        return rules_fields(self._rules)

    def __len__(self) -> int:
        """Number of steps."""
        return len(self._native)

    def scene(self, step: int | None = None) -> Scene:
        """The scene after a number of steps; None: after all of them.

        Raises:
            InvalidArgumentError: The step does not exist, or the pieces are not tetrominoes.
        """
        check_pieces(self._rules)
        return scene(pb.WatchedEnv.decode(self._native.scene(self._checked(step), 0)), self._rules)

    def opponent_scene(self, step: int | None = None) -> Scene | None:
        """The scene of the other side of a match, as `scene`; None in a game of one player."""
        check_pieces(self._rules)
        data = self._native.scene(self._checked(step), 1)
        return scene(pb.WatchedEnv.decode(data), self._rules) if data is not None else None

    def picture(
        self, step: int | None = None, *, render_scale: float = 1.0, render_palette: str = "usual"
    ) -> npt.NDArray[np.uint8]:
        """The picture of a step; see `Recording.picture`."""
        cell = drawings.cell_pixels("render_scale", render_scale)
        palette = drawings.palette("render_palette", render_palette)
        return drawings.picture(self._native.picture(self._checked(step), cell, palette))

    def _checked(self, step: int | None) -> int:
        return len(self) if step is None else arguments.integer("step", step, 0, len(self))
