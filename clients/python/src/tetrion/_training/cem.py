"""The cross-entropy method: its parameters, and its search by ask and tell."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from tetrion._checks import arguments
from tetrion._training.optimizer import MAX_MAGNITUDE, Config, Optimizer, Vector

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

    def to_json(self) -> dict[str, Any]:
        """The noise as the program's run folders have it."""
        # Noise that never ends is constant.
        kind = "constant" if self.kind == "linear" and math.isinf(self.generations) else self.kind
        fields = {"none": (), "linear": ("variance", "generations")}.get(kind, ("variance",))
        return {"kind": kind, **{name: getattr(self, name) for name in fields}}


@dataclass(frozen=True)
class CemConfig(Config):
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

    def to_json(self) -> dict[str, Any]:
        """The parameters as the program's run folders have them."""
        return {**asdict(self), "noise": self.noise.to_json()}


class CemOptimizer(Optimizer[CemConfig]):
    """A cross-entropy search in progress."""

    _method: ClassVar[str] = "cem"

    @property
    def mean(self) -> Vector:
        """The centre of the distribution: the result so far."""
        return np.array(self.state()["mean"], np.float64)
