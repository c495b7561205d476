"""The output of an environment's `render`: its games in colours, as pictures and as text.

The server's playfield contains only 0 and 1. So this file replays the games invisibly (see `replayer`), which shows from
which tetromino each cell comes. This happens when a picture is requested. Until then, an environment that can render records
its actions; one that cannot does nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._pb import messages as pb
from tetrion._pictures import pictures
from tetrion._pictures.scenes import Scene
from tetrion._recordings.episode_log import Episode, EpisodeLog
from tetrion._recordings.replayer import Replayer
from tetrion._sessions.session import Session
from tetrion._sessions.stream import StepStream
from tetrion.errors import ResetNeededError, SessionNotFoundError

MODES = ("human", "ansi", "rgb_array")

# Most steps to replay for one picture. A game that is further behind is shown from its current state, in grey.
_MAX_BEHIND = 20_000


def checked_mode(render_mode: str | None) -> str | None:
    """Checks a render mode.

    Raises:
        InvalidArgumentError: The render mode does not exist.
    """
    return arguments.choice("render_mode", render_mode, MODES) if render_mode is not None else None


class Renderer:
    """Shows the games of a session. Cells from before a foreign snapshot are grey until their rows are cleared."""

    def __init__(self, session: Session, stream: StepStream, mode: str, *, scale: float, palette: str) -> None:
        """Starts recording the actions of the games.

        Args:
            session: The session.
            stream: The stream that steps it.
            mode: One of `MODES`; `human` shows the first game only.
            scale: The size of pictures; at 1.0 a cell is 16 x 16 pixels.
            palette: The name of a palette.
        """
        self._session = session
        self._stream = stream
        self._mode = mode
        self._palette = palette
        self._rules = session._message.config.rules
        # Falling pieces are drawn in the playfield, other pieces next to it.
        waits = self._rules.action_model == pb.ACTION_MODEL_PLACEMENT
        self._painter = pictures.Painter(pictures.Layout.of(self._rules, scale, has_current=waits), palette)
        self._log = EpisodeLog(session._message, [0] if mode == "human" else range(session.num_envs))
        session._listen(self._log)
        self._replayer: Replayer | None = None
        # The episode of each game that is being replayed, and the number of its replayed actions.
        self._followed: dict[int, tuple[Episode, int]] = {}
        self._due = 0.0

    def frames(self) -> list[str] | list[npt.NDArray[np.uint8]]:
        """Each game in the form of the render mode: text, or a picture, uint8 [pixels, pixels, 3]."""
        scenes = self.scenes(range(self._session.num_envs))
        if self._mode == "ansi":
            return [pictures.text(scene, self._rules, self._palette) for scene in scenes]
        return [self._painter.paint(scene) for scene in scenes]

    def show(self, fps: float) -> None:
        """Draws the first game on the terminal, over the last drawing or, if stdout is a file, below it.

        Args:
            fps: Most drawings per second; 0: no limit.
        """
        (scene,) = self.scenes([0])
        drawing = pictures.text(scene, self._rules, None if os.environ.get("NO_COLOR") else self._palette)
        time.sleep(max(0.0, self._due - time.monotonic()))
        began = time.monotonic()
        print(("\x1b[H\x1b[J" if sys.stdout.isatty() else "") + drawing, flush=True)
        self._due = began + (1.0 / fps if fps else 0.0)

    def scenes(self, env_ids: Sequence[int]) -> list[Scene]:
        """The current scenes of games.

        Raises:
            ResetNeededError: One of the games has not started.
        """
        for env_id in env_ids:
            if env_id not in self._log.episodes:
                raise ResetNeededError(f"no game has begun in environment {env_id}", code="FAILED_PRECONDITION")
        try:
            return self._follow(env_ids)
        except SessionNotFoundError:
            # The replayer's lease may expire while no picture is requested.
            self._replayer = None
            self._followed.clear()
            return self._follow(env_ids)

    def _follow(self, env_ids: Sequence[int]) -> list[Scene]:
        for env_id in env_ids:
            episode = self._log.episodes[env_id]
            behind = len(episode.actions) - self._played(episode)
            is_unknown = episode.begin is None and env_id not in self._log.unsaved
            if is_unknown or behind > _MAX_BEHIND:
                self._log.restart(env_id)
        due = sorted(self._log.unsaved.intersection(env_ids))
        if due:
            self._log.keep(due, self._stream.save_state(due))
        if self._replayer is None:
            message = self._session._message
            create = partial(Session._create, self._session._connection)
            self._replayer = Replayer(create, message.config, len(self._log.env_ids), ttl=message.ttl)
        replayer = self._replayer
        episodes = {env_id: self._log.episodes[env_id] for env_id in env_ids}
        new = {
            env_id: episode.begin
            for env_id, episode in episodes.items()
            if self._followed.get(env_id, (None, 0))[0] is not episode and episode.begin is not None
        }
        replayer.begin(new)
        later = {env_id: episode.actions[self._played(episode) :] for env_id, episode in episodes.items()}
        replayer.play({env_id: actions for env_id, actions in later.items() if actions})
        self._followed.update({env_id: (episode, len(episode.actions)) for env_id, episode in episodes.items()})
        return [replayer.course(env_id).scene() for env_id in env_ids]

    def _played(self, episode: Episode) -> int:
        """Number of an episode's actions that have been replayed."""
        followed, played = self._followed.get(episode.env_id, (None, 0))
        return played if followed is episode else 0

    def close(self) -> None:
        """Ends the replayer's session."""
        self._session._unlisten(self._log)
        if self._replayer is not None:
            self._replayer.close()
