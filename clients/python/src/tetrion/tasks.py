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

from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._envs import spaces
from tetrion._envs.placement import PlacementEnv
from tetrion._envs.single import Observation
from tetrion._pb.records import Task, TaskScore
from tetrion._sessions.session import Session
from tetrion.errors import EpisodeEndedError, InvalidArgumentError

__all__ = ["GROUPS", "NUM_TASKS", "SPLITS", "SUITE", "Task", "TaskEnv", "TaskScore", "begin"]

SUITE = "tetrion-tasks-1"
SPLITS = ("train", "test")
NUM_TASKS = 10_500
"""Number of tasks per split."""
GROUPS = ("best_placement", "play", "clear_lines", "survive", "dig", "perfect_clear", "formula")


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
        self._actions: list[int] = []
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
            if task.rules != self.task.rules:
                raise InvalidArgumentError("options['index']", f"is {index}, a task with other rules; make another TaskEnv")
            self.task = task
        self._actions = []
        self._score = TaskScore(0.0, False, 0, 0, (), ())
        observation, info = self.restore_state(self.task.state)
        return observation, info | {"prompt": self.task.prompt, "score": 0.0}

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
            self._actions.append(int(action))
            self._score = self.client.score_task(self.task.split, self.task.index, actions=self._actions)
            over = self._score.done
            if self._score.regrets:
                info["regret"] = self._score.regrets[-1]
        info["score"] = self._score.score
        return observation, self._score.score - before, over, False, info
