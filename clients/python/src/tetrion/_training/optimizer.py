"""Searches by ask and tell: they propose weight vectors and take their scores.

`CemOptimizer` is the cross-entropy method, `GeneticOptimizer` a genetic algorithm. They know nothing of games or servers, so
their caller may score candidates anywhere. The path of a search is a function of its configuration, the number of weights,
the seed and the scores. The extension module has the search of `tetrion train`, so each can go on with the other's.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion.errors import InvalidArgumentError

Vector = npt.NDArray[np.float64]

# Larger numbers are useless, and the sum of their squares could overflow.
MAX_MAGNITUDE = 1e100


class Config(ABC):
    """The parameters of a search."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The parameters as the program's run folders have them."""


ConfigType = TypeVar("ConfigType", bound=Config)


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

    @classmethod
    def read(cls, fields: tuple[int, float, float, float, bytes, bytes, bytes]) -> Generation:
        """A generation of the extension module."""
        return cls(*fields[:4], *map(_vector, fields[4:]))


class Optimizer(Generic[ConfigType]):
    """A search in progress. Larger scores are better; of equal ones the candidate that comes first wins.

    Attributes:
        config: Its parameters.
    """

    _method: ClassVar[str]

    def __init__(self, config: ConfigType, num_weights: int, seed: int) -> None:
        """Begins a search for a vector of `num_weights` weights; all it draws follows from `seed`, 0 to 2**64 - 1.

        Raises:
            InvalidArgumentError: There are no weights, or the seed is out of range.
        """
        num_weights = arguments.integer("num_weights", num_weights, 1)
        seed = arguments.integer("seed", seed, 0, arguments.U64)
        self.config = config
        try:
            self._native = _native.Optimizer(self._parameters(config), num_weights, seed)
        except _native.InvalidParameterError as error:
            raise InvalidArgumentError(*error.args) from None

    @classmethod
    def _parameters(cls, config: ConfigType) -> str:
        return json.dumps({"method": cls._method, **config.to_json()})

    @classmethod
    def resume(cls, config: ConfigType, state: Mapping[str, Any]) -> Self:
        """Restores the search that `state` was taken from.

        Raises:
            InvalidArgumentError: The state belongs to another configuration or another kind of search.
        """
        search = cls.__new__(cls)
        search.config = config
        try:
            search._native = _native.Optimizer.resume(cls._parameters(config), json.dumps({cls._method: state}))
        except (TypeError, ValueError):
            raise arguments.wrong("state", state, "what `state()` of a search of this kind returns") from None
        except _native.InvalidParameterError as error:
            field, problem = error.args
            entry = field.removeprefix("state.")
            raise InvalidArgumentError("state", problem if entry == "state" else f"is wrong: {entry} {problem}") from None
        return search

    @property
    def generation(self) -> int:
        """Generations completed."""
        return int(self._native.generation())

    @property
    def incumbent(self) -> Vector | None:
        """The result so far; None before the first generation is complete."""
        weights = self._native.incumbent()
        return None if weights is None else _vector(weights)

    @property
    def best(self) -> tuple[float, Vector] | None:
        """The best-scored candidate so far and its score. Scores are noisy, so it is a lucky one as much as a good one."""
        best = self._native.best()
        return None if best is None else (best[0], _vector(best[1]))

    def ask(self) -> Round:
        """The candidates to score next; the same ones until `tell` takes their scores."""
        generation, second_look, weights, slots = self._native.ask()
        return Round(generation, second_look, _vector(weights).reshape(len(slots), -1), np.array(slots, np.int64))

    def tell(self, scores: npt.ArrayLike) -> Generation | None:
        """Takes the scores of the last `ask`, in its order.

        Returns:
            The generation if that completed it; None if it goes on with a second look.

        Raises:
            InvalidArgumentError: They are not one number for each candidate. Nothing has changed then.
        """
        try:
            told = self._native.tell(np.asarray(scores, np.float64).tolist())
        except (TypeError, ValueError):
            raise arguments.wrong("scores", scores, "a number for each candidate") from None
        except _native.InvalidParameterError as error:
            raise InvalidArgumentError(*error.args) from None
        return None if told is None else Generation.read(told)

    def state(self) -> dict[str, Any]:
        """Everything but the configuration, for JSON: the `state` in a checkpoint of `tetrion train`."""
        state: dict[str, Any] = json.loads(self._native.state())[self._method]
        return state


def _vector(data: bytes) -> Vector:
    """Numbers of the extension module."""
    return np.frombuffer(data, np.float64).copy()
