"""Data sets of Minari: the games of a recipe, played again in an environment that Minari watches."""

from __future__ import annotations

import json
from typing import Any

import gymnasium

from tetrion._checks import arguments, extras
from tetrion._clients.client import Client
from tetrion._datasets.games import invalid_actions, recordings_of
from tetrion._datasets.recipe import Recipe
from tetrion._transport.versions import VERSION
from tetrion.errors import InvalidArgumentError, TetrionError


def minari() -> Any:
    """The library, imported on first use.

    Raises:
        TetrionError: It is not installed.
    """
    try:
        import minari
    except ImportError:
        raise TetrionError(extras.missing("data sets of Minari need", "minari", "minari")) from None
    return minari


def checked_id(dataset_id: object) -> str:
    """The name of a new data set.

    Raises:
        InvalidArgumentError: It is no name, or the data set exists.
    """
    library = minari()
    form = "a name with a version, such as 'tetris/bcts-v0'"
    name = arguments.string("dataset_id", dataset_id, form)
    try:
        library.dataset.minari_dataset.parse_dataset_id(name)
    except (ValueError, TypeError):  # the second one for a name without a version
        raise arguments.wrong("dataset_id", name, form) from None
    if name in library.list_local_datasets():
        raise InvalidArgumentError("dataset_id", f"is {name!r}, which exists; minari.delete_dataset({name!r}) deletes it")
    return name


def write_dataset(dataset_id: str, recipe: Recipe, client: Client) -> int:
    """Writes the data set of a recipe into Minari's local folder.

    Returns:
        The number of steps.
    """
    library = minari()
    collector: Any = None
    try:
        for recording in recordings_of(client, recipe):
            if collector is None:
                policy, reward = invalid_actions(recording)
                env = gymnasium.make(
                    "tetrion/Placement-v0",
                    rules=recipe.rules,
                    observations=recipe.observations,
                    invalid_action_policy=policy,
                    invalid_action_reward=reward,
                )
                collector = library.DataCollector(env, record_infos=True)
            sequence = recording.piece_sequence
            collector.reset(seed=recording.seed, options=None if sequence is None else {"piece_sequence": sequence})
            for action in recording.actions.tolist():
                collector.step(action)
        player = recipe.played_by() if recipe.recordings is None else None
        dataset = collector.create_dataset(
            dataset_id,
            algorithm_name=None if player is None else player.label or player.name or "weights or a formula",
            description=f"Games of Tetris, written by tetrion {VERSION}",
        )
        about = {"version": VERSION, "rules_version": client.server_info().rules_version, "recipe": recipe.to_json()}
        dataset.storage.update_metadata({"tetrion": json.dumps(about)})
        return int(dataset.total_steps)
    finally:
        if collector is not None:
            collector.close()
