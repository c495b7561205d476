"""Converts the arrays of an answer to the return values of environments, in the types that Gymnasium and learners expect.

A session reuses the same arrays for answers about all environments. Everything that can be prepared for them is prepared
once, in a reader that is stored with the arrays: see `Arrays.reader`. An answer about some gets a reader of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._envs.spaces import Fields, signed, translation
from tetrion._messages.answers import Final, Observed, Stepped
from tetrion._sessions.blocks import Block, Ended, loan

_Array = npt.NDArray[Any]


def single(fields: Fields, calls: Any, block: Block, places: Sequence[int]) -> _native.Single:
    """The reader of a session of one environment, whose answers are all in one block.

    Args:
        fields: The observation fields.
        calls: What makes the calls of the session, in the extension module.
        block: The block.
        places: The places of the arrays in the block, in order.
    """
    observed = block.observed
    assert observed is not None, "a block has answers"
    arrays, rewards, terminated, truncated = observed.observations, *places[:3]
    at = dict(zip(arrays, places[3:], strict=False))
    observations = [_entry(name, arrays[name], at[name], fields.none.get(name)) for name in fields.names]
    infos: list[_Entry] = [
        (name, "number", array.dtype.str, place, None)
        for (name, array), place in zip(observed.infos.items(), places[3 + len(arrays) :], strict=False)
    ]
    mask = None
    if observed.action_mask is not None:
        row = observed.action_mask[0]
        mask = places[-1], row.size
        infos.append(("action_mask", "array", "", 0, row.view(np.int8).copy))
        if fields.has_mask:
            observations.append(infos[-1])
    return _native.Single(calls, block.bytes, observations, infos, (rewards, terminated, truncated), mask)


# An entry of a dictionary as `_native.Single` takes it.
_Entry = tuple[str, str, str, int, Any]


def _entry(name: str, rows: _Array, at: int, none: int | None) -> _Entry:
    """What makes a field's value, from the array of its only row and the place of that array. `none` is for a category."""
    array, dtype = signed(rows), rows.dtype.str
    if rows.ndim > 1:
        row, translate = array[0], translation(array, none)
        return name, "array", "", 0, row.copy if translate is None else lambda: translate(row)
    # A number, for Discrete spaces.
    if none is not None:
        return name, "choice", dtype, at, [np.int64(number) for number in range(none + 1)]  # the last one for -1
    return name, "scalar", dtype, at, np.int64 if rows.dtype.kind == "u" and rows.itemsize > 1 else rows.dtype.type


class _Group:
    """Named arrays, as they are handed out: those with the types that learners expect as they are, and others converted."""

    __slots__ = ("_made", "flags", "shown")

    def __init__(self, arrays: Mapping[str, _Array], none: Mapping[str, int] | None = None, kept: str = "") -> None:
        """Takes arrays, of which these are categories, and this one is always copied."""
        self.shown = {name: signed(array) for name, array in arrays.items()}
        self.flags = [f"_{name}" for name in arrays]
        makers = ((name, array, translation(array, (none or {}).get(name))) for name, array in self.shown.items())
        self._made = [(name, array, translate) for name, array, translate in makers if translate is not None]
        if kept in self.shown:
            self._made.append((kept, self.shown[kept], np.copy))

    def lent(self) -> list[_Array]:
        """The arrays that are handed out as they are."""
        made = [name for name, *_ in self._made]
        return [array for name, array in self.shown.items() if name not in made]

    def read(self, present: npt.NDArray[np.bool_] | None = None, *, copy: bool) -> dict[str, _Array]:
        """The arrays by name, or copies of them; and for each a flag that tells which rows are present, if that is given."""
        shown = {name: array.copy() for name, array in self.shown.items()} if copy else self.shown
        arrays = shown.copy() if present is None else shown | dict.fromkeys(self.flags, present)
        for name, array, translate in self._made:
            arrays[name] = translate(array)
        return arrays


class ManyReader:
    """Reads the answers of a session of many environments.

    Attributes:
        loan: The arrays that it hands out.
    """

    __slots__ = ("_infos", "_observations", "loan")

    def __init__(self, fields: Fields, observed: Observed | Stepped) -> None:
        """Prepares for these arrays."""
        arrays, infos = observed.observations, dict(observed.infos)
        seen = {name: arrays[name] for name in fields.names}
        if observed.action_mask is not None:
            infos["action_mask"] = observed.action_mask.view(np.int8)
            if fields.has_mask:
                seen["action_mask"] = infos["action_mask"]
        # Masks are not lent: a session goes on from its own.
        self._observations, self._infos = _Group(seen, fields.none, "action_mask"), _Group(infos, kept="action_mask")
        self.loan = loan([*self._observations.lent(), *self._infos.lent()])
        arrays.reader = self

    def read(self, present: npt.NDArray[np.bool_], *, copy: bool) -> tuple[dict[str, _Array], dict[str, _Array]]:
        """Observations and infos, with one row per environment. Flags of the infos tell which rows are present."""
        return self._observations.read(copy=copy), self._infos.read(present, copy=copy)


class FinalReader:
    """Reads the last states of episodes, in the form of Gymnasium's own vector environments.

    Attributes:
        loan: The arrays that it hands out.
    """

    __slots__ = ("_flags", "_infos", "_mask", "_names", "_observations", "loan")

    def __init__(self, fields: Fields, final: Final, mask: npt.NDArray[np.int8]) -> None:
        """Prepares for these arrays.

        Args:
            fields: The observation fields.
            final: The last states.
            mask: The action mask of an ended episode, unless the infos have one.
        """
        observations, infos = final.observations, final.infos
        assert isinstance(observations, Ended)
        assert isinstance(infos, Ended)
        self._flags, self._mask = infos.flags, mask
        self._infos = _Group(infos.whole())
        arrays = {name: signed(array) for name, array in observations.whole().items()}
        self._observations = [(arrays[name], translation(arrays[name], fields.none.get(name))) for name in fields.names]
        self._names = [*fields.names, "action_mask"] if fields.has_mask else fields.names
        self.loan = loan([*self._infos.lent(), *(array for array, _ in self._observations)])
        infos.reader = self

    def observations(self, rows: npt.NDArray[np.int64], *, copy: bool) -> dict[str, _Array]:
        """The observations of episodes that ended in these rows of an answer, with one row per episode."""
        count = len(rows)
        seen = [
            translate(array[:count]) if translate is not None else array[:count].copy() if copy else array[:count]
            for array, translate in self._observations
        ]
        if len(self._names) > len(seen):
            masks = self._infos.shown.get("action_mask")
            seen.append(masks[rows] if masks is not None else np.tile(self._mask, (count, 1)))
        return dict(zip(self._names, seen, strict=True))

    def infos(self, rows: npt.NDArray[np.int64]) -> dict[str, _Array]:
        """The infos of episodes that ended in these rows of an answer, with one row per episode."""
        return {name: array[rows] for name, array in self._infos.read(copy=False).items()}

    def read(self, rows: npt.NDArray[np.int64], num_rows: int, *, copy: bool) -> dict[str, Any]:
        """Both in the form of Gymnasium's own vector environments, as infos of an answer with so many rows."""
        ended = self._flags.copy()
        final_obs = np.empty(num_rows, object)  # None everywhere
        columns = [list(field) for field in self.observations(rows, copy=copy).values()]
        for row, observation in zip(rows.tolist(), _native.rows(self._names, columns), strict=True):
            final_obs[row] = observation
        final_info = self._infos.read(ended, copy=copy)
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended}
