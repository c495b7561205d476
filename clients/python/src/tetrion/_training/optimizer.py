"""The base of optimizers, which propose weight vectors and take their scores.

`CemOptimizer` is the cross-entropy method, `GeneticOptimizer` a genetic algorithm. The path of a search is a function of its
configuration, the number of weights, the seed and the scores, and equals the `tetrion` program's to the last bit.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion.errors import InvalidArgumentError

Vector = npt.NDArray[np.float64]

# Larger numbers are useless, and the sum of their squares could overflow.
MAX_MAGNITUDE = 1e100


class Round(NamedTuple):
    """Candidates to score.

    Attributes:
        generation: Number of the generation, from 0; equal for both looks.
        second_look: Whether these are the best of a generation again, to be scored on more and other games.
        candidates: Weight vectors, float64 [K, F].
        slots: int64 [K], position of each candidate in its generation.
    """

    generation: int
    second_look: bool
    candidates: npt.NDArray[np.float64]
    slots: npt.NDArray[np.int64]


class Generation(NamedTuple):
    """The outcome of a completed generation.

    Attributes:
        generation: Number of the generation, from 0.
        best_score: Largest score, of the second look if there was one.
        mean_score: Mean score of the whole generation at the first look.
        std_score: Standard deviation of these scores, divided by n.
        best: The first candidate with the largest score.
        mean: Mean of the elite of a cross-entropy search, or of all individuals of a genetic algorithm.
        std: Standard deviation around the mean, divided by n.
    """

    generation: int
    best_score: float
    mean_score: float
    std_score: float
    best: Vector
    mean: Vector
    std: Vector


class Best(NamedTuple):
    """The candidate with the best score so far.

    Attributes:
        score: Score of the candidate.
        generation: Generation of the candidate.
        weights: The candidate's weights.
    """

    score: float
    generation: int
    weights: Vector

    @staticmethod
    def kept(best: Best | None, score: float, generation: int, weights: Vector) -> Best:
        """The better of two; of equals, the later one."""
        return Best(score, generation, weights) if best is None or score >= best.score else best

    @staticmethod
    def state(best: Best | None) -> dict[str, Any] | None:
        """The state for JSON."""
        return None if best is None else {**best._asdict(), "weights": best.weights.tolist()}

    @staticmethod
    def resumed(state: Mapping[str, Any] | None) -> Best | None:
        """Restores a candidate from its `state`."""
        return None if state is None else Best(state["score"], state["generation"], np.array(state["weights"], np.float64))


class Optimizer(ABC):
    """A search in progress. Larger scores are better; of equal ones, the first candidate wins."""

    def __init__(self, num_weights: int, seed: int) -> None:
        """Starts a search.

        Raises:
            InvalidArgumentError: There are no weights, or the seed is out of range.
        """
        arguments.integer("num_weights", num_weights, 1)
        self._seed = arguments.integer("seed", seed, 0, arguments.U64)
        self._generation = 0
        self._best: Best | None = None

    @property
    def generation(self) -> int:
        """Number of completed generations."""
        return self._generation

    @property
    @abstractmethod
    def incumbent(self) -> Vector | None:
        """The current result; None before the first generation is complete."""

    @property
    def best(self) -> tuple[float, Vector] | None:
        """The candidate with the best score so far, and its score. Scores are noisy, so it is as lucky as it is good."""
        return None if self._best is None else (self._best.score, self._best.weights.copy())

    @abstractmethod
    def ask(self) -> Round:
        """The candidates to score next; repeated calls return the same ones until `tell` takes their scores."""

    @abstractmethod
    def tell(self, scores: npt.ArrayLike) -> Generation | None:
        """Takes the scores of the last `ask`, in its order.

        Returns:
            The generation if it is complete; None if it continues with a second look.

        Raises:
            InvalidArgumentError: The scores are not one number per candidate. Nothing has changed then.
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything except the configuration, for JSON: the `state` in a checkpoint of `tetrion train`."""


@contextlib.contextmanager
def reading_state() -> Iterator[None]:
    """Refuses anything that is not a search's state.

    Raises:
        InvalidArgumentError: An entry is missing or invalid.
    """
    try:
        yield
    except InvalidArgumentError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        problem = f"has no entry {error}" if isinstance(error, KeyError) else f"cannot be read ({error})"
        raise InvalidArgumentError("state", f"{problem}, expected what `state()` of a search of this kind returns") from None


def check_scores(scores: npt.ArrayLike, num_candidates: int) -> Vector:
    """Scores as float64, one per candidate.

    Raises:
        InvalidArgumentError: The number of scores is wrong, or one is not a number between -1e100 and 1e100.
    """
    try:
        checked = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise arguments.wrong("scores", scores, f"a number for each of {num_candidates} candidates") from None
    if checked.shape != (num_candidates,):
        raise InvalidArgumentError(
            "scores", f"have the shape {checked.shape}, expected one for each of {num_candidates} candidates"
        )
    if not (np.abs(checked) <= MAX_MAGNITUDE).all():
        raise InvalidArgumentError("scores", "hold others than numbers between -1e100 and 1e100")
    return checked


def ranking(scores: Vector) -> npt.NDArray[np.int64]:
    """Indices in the order of the scores, best first; equal scores keep their order."""
    return np.argsort(-scores, kind="stable")


def total(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The sum of the rows, added one after another; `numpy.sum` would group them."""
    added: npt.NDArray[np.float64] = np.zeros(rows.shape[1:])
    for row in rows:
        added = added + row
    return added


def mean_and_std(rows: npt.NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Mean and standard deviation of each column, both divided by n."""
    mean = total(rows) / len(rows)
    deviations = rows - mean
    return mean, np.sqrt(total(deviations * deviations) / len(rows))
