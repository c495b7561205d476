"""The summary of an evaluation, computed from its games or estimates: a twin of the server's.

Sums run in the order of policy, seed and episode, in float64, one number after another, so equal games give the same bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import protocol as pb

from tetrion._evaluations.games import Estimates, Games


def summarize(games: Games, baseline: int | None) -> pb.EvaluationSummary:
    """Sums up games.

    Args:
        games: All games, in the order of policy, seed and episode.
        baseline: Index of the policy to compare the others with, game by game on the same pieces. None: no comparison.
    """
    summary = pb.EvaluationSummary()
    slices = _slices(games)
    lines = games.lines.astype(np.float64)
    for policy, rows in slices.items():
        summary.policies.add(
            policy_index=policy,
            num_games=rows.stop - rows.start,
            num_truncated=int(games.truncated[rows].sum()),
            lines=_statistics(lines[rows]),
            pieces=_statistics(games.pieces[rows].astype(np.float64)),
            steps=_statistics(games.steps[rows].astype(np.float64)),
            score=_statistics(games.scores[rows]),
        )
    if baseline is None or baseline not in slices:
        return summary
    # One number per dealt piece sequence, ascending within each policy.
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


def summarize_estimates(estimates: Estimates) -> pb.EvaluationSummary:
    """Sums up estimates. They must be complete, and in the order of policy, seed and episode."""
    summary = pb.EvaluationSummary()
    for policy, rows in _slices(estimates).items():
        rates = estimates.loss_rates[rows]
        summary.estimates.add(
            policy_index=policy,
            num_estimates=rates.size,
            num_lasting_longer=int(estimates.lasts_longer[rows].sum()),
            lines=_per_loss(estimates.lines_per_piece[rows], rates),
            pieces=_per_loss(np.ones_like(rates), rates),
            steps=_per_loss(estimates.steps_per_piece[rows], rates),
            score=_per_loss(estimates.score_per_piece[rows], rates),
        )
    return summary


def _slices(part: Games | Estimates) -> dict[int, slice]:
    """The rows of each policy."""
    policies, starts = np.unique(part.policy_indices, return_index=True)
    stops = [*starts[1:], len(part)]
    return {int(policy): slice(start, stop) for policy, start, stop in zip(policies, starts, stops, strict=True)}


def _sum(values: npt.NDArray[np.float64]) -> float:
    # np.sum adds up in pairs, which may change the last bit. Starting from 0 turns -0.0 into 0.0.
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


def _per_loss(per_piece: npt.NDArray[np.float64], rates: npt.NDArray[np.float64]) -> pb.Statistics:
    """Statistics per game, from means per piece and losses per piece."""
    of_rates, values = _statistics(rates), per_piece / rates
    mean = _statistics(per_piece).mean / of_rates.mean
    statistics = pb.Statistics(mean=mean, min=float(values.min()), max=float(values.max()))
    if rates.size > 1:
        x = (of_rates.ci95_high - of_rates.mean) / of_rates.mean
        factor = 1.0 + x + x * x / 2.0
        statistics.std = mean * of_rates.std / of_rates.mean
        statistics.ci95_low, statistics.ci95_high = mean / factor, mean * factor
    return statistics
