"""The blocks of a session: memory into which the extension module writes an answer, and arrays that view it.

A block is bytes with every tensor at its place. Either each answer gets a new block, or for all environments two blocks
alternate, whose arrays are created once. In a new block only the large arrays are views: a small one is a copy, so that a
caller who keeps some rewards does not keep the playfields of their step.

Blocks that alternate can be lent: callers may keep their arrays. Before a block is used again, the numbers of references to
its arrays tell whether a caller still holds one; then another block takes its place.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._messages.answers import AnswerDecoder, Final, Observed, Stepped
from tetrion._messages.tensors import Arrays, Specs

# Part of a block from which on an array is a view. So a view holds at most four times its own memory.
_LARGE = 1 / 4
# Most layouts that are kept, each for another number of rows.
_MOST_LAYOUTS = 256
# Most blocks that are waited for because callers hold their arrays.
_MOST_LENT = 2


def loan(arrays: Sequence[npt.NDArray[Any]]) -> _native.Loan:
    """Arrays that are handed out. An array that a caller derives from one of them shows the same memory."""
    bases = {id(array.base): array.base for array in arrays if array.base is not None}
    return _native.Loan((*arrays, *bases.values()))


class Block:
    """A block, and the answers in it.

    Attributes:
        bytes: The `_native.Block`.
        record: A view of all its arrays.
        observed: The answer to a reset or a restore.
        stepped: The answer to a step.
        final: A view of all arrays of last states, once episodes have ended, and the reader of these, if any.
        loans: The arrays that readers hand out.
    """

    __slots__ = ("bytes", "final", "loans", "observed", "record", "stepped")

    def __init__(self, block: Any, record: npt.NDArray[np.void]) -> None:
        """Holds a block without an answer."""
        self.bytes = block
        self.record = record
        self.observed: Observed | None = None
        self.stepped: Stepped | None = None
        self.final: tuple[npt.NDArray[np.void], Any] | None = None
        self.loans: list[_native.Loan] = []

    @property
    def last(self) -> npt.NDArray[np.void]:
        """A view of all arrays of last states."""
        assert self.final is not None, "episodes have ended"
        return self.final[0]

    @property
    def is_out(self) -> bool:
        """Whether a caller holds arrays of the block."""
        return any(loan.is_out() for loan in self.loans)


class _Layout(NamedTuple):
    """The places of the arrays in a block, the fields that are copied out of it, and the places of last states."""

    record: np.dtype[np.void]
    copied: frozenset[str]
    final: np.dtype[np.void]


class _Views(Arrays):
    """Arrays of a block."""

    __slots__ = ("_copied", "_fields", "_record")

    def __init__(self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str], copied: Container[str]) -> None:
        super().__init__(specs)
        self._record = record
        self._fields = fields
        self._copied = copied

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        field = self._fields[place]
        return self._record[field].copy() if field in self._copied else self._record[field]


class Ended(Arrays):
    """Arrays with a row for each ended episode, at the beginning of memory for all environments of the answer.

    Attributes:
        rows: The rows of the answer in which the episodes ended.
    """

    __slots__ = ("_block", "_copy", "_fields", "rows")

    def __init__(
        self,
        specs: Specs,
        block: Block,
        fields: Sequence[str],
        rows: npt.NDArray[np.int64],
        *,
        copy: bool = True,
    ) -> None:
        super().__init__(specs)
        self._block = block  # and not its arrays, whose references are counted
        self._fields = fields
        self._copy = copy
        self.rows = rows

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        array: npt.NDArray[np.generic] = self._block.last[self._fields[place]][: len(self.rows)]
        return array.copy() if self._copy else array

    def whole(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays by name, with a row for every environment of the answer."""
        return {name: self._block.last[self._fields[place]] for name, place in self._specs.places.items()}

    @property
    def flags(self) -> npt.NDArray[np.bool_]:
        """Whether an episode has ended, for each row of the answer."""
        flags: npt.NDArray[np.bool_] = self._block.last["flags"]
        return flags


class _Scattered(Ended):
    """Arrays of ended episodes, in memory with a row for every environment of the answer, 0 where none has ended."""

    __slots__ = ()

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        array: npt.NDArray[np.generic] = self._block.last[self._fields[place]][self.rows]
        return array


class Blocks:
    """The blocks of a session."""

    def __init__(self, native: Any, answers: AnswerDecoder, *, copy: bool) -> None:
        """Prepares the places of all arrays.

        Args:
            native: A `_native.Session` or a `_native.Listing`, which has the places and creates blocks.
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
        # By the number of rows.
        self._layouts: dict[int, _Layout] = {}
        # Whether callers may keep arrays of blocks that alternate, and the blocks whose arrays they held.
        self.lends = False
        self._lent: list[Block] = []
        self._kept: tuple[Block, Block] | None = None
        # If blocks alternate: the last answer, what all environments showed last, and a block for answers about some.
        self.latest: Block | None = None
        self._last: Block | None = None
        self._gathered: Block | None = None
        if not copy:
            self._kept = self._filled(self._new(answers.num_envs)), self._filled(self._new(answers.num_envs))

    @property
    def places(self) -> list[int]:
        """The places of the arrays in an answer about all environments."""
        places: list[int] = self._native.places(self._answers.num_envs)
        return places

    def keep_one(self) -> Block:
        """The block for every further answer about all environments: for a reader that copies what it hands out."""
        block = self._filled(self._new(self._answers.num_envs))
        self._kept = block, block
        return block

    def next(self, rows: int | None = None) -> Block:
        """The block for the next answer: of so many listed environments, or of all in order.

        A server refuses longer lists than that of its environments, whatever has room for the answer.
        """
        num_envs = self._answers.num_envs
        if self._kept is None or rows is not None:
            return self._new(num_envs if rows is None else min(rows, num_envs))
        block, other = self._kept
        if self.lends and block.is_out:
            self._lent.append(block)
            # A block comes back once its arrays are free; of more than a few, the oldest is left to its callers.
            back = next((lent for lent in self._lent[:-1] if not lent.is_out), None)
            self._lent = [lent for lent in self._lent if lent is not back][-_MOST_LENT:]
            block = back or self._filled(self._new(num_envs))
            self._kept = block, other
        return block

    def observed(self, block: Block) -> Observed:
        """The outcome of a reset, which has filled the block."""
        observed = self._taken(block).observed
        assert observed is not None, "a filled block has answers"
        return observed

    def stepped(self, block: Block, num_ended: int) -> Stepped:
        """The outcome of a step, which has filled the block, and where so many episodes ended and others followed."""
        stepped = self._taken(block).stepped
        assert stepped is not None, "a filled block has answers"
        return stepped._replace(final=self._final(block, num_ended)) if num_ended else stepped

    @property
    def mask(self) -> npt.NDArray[np.bool_] | None:
        """The action masks that all environments showed last, if blocks alternate; None if there are none."""
        return self._last.observed.action_mask if self._last is not None and self._last.observed is not None else None

    def gather(self, env_ids: npt.NDArray[np.int64]) -> None:
        """Notes that the last answer is what these environments show, for blocks that alternate."""
        if self._gathered is None:
            self._gathered = self._filled(self._new(self._answers.num_envs))
        assert self.latest is not None, "there was an answer"
        # The others are on their way, so they are not looked at.
        self._merge(self._gathered, [(self.latest, env_ids)], looks=False)

    def merged(self, some: Sequence[tuple[Block, npt.NDArray[np.int64]]]) -> Observed:
        """The answer about all environments, of which these have changed: 0 for the others' infos."""
        block = self.next()
        self._merge(block, some, looks=True)
        return self.observed(block)

    def lend(self, reader: Any, *, final: bool) -> None:
        """Keeps a reader of the last answer, or of its last states, and notes the arrays that it will hand out."""
        block = self.latest
        assert block is not None, "there was an answer"
        if final and block.final is not None:
            block.final = block.final[0], reader
        block.loans.append(reader.loan)
        reader.loan.begin()

    def _merge(self, block: Block, some: Sequence[tuple[Block, npt.NDArray[np.int64]]], *, looks: bool) -> None:
        before = self._last.bytes if self._last is not None else None
        self._native.merge(block.bytes, before, [(part.bytes, env_ids) for part, env_ids in some], looks)
        self._last = block

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
        formats = [(np.bool_, (rows,)), (np.uint32, (rows,))]
        formats += [*answers.observations.formats(rows), *answers.final_infos.formats(rows)]
        ended = ["flags", "rows", *self._fields[0], *self._fields[2]]
        final = np.dtype({"names": ended, "formats": formats, "offsets": self._native.final_places(rows)})
        return _Layout(record, frozenset(small if self._copy else ()), final)

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
        if self._kept is None:
            return self._filled(block)
        self.latest = block
        if block is not self._kept[0]:
            return self._filled(block)
        self._kept = self._kept[1], self._kept[0]
        self._last = block
        return block

    def _final(self, block: Block, num_ended: int) -> Final:
        """The last states of so many episodes in a block: their rows, and observations and infos of these rows."""
        if block.final is None:
            block.final = np.ndarray((), self._layout(block.bytes.rows).final, block.bytes.finals), None
        answers, rows = self._answers, block.last["rows"][:num_ended].astype(np.int64)
        observations = Ended(answers.observations, block, self._fields[0], rows, copy=self._copy)
        infos = _Scattered(answers.final_infos, block, self._fields[2], rows)
        infos.reader = block.final[1]
        return Final(rows, observations, infos)
