"""An evaluation in progress: games as they finish, the progress, and the reaction to a lost server."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Generic

from tetrion._checks.failures import invalid_answer
from tetrion._evaluations.expected_games import WITHOUT_SUMMARY, ExpectedGames
from tetrion._evaluations.games import Estimates, Games, Part, joined
from tetrion._evaluations.progress import Progress
from tetrion._evaluations.results import Estimation, Evaluation, estimation, evaluation
from tetrion._messages.records import record
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationProgress, EvaluationStarted
from tetrion._transport.connection import Connection, Patience
from tetrion.errors import ServerUnavailableError, VersionMismatchError


class Run(Generic[Part]):
    """Iterates over the games or estimates of an evaluation as they finish; see `EvaluationRun`."""

    _kind: type[Part]

    def __init__(self, connection: Connection, request: pb.EvaluatePoliciesRequest, on_progress: Progress | None) -> None:
        """See `Client.start_evaluation`."""
        self._connection = connection
        self._request = request
        self._on_progress = on_progress
        self._parts: list[Part] = []
        self._summary: pb.EvaluationSummary | None = None
        self._resumed = False
        self._expected = ExpectedGames(request, self._kind)
        self._chunks = self._run()
        self._started: pb.EvaluationStarted | None = None
        self.progress: EvaluationProgress | None = None
        self.games_done = 0

    @property
    def started(self) -> EvaluationStarted | None:
        """What is played, with every default; None before the first answer."""
        return record(self._started) if self._started is not None else None

    @property
    def num_games(self) -> int | None:
        """Total number of games; None before the first answer."""
        return self._started.num_games if self._started is not None else None

    def __iter__(self) -> Iterator[Part]:
        """Iterates over games not yet taken, in portions as they arrive. Leaving the loop ends nothing; `close` does."""
        return self._chunks

    def _finish(self) -> tuple[Part, pb.EvaluationStarted, pb.EvaluationSummary | None]:
        """Waits for all games. Returns them with their description and, if the server has made it, their summary."""
        for _ in self._chunks:
            pass
        if self._started is None or self._summary is None:
            raise RuntimeError("the evaluation was closed before its end, so there is no result")
        # After a loss, the server's own summary covers only the games of the last request.
        has_own = not self._resumed or not self._request.include_results
        return joined(self._parts, self._kind), self._started, self._summary if has_own else None

    def close(self) -> None:
        """Ends the games on the server."""
        self._chunks.close()

    def _run(self) -> Generator[Part, None, None]:
        patience = Patience(self._connection)
        request: pb.EvaluatePoliciesRequest | None = self._request
        while request is not None:
            try:
                for message in self._connection.evaluate(request):
                    patience = Patience(self._connection)
                    games = self._take(message)
                    if games is not None and len(games):
                        yield games
                if self._summary is None:
                    raise invalid_answer(WITHOUT_SUMMARY)
            except ServerUnavailableError as error:
                patience.wait(error)
                request = self._rest()
            else:
                return
        # All games had arrived; only the summary was lost with the server.
        self._summary = pb.EvaluationSummary()

    def _take(self, message: pb.EvaluatePoliciesResponse) -> Part | None:
        """Takes a message. Returns the new games in it.

        Raises:
            InvalidAnswerError: The message does not fit the request.
        """
        games = self._expected.check(message)
        event = message.WhichOneof("event")
        if event == "started":
            if self._started is None:
                self._started = message.started
            elif self._started.rules_version != message.started.rules_version:
                raise VersionMismatchError(
                    f"the server that is there now has the rules version {message.started.rules_version!r} instead of "
                    f"{self._started.rules_version!r}, so the missing games would not be comparable",
                    code="FAILED_PRECONDITION",
                    reason="RULES_VERSION_MISMATCH",
                )
        elif event == "summary":
            self._summary = message.summary
        elif event == "progress":
            self._report(message.progress)
        if games is not None:
            self._parts.append(games)
            self.games_done += len(games)
        return games

    def _report(self, progress: pb.EvaluationProgress) -> None:
        if self._resumed and self._started is not None:
            # The server counts only the games of the last request.
            done = self._started.num_games - progress.num_games
            progress.games_done, progress.num_games = progress.games_done + done, self._started.num_games
        self.progress = record(progress)
        if self._on_progress is not None:
            self._on_progress(record(progress))

    def _rest(self) -> pb.EvaluatePoliciesRequest | None:
        """The request for the missing games; None if none are missing."""
        self._resumed = True
        if self._started is None or not self._request.include_results:
            return self._request
        missing = self._expected.resume()
        if not len(missing):
            return None
        request = pb.EvaluatePoliciesRequest()
        request.CopyFrom(self._request)
        request.rules_version = self._started.rules_version
        request.pairs.CopyFrom(from_numpy(missing))
        return request


class EvaluationRun(Run[Games]):
    """Iterates over the games of an evaluation as they finish; `result` waits for all of them.

    If the server is lost, the run asks for the missing games when it is back. That changes no game and no result. Games
    arrive in any order and in portions of any size.

    Attributes:
        progress: The server's last report; None before the first.
        games_done: Number of games received.
    """

    _kind = Games

    def result(self) -> Evaluation:
        """Waits for all games and sums them up, including those already taken.

        Raises:
            RuntimeError: The run was closed before its end.
            InvalidRequestError: The server refuses the request; `violations` says which field and why.
            InvalidAnswerError: Games are missing in the answer, arrived twice, or were not requested.
            ServerUnavailableError: The server is gone, and did not come back within the client's `patience`.
        """
        return evaluation(*self._finish())


class EstimationRun(Run[Estimates]):
    """Waits for estimates of how long games last."""

    _kind = Estimates

    def result(self) -> Estimation:
        """Waits for all estimates and sums them up; see `EvaluationRun.result`."""
        return estimation(*self._finish())


def describe(connection: Connection, request: pb.EvaluatePoliciesRequest) -> pb.EvaluationStarted:
    """The server's description of a whole request. The server checks it, and stops when the call ends."""
    patience = Patience(connection)
    while True:
        messages = connection.evaluate(request)
        try:
            started = next(messages, pb.EvaluatePoliciesResponse()).started
            ExpectedGames(request, Games).check_started(started)
            return started
        except ServerUnavailableError as error:
            patience.wait(error)
        finally:
            messages.close()
