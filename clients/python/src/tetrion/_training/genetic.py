"""A genetic algorithm for real numbers: its parameters, and its search by ask and tell.

Tournament selection, blend crossover, Gaussian mutation, elitism. Survivors are scored again in every generation, on new
games, so that a lucky score does not last.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from tetrion._checks import arguments
from tetrion._training.optimizer import MAX_MAGNITUDE, Config, Optimizer


@dataclass(frozen=True)
class GeneticConfig(Config):
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

    def to_json(self) -> dict[str, Any]:
        """The parameters as the program's run folders have them."""
        return asdict(self)


class GeneticOptimizer(Optimizer[GeneticConfig]):
    """A genetic algorithm in progress."""

    _method: ClassVar[str] = "genetic"
