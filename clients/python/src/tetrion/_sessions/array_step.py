"""Steps of a session on a server whose messages the extension module writes and reads.

This is faster than the protobuf library: actions are read as an array, and the tensors of the answer go straight into a
block. It is for plain arrays of integers, one action per environment; other steps are messages of the protobuf library.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tetrion import _native
from tetrion._checks.failures import from_call
from tetrion._messages.answers import AnswerDecoder, Stepped
from tetrion._messages.seedings import SeedsLike
from tetrion._pb import messages as pb
from tetrion._sessions.blocks import Blocks
from tetrion._sessions.journal import Entry
from tetrion._transport.connection import Connection
from tetrion._transport.native import NativeRequest
from tetrion._transport.transport import Metadata
from tetrion.errors import ServerUnavailableError, SessionNotFoundError


class Numbered(Protocol):
    """The link to the session, which numbers its calls."""

    connection: Connection
    message: pb.Session
    answers: AnswerDecoder

    @property
    def name(self) -> str:
        """The session's current name on the server."""
        ...

    @property
    def metadata(self) -> Metadata:
        """Metadata of all calls of the session."""
        ...

    @property
    def sequence_number(self) -> int:
        """The number of the last numbered call."""
        ...

    def number_there(self, number: int) -> int:
        """The server's number of a call."""
        ...

    def count(self, entry: Entry, response: Any) -> None:
        """Counts and records an answered call."""
        ...


class ArraySteps:
    """The steps of all environments of a session.

    Attributes:
        native: The tensors of an answer, a `_native.Steps`.
        blocks: The blocks for the answers.
    """

    def __init__(self, link: Numbered, channel: Any, *, copy: bool) -> None:
        """Prepares the blocks.

        Args:
            link: The link to the session.
            channel: The connection to its server, a `_native.Channel`.
            copy: Whether each answer has new arrays. If False, the step after the next one overwrites them.
        """
        session, answers = link.message, link.answers
        lists = (session.observation_specs, session.info_specs)
        observations, infos = ([(spec.dtype, list(spec.shape)) for spec in listed] for listed in lists)
        has_mask = session.config.action_mask_format == pb.ACTION_MASK_FORMAT_BITS
        self._link = link
        self._channel = channel
        self.native = _native.Steps(answers.num_envs, observations, infos, answers.num_actions if has_mask else None)
        self.blocks = Blocks(self.native, answers, copy=copy)

    def read(self, actions: Any) -> ArrayStep | None:
        """A step with these actions; None if they are not a plain array of integers, one per environment."""
        read = self.native.read(actions)
        return ArrayStep(self, read) if read is not None else None

    def step(self, actions: Any) -> Stepped | None:
        """Takes a step, in one attempt: a shorter way to what `Link.call` does if all goes well.

        Returns:
            None if the actions are unusual, the server cannot be reached, or the protobuf library must read the answer.
            Then the call must be made as a message. If the server has taken the step, it repeats the answer.

        Raises:
            TetrionError: The server refused the call, or the time was up.
        """
        read = self.native.read(actions)
        if read is None:
            return None
        link, block = self._link, self.blocks.next()
        connection, number = link.connection, link.sequence_number + 1
        metadata = connection.metadata(link.metadata)
        try:
            done = self._channel.step(
                self.native, block.bytes, read, link.name, link.number_there(number), metadata, connection.timeout
            )
        except _native.CallError as failed:
            error = from_call(*failed.args)
            if isinstance(error, (ServerUnavailableError, SessionNotFoundError)):
                return None
            raise connection.failure(error) from None
        stepped = self.blocks.stepped(block, done)
        if stepped is not None:
            link.count(Entry(number, "step", ArrayStep(self, read)), stepped)
        return stepped

    def step_one(self, action: int) -> Stepped | None:
        """Takes a 32-bit action in the only environment, like `step`."""
        return self.step(np.array([action]))

    def reset(self, seeds: SeedsLike) -> None:
        """Resets are messages."""


class ArrayStep(NativeRequest):
    """A step of all environments.

    Attributes:
        session: The session's name; set before each call, like the number.
        sequence_number: The number of the call.
    """

    __slots__ = ("_actions", "_steps", "sequence_number", "session")

    def __init__(self, steps: ArraySteps, actions: Any) -> None:
        """Holds a `_native.Actions`."""
        self._steps = steps
        self._actions = actions
        self.session = ""
        self.sequence_number = 0

    def message(self) -> pb.StepRequest:
        """The same request as a message."""
        data = self._actions.data()
        actions = pb.Tensor(dtype=pb.DATA_TYPE_INT32, shape=[len(data) // 4], data=data)
        return pb.StepRequest(session=self.session, sequence_number=self.sequence_number, actions=actions)

    def send(self, stream: Any) -> None:
        """Sends the request over a `_native.Stream`."""
        stream.send_step(self._actions, self.session, self.sequence_number)

    def receive(self, stream: Any) -> Stepped | bytes:
        """Reads the next answer of a `_native.Stream`. Returns bytes if the protobuf library must read it."""
        steps = self._steps
        block = steps.blocks.next()
        read = stream.read_step(steps.native, block.bytes, self.sequence_number)
        if read is None:
            raise StopIteration
        done, message = read
        stepped = steps.blocks.stepped(block, done)
        return message if stepped is None else stepped
