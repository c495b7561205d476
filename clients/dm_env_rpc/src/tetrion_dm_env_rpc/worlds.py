"""The worlds of a gateway: their names, their leases, and who is in them.

One agent at a time can join a world. A world ends when both its creator's stream and its agent have left, so that a client
that crashes leaves nothing behind; or when no call has come for the length of its lease.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import tetrion

from tetrion_dm_env_rpc.errors import refusal, shown, wrong_field
from tetrion_dm_env_rpc.world import World

# Number of expired worlds that are remembered, for an error that says so.
_REMEMBERED = 4096


class Worlds:
    """All worlds. Threads may share it."""

    def __init__(self, client: tetrion.Client, max_worlds: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts without worlds; the client will create their sessions."""
        self._client = client
        self._max_worlds = max_worlds
        self._clock = clock
        self._worlds: dict[str, World] = {}
        self._expired: deque[str] = deque(maxlen=_REMEMBERED)
        # Guards the table and who is in a world. It is held for moments, never while a session works.
        self._lock = threading.Lock()

    def alive(self, names: set[str]) -> set[str]:
        """Which of these names belong to a world. Renews no lease."""
        self._expire(names)
        with self._lock:
            return self._worlds.keys() & names

    def create(self, settings: Mapping[str, Any]) -> World:
        """Creates a world, whose creator is present."""
        self._expire()
        world = World(self._client, settings)
        with self._lock:
            has_room = len(self._worlds) < self._max_worlds
            if has_room:
                world.expires = self._clock() + world.ttl
                self._worlds[world.name] = world
        if not has_room:
            world.close()
            message = f"this gateway has reached its limit on worlds, {self._max_worlds}"
            raise refusal("RESOURCE_EXHAUSTED", "SESSION_LIMIT", message)
        return world

    def find(self, name: str, *, enter: bool = False, destroy: bool = False) -> World:
        """The world with this name, after renewing its lease. An agent can enter, or a client destroy, only a free one."""
        self._expire({name})
        with self._lock:
            world = self._worlds.get(name)
            if world is None:
                raise self._unknown(name)
            world.expires = self._clock() + world.ttl
            if world.has_agent and (enter or destroy):
                message = f"a client has already joined world {shown(name)}"
                raise refusal("FAILED_PRECONDITION", "WORLD_IN_USE", message)
            world.has_agent |= enter
            if destroy:
                del self._worlds[name]
            return world

    def _unknown(self, name: str) -> Exception:
        if not name:
            return wrong_field("world_name", "is required")
        if name in self._expired:
            return refusal("NOT_FOUND", "SESSION_EXPIRED", f"the lease of world {shown(name)} has run out")
        return refusal("NOT_FOUND", "SESSION_NOT_FOUND", f"there is no world {shown(name)}")

    def leave(self, name: str, *, is_creator: bool = False) -> None:
        """Notes that the agent or the creator has left a world, if it still exists. The last of them ends it."""
        with self._lock:
            world = self._worlds.get(name)
            if world is None:
                return
            if is_creator:
                world.has_creator = False
            else:
                world.has_agent = False
            is_over = not (world.has_agent or world.has_creator)
            if is_over:
                del self._worlds[name]
        if is_over:
            world.close()

    def _expire(self, names: set[str] | None = None) -> None:
        """Ends expired worlds without a call in progress: the named ones, or all."""
        with self._lock:
            now = self._clock()
            some = [self._worlds[name] for name in self._worlds.keys() & names] if names else [*self._worlds.values()]
            over = [world for world in some if world.expires <= now and not world.is_busy]
            for world in over:
                del self._worlds[world.name]
                self._expired.append(world.name)
        for world in over:
            world.close()
