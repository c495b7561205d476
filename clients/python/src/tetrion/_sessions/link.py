"""The link to one session: its name, the number of its last call, and the way to make it again.

A `Session` and its `StepStream`s share one link. Calls that change the session are numbered, and the server keeps its last
numbered answer. So a call whose answer was lost on the way is simply sent again: the server answers it a second time, but
does not do it a second time. A session that was lost with its server is made again from its journal, under another name and
with other numbers on the server; the link translates, so its callers notice only a pause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tetrion._checks.failures import invalid_answer
from tetrion._pb import messages as pb
from tetrion._sessions.journal import Entry, Journal
from tetrion._transport.connection import Connection, Patience
from tetrion.errors import ServerUnavailableError, SessionNotFoundError, TetrionError, VersionMismatchError

if TYPE_CHECKING:
    from tetrion._sessions.direct import Direct

# The calls of a session: how `StepStreamRequest` names them, and how the service does.
METHODS = {
    "reset": "Reset",
    "step": "Step",
    "save_state": "SaveState",
    "restore_state": "RestoreState",
    "enumerate_placements": "EnumeratePlacements",
}
# Those that change the session, and so are numbered.
NUMBERED = frozenset({"reset", "step", "restore_state"})


class Listener(Protocol):
    """A listener to the calls that change a session.

    Attributes:
        unsaved: Environments whose snapshots it wants before their next action.
    """

    unsaved: set[int]

    def heard(self, kind: str, request: Any, response: Any) -> None:
        """Listens to a call that changed the session, and its answer."""

    def keep(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Takes the snapshots that it wanted."""

    def saved(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Hears of snapshots that were taken."""


class Link:
    """The link to one session. For one thread.

    Attributes:
        connection: The connection to the server.
        message: The session as the server describes it.
        listeners: Each hears of every numbered call once it is answered, in order.
        snapshot_every: After how many calls snapshots are to be taken, where the session can be lost; 0: never.
        direct: Direct access to the session, without messages, if it is in this process.
    """

    def __init__(self, connection: Connection, message: pb.Session, journal: Journal | None, *, copy: bool = True) -> None:
        """Links to a session that exists.

        Args:
            connection: The connection to its server.
            message: The session as the server describes it.
            journal: What it can be made again from. A session in this process is not lost, and needs none.
            copy: Whether each answer has arrays of its own; see `Client.create_session`.
        """
        self.connection = connection
        self.message = message
        self._number = message.sequence_number
        self.listeners: list[Listener] = []
        self._journal = journal
        self.snapshot_every = journal.every if journal is not None else 0
        # The server's numbers are smaller than ours by this, once it has seen the session made again.
        self._offset = 0
        self.direct: Direct | None = None
        if (native := connection.session(message.name, self)) is not None:
            from tetrion._sessions.direct import Direct

            self._journal = None
            self.direct = Direct(native, message, copy=copy)
            self.sequence_number = self._number

    @property
    def name(self) -> str:
        """The session's name on the server now."""
        return self.message.name

    @property
    def sequence_number(self) -> int:
        """The number of the last numbered call. Those sent ahead count."""
        return self._number if self.direct is None else self.direct.native.number

    @sequence_number.setter
    def sequence_number(self, number: int) -> None:
        if self.direct is None:
            self._number = number
        else:
            self.direct.native.number = number

    def release(self) -> None:
        """Gives the direct access up."""
        self._number, self.direct = self.sequence_number, None

    @property
    def metadata(self) -> Sequence[tuple[str, str]]:
        """What all calls of the session send."""
        return (("x-session", self.name),)

    @property
    def has_journal(self) -> bool:
        """Whether the session can be made again."""
        return self._journal is not None

    def call(self, kind: str, request: Any) -> Any:
        """Makes a call of its own, and takes snapshots when they are due."""
        if kind not in NUMBERED:
            return self.ask(METHODS[kind], request)
        response = self.ask(METHODS[kind], request, self.sequence_number + 1)
        self.sequence_number = response.sequence_number
        if self.record(Entry(self.sequence_number, kind, request), response):
            self.keep_snapshots(self.ask("SaveState", pb.SaveStateRequest()))
        return response

    def ask(self, method: str, request: Any, number: int = 0) -> Any:
        """Repeats a call until the server answers; `number` if it is numbered."""
        patience = Patience(self.connection)
        while True:
            self.address(request, number)
            try:
                response = self.connection.call(method, request, self.metadata)
            except ServerUnavailableError as error:
                patience.wait(error)
            except SessionNotFoundError as error:
                if self._journal is None:
                    raise
                patience.wait(error)
                self.make_again(patience)
            else:
                self.renumber(response, number)
                return response

    def address(self, request: Any, number: int = 0) -> None:
        """Writes the session's name and the call's number, as the server knows them now, into a request."""
        if number:
            request.sequence_number = number - self._offset
        if isinstance(request, pb.EnumeratePlacementsRequest):
            request.session_envs.session = self.name
        elif isinstance(request, pb.GetSessionRequest):
            request.name = self.name
        else:
            request.session = self.name

    def renumber(self, response: Any, number: int = 0) -> None:
        """Turns the server's sequence number in an answer into ours.

        Raises:
            InvalidAnswerError: It is the answer to another call than the one of this number.
        """
        if number:
            if response.sequence_number != number - self._offset:
                raise invalid_answer(f"the answer to call {number - self._offset} is one to call {response.sequence_number}")
            response.sequence_number = number
        elif self._offset and hasattr(response, "sequence_number"):
            response.sequence_number += self._offset

    def record(self, entry: Entry, response: Any) -> bool:
        """Records a numbered call that was answered. Returns whether snapshots are due, once until they are kept."""
        for listener in self.listeners:
            listener.heard(entry.kind, entry.request, response)
        if self._journal is None:
            return False
        self._journal.add(entry)
        return self._journal.due()

    def keep_snapshots(self, answer: pb.SaveStateResponse | TetrionError) -> None:
        """Keeps the snapshots that were due; after an error they are due again later."""
        if self._journal is None:
            return
        if isinstance(answer, TetrionError):
            self._journal.give_up()
        else:
            self._journal.keep(answer.states, answer.sequence_number)

    def make_again(self, patience: Patience) -> None:
        """Makes the session once more, at the state after the last call that was answered. It must have a journal.

        Raises:
            VersionMismatchError: The server that is there now plays by another version of the rules.
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
                    number = self.connection.call("RestoreState", request, self.metadata).sequence_number
                self._offset = journal.number - number
                for entry in journal.entries:
                    self.address(entry.request, entry.number)
                    self.connection.call(METHODS[entry.kind], entry.request, self.metadata)
            except (ServerUnavailableError, SessionNotFoundError) as error:
                patience.wait(error)
            else:
                return

    def _check_same(self, message: pb.Session) -> None:
        """Compares a session with the one that it should be.

        Raises:
            InvalidAnswerError: It has other environments, or shows something else of them.
        """
        ours = self.message
        if (message.config.num_envs, message.observation_specs, message.info_specs, message.action_spec) != (
            ours.config.num_envs,
            ours.observation_specs,
            ours.info_specs,
            ours.action_spec,
        ):
            raise invalid_answer(f"the session {message.name} has other environments than {ours.name} had")

    def refresh(self) -> None:
        """Reads the session from the server, which renews its lease, and adopts its sequence number."""
        message = self.ask("GetSession", pb.GetSessionRequest()).session
        self._check_same(message)
        self.message = message
        if self.sequence_number != self.message.sequence_number + self._offset:
            # Another client has changed it: our own calls do not lead to where it is now.
            self._journal, self._offset = None, 0
            self.sequence_number = self.message.sequence_number

    def delete(self, name: str) -> None:
        """Deletes a session of this name on the server, if there is one."""
        request = pb.DeleteSessionRequest(name=name, allow_missing=True)
        self.connection.call("DeleteSession", request, (("x-session", name),))

    def close(self) -> None:
        """Deletes the session for good: it is not made again."""
        self.release()
        self._journal = None
        self.delete(self.name)
