"""The summary of an evaluation, computed from its games exactly as the server does.

It is needed if no server's summary covers all games, because several servers played them. Sums run in the order of policy,
seed and episode, in float64, one number after the other, so the same games give the same bits as on the server.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tetrion._evaluations.games import Games
from tetrion._pb import messages as pb


def summarize(games: Games, baseline: int | None, *, loss_trials: int = 0) -> pb.EvaluationSummary:
    """Sums games up.

    Args:
        games: Complete, and in the order of policy, seed and episode.
        baseline: The policy to compare the others with, game by game on the same pieces; None: no comparison.
        loss_trials: The trials of each estimate; 0 where games were played.
    """
    summary = pb.EvaluationSummary()
    policies, starts = np.unique(games.policy_indices, return_index=True)
    slices = {
        int(policy): slice(start, stop)
        for policy, start, stop in zip(policies, starts, [*starts[1:], len(games)], strict=True)
    }
    lines, pieces = games.lines.astype(np.float64), games.pieces.astype(np.float64)
    for policy, rows in slices.items():
        cut = int(games.truncated[rows].sum())

        def statistics(values: npt.NDArray[np.float64], rows: slice = rows) -> pb.Statistics:
            return _of_estimates(values[rows], pieces[rows]) if loss_trials else _statistics(values[rows])

        summary.policies.add(
            policy_index=policy,
            num_games=rows.stop - rows.start,
            num_truncated=cut,
            lower_bound=cut > 0,
            lines=statistics(lines),
            pieces=statistics(pieces),
            score=statistics(games.scores),
        )
    if baseline is None or baseline not in slices:
        return summary
    # One number for the pieces dealt in a game, ascending within each policy.
    deals = games.seed_indices.astype(np.uint64) << np.uint64(32) | games.episode_indices.astype(np.uint64)
    base = np.arange(slices[baseline].start, slices[baseline].stop)
    for policy, rows in slices.items():
        if policy == baseline:
            continue
        _, ours, theirs = np.intersect1d(deals[rows], deals[base], assume_unique=True, return_indices=True)
        ours, theirs = ours + rows.start, theirs + base[0]
        if ours.size:
            summary.paired_differences.add(
                policy_index=policy,
                baseline_index=baseline,
                num_games=ours.size,
                num_truncated=int((games.truncated[ours] | games.truncated[theirs]).sum()),
                lines=_statistics(lines[ours] - lines[theirs]),
                score=_statistics(games.scores[ours] - games.scores[theirs]),
            )
    return summary


def _sum(values: npt.NDArray[np.float64]) -> float:
    # np.sum adds up in pairs, which may differ in the last bit. Starting from 0 turns -0.0 into 0.0.
    return float(np.add.accumulate(values)[-1]) + 0.0


def _statistics(values: npt.NDArray[np.float64]) -> pb.Statistics:
    n = float(values.size)
    mean = _sum(values) / n
    statistics = pb.Statistics(mean=mean, min=float(values.min()), max=float(values.max()))
    if values.size > 1:
        std = float(np.sqrt(_sum((values - mean) * (values - mean)) / (n - 1.0)))
        half = 1.96 * std / float(np.sqrt(n))
        statistics.std, statistics.ci95_low, statistics.ci95_high = std, mean - half, mean + half
    return statistics


def _of_estimates(values: npt.NDArray[np.float64], pieces: npt.NDArray[np.float64]) -> pb.Statistics:
    pieces = np.maximum(pieces, 1.0)
    rates = _statistics(1.0 / pieces)
    mean = _sum(values / pieces) / float(values.size) / rates.mean
    statistics = pb.Statistics(mean=mean, min=float(values.min()), max=float(values.max()))
    if values.size > 1:
        x = (rates.ci95_high - rates.mean) / rates.mean
        factor = 1.0 + x + x * x / 2.0
        statistics.std = mean * rates.std / rates.mean
        statistics.ci95_low, statistics.ci95_high = mean / factor, mean * factor
    return statistics
