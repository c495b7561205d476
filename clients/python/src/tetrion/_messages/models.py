"""Models that add to a weighted sum of features: their shapes, and their outputs in NumPy.

The server computes a model in float32 in a defined order, which `evaluation_service.proto` specifies at the messages `Mlp`
and `NTuple`. `outputs` does the same here for all rows in parallel, with the same bits. Use it to check results, and for
your own agents on lists of placements; let the server play whole games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.placements import Placements
from tetrion._messages.requests import enum_name
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

Floats: TypeAlias = "npt.NDArray[np.float32]"

_LOWEST = np.finfo(np.float32).min


@dataclass(frozen=True)
class Mlp:
    """A multilayer perceptron over the features, with one output per placement.

    A weight vector for it has F signed weights of the features, as for a linear controller, and then its N parameters, layer
    by layer: a matrix [inputs, units], row by row, then one bias per unit. With weights of 0, only the network counts. With
    `tables`, the first hidden layer adds to its sums the entry that each tuple looks up. The tables' parameters follow the
    others: one table [entries, hidden[0]] after another, row by row.

    Attributes:
        hidden: Units of each hidden layer: 1 to 4 layers of 1 to 256 units.
        activation: Activation of the hidden units: `relu`, `leaky_relu`, `hard_tanh`, `softsign` or `hard_swish`.
        tables: Tuples whose tables the first hidden layer also reads.
    """

    hidden: Sequence[int]
    activation: str = "relu"
    tables: NTuple | None = None

    def __post_init__(self) -> None:
        """Checks the type of each value. The server refuses numbers that are out of range.

        Raises:
            InvalidArgumentError: `hidden` is not a list of integers, the activation does not exist, or `tables` is not an
                `NTuple`.
        """
        units = arguments.integers("hidden", self.hidden, "the units of each hidden layer, such as [32]", arguments.U32)
        object.__setattr__(self, "hidden", tuple(units))
        object.__setattr__(self, "activation", enum_name(pb.Activation, self.activation, "activation"))
        if self.tables is not None and not isinstance(self.tables, NTuple):
            raise arguments.wrong("tables", self.tables, "an NTuple, or None for a network that reads no tables")

    def num_parameters(self, num_features: int) -> int:
        """The number N of parameters for this many features."""
        layers = [arguments.integer("num_features", num_features), *self.hidden, 1]
        tables = 0 if self.tables is None else self.tables.num_parameters() * self.hidden[0]
        return sum((inputs + 1) * units for inputs, units in pairwise(layers)) + tables

    def outputs(self, placements: Placements, parameters: npt.ArrayLike) -> Floats:
        """The network's contribution to the score of each row, float32 [R], equal to the server's to the last bit.

        Args:
            placements: Rows with the network's features and, if it reads tables, with afterstates.
            parameters: The N parameters, which are rounded to float32.

        Raises:
            InvalidArgumentError: Features or afterstates are missing, or the number of parameters is wrong.
        """
        if placements.features is None:
            raise InvalidArgumentError("placements", "have no features, expected those that the network was made for")
        numbers = _parameters(parameters, self.num_parameters(placements.features.shape[1]))
        x = placements.features.astype(np.float32)
        activation = _ACTIVATIONS[self.activation]
        layers = [*self.hidden, 1]
        looked_up: list[npt.NDArray[np.int64]] = []
        tables = numbers[:0]
        if self.tables is not None:
            looked_up = self.tables.entries(placements)
            tables = numbers[Mlp(self.hidden).num_parameters(x.shape[1]) :].reshape(-1, layers[0])
        with np.errstate(over="ignore", invalid="ignore"):
            for number, units in enumerate(layers):
                inputs = x.shape[1]
                matrix, biases = numbers[: inputs * units].reshape(inputs, units), numbers[inputs * units :][:units]
                numbers = numbers[(inputs + 1) * units :]
                # `x @ matrix` may add up in another order, or may not round every product.
                sums = np.repeat(biases[None, :], len(x), axis=0)
                for column, weights in zip(x.T, matrix, strict=True):
                    sums += column[:, None] * weights
                if number == 0:
                    for entries in looked_up:
                        sums += tables[entries]
                x = activation(sums) if number < len(layers) - 1 else sums
        return _bounded(x[:, 0])


@dataclass(frozen=True)
class TuplePattern:
    """A tuple of an `NTuple`: a pattern of digits of the afterstate, and the table that it looks up.

    Attributes:
        kind: Kind of the digits: `steps` to the next column; `heights` of columns; `cells`, 1 if full.
        positions: Positions of the digits, most significant first: columns, or `row * width + column` for cells.
        clip: Largest step or height, at least 1; larger ones are clipped. None for cells.
        shares: Index of an earlier tuple whose table this one shares; by default it has its own.
    """

    kind: str
    positions: Sequence[int]
    clip: int = 0
    shares: int | None = None

    def __post_init__(self) -> None:
        """Checks the type of each value. The server refuses numbers that are out of range.

        Raises:
            InvalidArgumentError: The kind of tuple does not exist, `positions` is not a list of integers, or `clip` or
                `shares` is not an integer.
        """
        object.__setattr__(self, "kind", enum_name(pb.TupleKind, self.kind, "kind"))
        positions = arguments.integers("positions", self.positions, "a list such as [0, 1, 2]", arguments.U32)
        object.__setattr__(self, "positions", tuple(positions))
        object.__setattr__(self, "clip", arguments.integer("clip", self.clip))
        if self.shares is not None:
            object.__setattr__(self, "shares", arguments.integer("shares", self.shares))

    @property
    def base(self) -> int:
        """Number of values of a digit."""
        return {"steps": 2 * self.clip + 1, "heights": self.clip + 1, "cells": 2}[self.kind]

    @property
    def num_entries(self) -> int:
        """Number of entries of a table for this tuple."""
        return int(self.base ** len(self.positions))


@dataclass(frozen=True)
class NTuple:
    """An n-tuple network: the sum of one entry per tuple, which the afterstate looks up in the tuple's table.

    A weight vector for it has F signed weights of the features, as for a linear controller, and then its N parameters: the
    tables, one after another, in the order of the tuples that have their own. For an `Mlp` that reads the tables, an entry
    is a row of numbers.

    Attributes:
        tuples: The tuples, 1 to 256.
        width: Columns of the playfield, which `outputs` and `entries` need.
    """

    tuples: Sequence[TuplePattern]
    width: int = 10

    def __post_init__(self) -> None:
        """Checks the type of each value.

        Raises:
            InvalidArgumentError: `tuples` is not a list of `TuplePattern`s.
        """
        listed = arguments.items("tuples", self.tuples, "a list of TuplePatterns")
        for place, pattern in enumerate(listed):
            if not isinstance(pattern, TuplePattern):
                raise arguments.wrong(f"tuples[{place}]", pattern, "a TuplePattern")
        object.__setattr__(self, "tuples", tuple(listed))
        object.__setattr__(self, "width", arguments.integer("width", self.width))

    def num_parameters(self, num_features: int = 0) -> int:
        """The number N of entries of all tables, if these are numbers. The features do not matter."""
        return sum(pattern.num_entries for pattern in self.tuples if pattern.shares is None)

    def outputs(self, placements: Placements, parameters: npt.ArrayLike) -> Floats:
        """The tables' contribution to the score of each row, float32 [R], equal to the server's to the last bit.

        Args:
            placements: Rows with afterstates.
            parameters: The N parameters, which are rounded to float32.

        Raises:
            InvalidArgumentError: Afterstates are missing, or the number of parameters is wrong.
        """
        entries = self.entries(placements)
        numbers = _parameters(parameters, self.num_parameters())
        sums = np.zeros(placements.actions.shape, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for entry in entries:
                sums += numbers[entry]
        return _bounded(sums)

    def entries(self, placements: Placements) -> list[npt.NDArray[np.int64]]:
        """The entries that each tuple looks up, per row: indices among the entries of all tables, one table after another.

        Args:
            placements: Rows with afterstates.

        Raises:
            InvalidArgumentError: Afterstates are missing.
        """
        if placements.afterstates is None:
            raise InvalidArgumentError("placements", "have no afterstates, expected some")
        rows = placements.afterstates.astype(np.int64)
        cells = rows[:, :, None] >> np.arange(self.width) & 1
        heights = (cells * np.arange(1, rows.shape[1] + 1)[None, :, None]).max(axis=1)
        tables: list[int] = []
        num_entries = 0
        found = []
        for pattern in self.tuples:
            if pattern.shares is None:
                tables.append(num_entries)
                num_entries += pattern.num_entries
            else:
                tables.append(tables[pattern.shares])
            entries = np.zeros(len(rows), np.int64)
            for position in pattern.positions:
                if pattern.kind == "steps":
                    step = heights[:, position + 1] - heights[:, position]
                    digit = np.clip(step, -pattern.clip, pattern.clip) + pattern.clip
                elif pattern.kind == "heights":
                    digit = np.minimum(heights[:, position], pattern.clip)
                else:
                    digit = cells[:, position // self.width, position % self.width]
                entries = entries * pattern.base + digit
            found.append(tables[-1] + entries)
        return found


Model: TypeAlias = "Mlp | NTuple"


def _parameters(parameters: npt.ArrayLike, expected: int) -> Floats:
    with np.errstate(over="ignore"):
        numbers = np.asarray(parameters).astype(np.float32)
    if numbers.shape != (expected,):
        raise InvalidArgumentError("parameters", f"are {'x'.join(map(str, numbers.shape))} numbers, expected {expected}")
    return numbers


def _bounded(outputs: Floats) -> Floats:
    return np.where(np.isfinite(outputs), outputs, _LOWEST)


def _hard_swish(x: Floats) -> Floats:
    shifted = x + np.float32(3)
    cut: Floats = np.where(shifted > 6, np.float32(6), np.where(shifted < 0, np.float32(0), shifted))
    swish: Floats = (x * cut / np.float32(6)).astype(np.float32, copy=False)
    return swish


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.where(x > 0, x, np.float32(0)),
    "leaky_relu": lambda x: np.where(x > 0, x, x * np.float32(0.01)),
    "hard_tanh": lambda x: np.where(x > 1, np.float32(1), np.where(x < -1, np.float32(-1), x)),
    "softsign": lambda x: (x / (np.float32(1) + np.abs(x))).astype(np.float32, copy=False),
    "hard_swish": _hard_swish,
}
