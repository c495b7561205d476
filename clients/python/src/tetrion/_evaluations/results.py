"""The results of an evaluation: all games, their summary, and recordings of some; or all estimates and their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tetrion._evaluations.games import Estimates, Games, columns, without_rows
from tetrion._messages.records import record
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationStarted, EvaluationSummary
from tetrion._recordings.recording import Recording

# Number of policies whose means fit into a line.
_SHOWN = 5


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation(Games):
    """All games of an evaluation, in the order of policy, seed and episode, and their summary.

    Attributes:
        started: What was played, with every default: `num_policies`, `num_seeds`, `num_games`, `rules`, ...
        summary: `policies`, one entry per policy, first the rows of the weight matrix; and `paired_differences` to the
            baseline, game by game on the same pieces. Their `lines`, `pieces`, `steps` and `score` are `Statistics`.
        recordings: The games that `record` asked for, in the order of the policies and, per policy, of the words.
    """

    started: EvaluationStarted
    summary: EvaluationSummary
    recordings: tuple[Recording, ...] = ()

    def __repr__(self) -> str:
        """What was played, and the mean lines, in a line."""
        policies = self.summary.policies
        num_games = sum(policy.num_games for policy in policies)
        return f"<tetrion.Evaluation: {num_games} games of {_means([policy.lines.mean for policy in policies])}>"

    @property
    def mean_lines(self) -> npt.NDArray[np.float64]:
        """Mean lines per game of each policy, float64 [P]."""
        return np.array([policy.lines.mean for policy in self.summary.policies])


@dataclass(frozen=True, repr=False, eq=False)
class Estimation(Estimates):
    """Estimates of how long games last, in the order of policy, seed and episode, and their summary.

    Attributes:
        started: What was estimated, with every default: `num_policies`, `num_seeds`, `rules`, `loss_estimation`, ...
        summary: `estimates`, one entry per policy, first the rows of the weight matrix. Their `lines`, `pieces`, `steps` and
            `score` are `Statistics` of games. `num_lasting_longer` counts the estimates whose games last longer; unless it
            is 0, the means are lower bounds.
    """

    started: EvaluationStarted
    summary: EvaluationSummary

    def __repr__(self) -> str:
        """What was estimated, and the mean lines, in a line."""
        policies = self.summary.estimates
        num_estimates = sum(policy.num_estimates for policy in policies)
        return f"<tetrion.Estimation: {num_estimates} estimates of {_means([policy.lines.mean for policy in policies])}>"


def _means(lines: Sequence[float]) -> str:
    means = ", ".join(f"{mean:.1f}" for mean in lines[:_SHOWN])
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"{len(lines)} policies, mean lines {means}{more}"


def evaluation(
    games: Games, started: pb.EvaluationStarted, summary: pb.EvaluationSummary, *, include_results: bool = True
) -> Evaluation:
    """Combines games with the messages of their evaluation."""
    kept = games if include_results else without_rows(Games)
    return Evaluation(**columns(kept, Games), started=record(started), summary=record(summary))


def estimation(
    estimates: Estimates, started: pb.EvaluationStarted, summary: pb.EvaluationSummary, *, include_results: bool = True
) -> Estimation:
    """Combines estimates with the messages of their evaluation."""
    kept = estimates if include_results else without_rows(Estimates)
    return Estimation(**columns(kept, Estimates), started=record(started), summary=record(summary))
