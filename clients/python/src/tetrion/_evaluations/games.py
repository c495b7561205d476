"""The results of an evaluation as columns of numbers: games, or estimates of how long games last."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tetrion._messages.ends import EpisodeEnd
from tetrion._messages.tensors import column
from tetrion._pb import messages as pb

Part = TypeVar("Part", bound="Columns")


@dataclass(frozen=True, repr=False, eq=False)
class Columns:
    """Columns with one row per policy, seed and episode."""

    policy_indices: npt.NDArray[np.int32]
    seed_indices: npt.NDArray[np.int32]
    episode_indices: npt.NDArray[np.int32]
    seeds: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.seeds)

    def __eq__(self, other: object) -> bool:
        """Whether all values are equal."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            np.array_equal(value, getattr(other, name)) if isinstance(value, np.ndarray) else value == getattr(other, name)
            for name, value in vars(self).items()
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, repr=False, eq=False)
class Games(Columns):
    """Finished games, as parallel columns.

    Attributes:
        policy_indices: int32 [K], first the rows of the weight matrix, then the other policies.
        seed_indices: int32 [K].
        episode_indices: int32 [K], number of the episode of that seed.
        seeds: uint64 [K], seed of the episode; `reset(seeds=...)` with it deals the same pieces.
        lines: int64 [K], lines cleared.
        pieces: int64 [K], pieces landed.
        steps: int64 [K], steps taken.
        scores: float64 [K], points under the rules' scoring.
        ends: uint8 [K], the end of each game; see `EpisodeEnd`.
    """

    lines: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    ends: npt.NDArray[np.uint8]

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Whether a limit or the end of its piece sequence cut the game; bool [K]."""
        return np.isin(self.ends, (EpisodeEnd.STEP_LIMIT, EpisodeEnd.PIECE_LIMIT, EpisodeEnd.OUT_OF_PIECES))

    def __repr__(self) -> str:
        """The number of games, in a line."""
        return f"<tetrion.Games: {len(self)} games>"

    def rows(self, chosen: npt.NDArray[np.generic]) -> Games:
        """Selects games by a mask or by indices."""
        return rows_of(self, Games, chosen)


@dataclass(frozen=True, repr=False, eq=False)
class Estimates(Columns):
    """Estimates of how long games last, as parallel columns.

    Attributes:
        policy_indices: int32 [K], first the rows of the weight matrix, then the other policies.
        seed_indices: int32 [K].
        episode_indices: int32 [K], number of the episode of that seed.
        seeds: uint64 [K], seed of the episode.
        loss_rates: float64 [K], losses per piece. The inverse of the mean over estimates is the number of pieces per game.
        lines_per_piece: float64 [K].
        steps_per_piece: float64 [K].
        score_per_piece: float64 [K], points under the rules' scoring.
        lasts_longer: bool [K], whether games last longer than the estimate.
    """

    loss_rates: npt.NDArray[np.float64]
    lines_per_piece: npt.NDArray[np.float64]
    steps_per_piece: npt.NDArray[np.float64]
    score_per_piece: npt.NDArray[np.float64]
    lasts_longer: npt.NDArray[np.bool_]

    def __repr__(self) -> str:
        """The number of estimates, in a line."""
        return f"<tetrion.Estimates: {len(self)} estimates>"

    def rows(self, chosen: npt.NDArray[np.generic]) -> Estimates:
        """Selects estimates by a mask or by indices."""
        return rows_of(self, Estimates, chosen)


# The types of the columns, in order.
_DTYPES: dict[type[Any], dict[str, np.dtype[Any]]] = {
    kind: {field.name: np.dtype(str(field.type).removeprefix("npt.NDArray[np.").rstrip("_]")) for field in fields(kind)}
    for kind in (Games, Estimates)
}

_MESSAGES: dict[type[Any], Any] = {Games: pb.EvaluationResults, Estimates: pb.EvaluationEstimates}


def columns(part: Part, kind: type[Part]) -> dict[str, Any]:
    """The columns by name, without the other attributes of a whole evaluation."""
    return {name: getattr(part, name) for name in _DTYPES[kind]}


def rows_of(part: Part, kind: type[Part], chosen: npt.NDArray[np.generic]) -> Part:
    """Selects rows by a mask or by indices."""
    return kind(**{name: values[chosen] for name, values in columns(part, kind).items()})


def part_from(message: bytes, kind: type[Part]) -> Part:
    """The columns of an encoded message.

    Raises:
        InvalidAnswerError: The columns have different lengths or wrong types.
    """
    results = _MESSAGES[kind].decode(message)
    dtypes = _DTYPES[kind]
    # The last column has one byte per row.
    length = len(getattr(results, [*dtypes][-1]).data)
    return kind(**{name: column(getattr(results, name), name, dtype, (length,)) for name, dtype in dtypes.items()})


def without_rows(kind: type[Part]) -> Part:
    """No results."""
    return kind(**{name: np.empty(0, dtype) for name, dtype in _DTYPES[kind].items()})
