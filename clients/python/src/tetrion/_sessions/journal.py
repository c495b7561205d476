"""The journal of a session: what it takes to make the session again after its server was lost.

A session lives in the memory of one server. Should that server be killed and started again, the client makes the session
again: it restores the last snapshots and repeats the calls since, which by the promise of the protocol gives the same bytes.
Snapshots are taken every few hundred calls, so that neither the journal nor its repetition grows long.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from tetrion._pb import messages as pb


class Entry(NamedTuple):
    """A call that changed the session.

    Attributes:
        number: The sequence number of the session after it.
        kind: Its name in `StepStreamRequest`.
        request: What was sent.
    """

    number: int
    kind: str
    request: Any


class Journal:
    """How a session was made, its last snapshots, and every call that changed it since.

    Attributes:
        every: After how many calls that change the session snapshots are due.
        states: A snapshot of each environment; empty before the first.
        number: The sequence number that the snapshots belong to; 0 for a session as it was made.
        entries: The calls since, in order.
    """

    def __init__(self, creation: pb.CreateSessionRequest, session: pb.Session, every: int) -> None:
        """The journal of a session that was just made.

        Args:
            creation: The request that made it.
            session: The answer.
            every: After how many calls that change the session snapshots are due.
        """
        self._creation = creation
        if not creation.config.HasField("seeding"):
            # The server drew a seed; the session must be made again with the same one.
            creation.config.seeding.CopyFrom(session.config.seeding)
        self.every = every
        self._waiting = False
        # Environments whose first episode has not begun have no snapshot.
        self._not_begun = set(range(session.config.num_envs))
        self.states: Sequence[bytes] = ()
        self.number = 0
        self.entries: list[Entry] = []

    def creation(self) -> pb.CreateSessionRequest:
        """A request that makes the session once more."""
        self._creation.request_id = str(uuid.uuid4())
        return self._creation

    def add(self, entry: Entry) -> None:
        """Records a call that was answered."""
        if entry.number <= self.number:
            return  # Snapshots taken after it include it.
        self.entries.append(entry)
        if self._not_begun and entry.kind != "step":
            begun = entry.request.envs.ids if entry.request.HasField("envs") else list(self._not_begun)
            self._not_begun.difference_update(begun)

    def due(self) -> bool:
        """Whether snapshots are due; true once, until they are kept."""
        if self._waiting or self._not_begun or len(self.entries) < self.every:
            return False
        self._waiting = True
        return True

    def keep(self, states: Sequence[bytes], number: int) -> None:
        """Keeps new snapshots and forgets the calls before them."""
        self._waiting = False
        self.states, self.number = states, number
        self.entries = [entry for entry in self.entries if entry.number > number]

    def give_up(self) -> None:
        """Gives up on snapshots that were due; they are due again after as many calls more."""
        self._waiting = False
        self.every += len(self.entries)
