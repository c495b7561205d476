"""Parquet files of steps, a row each, written while the games are played again."""

from __future__ import annotations

import functools
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks import extras
from tetrion._clients.client import Client
from tetrion._datasets.games import begin, invalid_actions, recordings_of
from tetrion._datasets.recipe import Recipe, recipe_from
from tetrion._files import whole_file
from tetrion._messages.placements import Placements
from tetrion._messages.policies import Policy
from tetrion._messages.requests import selected_features
from tetrion._recordings.recording import Recording
from tetrion._sessions.session import Session
from tetrion._transport.versions import VERSION
from tetrion.errors import InvalidArgumentError, TetrionError, VersionMismatchError

FORMAT = "tetrion-dataset-1"
# The key of the recipe in the metadata of a file.
_KEY = b"tetrion"

# Games are played in parts of this many steps, and so many parts side by side. Together they are a row group, which bounds
# the memory of writers and readers.
_STEPS_PER_PART = 32
_PARTS_AT_ONCE = 64


def parquet() -> Any:
    """The library, imported on first use.

    Raises:
        TetrionError: It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise TetrionError(extras.missing("Parquet files need", "pyarrow", "parquet")) from None
    return pyarrow


def write_file(path: str | os.PathLike[str], recipe: Recipe, client: Client) -> int:
    """Writes the data set of a recipe. The file appears when it is complete.

    Returns:
        The number of steps.
    """
    pyarrow = parquet()
    with whole_file(path) as file:
        return _write(pyarrow, file, recipe, client)


def read_recipe(path: str | os.PathLike[str], client: Client) -> Recipe:
    """The recipe of a file that this package can write again.

    Raises:
        InvalidArgumentError: It is no data set, or another version of pyarrow wrote it.
        VersionMismatchError: It was played under another version of the rules.
    """
    pyarrow = parquet()
    try:
        metadata = pyarrow.parquet.read_metadata(path).metadata or {}
    except (pyarrow.ArrowException, ValueError) as error:
        raise InvalidArgumentError("file", f"is no Parquet file: {error}") from None
    try:
        about = json.loads(metadata[_KEY])
        written = {name: str(about[name]) for name in ("format", "rules_version", "pyarrow")}
    except (ValueError, LookupError, TypeError):
        raise InvalidArgumentError("file", "has no recipe, expected a file of tetrion.dataset.write") from None
    rules_version = client.server_info().rules_version
    if written["rules_version"] != rules_version:
        problem = f"is {written['rules_version']!r}, expected {rules_version!r}"
        raise VersionMismatchError(f"the file's rules_version {problem}", reason="RULES_VERSION_MISMATCH")
    for name, expected in (("format", FORMAT), ("pyarrow", pyarrow.__version__)):
        if written[name] != expected:
            raise InvalidArgumentError(f"file.{name}", f"is {written[name]!r}, expected {expected!r} for the same bytes")
    return recipe_from(client, metadata[_KEY])


def _write(pyarrow: Any, file: Any, recipe: Recipe, client: Client) -> int:
    writer, rows = None, 0
    steps: _Steps | None = None
    try:
        all_parts = _parts(recordings_of(client, recipe))
        while parts := tuple(itertools.islice(all_parts, _PARTS_AT_ONCE)):
            if steps is None:
                steps = _Steps(pyarrow, client, recipe, parts[0].recording)
            batch = steps.batch(parts)
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(file, batch.schema, compression="zstd")
            writer.write_batch(batch)
            rows += len(batch)
        assert writer is not None, "each game has a step"
        assert steps is not None, "each game has a step"
        about = {
            "format": FORMAT,
            "version": VERSION,
            "rules_version": steps.session.rules_version,
            "pyarrow": pyarrow.__version__,
            "feature_names": list(steps.feature_names),
            "action_digits": {digit.name: digit.size for digit in steps.session.action_digits},
            "recipe": recipe.to_json(),
        }
        writer.add_key_value_metadata({_KEY: json.dumps(about)})
    finally:
        if writer is not None:
            writer.close()
        if steps is not None:
            steps.close()
    return rows


class _Part(NamedTuple):
    """Consecutive steps of a game, from this number on."""

    game: int
    recording: Recording
    first: int
    actions: npt.NDArray[np.int32]
    is_last: bool


def _parts(recordings: Iterable[Recording]) -> Iterator[_Part]:
    """The games, in parts."""
    for game, recording in enumerate(recordings):
        actions = recording.actions.astype(np.int32)
        for first in range(0, len(actions), _STEPS_PER_PART):
            end = first + _STEPS_PER_PART
            yield _Part(game, recording, first, actions[first:end], is_last=end >= len(actions))


class _Steps:
    """Plays recordings again, and turns their steps into batches of rows.

    One environment plays each game up to its last part. The state that it reaches at the beginning of each part is where
    another environment begins, and these play all their parts side by side.
    """

    def __init__(self, pyarrow: Any, client: Client, recipe: Recipe, recording: Recording) -> None:
        self._pyarrow = pyarrow
        self._judge = _judge(client, recipe.played_by())
        self._features = selected_features(recipe.features)
        if self._features is None and self._judge is not None:
            self._features = selected_features(self._judge.features)
        self.feature_names: tuple[str, ...] = ()
        policy, reward = invalid_actions(recording)
        create_session = functools.partial(
            client.create_session,
            rules=recipe.rules,
            observations=recipe.observations,
            infos=[],
            autoreset_mode="disabled",
            invalid_action_policy=policy,
            invalid_action_reward=reward,
            action_mask=False,
        )
        self.session: Session = create_session(_PARTS_AT_ONCE)
        self._ahead: Session = create_session(copy=False)

    def close(self) -> None:
        """Ends the sessions."""
        self._ahead.close()
        self.session.close()

    def batch(self, parts: Sequence[_Part]) -> Any:
        """The steps of the parts, a row each, part by part."""
        lengths = np.array([len(part.actions) for part in parts])
        playing = np.arange(len(parts))
        observed = self.session.restore_state([self._start(part) for part in parts], playing).observations
        rows: list[dict[str, Any]] = []
        placements: list[dict[str, Any]] = []
        for step in range(lengths.max()):
            goes_on = lengths[playing] > step
            playing = playing[goes_on]
            chosen = np.array([parts[part].actions[step] for part in playing.tolist()])
            listed = self._listed(playing, self._features)
            placements.append(self._per_placement(listed, playing))
            stepped = self.session.step(chosen, playing)
            rows.append(
                {
                    "part": playing,
                    "count": np.diff(listed.row_offsets),
                    **{name: field[goes_on] for name, field in observed.items()},
                    "action": chosen,
                    "choice": _choices(listed, chosen),
                    "reward": stepped.rewards,
                    "terminated": stepped.terminated,
                    "truncated": stepped.truncated,
                }
            )
            observed = stepped.observations
        return self._ordered(parts, lengths, rows, placements)

    def _per_placement(self, listed: Placements, playing: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of placements, with the judge's values."""
        columns: dict[str, Any] = {
            "actions": listed.actions,
            "rewards": listed.rewards,
            "lines": listed.lines,
            "ends": listed.terminated,
        }
        if listed.features is not None:
            self.feature_names = listed.feature_names
            columns["features"] = listed.features
        if self._judge is not None:
            assert self._judge.weights is not None, "a judge has weights"
            own = selected_features(self._judge.features)
            of_judge = listed if own == self._features else self._listed(playing, own)
            terminal_value = self._judge.terminal_value or "avoid"
            columns["values"] = of_judge.scores(self._judge.weights, self._judge.model, terminal_value=terminal_value)
        return columns

    def _ordered(
        self,
        parts: Sequence[_Part],
        lengths: npt.NDArray[np.int64],
        rows: list[dict[str, Any]],
        placements: list[dict[str, Any]],
    ) -> Any:
        """A batch of the rows of all parts, which come step by step, and of their placements."""
        order = np.argsort(np.concatenate([row["part"] for row in rows]), kind="stable")
        columns = {name: np.concatenate([row[name] for row in rows])[order] for name in rows[0]}
        part, counts = columns.pop("part"), columns.pop("count")
        ends = np.cumsum(lengths)
        first = np.array([part.first for part in parts]) - (ends - lengths)
        last = ends[[part.is_last for part in parts]] - 1
        # The player or a limit stopped a game that could go on.
        columns["truncated"][last] |= ~columns["terminated"][last]

        # Where each row's placements are among all of them, and where they go.
        began = np.empty(len(order), np.int64)
        began[order] = counts
        began = (np.cumsum(began) - began)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        picked = np.repeat(began - offsets[:-1], counts) + np.arange(offsets[-1])

        pyarrow = self._pyarrow
        seeds = [part.recording.seed for part in parts]
        arrays = {
            "game": np.array([part.game for part in parts], np.int32)[part],
            "step": (first[part] + np.arange(len(part))).astype(np.int32),
            "seed": pyarrow.array([seeds[place] for place in part.tolist()], pyarrow.uint64()),
        }
        after = {name: columns.pop(name) for name in ("action", "choice", "reward", "terminated", "truncated")}
        after["choice"] = pyarrow.array(after["choice"], mask=after["choice"] < 0)
        lists = {
            f"placement_{name}": pyarrow.ListArray.from_arrays(
                pyarrow.array(offsets, pyarrow.int32()),
                self._array(np.concatenate([step[name] for step in placements])[picked]),
            )
            for name in placements[0]
        }
        arrays |= columns | lists | after
        listed = [value if isinstance(value, pyarrow.Array) else self._array(value) for value in arrays.values()]
        return pyarrow.record_batch(listed, names=list(arrays))

    def _start(self, part: _Part) -> bytes:
        """The state before a part, which the parts before it lead to. Call it part by part."""
        if part.first == 0:
            begin(self._ahead, part.recording)
        (state,) = self._ahead.save_state()
        if not part.is_last:
            for step in range(len(part.actions)):
                self._ahead.step(part.actions[step : step + 1])
        return state

    def _listed(self, playing: npt.NDArray[np.int64], features: str | tuple[str, ...] | None) -> Placements:
        needs_afterstates = self._judge is not None and self._judge.model is not None
        return self.session.enumerate_placements(playing, features=features, afterstates=needs_afterstates)

    def _array(self, values: npt.NDArray[Any]) -> Any:
        """An Arrow array with a nested list of fixed size for each dimension but the first."""
        array = self._pyarrow.array(values.ravel())
        for size in reversed(values.shape[1:]):
            array = self._pyarrow.FixedSizeListArray.from_arrays(array, size)
        return array


def _judge(client: Client, policy: Policy | None) -> Policy | None:
    """The policy with its weights; None if it has none."""
    if policy is not None and policy.name:
        own = client.get_policy(policy.name)
        policy = replace(own, terminal_value=policy.terminal_value or own.terminal_value)
    return policy if policy is not None and policy.weights is not None else None


def _choices(listed: Placements, chosen: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Index of each position's action in its placements; -1 for an action that does not exist."""
    counts = np.diff(listed.row_offsets)
    positions = np.repeat(np.arange(len(counts)), counts)
    rows = np.flatnonzero(listed.actions == chosen[positions])
    choices = np.full(len(counts), -1, np.int32)
    choices[positions[rows]] = rows - listed.row_offsets[positions[rows]]
    return choices
