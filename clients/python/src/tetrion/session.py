"""A session: N environments on the server that step together.

Every mutating call is numbered, and the server keeps its last numbered answer. So a call whose answer was lost on the way
is simply sent again: it is answered, but not done, a second time. A session that the server has lost, because it was killed
and started again, is made anew from its last snapshots, as `journal` tells; nobody who steps it notices more than a pause.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from tetrion._pb import environment_service_pb2 as pb
from tetrion.calls import MUTATING, Calls, EnvIds, Final, Observed, Stepped, ids, mask_of
from tetrion.connection import Connection, Patience
from tetrion.errors import ServerUnavailable, SessionNotFound, VersionMismatch
from tetrion.journal import Entry, Journal
from tetrion.requests import enum_value
from tetrion.tensors import Tensors, to_numpy

if TYPE_CHECKING:
    from tetrion.stream import StepStream


class Session(Calls):
    """N environments on the server. Made by `Client.create_session`; one user at a time.

    Attributes:
        message: What the server said about it when it was made: the configuration with every default, the specs.
        name: Its name on the server. Whoever knows it may use it. Another one after the server was lost.
        sequence: The number of its last mutating call.
    """

    def __init__(self, connection: Connection, message: pb.Session, *, journal: Journal | None = None) -> None:
        """Wraps a session that exists; see `Client.create_session`. Without a journal it cannot be made again."""
        self.connection = connection
        self.message = message
        self.sequence = message.sequence
        self.session = self
        self._journal = journal
        # What the server counts is `sequence` minus this, since it has seen the session made anew.
        self._offset = 0
        self._observations = {spec.name: place for place, spec in enumerate(message.observation_specs)}
        self._infos = {spec.name: place for place, spec in enumerate(message.info_specs)}
        self._methods = {
            "reset": "Reset",
            "step": "Step",
            "save_state": "SaveState",
            "restore_state": "RestoreState",
            "enumerate_placements": "EnumeratePlacements",
        }

    @classmethod
    def create(
        cls, connection: Connection, request: pb.CreateSessionRequest, snapshot_every: int, *, patient: bool = True
    ) -> Session:
        """Makes a session on the server; `patient` waits for a server that went away."""
        request.request_id = str(uuid.uuid4())
        call = connection.call_patiently if patient else connection.call
        message = call("CreateSession", request).session
        return cls(connection, message, journal=Journal(request, message, snapshot_every) if snapshot_every else None)

    @property
    def name(self) -> str:
        """Its name on the server."""
        return self.message.name

    @property
    def _metadata(self) -> Sequence[tuple[str, str]]:
        return (("x-session", self.name),)

    @property
    def num_envs(self) -> int:
        """How many environments it has."""
        return self.message.config.num_envs

    @property
    def num_actions(self) -> int:
        """How many actions there are, A."""
        return int(self.message.action_spec.high) + 1

    @property
    def snapshot_every(self) -> int:
        """After how many calls snapshots are taken, from which it goes on if the server is lost; 0: none are."""
        return self._journal.every if self._journal is not None else 0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of its features; none without a selection."""
        return tuple(self.message.features.names)

    def _call(self, kind: str, request: Any) -> Any:
        moves = kind in MUTATING
        response = self._unary(self._methods[kind], request, self.sequence + 1 if moves else 0)
        if moves:
            self.sequence = response.sequence
            self._note(Entry(self.sequence, kind, request))
            if self._journal is not None and self._journal.due():
                saved = self._unary("SaveState", pb.SaveStateRequest(session=self.name))
                self._journal.keep(saved.states, saved.sequence)
        return response

    def _unary(self, method: str, request: Any, number: int = 0) -> Any:
        """A call of its own, repeated until it is answered; `number` if it is numbered."""
        patience = Patience(self.connection)
        while True:
            self._address(request, number)
            try:
                response = self.connection.call(method, request, self._metadata)
            except ServerUnavailable as error:
                patience.wait(error)
            except SessionNotFound as error:
                if self._journal is None:
                    raise
                patience.wait(error)
                self._make_anew(patience)
            else:
                self._count(response)
                return response

    def _address(self, request: Any, number: int) -> None:
        """Makes out a request to the session as the server knows it now."""
        if isinstance(request, pb.EnumeratePlacementsRequest):
            request.session_envs.session = self.name
        elif isinstance(request, (pb.GetSessionRequest, pb.DeleteSessionRequest)):
            request.name = self.name
        else:
            request.session = self.name
        if number:
            request.sequence = number - self._offset

    def _count(self, response: Any) -> None:
        """Turns the server's sequence number into ours."""
        if self._offset and hasattr(response, "sequence"):
            response.sequence += self._offset

    def _note(self, entry: Entry) -> None:
        if self._journal is not None:
            self._journal.add(entry)

    def _make_anew(self, patience: Patience) -> None:
        """Makes the session once more, at the state after the last call that was answered.

        Raises:
            VersionMismatch: The server that is there now plays by another version of the rules.
        """
        journal = self._journal
        assert journal is not None
        while True:
            try:
                message = self.connection.call("CreateSession", journal.creation()).session
                if message.rules_version != self.message.rules_version:
                    raise VersionMismatch(
                        f"the session was lost with its server, and the one that is there now has the rules version "
                        f"{message.rules_version!r} instead of {self.message.rules_version!r}",
                        code="FAILED_PRECONDITION",
                        reason="RULES_VERSION_MISMATCH",
                    )
                self.message = message
                number = 0
                if journal.states:
                    positions = pb.Positions(states=journal.states)
                    request = pb.RestoreStateRequest(session=message.name, positions=positions)
                    number = self.connection.call("RestoreState", request, self._metadata).sequence
                self._offset = journal.number - number
                for entry in journal.entries:
                    self._address(entry.request, entry.number)
                    self.connection.call(self._methods[entry.kind], entry.request, self._metadata)
            except (ServerUnavailable, SessionNotFound) as error:
                patience.wait(error)
            else:
                return

    def clone(self, num_envs: int | None = None) -> Session:
        """Makes a second session of the same configuration.

        Args:
            num_envs: How many environments it has. Left out, as many as this one, each in the state of its original; else
                none has begun, to be put anywhere by `restore`.
        """
        if num_envs is None:
            states = self.save()
            twin = self.clone(self.num_envs)
            twin.restore(states)
            return twin
        config = pb.SessionConfig()
        config.CopyFrom(self.message.config)
        config.num_envs = num_envs
        request = pb.CreateSessionRequest(config=config, ttl=self.message.ttl)
        return Session.create(self.connection, request, self.snapshot_every)

    def stream(self) -> StepStream:
        """Opens a stream: the same calls with less work for each."""
        from tetrion.stream import StepStream  # which knows sessions, so it cannot be known up there

        return StepStream(self)

    def render(self, env_ids: EnvIds = None, *, format: str = "ascii") -> list[str]:
        """Draws environments as text.

        Args:
            env_ids: Which environments; all if left out.
            format: `ascii`, `lab`, `leiden` or `ansi`, as `RenderFormat` tells.
        """
        request = pb.RenderRequest(
            session=self.name, env_ids=ids(env_ids), format=enum_value(pb.RenderFormat, format, "format")
        )
        return list(self._unary("Render", request).frames)

    def refresh(self) -> pb.Session:
        """Reads the session anew, which also renews its lease, and goes on from the sequence number it is at."""
        self.message = self._unary("GetSession", pb.GetSessionRequest(name=self.name)).session
        if self.sequence != self.message.sequence + self._offset:
            # Somebody else has moved it: what we did ourselves does not lead to where it is.
            self._journal, self._offset = None, 0
            self.sequence = self.message.sequence
        return self.message

    def close(self) -> None:
        """Ends the session on the server. One that is gone already, or whose server or client is, is fine.

        Does nothing in a forked child, whose parent goes on with it.
        """
        if self.connection.forked:
            return
        self._journal = None
        # A ValueError is what gRPC has for a channel that was closed before.
        with contextlib.suppress(ServerUnavailable, ValueError):
            request = pb.DeleteSessionRequest(name=self.name, allow_missing=True)
            self.connection.call("DeleteSession", request, self._metadata)

    def __enter__(self) -> Session:
        """The session itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session."""
        self.close()

    def _observed(self, response: pb.ResetResponse | pb.RestoreStateResponse) -> Observed:
        return Observed(
            Tensors(self._observations, response.observations),
            mask_of(response),
            Tensors(self._infos, response.infos),
        )

    def _stepped(self, response: pb.StepResponse) -> Stepped:
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
            mask_of(response),
            Tensors(self._infos, response.infos),
            final,
        )
