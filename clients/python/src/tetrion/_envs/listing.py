"""Steps of a session in which an action is the number of a row: a row per placement of the current piece.

The environments for Gymnasium call a `Listing` instead of a stream. It answers like a session of R actions whose
observations are the rows. After each call it asks for the placements, and remembers which action each row stands for.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._clients.client import Client
from tetrion._messages.answers import Final, Observed, Stepped
from tetrion._messages.listing import PlacementsOptions
from tetrion._messages.placements import Placements
from tetrion._messages.requests import FeaturesLike, Packed, PositionsLike
from tetrion._messages.seedings import SeedsLike
from tetrion._messages.tensors import DTYPES, Arrays, from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion._sessions.calls import EnvIds, check_rows
from tetrion._sessions.session import Session
from tetrion.errors import IllegalActionError, InvalidArgumentError, TetrionError

_Array = npt.NDArray[Any]

# Observations with a row per placement.
_OF_ROWS = ("features", "rewards", "terminated", "afterstates")
# Rows per column of the playfield, if there are more actions than that.
_ROWS_PER_COLUMN = 20
# Bytes of a placement in an answer without features and afterstate, rounded up.
_ROW_BYTES = 32


class _Rows(NamedTuple):
    """The placements of B environments, padded to R rows each.

    Attributes:
        fields: The observations, by name.
        present: bool [B, R], whether a row is a placement.
        actions: int32 [B, R], the session's action for each row; for a row that is no placement, an action that does not
            exist for the piece.
    """

    fields: dict[str, _Array]
    present: npt.NDArray[np.bool_]
    actions: npt.NDArray[np.int32]


class Listing:
    """The calls of a stream for rows.

    Attributes:
        num_rows: Number of rows per environment, R.
        specs: Specs of the observations.
    """

    def __init__(
        self, session: Session, client: Client, shown: Sequence[str], features: FeaturesLike, *, masks: bool
    ) -> None:
        """Opens a stream of a session, which must show the server's choice of observations.

        Args:
            session: The session, with features.
            client: The client of the session.
            shown: Names of the observations, in order.
            features: The features of the session.
            masks: Whether answers have masks of the rows.

        Raises:
            InvalidArgumentError: An observation does not exist or occurs twice, or the placements of this many environments
                do not fit into an answer.
        """
        config = session._message.config
        width, height = config.rules.width, config.rules.height
        self.num_rows = rows = min(session.num_actions, _ROWS_PER_COLUMN * width)
        num_features = len(session.feature_names)
        specs = {spec.name: spec for spec in session._message.observation_specs}
        specs |= {
            "features": pb.TensorSpec(name="features", dtype=pb.DATA_TYPE_FLOAT32, shape=[rows, num_features]),
            "rewards": pb.TensorSpec(name="rewards", dtype=pb.DATA_TYPE_FLOAT32, shape=[rows]),
            "terminated": pb.TensorSpec(name="terminated", dtype=pb.DATA_TYPE_INT8, shape=[rows], low=0, high=1),
            "afterstates": pb.TensorSpec(
                name="afterstates", dtype=pb.DATA_TYPE_UINT8, shape=[rows, height, width], low=0, high=1
            ),
        }
        self._shown = [arguments.choice(f"observations[{place}]", name, specs) for place, name in enumerate(shown)]
        if len(set(self._shown)) < len(self._shown):
            raise InvalidArgumentError("observations", f"is {self._shown}, expected each name once")
        cells = height * (2 if width <= 16 else 4) if "afterstates" in self._shown else 0
        most = config.max_response_bytes // (rows * (_ROW_BYTES + 4 * num_features + cells))
        if session.num_envs > most:
            problem = f"is {session.num_envs}, expected at most {most} with {rows} rows and {num_features} features each"
            raise InvalidArgumentError("num_envs", problem)
        self.specs = [specs[name] for name in self._shown]
        self._row_specs = [spec for spec in self.specs if spec.name in _OF_ROWS]
        self._session, self._client, self._masks = session, client, masks
        self._width = width
        self._options: PlacementsOptions = {"features": features, "afterstates": "afterstates" in self._shown}
        self._refuses = config.invalid_action_policy == pb.INVALID_ACTION_POLICY_REJECT
        self._stream = session.stream()
        self._actions = np.zeros((session.num_envs, rows), np.int32)
        # Rows that the session accepts: in a game that has ended, all of them, because none is played.
        self._accepted = np.ones((session.num_envs, rows), np.bool_)
        # Whether both describe the current states. A call that fails or is interrupted may leave them behind.
        self._is_current = True
        # The environments of steps that were sent ahead, and answers of which only the placements are missing.
        self._sent: deque[tuple[EnvIds, Stepped | None]] = deque()

    def reset(self, env_ids: EnvIds = None, *, seeds: SeedsLike = None, piece_sequences: Sequence[str] = ()) -> Observed:
        """Starts new episodes; see `Calls.reset`."""
        others_are_current, self._is_current = self._is_current, False
        observed = self._observed(self._stream.reset(env_ids, seeds=seeds, piece_sequences=piece_sequences), env_ids)
        self._is_current = others_are_current or env_ids is None
        return observed

    def restore_state(self, positions: PositionsLike, env_ids: EnvIds = None, *, reseed: int | None = None) -> Observed:
        """Puts environments into given positions; see `Calls.restore_state`."""
        others_are_current, self._is_current = self._is_current, False
        observed = self._observed(self._stream.restore_state(positions, env_ids, reseed=reseed), env_ids)
        self._is_current = others_are_current or env_ids is None
        return observed

    def save_state(self, env_ids: EnvIds = None) -> list[bytes]:
        """Takes a snapshot of each environment."""
        return self._stream.save_state(env_ids)

    def step(self, rows: npt.ArrayLike, env_ids: EnvIds = None) -> Stepped:
        """Makes the placement of one row per environment.

        Args:
            rows: Integers [B], 0 to R - 1.
            env_ids: Environments to step, in the order of the rows. Default: all.

        Raises:
            IllegalActionError: There is no such row or, if the session refuses invalid actions, no such placement.
        """
        actions = self._chosen(rows, env_ids)
        self._is_current = False
        stepped = self._stream.step(actions, env_ids)
        answer = self._stepped(stepped, self._stream.enumerate_placements(env_ids, **self._options), env_ids)
        self._is_current = True
        return answer

    def _step_one(self, row: int) -> Stepped:
        return self.step(np.array([row]))

    def send_step(self, rows: npt.ArrayLike, env_ids: EnvIds = None) -> None:
        """Sends a step without waiting; `receive_step` returns its answer."""
        check_rows(rows, env_ids, self._session.num_envs)
        self._stream.send_step(self._chosen(rows, env_ids), env_ids)
        self._stream.send_placements(env_ids, **self._options)
        self._sent.append((env_ids, None))

    def receive_step(self) -> Stepped:
        """Waits for the answer to the earliest step sent ahead."""
        env_ids, stepped = self._sent[0]
        try:
            if stepped is None:
                stepped = self._stream.receive_step()
                # If the wait for the placements is interrupted, the next call continues with them.
                self._sent[0] = (env_ids, stepped)
            placements = self._stream.receive_placements()
        except TetrionError:
            self._sent.popleft()
            self._is_current = False
            if stepped is None:
                with contextlib.suppress(TetrionError):
                    self._stream.receive_placements()
            raise
        self._sent.popleft()
        return self._stepped(stepped, placements, env_ids)

    def close(self) -> None:
        """Ends the stream, but not the session."""
        self._stream.close()

    def _chosen(self, rows: npt.ArrayLike, env_ids: EnvIds) -> npt.NDArray[np.int32]:
        """The session's actions for these rows."""
        chosen: npt.NDArray[Any] = to_numpy(from_numpy(rows, np.int32, "actions", allow_float=False))
        envs = np.arange(self._session.num_envs) if env_ids is None else np.asarray(env_ids, np.int64)
        if chosen.shape != envs.shape:
            raise InvalidArgumentError("actions", f"has the shape {chosen.shape}, expected {envs.shape}")
        if not self._is_current:
            self._listed(self._stream.enumerate_placements(**self._options), None)
            self._is_current = True
        outside = (chosen < 0) | (chosen >= self.num_rows)
        if outside.any():
            raise _illegal("ACTION_OUT_OF_RANGE", chosen, outside, f"expected a number from 0 to {self.num_rows - 1}")
        if self._refuses and not (accepted := self._accepted[envs, chosen]).all():
            raise _illegal("ILLEGAL_ACTION", chosen, ~accepted, "which is not in the action mask")
        actions: npt.NDArray[np.int32] = self._actions[envs, chosen]
        return actions

    def _observed(self, observed: Observed, env_ids: EnvIds) -> Observed:
        """The rows after a reset or a restore."""
        rows = self._listed(self._stream.enumerate_placements(env_ids, **self._options), env_ids)
        return Observed(self._arrays(observed.observations, rows), self._mask(rows), observed.infos)

    def _stepped(self, stepped: Stepped, placements: Placements, env_ids: EnvIds) -> Stepped:
        """The rows after a step."""
        rows = self._listed(placements, env_ids)
        cut = stepped.truncated & ~stepped.terminated
        final = stepped.final
        if final is not None:
            last = self._last(final.observations, cut[final.rows])
            mask = self._mask(last)
            infos = {**final.infos} if mask is None else {**final.infos, "action_mask": mask.view(np.int8)}
            final = Final(final.rows, self._arrays(final.observations, last), Arrays(infos))
        elif cut.any():
            last = self._last({name: array[cut] for name, array in stepped.observations.items()}, np.ones(cut.sum(), bool))
            for name, array in last.fields.items():
                rows.fields[name][cut] = array
            rows.present[cut] = last.present
        return stepped._replace(
            observations=self._arrays(stepped.observations, rows), action_mask=self._mask(rows), final=final
        )

    def _listed(self, placements: Placements, env_ids: EnvIds) -> _Rows:
        """The rows of placements, which become the actions of these environments."""
        rows = self._padded(placements)
        envs = slice(None) if env_ids is None else np.asarray(env_ids, np.int64)
        self._actions[envs] = rows.actions
        self._accepted[envs] = rows.present | ~rows.present.any(axis=1, keepdims=True)
        return rows

    def _padded(self, placements: Placements) -> _Rows:
        """The placements of each environment in rows. If there are more than R, the last ones are left out."""
        starts = placements.row_offsets[:-1]
        counts = np.diff(placements.row_offsets)
        places = np.arange(self.num_rows)
        present = places < counts[:, None]
        kept: Any = slice(None)
        if counts.size and counts.max() > self.num_rows:
            kept = np.arange(len(placements.actions)) - np.repeat(starts, counts) < self.num_rows

        def padded(column: _Array, fill: int = 0) -> _Array:
            whole = np.full((*present.shape, *column.shape[1:]), fill, column.dtype)
            whole[present] = column[kept]
            return whole

        fields: dict[str, _Array] = {}
        for spec in self._row_specs:
            column: _Array | None = getattr(placements, spec.name)
            if spec.name == "afterstates" and column is not None:
                octets = np.ascontiguousarray(column).view(np.uint8).reshape(*column.shape, column.itemsize)
                column = np.unpackbits(octets, axis=-1, count=self._width, bitorder="little")
            wanted = tuple(spec.shape[1:])
            if column is None or column.shape[1:] != wanted:
                shape = None if column is None else column.shape[1:]
                raise invalid_answer(f"{spec.name} of a placement are {shape}, expected {wanted}")
            fields[spec.name] = padded(column.astype(DTYPES[spec.dtype], copy=False))
        actions = padded(placements.actions, -1)
        # Actions ascend, so the first row that differs from its number is the smallest action that is not listed.
        free = (actions != places).argmax(axis=1)
        return _Rows(fields, present, np.where(present, actions, free[:, None]).astype(np.int32))

    def _last(self, observations: Any, cut: npt.NDArray[np.bool_]) -> _Rows:
        """The rows of episodes that have ended: none if the rules ended them.

        A session lists no placements of an episode that a limit has cut. Learners need them to estimate what would have
        followed, so they are listed from the playfields.

        Args:
            observations: The last observations of K episodes.
            cut: bool [K], whether a limit has cut the episode.
        """
        pieces = observations["current"]
        going = np.flatnonzero(cut & (pieces >= 0))
        fields: dict[str, _Array] = {
            spec.name: np.zeros((len(pieces), *spec.shape), DTYPES[spec.dtype]) for spec in self._row_specs
        }
        present = np.zeros((len(pieces), self.num_rows), np.bool_)
        if going.size:
            queues, held = (observations[name][going] if name in observations else None for name in ("queue", "held"))
            positions = Packed(observations["board"][going], pieces[going], queues, held)
            listed = self._client.enumerate_placements(positions, rules=self._session.rules, **self._options)
            rows = self._padded(listed)
            present[going] = rows.present
            for name, array in rows.fields.items():
                fields[name][going] = array
        return _Rows(fields, present, np.zeros(present.shape, np.int32))

    def _arrays(self, observations: Any, rows: _Rows) -> Arrays:
        """The observations in order: some are about the rows, the others are the session's."""
        return Arrays({name: rows.fields[name] if name in _OF_ROWS else observations[name] for name in self._shown})

    def _mask(self, rows: _Rows) -> npt.NDArray[np.bool_] | None:
        """The mask of the rows. Without placements it allows row 0, so that a distribution over allowed rows exists."""
        if not self._masks:
            return None
        mask = rows.present.copy()
        mask[:, 0] |= ~mask.any(axis=1)
        return mask


def _illegal(reason: str, rows: npt.NDArray[np.int32], wrong: npt.NDArray[np.bool_], expected: str) -> IllegalActionError:
    """The error for the first wrong row."""
    place = int(wrong.argmax())
    problem = f"actions[{place}] is {rows[place]}, {expected}"
    return IllegalActionError(
        problem, code="INVALID_ARGUMENT", reason=reason, metadata={"count": str(np.count_nonzero(wrong))}
    )
