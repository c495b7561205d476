"""What can be asked of a session, and the answers as numpy arrays.

`Calls` is the list of questions; how they travel is the business of `Session` and `StepStream`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion import arguments
from tetrion._pb import environment_service_pb2 as pb
from tetrion._pb import tensor_pb2
from tetrion.errors import InvalidArgument
from tetrion.placements import Placements
from tetrion.requests import FeaturesLike, PositionsLike, features_message, positions_message
from tetrion.tensors import from_numpy, to_numpy

if TYPE_CHECKING:
    from tetrion.session import Session

EnvIds = Sequence[int] | npt.NDArray[np.integer] | None
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
    """What a step brought.

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


class Calls(ABC):
    """What can be asked of a session. Arrays that come back are read-only views of the answer, without copies."""

    session: Session

    @abstractmethod
    def _call(self, kind: str, request: Any) -> Any:
        """Sends a request of StepStream's kind `kind` and waits for its answer."""

    def reset(
        self, env_ids: EnvIds = None, *, seeds: Sequence[int] | None = None, piece_sequences: Sequence[str] = ()
    ) -> Observed:
        """Begins new episodes.

        Args:
            env_ids: Which environments; all if left out.
            seeds: One for each of them, from 0 to 2**64 - 1; each begins episode 0 of its seed. Left out, each goes on to
                its next episode.
            piece_sequences: Letters of IOTZSJL for each of them, or one string for all, dealt in place of random pieces.
        """
        request = pb.ResetRequest(
            session=self.session.name,
            env_ids=ids(env_ids),
            seeds=arguments.seeds("seeds", seeds) if seeds is not None else None,
            piece_sequences=arguments.pieces("piece_sequences", piece_sequences),
        )
        return self.session._observed(self._call("reset", request))

    def step(self, actions: npt.ArrayLike, env_ids: EnvIds = None) -> Stepped:
        """Does one action in each environment.

        Args:
            actions: Integers [B].
            env_ids: Which environments, in the order of the actions; all if left out.
        """
        return self.session._stepped(self._call("step", self._step_request(actions, env_ids)))

    def _step_request(self, actions: npt.ArrayLike, env_ids: EnvIds) -> pb.StepRequest:
        tensor = from_numpy(actions, np.int32, "actions")
        return pb.StepRequest(session=self.session.name, actions=tensor, env_ids=ids(env_ids))

    def save(self, env_ids: EnvIds = None) -> list[bytes]:
        """Takes a snapshot of each environment: everything that decides its future, to be kept anywhere."""
        request = pb.SaveStateRequest(session=self.session.name, env_ids=ids(env_ids))
        return list(self._call("save_state", request).states)

    def restore(self, positions: PositionsLike, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Puts environments into given positions.

        Args:
            positions: One for each environment, or one for all: snapshots, drawings or packed playfields.
            env_ids: Which environments; all if left out.
            reseed: Deal other pieces from here on, of this seed; left out, the snapshot's own.
        """
        if reseed is not None:
            reseed = arguments.integer("reseed", reseed, 0, arguments.U64)
        request = pb.RestoreStateRequest(
            session=self.session.name, env_ids=ids(env_ids), positions=positions_message(positions), reseed=reseed
        )
        return self.session._observed(self._call("restore_state", request))

    def fork(self, env_id: int, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Puts environments into the state of one of them, to try several futures of it.

        Args:
            env_id: The environment to copy.
            env_ids: Which environments become copies; all if left out.
            reseed: Deal other pieces from here on, to each copy its own; left out, all see the same ones.
        """
        return self.restore(self.save([env_id]), env_ids, reseed=reseed)

    def enumerate_placements(
        self,
        env_ids: EnvIds = None,
        *,
        features: FeaturesLike = None,
        afterstates: bool = False,
        position_features: bool = False,
    ) -> Placements:
        """Lists every placement of the current pieces, with what each leads to.

        Args:
            env_ids: Which environments; all if left out.
            features: The features wanted, a set's name or a list of names; left out, the session's own, if it has any.
            afterstates: Whether the playfields after them are wanted.
            position_features: Whether the features of the playfields as they stand are wanted.
        """
        request = self._placements_request(env_ids, features, afterstates, position_features)
        return Placements.from_message(self._call("enumerate_placements", request))

    def _placements_request(
        self, env_ids: EnvIds, features: FeaturesLike, afterstates: bool, position_features: bool
    ) -> pb.EnumeratePlacementsRequest:
        return pb.EnumeratePlacementsRequest(
            session_envs=pb.SessionEnvs(session=self.session.name, env_ids=ids(env_ids)),
            features=features_message(features),
            include_afterstates=arguments.flag("afterstates", afterstates),
            include_position_features=arguments.flag("position_features", position_features),
        )


# Calls that move the session, and so are numbered.
MUTATING = frozenset({"reset", "step", "restore_state"})


def ids(env_ids: EnvIds) -> list[int]:
    """Environments as requests name them."""
    if env_ids is None:
        return []
    if isinstance(env_ids, np.ndarray) and env_ids.dtype == np.bool_:
        raise InvalidArgument("env_ids", "is a mask, expected indices: numpy.flatnonzero(mask)")
    listed = arguments.integers("env_ids", env_ids, "a list of environments", arguments.U32)
    if not listed:
        # On the wire an empty list means all, which no caller means that has selected none.
        raise InvalidArgument("env_ids", "is empty; leave it out to mean all environments")
    return listed


def mask_of(response: Any) -> npt.NDArray[np.bool_] | None:
    """The action mask of an answer, if it has one."""
    if not response.HasField("action_mask"):
        return None
    mask: tensor_pb2.Tensor = response.action_mask
    return to_numpy(mask)  # type: ignore[return-value]
