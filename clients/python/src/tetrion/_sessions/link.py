"""The link to one session: its name, the number of its last call, and the way to recreate it.

A `Session` and its `StepStream`s share one link. Mutating calls are numbered, and the server keeps its last numbered answer.
So a call whose answer was lost is simply sent again: the server repeats the answer without performing the call twice. A
session that was lost with its server is recreated from its journal, with another name and other numbers on the server. The
link translates them, so its callers notice only a pause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tetrion._checks.failures import invalid_answer
from tetrion._messages.answers import AnswerDecoder
from tetrion._pb import messages as pb
from tetrion._sessions.array_step import ArraySteps
from tetrion._sessions.journal import Entry, Journal
from tetrion._transport.connection import Connection, Patience
from tetrion._transport.native import as_message
from tetrion.errors import ServerUnavailableError, SessionNotFoundError, TetrionError, VersionMismatchError

if TYPE_CHECKING:
    from tetrion._sessions.direct import Direct

# The calls of a session: their names in `StepStreamRequest`, and in the service.
METHODS = {
    "reset": "Reset",
    "step": "Step",
    "save_state": "SaveState",
    "restore_state": "RestoreState",
    "enumerate_placements": "EnumeratePlacements",
}
# Most calls of a session: a server that counts further lies.
_MAX_CALLS = 2**62
# Mutating calls, which are numbered.
NUMBERED = frozenset({"reset", "step", "restore_state"})


class Listener(Protocol):
    """A listener to the mutating calls of a session.

    Attributes:
        unsaved: Environments whose snapshots the listener needs before their next action.
    """

    unsaved: set[int]

    def heard(self, kind: str, request: Any, response: Any) -> None:
        """Receives a mutating call and its answer."""

    def keep(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Receives the snapshots that it needs."""

    def saved(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Receives snapshots that were taken."""


class Link:
    """The link to one session, for one thread.

    Attributes:
        connection: The connection to the server.
        message: The server's description of the session.
        answers: Decoder of the session's answers.
        listeners: Listeners, which receive every numbered call once it is answered, in order.
        snapshot_every: Number of calls between snapshots if the session can be lost; 0: none.
        direct: Direct access to the session without messages, if it is in this process.
        array_steps: Steps whose messages the extension module writes and reads, if it connects to the session's server.
    """

    def __init__(self, connection: Connection, message: pb.Session, journal: Journal | None, *, copy: bool = True) -> None:
        """Links to an existing session.

        Args:
            connection: The connection to the session's server.
            message: The server's description of the session.
            journal: The journal for recreating the session. A session in this process cannot be lost, and needs none.
            copy: Whether each answer has new arrays; see `Client.create_session`.
        """
        self.connection = connection
        self.message = message
        self.answers = AnswerDecoder(message)
        self._number = _checked_number(message.sequence_number)
        self.listeners: list[Listener] = []
        self._journal = journal
        self.snapshot_every = journal.every if journal is not None else 0
        # Difference between our numbers and the server's smaller ones, after the session was recreated.
        self._offset = 0
        self.direct: Direct | None = None
        if (native := connection.session(message.name, self)) is not None:
            from tetrion._sessions.direct import Direct

            self._journal = None
            self.direct = Direct(native, self.answers, copy=copy)
            self.sequence_number = self._number
        channel = connection.channel
        self.array_steps = ArraySteps(self, channel, copy=copy) if channel is not None else None

    @property
    def name(self) -> str:
        """The session's current name on the server."""
        return self.message.name

    @property
    def sequence_number(self) -> int:
        """The number of the last numbered call, including calls sent ahead."""
        return self._number if self.direct is None else self.direct.native.number

    @sequence_number.setter
    def sequence_number(self, number: int) -> None:
        if self.direct is None:
            self._number = number
        else:
            self.direct.native.number = number

    def release(self) -> None:
        """Gives up the direct access, and array steps."""
        self._number, self.direct, self.array_steps = self.sequence_number, None, None

    @property
    def metadata(self) -> Sequence[tuple[str, str]]:
        """Metadata of all calls of the session."""
        return (("x-session", self.name),)

    @property
    def has_journal(self) -> bool:
        """Whether the session can be recreated."""
        return self._journal is not None

    def call(self, kind: str, request: Any) -> Any:
        """Makes a single call, and takes snapshots when they are due."""
        if kind not in NUMBERED:
            return self.ask(METHODS[kind], request)
        number = self.sequence_number + 1
        response = self.ask(METHODS[kind], request, number)
        self.count(Entry(number, kind, request), response)
        return response

    def count(self, entry: Entry, response: Any) -> None:
        """Counts and records an answered numbered call, and takes snapshots when they are due."""
        self.sequence_number = entry.number
        if self.record(entry, response):
            self.keep_snapshots(self.ask("SaveState", pb.SaveStateRequest()))

    def number_there(self, number: int) -> int:
        """The server's number of a call."""
        return number - self._offset

    def ask(self, method: str, request: Any, number: int = 0) -> Any:
        """Repeats a call until the server answers; `number` is given for a numbered call."""
        patience = None
        while True:
            self.address(request, number)
            try:
                response = self.connection.call(method, request, self.metadata)
            except (ServerUnavailableError, SessionNotFoundError) as error:
                is_lost = isinstance(error, SessionNotFoundError)
                if is_lost and self._journal is None:
                    raise
                patience = patience or Patience(self.connection)
                patience.wait(error)
                if is_lost:
                    self.make_again(patience)
            else:
                self.renumber(response, number)
                return response

    def address(self, request: Any, number: int = 0) -> None:
        """Writes the session's current name and the call's current number on the server into a request."""
        if number:
            request.sequence_number = number - self._offset
        kind = getattr(request, "NAME", "")  # empty for a `NativeRequest`
        if kind == pb.EnumeratePlacementsRequest.NAME:
            request.session_envs = request.session_envs.changed(session=self.name)
        elif kind == pb.GetSessionRequest.NAME:
            request.name = self.name
        else:
            request.session = self.name

    def renumber(self, response: Any, number: int = 0) -> None:
        """Translates the server's sequence number in an answer to ours.

        Raises:
            InvalidAnswerError: The answer belongs to another call than the one with this number.
        """
        if number:
            if response.sequence_number != number - self._offset:
                raise invalid_answer(f"the answer to call {number - self._offset} is one to call {response.sequence_number}")
            response.sequence_number = number
        elif hasattr(response, "sequence_number"):
            # A server that has lost calls which it had answered counts from below 0 in our numbers.
            response.sequence_number = max(0, _checked_number(response.sequence_number) + self._offset)

    def record(self, entry: Entry, response: Any) -> bool:
        """Records an answered numbered call. Returns whether snapshots are due: true only once, until they are stored."""
        for listener in self.listeners:
            listener.heard(entry.kind, entry.request, response)
        if self._journal is None:
            return False
        self._journal.add(entry)
        return self._journal.due()

    def keep_snapshots(self, answer: pb.SaveStateResponse | TetrionError) -> None:
        """Stores the due snapshots; after an error they are due again later."""
        if self._journal is None:
            return
        if isinstance(answer, TetrionError) or answer.sequence_number > self.sequence_number:
            # In the second case, another client has changed the session.
            self._journal.give_up()
        else:
            self._journal.keep(answer.states, answer.sequence_number)

    def make_again(self, patience: Patience) -> None:
        """Recreates the session in the state after the last answered call. It must have a journal.

        Raises:
            VersionMismatchError: The current server has another version of the rules.
        """
        journal = self._journal
        assert journal is not None
        while True:
            try:
                message = self.connection.call("CreateSession", journal.creation()).session
                if message.rules_version != self.message.rules_version:
                    raise VersionMismatchError(
                        f"the session was lost with its server, and the one that is there now has the rules version "
                        f"{message.rules_version!r} instead of {self.message.rules_version!r}",
                        code="FAILED_PRECONDITION",
                        reason="RULES_VERSION_MISMATCH",
                    )
                self._check_same(message)
                self.message = message
                number = 0
                if journal.states:
                    positions = pb.Positions(snapshots=pb.Snapshots(states=journal.states))
                    request = pb.RestoreStateRequest(session=message.name, positions=positions)
                    restored = self.connection.call("RestoreState", request, self.metadata)
                    number = _checked_number(restored.sequence_number)
                self._offset = journal.number - number
                for entry in journal.entries:
                    # Not as an array step, which would overwrite the caller's arrays.
                    request = as_message(entry.request)
                    self.address(request, entry.number)
                    self.connection.call(METHODS[entry.kind], request, self.metadata)
            except (ServerUnavailableError, SessionNotFoundError) as error:
                patience.wait(error)
            else:
                return

    def _check_same(self, message: pb.Session) -> None:
        """Compares a recreated session with the original.

        Raises:
            InvalidAnswerError: The environments or their fields differ.
        """
        ours = self.message
        if (message.config.num_envs, message.observation_specs, message.info_specs, message.action_spec) != (
            ours.config.num_envs,
            ours.observation_specs,
            ours.info_specs,
            ours.action_spec,
        ):
            raise invalid_answer(f"the session {message.name} has other environments than {ours.name} had")
        _checked_number(message.sequence_number)

    def refresh(self) -> None:
        """Reads the session from the server, which renews its lease, and adopts the server's sequence number."""
        message = self.ask("GetSession", pb.GetSessionRequest()).session
        if message.name != self.name:
            raise invalid_answer(f"the answer is about the session {message.name}, not about {self.name}")
        self._check_same(message)
        self.message = message
        if self.sequence_number != self.message.sequence_number + self._offset:
            # Another client has changed the session: our calls alone do not lead to its current state.
            self._journal, self._offset = None, 0
            self.sequence_number = self.message.sequence_number

    def delete(self, name: str) -> None:
        """Deletes the session with this name on the server, if it exists."""
        request = pb.DeleteSessionRequest(name=name, allow_missing=True)
        self.connection.call("DeleteSession", request, (("x-session", name),))

    def close(self) -> None:
        """Deletes the session permanently: it is not recreated."""
        self.release()
        self._journal = None
        self.delete(self.name)


def _checked_number(number: int) -> int:
    """The sequence number of an answer.

    Raises:
        InvalidAnswerError: No session counts so far.
    """
    if number > _MAX_CALLS:
        raise invalid_answer(f"the session has the sequence number {number}")
    return number
