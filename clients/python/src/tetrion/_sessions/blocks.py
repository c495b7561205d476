"""The blocks of a session: memory into which the extension module writes the answer to a step, and arrays that view it.

A block is bytes with every tensor at its place. Either each answer gets a new block, or two blocks alternate, and their
arrays are created once. In a new block only the large arrays are views: a small one is a copy, so that a caller who keeps
some rewards does not keep the playfields of their step.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import reads_answer
from tetrion._messages.answers import AnswerDecoder, Final, Observed, Stepped
from tetrion._messages.tensors import Arrays, LazyArrays, Specs
from tetrion._pb import messages as pb

# Part of a block from which on an array is a view. So a view holds at most four times its own memory.
_LARGE = 1 / 4


class Block:
    """A block, and the answers in it."""

    __slots__ = ("bytes", "observed", "record", "stepped")

    def __init__(self, block: Any, record: npt.NDArray[np.void]) -> None:
        """Holds a `_native.Block` and a view of all its arrays, without an answer."""
        self.bytes = block
        self.record = record
        self.observed: Observed | None = None
        self.stepped: Stepped | None = None


class _Views(LazyArrays):
    """Arrays of a block by name, created when they are first read."""

    __slots__ = ("_copied", "_fields", "_record")

    def __init__(self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str], copied: Container[str]) -> None:
        super().__init__(specs)
        self._record = record
        self._fields = fields
        self._copied = copied

    def _array(self, place: int, name: str) -> npt.NDArray[np.generic]:
        field = self._fields[place]
        return self._record[field].copy() if field in self._copied else self._record[field]


class Scattered(LazyArrays):
    """Arrays of ended episodes, in memory with a row for every environment of the session."""

    __slots__ = ("_fields", "_record", "_rows")

    def __init__(
        self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str], rows: npt.NDArray[np.int64]
    ) -> None:
        super().__init__(specs)
        self._record = record
        self._fields = fields
        self._rows = rows

    def _array(self, place: int, name: str) -> npt.NDArray[np.generic]:
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
            answers: Decoder of the session's answers.
            copy: Whether each answer has new arrays. If False, the step after the next one overwrites them.
        """
        self._native = native
        self._answers = answers
        rows, places = answers.num_envs, native.places()
        kinds: list[tuple[Any, tuple[int, ...]]] = [(np.float32, ()), (np.bool_, ()), (np.bool_, ())]
        for specs in (answers.observations, answers.infos):
            kinds += zip(specs.dtypes, specs.shapes, strict=True)
        self._has_mask = len(places) > len(kinds)
        if self._has_mask:
            kinds.append((np.bool_, (answers.num_actions,)))
        # numpy finds the arrays of a block faster as fields of a record than by their offsets.
        names = [str(place) for place in range(len(kinds))]
        self._record = np.dtype(
            {"names": names, "formats": [(dtype, (rows, *shape)) for dtype, shape in kinds], "offsets": places}
        )
        self._observations = names[3 : 3 + len(answers.observations.places)]
        self._infos = names[3 + len(self._observations) :]
        sizes = {name: self._record[name].itemsize for name in names}
        small = {name for name, size in sizes.items() if size < _LARGE * sum(sizes.values())}
        # The layouts of last states, by the number of ended episodes.
        self._final_records: dict[int, np.dtype[np.void]] = {}
        # The fields that are copied out of a block.
        self._copied = frozenset(small if copy else ())
        self._kept = None if copy else (self._filled(self._new()), self._filled(self._new()))

    def _new(self) -> Block:
        block = self._native.block()
        return Block(block, np.ndarray((), self._record, block))

    def _filled(self, block: Block) -> Block:
        """The block with its answers: views of it, and copies of what it contains now."""
        answers, record, copied = self._answers, block.record, self._copied
        observations: Arrays = _Views(answers.observations, record, self._observations, copied)
        infos: Arrays = _Views(answers.infos, record, self._infos, copied)

        def array(field: str) -> npt.NDArray[Any]:
            return record[field].copy() if field in copied else record[field]

        mask = array(self._infos[-1]) if self._has_mask else None
        block.observed = Observed(observations, mask, infos)
        block.stepped = Stepped(observations, array("0"), array("1"), array("2"), mask, infos, None)
        return block

    def next(self) -> Block:
        """The block for the next answer."""
        return self._new() if self._kept is None else self._kept[0]

    def _taken(self, block: Block) -> Block:
        """The block with its answers, after the extension module has filled it. The answer after it uses another block."""
        if self._kept is None:
            return self._filled(block)
        self._kept = self._kept[::-1]
        return block

    def observed(self, block: Block) -> Observed:
        """The outcome of a reset, which has filled the block."""
        observed = self._taken(block).observed
        assert observed is not None, "a filled block has answers"
        return observed

    def stepped(self, block: Block, done: Any) -> Stepped | None:
        """The outcome of a step, by what the extension module says of it; None if it did nothing.

        Args:
            block: The block, which it has filled.
            done: Whether it has; or a block with the last states of episodes if some ended; in a tuple an answer for which
                the block has no room.
        """
        if done is False:
            return None
        if isinstance(done, tuple):
            return self._read(*done)
        stepped = self._taken(block).stepped
        assert stepped is not None, "a filled block has answers"
        if done is True:
            return stepped
        return stepped._replace(final=self._final(done))

    @reads_answer
    def _read(self, data: Any) -> Stepped:
        """The outcome of a step of all environments, an encoded `StepResponse`."""
        return self._answers.stepped(pb.StepRequest(), pb.StepResponse.decode(data))

    def _final(self, block: Any) -> Final:
        """The last states of episodes in a block: their rows, observations of these rows alone, and infos of all rows."""
        count, answers = block.num_ended, self._answers
        layout = self._final_records.get(count)
        if layout is None:
            layout = self._final_records[count] = self._final_record(count)
        record = np.ndarray((), layout, block)
        rows = record["rows"].astype(np.int64)
        observations = _Views(answers.observations, record, self._observations, ())
        return Final(rows, observations, Scattered(answers.infos, record, self._infos, rows))

    def _final_record(self, count: int) -> np.dtype[np.void]:
        """The layout of a block with the last states of so many episodes."""
        answers = self._answers
        formats: list[tuple[Any, tuple[int, ...]]] = [(np.uint32, (count,))]
        for specs, rows in ((answers.observations, count), (answers.infos, answers.num_envs)):
            formats += ((dtype, (rows, *shape)) for dtype, shape in zip(specs.dtypes, specs.shapes, strict=True))
        names = ["rows", *self._observations, *self._infos[: len(answers.infos.places)]]
        return np.dtype({"names": names, "formats": formats, "offsets": self._native.final_places(count)})
