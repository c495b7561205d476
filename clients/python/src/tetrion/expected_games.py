"""The games of an evaluation that its answer must hold: each one that the request asks for, once, and no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._pb import evaluation_service_pb2 as pb
from tetrion.errors import invalid_answer
from tetrion.games import Games
from tetrion.tensors import to_numpy


class ExpectedGames:
    """The games of one evaluation, and which of them have arrived.

    Attributes:
        num_policies: Rows of the weight matrix, and agents.
        num_seeds: Seeds or piece sequences.
        num_episodes: Episodes of each seed.
        num_games: Games in all.
    """

    def __init__(self, request: pb.EvaluatePoliciesRequest) -> None:
        """No game has arrived yet."""
        weights = request.weights.weights.shape if request.HasField("weights") else ()
        self.num_policies = (weights[0] if weights else 0) + len(request.agents)
        kind = request.WhichOneof("games")
        if kind == "seeds":
            self.num_seeds = request.seeds.shape[-1]
        else:
            self.num_seeds = request.seed_range.count if kind == "seed_range" else len(request.piece_sequences.sequences)
        self.num_episodes = max(request.episodes_per_seed, 1)
        # The pairs that are played, each as one number, ascending; None for all of them.
        self._pairs: npt.NDArray[np.int64] | None = None
        if request.HasField("pairs"):
            self._pairs = np.sort(self._as_numbers(*to_numpy(request.pairs).T))
        num_pairs = self.num_policies * self.num_seeds if self._pairs is None else len(self._pairs)
        self.num_games = num_pairs * self.num_episodes
        # Made when the first answer shows that the server plays so many.
        self._arrived: npt.NDArray[np.bool_] | None = None

    def _as_numbers(self, policies: npt.NDArray[Any], seeds: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return policies.astype(np.int64) * self.num_seeds + seeds.astype(np.int64)

    def check_started(self, started: pb.EvaluationStarted, num_games: int | None = None) -> None:
        """Compares what a server plays with what was asked for.

        Args:
            started: The server's description.
            num_games: How many games were asked for; None: all of them.

        Raises:
            InvalidAnswer: They differ.
        """
        expected = self.num_games if num_games is None else num_games
        for name, ours, theirs in (
            ("policies", self.num_policies, started.num_policies),
            ("seeds", self.num_seeds, started.num_seeds),
            ("episodes of each seed", self.num_episodes, max(started.episodes_per_seed, 1)),
            ("games", expected, started.num_games),
        ):
            if ours != theirs:
                raise invalid_answer(f"the evaluation has {theirs} {name}, expected {ours}")

    def take(self, games: Games, before: npt.NDArray[np.bool_] | None = None) -> Games:
        """The games of an answer that had not arrived before.

        Args:
            games: Those of an answer.
            before: Which games had arrived when it was asked for; these are passed over.

        Raises:
            InvalidAnswer: One was not asked for, or came twice.
        """
        places = self._places(games)
        if before is not None:
            is_new = ~before[places]
            games, places = games.rows(is_new), places[is_new]
        arrived = self.arrived
        if arrived[places].any() or np.unique(places).size < places.size:
            raise invalid_answer("a game of the evaluation came twice")
        arrived[places] = True
        return games

    @property
    def arrived(self) -> npt.NDArray[np.bool_]:
        """Whether each game has arrived."""
        if self._arrived is None:
            self._arrived = np.zeros(self.num_games, np.bool_)
        return self._arrived

    def _places(self, games: Games) -> npt.NDArray[np.int64]:
        """The place of each game among those that were asked for."""
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

    def check_complete(self) -> None:
        """Checks that all games have arrived.

        Raises:
            InvalidAnswer: Some have not.
        """
        missing = self.num_games - np.count_nonzero(self.arrived)
        if missing:
            raise invalid_answer(f"{missing} games of the evaluation are missing in its answer")

    def missing_pairs(self) -> npt.NDArray[np.uint32]:
        """The pairs of policy and seed of which games are missing, uint32 [G, 2]."""
        rows = np.flatnonzero(~self.arrived.reshape(-1, self.num_episodes).all(axis=1))
        numbers = rows if self._pairs is None else self._pairs[rows]
        return np.stack(np.divmod(numbers, self.num_seeds), axis=1).astype(np.uint32)

    def check_summary(self, summary: pb.EvaluationSummary) -> None:
        """Compares a summary of all games with what was asked for.

        Raises:
            InvalidAnswer: A policy is missing, comes twice or was not asked for, or has another number of games.
        """
        numbers = np.arange(self.num_policies) if self._pairs is None else self._pairs // self.num_seeds
        policies, counts = np.unique(numbers, return_counts=True)
        counts = counts * (self.num_episodes if self._pairs is not None else self.num_seeds * self.num_episodes)
        expected = list(zip(policies.tolist(), counts.tolist(), strict=True))
        given = [(policy.policy_index, policy.num_games) for policy in summary.policies]
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
