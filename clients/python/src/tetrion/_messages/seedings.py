"""The source of pieces: from callers' seeds or explicit pieces to the message `Seeding`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.tensors import from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError


@dataclass(frozen=True)
class DrawnSeeds:
    """Seeds drawn from one number, common to all policies of an evaluation. They are not consecutive numbers.

    Attributes:
        seed: A number from 0 to 2**64 - 1.
        count: Number of seeds, 1 to 1,048,576; in a session one per environment.
    """

    seed: int
    count: int


# The seeds of an evaluation without any.
DEFAULT_SEEDS = DrawnSeeds(1, 100)
_SEEDS = "a list of seeds such as [1, 2, 3], or DrawnSeeds(seed, count) such as DrawnSeeds(1, 100)"

Seeds: TypeAlias = "npt.ArrayLike | DrawnSeeds | None"
SeedsLike: TypeAlias = "Sequence[int] | DrawnSeeds | None"


def session_seeding(
    seeds: SeedsLike,
    piece_sequences: Sequence[str],
    hole_columns: Sequence[Sequence[int]] = (),
    seed: int | None = None,
    field: str = "seeds",
) -> pb.Seeding | None:
    """The source of a session's pieces; None if the caller does not specify it.

    Args:
        seeds: One seed per environment; empty if the caller does not specify them.
        piece_sequences: Explicit pieces, one string per environment or one for all.
        hole_columns: Columns of the holes in garbage, a list per string; empty if the caller does not specify them.
        seed: One number for all environments.
        field: Name of `seeds` in errors.

    Raises:
        InvalidArgumentError: A value has the wrong type or is out of range, or several of the arguments are given.
    """
    pieces = arguments.pieces("piece_sequences", piece_sequences)
    given: dict[str, pb.Seeding] = {}
    if seed is not None:
        given["seed"] = pb.Seeding(seed=arguments.integer("seed", seed, 0, arguments.U64))
    if isinstance(seeds, DrawnSeeds):
        given[field] = pb.Seeding(drawn=_drawn(field, seeds))
    elif seeds is not None and (listed := arguments.seeds(field, seeds)):
        given[field] = pb.Seeding(seeds=pb.Seeds(seeds=listed))
    holes = arguments.columns("hole_columns", hole_columns)
    if pieces:
        written = pb.PieceSequences(sequences=pieces, hole_columns=[pb.HoleColumns(columns=columns) for columns in holes])
        given["piece_sequences"] = pb.Seeding(piece_sequences=written)
    elif holes:
        raise InvalidArgumentError("hole_columns", "is given without piece_sequences, expected both")
    if len(given) > 1:
        first, second, *_ = given
        raise InvalidArgumentError(second, f"is given with {first}, expected one of the two")
    return next(iter(given.values()), None)


def evaluation_seeding(seeds: Seeds, piece_sequences: Sequence[str]) -> pb.Seeding:
    """The source of an evaluation's pieces.

    Raises:
        InvalidArgumentError: A value has the wrong type or is out of range, or both arguments are given.
    """
    pieces = arguments.pieces("piece_sequences", piece_sequences)
    if seeds is not None and pieces:
        raise InvalidArgumentError("seeds", "and piece_sequences are both given, expected one")
    if pieces:
        return pb.Seeding(piece_sequences=pb.PieceSequences(sequences=pieces))
    if seeds is None:
        seeds = DEFAULT_SEEDS
    if isinstance(seeds, DrawnSeeds):
        return pb.Seeding(drawn=_drawn("seeds", seeds))
    if isinstance(seeds, (str, bytes)) or callable(seeds):
        raise arguments.wrong("seeds", seeds, _SEEDS)
    rows = to_numpy(from_numpy(_unsigned(seeds), np.uint64, "seeds"))
    if rows.ndim not in (1, 2) or not rows.size:
        raise arguments.wrong("seeds", seeds, f"{_SEEDS}, or a list for each policy")
    return pb.Seeding(seeds=pb.Seeds(seeds=rows.ravel().tolist(), per_policy=rows.ndim == 2))


def _drawn(field: str, seeds: DrawnSeeds) -> pb.DrawnSeeds:
    seed = arguments.integer(f"{field}.seed", seeds.seed, 0, arguments.U64)
    return pb.DrawnSeeds(seed=seed, count=arguments.integer(f"{field}.count", seeds.count))


def _unsigned(seeds: npt.ArrayLike) -> npt.ArrayLike:
    """Converts negative seeds, as in `infos["seed"]`, to unsigned ones with the same bits."""
    given = arguments.array("seeds", seeds, 8)
    return given.astype(np.int64).view(np.uint64) if given.dtype.kind == "i" else seeds
