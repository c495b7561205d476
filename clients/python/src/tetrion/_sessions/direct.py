"""Steps and resets of a session in this process, without messages.

This file handles no unusual case: actions that are not a plain array of integers, seeds that are not one per environment,
and refused calls. The call is then made with messages, which performs it or explains the mistake.

The answer to a step is a block of bytes with every tensor at its place; see `_native.Session`. Arrays are views of it.
Either each answer gets a new block, or two blocks alternate, and their arrays are created once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.answers import AnswerDecoder, Observed, Stepped
from tetrion._messages.seedings import DrawnSeeds, SeedsLike
from tetrion._messages.tensors import Arrays, LazyArrays, Specs
from tetrion._pb import messages as pb


class _Block:
    """A block and its arrays."""

    __slots__ = ("bytes", "observed", "stepped")

    def __init__(self, block: Any, observed: Observed, stepped: Stepped) -> None:
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


class Direct:
    """Steps and resets of all environments of a session.

    Attributes:
        native: The session, a `_native.Session`, which counts the calls.
    """

    def __init__(self, native: Any, answers: AnswerDecoder, *, copy: bool) -> None:
        """Prepares the places of all arrays.

        Args:
            native: The session, a `_native.Session`.
            answers: Decoder of the session's answers.
            copy: Whether each answer has new arrays. If False, the step after the next one overwrites them.
        """
        self.native = native
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
        self._blocks = None if copy else (self._new_block(), self._new_block())

    def _new_block(self) -> _Block:
        """Creates a block."""
        answers, block = self._answers, self.native.block()
        record: npt.NDArray[np.void] = np.ndarray((), self._record, block)
        observations: Arrays = _Views(answers.observations, record, self._observations)
        infos: Arrays = _Views(answers.infos, record, self._infos)
        mask = record[self._infos[-1]] if self._has_mask else None
        stepped = Stepped(observations, record["0"], record["1"], record["2"], mask, infos, None)
        return _Block(block, Observed(observations, mask, infos), stepped)

    def _next(self) -> _Block:
        """The block for the next answer."""
        return self._new_block() if self._blocks is None else self._blocks[0]

    def _filled(self) -> None:
        """Makes the answer after this one use the other block."""
        if self._blocks is not None:
            self._blocks = self._blocks[::-1]

    def step(self, actions: Any) -> Stepped | None:
        """Takes one action per environment; None if the step was not performed."""
        block = self._next()
        return self._stepped(block, self.native.step(block.bytes, actions))

    def step_one(self, action: int) -> Stepped | None:
        """Takes one 32-bit action in the only environment; None if the step was not performed."""
        block = self._next()
        return self._stepped(block, self.native.step_one(block.bytes, action))

    def _stepped(self, block: _Block, done: bytes | bool) -> Stepped | None:
        if done is False:
            return None
        self._filled()
        if done is True:
            return block.stepped
        last = self._answers.final(pb.FinalBatch.FromString(done), self._answers.num_envs)
        return block.stepped._replace(final=last)

    def reset(self, seeds: SeedsLike) -> Observed | None:
        """Starts an episode in each environment; None if the reset was not performed."""
        listed = None
        if seeds is not None:
            if isinstance(seeds, DrawnSeeds):
                return None
            listed = arguments.seeds("seeds", seeds)
            if len(listed) != self._answers.num_envs:
                return None
        block = self._next()
        if not self.native.reset(block.bytes, listed):
            return None
        self._filled()
        return block.observed
