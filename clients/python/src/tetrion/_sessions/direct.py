"""Steps and resets of a session in this process, without messages.

This file handles no unusual case: actions that are not a plain array of integers, seeds that are not one per environment,
and refused calls. The call is then made with messages, which performs it or explains the mistake.
"""

from __future__ import annotations

from typing import Any

from tetrion._checks import arguments
from tetrion._messages.answers import AnswerDecoder, Observed, Stepped
from tetrion._messages.seedings import DrawnSeeds, SeedsLike
from tetrion._sessions.blocks import Blocks


class Direct:
    """Steps and resets of all environments of a session.

    Attributes:
        native: The session, a `_native.Session`, which counts the calls.
    """

    def __init__(self, native: Any, answers: AnswerDecoder, *, copy: bool) -> None:
        """Prepares the blocks.

        Args:
            native: The session, a `_native.Session`.
            answers: Decoder of the session's answers.
            copy: Whether each answer has new arrays. If False, the step after the next one overwrites them.
        """
        self.native = native
        self._num_envs = answers.num_envs
        self._blocks = Blocks(native, answers, copy=copy)

    def step(self, actions: Any) -> Stepped | None:
        """Takes one action per environment; None if the step was not performed."""
        block = self._blocks.next()
        return self._blocks.stepped(block, self.native.step(block.bytes, actions))

    def step_one(self, action: int) -> Stepped | None:
        """Takes one 32-bit action in the only environment; None if the step was not performed."""
        block = self._blocks.next()
        return self._blocks.stepped(block, self.native.step_one(block.bytes, action))

    def reset(self, seeds: SeedsLike) -> Observed | None:
        """Starts an episode in each environment; None if the reset was not performed."""
        listed = None
        if seeds is not None:
            if isinstance(seeds, DrawnSeeds):
                return None
            listed = arguments.seeds("seeds", seeds)
            if len(listed) != self._num_envs:
                return None
        block = self._blocks.next()
        return self._blocks.observed(block) if self.native.reset(block.bytes, listed) else None
