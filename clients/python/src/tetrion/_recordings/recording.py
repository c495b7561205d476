"""A game in a file: rules, where the pieces came from, and actions. See `recording.proto`.

Nothing else is needed to show it, in colours too: the extension module plays it again. The outcome stands next to the
actions, so that a replay can be checked. This file knows the message and its two forms; `recorder` makes them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion._files import whole_file
from tetrion._messages import drawings
from tetrion._messages.ends import word
from tetrion._messages.records import rules_fields
from tetrion._messages.requests import Drawing
from tetrion._messages.scenes import check_pieces
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._recordings import viewer
from tetrion._recordings.replay import Replay
from tetrion.errors import (
    EpisodeEndedError,
    IllegalActionError,
    InvalidArgumentError,
    TetrionError,
    VersionMismatchError,
    visible,
)

# As the server program has them.
MAX_BYTES = 32 << 20
MAX_TEXT = 200

# Steps that a page in a notebook holds; more would make it slow.
_MAX_SHOWN = 20_000


class RecordedSide:
    """What a player did in a recorded game, and how it came out: a `Recording`, or the other side of a match."""

    def __init__(self, message: pb.Recording | pb.RecordedOpponent) -> None:
        """The side of a message. Internal: recordings have sides."""
        self._side = message

    @property
    def player(self) -> str:
        """Who or what played it; may be empty."""
        return self._side.player

    @property
    def actions(self) -> npt.NDArray[np.uint16]:
        """The actions, uint16 [steps]."""
        return np.fromiter(self._side.actions, np.uint16, len(self._side.actions))

    @property
    def hole_columns(self) -> list[int]:
        """With explicit pieces, the columns of the first holes in garbage."""
        return list(self._side.hole_columns)

    @property
    def landings(self) -> npt.NDArray[np.uint8]:
        """The lines that each piece cleared, uint8 [pieces]."""
        return np.frombuffer(self._side.landing_lines, np.uint8)

    @property
    def pieces(self) -> int:
        """Pieces landed."""
        return self._side.outcome.pieces

    @property
    def lines(self) -> int:
        """Lines cleared."""
        return self._side.outcome.lines

    @property
    def score(self) -> float:
        """Points, as the rules score them."""
        return self._side.outcome.score

    @property
    def end(self) -> str | None:
        """How it ended: `topped_out`, `out_of_pieces`, `invalid_action`, `won` or `drawn`; None if it could have gone on."""
        return word(self._side.outcome.end)

    @property
    def rows(self) -> list[str]:
        """The final playfield, the top row first, `#` full and `.` empty; empty rows at the top are left out."""
        rows = list(self._side.outcome.rows)
        while rows and "#" not in rows[0]:
            rows.pop(0)
        return rows

    def __len__(self) -> int:
        """How many steps it has."""
        return len(self._side.actions)


class Recording(RecordedSide):
    """A game that was played.

        recording = tetrion.Recording.load("games/bcts-best.json")
        recording                        # in a notebook: the game, to play and to step through
        recording.check()                # None, or where it differs from what the server makes of it
        recording.replay().scene(120)    # what a viewer draws of a step

    `tetrion replay FILE` and `tetrion export FILE` take its files.
    """

    def __init__(self, message: pb.Recording) -> None:
        """A recording from its message. Internal: `load` and `from_bytes` read recordings, a `Recorder` makes them."""
        super().__init__(message)
        self._message = message

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Reads a file, in JSON or in binary form.

        Raises:
            InvalidArgumentError: It is no recording.
            VersionMismatchError: It was played under another version of the rules.
        """
        with Path(path).open("rb") as file:
            return cls.from_bytes(file.read(MAX_BYTES + 1))

    @classmethod
    def from_bytes(cls, data: bytes) -> Recording:
        """Reads the content of a file, in JSON or in binary form; see `load`."""
        try:
            return cls(pb.Recording.decode(_native.read_recording(data)))
        except _native.RecordingError as error:
            raise _wrong(*error.args) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file: JSON if its name ends in `.json`, else the binary form, a byte or two a step."""
        as_json = os.fspath(path).lower().endswith(".json")
        with whole_file(path) as file:
            file.write(self.to_json().encode() if as_json else self.to_bytes())

    def to_json(self) -> str:
        """The file in JSON: a line."""
        return self._message.to_json() + "\n"

    def to_bytes(self) -> bytes:
        """The file in binary form."""
        return self._message.encode()

    @property
    def rules(self) -> RulesFields:
        """The rules, every field filled in."""
        return rules_fields(self._message.rules)

    @property
    def rules_version(self) -> str:
        """The version of the rules that it was played under."""
        return self._message.rules_version

    @property
    def seed(self) -> int | None:
        """The episode seed: `env.reset(seed=...)` deals the same pieces. None for explicit pieces."""
        return self._message.seed if self._message.which("pieces") == "seed" else None

    @property
    def piece_sequence(self) -> str | None:
        """The explicit pieces, letters of IOTZSJL. None for a seed."""
        return self._message.piece_sequence if self._message.which("pieces") == "piece_sequence" else None

    @property
    def start(self) -> Drawing | None:
        """The position that the game began from; None for an empty playfield."""
        if not self._message.has("start"):
            return None
        start = self._message.start
        return Drawing(tuple(start.rows), start.piece, start.queue, start.held)

    @property
    def origin(self) -> str:
        """Where the game comes from; may be empty."""
        return self._message.origin

    @property
    def opponent(self) -> RecordedSide | None:
        """The other side of a match, of which the recording itself is side 0; None in a game of one player."""
        return RecordedSide(self._message.opponent) if self._message.has("opponent") else None

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        return isinstance(other, Recording) and self._message == other._message

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The outcome, in a line."""
        whose = f" by {visible(self.player)}" if self.player else ""
        ended = viewer.ENDINGS.get(self.end or "", "not ended")
        return f"<tetrion.Recording{whose}: {self.pieces} pieces, {self.lines} lines, {ended}>"

    def replay(self, *, max_steps: int | None = None) -> Replay:
        """Plays it again, to walk through.

        Args:
            max_steps: Only so many steps.

        Raises:
            InvalidArgumentError: Its rules or its pieces are invalid.
            VersionMismatchError: It was played under another version of the rules.
            IllegalActionError: An action cannot be done.
            EpisodeEndedError: It has actions after the end of its game.
        """
        native = self._replayed(arguments.integer("max_steps", max_steps) if max_steps is not None else None)
        if (refusal := native.refusal()) is not None:
            details, is_over = refusal
            raise EpisodeEndedError(details) if is_over else IllegalActionError(details)
        return Replay(native, self._message)

    def check(self) -> str | None:
        """Plays it again and compares: the lines of every landing, the totals, how it ended, and the final playfield.

        Returns:
            Where it first differs; None if it does not.

        Raises:
            VersionMismatchError: It was played under another version of the rules, which may make another game of it.
        """
        try:
            difference: str | None = self._replayed(None).difference()
        except InvalidArgumentError as error:
            return f"it cannot be played: {error.details}"
        return difference

    def _replayed(self, max_steps: int | None) -> Any:
        try:
            return _native.Replay(self._message.encode(), max_steps)
        except _native.RecordingError as error:
            raise _wrong(*error.args) from None

    def picture(
        self, step: int | None = None, *, render_scale: float = 1.0, render_palette: str = "usual"
    ) -> npt.NDArray[np.uint8]:
        """The picture of a step, as `tetrion export` makes it.

        Where a step is a placement, it shows the next piece at rest and the rows that it completes; behind the last step
        the end of the game. Pictures of a game have one size, which is even. For more than one, keep the `replay`.

        Args:
            step: 0 to the number of steps; None: the last.
            render_scale: The size, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual` or `color-blind`.

        Returns:
            uint8 [pixels, pixels, 3].
        """
        return self.replay().picture(step, render_scale=render_scale, render_palette=render_palette)

    def html(self, *, render_palette: str = "usual", speed: float = 4.0) -> str:
        """The game as a piece of a page, with controls to play it and to step through; it loads nothing.

        Args:
            render_palette: `usual` or `color-blind`, to begin with.
            speed: Steps a second, to begin with.
        """
        drawings.palette("render_palette", render_palette)
        speed = arguments.number("speed", speed, 0.1, "0.1 or more")
        check_pieces(self._message.rules)
        replay = self.replay(max_steps=_MAX_SHOWN)
        scenes = [scene for scene in (replay.scene(), replay.opponent_scene()) if scene is not None]
        return viewer.page(replay._native.page(), scenes, self._message, len(replay), render_palette, speed)

    def _repr_html_(self) -> str | None:
        """How notebooks show it; nothing if it cannot be played."""
        try:
            return self.html()
        except TetrionError:
            return None


def _wrong(field: str, problem: str) -> TetrionError:
    """The error for a wrong field of a recording; without a field, for all of it."""
    if field == "rules_version" and problem.startswith('is "'):
        return VersionMismatchError(f"the recording's rules_version {problem}", reason="RULES_VERSION_MISMATCH")
    return (
        InvalidArgumentError(f"recording.{field}", problem)
        if field
        else InvalidArgumentError("recording", f"cannot be read: {problem}")
    )


def checked_text(field: str, text: Any) -> str:
    """A text for people, `player` or `origin`.

    Raises:
        InvalidArgumentError: It is no text, too long, or has control characters.
    """
    checked = arguments.string(field, text)
    size = len(checked.encode())
    if size > MAX_TEXT:
        raise InvalidArgumentError(field, f"has {size} bytes, expected at most {MAX_TEXT}")
    control = next((letter for letter in checked if ord(letter) < 32 or 127 <= ord(letter) < 160), None)
    if control is not None:
        raise InvalidArgumentError(field, f"has the control character {control!r}")
    return checked
