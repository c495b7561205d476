"""An evaluation in shards: cut into parts, played by several servers, and joined as if by a single server.

A shard is a set of pairs of a policy and a seed. A game depends only on its policy and its seed, so it does not matter which
server plays a shard, nor how often a shard is started. The summary is computed from all games in order.
"""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from tetrion._evaluations.games import Columns, Games
from tetrion._evaluations.progress import Progress
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationProgress

# Concurrent shards per server: while one ends, the other keeps the cores busy.
IN_FLIGHT = 2
# Total number of shards per server, so that long games are spread evenly and a lost shard costs little.
_SHARDS_A_SERVER = 16

# Games done, pieces landed, lines cleared.
Counts = tuple[int, int, int]


class StoppedError(Exception):
    """Raised in a shard whose games are no longer wanted."""


def cut(
    started: pb.EvaluationStarted, pairs: npt.ArrayLike | None, num_servers: int, num_cores: int = 1
) -> list[npt.NDArray[np.int32]]:
    """Cuts the pairs of policy and seed into shards.

    Args:
        started: The server's description of the whole evaluation.
        pairs: The requested pairs; None for all.
        num_servers: Number of servers that will play.
        num_cores: Cores of the largest server. Its concurrent shards should together have two games per core.
    """
    if pairs is None:
        indices = np.arange(started.num_policies * started.num_seeds)
        pairs = np.stack(np.divmod(indices, started.num_seeds), axis=1)
    whole = np.asarray(pairs, np.int32)
    size = max(math.ceil(len(whole) / (_SHARDS_A_SERVER * num_servers)), 2 * num_cores // IN_FLIGHT)
    num_shards = math.ceil(len(whole) / size)
    # Every n-th pair, because neighbours are similar: so a policy that plays long games is in all shards.
    return [whole[shard::num_shards] for shard in range(num_shards)]


def counts(now: EvaluationProgress) -> Counts:
    """The progress of a shard."""
    return now.games_done, now.pieces_done, now.lines_done


class ShardProgress:
    """The progress of an evaluation: finished shards, and the last reports of the others.

    Other threads may call `hear`.
    """

    def __init__(self, started: pb.EvaluationStarted, interval: float, on_progress: Progress | None) -> None:
        """Starts before the first game.

        Args:
            started: The description of the whole evaluation.
            interval: Seconds between reports.
            on_progress: Called with each report.
        """
        self._started = started
        self._began = self._reported_at = time.monotonic()
        self.interval = interval
        self._on_progress = on_progress
        self._finished: list[Counts] = []
        self._heard: dict[int, Counts] = {}
        self._reported: Counts = (0, 0, 0)

    def hear(self, shard: int, counts: Counts) -> None:
        """Stores the progress of a shard."""
        self._heard[shard] = counts

    def finish(self, shard: int, part: Columns) -> None:
        """Stores a finished shard. Estimates do not tell how much was played for them."""
        _, pieces, lines = self._heard.pop(shard, (0, 0, 0))
        if isinstance(part, Games):
            pieces, lines = int(part.pieces.sum()), int(part.lines.sum())
        self._finished.append((len(part), pieces, lines))

    def report_if_due(self, running: set[int]) -> bool:
        """Reports if a report is due, including the running shards. Returns whether it did."""
        if self._on_progress is None or time.monotonic() - self._reported_at < self.interval:
            return False
        self._heard = {shard: counts for shard, counts in list(self._heard.items()) if shard in running}
        self._report([*self._finished, *self._heard.values()])
        return True

    def end(self) -> None:
        """Reports that all games are done."""
        if self._on_progress is not None:
            self._report(self._finished)

    def _report(self, counts: list[Counts]) -> None:
        games, pieces, lines = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
        # The shards of a lost server start again; the reported numbers wait until they have caught up.
        self._reported = max(games, self._reported[0]), max(pieces, self._reported[1]), max(lines, self._reported[2])
        self._reported_at = time.monotonic()
        assert self._on_progress is not None
        self._on_progress(
            EvaluationProgress(
                games_done=self._reported[0],
                num_games=self._started.num_games,
                pieces_done=self._reported[1],
                lines_done=self._reported[2],
                elapsed=self._reported_at - self._began,
            )
        )
