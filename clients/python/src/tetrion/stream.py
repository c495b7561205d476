"""A session over one long call: less work a message, and requests can be sent ahead."""

from __future__ import annotations

import contextlib
import queue
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import grpc
import numpy.typing as npt

from tetrion._pb import environment_service_pb2 as pb
from tetrion.calls import MUTATING, Calls, EnvIds, Stepped
from tetrion.connection import Patience
from tetrion.errors import SequenceMismatch, ServerUnavailable, SessionNotFound, TetrionError, from_rpc_error, from_status
from tetrion.journal import Entry
from tetrion.placements import Placements
from tetrion.requests import FeaturesLike
from tetrion.session import Session


@dataclass
class _Sent:
    """A request of a stream that has no answer yet; `number` if it is numbered, `own` if no caller waits for the answer."""

    kind: str
    request: Any
    number: int = 0
    own: bool = False


class StepStream(Calls):
    """The calls of a session over one long call. For one thread.

    Besides the calls that wait for their answer, requests can be sent ahead: `send_step` for one half of the environments,
    then for the other, while the first is thought about; or a step and behind it the question for the placements that it
    leads to, in one round trip. `receive_step` and `receive_placements` give the answers in order. Should the connection
    break, the stream is opened anew and what was not answered is done, once. So is a call that Ctrl-C interrupted: the next
    one finds the session behind it.
    """

    def __init__(self, session: Session) -> None:
        """Opens a stream; see `Session.stream`."""
        self.session = session
        self._closed = False
        # Whether a call was interrupted while it waited, which leaves gRPC's iterator in the middle of an answer.
        self._interrupted = False
        self._unanswered: deque[_Sent] = deque()
        self._requests: queue.SimpleQueue[pb.StepStreamRequest | None] = queue.SimpleQueue()
        self._open()

    @property
    def in_flight(self) -> int:
        """How many requests sent ahead wait to be received."""
        return sum(not sent.own for sent in self._unanswered)

    def _open(self) -> None:
        # The thread that fed the stream before this one would wait for ever.
        self._requests.put(None)
        self._requests = queue.SimpleQueue()
        self._responses: Any = self.session.connection.step_stream(iter(self._requests.get, None), self.session._metadata)

    def _send(self, kind: str, request: Any, *, own: bool = False) -> None:
        self.session.connection.check_process()
        if self._closed:
            raise ValueError(f"{kind} on a stream that was closed; `Session.stream` opens another one")
        self._mend()
        sent = _Sent(kind, request, self.session.sequence + 1 if kind in MUTATING else 0, own)
        self._unanswered.append(sent)
        if sent.number:
            # The session counts what was sent, so that requests sent ahead number on.
            self.session.sequence = sent.number
        self._transmit(sent)

    def _transmit(self, sent: _Sent) -> None:
        self.session._address(sent.request, sent.number)
        # The message is a copy of the request, which may be addressed anew later.
        self._requests.put(pb.StepStreamRequest(**{sent.kind: sent.request}))

    def _receive(self, kind: str) -> Any:
        self._mend()
        waiting = next((sent.kind for sent in self._unanswered if not sent.own), None)
        if waiting != kind:
            what = f"the next answer is that to {waiting}" if waiting else "nothing was sent that could be answered"
            raise RuntimeError(f"{what}, so there is no {kind} to receive")
        try:
            while True:
                sent, response = self._answer()
                self._settle(sent, response)
                if sent.own:
                    continue
                if isinstance(response, TetrionError):
                    raise response
                return response
        except TetrionError:
            raise
        except BaseException:
            self._interrupted = True
            raise

    def _settle(self, sent: _Sent, response: Any) -> None:
        """Draws the consequences of an answer for the session and its journal."""
        if sent.kind == "save_state" and sent.own:
            self._keep(response)
        elif isinstance(response, TetrionError):
            if sent.number and not isinstance(response, SequenceMismatch):
                # It did not happen, so its number is the next one's; what was sent behind it is refused in turn.
                self.session.sequence = sent.number - 1
        elif sent.number:
            self.session._note(Entry(sent.number, sent.kind, sent.request))
            if self.session._journal is not None and self.session._journal.due():
                # Asked for now and read before the next answer: no caller waits for snapshots.
                self._send("save_state", pb.SaveStateRequest(), own=True)

    def _keep(self, response: Any) -> None:
        journal = self.session._journal
        if journal is None:
            return
        if isinstance(response, TetrionError):
            journal.give_up()
        else:
            journal.keep(response.states, response.sequence)

    def _answer(self) -> tuple[_Sent, Any]:
        """The earliest request without an answer, and its answer, or the error that it met."""
        patience = Patience(self.session.connection)
        while True:
            try:
                response = self._next()
            except ServerUnavailable as error:
                self._reopen(patience, error)
                continue
            kind = response.WhichOneof("response")
            answer: Any = from_status(response.error) if kind == "error" else getattr(response, kind)
            if isinstance(answer, SessionNotFound) and self.session._journal is not None:
                self._reopen(patience, answer)
                continue
            self.session._count(answer)
            return self._unanswered.popleft(), answer

    def _reopen(self, patience: Patience, error: TetrionError) -> None:
        """Opens the stream anew after a loss and sends what was not answered once more."""
        patience.wait(error)
        self._send_again(patience, lost=isinstance(error, SessionNotFound))

    def _mend(self) -> None:
        """After an interrupted call: opens the stream anew, and reads the answers that no caller waits for any more."""
        if not self._interrupted:
            return
        self._responses.cancel()
        numbers = [sent.number for sent in self._unanswered]
        self.session.sequence = max([self.session.sequence, *numbers])
        self._send_again(Patience(self.session.connection), lost=False)
        self._interrupted = False
        try:
            while self._unanswered and not self.in_flight:
                self._settle(*self._answer())
        except BaseException:
            self._interrupted = True
            raise

    def _send_again(self, patience: Patience, *, lost: bool) -> None:
        """Opens the stream anew and sends what was not answered once more; `lost` if the session is."""
        # The server keeps its last answer only. If it may have done more than one call that we know nothing about, or
        # moved on since a question, the way back leads over the snapshots.
        unsure = len(self._unanswered) > 1 and any(sent.number for sent in self._unanswered)
        if self.session._journal is not None and (unsure or lost):
            old = pb.DeleteSessionRequest(name=self.session.name, allow_missing=True)
            self.session._make_anew(patience)
            with contextlib.suppress(TetrionError):
                self.session.connection.call("DeleteSession", old)
        self._open()
        for sent in self._unanswered:
            self._transmit(sent)

    def _next(self) -> pb.StepStreamResponse:
        try:
            response: pb.StepStreamResponse = next(self._responses)
            return response
        except StopIteration:
            raise ServerUnavailable("the server ended the stream", code="UNAVAILABLE") from None
        except grpc.RpcError as error:
            raise from_rpc_error(error) from None

    def _call(self, kind: str, request: Any) -> Any:
        if self.in_flight:
            raise RuntimeError("receive the answers to what was sent ahead first")
        try:
            self._send(kind, request)
            return self._receive(kind)
        except TetrionError:
            raise
        except BaseException:
            # Ctrl-C, most likely. The answer has no reader any more; the next call reads it first.
            self._interrupted = True
            for sent in self._unanswered:
                sent.own = True
            raise

    def send_step(self, actions: npt.ArrayLike, env_ids: EnvIds = None) -> None:
        """Sends a step without waiting; `receive_step` gives the answer."""
        self._send("step", self._step_request(actions, env_ids))

    def receive_step(self) -> Stepped:
        """Waits for the answer to the earliest request sent ahead, a step."""
        return self.session._stepped(self._receive("step"))

    def send_placements(
        self,
        env_ids: EnvIds = None,
        *,
        features: FeaturesLike = None,
        afterstates: bool = False,
        position_features: bool = False,
    ) -> None:
        """Asks for placements without waiting, as `enumerate_placements` does; `receive_placements` gives the answer.

        Sent behind a step, it asks for the placements that the step leads to.
        """
        self._send("enumerate_placements", self._placements_request(env_ids, features, afterstates, position_features))

    def receive_placements(self) -> Placements:
        """Waits for the answer to the earliest request sent ahead, a question for placements."""
        return Placements.from_message(self._receive("enumerate_placements"))

    def close(self) -> None:
        """Ends the stream; the session lives on. Does nothing in a forked child, whose parent goes on with it."""
        if self._closed or self.session.connection.forked:
            return
        self._closed = True
        self._requests.put(None)
        try:
            for _ in self._responses:
                pass  # Answers nobody waits for; read, so that the end is an orderly one.
        except grpc.RpcError:
            pass  # The connection is gone, which ends the stream as well.

    def __enter__(self) -> StepStream:
        """The stream itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the stream."""
        self.close()
