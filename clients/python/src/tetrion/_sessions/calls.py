"""The calls of a session: methods that `Session` and `StepStream` share, from their arguments to their requests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments, keywords
from tetrion._checks.failures import invalid_answer
from tetrion._messages.answers import Observed, Stepped
from tetrion._messages.listing import PlacementsOptions, placements_request
from tetrion._messages.placements import Placements
from tetrion._messages.requests import PositionsLike, positions_message
from tetrion._messages.seedings import DrawnSeeds, SeedsLike, session_seeding
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._sessions.blocks import Block
from tetrion._sessions.link import KINDS, Link
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

EnvIds = Sequence[int] | npt.NDArray[np.integer] | None


class Calls:
    """The calls of a session.

    The arrays that they return belong to the caller, who may change them; with `copy=False` until a later step overwrites
    them. An array of a quarter of an answer or more, such as the playfields, keeps the memory of the whole answer; others
    own theirs.

    Steps of all environments use no messages, and in this process resets neither.
    """

    def __init__(self, link: Link, native: Any) -> None:
        """Makes the calls of the link's session through it or a stream, objects of the extension module."""
        self._link = link
        self._native = native
        self._answers = link.answers
        self._blocks = link.blocks

    def __reduce__(self) -> Any:
        """Refuses to be pickled or copied: the copy would change the same session."""
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied; Session.clone() makes another session in the same state, "
            "and sessions of other processes can restore snapshots of save_state()"
        )

    def _check(self, kind: str) -> None:
        """Checks that a call of this kind can be made now."""
        self._link.connection.check_usable()

    def _told(self) -> None:
        """Tells the listeners of what was done."""
        if self._link.listeners:
            self._link.tell()

    def _call(self, kind: str, request: Any) -> Any:
        """Sends a request, which is called `kind` in `StepStreamRequest`, and waits for its answer."""
        self._check(kind)
        with self._link.connection.calling():
            response = KINDS[kind][1].decode(self._native.call(kind, request.encode()))
        self._told()
        return response

    def _observe(self, kind: str, request: Any) -> tuple[Block, bytes | None]:
        """Sends a request like `_call`. The answer is in a block; also returns the numbers of actions that were text."""
        self._check(kind)
        block = self._blocks.next(len(request.envs.ids) if request.has("envs") else None)
        with self._link.connection.calling():
            numbers = self._native.observe(block.bytes, kind, request.encode())
        self._told()
        return block, numbers

    def reset(
        self,
        env_ids: EnvIds = None,
        *,
        seeds: SeedsLike = None,
        piece_sequences: Sequence[str] = (),
        hole_columns: Sequence[Sequence[int]] = (),
        swap_sides: bool = False,
    ) -> Observed:
        """Starts new episodes.

        Args:
            env_ids: Environments to reset. Default: all; an empty list means none.
            seeds: One 64-bit seed per environment, with or without a sign, or `DrawnSeeds`; each starts episode 0 of its
                seed. Default: each environment starts its next episode.
            piece_sequences: Instead of seeds, explicit pieces: a string of the letters IOTZSJL per environment, or one for
                all.
            hole_columns: With piece sequences and under rules with garbage, a list per string: the columns of the holes, in
                the order in which lines get them.
            swap_sides: Whether to start mirrored matches, under rules of two players: each side has the holes of the other,
                until the next reset.
        """
        swap_sides = arguments.flag("swap_sides", swap_sides)
        return self._blocks.observed(self._reset(env_ids, seeds, piece_sequences, hole_columns, swap_sides))

    def _reset(
        self,
        env_ids: EnvIds,
        seeds: SeedsLike,
        piece_sequences: Sequence[str],
        hole_columns: Sequence[Sequence[int]] = (),
        swap_sides: bool = False,
    ) -> Block:
        """Starts new episodes, with the answer in a block: in this process without messages, where that is possible."""
        num_envs = self._answers.num_envs
        is_plain = env_ids is None or (isinstance(env_ids, np.ndarray) and env_ids.dtype == np.int64 and env_ids.ndim == 1)
        is_seeded = not len(piece_sequences) and not len(hole_columns)
        if is_plain and is_seeded and not swap_sides and not isinstance(seeds, DrawnSeeds):
            rows = num_envs if env_ids is None else len(env_ids)
            listed = None if seeds is None else arguments.seeds("seeds", seeds)
            if rows <= num_envs and (listed is None or len(listed) == rows):
                block = self._blocks.next(None if env_ids is None else rows)
                with self._link.connection.calling():
                    if self._native.reset(block.bytes, listed, env_ids):
                        return block
        seeding = session_seeding(seeds, piece_sequences, hole_columns)
        request = pb.ResetRequest(envs=ids(env_ids), seeding=seeding, swap_sides=swap_sides)
        return self._observe("reset", request)[0]

    def _reset_some(self, env_ids: npt.NDArray[np.int64]) -> Observed | None:
        """Starts the next episodes of these environments without messages; what all show then. None if it was not done."""
        block = self._blocks.next()
        return self._blocks.observed(block) if self._native.reset_some(block.bytes, None, env_ids) else None

    def step(self, actions: npt.ArrayLike | Sequence[str], env_ids: EnvIds = None) -> Stepped:
        """Takes one action per environment.

        Args:
            actions: Integers [B], or B texts: names of actions as in `render(style="prompt_actions")`.
            env_ids: Environments to step, in the order of the actions. Default: all; an empty list means none.
        """
        if env_ids is None:
            stepped = self._step_all(actions)
            if stepped is not None:
                return stepped
        self._save_unsaved()
        request = self._step_request(actions, env_ids)
        return self._stepped(request, *self._observe("step", request))

    def _stepped(self, request: Any, block: Block, numbers: bytes | None) -> Stepped:
        """The answer to a step by a request, or without one."""
        stepped = self._blocks.stepped(block, block.bytes.num_ended)
        if request is None or not request.text_actions:
            return stepped
        if numbers is None:
            raise invalid_answer("the answer to actions as text has no numbers of actions")
        return stepped._replace(actions=np.frombuffer(numbers, "<i4").astype(np.int32))

    def _step_all(self, actions: Any) -> Stepped | None:
        """Takes a step of all environments whose messages the extension module writes, if any; None if it was not taken."""
        link = self._link
        if link.listeners:
            self._save_unsaved()
        block = self._blocks.next()
        try:
            num_ended = self._native.step(block.bytes, actions)
        except (_native.CallError, _native.AnswerError) as error:
            raise link.connection.raised(error) from None
        self._told()
        return None if num_ended is None else self._blocks.stepped(block, num_ended)

    def _save_unsaved(self) -> None:
        """Takes the snapshots that listeners need before the next action."""
        for listener in self._link.listeners:
            if listener.unsaved:
                due = sorted(listener.unsaved)
                listener.keep(due, self.save_state(due))

    def _step_request(self, actions: npt.ArrayLike | Sequence[str], env_ids: EnvIds) -> Any:
        """The request for a step, as `_call` takes it: here a message."""
        listed = actions.tolist() if isinstance(actions, np.ndarray) and actions.dtype.kind in "UTO" else actions
        if isinstance(listed, (list, tuple)) and any(isinstance(action, str) for action in listed):
            texts = arguments.names("actions", listed, "0@3")
            return pb.StepRequest(text_actions=texts, envs=ids(env_ids))
        tensor = from_numpy(actions, np.int32, "actions", allow_float=False)
        return pb.StepRequest(actions=tensor, envs=ids(env_ids))

    def save_state(self, env_ids: EnvIds = None) -> list[bytes]:
        """Takes a snapshot of each environment: everything that decides its future, as bytes that can be stored anywhere."""
        request = pb.SaveStateRequest(envs=ids(env_ids))
        states: list[bytes] = self._answers.listed("snapshots", request, self._call("save_state", request).states)
        for listener in self._link.listeners:
            listener.saved(request.envs.ids if request.has("envs") else range(len(states)), states)
        return states

    def restore_state(self, positions: PositionsLike, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Puts environments into given positions.

        Args:
            positions: One per environment, or one for all: snapshots, drawings, packed playfields or observations.
            env_ids: Environments to change. Default: all; an empty list means none.
            reseed: Deals other pieces from now on, drawn from this seed. Default: those of the snapshot.
        """
        if reseed is not None:
            reseed = arguments.integer("reseed", reseed, 0, arguments.U64)
        wanted = positions_message(positions, None, self._link.connection.catalog, self._link.message.config.rules)
        request = pb.RestoreStateRequest(envs=ids(env_ids), positions=wanted, reseed=reseed)
        return self._blocks.observed(self._observe("restore_state", request)[0])

    def fork(self, env_id: int, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Copies the state of one environment into others, to try several futures.

        Args:
            env_id: The environment to copy.
            env_ids: Environments that become copies. Default: all; an empty list means none.
            reseed: Deals other pieces from now on, different ones to each copy. Default: the same pieces to all.
        """
        return self.restore_state(self.save_state([env_id]), env_ids, reseed=reseed)

    @keywords.checked
    def enumerate_placements(self, env_ids: EnvIds = None, **options: Unpack[PlacementsOptions]) -> Placements:
        """Lists every placement of the current pieces and its outcome.

        Args:
            env_ids: Environments to list. Default: all; an empty list means none.
            **options: `features`, `afterstates`, `cells`, `keys` and more; see `PlacementsOptions`.
        """
        if env_ids is None and not options:
            rows, encoded = self._answers.num_envs, self._plain_listing
        else:
            request = self._placements_request(env_ids, options)
            rows, encoded = self._answers.rows(request.session_envs), request.encode()
        return self._listed(encoded, rows)

    def _listed(self, encoded: bytes, rows: int) -> Placements:
        """The answer to a request for the placements of this many environments."""
        self._check("enumerate_placements")
        with self._link.connection.calling():
            return Placements._of(self._native.placements(encoded, rows))

    @functools.cached_property
    def _plain_listing(self) -> bytes:
        """The request for the placements of all environments, with the columns that every list has."""
        return self._placements_request(None, {}).encode()

    def _placements_request(self, env_ids: EnvIds, options: PlacementsOptions) -> pb.EnumeratePlacementsRequest:
        named = pb.SessionEnvs(envs=ids(env_ids))
        return placements_request(**options).changed(session_envs=named, min_revision=self._link.connection.min_revision)


def ids(env_ids: EnvIds) -> pb.EnvIds | None:
    """Environments in the form of requests; None for all."""
    if env_ids is None:
        return None
    if isinstance(env_ids, np.ndarray) and env_ids.dtype == np.bool_:
        raise InvalidArgumentError("env_ids", "is a mask, expected indices: numpy.flatnonzero(mask)")
    return pb.EnvIds(ids=arguments.integers("env_ids", env_ids, "a list of environments", arguments.U32))


def check_rows(actions: npt.ArrayLike | Sequence[str], env_ids: EnvIds, num_envs: int) -> None:
    """Checks that there is one action per environment, before a step is sent whose answer is read later.

    Raises:
        InvalidArgumentError: The numbers differ, or an environment does not exist or occurs twice.
    """
    num_rows = num_envs
    if env_ids is not None:
        chosen = arguments.integers("env_ids", env_ids, "a list of environments", num_envs - 1)
        num_rows = len(chosen)
        if len(set(chosen)) < num_rows:
            raise InvalidArgumentError("env_ids", "have an environment twice, expected each once")
    try:
        shape = np.shape(actions)
    except ValueError:  # Rows of different lengths.
        raise arguments.wrong("actions", actions, f"{num_rows} actions, one per environment") from None
    if shape != (num_rows,):
        raise InvalidArgumentError("actions", f"have the shape {shape}, expected ({num_rows},), one per environment")
