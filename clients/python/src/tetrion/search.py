"""What searches for a weight vector have in common: they propose candidates and are told what these scored.

`tetrion.Cem` is the cross-entropy method, `tetrion.Genetic` a genetic algorithm. The path of a search is a function of its
configuration, the number of weights, the seed and the scores: that of the server program's own search, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

# Larger numbers are of no use, and their squares could not be added up.
MAX_MAGNITUDE = 1e100


class Round(NamedTuple):
    """Candidates that wait for their scores.

    Attributes:
        generation: Counted from 0, the same for both looks.
        second_look: Whether these are the better part of a generation again, to be scored on more and other games.
        candidates: Weight vectors, float64 [K, F].
        slots: int64 [K], the place of each in its generation.
    """

    generation: int
    second_look: bool
    candidates: npt.NDArray[np.float64]
    slots: npt.NDArray[np.int64]


class Generation(NamedTuple):
    """What a completed generation was like.

    Attributes:
        generation: Counted from 0.
        best_score: Largest score, of the second look where there was one.
        mean_score: Mean score of the whole generation at the first look.
        std_score: Standard deviation, divided by n, of the same scores.
        best: The first candidate with the largest score.
        mean: The mean of the elite of a cross-entropy search, of all individuals of a genetic algorithm.
        std: The standard deviation around it, divided by n.
    """

    generation: int
    best_score: float
    mean_score: float
    std_score: float
    best: Vector
    mean: Vector
    std: Vector


class Best(NamedTuple):
    """The best-scored candidate so far.

    Attributes:
        score: The score it was told.
        generation: The generation it belongs to.
        weights: The candidate.
    """

    score: float
    generation: int
    weights: Vector

    @staticmethod
    def kept(best: Best | None, score: float, generation: int, weights: Vector) -> Best:
        """The better of two; of equals the later one."""
        return Best(score, generation, weights) if best is None or score >= best.score else best

    @staticmethod
    def state(best: Best | None) -> dict[str, Any] | None:
        """For JSON."""
        return None if best is None else {**best._asdict(), "weights": best.weights.tolist()}

    @staticmethod
    def resumed(state: Mapping[str, Any] | None) -> Best | None:
        """The one that `state` was made of."""
        return None if state is None else Best(state["score"], state["generation"], np.array(state["weights"], np.float64))


def check_scores(scores: npt.ArrayLike, num_candidates: int) -> Vector:
    """Scores as float64, one for each candidate.

    Raises:
        ValueError: There are more or fewer, or one is no number of at most 1e100 in size.
    """
    told = np.asarray(scores, np.float64)
    if told.shape != (num_candidates,):
        raise ValueError(f"scores of the shape {told.shape} for {num_candidates} candidates")
    if not (np.abs(told) <= MAX_MAGNITUDE).all():
        raise ValueError("scores are numbers between -1e100 and 1e100")
    return told


def ranking(scores: Vector) -> npt.NDArray[np.int64]:
    """Places in the order of their scores, best first, of equals the earlier first."""
    return np.argsort(-scores, kind="stable")


def total(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The sum of the rows, added one after the other; `numpy.sum` would group them."""
    added: npt.NDArray[np.float64] = np.zeros(rows.shape[1:])
    for row in rows:
        added = added + row
    return added


def mean_and_std(rows: npt.NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Mean and standard deviation of each column, both divided by n."""
    mean = total(rows) / len(rows)
    deviations = rows - mean
    return mean, np.sqrt(total(deviations * deviations) / len(rows))
