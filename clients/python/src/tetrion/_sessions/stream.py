"""A session over one long call: less overhead per message, and requests can be sent ahead."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from tetrion import _native
from tetrion._checks import keywords
from tetrion._checks.failures import from_call, invalid_answer
from tetrion._messages.answers import Stepped
from tetrion._messages.listing import PlacementsOptions
from tetrion._messages.placements import Placements
from tetrion._pb import messages as pb
from tetrion._sessions.array_step import ArrayStep
from tetrion._sessions.calls import Calls, EnvIds, check_rows
from tetrion._sessions.journal import Entry
from tetrion._sessions.link import NUMBERED, Link
from tetrion._transport.connection import Patience
from tetrion._transport.native import as_message
from tetrion._transport.transport import Exchange
from tetrion.errors import SequenceMismatchError, ServerUnavailableError, SessionNotFoundError, TetrionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tetrion._sessions.direct import Direct


@dataclass(slots=True)
class _Sent:
    """An unanswered request of a stream. `number` is given if it is numbered, `own` if no caller waits for the answer."""

    kind: str
    request: Any
    number: int = 0
    own: bool = False


class StepStream(Calls):
    """The calls of a session over one long call, for one thread.

    In addition to calls that wait for their answers, requests can be sent ahead: `send_step` for one half of the
    environments and then for the other half, while you choose actions for the first. Or a step and then `send_placements`
    for the placements after it, in one round trip. `receive_step` and `receive_placements` return the answers in order. If
    the connection breaks, the stream opens again, and each request without an answer is performed once. The same holds for a
    call that Ctrl-C interrupted: the next call follows it.
    """

    def __init__(self, link: Link) -> None:
        """Opens a stream; see `Session.stream`."""
        super().__init__(link)
        self._closed = False
        # Whether a call was interrupted while it waited, so that its answer is unread.
        self._interrupted = False
        self._unanswered: deque[_Sent] = deque()
        # Number of own requests among them.
        self._num_own = 0
        # The call, which the first message opens.
        self._exchange: Exchange | None = None

    @property
    def in_flight(self) -> int:
        """Number of requests sent ahead whose answers have not been received."""
        return len(self._unanswered) - self._num_own

    def _direct(self) -> Direct | None:
        """Not available while answers are pending, because the next answer must follow them."""
        link = self._link
        return None if link.listeners or self._closed or self._unanswered or self._interrupted else link.direct

    def _opened(self) -> Exchange:
        if self._exchange is None:
            self._exchange = self._link.connection.step_stream(self._link.metadata)
        return self._exchange

    def _send(self, kind: str, request: Any, *, own: bool = False) -> None:
        self._link.connection.check_usable()
        if self._closed:
            raise ValueError(f"{kind} on a stream that was closed; `Session.stream` opens another one")
        if self._interrupted:
            self._mend()
        sent = _Sent(kind, request, self._link.sequence_number + 1 if kind in NUMBERED else 0, own)
        self._unanswered.append(sent)
        self._num_own += own
        if sent.number:
            # Count sent requests, so that the next request sent ahead gets the next number.
            self._link.sequence_number = sent.number
        self._transmit(sent)

    def _transmit(self, sent: _Sent) -> None:
        self._link.address(sent.request, sent.number)
        if isinstance(sent.request, ArrayStep):
            self._opened().send(sent.request)
        else:
            # The message is a copy of the request, which may be addressed again later.
            self._opened().send(pb.StepStreamRequest(**{sent.kind: sent.request}))

    def _receive(self, kind: str) -> tuple[Any, Any]:
        """The earliest request without an answer, which must be of this kind, and its answer."""
        if self._interrupted:
            self._mend()
        waiting = next((sent.kind for sent in self._unanswered if not sent.own), None)
        if waiting != kind:
            what = f"the next answer is that to {waiting}" if waiting else "no request waits for an answer"
            raise RuntimeError(f"{what}, so there is no {kind} to receive")
        try:
            while True:
                sent, response = self._answer()
                self._settle(sent, response)
                if sent.own:
                    continue
                if isinstance(response, TetrionError):
                    raise response
                return sent.request, response
        except TetrionError:
            raise
        except BaseException:
            self._interrupted = True
            raise

    def _settle(self, sent: _Sent, response: Any) -> None:
        """Updates the link after an answer."""
        if sent.kind == "save_state" and sent.own:
            self._link.keep_snapshots(response)
        elif isinstance(response, TetrionError):
            if sent.number and not isinstance(response, SequenceMismatchError):
                # The call was not performed, so the next one gets its number. The server refuses calls sent after it.
                self._link.sequence_number = sent.number - 1
        elif sent.number and self._link.record(Entry(sent.number, sent.kind, sent.request), response):
            # Snapshots are due. They are requested now and read before the next answer; no caller waits for them.
            self._send("save_state", pb.SaveStateRequest(), own=True)

    def _answer(self) -> tuple[_Sent, Any]:
        """The earliest request without an answer, and its answer or error."""
        patience = None
        while True:
            try:
                response = self._next(self._unanswered[0])
            except ServerUnavailableError as error:
                patience = patience or Patience(self._link.connection)
                self._reopen(patience, error)
                continue
            if isinstance(response, Stepped):
                return self._answered(), response
            kind = response.which("response")
            inside = self._link.connection.address is None
            refusal = _failure(response.error, inside=inside) if kind == "error" else None
            if isinstance(refusal, SessionNotFoundError) and self._link.has_journal:
                patience = patience or Patience(self._link.connection)
                self._reopen(patience, refusal)
                continue
            sent = self._answered()
            if refusal is not None:
                return sent, refusal
            if kind != sent.kind:
                raise invalid_answer(f"the answer to {sent.kind} is one to {kind}")
            answer = getattr(response, sent.kind).changed()
            self._link.renumber(answer, sent.number)
            return sent, answer

    def _answered(self) -> _Sent:
        """Removes the earliest request without an answer."""
        sent = self._unanswered.popleft()
        self._num_own -= sent.own
        return sent

    def _reopen(self, patience: Patience, error: TetrionError) -> None:
        """Opens the stream again after a loss, and repeats requests without an answer."""
        patience.wait(error)
        self._send_again(patience, lost=isinstance(error, SessionNotFoundError))

    def _mend(self) -> None:
        """After an interrupted call: opens the stream again, and reads the answers for which no caller waits any more."""
        numbers = [sent.number for sent in self._unanswered]
        self._link.sequence_number = max([self._link.sequence_number, *numbers])
        self._send_again(Patience(self._link.connection), lost=False)
        self._interrupted = False
        try:
            while self._unanswered and not self.in_flight:
                self._settle(*self._answer())
        except BaseException:
            self._interrupted = True
            raise

    def _send_again(self, patience: Patience, *, lost: bool) -> None:
        """Opens the stream again, and repeats requests without an answer. `lost` tells whether the session is lost."""
        # The server keeps only its last answer. If it may have performed several calls whose answers are missing, or a call
        # after a # question, the session must be recreated from its snapshots.
        unsure = len(self._unanswered) > 1 and any(sent.number for sent in self._unanswered)
        if self._link.has_journal and (unsure or lost):
            old = self._link.name
            self._link.make_again(patience)
            with contextlib.suppress(TetrionError):
                self._link.delete(old)
        self._opened().cancel()
        self._exchange = None
        for sent in self._unanswered:
            self._transmit(sent)

    def _next(self, sent: _Sent) -> pb.StepStreamResponse | Stepped:
        if self._link.listeners:
            # They need messages, and may have come after the request was sent.
            sent.request = as_message(sent.request)
        try:
            response: pb.StepStreamResponse | Stepped = self._opened().receive(sent.request)
            return response
        except StopIteration:
            raise ServerUnavailableError("the server ended the stream", code="UNAVAILABLE") from None
        except TetrionError as error:
            raise self._link.connection.failure(error) from None

    def _call(self, kind: str, request: Any) -> Any:
        if self.in_flight:
            raise RuntimeError("receive the answers to what was sent ahead first")
        try:
            self._send(kind, request)
            return self._receive(kind)[1]
        except TetrionError:
            raise
        except BaseException:
            # Most likely Ctrl-C. No caller waits for the answer any more; the next call reads it first.
            self._interrupted = True
            for sent in self._unanswered:
                sent.own = True
            self._num_own = len(self._unanswered)
            raise

    def _step_request(self, actions: npt.ArrayLike | Sequence[str], env_ids: EnvIds) -> pb.StepRequest | ArrayStep:
        """A step that the extension module writes, if possible; listeners need messages."""
        link = self._link
        if env_ids is None and link.array_steps is not None and not link.listeners:
            step = link.array_steps.read(actions)
            if step is not None:
                return step
        request: pb.StepRequest = super()._step_request(actions, env_ids)
        return request

    def _stepped(self, request: pb.StepRequest | ArrayStep, response: pb.StepResponse | Stepped) -> Stepped:
        return response if isinstance(response, Stepped) else super()._stepped(as_message(request), response)

    def send_step(self, actions: npt.ArrayLike, env_ids: EnvIds = None) -> None:
        """Sends a step without waiting; `receive_step` returns its answer."""
        check_rows(actions, env_ids, self._answers.num_envs)
        if not self.in_flight:
            self._save_unsaved()
        self._send("step", self._step_request(actions, env_ids))

    def receive_step(self) -> Stepped:
        """Waits for the answer to the earliest request sent ahead, which must be a step."""
        return self._stepped(*self._receive("step"))

    @keywords.checked
    def send_placements(self, env_ids: EnvIds = None, **options: Unpack[PlacementsOptions]) -> None:
        """Requests placements like `enumerate_placements`, without waiting; `receive_placements` returns the answer.

        After a step sent ahead, it requests the placements in the states after that step.
        """
        self._send("enumerate_placements", self._placements_request(env_ids, options))

    def receive_placements(self) -> Placements:
        """Waits for the answer to the earliest request sent ahead, which must be for placements."""
        return self._placements(*self._receive("enumerate_placements"))

    def close(self) -> None:
        """Ends the stream, but not the session. Does nothing in a forked child, because its parent still uses the stream."""
        if self._closed or self._link.connection.forked:
            return
        self._closed = True
        if self._exchange is None:
            return
        self._exchange.end()
        # Reading the unread answers ends the stream in an orderly way; losing the connection ends it too.
        with contextlib.suppress(TetrionError):
            for _ in self._exchange:
                pass

    def __enter__(self) -> StepStream:
        """The stream itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the stream."""
        self.close()


def _failure(status: pb.Status, *, inside: bool) -> TetrionError:
    """The exception for a failure reported in a stream."""
    return from_call(*_native.failure_of(status.encode()), inside=inside)
