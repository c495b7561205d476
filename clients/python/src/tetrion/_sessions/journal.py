"""The journal of a session: everything needed to recreate the session after its server was lost.

A session lives in the memory of one server. If that server is killed and started again, the client recreates the session: it
restores the last snapshots and repeats the later calls. By the promise of the protocol, this gives the same bytes. Snapshots
are taken every few hundred calls, so that both the journal and its repetition stay short.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from tetrion._pb import messages as pb


class Entry(NamedTuple):
    """A call that changed the session.

    Attributes:
        number: Sequence number of the session after the call.
        kind: Name of the call in `StepStreamRequest`.
        request: The request.
    """

    number: int
    kind: str
    request: Any


class Journal:
    """The creation of a session, its last snapshots, and every later call that changed it.

    Attributes:
        every: Number of mutating calls between two snapshots.
        states: A snapshot of each environment; empty before the first.
        number: Sequence number of the snapshots; 0 for a session in its initial state.
        entries: The later calls, in order.
    """

    def __init__(self, creation: pb.CreateSessionRequest, session: pb.Session, every: int) -> None:
        """Starts the journal of a new session.

        Args:
            creation: The request that created the session.
            session: The answer.
            every: Number of mutating calls between two snapshots.
        """
        self._creation = creation
        if not creation.config.has("seeding"):
            # The server drew a seed; a recreated session must have the same one.
            creation.config = creation.config.changed(seeding=session.config.seeding)
        self.every = every
        self._waiting = False
        # Environments that have not started their first episode have no snapshot.
        self._not_begun = set(range(session.config.num_envs))
        self.states: Sequence[bytes] = ()
        self.number = 0
        self.entries: list[Entry] = []

    def creation(self) -> pb.CreateSessionRequest:
        """A request that creates the session again."""
        self._creation.request_id = str(uuid.uuid4())
        return self._creation

    def add(self, entry: Entry) -> None:
        """Records an answered call."""
        if entry.number <= self.number:
            return  # Snapshots taken after it include it.
        self.entries.append(entry)
        if self._not_begun and entry.kind != "step":
            begun = entry.request.envs.ids if entry.request.has("envs") else list(self._not_begun)
            self._not_begun.difference_update(begun)

    def due(self) -> bool:
        """Whether snapshots are due; true only once, until they are stored."""
        if self._waiting or self._not_begun or len(self.entries) < self.every:
            return False
        self._waiting = True
        return True

    def keep(self, states: Sequence[bytes], number: int) -> None:
        """Stores new snapshots and forgets earlier calls."""
        self._waiting = False
        self.states, self.number = states, number
        self.entries = [entry for entry in self.entries if entry.number > number]

    def give_up(self) -> None:
        """Gives up on due snapshots; they are due again after the same number of calls."""
        self._waiting = False
        self.every += len(self.entries)
