"""The answers of a session as numpy arrays: read-only views of the message, without copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._pb import environment_service_pb2 as pb
from tetrion.tensors import Tensors, to_numpy

Arrays = Mapping[str, npt.NDArray[np.generic]]


class Observed(NamedTuple):
    """What environments show after `reset` or `restore`. Arrays have a row for each environment of the call.

    Attributes:
        observations: By name, in the order of the session's observation fields.
        action_mask: bool [B, A]; None if the session has no masks.
        infos: By name.
    """

    observations: Arrays
    action_mask: npt.NDArray[np.bool_] | None
    infos: Arrays


class Final(NamedTuple):
    """The last state of episodes whose rows already show the next one.

    Attributes:
        rows: Their rows in the answer, ascending.
        observations: As in `Observed`, a row for each of them.
        infos: As in `Observed`, a row for each of them.
    """

    rows: npt.NDArray[np.int64]
    observations: Arrays
    infos: Arrays


class Stepped(NamedTuple):
    """The outcome of a step.

    Attributes:
        observations: As in `Observed`.
        rewards: float32 [B].
        terminated: bool [B], the rules ended the episode.
        truncated: bool [B], a limit cut the episode.
        action_mask: As in `Observed`.
        infos: As in `Observed`.
        final: Of the episodes that ended, in same-step autoreset; None where none did.
    """

    observations: Arrays
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    action_mask: npt.NDArray[np.bool_] | None
    infos: Arrays
    final: Final | None


class AnswerDecoder:
    """Decodes the answers of one session."""

    def __init__(self, session: pb.Session) -> None:
        """Reads the session's specs, which name the tensors of its answers."""
        self._observations = {spec.name: place for place, spec in enumerate(session.observation_specs)}
        self._infos = {spec.name: place for place, spec in enumerate(session.info_specs)}

    def observed(self, response: pb.ResetResponse | pb.RestoreStateResponse) -> Observed:
        """The answer to a reset or a restore."""
        return Observed(
            Tensors(self._observations, response.observations),
            _action_mask(response),
            Tensors(self._infos, response.infos),
        )

    def stepped(self, response: pb.StepResponse) -> Stepped:
        """The answer to a step."""
        final = None
        if response.HasField("final_batch"):
            last = response.final_batch
            final = Final(
                np.fromiter(last.rows, np.int64, len(last.rows)),
                Tensors(self._observations, last.observations),
                Tensors(self._infos, last.infos),
            )
        return Stepped(
            Tensors(self._observations, response.observations),
            to_numpy(response.rewards),  # type: ignore[arg-type]
            to_numpy(response.terminated),  # type: ignore[arg-type]
            to_numpy(response.truncated),  # type: ignore[arg-type]
            _action_mask(response),
            Tensors(self._infos, response.infos),
            final,
        )


def _action_mask(
    response: pb.ResetResponse | pb.RestoreStateResponse | pb.StepResponse,
) -> npt.NDArray[np.bool_] | None:
    """The action mask of an answer, if it has one."""
    return to_numpy(response.action_mask) if response.HasField("action_mask") else None  # type: ignore[return-value]
