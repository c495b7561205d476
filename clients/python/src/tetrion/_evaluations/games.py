"""The results of an evaluation: many games as columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from tetrion._messages.tensors import column, from_numpy
from tetrion._pb import messages as pb


@dataclass(frozen=True, repr=False, eq=False)
class Games:
    """Finished games, as parallel columns.

    Attributes:
        policy_indices: uint32 [K], rows of the weight matrix first, then the controllers.
        seed_indices: uint32 [K].
        episode_indices: uint32 [K], the episode of that seed.
        seeds: uint64 [K], the seed of the episode: `reset(seeds=...)` with it deals the same pieces.
        lines: uint64 [K], lines cleared.
        pieces: uint64 [K], pieces landed.
        steps: uint64 [K], steps taken.
        scores: float64 [K], points as the rules score them.
        truncated: bool [K], whether a limit cut the game.
    """

    policy_indices: npt.NDArray[np.uint32]
    seed_indices: npt.NDArray[np.uint32]
    episode_indices: npt.NDArray[np.uint32]
    seeds: npt.NDArray[np.uint64]
    lines: npt.NDArray[np.uint64]
    pieces: npt.NDArray[np.uint64]
    steps: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.float64]
    truncated: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """How many games."""
        return len(self.lines)

    def __repr__(self) -> str:
        """How many, in a line."""
        return f"<tetrion.Games: {len(self)} games>"

    def __eq__(self, other: object) -> bool:
        """Whether both have the same values."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            np.array_equal(value, getattr(other, name)) if isinstance(value, np.ndarray) else value == getattr(other, name)
            for name, value in vars(self).items()
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def _from_message(cls, results: pb.EvaluationResults) -> Games:
        """Views of the message's bytes.

        Raises:
            InvalidAnswerError: The columns have different lengths, or other types.
        """
        length = len(results.truncated.data)
        return cls(**{name: column(getattr(results, name), name, dtype, (length,)) for name, dtype in _DTYPES.items()})

    @classmethod
    def _joined(cls, parts: Sequence[Games]) -> Games:
        """The games of all parts, in the order of policy, seed and episode."""
        if not parts:
            return cls._from_message(_NO_GAMES)
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
        order = np.lexsort([columns["episode_indices"], columns["seed_indices"], columns["policy_indices"]])
        return cls(**{name: column[order] for name, column in columns.items()})

    def rows(self, chosen: npt.NDArray[np.generic]) -> Games:
        """Some of them, by a mask or by indices."""
        return Games(**{name: getattr(self, name)[chosen] for name in COLUMNS})


_DTYPES = {
    field.name: np.dtype(
        {"scores": np.float64, "truncated": np.bool_}.get(
            field.name, np.uint32 if field.name.endswith("_indices") else np.uint64
        )
    )
    for field in fields(Games)
}
COLUMNS = tuple(_DTYPES)

_NO_GAMES = pb.EvaluationResults(**{name: from_numpy(np.empty(0, dtype)) for name, dtype in _DTYPES.items()})
