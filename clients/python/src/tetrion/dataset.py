"""Data sets of games: Parquet files, which `pyarrow`, pandas and Hugging Face `datasets` read, and data sets of Minari.

    from tetrion import dataset
    dataset.write("games.parquet", "bcts", games=100, rules={"height": 10})
    dataset.regenerate("games.parquet", "again.parquet")  # the same bytes

A row of a Parquet file is a step: what the player sees, all placements with features and values, and the choice. The
metadata of the file contains its recipe. `docs/libraries.md` describes the columns. On the command line:

    python -m tetrion.dataset games.parquet --policy bcts --games 100
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._datasets import minari_store, parquet
from tetrion._datasets.recipe import GamesOptions, recipe_of
from tetrion._messages.policies import Policy
from tetrion._messages.requests import FeaturesLike, RulesLike
from tetrion._recordings.recording import Recording
from tetrion.errors import InvalidArgumentError, TetrionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["GamesOptions", "regenerate", "write", "write_minari"]


@keywords.checked
def write(
    path: str | os.PathLike[str],
    policy: str | Policy | None = None,
    *,
    features: FeaturesLike = None,
    client: Client | None = None,
    **options: Unpack[GamesOptions],
) -> int:
    """Writes games as a Parquet file, while they are played. The file appears when it is complete.

    Args:
        path: The file.
        policy: The policy that plays; its weights, if it has any, value all placements. With `recordings` it is
            optional, and only values the placements.
        features: Features of the placements: the name of a feature set, or a list of features. Default: those of the policy.
        client: The client of the server that plays. Default: a new `Client()`.
        **options: The games: `recordings`, or `games`, `seed`, `rules` and `max_pieces`; and `observations`. See
            `GamesOptions`.

    Returns:
        The number of steps.

    Raises:
        InvalidArgumentError: An argument is wrong or has no effect, or a recording is not the game that it describes.
        TetrionError: pyarrow is not installed.
    """
    parquet.parquet()
    path = _checked_path(path)
    with _client(client) as own:
        return parquet.write_file(path, recipe_of(own, policy, features, **options), own)


@keywords.checked
def write_minari(
    dataset_id: str,
    policy: str | Policy | None = None,
    *,
    client: Client | None = None,
    **options: Unpack[GamesOptions],
) -> int:
    """Writes games as a data set of Minari, with observations, action masks, actions, rewards and ends.

    `minari.load_dataset(dataset_id)` reads it.

    Args:
        dataset_id: Name of the data set, such as `tetris/bcts-v0`.
        policy: The policy that plays, unless `recordings` are given.
        client: The client of the server that plays. Default: a new `Client()`.
        **options: The games; see `write`.

    Returns:
        The number of steps.

    Raises:
        InvalidArgumentError: An argument is wrong or has no effect, or the data set exists.
        TetrionError: minari is not installed.
    """
    dataset_id = minari_store.checked_id(dataset_id)
    if policy is not None and options.get("recordings") is not None:
        raise InvalidArgumentError("policy", "is given with recordings, and Minari has no values, expected one of the two")
    with _client(client) as own:
        return minari_store.write_dataset(dataset_id, recipe_of(own, policy, **options), own)


def regenerate(file: str | os.PathLike[str], path: str | os.PathLike[str], *, client: Client | None = None) -> int:
    """Writes a Parquet file again from the recipe in its metadata: the same bytes.

    Args:
        file: The file with the recipe.
        path: The file to write.
        client: The client of the server that plays. Default: a new `Client()`.

    Returns:
        The number of steps.

    Raises:
        InvalidArgumentError: The file is no data set of `write`, or another version of pyarrow wrote it.
        VersionMismatchError: The file was written under another version of the rules.
    """
    path = _checked_path(path)
    with _client(client) as own:
        return parquet.write_file(path, parquet.read_recipe(file, own), own)


def _checked_path(path: str | os.PathLike[str]) -> Path:
    """The file to write.

    Raises:
        InvalidArgumentError: It is no name of a file, or in no folder.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise arguments.wrong("path", path, "the name of a file, such as 'games.parquet'")
    file = Path(path)
    if file.is_dir():
        raise arguments.wrong("path", str(path), "a file, and this is a folder")
    if not file.parent.is_dir():
        wanted = "a file in a folder that exists; on the command line, --minari writes a data set of Minari with such a name"
        raise arguments.wrong("path", str(path), wanted)
    return file


@contextmanager
def _client(client: Client | None) -> Iterator[Client]:
    """The caller's client, or one for this call."""
    if client is not None:
        yield client
    else:
        with Client() as own:
            yield own


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command, and exits with its code."""
    parser = argparse.ArgumentParser(
        prog="python -m tetrion.dataset",
        description="Writes games of a policy, or recordings, as a Parquet file or as a data set of Minari.",
        epilog="TETRION_SERVER names a server that plays; by default this process does.",
    )
    parser.add_argument("output", help="the Parquet file, or with --minari the name of the data set")
    parser.add_argument("--minari", action="store_true", help="write a data set of Minari into its local folder")
    source = parser.add_argument_group("games")
    source.add_argument("--policy", help="the policy that plays, or that values the placements of recordings")
    source.add_argument("--formula", help="instead of a policy, a formula that plays, such as --formula=-holes")
    source.add_argument("--games", type=int, help="number of games [default: 100]")
    source.add_argument("--seed", type=int, help="number from which their seeds are drawn [default: 1]")
    source.add_argument("--rules", type=_rules, help="""preset, or fields as JSON, such as '{"width": 6}'""")
    source.add_argument("--max-pieces", type=int, help="cut games after this many pieces [default: 1000]")
    source.add_argument("--recordings", nargs="+", metavar="FILE", help="files of recorded games, instead of new games")
    source.add_argument("--regenerate", metavar="FILE", help="write this Parquet file again, by the recipe in it")
    columns = parser.add_argument_group("columns")
    columns.add_argument("--features", type=_names, help="feature set, or features joined by commas [default: the policy's]")
    columns.add_argument("--observations", type=_names, help="observations joined by commas [default: the server's choice]")
    given = vars(parser.parse_args(argv))
    try:
        print(f"{given['output']}: {_run(given)} steps")
    except (TetrionError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        sys.exit(130)


def _run(given: dict[str, object]) -> int:
    """Does what the command line asks for."""
    output, with_minari, file = (given.pop(name) for name in ("output", "minari", "regenerate"))
    options = {name: value for name, value in given.items() if value is not None}
    if file is not None:
        for name in [*options, *(["minari"] if with_minari else [])]:
            raise InvalidArgumentError(name, "is given with regenerate, which takes everything from the recipe")
        return regenerate(str(file), str(output))
    if (formula := options.pop("formula", None)) is not None:
        if "policy" in options:
            raise InvalidArgumentError("formula", "is given with policy, expected one of the two")
        options["policy"] = Policy(formula=str(formula))
    if (files := options.pop("recordings", None)) is not None:
        assert isinstance(files, list), "it has several values"
        options["recordings"] = [Recording.load(each) for each in files]
    if isinstance(options.get("observations"), str):
        options["observations"] = [options["observations"]]
    return (write_minari if with_minari else write)(output, **options)  # type: ignore[arg-type]


def _rules(text: str) -> RulesLike:
    """Rules on the command line: a preset's name, or an object of JSON."""
    try:
        rules: RulesLike = json.loads(text) if text.lstrip().startswith("{") else text
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is {text!r}, expected JSON: {error}") from None
    return rules


def _names(text: str) -> str | list[str]:
    """Names on the command line: one, or several with commas."""
    return text.split(",") if "," in text else text


if __name__ == "__main__":
    main()
