"""Wrappers that write the games of an environment to files, as Gymnasium's `RecordVideo` writes videos."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import gymnasium
import numpy as np
from gymnasium.core import ActType, ObsType
from gymnasium.vector import VectorEnv, VectorWrapper

from tetrion._checks import arguments
from tetrion._checks.names import expected
from tetrion._recordings.episode_log import Episode
from tetrion._recordings.recorder import Recorder
from tetrion._recordings.recording import Recording
from tetrion.errors import InvalidArgumentError

Trigger = Callable[[int], bool]
EnvType = TypeVar("EnvType")

_SUFFIXES = (".json", ".tetrion")


def _cubes_and_thousands(number: int) -> bool:
    """The trigger of `RecordVideo`, whose module cannot be imported without moviepy."""
    return round(number ** (1 / 3)) ** 3 == number if number < 1000 else number % 1000 == 0


class _RecordingFiles:
    """A recorder, and the files of the games that it has heard the end of."""

    def __init__(
        self,
        env: Any,
        folder: str | os.PathLike[str],
        trigger: Trigger | None,
        *,
        name_prefix: str,
        player: str,
        suffix: str,
    ) -> None:
        self.recorder = Recorder(env, player=player)
        self.suffix = suffix
        if self.suffix not in _SUFFIXES:
            raise InvalidArgumentError("suffix", f"is {self.suffix!r}{expected(self.suffix, _SUFFIXES)}")
        self.folder = Path(folder)
        self.prefix = name_prefix
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.glob(f"{name_prefix}-episode-*{self.suffix}")):
            gymnasium.logger.warn(f"{self.folder} has recordings already, and those of the same numbers are overwritten")
        if trigger is not None and not callable(trigger):
            raise arguments.wrong("episode_trigger", trigger, "a function of an episode's number")
        self.trigger = trigger if trigger is not None else _cubes_and_thousands
        self.numbers: dict[int, int] = {}
        self.num_ended = 0

    def _is_wanted(self, episode: Episode) -> bool:
        number, self.num_ended = self.num_ended, self.num_ended + 1
        self.numbers[id(episode)] = number
        return self.trigger(number)

    def write(self, over: Sequence[int] = ()) -> list[Recording]:
        """Writes the games that have ended since the last call, if they are wanted; `over`: environments whose games are."""
        written = []
        for episode, recording in self.recorder._take_numbered(self._is_wanted, over):
            recording.save(self.folder / f"{self.prefix}-episode-{self.numbers[id(episode)]}{self.suffix}")
            written.append(recording)
        self.numbers.clear()
        return written


class _WritesGames(gymnasium.utils.RecordConstructorArgs, Generic[EnvType]):
    """What the wrapper of one environment and that of many have in common. A subclass is a wrapper of Gymnasium as well."""

    def __init__(
        self,
        env: EnvType,
        folder: str | os.PathLike[str],
        episode_trigger: Trigger | None = None,
        *,
        name_prefix: str = "game",
        player: str = "",
        suffix: str = ".json",
    ) -> None:
        """Begins to record.

        Args:
            env: An environment of this package, wrapped or not.
            folder: Where the files go; made if it is not there.
            episode_trigger: Called with the number of an episode that has ended, from 0; whether to write it. Left out: that
                of `RecordVideo`, 0, 1, 8, 27 and so on up to 1,000, then every 1,000th.
            name_prefix: Files are called `PREFIX-episode-NUMBER`.
            player: Who or what plays, for people.
            suffix: `.json`, or `.tetrion` for the binary form.

        Raises:
            InvalidArgumentError: The environment is not one of this package, or there is no such suffix.
        """
        names: dict[str, Any] = {"name_prefix": name_prefix, "player": player, "suffix": suffix}
        gymnasium.utils.RecordConstructorArgs.__init__(self, folder=folder, episode_trigger=episode_trigger, **names)
        # The wrapper of Gymnasium, which follows among the bases.
        super(gymnasium.utils.RecordConstructorArgs, self).__init__(env)  # type: ignore[call-arg]
        self._files: _RecordingFiles | None = _RecordingFiles(env, folder, episode_trigger, **names)
        self.recordings: list[Recording] = []

    @property
    def recorder(self) -> Recorder | None:
        """The recorder; None in a copy."""
        return self._files.recorder if self._files is not None else None

    def _write(self, *, has_ended: bool = True, over: Sequence[int] = ()) -> None:
        self.recordings = self._files.write(over) if has_ended and self._files is not None else []

    def __getstate__(self) -> dict[str, Any]:
        """A copy does not record."""
        return {**self.__dict__, "_files": None, "recordings": []}


class RecordGames(_WritesGames[gymnasium.Env[ObsType, ActType]], gymnasium.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Writes games of an environment to files, each when its episode ends.

        env = tetrion.RecordGames(gymnasium.make("tetrion/Placement-v0"), "games", player="my agent")

    The files are recordings: a game of a thousand pieces takes some 2 KB. `tetrion.Recording.load` reads them, and shows
    them in a notebook; `tetrion replay FILE` checks one, `tetrion export FILE -o game.gif` makes a moving picture of it.

    An episode that a reset leaves is written too; one that `restore_state` leaves is not. An episode that returns to a
    snapshot of its own is recorded as it goes on from there, as in a tree search; one that goes on from a snapshot of
    another environment is recorded from there. Copies of the environment do not record.

    Attributes:
        recorder: The `Recorder`; `recorder.recording()` is the game so far.
        recordings: Those written by the last step or reset.
    """

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ObsType, dict[str, Any]]:
        """Begins an episode, and writes the one that it leaves."""
        result = super().reset(seed=seed, options=options)
        self._write()
        return result

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Takes a step, and writes the game that it ends."""
        result = super().step(action)
        # It may be a wrapper, such as `TimeLimit`, that ends the episode, of which the session does not know.
        self._write(has_ended=result[2] or result[3], over=[0])
        return result


class RecordVectorGames(_WritesGames[VectorEnv[Any, Any, Any]], VectorWrapper):
    """Writes games of a vector environment to files, each when its episode ends; see `RecordGames`.

    The files are numbered in the order in which games end, those of one step by environment; each says where it comes from.
    Games are stepped with `step`: there is no `send` and no `recv`.

    Attributes:
        recorder: The `Recorder`; `recorder.recording(i)` is the game of environment i so far.
        recordings: Those written by the last step or reset.
    """

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes, and writes those that it leaves."""
        env: Any = self.env
        result: tuple[Any, dict[str, Any]] = env.reset(seed=seed, options=options)
        self._write()
        return result

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step, and writes the games that it ends."""
        result = super().step(actions)
        self._write(has_ended=bool(np.any(result[2]) or np.any(result[3])))
        return result
