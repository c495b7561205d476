"""A session at one moment, as the call `WatchSession` shows it: scenes of its games, and their picture."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer, reads_answer
from tetrion._messages import drawings
from tetrion._messages.ends import word
from tetrion._messages.scenes import Scene, scene
from tetrion._pb import messages as pb


@dataclass(frozen=True)
class WatchedEpisode:
    """The outcome of an episode that was watched.

    Attributes:
        episode: Number of the episode under the environment's seed, from 0.
        lines: Lines cleared.
        pieces: Pieces landed.
        steps: Steps taken.
        episode_return: The sum of its rewards.
        end: The end of the episode, a name of `EpisodeEnd` in lower case, such as `topped_out`.
    """

    episode: int
    lines: int
    pieces: int
    steps: int
    episode_return: float
    end: str | None


@dataclass(frozen=True)
class WatchedEnv:
    """An environment of a session at one moment.

    Attributes:
        env_id: Number of the environment in the session.
        has_begun: Whether the environment has been reset.
        end: The end of the episode, until the next one starts: a name of `EpisodeEnd` in lower case, such as `topped_out`.
            None while it runs.
        episode: Number of the episode under the environment's seed, from 0.
        seed: The episode seed; 0 for explicit pieces.
        scene: The game. Its steps are those of the episode, and its score is the sum of the rewards.
        last_episode: The last episode that ended while the environment was watched; None before.
    """

    env_id: int
    has_begun: bool
    end: str | None
    episode: int
    seed: int
    scene: Scene
    last_episode: WatchedEpisode | None

    @property
    def caption(self) -> str:
        """The number of the environment, and of its episode."""
        if not self.has_begun:
            return f"env {self.env_id}: not started"
        over = {None: "", "topped_out": " over", "invalid_action": " over"}.get(self.end, " cut")
        return f"env {self.env_id}: episode {self.episode}{over}"


class Style(NamedTuple):
    """How frames of a session become pictures.

    Attributes:
        rules: The session's rules.
        cell: Pixels of a cell's side.
        palette: The colours.
    """

    rules: pb.Rules
    cell: int
    palette: int


@dataclass(frozen=True, repr=False)
class WatchedFrame:
    """A session at one moment. As the value of a notebook cell, it shows its picture.

    Attributes:
        sequence_number: Number of mutating calls on the session so far, as the server counts them.
        elapsed: Seconds since the start of the watch.
        envs: The watched environments, in the order of `Watching.env_ids`.
    """

    sequence_number: int
    elapsed: float
    envs: tuple[WatchedEnv, ...]
    _message: pb.WatchFrame = field(compare=False)
    _style: Style = field(compare=False)

    @classmethod
    @reads_answer
    def _from_message(cls, message: pb.WatchFrame, style: Style) -> WatchedFrame:
        """Reads a frame of a session.

        Raises:
            InvalidAnswerError: The frame belongs to other rules.
        """
        envs = tuple(_env(env, style.rules) for env in message.envs)
        return cls(message.sequence_number, arguments.seconds(message.elapsed), envs, message, style)

    def picture(self, *, columns: int = 4) -> npt.NDArray[np.uint8]:
        """All environments in a grid, each with its id and its episode below it.

        Args:
            columns: Most environments per row.

        Returns:
            uint8 [pixels, pixels, 3], the same size for all frames of a watch.

        Raises:
            InvalidAnswerError: The frame belongs to other rules.
        """
        columns = arguments.integer("columns", columns, 1)
        rules, cell, palette = self._style
        captions = [env.caption for env in self.envs]
        frame = self._message.encode()
        try:
            return drawings.picture(_native.watched_picture(rules.encode(), frame, captions, cell, palette, columns))
        except ValueError as error:
            raise invalid_answer(f"the frame cannot be drawn: {error}") from None

    def _repr_png_(self) -> bytes:
        """The picture for notebooks."""
        return _png(self.picture())

    def __repr__(self) -> str:
        """The call that it follows, in a line."""
        return f"<tetrion.WatchedFrame of {len(self.envs)} environments after call {self.sequence_number}>"


def _png(picture: npt.NDArray[np.uint8]) -> bytes:
    """A picture as a file of the format PNG."""
    height, width, _ = picture.shape
    # A byte before each row says how it is filtered: 2 is the difference to the row above, which is mostly 0.
    rows = np.full((height, 1 + 3 * width), 2, np.uint8)
    rows[:, 1:] = np.diff(picture.reshape(height, 3 * width), axis=0, prepend=np.uint8(0))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 1)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _env(env: pb.WatchedEnv, rules: pb.Rules) -> WatchedEnv:
    last = env.last_episode
    return WatchedEnv(
        env_id=env.env_id,
        has_begun=env.end != pb.EPISODE_END_UNSPECIFIED,
        end=word(env.end) if env.end != pb.EPISODE_END_UNSPECIFIED else None,
        episode=env.episode,
        seed=env.seed,
        scene=scene(env, rules),
        last_episode=WatchedEpisode(last.episode, last.lines, last.pieces, last.steps, last.episode_return, word(last.end))
        if env.has("last_episode")
        else None,
    )
