"""Tasks whose best possible score is known: the suite `tetrion-tasks-1`.

    client = tetrion.Client()
    task = client.task("train", 3)
    client.score_task("train", 3, actions=task.oracle_actions).score  # 1.0

Task i of a split is of group i % 7 of `GROUPS`, and of difficulty i // 7 % 3 + 1. `proto/tetrion/v1/task.proto` defines the
groups and their scores. `TaskEnv` is a task as an environment of Gymnasium, `begin` as a session.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from tetrion import _native
from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._envs import spaces
from tetrion._envs.placement import PlacementEnv
from tetrion._envs.single import Observation
from tetrion._messages.requests import PositionsLike
from tetrion._pb import messages as pb
from tetrion._pb.records import Task, TaskScore
from tetrion._sessions.session import Session
from tetrion.errors import EpisodeEndedError, InvalidArgumentError

__all__ = ["GROUPS", "NUM_TASKS", "SPLITS", "SUITE", "Task", "TaskEnv", "TaskScore", "begin"]

SUITE = "tetrion-tasks-1"
SPLITS = ("train", "test")
NUM_TASKS = 10_500
"""Number of tasks per split."""
GROUPS = ("best_placement", "play", "clear_lines", "survive", "dig", "perfect_clear", "formula")
# The beginning of a snapshot of a `TaskEnv`.
_MAGIC = b"TTRNTASK"


def begin(client: Client, task: Task, **options: Any) -> Session:
    """Creates a session of one environment at the start of a task.

    Args:
        client: The client for the session.
        task: A task of any group but `formula`.
        **options: Further arguments of `Client.create_session`, such as `infos=["regret"]`.

    Raises:
        InvalidArgumentError: The task asks for a formula.
    """
    _check_played(task)
    session = client.create_session(rules=task.rules, **options)
    session.restore_state([task.state])
    return session


def _check_played(task: Task) -> None:
    if not task.state:
        problem = f"{task.index} asks for a formula, expected a task that is played; Client.score_task scores formulas"
        raise InvalidArgumentError("index", problem)


class TaskEnv(PlacementEnv):
    """A task as an environment.

    Actions and observations are those of `PlacementEnv` under the rules of the task. `reset` returns to the start of the
    task, with `info["prompt"]`; its option `index` changes to another task with the same rules.

    A snapshot of `save_state` has the actions so far as well, so `restore_state` returns to the score of that moment. Both
    are for looking ahead: they show the pieces of the task, which it hides from players in the group `play`.

    The reward of a step is the growth of the score, so the sum of the rewards is the score, `info["score"]`.
    Where exact values are known, `info["regret"]` is the number of lines that the placement is expected to cost against the
    best one. An episode terminates when the task is over, or when an action is no placement of the piece, which
    leaves the score as it was.

    Attributes:
        task: The task.
    """

    task: Task

    @keywords.checked
    def __init__(
        self,
        *,
        split: str = "train",
        index: int = 0,
        address: str | Client | None = None,
        token: str | None = None,
        observe_mask: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Creates a session at the start of a task.

        Args:
            split: `train` or `test`.
            index: Number of the task, of any group but `formula`.
            address: The server's `host:port`, or a `Client`; see `PlacementEnv`.
            token: The bearer token for the server.
            observe_mask: Whether the observation also contains the action mask.
            render_mode: `human`, `ansi` or `rgb_array`.

        Raises:
            InvalidRequestError: The suite has no such task.
            InvalidArgumentError: The task asks for a formula.
        """
        client = address if isinstance(address, Client) else Client(address, token=token)
        try:
            self.task = client.task(split, index)
            _check_played(self.task)
            super().__init__(address=client, rules=self.task.rules, observe_mask=observe_mask, render_mode=render_mode)
        except BaseException:
            if client is not address:
                client.close()
            raise
        self._owns_client = client is not address
        self._actions: tuple[int, ...] = ()
        self._score = TaskScore(0.0, True, 0, 0, (), ())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Returns to the start of the task.

        Args:
            seed: Has no effect on the task.
            options: `{"index": 17}` for another task of the split with the same rules, or nothing.

        Raises:
            InvalidArgumentError: The task has other rules or asks for a formula, or an option does not exist.
        """
        self._check_open("reset")
        index = spaces.known_options(options, ["index"]).get("index")
        gymnasium.Env.reset(self, seed=spaces.checked_seed(seed))
        if index is not None:
            task = self.client.task(self.task.split, arguments.integer("options['index']", index))
            _check_played(task)
            self._check_rules("options['index']", task)
            self.task = task
        observation, info = self.restore_state(self.task.state)
        return observation, info | {"prompt": self.task.prompt}

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Places the piece.

        Args:
            action: 0 to A - 1; see "Action Space" of `PlacementEnv`.

        Returns:
            The observation; the growth of the score; whether the task is over; false; the info.

        Raises:
            EpisodeEndedError: The task is over; call `reset`.
        """
        if self._score.done and self._actions:
            raise EpisodeEndedError("the task is over")
        observation, _, _, _, info = super().step(action)
        before = self._score.score
        over = bool(info["invalid_action"])
        if not over:
            self._actions = (*self._actions, int(action))
            self._score = self.client.score_task(self.task.split, self.task.index, actions=self._actions)
            over = self._score.done
            if self._score.regrets:
                info["regret"] = self._score.regrets[-1]
        info["score"] = self._score.score
        return observation, self._score.score - before, over, False, info

    def save_state(self) -> bytes:
        """Takes a snapshot: the task, the actions so far, and the state of the game.

        Raises:
            ResetNeededError: No episode has started.
        """
        state = super().save_state()
        played = pb.ScoreTaskRequest(split=self.task.split, index=self.task.index, actions=self._actions).encode()
        return _MAGIC + len(played).to_bytes(4, "little") + played + state

    def restore_state(self, state: PositionsLike, *, reseed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Continues from a snapshot, with the score that the actions until then had.

        Args:
            state: A snapshot from `save_state` of a `TaskEnv` whose task has the same rules, or the start, the task's own
                `state`.
            reseed: Refused, because the pieces belong to the task.

        Returns:
            The observation and the info, as from `reset`.

        Raises:
            InvalidArgumentError: The state is no such snapshot, or belongs to a task with other rules.
        """
        self._check_open("restore_state")
        if reseed is not None:
            raise arguments.wrong("reseed", reseed, "None: the pieces belong to the task")
        task, actions, snapshot = self._read(state)
        score = TaskScore(0.0, False, 0, 0, (), ())
        if actions:
            score = self.client.score_task(task.split, task.index, actions=actions)
        observation, info = super().restore_state(snapshot)
        self.task, self._actions, self._score = task, actions, score
        return observation, info | {"score": score.score}

    def _read(self, state: PositionsLike) -> tuple[Task, tuple[int, ...], bytes]:
        """The task, the actions and the game of a snapshot."""
        if isinstance(state, bytes) and state == self.task.state:
            return self.task, (), state
        try:
            if not isinstance(state, bytes) or not state.startswith(_MAGIC):
                raise ValueError
            begin = len(_MAGIC) + 4
            end = begin + int.from_bytes(state[len(_MAGIC) : begin], "little")
            played = pb.ScoreTaskRequest.decode(state[begin:end])
        except (_native.AnswerError, ValueError):
            expected = "a snapshot from save_state of a TaskEnv, or the task's own state"
            raise arguments.wrong("state", state, expected) from None
        task = self.task
        if (played.split, played.index) != (task.split, task.index):
            task = self.client.task(played.split, played.index)
            self._check_rules("state", task)
        return task, tuple(played.actions), state[end:]

    def _check_rules(self, argument: str, task: Task) -> None:
        """Refuses a task that this session cannot play."""
        if task.rules != self.task.rules:
            raise InvalidArgumentError(argument, f"is of task {task.index}, which has other rules; make another TaskEnv")
