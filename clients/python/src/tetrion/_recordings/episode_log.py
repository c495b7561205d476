"""What happens in the environments of a session, noted as answers come: where episodes begin, and their actions.

An `EpisodeLog` listens on the link of a session, so it hears every call that changes the session, whichever stream it went
through, once and in order. It asks the server for nothing. An episode begins with a seed, an explicit piece sequence or a
snapshot, and with these and its actions the same game can be made again; see `recorder`. Snapshots that were
taken while it listened are remembered, so a tree search that returns to one goes on with the same episode.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tetrion import _native
from tetrion._checks.failures import invalid_answer
from tetrion._messages.tensors import column, to_numpy
from tetrion._pb import messages as pb

# The most actions of an episode that are kept; a file of more would be too long.
_MAX_ACTIONS = 8 << 20
# The most bytes of snapshots, and of the actions that led to them, that are remembered.
_MAX_REMEMBERED = 64 << 20


def _no_actions() -> array[int]:
    return array("H")


@dataclass(frozen=True)
class Beginning:
    """How an episode began: a seed, explicit pieces or a snapshot is given.

    Attributes:
        seed: The episode seed.
        sequence: The explicit pieces.
        holes: With explicit pieces, columns of holes.
        state: A snapshot.
    """

    seed: int | None = None
    sequence: str | None = None
    holes: tuple[int, ...] = ()
    state: bytes | None = None


@dataclass
class Episode:
    """An episode so far.

    Attributes:
        env_id: The environment.
        number: How many episodes the log had heard of in this environment before.
        begin: How it began; None where the log does not know yet, or has forgotten: of an endless episode.
        actions: The actions, two bytes each: some rules have more than 256.
        has_ended: Whether it ended, by the rules or by a limit.
        was_taken: For the owner of the log, to mark those that it has seen.
        opponent: In a match, the episode of the other side.
        side: In a match, which side's holes the environment has.
    """

    env_id: int
    number: int
    begin: Beginning | None = None
    actions: array[int] = field(default_factory=_no_actions)
    has_ended: bool = False
    was_taken: bool = False
    opponent: Episode | None = field(default=None, repr=False, compare=False)
    side: int = 0


class EpisodeLog:
    """The episodes of some environments of a session.

    Attributes:
        env_ids: Which environments.
        episodes: The episode of each that has begun one, by environment. An episode that ended stays until the next begins.
        left: Episodes that ended or were left by a reset, in environments where another has begun since, the earliest first,
            for the owner of the log to take out; of too many the oldest are dropped.
        unsaved: Environments whose episode began in a way that only a snapshot shows. One is due before their next action.
    """

    def __init__(self, session: pb.Session, env_ids: Sequence[int], *, begun: Sequence[int] = (), keep: int = 0) -> None:
        """Begins to listen.

        Args:
            session: The session as the server describes it.
            env_ids: Which of its environments.
            begun: Those of them whose episodes have begun.
            keep: How long `left` may grow.
        """
        self.env_ids = frozenset(env_ids)
        self.episodes: dict[int, Episode] = {}
        self.left: deque[Episode] = deque(maxlen=keep)
        self.unsaved: set[int] = set()
        config = session.config
        self._all = sorted(self.env_ids)
        self._are_matches = config.rules.players == 2
        self._mode = config.autoreset_mode
        # How the episodes of snapshots began that were taken here, the latest last.
        self._remembered: OrderedDict[bytes, Episode] = OrderedDict()
        self._remembered_bytes = 0
        infos = {spec.name: place for place, spec in enumerate(session.info_specs)}
        self._seed, self._steps = infos.get("seed"), infos.get("steps")
        # Explicit pieces that a reset dealt; those of the session's configuration the server does not repeat.
        self._sequences: dict[int, Beginning] = {}
        self._sides = {env_id: env_id % 2 for env_id in self._all}
        for env_id in begun:
            self.begin_unknown(env_id)

    def heard(self, kind: str, request: Any, response: Any) -> None:
        """Listens to a call that changed the session, and its answer."""
        self._heard(kind, request, response)
        if self._are_matches:
            # Both sides of a match begin and end their episodes together.
            for env_id in self._all:
                episode, opponent = self.episodes.get(env_id), self.episodes.get(env_id ^ 1)
                if episode is not None:
                    episode.opponent = opponent

    def _heard(self, kind: str, request: Any, response: Any) -> None:
        rows, env_ids = self._rows(request)
        if kind == "step":
            self._stepped(rows, env_ids, request, response)
            return
        for row, env_id in zip(rows, env_ids, strict=True):
            if kind == "restore_state":
                # Its pieces, and those of all its episodes to come, are the snapshot's.
                self._sequences.pop(env_id, None)
                self._restored(env_id, row, request)
                continue
            self._sides[env_id] = env_id % 2 ^ request.swap_sides
            seeding = request.seeding
            if seeding.has("seeds") or seeding.has("drawn"):
                self._sequences.pop(env_id, None)
            elif seeding.has("piece_sequences"):
                sequences, holes = seeding.piece_sequences.sequences, seeding.piece_sequences.hole_columns
                place = row if len(sequences) > 1 else 0
                columns = tuple(holes[place].columns) if holes else ()
                self._sequences[env_id] = Beginning(sequence=sequences[place], holes=columns)
            if seeding.has("seeds"):
                self._begin(env_id, Beginning(seed=seeding.seeds.seeds[row]))
            else:
                self._begin(env_id, self._next(env_id, row, response))

    def _restored(self, env_id: int, row: int, request: pb.RestoreStateRequest) -> None:
        before = self.episodes.get(env_id)
        states = request.positions.snapshots.states
        state = states[row if len(states) > 1 else 0] if states else b""
        known = self._remembered.get(state) if not request.has("reseed") else None
        # Of a game that returns to where it was before, the way that it tried is not a game of its own.
        returns = before is not None and known is not None and known.number == before.number
        self._begin(env_id, None, keep=before is not None and before.has_ended and not returns)
        if known is not None:
            self._remembered.move_to_end(state)
            self.episodes[env_id] = replace(known, env_id=env_id, actions=known.actions[:], was_taken=False)
            self._sides[env_id] = known.side
            self.unsaved.discard(env_id)

    def saved(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Remembers snapshots of environments, in case one of them goes on from one."""
        for env_id, state in zip(env_ids, states, strict=True):
            episode = self.episodes.get(env_id)
            if episode is None or episode.begin is None or state in self._remembered:
                continue
            self._remembered[state] = replace(episode, actions=episode.actions[:])
            self._remembered_bytes += len(state) + 2 * len(episode.actions)
            while self._remembered_bytes > _MAX_REMEMBERED:
                oldest, forgotten = self._remembered.popitem(last=False)
                self._remembered_bytes -= len(oldest) + 2 * len(forgotten.actions)

    def _rows(self, request: Any) -> tuple[list[int], list[int]]:
        """The rows of a call that are of our environments, and which these are."""
        if not request.has("envs"):
            return self._all, self._all
        ours = [(row, env_id) for row, env_id in enumerate(request.envs.ids) if env_id in self.env_ids]
        return [row for row, _ in ours], [env_id for _, env_id in ours]

    def _stepped(self, rows: list[int], env_ids: list[int], request: pb.StepRequest, response: pb.StepResponse) -> None:
        actions = to_numpy((response if request.text_actions else request).actions)
        shape = actions.shape
        terminated = column(response.terminated, "terminated", np.bool_, shape)
        ended = np.logical_or(terminated, column(response.truncated, "truncated", np.bool_, shape))[rows].tolist()
        actions = actions[rows].tolist()
        # After an action this is at least 1, unless the step began an episode.
        lengths = _info(response, self._steps, rows).tolist() if self._steps is not None else None
        waits = self._mode == pb.AUTORESET_MODE_NEXT_STEP
        for place, (row, env_id) in enumerate(zip(rows, env_ids, strict=True)):
            episode = self.episodes.get(env_id)
            began = lengths[place] == 0 if lengths is not None else episode is not None and episode.has_ended
            if episode is None or (waits and began):
                # The action was ignored: the step began an episode.
                self._begin(env_id, self._next(env_id, row, response))
                continue
            episode.actions.append(actions[place])
            if len(episode.actions) > _MAX_ACTIONS:
                episode.begin = None
                episode.actions.clear()
            episode.has_ended = ended[place]
            if ended[place] and self._mode == pb.AUTORESET_MODE_SAME_STEP:
                self._begin(env_id, self._next(env_id, row, response))

    def _next(self, env_id: int, row: int, response: Any) -> Beginning | None:
        """How the next episode of an environment began, which an answer shows; None if it does not."""
        if env_id in self._sequences:
            return self._sequences[env_id]
        if self._seed is None:
            return None
        seed = int(_info(response, self._seed, row))
        # 0 stands for a sequence that came with a snapshot.
        return Beginning(seed=seed) if seed else None

    def _begin(self, env_id: int, begin: Beginning | None, *, keep: bool = True) -> None:
        before = self.episodes.get(env_id)
        if before is not None and keep:
            self.left.append(before)
        number = before.number + 1 if before is not None else 0
        self.episodes[env_id] = Episode(env_id, number, begin, side=self._sides[env_id])
        if begin is None:
            self.unsaved.add(env_id)
        else:
            self.unsaved.discard(env_id)

    def begin_unknown(self, env_id: int) -> None:
        """Notes an episode that was under way before; it goes on from a snapshot."""
        self._begin(env_id, None)

    def keep(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Takes the snapshots of environments that were due."""
        for env_id, state in zip(env_ids, states, strict=True):
            episode = self.episodes[env_id]
            if self._are_matches:
                episode.side = self._sides[env_id] = _native.snapshot_side(state)
            if not episode.actions:
                episode.begin = Beginning(state=state)
        self.unsaved.difference_update(env_ids)


def _info(response: Any, place: int, rows: Any) -> Any:
    """Some rows of an info of an answer."""
    try:
        return to_numpy(response.infos[place])[rows]
    except IndexError:
        raise invalid_answer(f"the answer has no rows {rows} of its info {place}") from None
