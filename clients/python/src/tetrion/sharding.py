"""An evaluation in parts: cut into shards, played by whoever has room, put together as one server would have done it.

A shard is some of the pairs of a policy and a seed. A game depends on nothing but its policy and its seed, so it does not
matter who plays a shard, nor how often one is begun; and the summary is added up from all games in their order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from datetime import timedelta

import numpy as np
import numpy.typing as npt
from google.protobuf.duration_pb2 import Duration

from tetrion._pb import evaluation_service_pb2 as pb
from tetrion.games import COLUMNS, Evaluation, Games
from tetrion.progress import Progress
from tetrion.summary import summarize

# Shards at a time for each server: while one runs out, the other keeps the cores busy.
IN_FLIGHT = 2
# Shards for each server in all, so that long games spread evenly, and one that is lost takes little with it.
_SHARDS_A_SERVER = 16

# Games done, pieces landed, lines cleared.
Counts = tuple[int, int, int]


class Stopped(Exception):
    """Raised where a shard is played that nobody waits for any more."""


def cut(
    started: pb.EvaluationStarted, pairs: npt.ArrayLike | None, num_servers: int, num_cores: int = 1
) -> list[npt.NDArray[np.uint32]]:
    """The pairs of policy and seed to be played, in shards.

    Args:
        started: What a server says of the whole evaluation.
        pairs: Those that were asked for; None for all.
        num_servers: How many will play.
        num_cores: Cores of the largest of them: all its shards in flight together should have two games for each.
    """
    if pairs is None:
        indices = np.arange(started.num_policies * started.num_seeds)
        pairs = np.stack(np.divmod(indices, started.num_seeds), axis=1)
    whole = np.asarray(pairs, np.uint32)
    size = max(math.ceil(len(whole) / (_SHARDS_A_SERVER * num_servers)), 2 * num_cores // IN_FLIGHT)
    num_shards = math.ceil(len(whole) / size)
    # Every n-th pair, because neighbours are alike: a policy that plays long games is then in all shards.
    return [whole[shard::num_shards] for shard in range(num_shards)]


def joined(started: pb.EvaluationStarted, parts: Iterable[Games], *, omit_results: bool) -> Evaluation:
    """All games as one evaluation."""
    games = Games.joined(list(parts))
    summary = summarize(games, started.baseline if started.HasField("baseline") else None)
    kept = Games.joined([]) if omit_results else games
    return Evaluation(**{name: getattr(kept, name) for name in COLUMNS}, started=started, summary=summary)


def counts(now: pb.EvaluationProgress) -> Counts:
    """How far a shard is."""
    return now.games_done, now.pieces_done, now.lines_done


class ShardProgress:
    """How far an evaluation is: shards that have finished, and what was last heard of the others.

    Shards may be heard of from other threads.
    """

    def __init__(self, num_games: int, interval: float, on_progress: Progress | None) -> None:
        """Nothing has been played.

        Args:
            num_games: Games in all.
            interval: Seconds between reports.
            on_progress: Whom to report to.
        """
        self._num_games = num_games
        self._began = self._told_at = time.monotonic()
        self.interval = interval
        self._on_progress = on_progress
        self._finished: list[Counts] = []
        self._heard: dict[int, Counts] = {}
        self._told: Counts = (0, 0, 0)

    def hear(self, shard: int, counts: Counts) -> None:
        """Notes how far a shard is."""
        self._heard[shard] = counts

    def finish(self, games: Games) -> None:
        """Notes a shard that has come in."""
        self._finished.append((len(games), int(games.pieces.sum()), int(games.lines.sum())))

    def tell_if_due(self, running: set[int]) -> bool:
        """Reports if it is time to, counting what was heard of the shards that run; says whether it was."""
        if self._on_progress is None or time.monotonic() - self._told_at < self.interval:
            return False
        self._heard = {shard: counts for shard, counts in list(self._heard.items()) if shard in running}
        self._tell([*self._finished, *self._heard.values()])
        return True

    def end(self) -> None:
        """Reports that everything is done."""
        if self._on_progress is not None:
            self._tell(self._finished)

    def _tell(self, counts: list[Counts]) -> None:
        games, pieces, lines = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
        # What a server had begun when it was lost is begun anew; the numbers told wait until it has caught up.
        self._told = max(games, self._told[0]), max(pieces, self._told[1]), max(lines, self._told[2])
        self._told_at = time.monotonic()
        elapsed = Duration()
        elapsed.FromTimedelta(timedelta(seconds=self._told_at - self._began))
        assert self._on_progress is not None
        self._on_progress(
            pb.EvaluationProgress(
                games_done=self._told[0],
                num_games=self._num_games,
                pieces_done=self._told[1],
                lines_done=self._told[2],
                elapsed=elapsed,
            )
        )
