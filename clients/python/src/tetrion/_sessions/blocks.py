"""The blocks of a session: memory into which the extension module writes the answer to a step, and arrays that view it.

A block is bytes with every tensor at its place. Either each answer gets a new block, or two blocks alternate, and their
arrays are created once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._messages.answers import AnswerDecoder, Observed, Stepped
from tetrion._messages.tensors import Arrays, LazyArrays, Specs
from tetrion._pb import messages as pb


class Block:
    """A block and its arrays."""

    __slots__ = ("bytes", "observed", "stepped")

    def __init__(self, block: Any, observed: Observed, stepped: Stepped) -> None:
        """Holds a `_native.Block` and the views of it."""
        self.bytes = block
        self.observed = observed
        self.stepped = stepped


class _Views(LazyArrays):
    """Arrays of a block by name, created when they are first read."""

    __slots__ = ("_fields", "_record")

    def __init__(self, specs: Specs, record: npt.NDArray[np.void], fields: Sequence[str]) -> None:
        super().__init__(specs)
        self._record = record
        self._fields = fields

    def _array(self, place: int, name: str) -> npt.NDArray[np.generic]:
        return self._record[self._fields[place]]


class Blocks:
    """The blocks of a session."""

    def __init__(self, native: Any, answers: AnswerDecoder, *, copy: bool) -> None:
        """Prepares the places of all arrays.

        Args:
            native: A `_native.Session` or `_native.Steps`, which has the places and creates blocks.
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
        self._kept = None if copy else (self._new(), self._new())

    def _new(self) -> Block:
        answers, block = self._answers, self._native.block()
        record: npt.NDArray[np.void] = np.ndarray((), self._record, block)
        observations: Arrays = _Views(answers.observations, record, self._observations)
        infos: Arrays = _Views(answers.infos, record, self._infos)
        mask = record[self._infos[-1]] if self._has_mask else None
        stepped = Stepped(observations, record["0"], record["1"], record["2"], mask, infos, None)
        return Block(block, Observed(observations, mask, infos), stepped)

    def next(self) -> Block:
        """The block for the next answer."""
        return self._new() if self._kept is None else self._kept[0]

    def filled(self) -> None:
        """Makes the answer after this one use the other block."""
        if self._kept is not None:
            self._kept = self._kept[::-1]

    def stepped(self, block: Block, done: bytes | bool) -> Stepped | None:
        """The outcome of a step: what the extension module returned after it filled the block. None if it did not."""
        if done is False:
            return None
        self.filled()
        if done is True:
            return block.stepped
        last = self._answers.final(pb.FinalBatch.FromString(done), self._answers.num_envs)
        return block.stepped._replace(final=last)
