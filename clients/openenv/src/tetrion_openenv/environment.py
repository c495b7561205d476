"""The environment: episodes, rewards, tasks and tools, as OpenEnv's interfaces want them."""

from __future__ import annotations

import inspect
import reprlib
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any, get_args
from uuid import uuid4

import tetrion
from fastmcp import FastMCP
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.types import EnvironmentMetadata
from tetrion import tasks

from tetrion_openenv.episodes import Episode, GameEpisode, sentence, task_episode
from tetrion_openenv.models import Level, Reward, TetrionAction, TetrionObservation, TetrionState

# Bounds on what one client can ask of a server that it shares.
MAX_PIECES = 1000
MAX_GAMES = 64
MAX_NAME = 255
# Answers to requests for many tasks.
MAX_LISTED = 1000


@cache
def shared_client() -> tetrion.Client:
    """The client of this process: in the process itself, or of the server that TETRION_SERVER names."""
    return tetrion.Client()


class TetrionEnvironment(MCPEnvironment):
    """Tetris as text: a game with a goal, or a task whose best possible score is known.

    An action is a letter or a name of the list of legal actions. A text that is none is answered with a sentence and changes
    nothing; after `max_refusals` of them the episode is truncated.

    With the reward `score`, a step is rewarded by the growth of the score, so an episode's rewards add up to its score in
    [0, 1]. With `success`, the last step is rewarded with 1 if the score is 1, all others with 0.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        """Makes an environment without an episode."""
        super().__init__(self._tools())
        self._episode: Episode | None = None
        self._is_closed = False
        self._state = TetrionState()
        self._refusals, self._max_refusals = 0, 0
        self._level: Level = "actions"
        self._reward: Reward = "score"

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        split: str | None = None,
        index: int | None = None,
        level: Level = "actions",
        reward: Reward = "score",
        rules: tetrion.RulesFields | None = None,
        lines: int = 2,
        pieces: int = 20,
        max_refusals: int = 3,
        **unknown: Any,
    ) -> TetrionObservation:
        """Starts an episode.

        Args:
            seed: Seed of a game; without one, it is drawn. With a split but no index, it chooses the task. With an index
                it is refused, because such a task has no randomness left.
            episode_id: A name for the episode.
            split: `train` or `test`, for a task. Default: a game.
            index: Number of the task.
            level: What the text shows: `board`, `actions`, `consequences` or `short`.
            reward: `score` or `success`.
            rules: Rules of a game, such as `{"width": 6, "height": 12}`. Default: the preset `simplified`, one next piece.
            lines: Lines to clear in a game.
            pieces: Most pieces of a game.
            max_refusals: The episode is truncated after this many refused actions.
            **unknown: None: OpenEnv would leave out arguments that this method does not have, without a word.

        Raises:
            ValueError: An argument is wrong. The episode before goes on.
        """
        if self._is_closed:
            raise ValueError("the environment was closed after a long silence, connect again")
        for name in unknown:
            *known, _ = inspect.signature(self.reset).parameters
            raise ValueError(f"{name}: is no argument of reset, expected one of {', '.join(known)}")
        _check("level", level, get_args(Level))
        _check("reward", reward, get_args(Reward))
        _check("max_refusals", max_refusals, range(1, MAX_PIECES + 1))
        if seed is not None:
            _check("seed", seed, range(2**64))
        if episode_id is not None and not (isinstance(episode_id, str) and len(episode_id) <= MAX_NAME):
            raise ValueError(f"episode_id: is {_shown(episode_id)}, expected a text of at most {MAX_NAME} characters")
        state = TetrionState(episode_id=episode_id or str(uuid4()))
        try:
            episode = self._start(state, seed=seed, split=split, index=index, rules=rules, lines=lines, pieces=pieces)
        except tetrion.InvalidRequestError as error:
            raise ValueError(sentence(error)) from None
        self._close_episode()
        self._episode, self._state = episode, state
        self._level, self._reward, self._refusals, self._max_refusals = level, reward, 0, max_refusals
        return self._observe(episode.prompt(level), None, None)

    def _start(
        self,
        state: TetrionState,
        *,
        seed: int | None,
        split: str | None,
        index: int | None,
        rules: tetrion.RulesFields | None,
        lines: int,
        pieces: int,
    ) -> Episode:
        client = shared_client()
        if split is None:
            if index is not None:
                raise ValueError(f"index: is {_shown(index)} without a split, expected a split of {', '.join(tasks.SPLITS)}")
            _check("lines", lines, range(1, MAX_PIECES + 1))
            _check("pieces", pieces, range(1, MAX_PIECES + 1))
            if rules is not None and not isinstance(rules, dict):
                raise ValueError(f"rules: is {_shown(rules)}, expected an object such as {{'width': 6, 'height': 12}}")
            state.seed = secrets.randbits(32) if seed is None else seed
            return GameEpisode(client, seed=state.seed, rules=rules or {"preview": 1}, lines=lines, pieces=pieces)
        _check("split", split, tasks.SPLITS)
        if rules is not None:
            raise ValueError("rules: are those of the task, expected none with a split")
        if index is not None:
            if seed is not None:
                raise ValueError(
                    f"seed: is {seed} with the index {_shown(index)}, expected one of the two: both choose the task"
                )
            _check("index", index, range(tasks.NUM_TASKS))
        else:
            index = (secrets.randbits(32) if seed is None else seed) % tasks.NUM_TASKS
        task = client.task(split, index)
        state.split, state.index, state.group = split, index, task.group
        return task_episode(client, task)

    def _step_impl(self, action: TetrionAction, timeout_s: float | None = None, **kwargs: Any) -> TetrionObservation:
        return self.place(action.text)

    def place(self, text: str) -> TetrionObservation:
        """Plays an action; a text that is none is refused in the observation.

        Raises:
            ValueError: The episode has ended.
        """
        episode = self.current()
        if self._done():
            raise ValueError("the episode has ended, reset the environment")
        self._state.step_count += 1
        before, refusal = episode.score, None
        try:
            episode.play(text)
            self._state.actions.append(text)
        except ValueError as error:
            refusal = str(error)
            self._refusals += 1
        solved = self._done() and episode.score == 1.0
        reward = episode.score - before if self._reward == "score" else float(solved)
        return self._observe(episode.show(self._level), reward, refusal)

    def _observe(self, text: str, reward: float | None, refusal: str | None) -> TetrionObservation:
        episode = self.current()
        truncated = self._done() and not episode.terminated
        return TetrionObservation(
            text=text,
            legal_actions=[] if truncated else episode.legal_actions(),
            lines=episode.lines,
            pieces=episode.pieces,
            score=episode.score,
            terminated=episode.terminated,
            truncated=truncated,
            refusal=refusal,
            refusals=self._refusals,
            done=self._done(),
            reward=reward,
        )

    def current(self) -> Episode:
        """The episode in progress, or the one that ended last.

        Raises:
            ValueError: The environment has not been reset.
        """
        if self._episode is None:
            raise ValueError("there is no episode, reset the environment")
        return self._episode

    def _done(self) -> bool:
        episode = self.current()
        return episode.terminated or episode.truncated or self._refusals >= self._max_refusals

    @property
    def state(self) -> TetrionState:
        """The episode."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version and purpose."""
        description = "Tetris as text, with tasks whose best possible score is known"
        return EnvironmentMetadata(name="tetrion", description=description, version=tetrion.__version__)

    def close(self) -> None:
        """Ends the episode, and all others: the server has given this environment's place away."""
        self._is_closed = True
        self._close_episode()
        super().close()

    def _close_episode(self) -> None:
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    # OpenEnv's `TaskProvider`.

    def list_splits(self) -> list[str]:
        """The splits of the suite."""
        return list(tasks.SPLITS)

    def num_tasks(self, split: str) -> int:
        """The number of tasks in a split."""
        _check_split(split)
        return tasks.NUM_TASKS

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A task, without its solution.

        Raises:
            IndexError: The suite has no such task.
        """
        _check_split(split)
        if not 0 <= index < tasks.NUM_TASKS:
            raise IndexError(f"index: is {index}, expected 0 to {tasks.NUM_TASKS - 1}")
        task = shared_client().task(split, index)
        floors = {"floor_first": task.floor_first, "floor_random": task.floor_random}
        return {
            "id": f"{task.suite}/{split}/{index}",
            "split": split,
            "index": index,
            "group": task.group,
            "difficulty": task.difficulty,
            "prompt": task.prompt,
            "num_pieces": task.num_pieces,
            **floors,
        }

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The first tasks of a split."""
        return self.get_task_range(split, 0, MAX_LISTED)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """The tasks of a slice.

        Raises:
            IndexError: The slice is too long.
        """
        _check_split(split)
        indices = range(tasks.NUM_TASKS)[start:stop]
        if len(indices) > MAX_LISTED:
            raise IndexError(f"start, stop: are {len(indices)} tasks, expected at most {MAX_LISTED}")
        return [self.get_task(split, index) for index in indices]

    # Tools of the Model Context Protocol.

    def _tools(self) -> FastMCP:
        server = FastMCP("tetrion")

        @server.tool
        def new_game(
            seed: int | None = None, split: str | None = None, index: int | None = None, level: Level = "actions"
        ) -> str:
            """Start a game, or a task with `split` and `index`, and return its text."""
            return _answer(lambda: self.reset(seed, split=split, index=index, level=level).text)

        @server.tool
        def show(level: Level = "actions") -> str:
            """Show the game."""
            return _answer(lambda: self.current().show(level))

        @server.tool
        def place(action: str) -> str:
            """Place the piece by the letter or the name of an action, and show the game afterwards."""
            return _answer(lambda: as_text(self.place(action)))

        @server.tool
        def peek(action: str) -> str:
            """Tell what an action would lead to: lines, holes, height and bumpiness."""
            return _answer(lambda: self.current().peek(action))

        @server.tool
        def evaluate_formula(formula: str, games: int = 8) -> str:
            """Play whole games on 10 x 10 with a formula that scores placements, and return the lines per game."""
            return _answer(lambda: evaluate_formula_text(formula, games))

        return server


def as_text(observation: TetrionObservation) -> str:
    """An observation for a model that reads text alone. A refusal, which changed nothing, does not repeat the game."""
    parts = [observation.refusal or observation.text]
    if observation.done:
        parts.append(f"The episode has ended with the score {observation.score:.3f}.")
    return "\n".join(parts)


def evaluate_formula_text(formula: str, games: int) -> str:
    """How a formula plays on seeds that no task uses for its score."""
    _check("games", games, range(1, MAX_GAMES + 1))
    policy = tetrion.Policy(formula=formula)
    size: tetrion.RulesFields = {"width": 10, "height": 10}
    seeds = tetrion.DrawnSeeds(1, games)
    lines = shared_client().evaluate([policy], seeds=seeds, rules=size, max_pieces=MAX_PIECES).summary.policies[0].lines
    spread = f"{lines.min:.0f} to {lines.max:.0f}"
    return f"{lines.mean:.1f} lines per game, {spread} in {games} games of at most {MAX_PIECES} pieces"


def _answer(call: Callable[[], str]) -> str:
    """The text of a call, or the sentence of what went wrong: a model can act on it."""
    try:
        return call()
    except tetrion.TetrionError as error:
        return sentence(error)
    except ValueError as error:
        return str(error)


def _check_split(split: str) -> None:
    if split not in tasks.SPLITS:
        raise IndexError(f"split: is {split!r}, expected one of {', '.join(tasks.SPLITS)}")


def _check(field: str, value: Any, expected: Any) -> None:
    if isinstance(expected, range):
        if type(value) is not int or value not in expected:
            raise ValueError(f"{field}: is {_shown(value)}, expected {expected[0]} to {expected[-1]}")
    elif value not in expected:
        raise ValueError(f"{field}: is {_shown(value)}, expected one of {', '.join(expected)}")


def _shown(value: Any) -> str:
    return reprlib.repr(value)
