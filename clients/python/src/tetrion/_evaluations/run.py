"""An evaluation in progress: games as they finish, the progress, and the reaction to a lost server."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Generic

from tetrion import _native
from tetrion._checks.failures import invalid_answer
from tetrion._evaluations.games import Estimates, Games, Part, part_from
from tetrion._evaluations.progress import Progress
from tetrion._evaluations.results import Estimation, Evaluation, estimation, evaluation
from tetrion._messages.records import record
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationProgress, EvaluationStarted
from tetrion._transport.connection import Connection

# All results, what was played, and the summary.
Outcome = tuple[Part, pb.EvaluationStarted, pb.EvaluationSummary]


class Run(Generic[Part]):
    """Iterates over the games or estimates of an evaluation as they finish; see `EvaluationRun`."""

    _kind: type[Part]

    def __init__(
        self,
        connection: Connection,
        request: pb.EvaluatePoliciesRequest,
        on_progress: Progress | None,
        num_servers: int = 1,
    ) -> None:
        """See `Client.start_evaluation`. There are about `num_servers` behind the connection."""
        self._connection = connection
        self._request = request
        self._on_progress = on_progress
        self._num_servers = num_servers
        self._outcome: Outcome[Part] | None = None
        self._losses = 0  # Calls that were lost so far.
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

    def _finish(self) -> Outcome[Part]:
        """Waits for all games. Returns them with their description and their summary."""
        for _ in self._chunks:
            pass
        if self._outcome is None:
            raise RuntimeError("the evaluation was closed before its end, so there is no result")
        return self._outcome

    def close(self) -> None:
        """Ends the games on the server."""
        self._chunks.close()

    def _run(self) -> Generator[Part, None, None]:
        with self._connection.evaluation(self._request, self._num_servers) as run:
            while (news := run.next()) is not None:
                games = self._take(run, *news)
                if games is not None:
                    yield games
            self._outcome = outcome(run.result(), self._kind)

    def _take(self, run: _native.EvaluationRun, kind: str, news: Any) -> Part | None:
        """Takes news. Returns the games in them."""
        if kind == "lost":
            self._losses += 1
            run.use_servers(self._connection.lost(news))
        elif kind == "started":
            self._started = pb.EvaluationStarted.decode(news)
        elif kind == "progress":
            progress: EvaluationProgress = record(pb.EvaluationProgress.decode(news))
            self.progress = progress
            if self._on_progress is not None:
                self._on_progress(progress)
        else:
            games = part_from(news, self._kind)
            self.games_done += len(games)
            return games
        return None


class EvaluationRun(Run[Games]):
    """Iterates over the games of an evaluation as they finish; `result` waits for all of them.

    If the server is lost, the run asks for the missing games when it is back. That changes no game and no result. Games
    arrive in any order and in portions of any size.

    Attributes:
        progress: The last report; None before the first.
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
        return evaluation(*self._finish(), include_results=self._request.include_results)


class EstimationRun(Run[Estimates]):
    """Waits for estimates of how long games last."""

    _kind = Estimates

    def result(self) -> Estimation:
        """Waits for all estimates and sums them up; see `EvaluationRun.result`."""
        return estimation(*self._finish(), include_results=self._request.include_results)


def outcome(encoded: tuple[bytes, bytes, bytes], kind: type[Part]) -> Outcome[Part]:
    """The outcome of a whole evaluation, from its messages.

    Raises:
        InvalidAnswerError: The server has not described what is played.
    """
    results, started, summary = encoded
    if not started:
        raise invalid_answer("the evaluation did not begin with a description of what is played")
    return part_from(results, kind), pb.EvaluationStarted.decode(started), pb.EvaluationSummary.decode(summary)
