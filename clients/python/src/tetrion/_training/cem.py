"""The cross-entropy method with ask and tell: the search of `tetrion train`, to the last bit.

A `CemOptimizer` proposes weight vectors and takes their scores. It knows nothing of games or servers, so its caller may
score the candidates anywhere; `tetrion.cem` does so with a `Client` or on a cluster.

The path of a search is a function of its configuration, the number of weights, the seed and the scores. With equal scores it
equals the path of the `tetrion` program's search, so each can continue a run of the other.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._training.draws import normals
from tetrion._training.optimizer import (
    MAX_MAGNITUDE,
    Best,
    Generation,
    Optimizer,
    Round,
    Vector,
    check_scores,
    mean_and_std,
    ranking,
    reading_state,
    total,
)
from tetrion.errors import InvalidArgumentError

# Names for `CemConfig.preset`.
PRESETS = ("szita-lorincz", "thiery-scherrer", "lab", "tetrion")


@dataclass(frozen=True)
class Noise:
    """Noise added to the variance of every weight in generation t = 0, 1, 2 ...

    Attributes:
        kind: `none`; `constant`: variance; `linear`: variance * max(1 - t / generations, 0); `hyperbolic`: variance / (t +
            1).
        variance: Variance at t = 0.
        generations: For `linear`: the first t without noise.
    """

    kind: str = "none"
    variance: float = 0.0
    generations: float = math.inf

    def __post_init__(self) -> None:
        """Checks every parameter."""
        kinds = ("none", "constant", "linear", "hyperbolic")
        object.__setattr__(self, "kind", arguments.choice("noise.kind", self.kind, kinds))
        arguments.number("noise.variance", self.variance, 0.0, "0 to 1e100", MAX_MAGNITUDE)
        arguments.number("noise.generations", self.generations, sys.float_info.min, "above 0")

    def at(self, generation: int) -> float:
        """The variance added in a generation, counted from 0."""
        if self.kind == "constant":
            return self.variance
        if self.kind == "linear":
            return self.variance * max(1.0 - generation / self.generations, 0.0)
        return self.variance / (generation + 1.0) if self.kind == "hyperbolic" else 0.0


@dataclass(frozen=True)
class CemConfig:
    """The parameters of a search. The defaults are those of Thiery and Scherrer's programs.

    Attributes:
        population: Weight vectors per generation, at least 2.
        elite_fraction: Share of the population that forms the elite, rounded down, but at least one vector.
        initial_mean: Initial mean of every weight.
        start: Initial mean of each weight, instead of `initial_mean`; scaled to length 1 under `unit_norm`.
        initial_std: Initial standard deviation of every weight.
        noise: Noise added to the variance of every weight.
        covariance: `diagonal` draws weights independently, `full` together.
        unit_norm: Whether to scale every vector to length 1.
        second_look: Share of the population that is scored twice, with the second scores replacing the first; 0 for none.
    """

    population: int = 100
    elite_fraction: float = 0.1
    initial_mean: float = 0.0
    initial_std: float = 10.0
    noise: Noise = Noise("constant", 4.0)
    covariance: str = "diagonal"
    unit_norm: bool = False
    second_look: float = 0.0
    start: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Checks every parameter."""

        def number(name: str, low: float, high: float, expected: str) -> float:
            checked = arguments.number(name, getattr(self, name), low, expected, high)
            object.__setattr__(self, name, checked)
            return checked

        above_0 = sys.float_info.min
        object.__setattr__(self, "population", arguments.integer("population", self.population, 2, 1_000_000))
        elite_fraction = number("elite_fraction", above_0, 1.0, "above 0 and at most 1")
        number("initial_mean", -MAX_MAGNITUDE, MAX_MAGNITUDE, "at most 1e100 in size")
        number("initial_std", above_0, MAX_MAGNITUDE, "above 0 and at most 1e100")
        if number("second_look", 0.0, 1.0, "0, or elite_fraction to 1"):
            number("second_look", elite_fraction, 1.0, "0, or elite_fraction to 1")
        if self.start is not None and arguments.weights("start", self.start).ndim != 1:
            raise arguments.wrong("start", self.start, "a number for each weight")
        object.__setattr__(self, "unit_norm", arguments.flag("unit_norm", self.unit_norm))
        object.__setattr__(self, "covariance", arguments.choice("covariance", self.covariance, ("diagonal", "full")))
        if not isinstance(self.noise, Noise):
            raise arguments.wrong("noise", self.noise, "a Noise")

    @classmethod
    def preset(cls, name: str, num_generations: int) -> CemConfig:
        """The settings of a preset. Only `lab` depends on the number of generations.

        Args:
            name: `szita-lorincz` (2006), `thiery-scherrer` (2009), `lab` (the course notebook) or `tetrion`.
            num_generations: Number of generations of the search.

        Raises:
            InvalidArgumentError: The preset does not exist.
        """
        linear = Noise("linear", 4.0, 0.6 * max(arguments.integer("num_generations", num_generations), 1))
        configs = (
            cls(noise=Noise("linear", 5.0, 50.0)),
            cls(),
            cls(elite_fraction=0.2, initial_std=1.0, noise=linear),
            cls(initial_std=1.0, noise=Noise("hyperbolic", 0.02), unit_norm=True, second_look=1.0 / 3.0),
        )
        return configs[PRESETS.index(arguments.choice("name", name, PRESETS))]

    @property
    def num_elites(self) -> int:
        """Number of vectors in the elite."""
        return max(int(self.population * self.elite_fraction), 1)

    @property
    def num_second_looks(self) -> int:
        """Number of vectors that are scored twice."""
        return max(int(self.population * self.second_look), 1) if self.second_look else 0


class CemOptimizer(Optimizer):
    """A cross-entropy search in progress."""

    def __init__(self, config: CemConfig, num_weights: int, seed: int) -> None:
        """Starts a search for a vector of `num_weights` weights; all draws follow from `seed`, 0 to 2**64 - 1."""
        super().__init__(num_weights, seed)
        num_weights = int(num_weights)
        self.config = config
        self._mean = np.full(num_weights, config.initial_mean)
        if config.start is not None:
            if len(config.start) != num_weights:
                raise InvalidArgumentError(
                    "start", f"has {len(config.start)} numbers, expected {num_weights}, one for each weight"
                )
            self._mean = np.array(config.start, np.float64)
            if config.unit_norm:
                self._mean = _unit(self._mean[None])[0]
        # Variances, or rows whose outer products add up to the covariance.
        variances = np.full(num_weights, config.initial_std * config.initial_std)
        self._spread = variances if config.covariance == "diagonal" else np.eye(num_weights) * config.initial_std
        self._first_scores: Vector | None = None

    def ask(self) -> Round:
        """The candidates to score next; repeated calls return the same ones until `tell` takes their scores."""
        slots = np.arange(self.config.population)
        if self._first_scores is not None:
            slots = ranking(self._first_scores)[: self.config.num_second_looks]
        return Round(self._generation, self._first_scores is not None, self._population()[slots], slots)

    def tell(self, scores: npt.ArrayLike) -> Generation | None:
        """Takes the scores of the last `ask`, in its order.

        Returns:
            The generation if it is complete; None if it continues with a second look.

        Raises:
            InvalidArgumentError: The scores are not one number per candidate. Nothing has changed then.
        """
        candidates = self.ask().candidates
        checked = check_scores(scores, len(candidates))
        if self._first_scores is None and self.config.num_second_looks:
            self._first_scores = checked.copy()
            return None
        elites = ranking(checked)[: self.config.num_elites]
        mean, std = mean_and_std(candidates[elites])
        first_scores = checked if self._first_scores is None else self._first_scores
        mean_score, std_score = mean_and_std(first_scores[:, None])
        best, best_score = candidates[elites[0]], float(checked[elites[0]])
        self._best = Best.kept(self._best, best_score, self._generation, best)
        if self.config.covariance == "diagonal":
            self._spread = std * std
        else:
            self._spread = (candidates[elites] - mean) / math.sqrt(len(elites))
        self._mean = mean
        self._first_scores = None
        self._generation += 1
        return Generation(self._generation - 1, best_score, float(mean_score[0]), float(std_score[0]), best, mean, std)

    @property
    def mean(self) -> Vector:
        """The centre of the distribution, which is the current result."""
        return np.array(self._mean)

    @property
    def incumbent(self) -> Vector | None:
        """The current result, `mean`; None before the first generation is complete."""
        return self.mean if self._generation else None

    def state(self) -> dict[str, Any]:
        """Everything except the configuration, for JSON: the `state` in a checkpoint of `tetrion train`."""
        return {
            "seed": self._seed,
            "generation": self._generation,
            "mean": self._mean.tolist(),
            "spread": {self.config.covariance: self._spread.tolist()},
            "best": Best.state(self._best),
            "first_scores": None if self._first_scores is None else self._first_scores.tolist(),
        }

    @classmethod
    def resume(cls, config: CemConfig, state: Mapping[str, Any]) -> CemOptimizer:
        """Restores a search from its `state`.

        Raises:
            InvalidArgumentError: The state belongs to another configuration or another kind of search.
        """
        with reading_state():
            return cls._resumed(config, state)

    @classmethod
    def _resumed(cls, config: CemConfig, state: Mapping[str, Any]) -> CemOptimizer:
        search = cls(config, len(state["mean"]), state["seed"])
        if list(state["spread"]) != [config.covariance]:
            raise InvalidArgumentError(
                "state", f"has a spread of {list(state['spread'])}, which does not fit {config.covariance}"
            )
        search._generation = arguments.integer("state['generation']", state["generation"])
        search._mean = np.array(state["mean"], np.float64)
        search._spread = np.array(state["spread"][config.covariance], np.float64)
        if search._spread.shape[-1] != search._mean.size:
            raise InvalidArgumentError("state", f"has a spread of {search._spread.shape} for {search._mean.size} weights")
        search._best = Best.resumed(state["best"])
        if state["first_scores"] is not None:
            search._first_scores = np.array(state["first_scores"], np.float64)
        return search

    def _population(self) -> npt.NDArray[np.float64]:
        """Draws the vectors of the generation. They are not stored, because drawing is cheap and the state stays small."""
        num_vectors, num_weights = self.config.population, self._mean.size
        noise = self.config.noise.at(self._generation)

        def draw(num_normals: int) -> npt.NDArray[np.float64]:
            """`num_normals` standard normals per vector."""
            return normals(self._seed, self._generation, num_vectors * num_normals).reshape(num_vectors, num_normals)

        population = np.tile(self._mean, (num_vectors, 1))
        if self.config.covariance == "diagonal":
            population += np.sqrt(self._spread + noise) * draw(num_weights)
        else:
            num_rows = len(self._spread)
            z = draw(num_rows + (num_weights if noise > 0.0 else 0))
            for row, deviations in enumerate(self._spread):
                population += z[:, row, None] * deviations
            if noise > 0.0:
                population += math.sqrt(noise) * z[:, num_rows:]
        if self.config.unit_norm:
            population = _unit(population)
        return population


def _unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scales each row to length 1. A row of zeros stays unchanged."""
    norms = np.sqrt(total((vectors * vectors).T))
    return vectors / np.where(norms > 0.0, norms, 1.0)[:, None]
