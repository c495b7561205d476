"""Parquet files of steps, a row each, written while the games are played again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

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

# Steps whose placements are listed in one call, and steps of a row group: both bound the memory.
_STEPS_AT_ONCE = 32
_ROWS_PER_GROUP = 1024


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
    writer, waiting, rows = None, [], 0
    steps: _Steps | None = None
    try:
        for game, recording in enumerate(recordings_of(client, recipe)):
            if steps is None:
                steps = _Steps(pyarrow, client, recipe, recording)
            for batch in steps.batches(game, recording):
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(file, batch.schema, compression="zstd")
                waiting.append(batch)
                rows += len(batch)
                if sum(map(len, waiting)) >= _ROWS_PER_GROUP:
                    writer.write_table(pyarrow.Table.from_batches(waiting))
                    waiting = []
        assert writer is not None, "each game has a step"
        assert steps is not None, "each game has a step"
        if waiting:
            writer.write_table(pyarrow.Table.from_batches(waiting))
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
            steps.session.close()
    return rows


class _Steps:
    """Plays recordings again, and turns their steps into batches of rows."""

    def __init__(self, pyarrow: Any, client: Client, recipe: Recipe, recording: Recording) -> None:
        self._pyarrow = pyarrow
        self._client = client
        self._judge = _judge(client, recipe.played_by())
        self._features = selected_features(recipe.features)
        if self._features is None and self._judge is not None:
            self._features = selected_features(self._judge.features)
        self.feature_names: tuple[str, ...] = ()
        policy, reward = invalid_actions(recording)
        self.session: Session = client.create_session(
            rules=recipe.rules,
            observations=recipe.observations,
            infos=[],
            autoreset_mode="disabled",
            invalid_action_policy=policy,
            invalid_action_reward=reward,
            action_mask=False,
        )

    def batches(self, game: int, recording: Recording) -> Iterator[Any]:
        """The steps of a game."""
        observed = begin(self.session, recording).observations
        actions = recording.actions.astype(np.int32)
        for first in range(0, len(actions), _STEPS_AT_ONCE):
            chosen = actions[first : first + _STEPS_AT_ONCE]
            states, seen, outcomes = [], [], []
            for action in chosen.tolist():
                states += self.session.save_state()
                seen.append(observed)
                stepped = self.session.step([action])
                observed = stepped.observations
                outcomes.append((stepped.rewards[0], stepped.terminated[0], stepped.truncated[0]))
            rewards, terminated, truncated = (np.array(column) for column in zip(*outcomes, strict=True))
            if first + len(chosen) == len(actions):
                # The player or a limit stopped a game that could go on.
                truncated[-1] |= not terminated[-1]
            yield self._batch(
                {
                    "game": np.full(len(chosen), game, np.int32),
                    "step": np.arange(first, first + len(chosen), dtype=np.int32),
                    "seed": self._pyarrow.array([recording.seed] * len(chosen), self._pyarrow.uint64()),
                    **{name: np.concatenate([each[name] for each in seen]) for name in seen[0]},
                },
                states,
                chosen,
                {"reward": rewards, "terminated": terminated, "truncated": truncated},
            )

    def _batch(
        self, before: dict[str, Any], states: list[bytes], chosen: npt.NDArray[np.int32], after: dict[str, Any]
    ) -> Any:
        """The rows of some steps: what the player sees, all placements, the choice and what follows."""
        listed = self._listed(states, self._features)
        per_placement: dict[str, Any] = {
            "actions": listed.actions,
            "rewards": listed.rewards,
            "lines": listed.lines,
            "ends": listed.terminated,
        }
        if listed.features is not None:
            self.feature_names = listed.feature_names
            per_placement["features"] = listed.features
        if self._judge is not None:
            assert self._judge.weights is not None, "a judge has weights"
            own = selected_features(self._judge.features)
            of_judge = listed if own == self._features else self._listed(states, own)
            terminal_value = self._judge.terminal_value or "avoid"
            per_placement["values"] = of_judge.scores(self._judge.weights, self._judge.model, terminal_value=terminal_value)
        choices = _choices(listed, chosen)
        columns = {
            **before,
            **{
                f"placement_{name}": self._pyarrow.ListArray.from_arrays(
                    self._pyarrow.array(listed.row_offsets, self._pyarrow.int32()), self._array(values)
                )
                for name, values in per_placement.items()
            },
            "action": chosen,
            "choice": self._pyarrow.array(choices, mask=choices < 0),
            **after,
        }
        arrays = [value if isinstance(value, self._pyarrow.Array) else self._array(value) for value in columns.values()]
        return self._pyarrow.record_batch(arrays, names=list(columns))

    def _listed(self, states: list[bytes], features: str | tuple[str, ...] | None) -> Placements:
        needs_afterstates = self._judge is not None and self._judge.model is not None
        return self._client.enumerate_placements(states, features=features, afterstates=needs_afterstates)

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
