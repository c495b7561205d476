"""The games or estimates that an evaluation must send: each one that its request asks for, exactly once."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import invalid_answer
from tetrion._evaluations.games import Games, Part, part_from, rows_of
from tetrion._messages.tensors import to_numpy
from tetrion._pb import messages as pb

WITHOUT_SUMMARY = "the evaluation ended without a summary"


class ExpectedGames(Generic[Part]):
    """The games or estimates of one evaluation, and which of them have arrived.

    Attributes:
        num_policies: Number of policies, including rows of weights.
        num_seeds: Number of seeds or piece sequences.
        num_episodes: Number of episodes per seed.
        num_games: Total number of games.
    """

    def __init__(self, request: pb.EvaluatePoliciesRequest, kind: type[Part]) -> None:
        """No game has arrived yet."""
        self._kind = kind
        self._event = "results" if kind is Games else "estimates"
        shapes = [policy.weights.weights.shape for policy in request.policies]
        self.num_policies = sum(shape[0] if len(shape) == 2 else 1 for shape in shapes)
        self.num_seeds = _num_seeds(request.seeding, self.num_policies)
        self.num_episodes = max(request.episodes_per_seed, 1)
        # The pairs to play, each as one number, ascending; None for all pairs.
        self._pairs: npt.NDArray[np.int64] | None = None
        if request.HasField("pairs"):
            self._pairs = np.sort(self._as_numbers(*to_numpy(request.pairs).T))
        num_pairs = self.num_policies * self.num_seeds if self._pairs is None else len(self._pairs)
        self.num_games = num_pairs * self.num_episodes
        # Created when the first answer shows that the server plays this many.
        self._arrived: npt.NDArray[np.bool_] | None = None
        self._has_results = request.include_results
        self._has_started = False
        # Number of games in the last request, and which had arrived before it; None for the first request.
        self._asked = self.num_games
        self._before: npt.NDArray[np.bool_] | None = None

    def _as_numbers(self, policies: npt.NDArray[Any], seeds: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return policies.astype(np.int64) * self.num_seeds + seeds.astype(np.int64)

    def check(self, message: pb.EvaluatePoliciesResponse) -> Part | None:
        """Compares a message with the request. Returns its new games, if any.

        Raises:
            InvalidAnswerError: The message does not fit the request.
        """
        event = message.WhichOneof("event")
        if event == "started":
            self.check_started(message.started)
            self._has_started = True
        elif not self._has_started:
            raise invalid_answer("the evaluation did not begin with a description of what is played")
        elif event == self._event:
            return self._take(part_from(getattr(message, self._event), self._kind))
        elif event in ("results", "estimates"):
            raise invalid_answer(f"the evaluation sent {event}, expected {self._event}")
        elif event == "summary":
            if self._has_results:
                self._check_complete()
            # After a loss, the summary covers only the games of the last request.
            if self._before is None:
                self._check_summary(message.summary)
        return None

    def check_started(self, started: pb.EvaluationStarted) -> None:
        """Compares the server's description with the request.

        Raises:
            InvalidAnswerError: They differ.
        """
        for name, ours, theirs in (
            ("policies", self.num_policies, started.num_policies),
            ("seeds", self.num_seeds, started.num_seeds),
            ("episodes of each seed", self.num_episodes, max(started.episodes_per_seed, 1)),
            ("games", self._asked, started.num_games),
        ):
            if ours != theirs:
                raise invalid_answer(f"the evaluation has {theirs} {name}, expected {ours}")

    def _take(self, games: Part) -> Part:
        """The games that had not arrived before the last request."""
        places = self._places(games)
        if self._before is not None:
            is_new = ~self._before[places]
            games, places = rows_of(games, self._kind, is_new), places[is_new]
        arrived = self._arrivals
        if arrived[places].any() or np.unique(places).size < places.size:
            raise invalid_answer("a game of the evaluation came twice")
        arrived[places] = True
        return games

    @property
    def _arrivals(self) -> npt.NDArray[np.bool_]:
        """Whether each game has arrived."""
        if self._arrived is None:
            self._arrived = np.zeros(self.num_games, np.bool_)
        return self._arrived

    def _places(self, games: Part) -> npt.NDArray[np.int64]:
        """The index of each game among all requested games."""
        fits = (games.policy_indices < self.num_policies) & (games.seed_indices < self.num_seeds)
        fits &= games.episode_indices < self.num_episodes
        pairs = self._as_numbers(games.policy_indices, games.seed_indices)
        if self._pairs is not None and self._pairs.size:
            numbers, pairs = pairs, np.minimum(np.searchsorted(self._pairs, pairs), self._pairs.size - 1)
            fits &= self._pairs[pairs] == numbers
        if not fits.all():
            row = int(np.argmin(fits))
            indices = (games.policy_indices[row], games.seed_indices[row], games.episode_indices[row])
            wrong = "policy {}, seed {}, episode {}".format(*indices)
            raise invalid_answer(f"the evaluation has a game that was not asked for: {wrong}")
        return pairs * self.num_episodes + games.episode_indices.astype(np.int64)

    def _check_complete(self) -> None:
        missing = self.num_games - np.count_nonzero(self._arrivals)
        if missing:
            raise invalid_answer(f"{missing} games of the evaluation are missing in its answer")

    def resume(self) -> npt.NDArray[np.int32]:
        """The pairs of policy and seed with missing games, int32 [G, 2], for the next request."""
        # Some episodes of a seed may have arrived before the loss.
        before = self._before = self._arrivals.copy()
        rows = np.flatnonzero(~before.reshape(-1, self.num_episodes).all(axis=1))
        self._asked = len(rows) * self.num_episodes
        numbers = rows if self._pairs is None else self._pairs[rows]
        return np.stack(np.divmod(numbers, self.num_seeds), axis=1).astype(np.int32)

    def _check_summary(self, summary: pb.EvaluationSummary) -> None:
        """Refuses a summary with wrong policies or wrong numbers of games."""
        numbers = np.arange(self.num_policies) if self._pairs is None else self._pairs // self.num_seeds
        policies, counts = np.unique(numbers, return_counts=True)
        counts = counts * (self.num_episodes if self._pairs is not None else self.num_seeds * self.num_episodes)
        expected = list(zip(policies.tolist(), counts.tolist(), strict=True))
        given = [(policy.policy_index, policy.num_games) for policy in summary.policies]
        if self._kind is not Games:
            given = [(policy.policy_index, policy.num_estimates) for policy in summary.estimates]
        if given != expected:
            place = next((place for place, pair in enumerate(given) if pair != expected[min(place, len(expected) - 1)]), 0)
            policy, num_games = given[place] if given else (None, 0)
            shown = f"{len(given)} of {len(expected)} policies, and has policy {policy} with {num_games} games"
            raise invalid_answer(f"the summary of the evaluation is of {shown}")
        known = set(policies.tolist())
        for difference in summary.paired_differences:
            if not {difference.policy_index, difference.baseline_index} <= known:
                pair = f"{difference.policy_index} and {difference.baseline_index}"
                raise invalid_answer(f"the summary of the evaluation compares the policies {pair}")


def _num_seeds(seeding: pb.Seeding, num_policies: int) -> int:
    if seeding.HasField("seeds"):
        rows = num_policies if seeding.seeds.per_policy else 1
        return len(seeding.seeds.seeds) // max(rows, 1)
    return seeding.drawn.count if seeding.HasField("drawn") else len(seeding.piece_sequences.sequences)
