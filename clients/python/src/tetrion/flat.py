"""Observations as rows of numbers, for networks that take a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces


class Flattener:
    """Turns batches of observations into float32 [N, size].

    Fields are laid side by side in the order of the space, by name. A tetromino is a name and not an amount, so every
    entry of `current` and `queue` becomes a row of zeros with one 1 in it, one place for each value between the bounds
    that the server tells. Everything else is taken as it is. `action_mask` is left out.

    Attributes:
        size: The length of a row.
        space: The Gymnasium space of a row.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        """For observations of this space, that of a single environment.

        Raises:
            TypeError: It is no `Dict` space.
        """
        if not isinstance(space, spaces.Dict):
            raise TypeError(f"a Flattener takes the Dict space of a Tetrion environment, not {space}")
        self._fields: list[tuple[str, int, int]] = []  # name, lowest value, number of values; 0 if it is an amount
        self.size = 0
        low, high = [], []
        for name, box in space.spaces.items():
            if name == "action_mask":
                continue
            assert isinstance(box, spaces.Box)
            lowest, values = 0, 0
            entries = int(np.prod(box.shape))
            if name in ("current", "queue") and entries:
                lowest = int(box.low.min())
                values = int(box.high.max()) - lowest + 1
                entries *= values
                low.append(np.zeros(entries))
                high.append(np.ones(entries))
            else:
                low.append(box.low.ravel())
                high.append(box.high.ravel())
            self._fields.append((name, lowest, values))
            self.size += entries
        self.space = spaces.Box(np.concatenate(low).astype(np.float32), np.concatenate(high).astype(np.float32))

    def __call__(self, observations: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """The rows of a batch of observations, float32 [N, size].

        Args:
            observations: The fields of the space by name, each with a leading dimension N; others are passed over.
        """
        columns = []
        for name, lowest, values in self._fields:
            field = np.asarray(observations[name])
            if values:
                field = field[..., None] == np.arange(lowest, lowest + values)
            columns.append(field.reshape(len(field), -1).astype(np.float32))
        return np.concatenate(columns, axis=1)
