"""Observations as rows of numbers or as planes, for networks with vectors or pictures as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tetrion.errors import InvalidArgumentError


class Flattener:
    """Turns batches of observations into float32 [N, size].

    Fields are joined in the order of the space, which is the order of their names. A tetromino is a name, not an amount, so
    every entry of `current`, `queue` and `held` becomes a row of zeros with one 1: the first place means none, then come I O
    T Z S J L. All other fields keep their values. `action_mask` is omitted.

    Attributes:
        size: Length of a row.
        space: Gymnasium space of a row.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        """Prepares for observations of this space, the space of a single environment.

        Raises:
            InvalidArgumentError: The space is not a `Dict`.
        """
        if not isinstance(space, spaces.Dict):
            raise InvalidArgumentError("space", f"is {space}, expected the Dict space of a Tetrion environment")
        # Name, shape, the values of a tetromino in the order of its places, "none" first, and the place in a row.
        self._fields: list[tuple[str, tuple[int, ...], npt.NDArray[np.int64] | None, slice]] = []
        self.size = 0
        low, high = [], []
        for name, field in space.spaces.items():
            if name == "action_mask":
                continue
            if isinstance(field, (spaces.Discrete, spaces.MultiDiscrete)):
                nvec = np.atleast_1d(field.n if isinstance(field, spaces.Discrete) else field.nvec)
                values = int(nvec.max())
                order = np.roll(np.arange(values), 1)
                low.append(np.zeros(nvec.size * values))
                high.append(np.ones(nvec.size * values))
            else:
                assert isinstance(field, spaces.Box)
                order = None
                low.append(field.low.ravel())
                high.append(field.high.ravel())
            start, self.size = self.size, self.size + low[-1].size
            self._fields.append((name, field.shape or (), order, slice(start, self.size)))
        self.space = spaces.Box(np.concatenate(low).astype(np.float32), np.concatenate(high).astype(np.float32))

    def __call__(self, observations: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """The rows of a batch of observations, float32 [N, size].

        Args:
            observations: The fields of the space by name, each with a leading dimension N; others are ignored.

        Raises:
            InvalidArgumentError: A field is missing, or has another shape.
        """
        rows = None
        for name, shape, order, place in self._fields:
            field = _field(observations, name, shape)
            if rows is None:
                rows = np.zeros((len(field), self.size), np.float32)
            if order is not None:
                field = field[..., None] == order
            rows[:, place] = field.reshape(len(field), -1)
        assert rows is not None, "a space has fields"
        return rows


class Planes:
    """Turns batches of observations into uint8 [N, C, height, width] of 0 and 1, for convolutional networks.

    The top row is the first, as in pictures. The planes are `board`, then `falling` if present, then seven planes for
    `current`, for each place of `queue` and for `held`, one for each of I O T Z S J L: the plane of the piece is all 1.
    For another set of pieces there is one plane per piece, by its number.

    Attributes:
        names: Name of each of the C planes, such as `board`, `current=T` or `queue[0]=I`.
        space: Gymnasium space of one environment's planes.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        """Prepares for observations of this space, the space of a single environment.

        Raises:
            InvalidArgumentError: The space is not a `Dict`, lacks `board`, or has fields that cannot become planes.
        """
        if not isinstance(space, spaces.Dict):
            raise InvalidArgumentError("space", f"is {space}, expected the Dict space of a Tetrion environment")
        fields = [name for name in space.spaces if name != "action_mask"]
        others = [name for name in fields if name not in ("board", "falling", "current", "queue", "held")]
        if others or "board" not in fields:
            raise InvalidArgumentError(
                "observations", f"is {fields}; planes need board, and take falling, current, queue and held"
            )
        shape = space["board"].shape
        assert shape is not None
        self._shape = shape
        self._shapes: dict[str, tuple[int, ...]] = {name: space[name].shape or () for name in fields}
        self._cells: list[str] = [name for name in ("board", "falling") if name in fields]
        self._pieces: list[str] = [name for name in ("current", "queue", "held") if name in fields]
        self.names: list[str] = list(self._cells)
        self._num_pieces = len(_PIECES)
        for values in (space[name] for name in self._pieces):
            # The last value means no piece.
            if isinstance(values, spaces.Discrete):
                self._num_pieces = int(values.n) - 1
            elif isinstance(values, spaces.MultiDiscrete):
                self._num_pieces = int(values.nvec[0]) - 1
        pieces = _PIECES if self._num_pieces == len(_PIECES) else [str(piece) for piece in range(self._num_pieces)]
        if "current" in fields:
            self.names += [f"current={piece}" for piece in pieces]
        if "queue" in fields:
            preview = (space["queue"].shape or (0,))[0]
            self.names += [f"queue[{place}]={piece}" for place in range(preview) for piece in pieces]
        if "held" in fields:
            self.names += [f"held={piece}" for piece in pieces]
        self.space = spaces.Box(0, 1, (len(self.names), *shape), np.uint8)

    def __call__(self, observations: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint8]:
        """The planes of a batch of observations, uint8 [N, C, height, width].

        Args:
            observations: The fields of the space by name, each with a leading dimension N; others are ignored.

        Raises:
            InvalidArgumentError: A field is missing, or has another shape.
        """
        given = {name: _field(observations, name, shape) for name, shape in self._shapes.items()}
        num_envs = len(given["board"])
        planes = np.empty((num_envs, len(self.names), *self._shape), np.uint8)
        for place, name in enumerate(self._cells):
            planes[:, place] = given[name][:, ::-1]
        place = len(self._cells)
        for name in self._pieces:
            shown = given[name].reshape(num_envs, -1, 1) == np.arange(self._num_pieces)
            rows = shown.reshape(num_envs, -1)
            planes[:, place : place + rows.shape[1]] = rows[:, :, None, None]
            place += rows.shape[1]
        return planes


_PIECES = "IOTZSJL"


def _field(observations: Any, name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A field of a batch of observations, with a row of this shape per environment."""
    if not isinstance(observations, Mapping) or name not in observations:
        raise InvalidArgumentError("observations", f"have no {name!r}, expected the fields of the space by name")
    field = np.asarray(observations[name])
    if field.ndim != 1 + len(shape) or field.shape[1:] != shape:
        expected = ", ".join(["N", *map(str, shape)])
        problem = f"has the shape {field.shape}, expected ({expected}), a row for each environment"
        raise InvalidArgumentError(f"observations[{name!r}]", problem)
    return field
