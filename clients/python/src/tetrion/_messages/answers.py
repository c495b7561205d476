"""The answers of a session as numpy arrays, and what they must have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import invalid_answer
from tetrion._messages.tensors import Arrays, Specs, column
from tetrion._pb import messages as pb


class Observed(NamedTuple):
    """The state of environments after `reset` or `restore`. Arrays have one row per environment of the call.

    Attributes:
        observations: By name, in the order of the session's observation fields.
        action_mask: bool [B, A]; None if the session has no masks. On the wire it takes an eighth of this.
        infos: By name.
    """

    observations: Arrays
    action_mask: npt.NDArray[np.bool_] | None
    infos: Arrays


class Final(NamedTuple):
    """The last states of episodes whose rows already show the next one.

    Attributes:
        rows: Indices of these rows in the answer, ascending.
        observations: Like in `Observed`, with one row per ended episode.
        infos: Like in `Observed`, with one row per ended episode.
    """

    rows: npt.NDArray[np.int64]
    observations: Arrays
    infos: Arrays


class Stepped(NamedTuple):
    """The outcome of a step.

    Attributes:
        observations: Like in `Observed`.
        rewards: float32 [B].
        terminated: bool [B], whether the rules ended the episode.
        truncated: bool [B], whether a limit cut the episode.
        action_mask: Like in `Observed`.
        infos: Like in `Observed`.
        final: The episodes that ended, with same-step autoreset; None if none ended.
        actions: int32 [B], the numbers of actions that were sent as text; else None.
    """

    observations: Arrays
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    action_mask: npt.NDArray[np.bool_] | None
    infos: Arrays
    final: Final | None
    actions: npt.NDArray[np.int32] | None = None


# Most bytes of an answer. The server refuses requests whose answers could be larger.
MAX_BYTES = 64 << 20
# Most columns or rows of a playfield, far more than any server has.
_MAX_SIDE = 256


class AnswerDecoder:
    """What the answers of one session have in common.

    Attributes:
        num_envs: Number of environments of the session.
        num_actions: Number of actions.
        has_mask: Whether answers have action masks.
        observations: Specs of the observations.
        infos: Specs of the infos.
        final_infos: Specs of the infos of last states.
    """

    def __init__(self, session: pb.Session) -> None:
        """Reads the session's specs, which describe the tensors of its answers.

        Raises:
            InvalidAnswerError: No session can have such specs, or this many environments.
        """
        self.num_envs = session.config.num_envs
        self.has_mask = session.config.action_mask_format == pb.ACTION_MASK_FORMAT_BITS
        self.observations = Specs(session.observation_specs)
        self.infos = self.final_infos = Specs(session.info_specs)
        high = session.action_spec.high
        if not 0 <= high < MAX_BYTES:
            raise invalid_answer(f"the session has actions up to {high}")
        self.num_actions = int(high) + 1
        row_bytes = self.observations.row_bytes + self.infos.row_bytes + self.num_actions
        if self.num_envs * row_bytes > MAX_BYTES:
            raise invalid_answer(f"the session has {self.num_envs} environments of {row_bytes} bytes each")

    def rows(self, request: Any) -> int:
        """Number of environments in a request."""
        return len(request.envs.ids) if request.has("envs") else self.num_envs

    def listed(self, what: str, request: Any, items: Sequence[Any]) -> list[Any]:
        """Snapshots or drawings, one per environment."""
        rows = self.rows(request)
        if len(items) != rows:
            raise invalid_answer(f"{len(items)} {what} of {rows} environments")
        return list(items)

    def pictures(self, request: Any, tensor: pb.Tensor) -> npt.NDArray[np.uint8]:
        """Pictures, one for each environment, uint8 [B, height, width, 3]."""
        rows, shape = self.rows(request), tuple(tensor.shape)
        if len(shape) != 4 or (shape[0], shape[3]) != (rows, 3):
            raise invalid_answer(f"pixels are {shape}, expected ({rows}, height, width, 3)")
        return column(tensor, "pixels", np.uint8, shape)


def check_size(rules: pb.Rules) -> None:
    """Checks the size of a server's playfield, because pictures of it take memory.

    Raises:
        InvalidAnswerError: The size is far larger than that of any server.
    """
    if max(rules.width, rules.height, rules.preview) > _MAX_SIDE:
        size = f"{rules.width} columns and {rules.height} rows, and show {rules.preview} pieces"
        raise invalid_answer(f"the rules have {size}, expected at most {_MAX_SIDE} of each")
