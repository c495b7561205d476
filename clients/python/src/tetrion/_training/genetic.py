"""A genetic algorithm for real numbers: the search of `tetrion train genetic`, to the last bit.

Tournament selection, blend crossover, Gaussian mutation, elitism. Survivors are scored again in every generation on new
games, so that a lucky score does not last.

Generation g + 1 is bred from generation g with the draws of stream g + 1, in this order. Each pair of children takes two
tournaments, the coin for a crossover, and one blend per weight. Then every weight of the first child and of the second takes
the coin for a mutation and its size.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._training.draws import Draws
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
)
from tetrion.errors import InvalidArgumentError


@dataclass(frozen=True)
class GeneticConfig:
    """The parameters of a search.

    Attributes:
        individuals: Weight vectors per generation, at least 2.
        initial_range: The first individuals are uniform in [-initial_range, initial_range), per weight; above 0.
        tournament: Individuals drawn, with replacement, for a tournament, whose winner becomes a parent.
        crossover_probability: Probability that two parents are crossed rather than copied.
        blend_alpha: How far a child may lie outside the range of its parents; 0 keeps it between them (BLX-alpha).
        mutation_probability: Probability that a weight of a child mutates.
        mutation_std: Standard deviation of a mutation.
        keep: Number of best individuals that survive unchanged; less than `individuals`.
    """

    individuals: int = 50
    initial_range: float = 1.0
    tournament: int = 3
    crossover_probability: float = 0.5
    blend_alpha: float = 0.5
    mutation_probability: float = 0.2
    mutation_std: float = 0.2
    keep: int = 1

    def __post_init__(self) -> None:
        """Checks every parameter."""

        def integer(name: str, low: int, high: int) -> None:
            object.__setattr__(self, name, arguments.integer(name, getattr(self, name), low, high))

        def number(name: str, low: float, high: float) -> None:
            arguments.number(name, getattr(self, name), low, f"{low:g} to {high:g}", high)

        integer("individuals", 2, 1_000_000)
        number("initial_range", sys.float_info.min, MAX_MAGNITUDE)
        integer("tournament", 1, 1_000_000)
        number("crossover_probability", 0.0, 1.0)
        number("blend_alpha", 0.0, 10.0)
        number("mutation_probability", 0.0, 1.0)
        number("mutation_std", 0.0, MAX_MAGNITUDE)
        integer("keep", 0, self.individuals - 1)

    @property
    def num_elites(self) -> int:
        """Number of individuals whose mean score is reported as the elite's."""
        return max(self.keep, 1)


class GeneticOptimizer(Optimizer):
    """A genetic algorithm in progress."""

    def __init__(self, config: GeneticConfig, num_weights: int, seed: int) -> None:
        """Starts a search for a vector of `num_weights` weights; all draws follow from `seed`, 0 to 2**64 - 1."""
        super().__init__(num_weights, seed)
        num_weights = int(num_weights)
        self.config = config
        draws = Draws(self._seed, 0)
        weights = [config.initial_range * (2.0 * draws.uniform() - 1.0) for _ in range(config.individuals * num_weights)]
        self._individuals = np.array(weights).reshape(config.individuals, num_weights)
        self._incumbent: Vector | None = None

    def ask(self) -> Round:
        """The candidates to score next; repeated calls return the same ones until `tell` takes their scores."""
        return Round(self._generation, False, self._individuals.copy(), np.arange(len(self._individuals)))

    def tell(self, scores: npt.ArrayLike) -> Generation:
        """Takes the scores of the last `ask`, in its order, which completes a generation.

        Raises:
            InvalidArgumentError: The scores are not one number per candidate. Nothing has changed then.
        """
        checked = check_scores(scores, len(self._individuals))
        order = ranking(checked)
        individuals, self._individuals = self._individuals, self._breed(order)
        best, best_score = individuals[order[0]], float(checked[order[0]])
        self._best = Best.kept(self._best, best_score, self._generation, best)
        self._incumbent = best
        self._generation += 1
        mean, std = mean_and_std(individuals)
        mean_score, std_score = mean_and_std(checked[:, None])
        return Generation(self._generation - 1, best_score, float(mean_score[0]), float(std_score[0]), best, mean, std)

    @property
    def incumbent(self) -> Vector | None:
        """The current result: the best individual of the last generation; None before the first is complete."""
        return None if self._incumbent is None else self._incumbent.copy()

    def state(self) -> dict[str, Any]:
        """Everything except the configuration, for JSON: the `state` in a checkpoint of `tetrion train`."""
        return {
            "seed": self._seed,
            "generation": self._generation,
            "individuals": self._individuals.tolist(),
            "incumbent": None if self._incumbent is None else self._incumbent.tolist(),
            "best": Best.state(self._best),
        }

    @classmethod
    def resume(cls, config: GeneticConfig, state: Mapping[str, Any]) -> GeneticOptimizer:
        """Restores a search from its `state`.

        Raises:
            InvalidArgumentError: The state belongs to another configuration or another kind of search.
        """
        with reading_state():
            return cls._resumed(config, state)

    @classmethod
    def _resumed(cls, config: GeneticConfig, state: Mapping[str, Any]) -> GeneticOptimizer:
        if "individuals" not in state:
            raise InvalidArgumentError("state", "is not that of a genetic algorithm")
        individuals = np.array(state["individuals"], np.float64)
        if individuals.ndim != 2 or len(individuals) != config.individuals:
            raise InvalidArgumentError("state", f"has {len(individuals)} individuals, expected {config.individuals}")
        search = cls(config, individuals.shape[1], state["seed"])
        search._generation = arguments.integer("state['generation']", state["generation"])
        search._individuals = individuals
        search._incumbent = None if state["incumbent"] is None else np.array(state["incumbent"], np.float64)
        search._best = Best.resumed(state["best"])
        return search

    def _breed(self, order: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The next generation; `order` lists the current individuals, best first."""
        config, draws = self.config, Draws(self._seed, self._generation + 1)
        next_ones: list[list[float]] = [self._individuals[place].tolist() for place in order[: config.keep]]
        while len(next_ones) < config.individuals:
            # Contenders are ranks, so the lowest rank wins.
            winners = [min(draws.below(config.individuals) for _ in range(config.tournament)) for _ in range(2)]
            first, second = (self._individuals[order[winner]].tolist() for winner in winners)
            if draws.uniform() < config.crossover_probability:
                for place, (x, y) in enumerate(zip(first, second, strict=True)):
                    gamma = (1.0 + 2.0 * config.blend_alpha) * draws.uniform() - config.blend_alpha
                    first[place], second[place] = (1.0 - gamma) * x + gamma * y, gamma * x + (1.0 - gamma) * y
            for child in (first, second):
                for place in range(len(child)):
                    if draws.uniform() < config.mutation_probability:
                        child[place] += config.mutation_std * draws.normal()
                next_ones.append(child)
        # With an odd number of children, the last one is dropped.
        return np.array(next_ones[: config.individuals])
