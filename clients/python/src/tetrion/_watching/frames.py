"""A session at one moment, as the call `WatchSession` shows it: scenes of its games, and their pixels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import invalid_answer
from tetrion._messages.ends import word
from tetrion._pb import messages as pb
from tetrion._pictures import pictures
from tetrion._pictures.scenes import EMPTY, LETTERS, Cells, Scene


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
        scene: The game. Its steps are those of the episode, and its score is the sum of the rewards. It does not show how an
            episode ended.
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
    _painter: pictures.Painter = field(compare=False)

    @classmethod
    def _from_message(cls, message: pb.WatchFrame, rules: pb.Rules, painter: pictures.Painter) -> WatchedFrame:
        """Reads a frame of a session with these rules.

        Raises:
            InvalidAnswerError: The frame belongs to other rules.
        """
        try:
            envs = tuple(_env(env, rules) for env in message.envs)
        except ValueError as error:
            raise invalid_answer(f"the frame cannot be read: {error}") from None
        return cls(message.sequence_number, message.elapsed.ToTimedelta().total_seconds(), envs, painter)

    def picture(self, *, columns: int = 4) -> npt.NDArray[np.uint8]:
        """All environments in a grid, each with its id and its episode below it.

        Args:
            columns: Most environments per row.

        Returns:
            uint8 [pixels, pixels, 3], the same size for all frames of a watch.
        """
        return pictures.side_by_side([self._painter.paint(env.scene, env.caption) for env in self.envs], columns)

    def _repr_png_(self) -> bytes:
        """The picture for notebooks."""
        return pictures.png(self.picture())

    def __repr__(self) -> str:
        """The call that it follows, in a line."""
        return f"<tetrion.WatchedFrame of {len(self.envs)} environments after call {self.sequence_number}>"


def painter(rules: pb.Rules, scale: float, palette: str) -> pictures.Painter:
    """A painter for the environments of a session with these rules."""
    # Falling pieces are drawn in the playfield, other pieces next to it.
    waits = rules.action_model == pb.ACTION_MODEL_PLACEMENT
    return pictures.Painter(pictures.Layout.of(rules, scale, has_current=waits, has_caption=True), palette)


def _env(env: pb.WatchedEnv, rules: pb.Rules) -> WatchedEnv:
    last = env.last_episode
    return WatchedEnv(
        env_id=env.env_id,
        has_begun=env.end != pb.EPISODE_END_UNSPECIFIED,
        end=word(env.end) if env.end != pb.EPISODE_END_UNSPECIFIED else None,
        episode=env.episode,
        seed=env.seed,
        scene=_scene(env, rules),
        last_episode=WatchedEpisode(last.episode, last.lines, last.pieces, last.steps, last.episode_return, word(last.end))
        if env.HasField("last_episode")
        else None,
    )


def _scene(env: pb.WatchedEnv, rules: pb.Rules) -> Scene:
    cells = np.full((rules.height, rules.width), EMPTY, np.int8)
    if env.colors:
        # In the message, 0 is an empty cell, and tetrominoes count from 1.
        cells[:] = np.frombuffer(env.colors, np.int8).reshape(cells.shape) - 1
    # If a step is a placement, the piece's cells are only where it would appear.
    falls = rules.action_model == pb.ACTION_MODEL_KEYPRESS
    return Scene(
        cells=cells,
        current=LETTERS.index(env.piece) if env.piece else None,
        falling=_pairs(env.piece_cells) if falls else (),
        ghost=_pairs(env.ghost_cells),
        queue=tuple(LETTERS.index(letter) for letter in env.queue),
        last=_pairs(env.last_cells),
        full_rows=(),
        steps=env.steps,
        pieces=env.pieces,
        lines=env.lines,
        score=env.episode_return,
        end=None,
        held=LETTERS.index(env.held) if env.held else None,
        garbage=tuple(env.garbage),
    )


def _pairs(numbers: npt.ArrayLike) -> Cells:
    return tuple((row, column) for row, column in np.reshape(np.asarray(numbers, np.int64), (-1, 2)).tolist())
