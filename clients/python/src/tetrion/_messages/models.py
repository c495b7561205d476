"""Models that add to a weighted sum of features: their shapes, and their outputs in NumPy.

The server computes a model in float32 in a defined order, which `evaluation_service.proto` specifies at the messages `Mlp`
and `NTuple`. `outputs` does the same here for all rows in parallel, with the same bits. Use it to check results, and for
your own agents on lists of placements; let the server play whole games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

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
    others: one table [entries, hidden[0]] after another, row by row. `from_torch` and `from_arrays` make such a vector.

    Attributes:
        hidden: Units of each hidden layer: 1 to 4 layers of 1 to 256 units.
        activation: Activation of the hidden units: `relu`, `leaky_relu`, `hard_tanh`, `softsign`, `hard_swish` or `tanh`.
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

    @classmethod
    def from_torch(cls, module: Any) -> tuple[Mlp, Floats]:
        """A network of PyTorch, and its weight vector.

            network = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
            model, weights = tetrion.Mlp.from_torch(network)
            client.evaluate(weights=weights, features="bcts8", model=model, seeds=range(100))

        Args:
            module: A `torch.nn.Sequential` of `Linear` layers with one kind of activation between them. The input is a row
                of features as the server computes them; the last layer has one unit.

        Returns:
            The network, and its weight vector: a 0 for each feature, then the parameters.

        Raises:
            InvalidArgumentError: The module has other layers or an activation that is not in the list at `activation`.
        """
        layers, activations = _torch_layers(module)
        return cls.from_arrays(layers, order="units_inputs", activation=activations[0])

    @classmethod
    def from_arrays(
        cls, layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], *, order: str, activation: str = "relu"
    ) -> tuple[Mlp, Floats]:
        """A network from the arrays of another library, such as JAX, and its weight vector.

        Args:
            layers: A matrix and the biases of each layer, in order; the last layer has one unit.
            order: Dimensions of the matrices: `inputs_units` as in `x @ matrix`, Flax and Keras, or `units_inputs` as in
                PyTorch. A square matrix does not show it, so it must be given.
            activation: Activation of the hidden units.

        Returns:
            The network, and its weight vector: a 0 for each feature, then the parameters.

        Raises:
            InvalidArgumentError: The shapes do not fit together, or there is no hidden layer.
        """
        order = arguments.choice("order", order, ("inputs_units", "units_inputs"))
        pairs = arguments.items("layers", layers, "a list of pairs, the matrix and the biases of each layer")
        parameters: list[Floats] = []
        sizes: list[int] = []
        for place, pair in enumerate(pairs):
            matrix, biases = _layer(f"layers[{place}]", pair, order, sizes[-1] if sizes else None)
            sizes = sizes or [matrix.shape[0]]
            sizes.append(matrix.shape[1])
            parameters += [matrix.ravel(), biases]
        if len(sizes) < 3 or sizes[-1] != 1:
            shape = " -> ".join(map(str, sizes)) or "empty"
            raise InvalidArgumentError(
                "layers", f"are {shape}, expected at least one hidden layer, and one unit in the last"
            )
        model = cls(sizes[1:-1], activation)
        return model, np.concatenate([np.zeros(sizes[0], np.float32), *parameters])

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


def _layer(field: str, pair: Any, order: str, num_inputs: int | None) -> tuple[Floats, Floats]:
    """The matrix [inputs, units] and the biases of a layer."""
    both = arguments.items(field, pair, "a matrix and its biases")
    if len(both) != 2:
        raise InvalidArgumentError(field, f"has {len(both)} arrays, expected a matrix and its biases")
    matrix, biases = (np.asarray(array, np.float32) for array in both)
    if matrix.ndim != 2 or biases.ndim != 1:
        raise InvalidArgumentError(
            field, f"has the shapes {matrix.shape} and {biases.shape}, expected a matrix and a vector"
        )
    given = matrix.shape
    if order == "units_inputs":
        matrix = matrix.T
    fits_turned = matrix.shape[0] == biases.size and num_inputs in (None, matrix.shape[1])
    num_inputs = matrix.shape[fits_turned] if num_inputs is None else num_inputs
    wanted = (num_inputs, biases.size)
    if matrix.shape != wanted:
        other = "inputs_units" if order == "units_inputs" else "units_inputs"
        hint = f"; with order={other!r} it fits" if fits_turned else ""
        expected = wanted if order == "inputs_units" else wanted[::-1]
        raise InvalidArgumentError(f"{field}[0]", f"has the shape {given}, expected {expected} in the order {order}{hint}")
    return matrix, biases


# The activations of PyTorch that are ours, with the settings that these must have.
_TORCH_ACTIVATIONS: dict[str, tuple[str, dict[str, float]]] = {
    "ReLU": ("relu", {}),
    "LeakyReLU": ("leaky_relu", {"negative_slope": 0.01}),
    "Hardtanh": ("hard_tanh", {"min_val": -1.0, "max_val": 1.0}),
    "Softsign": ("softsign", {}),
    "Hardswish": ("hard_swish", {}),
    "Tanh": ("tanh", {}),
}


def _torch_layers(module: Any) -> tuple[list[tuple[Any, Any]], list[str]]:
    """The matrices and biases of a network of PyTorch, and its activations. PyTorch is not imported: it may be absent."""
    expected = f"a torch.nn.Sequential of Linear layers with one activation between them, of {', '.join(_TORCH_ACTIVATIONS)}"
    if not any(kind.__name__ == "Sequential" for kind in type(module).__mro__):
        raise arguments.wrong("module", module, f"{expected}; Mlp.from_arrays takes the arrays of other networks")
    layers: list[tuple[Any, Any]] = []
    activations: list[str] = []
    for place, layer in enumerate(_flat(module)):
        kind = type(layer).__name__
        name, settings = _TORCH_ACTIVATIONS.get(kind, ("", {}))
        if place % 2 == 0 and kind == "Linear":
            matrix = layer.weight.detach().cpu().numpy()
            biases = np.zeros(len(matrix)) if layer.bias is None else layer.bias.detach().cpu().numpy()
            layers.append((matrix, biases))
        elif place % 2 == 1 and name and all(getattr(layer, field) == value for field, value in settings.items()):
            activations.append(name)
        else:
            raise arguments.wrong(f"module[{place}]", layer, expected)
    if len(layers) != len(activations) + 1 or len(set(activations)) != 1:
        raise arguments.wrong("module", module, expected)
    return layers, activations


def _flat(module: Any) -> Iterator[Any]:
    """The layers of a `torch.nn.Sequential`, also of those inside it."""
    for layer in module:
        yield from _flat(layer) if type(layer).__name__ == "Sequential" else [layer]


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


# The quotient of polynomials that the message `Activation` defines, the highest power first.
_TANH_LIMIT = np.float32(7.905311)
_TANH_NUMERATOR = np.array(
    [-2.7607684e-16, 2.000188e-13, -8.604672e-11, 5.1222973e-8, 1.48572235e-5, 6.3726195e-4, 4.8935246e-3], np.float32
)
_TANH_DENOMINATOR = np.array([1.1982584e-6, 1.1853471e-4, 2.2684347e-3, 4.893525e-3], np.float32)


def _tanh(x: Floats) -> Floats:
    x = np.clip(x, -_TANH_LIMIT, _TANH_LIMIT)
    square = x * x
    quotient: Floats = x * _polynomial(_TANH_NUMERATOR, square) / _polynomial(_TANH_DENOMINATOR, square)
    return quotient


def _polynomial(terms: Floats, x: Floats) -> Floats:
    total = np.full_like(x, terms[0])
    for term in terms[1:]:
        total = total * x + term
    return total


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.where(x > 0, x, np.float32(0)),
    "leaky_relu": lambda x: np.where(x > 0, x, x * np.float32(0.01)),
    "hard_tanh": lambda x: np.where(x > 1, np.float32(1), np.where(x < -1, np.float32(-1), x)),
    "softsign": lambda x: (x / (np.float32(1) + np.abs(x))).astype(np.float32, copy=False),
    "hard_swish": _hard_swish,
    "tanh": _tanh,
}
