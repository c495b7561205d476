"""Converts the arrays of an answer to the return values of environments, in the types that Gymnasium and learners expect.

A session in this process reuses the same arrays for its answers. Everything that can be prepared for them is prepared once,
in a reader that is stored with the arrays: see `Arrays.reader`. For the arrays of a message, a reader is created each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._envs.spaces import Fields, converted
from tetrion._messages.answers import Observed, Stepped

_Array = npt.NDArray[Any]


class OneReader:
    """Reads the answers of a session of one environment.

    Attributes:
        mask: The action mask, a view of bool [A]; None if the session has no masks.
    """

    __slots__ = ("_infos", "_observations", "mask")

    def __init__(self, fields: Fields, observed: Observed | Stepped) -> None:
        """Prepares for these arrays."""
        arrays = observed.observations
        arrays.reader = self
        self._observations = [(name, _value(arrays[name], fields.none.get(name))) for name in fields.names]
        self._infos: list[tuple[str, Callable[[], Any]]] = [
            (name, _with_sign(array)[:1].item) for name, array in observed.infos.items()
        ]
        self.mask = None
        if observed.action_mask is not None:
            self.mask = mask = observed.action_mask[0]
            self._infos.append(("action_mask", mask.view(np.int8).copy))
            if fields.has_mask:
                self._observations.append(("action_mask", mask.view(np.int8).copy))

    def read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observation, in new arrays and numbers of numpy, and the info, in Python's numbers."""
        return {name: get() for name, get in self._observations}, {name: get() for name, get in self._infos}


def _value(rows: _Array, none: int | None) -> Callable[[], Any]:
    """A function that returns a field's value from the array of its only row. `none` is given for a category."""
    if rows.ndim > 1:
        return converted(rows[0], none) or rows[0].copy
    # A number, for Discrete spaces.
    item = _with_sign(rows).item
    if none is not None:
        numbers = [np.int64(number) for number in range(none + 1)]
        return lambda: numbers[item()]  # the last one for -1
    dtype = np.int64 if rows.dtype.kind == "u" and rows.itemsize > 1 else rows.dtype.type
    return lambda: dtype(item())


def _with_sign(array: _Array) -> _Array:
    """A view that reads unsigned 64-bit numbers as signed ones, bit for bit. Other arrays are returned unchanged."""
    return array.view(np.int64) if array.dtype == np.uint64 else array


class ManyReader:
    """Reads the answers of a session of many environments."""

    __slots__ = ("_infos", "_made_infos", "_made_observations", "_observations")

    def __init__(self, fields: Fields, observed: Observed | Stepped, *, copy: bool) -> None:
        """Prepares for these arrays. With `copy`, each answer gets new arrays instead of views."""
        arrays = observed.observations
        arrays.reader = self
        self._observations: dict[str, _Array] = {name: arrays[name] for name in fields.names}
        self._infos: dict[str, _Array] = dict(observed.infos)
        if observed.action_mask is not None:
            mask = self._infos["action_mask"] = observed.action_mask.view(np.int8)
            if fields.has_mask:
                self._observations["action_mask"] = mask

        def made(array: _Array, none: int | None = None) -> Callable[[], _Array] | None:
            return converted(array, none) or (array.copy if copy else None)

        self._made_observations = [
            (name, get)
            for name, array in self._observations.items()
            if (get := made(array, fields.none.get(name))) is not None
        ]
        self._made_infos = [(name, get) for name, array in self._infos.items() if (get := made(array)) is not None]

    def read(self) -> tuple[dict[str, _Array], dict[str, _Array]]:
        """Observations and infos, with one row per environment."""
        observations, infos = self._observations.copy(), self._infos.copy()
        for name, get in self._made_observations:
            observations[name] = get()
        for name, get in self._made_infos:
            infos[name] = get()
        return observations, infos
