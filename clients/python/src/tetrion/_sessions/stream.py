"""A session over one long call: less overhead per message, and requests can be sent ahead."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy.typing as npt

from tetrion import _native
from tetrion._checks import keywords
from tetrion._messages.answers import AnswerDecoder, Stepped
from tetrion._messages.listing import PlacementsOptions
from tetrion._messages.placements import Placements
from tetrion._sessions.blocks import Blocks
from tetrion._sessions.calls import Calls, EnvIds, check_rows
from tetrion._sessions.link import Link
from tetrion.errors import TetrionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Received = TypeVar("_Received")


class StepStream(Calls):
    """The calls of a session over one long call, for one thread.

    In addition to calls that wait for their answers, requests can be sent ahead: `send_step` for one half of the
    environments and then for the other half, while you choose actions for the first. Or a step and then `send_placements`
    for the placements after it, in one round trip. `receive_step` and `receive_placements` return the answers in order. If
    the connection breaks, the stream opens again, and each request without an answer is performed once. The same holds for a
    call that Ctrl-C interrupted: the next call follows it.
    """

    def __init__(self, link: Link, native: _native.Listing | None = None, answers: AnswerDecoder | None = None) -> None:
        """Opens a stream; see `Session.stream`. Or the calls of a `Listing`, which has answers of its own."""
        super().__init__(link, _native.SessionStream(link.native) if native is None else native)
        if native is not None and answers is not None:
            self._answers, self._blocks = answers, Blocks(native, answers, copy=False)
        self._closed = False
        # The kinds of what was sent ahead, and the requests; None for a step that the extension module wrote.
        self._sent: deque[tuple[str, Any]] = deque()

    @property
    def _is_direct(self) -> bool:
        """Whether the session is in this process, so that its games can be looked at again."""
        return self._link.native.is_direct

    @property
    def in_flight(self) -> int:
        """Number of requests sent ahead whose answers have not been received."""
        return len(self._sent)

    def _check(self, kind: str) -> None:
        self._check_open(kind)
        if self._sent:
            raise RuntimeError("receive the answers to what was sent ahead first")

    def _check_open(self, kind: str) -> None:
        self._link.connection.check_usable()
        if self._closed:
            raise ValueError(f"{kind} on a stream that was closed; `Session.stream` opens another one")

    def _send(self, kind: str, request: Any) -> None:
        self._check_open(kind)
        self._sent.append((kind, request))
        try:
            with self._link.connection.calling():
                self._native.send(kind, request.encode())
        finally:
            self._take_back()

    def _take_back(self) -> None:
        """Forgets what was noted last and not sent. It is noted before, because Ctrl-C can come after each line."""
        while len(self._sent) > self._native.in_flight():
            self._sent.pop()

    def _receive(self, kind: str, receive: Callable[[], _Received]) -> _Received:
        """The answer to the earliest request that was sent ahead, which must be of this kind."""
        waiting = self._sent[0][0] if self._sent else None
        if waiting != kind:
            what = f"the next answer is that to {waiting}" if waiting else "no request waits for an answer"
            raise RuntimeError(f"{what}, so there is no {kind} to receive")
        try:
            with self._link.connection.calling():
                received = receive()
        finally:
            # After a lost server or Ctrl-C, the request still waits for its answer.
            while len(self._sent) > self._native.in_flight():
                self._sent.popleft()
        self._told()
        return received

    def send_step(self, actions: npt.ArrayLike, env_ids: EnvIds = None) -> None:
        """Sends a step without waiting; `receive_step` returns its answer."""
        check_rows(actions, env_ids, self._answers.num_envs)
        self._send_step(actions, env_ids)

    def _send_step(self, actions: npt.ArrayLike, env_ids: EnvIds) -> None:
        """Sends a step of as many actions as environments."""
        if not self._sent:
            self._save_unsaved()
        if env_ids is None and not self._closed:
            self._sent.append(("step", None))
            try:
                with self._link.connection.calling():
                    if self._native.send_step(actions):
                        return
            finally:
                self._take_back()
        self._send("step", self._step_request(actions, env_ids))

    def receive_step(self) -> Stepped:
        """Waits for the answer to the earliest request sent ahead, which must be a step."""
        request = self._sent[0][1] if self._sent else None
        block = self._blocks.next(len(request.envs.ids) if request is not None and request.has("envs") else None)
        numbers = self._receive("step", lambda: self._native.receive_step(block.bytes))
        return self._stepped(request, block, numbers)

    @keywords.checked
    def send_placements(self, env_ids: EnvIds = None, **options: Unpack[PlacementsOptions]) -> None:
        """Requests placements like `enumerate_placements`, without waiting; `receive_placements` returns the answer.

        After a step sent ahead, it requests the placements in the states after that step.
        """
        self._send("enumerate_placements", self._placements_request(env_ids, options))

    def receive_placements(self) -> Placements:
        """Waits for the answer to the earliest request sent ahead, which must be for placements."""

        def receive() -> Placements:
            _, request = self._sent[0]
            return Placements._of(self._native.receive_placements(self._answers.rows(request.session_envs)))

        return self._receive("enumerate_placements", receive)

    def close(self) -> None:
        """Ends the stream, but not the session. Does nothing in a forked child, because its parent still uses the stream."""
        if self._closed or self._link.connection.forked:
            return
        self._closed = True
        # Reading the unread answers ends the stream in an orderly way; losing the connection ends it too.
        with contextlib.suppress(TetrionError), self._link.connection.calling():
            self._native.close()

    def __enter__(self) -> StepStream:
        """The stream itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the stream."""
        self.close()
