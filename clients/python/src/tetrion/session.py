"""A session: N environments on the server that step together.

Every mutating call is numbered, and the server keeps its last numbered answer. So a call whose answer was lost on the way
is simply sent again: it is answered, but not done, a second time. `Session` makes a call of its own for everything;
`StepStream` says the same things over one long call, which is faster. Both are a `Calls`.
"""

from __future__ import annotations

import contextlib
import queue
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
import numpy as np
import numpy.typing as npt

from tetrion._pb import environment_service_pb2 as pb
from tetrion._pb import tensor_pb2
from tetrion.errors import SequenceMismatch, ServerUnavailable, from_rpc_error, from_status
from tetrion.placements import Placements
from tetrion.requests import FeaturesLike, PositionsLike, enum_value, features_message, positions_message
from tetrion.tensors import by_name, from_numpy, to_numpy

if TYPE_CHECKING:
    from tetrion.client import Client

EnvIds = Sequence[int] | npt.NDArray[np.integer] | None
Arrays = dict[str, npt.NDArray[np.generic]]


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
            env_ids=_ids(env_ids),
            seeds=[int(seed) for seed in seeds] if seeds is not None else None,
            piece_sequences=piece_sequences,
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
        tensor = from_numpy(actions, np.int32)
        return pb.StepRequest(session=self.session.name, actions=tensor, env_ids=_ids(env_ids))

    def save(self, env_ids: EnvIds = None) -> list[bytes]:
        """Takes a snapshot of each environment: everything that decides its future, to be kept anywhere."""
        request = pb.SaveStateRequest(session=self.session.name, env_ids=_ids(env_ids))
        return list(self._call("save_state", request).states)

    def restore(self, positions: PositionsLike, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Puts environments into given positions.

        Args:
            positions: One for each environment, or one for all: snapshots, drawings or packed playfields.
            env_ids: Which environments; all if left out.
            reseed: Deal other pieces from here on, of this seed; left out, the snapshot's own.
        """
        request = pb.RestoreStateRequest(
            session=self.session.name, env_ids=_ids(env_ids), positions=positions_message(positions), reseed=reseed
        )
        return self.session._observed(self._call("restore_state", request))

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
        request = pb.EnumeratePlacementsRequest(
            session_envs=pb.SessionEnvs(session=self.session.name, env_ids=_ids(env_ids)),
            features=features_message(features),
            include_afterstates=afterstates,
            include_position_features=position_features,
        )
        return Placements.from_message(self._call("enumerate_placements", request))


# Calls that move the session, and so are numbered.
_MUTATING = frozenset({"reset", "step", "restore_state"})


class Session(Calls):
    """N environments on the server. Made by `Client.create_session`; one user at a time.

    Attributes:
        message: What the server said about it when it was made: the configuration with every default, the specs.
        name: Its name on the server. Whoever knows it may use it.
        sequence: The number of its last mutating call.
    """

    def __init__(self, client: Client, message: pb.Session) -> None:
        """Wraps a session that exists; see `Client.create_session`."""
        self.client = client
        self.message = message
        self.name = message.name
        self.sequence = message.sequence
        self.session = self
        self._observation_names = [spec.name for spec in message.observation_specs]
        self._info_names = [spec.name for spec in message.info_specs]
        self._metadata = (("x-session", message.name),)
        self._methods = {
            "reset": "Reset",
            "step": "Step",
            "save_state": "SaveState",
            "restore_state": "RestoreState",
            "enumerate_placements": "EnumeratePlacements",
        }

    @property
    def num_envs(self) -> int:
        """How many environments it has."""
        return self.message.config.num_envs

    @property
    def num_actions(self) -> int:
        """How many actions there are, A."""
        return int(self.message.action_spec.high) + 1

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of its features; none without a selection."""
        return tuple(self.message.features.names)

    def _call(self, kind: str, request: Any) -> Any:
        if kind in _MUTATING:
            request.sequence = self.sequence + 1
        response = self._unary(self._methods[kind], request)
        if kind in _MUTATING:
            self.sequence = response.sequence
        return response

    def _unary(self, method: str, request: Any) -> Any:
        return self.client._call(method, request, self._metadata)

    def stream(self) -> StepStream:
        """Opens a stream: the same calls with less work for each."""
        return StepStream(self)

    def render(self, env_ids: EnvIds = None, *, format: str = "ascii") -> list[str]:
        """Draws environments as text.

        Args:
            env_ids: Which environments; all if left out.
            format: `ascii`, `lab`, `leiden` or `ansi`, as `RenderFormat` tells.
        """
        request = pb.RenderRequest(session=self.name, env_ids=_ids(env_ids), format=enum_value(pb.RenderFormat, format))
        return list(self._unary("Render", request).frames)

    def refresh(self) -> pb.Session:
        """Reads the session anew, which also renews its lease, and goes on from the sequence number it is at."""
        self.message = self._unary("GetSession", pb.GetSessionRequest(name=self.name)).session
        self.sequence = self.message.sequence
        return self.message

    def close(self) -> None:
        """Ends the session on the server. One that is gone already, or whose server is, is fine."""
        with contextlib.suppress(ServerUnavailable):
            self._unary("DeleteSession", pb.DeleteSessionRequest(name=self.name, allow_missing=True))

    def __enter__(self) -> Session:
        """The session itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session."""
        self.close()

    def _observed(self, response: pb.ResetResponse | pb.RestoreStateResponse) -> Observed:
        return Observed(
            by_name(self._observation_names, response.observations),
            _mask(response),
            by_name(self._info_names, response.infos),
        )

    def _stepped(self, response: pb.StepResponse) -> Stepped:
        final = None
        if response.HasField("final_batch"):
            final = Final(
                np.array(response.final_batch.rows, np.int64),
                by_name(self._observation_names, response.final_batch.observations),
                by_name(self._info_names, response.final_batch.infos),
            )
        return Stepped(
            by_name(self._observation_names, response.observations),
            to_numpy(response.rewards),  # type: ignore[arg-type]
            to_numpy(response.terminated),  # type: ignore[arg-type]
            to_numpy(response.truncated),  # type: ignore[arg-type]
            _mask(response),
            by_name(self._info_names, response.infos),
            final,
        )


class StepStream(Calls):
    """The calls of a session over one long call. For one thread.

    Besides the calls that wait for their answer, steps can be sent ahead: `send_step` for one half of the environments,
    then for the other, while the first is thought about; `receive_step` gives the answers in order. Should the connection
    break, the stream is opened anew and what was not answered is sent again, once.
    """

    def __init__(self, session: Session) -> None:
        """Opens a stream; see `Session.stream`."""
        self.session = session
        self._unanswered: list[pb.StepStreamRequest] = []
        self._open()

    def _open(self) -> None:
        self._requests: queue.SimpleQueue[pb.StepStreamRequest | None] = queue.SimpleQueue()
        self._responses = self.session.client._stream(iter(self._requests.get, None), self.session._metadata)

    def _send(self, kind: str, request: Any) -> None:
        if kind in _MUTATING:
            # The session counts what was sent, so that requests sent ahead number on.
            self.session.sequence += 1
            request.sequence = self.session.sequence
        message = pb.StepStreamRequest(**{kind: request})
        self._unanswered.append(message)
        self._requests.put(message)

    def _receive(self) -> Any:
        if not self._unanswered:
            raise RuntimeError("nothing was sent that could be answered")
        try:
            response = self._next()
        except ServerUnavailable:
            self._open()
            for message in self._unanswered:
                self._requests.put(message)
            response = self._next()
        sent = self._unanswered.pop(0)
        kind = response.WhichOneof("response")
        if kind == "error":
            error = from_status(response.error)
            if sent.WhichOneof("request") in _MUTATING and not isinstance(error, SequenceMismatch):
                # It did not happen, so its number is the next one's; what was sent behind it is refused in turn.
                self.session.sequence = getattr(sent, sent.WhichOneof("request") or "").sequence - 1
            raise error
        return getattr(response, kind)

    def _next(self) -> pb.StepStreamResponse:
        try:
            return next(self._responses)
        except StopIteration:
            raise ServerUnavailable("the server ended the stream", code="UNAVAILABLE") from None
        except grpc.RpcError as error:
            raise from_rpc_error(error) from None

    def _call(self, kind: str, request: Any) -> Any:
        if self._unanswered:
            raise RuntimeError("receive the answers to what was sent ahead first")
        self._send(kind, request)
        return self._receive()

    def send_step(self, actions: npt.ArrayLike, env_ids: EnvIds = None) -> None:
        """Sends a step without waiting; `receive_step` gives the answer."""
        self._send("step", self._step_request(actions, env_ids))

    def receive_step(self) -> Stepped:
        """Waits for the answer to the earliest step sent ahead."""
        return self.session._stepped(self._receive())

    def close(self) -> None:
        """Ends the stream; the session lives on."""
        self._requests.put(None)
        try:
            for _ in self._responses:
                pass  # Answers nobody waits for; read, so that the end is an orderly one.
        except grpc.RpcError:
            pass  # The connection is gone, which ends the stream as well.

    def __enter__(self) -> StepStream:
        """The stream itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the stream."""
        self.close()


def _ids(env_ids: EnvIds) -> list[int]:
    if env_ids is None:
        return []
    if len(env_ids) == 0:
        # On the wire an empty list means all, which is hardly what somebody means who selected none.
        raise ValueError("env_ids is empty; leave it out to mean all environments")
    return [int(env_id) for env_id in env_ids]


def _mask(response: Any) -> npt.NDArray[np.bool_] | None:
    if not response.HasField("action_mask"):
        return None
    mask: tensor_pb2.Tensor = response.action_mask
    return to_numpy(mask)  # type: ignore[return-value]
