"""Steps of many games that are sent ahead: the games go on while the learner computes."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._envs.base import SessionEnv
from tetrion._messages.answers import Stepped
from tetrion.errors import TetrionError

Observations = dict[str, npt.NDArray[np.generic]]
StepResult = tuple[Observations, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]


class AheadEnv(SessionEnv):
    """The part of a vector environment that sends steps without waiting for their results."""

    # Actions that `step_async` and `send` have sent, and their games; None: all.
    _sent: deque[tuple[npt.NDArray[np.integer], npt.NDArray[np.int64] | None]]

    @abstractmethod
    def _taken(self, actions: npt.NDArray[np.integer], mask: npt.NDArray[np.bool_] | None, stepped: Stepped) -> StepResult:
        """What `step` returns for an answer to these actions, before which there were these masks."""

    @abstractmethod
    def _count(self, stepped: Stepped, mask: npt.NDArray[np.bool_] | None, actions: npt.NDArray[np.integer]) -> None:
        """Counts the episodes that have ended, by the masks before these actions."""

    @abstractmethod
    def _result(
        self, stepped: Stepped, present: npt.NDArray[np.bool_], known: Mapping[str, npt.NDArray[Any]] | None = None
    ) -> StepResult:
        """An answer in Gymnasium's form, with additional infos that are known already."""

    def step_async(self, actions: npt.NDArray[np.integer]) -> None:
        """Sends the actions and returns at once; `step_wait` returns the result.

        In the meantime the games are stepped and the learner computes. No other call is possible before `step_wait`.

        Args:
            actions: Integers (num_envs,), 0 to A - 1.
        """
        self._check_open("step_async")
        self._stream.send_step(actions)
        self._sent.append((np.array(actions), None))

    def step_wait(self) -> StepResult:
        """Waits for the step that `step_async` has sent; see `step`.

        Raises:
            RuntimeError: No step was sent.
        """
        self._check_open("step_wait")
        if not self._sent or self._sent[0][1] is not None:
            raise RuntimeError("no step was sent, expected step_async(actions) before step_wait()")
        return self._taken(self._sent[0][0], self._stream._blocks.mask, self._received())

    def _received(self) -> Stepped:
        """The answer to the earliest sent actions. If a wait is interrupted, the actions stay in the queue."""
        try:
            stepped = self._stream.receive_step()
        except TetrionError:
            self._sent.popleft()
            raise
        self._sent.popleft()
        return stepped

    def send(self, actions: npt.NDArray[np.integer], env_ids: npt.NDArray[np.integer] | Sequence[int]) -> None:
        """Sends actions for some games and returns at once; `recv` returns the result.

        While these games are stepped, the learner chooses actions for others, as with EnvPool. Start with `reset`, and
        receive everything before any other call.

            observations, infos = envs.reset(seed=1)
            envs.send(first_actions, range(0, 128))
            envs.send(other_actions, range(128, 256))
            while training:
                observations, rewards, terminated, truncated, infos = envs.recv()
                envs.send(policy(observations), infos["env_id"])

        Args:
            actions: Integers (B,), 0 to A - 1.
            env_ids: The games, integers (B,), without repetition.
        """
        self._check_open("send")
        self._stream.send_step(actions, env_ids)
        self._sent.append((np.array(actions), np.array(env_ids, np.int64)))

    def recv(self) -> StepResult:
        """Waits for the earliest actions that `send` has sent.

        Returns:
            The return values of `step`, with one row per sent game; `infos["env_id"]`, int64 (B,), has their ids.

        Raises:
            RuntimeError: No actions were sent.
        """
        self._check_open("recv")
        if not self._sent or self._sent[0][1] is None:
            raise RuntimeError("no actions were sent, expected send(actions, env_ids) before recv()")
        actions, games = self._sent[0]
        assert games is not None, "they were sent with the actions"
        mask = self._stream._blocks.mask
        before = mask[games] if mask is not None else None
        stepped = self._received()
        self._stream._blocks.gather(games)
        self._count(stepped, before, actions)
        return self._result(stepped, np.ones(games.size, np.bool_), {"env_id": games})
