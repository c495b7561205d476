"""What an evaluation comes to: all games, their summary, and recordings of some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tetrion._evaluations.games import Games
from tetrion._pb.records import EvaluationStarted, EvaluationSummary
from tetrion._recordings.recording import Recording

# Policies whose means a line has room for.
_SHOWN = 5


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation(Games):
    """All games of an evaluation, in the order of policy, seed and episode, and their summary.

    Attributes:
        started: What was played, with every default: `num_policies`, `num_seeds`, `num_games`, `rules`, ...
        summary: `policies`, one for each that played, rows of the weight matrix first; and `paired_differences` to the
            baseline, game by game on the same pieces. `lines`, `pieces` and `score` in them are `Statistics`.
        recordings: The games that `record` asked for, in the order of policies, and of each in the order of the words.
    """

    started: EvaluationStarted
    summary: EvaluationSummary
    recordings: tuple[Recording, ...] = ()

    def __repr__(self) -> str:
        """What was played and the mean lines, in a line."""
        policies = self.summary.policies
        means = ", ".join(f"{policy.lines.mean:.1f}" for policy in policies[:_SHOWN])
        more = f" and {len(policies) - _SHOWN} more" if len(policies) > _SHOWN else ""
        num_games = sum(policy.num_games for policy in policies)
        return f"<tetrion.Evaluation: {num_games} games of {len(policies)} policies, mean lines {means}{more}>"

    @property
    def mean_lines(self) -> npt.NDArray[np.float64]:
        """Mean lines a game of each policy that played, float64 [P]."""
        return np.array([policy.lines.mean for policy in self.summary.policies])
