"""The journal of a session: what it takes to make the session again after its server was lost.

A session lives in the memory of one server. Should that server be killed and started again, the client makes the session
anew: it restores the last snapshots and repeats the calls since, which by the protocol's promise gives the same bytes.
Snapshots are taken every so many calls, so that neither the journal nor its repetition grows long.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from tetrion._pb import environment_service_pb2 as pb


class Entry(NamedTuple):
    """A call that moved the session.

    Attributes:
        number: The session's sequence number after it.
        kind: Its name in `StepStreamRequest`.
        request: What was sent.
    """

    number: int
    kind: str
    request: Any


class Journal:
    """How a session was made, its last snapshots, and every call that moved it since.

    Attributes:
        every: After how many calls that move the session its snapshots are due.
        states: A snapshot of each environment; empty before the first.
        number: The sequence number that the snapshots belong to; 0 for a session as it was made.
        entries: The calls since, in order.
    """

    def __init__(self, creation: pb.CreateSessionRequest, session: pb.Session, every: int) -> None:
        """A journal of a session that was just made.

        Args:
            creation: The request that made it.
            session: The answer.
            every: After how many calls that move the session its snapshots are due.
        """
        self._creation = creation
        if not (creation.config.HasField("seed") or creation.config.env_seeds or creation.config.piece_sequences):
            # The server drew one; the session must be made again with the same.
            creation.config.seed = session.config.seed
        self.every = every
        self._waiting = False
        # Environments without an episode yet have no snapshot.
        self._not_begun = set(range(session.config.num_envs))
        self.states: Sequence[bytes] = ()
        self.number = 0
        self.entries: list[Entry] = []

    def creation(self) -> pb.CreateSessionRequest:
        """A request that makes the session once more."""
        self._creation.request_id = str(uuid.uuid4())
        return self._creation

    def add(self, entry: Entry) -> None:
        """Notes a call that was answered."""
        if entry.number <= self.number:
            return  # Snapshots taken behind it have it already.
        self.entries.append(entry)
        if self._not_begun and entry.kind != "step":
            self._not_begun.difference_update(entry.request.env_ids or list(self._not_begun))

    def due(self) -> bool:
        """Whether it is time for snapshots; says so once, until they are kept."""
        if self._waiting or self._not_begun or len(self.entries) < self.every:
            return False
        self._waiting = True
        return True

    def keep(self, states: Sequence[bytes], number: int) -> None:
        """Keeps new snapshots and forgets what led to them."""
        self._waiting = False
        self.states, self.number = states, number
        self.entries = [entry for entry in self.entries if entry.number > number]

    def give_up(self) -> None:
        """Notes that the snapshots asked for did not come; they are due again after as many calls more."""
        self._waiting = False
        self.every += len(self.entries)
