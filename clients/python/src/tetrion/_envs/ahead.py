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
from tetrion._sessions.calls import check_rows

Observations = dict[str, npt.NDArray[np.generic]]
StepResult = tuple[Observations, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]


class AheadEnv(SessionEnv):
    """The part of a vector environment that sends steps without waiting for their results."""

    # True for every game.
    _all: npt.NDArray[np.bool_]
    # Actions that `step_async` and `send` have sent, and their games; None: all.
    _sent: deque[tuple[npt.NDArray[np.integer], npt.NDArray[np.int64] | None]]

    @abstractmethod
    def _count(
        self,
        stepped: Stepped,
        mask: npt.NDArray[np.bool_] | None,
        actions: npt.NDArray[np.integer],
        *,
        stacklevel: int,
    ) -> None:
        """Counts the episodes that have ended, by the masks before these actions; `stacklevel` as of `_count_endings`."""

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
        self._send(actions, None)

    def step_wait(self) -> StepResult:
        """Waits for the step that `step_async` has sent; see `step`.

        Raises:
            RuntimeError: No step was sent.
        """
        self._check_open("step_wait")
        if not self._sent or self._sent[0][1] is not None:
            raise RuntimeError("no step was sent, expected step_async(actions) before step_wait()")
        actions, mask = self._sent[0][0], self._stream._blocks.mask
        stepped = self._received()
        self._count(stepped, mask, actions, stacklevel=4)
        return self._result(stepped, self._all)

    def _send(self, actions: npt.NDArray[np.integer], env_ids: npt.NDArray[np.integer] | Sequence[int] | None) -> None:
        """Sends actions for these games; None: all. They are noted before, because Ctrl-C can come after each line."""
        check_rows(actions, env_ids, self._all.size)
        games = None if env_ids is None else np.array(env_ids, np.int64)
        self._sent.append((np.array(actions), games))
        try:
            self._stream._send_step(actions, games)
        finally:
            while len(self._sent) > self._stream.in_flight:
                self._sent.pop()

    def _received(self) -> Stepped:
        """The answer to the earliest sent actions. If none has come, the actions stay in the queue."""
        try:
            return self._stream.receive_step()
        finally:
            while len(self._sent) > self._stream.in_flight:
                self._sent.popleft()

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
        self._send(actions, env_ids)

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
        self._count(stepped, before, actions, stacklevel=4)
        return self._result(stepped, np.ones(games.size, np.bool_), {"env_id": games})
