"""The blocks of a session: memory into which the extension module writes an answer, and arrays that view it.

A block is bytes with every tensor at its place. Either each answer gets a new block, or for all environments two blocks
alternate, whose arrays are created once. In a new block only the large arrays are views: a small one is a copy, so that a
caller who keeps some rewards does not keep the playfields of their step.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks.names import unknown
from tetrion._messages.answers import AnswerDecoder, Final, Observed, Stepped
from tetrion._messages.tensors import Arrays, Specs

# Part of a block from which on an array is a view. So a view holds at most four times its own memory.
_LARGE = 1 / 4
# Most layouts that are kept, each for another number of rows.
_MOST_LAYOUTS = 256


class Block:
    """A block, and the answers in it."""

    __slots__ = ("bytes", "observed", "record", "stepped")

    def __init__(self, block: Any, record: npt.NDArray[np.void]) -> None:
        """Holds a `_native.Block` and a view of all its arrays, without an answer."""
        self.bytes = block
        self.record = record
        self.observed: Observed | None = None
        self.stepped: Stepped | None = None


class _Layout(NamedTuple):
    """The places of the arrays in a block, and the fields that are copied out of it."""

    record: np.dtype[np.void]
    copied: frozenset[str]


class _Views(Arrays):
    """Arrays of a block by name, created when they are first read: an answer has a dozen, and most callers read three."""

    __slots__ = ("_copied", "_fields", "_record", "_specs")

    def __init__(self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str], copied: Container[str]) -> None:
        super().__init__({})
        self._specs = specs
        self._record = record
        self._fields = fields
        self._copied = copied

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        field = self._fields[place]
        return self._record[field].copy() if field in self._copied else self._record[field]

    def __getitem__(self, name: str) -> npt.NDArray[np.generic]:
        """The array of this name."""
        array = self._arrays.get(name)
        if array is None:
            places = self._specs.places
            if name not in places:
                raise KeyError(unknown("field of this session", name, places))
            array = self._arrays[name] = self._array(places[name])
        return array

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names in order."""
        return iter(self._specs.places)

    def __len__(self) -> int:
        """Number of arrays."""
        return len(self._specs.places)


class Scattered(_Views):
    """Arrays of ended episodes, in memory with a row for every environment of the answer."""

    __slots__ = ("_rows",)

    def __init__(
        self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str], rows: npt.NDArray[np.int64]
    ) -> None:
        super().__init__(specs, record, fields, ())
        self._rows = rows

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        array: npt.NDArray[np.generic] = self._record[self._fields[place]][self._rows]
        return array

    def whole(self) -> dict[str, npt.NDArray[np.generic]]:
        """The same arrays with a row for every environment, 0 where no episode has ended."""
        return {name: self._record[self._fields[place]] for name, place in self._specs.places.items()}


class Blocks:
    """The blocks of a session."""

    def __init__(self, native: Any, answers: AnswerDecoder, *, copy: bool) -> None:
        """Prepares the places of all arrays.

        Args:
            native: A `_native.Session`, which has the places and creates blocks.
            answers: The specs of the session's answers.
            copy: Whether each answer has new arrays. If False, the step after the next one overwrites those of all
                environments.
        """
        self._native = native
        self._answers = answers
        self._copy = copy
        count = 3
        self._fields: list[list[str]] = []
        # numpy finds the arrays of a block faster as fields of a record than by their offsets.
        for specs in (answers.observations, answers.infos, answers.final_infos):
            self._fields.append([str(place) for place in range(count, count + len(specs.places))])
            count += len(specs.places)
        # By the number of rows, and for last states by the number of ended episodes, too.
        self._layouts: dict[int, _Layout] = {}
        self._final_layouts: dict[tuple[int, int], np.dtype[np.void]] = {}
        self._kept = None if copy else (self._filled(self._new(answers.num_envs)), self._filled(self._new(answers.num_envs)))

    def next(self, rows: int | None = None) -> Block:
        """The block for the next answer, of so many environments; by default of all.

        A server refuses longer lists than that of its environments, whatever has room for the answer.
        """
        num_envs = self._answers.num_envs
        rows = num_envs if rows is None else min(rows, num_envs)
        return self._new(rows) if self._kept is None or rows != num_envs else self._kept[0]

    def observed(self, block: Block) -> Observed:
        """The outcome of a reset, which has filled the block."""
        observed = self._taken(block).observed
        assert observed is not None, "a filled block has answers"
        return observed

    def stepped(self, block: Block, done: Any) -> Stepped | None:
        """The outcome of a step, by what the extension module says of it; None if it did nothing.

        Args:
            block: The block, which it has filled.
            done: Whether it has; or a block with the last states of episodes if some ended; in a tuple with the numbers of
                actions that were sent as text.
        """
        if done is False:
            return None
        stepped = self._taken(block).stepped
        assert stepped is not None, "a filled block has answers"
        if done is True:
            return stepped
        if isinstance(done, tuple):
            done, actions = done
            stepped = stepped._replace(actions=np.frombuffer(actions, "<i4").astype(np.int32))
        return stepped if done is True else stepped._replace(final=self._final(done, block.bytes.rows))

    def _new(self, rows: int) -> Block:
        block = self._native.block(rows)
        return Block(block, np.ndarray((), self._layout(rows).record, block))

    def _layout(self, rows: int) -> _Layout:
        """The layout of a block for so many environments."""
        layout = self._layouts.get(rows)
        if layout is None:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[rows] = self._made(rows)
        return layout

    def _made(self, rows: int) -> _Layout:
        answers, places = self._answers, self._native.places(rows)
        formats: list[tuple[Any, tuple[int, ...]]] = [(np.float32, (rows,)), (np.bool_, (rows,)), (np.bool_, (rows,))]
        for specs in (answers.observations, answers.infos):
            formats += specs.formats(rows)
        names = ["0", "1", "2", *self._fields[0], *self._fields[1]]
        if answers.has_mask:
            formats.append((np.bool_, (rows, answers.num_actions)))
            names.append("mask")
        record = np.dtype({"names": names, "formats": formats, "offsets": places})
        sizes = {name: record[name].itemsize for name in names}
        small = {name for name, size in sizes.items() if size < _LARGE * sum(sizes.values())}
        return _Layout(record, frozenset(small if self._copy else ()))

    def _filled(self, block: Block) -> Block:
        """The block with its answers: views of it, and copies of what it contains now."""
        answers, record = self._answers, block.record
        copied = self._layout(block.bytes.rows).copied
        observations: Arrays = _Views(answers.observations, record, self._fields[0], copied)
        infos: Arrays = _Views(answers.infos, record, self._fields[1], copied)

        def array(field: str) -> npt.NDArray[Any]:
            return record[field].copy() if field in copied else record[field]

        mask = array("mask") if answers.has_mask else None
        block.observed = Observed(observations, mask, infos)
        block.stepped = Stepped(observations, array("0"), array("1"), array("2"), mask, infos, None)
        return block

    def _taken(self, block: Block) -> Block:
        """The block with its answers, after the extension module has filled it. The answer after it uses another block."""
        if self._kept is None or block is not self._kept[0]:
            return self._filled(block)
        self._kept = self._kept[::-1]
        return block

    def _final(self, block: Any, rows: int) -> Final:
        """The last states of episodes in a block: their rows, observations of these rows alone, and infos of all rows."""
        answers, count = self._answers, block.rows
        layout = self._final_layouts.get((rows, count))
        if layout is None:
            if len(self._final_layouts) >= _MOST_LAYOUTS:
                self._final_layouts.clear()
            layout = self._final_layouts[rows, count] = self._final_layout(rows, count)
        record = np.ndarray((), layout, block)
        ended = record["rows"].astype(np.int64)
        observations = _Views(answers.observations, record, self._fields[0], ())
        return Final(ended, observations, Scattered(answers.final_infos, record, self._fields[2], ended))

    def _final_layout(self, rows: int, count: int) -> np.dtype[np.void]:
        """The layout of a block with the last states of so many of the episodes in an answer of so many rows."""
        answers = self._answers
        formats = [(np.uint32, (count,)), *answers.observations.formats(count), *answers.final_infos.formats(rows)]
        names = ["rows", *self._fields[0], *self._fields[2]]
        return np.dtype({"names": names, "formats": formats, "offsets": self._native.final_places(rows, count)})
